"""The pools that the accuracy of a consensus is measured on; rows are shuffled in all of them.

Data sets are in two halves, by a hash of their names: constants may be chosen on one (`benchmarks.tuning.pools`), the
other is reported. The six pools made by others (`ensemble_pools`) were all in view when the rule for a given number of
groups was chosen; the draws were not. BENCH=quick takes few draws and small sets, BENCH=full more of everything.
"""

from __future__ import annotations

import os
import warnings
import zlib
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.preprocessing import StandardScaler

import biconsensus as bc
from benchmarks.tuning.pools import CHOSEN_ON, ENSEMBLES, half_of
from benchmarks.without_data import by_name, loaded, loaded_or_none
from biconsensus import datasets
from biconsensus.errors import BiconsensusWarning
from biconsensus.sources.networks import get_algorithm

QUICK, FULL = (os.environ.get("BENCH") == mode for mode in ("quick", "full"))
N_JOBS = int(os.environ.get("JOBS", "2"))
"""Processes."""
DRAWS = range(20, 22 if QUICK else 40)
"""Draws; those before took part in the choice of the rule, and so did the seeds before the ones used below."""
N_COLUMNS = 20
"""Groupings of each draw, of 100, as in the papers that use these pools."""
MAX_ELEMENTS = 300 if QUICK else 1000
MIXINGS = (0.48, 0.59, 0.70)
"""Shares of links that leave their community, as asked for; the generator reaches them but for rounding."""
KINDS = {"k in 2..12": "wide", "k in K-1..K+2": "near", "k in 2..sqrt(m)": "over"}


class Case(NamedTuple):
    """One pool with its truth."""

    family: str
    name: str
    table: NDArray[Any]
    truth: NDArray[Any]
    peers: Mapping[str, NDArray[Any]] = MappingProxyType({})
    """Answers of methods that look at the network itself."""
    first: bool = False
    """Whether it is the first draw of one of the `ensemble_pools`: methods that take minutes run on no other."""


def shuffled(case: Case) -> Case:
    """The same pool, elements in random order: no method can read the truth from the order of a file."""
    order = np.random.default_rng(zlib.crc32(f"{case.family}: {case.name}".encode())).permutation(len(case.truth))
    peers = {name: labels[order] for name, labels in case.peers.items()}
    return case._replace(table=case.table[order], truth=case.truth[order], peers=peers)


def ensembles() -> list[Case]:
    """Columns drawn from pools made by others, many times."""
    pools = by_name(datasets.load_ensemble_pool, ENSEMBLES[-1:] if QUICK else ENSEMBLES)
    cases = []
    for draw in DRAWS:
        for name, (members, truth) in pools.items():
            columns = np.random.default_rng([7, draw]).choice(members.shape[1], N_COLUMNS, replace=False)
            case = Case("ensemble_pools", f"{name} #{draw}", members[:, columns], truth, first=draw == DRAWS[0])
            cases.append(shuffled(case))
    return cases


def points() -> Iterator[tuple[str, NDArray[Any], NDArray[Any]]]:
    """Labelled points that no constant was chosen on, at most MAX_ELEMENTS of each set."""
    loaders = {"iris": load_iris, "wine": load_wine, "breast 569": load_breast_cancer, "digits": load_digits}
    sets = {name: loader(return_X_y=True) for name, loader in loaders.items()}
    sets["breast 699"] = datasets.load_uci("breast")
    # iris and wine of the collection are the sets above
    names = [n for n in datasets.names_of("benchmark") if n not in ("other/iris", "uci/wine", "uci/wdbc")]
    sets |= by_name(datasets.load_benchmark, names[::8] if QUICK else names)
    sets |= {f"mixture {k}": mixture(k) for k in range(2 if QUICK else 10)}
    for name, (X, truth) in sets.items():
        if half_of(name) == CHOSEN_ON and not name.startswith("mixture"):
            continue
        X, truth = np.asarray(X, float), np.asarray(truth)
        kept = np.flatnonzero(np.isfinite(X).all(axis=1))
        if kept.size > MAX_ELEMENTS:
            kept = np.sort(np.random.default_rng(0).choice(kept, MAX_ELEMENTS, replace=False))
        scaled = X.shape[1] > 3 and name != "digits"
        yield name, StandardScaler().fit_transform(X[kept]) if scaled else X[kept], truth[kept]


