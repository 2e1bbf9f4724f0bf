"""Pools like those of the paper's experiments, for the benchmark of the solvers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import cdist, pdist
from sklearn.cluster import KMeans
from sklearn.preprocessing import StandardScaler

import biconsensus as bc
from benchmarks.without_data import loaded_or_none
from biconsensus.datasets import load_jlinkage, load_network, load_self_tuning, load_uci
from biconsensus.graphs import read_graph
from biconsensus.models._flat import LineModel
from biconsensus.significance._models import log_binomial_tail
from biconsensus.sources._sampling import SamplingLaw, draw_samples
from biconsensus.sources._spectral import spectral_labels
from biconsensus.sources.networks import get_algorithm

UCI = {"iris": 3, "wine": 3, "glass": 6, "breast": 2}
NETWORKS = ("football", "lesmis", "polbooks", "karate_club")
LINES = ("Star5_S00075_O50", "Star11_S00075_O50", "Stairs4_S00075_O60")


@dataclass(frozen=True)
class Case:
    """A pool and how the paper searches it."""

    name: str
    pool: bc.Pool
    overlap: bool = False
    min_elements: int = 7
    min_candidates: int = 4


def paper_cases() -> Iterator[Case]:
    """One case for each data set that can be had."""
    for make in _makers():
        case = loaded_or_none(make)
        if case is not None:
            yield case


def _makers() -> Iterator[Callable[[], Case]]:
    """What makes each case."""
    for name, n_classes in UCI.items():
        yield lambda name=name, k=n_classes: Case(name, bc.Pool.from_labels(clusterings(uci_points(name), k)))
    yield lambda: Case("smiley", bc.Pool.from_labels(smiley()))
    for name in NETWORKS:
        yield lambda name=name: Case(name, bc.Pool.from_labels(communities(name)))
    for name in LINES:
        yield lambda name=name: Case(name, lines(name), overlap=True, min_elements=2)


def uci_points(name: str) -> np.ndarray:
    """Points without missing values, each feature scaled."""
    X = load_uci(name).X
    return StandardScaler().fit_transform(X[np.isfinite(X).all(axis=1)])


def clusterings(X: np.ndarray, n_classes: int) -> list[np.ndarray]:
    """Instances of k-means and spectral clustering around the true number of classes (Fig. 6)."""
    found = [
        KMeans(k, n_init=1, random_state=seed).fit(X).labels_
        for k in range(max(2, n_classes - 1), n_classes + 4)
        for seed in range(3)
    ]
    squares, scale = cdist(X, X, "sqeuclidean"), np.median(pdist(X))
    for share in (0.1, 0.2, 0.4):
        affinity = np.exp(-squares / (share * scale) ** 2)
        found += [spectral_labels(affinity, k, random_state=0) for k in (n_classes, n_classes + 1)]
    return found


def smiley() -> list[np.ndarray]:
    """Eight spectral clusterings (Fig. 5), the kernel widths relative to the size of the drawing."""
    X = load_self_tuning(2).X
    squares, span = cdist(X, X, "sqeuclidean"), np.ptp(X, axis=0).max()
    return [
        spectral_labels(np.exp(-squares / (share * span) ** 2), k, random_state=0)
        for share in (0.02, 0.03, 0.05, 0.08)
        for k in (3, 4)
    ]


def communities(name: str) -> list[np.ndarray]:
    """Runs of Louvain, Leiden, label propagation and spectral clustering."""
    graph = read_graph(load_network(name).adjacency)
    found = [
        get_algorithm(algorithm)(graph, seed)
        for algorithm in ("louvain", "leiden", "label_propagation")
        for seed in range(5)
    ]
    return found + [get_algorithm("louvain")(graph, seed, resolution=2.0) for seed in range(3)]


def lines(name: str, n_samples: int = 2000, threshold: float = 0.03) -> bc.Pool:
    """Hypotheses from two points each, screened by their number of false alarms (Fig. 12)."""
    X = load_jlinkage(name).X
    rng, model = np.random.default_rng(0), LineModel()
    samples = draw_samples(X, 2, n_samples, rng, SamplingLaw("local", sigma=0.5))
    held = model.residuals(model.fit(X[samples]), X) <= threshold
    width, height = np.ptp(X, axis=0)
    p = min(1.0, 2 * threshold * np.hypot(width, height) / (width * height))
    counts = held.sum(axis=0)
    meaningful = np.log10(n_samples) + log_binomial_tail(len(X) - 2, counts - 2, p) < 0
    return bc.Pool.from_matrix(held[:, meaningful])
