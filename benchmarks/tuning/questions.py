"""How probable it is that two elements belong together: the tables behind the questions.

`SPREAD` and `TRUST` of `questions/_beliefs.py` are read from the first table: for random pairs of elements, the share
of the sources that put them together, whether the consensus joins them, and whether they share a class; on pools of the
accuracy benchmark with other draws and seeds. The second is the mean ARI after 20 questions, after 100 random pairs,
and on how many pools true answers ended more than .01 below the start, for values of the constants, on generated
points that no benchmark reports. ``python -m benchmarks.tuning.questions generated`` prints the second alone.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs, make_circles, make_classification, make_moons

import biconsensus as bc
from benchmarks import accuracy_pools as pools
from benchmarks.beyond import after_questions, after_random
from biconsensus import datasets, metrics
from biconsensus.questions import _beliefs as beliefs

N_GENERATED = 36
"""Sets of generated points."""
LARGEST = 600
"""Elements of a set that are used."""
N_PAIRS = 20_000
"""Random pairs of each pool."""
EDGES = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 1.01)


def cases() -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
    """Label tables and classes: draws 0 to 3 of the ensemble pools, k-means runs with seed 7."""
    sets = pools.by_name(datasets.load_ensemble_pool, pools.ENSEMBLES)
    for draw in range(4):
        for members, truth in sets.values():
            columns = np.random.default_rng([7, draw]).choice(members.shape[1], 10, replace=False)
            some = np.random.default_rng(0).permutation(truth.size)[:LARGEST]
            yield members[np.ix_(some, columns)], truth[some]
    for k, (name, X, truth) in enumerate(pools.points()):
        for family in pools.KINDS if k % 2 == 0 else ():
            case = pools._k_means(X[:LARGEST], truth[:LARGEST], family, name, 7)
            yield case.table, case.truth


def pairs(table: NDArray[Any], truth: NDArray[Any]) -> NDArray[Any]:
    """Whether the consensus joins them, agreement, and whether they share a class, for random pairs of elements."""
    c = bc.find_consensus(table)
    one, other = np.random.default_rng(1).integers(0, truth.size, (2, N_PAIRS))
    joined = (c.labels[one] == c.labels[other]) & (c.labels[one] >= 0)
    found = np.column_stack([joined, (table[one] == table[other]).mean(axis=1), truth[one] == truth[other]])
    return found[one != other].astype(float)


def generated(number: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Ten or twenty k-means runs, in three ranges of k, on points of one of six kinds; and their classes."""
    rng = np.random.default_rng([900, number])
    kind, m = number % 6, int(rng.integers(250, 600))
    if kind == 0:
        X, truth = make_moons(m, noise=rng.uniform(0.05, 0.2), random_state=number)
    elif kind == 1:
        K, d = int(rng.integers(3, 13)), int(rng.integers(2, 12))
        X, truth = make_blobs(m, d, centers=K, cluster_std=rng.uniform(1, 4), random_state=number)
    elif kind == 2:  # classes of several blobs
        K = int(rng.integers(2, 5))
        n_blobs = K * int(rng.integers(2, 4))
        d, spread = int(rng.integers(2, 6)), rng.uniform(0.8, 2.0)
        X, blob = make_blobs(m, d, centers=n_blobs, cluster_std=spread, random_state=number)
        truth = rng.permutation(n_blobs)[blob] % K
    elif kind == 3:
        telling, K = int(rng.integers(3, 7)), int(rng.integers(2, 5))
        X, truth = make_classification(
            m, 10, n_informative=telling, n_classes=K, n_clusters_per_class=1, class_sep=1.3, random_state=number
        )
    elif kind == 4:  # stretched and unequal
        K = int(rng.integers(2, 6))
        truth, X = rng.choice(K, m, p=rng.dirichlet(np.full(K, 1.5))), np.empty((m, 3))
        for k in range(K):
            shape = rng.normal(size=(3, 3))
            X[truth == k] = rng.normal(size=((truth == k).sum(), 3)) @ shape + 4 * rng.normal(size=3)
    else:
        X, truth = make_circles(m, factor=rng.uniform(0.3, 0.6), noise=0.06, random_state=number)
    K = np.unique(truth).size
    low, high = [(2, 12), (max(2, K - 1), K + 2), (2, int(m**0.5))][number // 6 % 3]
    runs = []
    for _ in range(int(rng.choice([10, 20]))):
        k, seed = int(rng.integers(low, high + 1)), int(rng.integers(1 << 31))
        runs.append(KMeans(k, n_init=1, init="random", random_state=seed).fit(X).labels_)
    return np.column_stack(runs), truth


def compared(made: list[tuple[bc.Consensus, NDArray[Any]]]) -> None:
    """Print what values of the constants reach."""
    before = np.array([metrics.ari(truth, c.labels) for c, truth in made])
    print(f"ARI before: {before.mean():.3f}", flush=True)
    for name, value in ((None, 0.0), ("STRENGTH", 1.0), ("STRENGTH", 6.0), ("SPREAD", 0.3), ("TRUST", 0.5)):
        kept = getattr(beliefs, name) if name else None
        if name:
            setattr(beliefs, name, value)
        asked = np.array([metrics.ari(truth, after_questions(c, truth).labels) for c, truth in made])
        random = np.mean([after_random(c, truth, 1) for c, truth in made])
        below = int((asked < before - 0.01).sum())
        what = f"{name} {value}" if name else "as it is"
        print(f"{what}: questions {asked.mean():.3f} ({below} below), random pairs {random:.3f}", flush=True)
        if name:
            setattr(beliefs, name, kept)


def main() -> None:
    """Print both tables."""
    warnings.simplefilter("ignore")
    compared([(bc.find_consensus(table), truth) for table, truth in map(generated, range(N_GENERATED))])
    if sys.argv[1:] == ["generated"]:
        return
    rows = [pairs(table, truth) for table, truth in cases() if np.unique(truth).size > 1]
    for inside in (True, False):
        print("pairs that the consensus", "joins" if inside else "does not join")
        for low, high in pairwise(EDGES):
            # every pool counts alike
            parts = [own[(own[:, 0] == inside) & (own[:, 1] >= low) & (own[:, 1] < high), 2] for own in rows]
            means = [part.mean() for part in parts if part.size]
            if means:
                print(f"  agreement {low:.2f} to {high:.2f}: {len(means):3d} pools, {np.mean(means):.2f} together")


if __name__ == "__main__":
    main()
