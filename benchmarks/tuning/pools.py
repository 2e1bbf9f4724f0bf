"""Pools for choosing constants, rows shuffled; data sets in two halves, one to choose on, one to look at afterwards."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.preprocessing import StandardScaler

from biconsensus import datasets

ENSEMBLES = ("Caltech20", "IS", "MF", "SPF", "Semeion", "VS")
MAX_ELEMENTS = 600
N_RUNS = 20
FAMILIES = ("ensembles", "k in 2..12", "k in K-1..K+2", "k in 2..sqrt(m)", "k = sqrt(m)", "mixtures")


CHOSEN_ON, LOOKED_AT = "chosen on", "looked at"


def half_of(name: str) -> str:
    """Half that a data set belongs to, by a hash of its name: constants are chosen on one, reported on the other."""
    return (CHOSEN_ON, LOOKED_AT)[zlib.crc32(name.encode()) % 2]


class TuningPool(NamedTuple):
    """One pool with its truth."""

    family: str
    name: str
    """Of the data set."""
    table: NDArray[Any]
    truth: NDArray[Any]

    @property
    def half(self) -> str:
        """Half of the data sets that it belongs to."""
        return half_of(self.name)


def tuning_pools(n_draws: int, every: int = 1) -> Iterator[TuningPool]:
    """All families: that many draws of 20 columns of each ensemble, and every so-manieth set of points."""
    for name in ENSEMBLES:
        members, truth = datasets.load_ensemble_pool(name)
        for draw in range(n_draws):
            columns = np.random.default_rng([3, draw]).choice(members.shape[1], N_RUNS, replace=False)
            yield _shuffled("ensembles", name, members[:, columns], truth, draw)
    for number, (name, X, truth) in enumerate([*_points(), *_mixtures()]):
        if number % every == 0:
            for family in ("mixtures",) if name.startswith("mixture") else FAMILIES[1:5]:
                yield _shuffled(family, name, _k_means(X, truth, family, number), truth, 0)


def _shuffled(family: str, name: str, table: NDArray[Any], truth: NDArray[Any], draw: int) -> TuningPool:
    """Elements in random order: a method must not read the truth from the order of the file."""
    order = np.random.default_rng([zlib.crc32((family + name).encode()), draw]).permutation(len(truth))
    return TuningPool(family, name, table[order], truth[order])


def _points() -> Iterator[tuple[str, NDArray[Any], NDArray[Any]]]:
    """Labelled points, at most MAX_ELEMENTS of each set."""
    for name in datasets.names_of("benchmark"):
        X, truth = (np.asarray(part) for part in datasets.load_benchmark(name)[:2])
        kept = np.flatnonzero(np.isfinite(X).all(axis=1))
        rng = np.random.default_rng(zlib.crc32(name.encode()))
        kept = np.sort(rng.choice(kept, min(kept.size, MAX_ELEMENTS), replace=False))
        yield name, StandardScaler().fit_transform(X[kept]) if X.shape[1] > 3 else X[kept], truth[kept]


def _mixtures() -> Iterator[tuple[str, NDArray[Any], NDArray[Any]]]:
    """Gaussian mixtures, 3 to 12 groups in 2 to 10 dimensions."""
    for seed in range(16):
        rng = np.random.default_rng([91, seed])
        n_groups, dimension = int(rng.integers(3, 13)), int(rng.integers(2, 11))
        centres = rng.normal(size=(n_groups, dimension)) * rng.uniform(2.0, 4.5) / dimension**0.25
        truth = rng.choice(n_groups, 500, p=rng.dirichlet(np.full(n_groups, 5.0)))
        spread = rng.uniform(0.5, 1.3, n_groups)[truth, None]
        yield f"mixture {seed}", centres[truth] + spread * rng.normal(size=(500, dimension)), truth


def _k_means(X: NDArray[Any], truth: NDArray[Any], family: str, seed: int) -> NDArray[Any]:
    """Twenty k-means runs, k in the range of the family."""
    n_groups, root = np.unique(truth[truth >= 0]).size, int(len(X) ** 0.5)
    ranges = {
        "k in 2..12": (2, 12),
        "k in K-1..K+2": (max(2, n_groups - 1), n_groups + 2),
        "k in 2..sqrt(m)": (2, root),
        "k = sqrt(m)": (root, root),
        "mixtures": (2, root),
    }
    low, high = (min(k, len(X) // 3) for k in ranges[family])
    rng = np.random.default_rng([seed, FAMILIES.index(family)])
    runs = [
        KMeans(int(k), n_init=1, init="random", random_state=int(s)).fit_predict(X)
        for k, s in zip(rng.integers(low, high + 1, N_RUNS), rng.integers(1 << 31, size=N_RUNS), strict=True)
    ]
    return np.column_stack(runs)


def print_table(title: str, found: dict[str, dict[tuple[str, str], list[float]]]) -> None:
    """One line for each rule: mean over each family, and over the families of each half of the data sets."""
    halves = (CHOSEN_ON, LOOKED_AT)
    families = [family for family in FAMILIES if any(key[0] == family for by in found.values() for key in by)]
    print(f"| {title} | {' | '.join(families)} | {' | '.join(halves)} |\n|---|{'---|' * (len(families) + 2)}")
    for rule, by in found.items():
        cells = [_mean([v for key, values in by.items() if key[0] == family for v in values]) for family in families]
        cells += [_mean([_mean(by[family, half]) for family in families if (family, half) in by]) for half in halves]
        print(f"| {rule} | {' | '.join(f'{cell:.3f}' for cell in cells)} |", flush=True)


def _mean(values: list[float]) -> float:
    """Mean, NaN for none."""
    return float(np.mean(values)) if values else float("nan")
