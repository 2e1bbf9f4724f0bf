"""How probable it is that two branches of the tree of a consensus belong together: the table behind the questions.

`SPREAD` and `TRUST` of `questions/_questions.py` are read from the first table: for every joint with at least 4% of the
elements on each side, the share of the sources that put pairs across it together, whether the consensus joins it, and
whether most pairs across it share a class. The second is the mean ARI after 20 questions for values of `STRENGTH`.
The pools are those of the accuracy benchmark with other draws and seeds.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

import biconsensus as bc
from benchmarks import accuracy_pools as pools
from benchmarks.beyond import after_questions
from biconsensus import datasets, metrics
from biconsensus.questions import _questions as questions

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


def main() -> None:
    """Print both tables."""
    warnings.simplefilter("ignore")
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
    for strength in (1.0, 2.0, 3.0, 4.0, 6.0):
        questions.STRENGTH = strength
        scores = [metrics.ari(truth, after_questions(c, truth).labels) for c, truth in found]
        print(f"strength {strength:g}: ARI {np.mean(scores):.4f}")


if __name__ == "__main__":
    main()
