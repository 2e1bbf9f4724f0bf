"""How probable it is that two branches of the tree of a consensus belong together: the tables behind the questions.

`SPREAD` and `TRUST` of `questions/_beliefs.py` are read from the first table: for every joint with at least 4% of the
elements on each side, the share of the sources that put pairs across it together, whether the consensus joins it, and
whether most pairs across it share a class; on pools of the accuracy benchmark with other draws and seeds. The second is
the mean ARI after 20 questions, and after 100 random pairs, for values of `STRENGTH` and `UNTYPICAL`, on generated
points that no benchmark reports.
"""

from __future__ import annotations

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
from biconsensus.questions import _questions as questions

N_GENERATED = 36
"""Sets of generated points."""
LARGEST = 600
"""Elements of a set that are used."""
LEAST = 0.04
"""Share of the elements that the smaller side of a joint must have to be looked at."""
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


def joints(c: bc.Consensus, truth: NDArray[Any]) -> list[tuple[bool, float, float]]:
    """Whether the consensus joins it, agreement, and share of pairs of one class, for every large joint."""
    tree = questions.tree_of(c)
    first = questions.first_of_rows(tree.pool)
    kinds = np.unique(truth, return_inverse=True)[1][first[tree.rows]]
    found = []
    for joint, (a, b) in enumerate(tree.children):
        if tree.sizes[[a, b]].min() < LEAST * truth.size:
            continue
        sides = []
        for branch in (a, b):
            own = tree.members(int(branch))
            shares = np.bincount(kinds[own], tree.counts[own], minlength=int(kinds.max()) + 1)
            sides.append(shares / shares.sum())
        found.append((bool(tree.inside[joint]), float(tree.together[joint]), float(sides[0] @ sides[1])))
    return found


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


def main() -> None:
    """Print both tables."""
    warnings.simplefilter("ignore")
    made = [(bc.find_consensus(table), truth) for table, truth in map(generated, range(N_GENERATED))]
    print(f"ARI before: {np.mean([metrics.ari(truth, c.labels) for c, truth in made]):.3f}")
    for strength, untypical in ((3, (1, 20)), (2, (1, 20)), (4, (1, 20)), (3, (1, 10)), (3, (2, 20))):
        beliefs.STRENGTH, beliefs.UNTYPICAL = float(strength), untypical
        asked = np.mean([metrics.ari(truth, after_questions(c, truth).labels) for c, truth in made])
        random = np.mean([after_random(c, truth, 2) for c, truth in made])
        print(f"strength {strength}, untypical {untypical}: 20 questions {asked:.4f}, 100 random pairs {random:.4f}")
    found = [(bc.find_consensus(table), truth) for table, truth in cases() if np.unique(truth).size > 1]
    rows = np.array([row for c, truth in found for row in joints(c, truth)])
    for inside in (True, False):
        print("joints that the consensus", "joins" if inside else "does not join")
        for low, high in pairwise(EDGES):
            part = rows[(rows[:, 0] == inside) & (rows[:, 1] >= low) & (rows[:, 1] < high)]
            if len(part):
                print(
                    f"  agreement {low:.2f} to {high:.2f}: {len(part):4d} joints, {(part[:, 2] > 0.5).mean():.2f} right"
                )


if __name__ == "__main__":
    main()
