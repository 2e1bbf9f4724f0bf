"""Fig. 5: the smiley, eight spectral clusterings, and every comparison."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.distance import pdist, squareform

import biconsensus as bc
from biconsensus.baselines import get_baseline
from biconsensus.baselines._cooccurrence import cooccurrence
from biconsensus.datasets import load_self_tuning
from biconsensus.sources._spectral import spectral_labels
from experiments.common import Section, Table, paper_consensus
from experiments.shared_clustering import TIES_JOIN, paired, panels, scores

SIGMAS, NUMBERS = (0.005, 0.01, 0.015, 0.02), (3, 4)
PAPER_BASE = {
    3: [(0.293, 56.75), (0.981, 99.62), (0.717, 82.24), (1.0, 100.0)],
    4: [(0.311, 56.84), (0.873, 92.16), (0.892, 93.04), (0.927, 96.99)],
}
Consensus = Callable[[Any], Any]
COMPARED: list[tuple[str, tuple[float, float] | None, Consensus]] = [
    ("spectral clustering of B, K = 2", (0.708, 76.89), lambda pool: get_baseline("spectral")(pool, 2, random_state=0)),
    ("spectral clustering of B, K = 3", (1.0, 100.0), lambda pool: get_baseline("spectral")(pool, 3, random_state=0)),
    ("spectral clustering of B, K = 4", (0.862, 88.78), lambda pool: get_baseline("spectral")(pool, 4, random_state=0)),
    ("SNMF, q = 3", (0.708, 76.89), lambda pool: get_baseline("snmf")(pool, 3, random_state=0)),
    ("J-linkage", (0.421, 67.39), lambda pool: get_baseline("jlinkage")(pool)),
    ("evidence accumulation, average linkage", None, lambda pool: get_baseline("evidence_accumulation")(pool)),
    (
        "evidence accumulation, single linkage",
        None,
        lambda pool: get_baseline("evidence_accumulation")(pool, linkage="single"),
    ),
    ("co-association above 1/2", None, lambda pool: get_baseline("coassociation")(pool)),
    ("maximum-weight clique", None, lambda pool: get_baseline("clique")(pool)),
    ("bi-clustering, ADMM of the paper", (0.981, 99.62), lambda pool: paper_consensus(pool, solver="admm").labels),
    ("bi-clustering, votes, ties join", (0.981, 99.62), lambda pool: paper_consensus(pool, quorum=TIES_JOIN).labels),
    ("bi-clustering, votes, ties stay out", None, lambda pool: paper_consensus(pool).labels),
]


@cache
def base(seed: int = 0) -> tuple[np.ndarray, np.ndarray, list[tuple[int, float, np.ndarray]]]:
    """Points in a box whose longer side is 1, truth, and the eight base results."""
    X, truth = load_self_tuning("2")
    assert truth is not None
    X = (X - X.min(axis=0)) / np.ptp(X, axis=0).max()
    distances = squareform(pdist(X))
    results = []
    for k in NUMBERS:
        for sigma in SIGMAS:
            affinity = np.exp(-0.5 * (distances / sigma) ** 2)
            results.append((k, sigma, spectral_labels(affinity, k, seed)))
    return X, truth, results


def run(out: Path, quick: bool) -> Section:
    """Base results, comparisons, and the consensus over several seeds of k-means."""
    X, truth, results = base()
    pool = bc.Pool.from_labels([labels for *_, labels in results])
    base_rows: list[list[object]] = [
        [f"K = {k}, sigma = {s:g}", paired(PAPER_BASE[k][SIGMAS.index(s)]), paired(scores(truth, v))]
        for k, s, v in results
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bc.errors.ConvergenceWarning)
        found = [(name, paper, consensus(pool)) for name, paper, consensus in COMPARED]
    rows: list[list[object]] = [
        [name, paired(paper), paired(scores(truth, v)), len(set(v) - {-1}), int((v < 0).sum())]
        for name, paper, v in found
    ]
    titles = [(f"K = {k}, sigma = {s:g}\nNMI {scores(truth, v)[0]:.3f}", v) for k, s, v in results]
    panels(out / "clustering_fig5_base.png", X, titles, 4, height=1.9)
    shown = [(f"{name}\nNMI {scores(truth, v)[0]:.3f}", v) for name, _, v in found]
    panels(out / "clustering_fig5_compared.png", X, shown, 4, width=2.6, height=2.0)
    draw_cooccurrence(out / "clustering_fig5_cooccurrence.png", pool, truth)
    return Section(
        "Fig. 5: smiley",
        "The 266 points are `self_tuning/2.csv`, scaled so that the longer side of their box is 1. The "
        "affinity of two points at distance d is exp(-d² / (2 sigma²)), with ones on the diagonal. The "
        "paper does not say how it scales the points. With our scale the smallest sigma breaks the graph "
        "into pieces, as it does in the paper. " + over_seeds(1 if quick else 5),
        [
            Table("Base results, NMI / F-measure", ["spectral clustering", "paper", "here"], base_rows),
            Table("Consensus, NMI / F-measure", ["method", "paper", "here", "groups", "left over"], rows),
        ],
        [
            ("clustering_fig5_base.png", "Base results"),
            ("clustering_fig5_cooccurrence.png", "Co-occurrence matrix, elements by true group"),
            ("clustering_fig5_compared.png", "Consensus methods"),
        ],
    )


def over_seeds(n: int) -> str:
    """The default consensus for other seeds of the base results."""
    values = []
    for seed in range(1, n + 1):
        _, truth, results = base(seed)
        found = paper_consensus([labels for *_, labels in results], quorum=TIES_JOIN)
        values.append(scores(truth, found.labels)[0])
    shown = ", ".join(f"{v:.3f}" for v in values)
    return f"For {n} other seeds of k-means the NMI of the consensus (votes, ties join) is {shown}."


def draw_cooccurrence(path: Path, pool: bc.Pool, truth: np.ndarray) -> None:
    """The co-occurrence matrix, sorted by the truth."""
    import matplotlib.pyplot as plt

    order = np.argsort(truth, kind="stable")
    rows = pool.inverse[order]
    figure, ax = plt.subplots(figsize=(3.6, 3.4))
    ax.imshow(cooccurrence(pool)[np.ix_(rows, rows)], cmap="Greys", interpolation="nearest")
    ax.set_xlabel("elements")
    ax.set_ylabel("elements")
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    plt.close(figure)