def mixture(number: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Fresh Gaussian mixtures: 3 to 20 groups in 5 to 50 dimensions."""
    from benchmarks.meaning_points import mixture as drawn

    X, truths = drawn(500 + number)
    return X, truths[0]


def k_means() -> list[Case]:
    """Twenty k-means runs on each set, in three ranges of k."""
    seeds = (51, 61) if FULL else (51,)
    jobs = [(X, truth, f, name, s) for name, X, truth in points() for f in KINDS for s in seeds]
    return list(Parallel(n_jobs=N_JOBS)(delayed(_k_means)(*job) for job in jobs))


def _k_means(X: NDArray[Any], truth: NDArray[Any], family: str, name: str, seed: int) -> Case:
    """One pool of k-means runs."""
    K = np.unique(truth[truth >= 0]).size
    low, high = {"wide": (2, 12), "near": (max(2, K - 1), K + 2), "over": (2, int(len(X) ** 0.5))}[KINDS[family]]
    rng = np.random.default_rng([seed, K])
    runs = [
        KMeans(
            int(rng.integers(low, high + 1)), n_init=1, init="random", random_state=int(rng.integers(1 << 31))
        ).fit_predict(X)
        for _ in range(20)
    ]
    return shuffled(Case(family, f"{name} #{seed}", np.column_stack(runs), truth))


def networks() -> list[Case]:
    """LFR networks of the benchmark of communities; ten runs each of Louvain, label propagation, Leiden, Infomap."""
    n_networks = 1 if QUICK else 10 if FULL else 3
    jobs = [(mixing, seed) for mixing in MIXINGS for seed in range(11, 11 + n_networks)]
    return list(Parallel(n_jobs=N_JOBS)(delayed(_network)(*job) for job in jobs))


def _network(mixing: float, seed: int) -> Case:
    """One network with its pool, and what rivals make of it."""
    from benchmarks import communities

    graph, truth = communities.lfr(mixing, seed)
    actual = communities.actual_mixing((graph, truth))
    runs = [np.asarray(get_algorithm(name)(graph, 100 * seed + k)) for name in communities.POOL for k in range(10)]
    model = bc.ConsensusCommunities(communities.POOL, n_runs=10, random_state=seed).fit(graph)
    peers = {
        "ConsensusCommunities, left-overs alone": bc.metrics.noise_as_singletons(model.labels_),
        "ECG": communities.ecg(graph),
        "fast-ensemble": communities.fast_ensemble(graph),
    }
    return shuffled(Case(f"LFR {mixing}", f"mixing {actual:.3f} #{seed}", np.column_stack(runs), truth, peers))


def balanced() -> list[Case]:
    """Pools of the paper's own experiments, balanced around the right number of groups."""
    makers = [*_uci(), *_perturbed(), *_six_algorithms(), *_motions()]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BiconsensusWarning)
        return list(Parallel(n_jobs=N_JOBS)(delayed(make)() for make in (makers[::25] if QUICK else makers)))


def _uci() -> Iterator[Callable[[], Case]]:
    """Fig. 6: k-means and spectral clusterings of the UCI sets, several seeds."""
    from experiments import clustering_fig6_uci as fig6

    def make(name: str, seed: int) -> Case:
        truth, rows = fig6.base(name, seed)
        table = np.column_stack([row for row in rows if row is not None])
        return shuffled(Case("paper, Fig. 6", f"{name} #{seed}", table, np.asarray(truth)))

    # some of these come with the package, so that each is tried
    for name in loaded({name: lambda name=name: datasets.load_uci(name) for name in fig6.SETS}):
        for seed in range(40, 48 if FULL else 42):
            yield lambda name=name, seed=seed: make(name, seed)


def _perturbed() -> Iterator[Callable[[], Case]]:
    """Table 3: Infomap on ten perturbed copies; the truth is Infomap's answer on the network itself."""
    from experiments import communities_table3_perturbed as table3

    network = loaded_or_none(lambda: datasets.load_network("polbooks"))
    if network is None:
        return
    graph = table3.from_matrix(network.adjacency, network.names)
    truth = next(iter(table3._references(graph).values()))

    def make(share: float, trial: int) -> Case:
        rng = np.random.default_rng([trial, round(100 * share)])
        copies = [table3.perturbed(graph, share, rng) for _ in range(table3.COPIES)]
        table = np.column_stack([table3.get_algorithm("infomap")(copy, trial) for copy in copies])
        return shuffled(Case("paper, Table 3", f"rho {share} #{trial}", table, np.asarray(truth)))

    for share in table3.PAPER:
        for trial in range(200, 240 if FULL else 205):
            yield lambda share=share, trial=trial: make(share, trial)


def _six_algorithms() -> Iterator[Callable[[], Case]]:
    """Table 2: six community detections on LFR networks."""
    from experiments import communities_table2_lfr as table2

    def make(kind: Any, seed: int) -> Case:
        model, truth = table2._fit(kind, seed)
        table = np.column_stack([result.labels for result in model.results_[: len(table2.COLUMNS) - 1]])
        name = f"{kind[0]} nodes, degree {kind[1]} #{seed}"
        return shuffled(Case("paper, Table 2", name, table, np.asarray(truth)))

    for kind in table2.NETWORKS:
        n_networks = {100: 100, 1000: 20}.get(kind[0], 3) if FULL else {100: 10, 1000: 3}.get(kind[0], 1)
        for seed in range(1000, 1000 + n_networks):
            yield lambda kind=kind, seed=seed: make(kind, seed)


def _motions() -> Iterator[Callable[[], Case]]:
    """Fig. 7: subspace clusterings of every twelfth sequence of Hopkins 155."""
    from experiments import clustering_fig7_hopkins as fig7

    def make(name: str) -> Case:
        X, truth = datasets.load_hopkins155(name)
        base = fig7.subspace_path(X, len(np.unique(truth)), fig7.KAPPAS, affine=True, rho=0.7, random_state=0)
        return shuffled(Case("paper, Fig. 7", name, np.column_stack(base), np.unique(truth, return_inverse=True)[1]))

    for name in by_name(datasets.load_hopkins155, datasets.names_of("hopkins155")[5::12]):
        yield lambda name=name: make(name)
