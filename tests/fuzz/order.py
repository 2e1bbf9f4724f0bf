"""Order and names do not matter, on 10,000 noisy pools for each way to search (row 76 of the table of faults).

``python -m tests.fuzz.order [problem greedy joint path] [--pools N] [--first N]``. Every pool is taken once as it is,
and once changed: its elements, sources and names permuted, and two times in three its elements or its sources doubled
as well. Pool k is the same in every run, so that a long run can be made of several: ``--first`` says where to begin.

``greedy``, ``joint`` and ``path`` compare answers: both must have the same objective, and the same groups unless two
groups tie, or elements can change places without any change of the pool. ``path`` is one quorum path with two answers:
the default (auto) and a given number of groups. ``problem`` compares what the searches are given, the matrix in its
canonical order, number by number. It is many times quicker. A search that is given the same numbers finds the same
groups, so that here the cause of every difference shows.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from itertools import starmap
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score

import biconsensus as bc
from biconsensus.find import Search, trace
from biconsensus.matrix._condensed import Condensed, canonical_order
from tests.whole.test_order import METHODS, answer, assert_as_good, noisy

POOLS = 10_000
SMALL = (10, 31)
"""Numbers of elements, the upper one left out: small pools are quick, and have the most ties."""
SAID = 100
"""Pools after which a line says how far it is, so that a run that is stopped was not for nothing."""
CHANGES = ("permuted", "elements doubled", "sources doubled")
"""What is done to pool k: the change number k mod 3."""


def answers(table: np.ndarray, method: str, elements: int, sources: int) -> dict[str, bc.Consensus]:
    """The answers of one way to search, by their names in METHODS."""
    if method != "path":
        return {method: answer(table, method, elements, sources)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        traced = trace(bc.Pool.from_labels(list(table)), Search(min_elements=elements, min_candidates=sources))
        return {"auto": traced.answer(), "n_groups": traced.with_n_groups(METHODS["n_groups"]["n_groups"])}


def canonical(table: np.ndarray, divide: bool) -> list[Any]:
    """All that a search is given."""
    pool = bc.Pool.from_labels(list(table))
    whole = Condensed.of(bc.PreferenceMatrix.from_pool(pool), divide=divide).whole
    sparse = [array for one in (whole.entries, whole.backers) for array in (one.indptr, one.indices, one.data)]
    return [*sparse, whole.counts, whole.weights]


def same_up_to_symmetry(table: np.ndarray, labels: np.ndarray, changed: np.ndarray, again: np.ndarray) -> bool:
    """Whether two answers differ only in elements that can change places: nothing in the pool tells them apart."""
    same = all(starmap(np.array_equal, zip(canonical(table, True), canonical(changed, True), strict=True)))
    here, there = in_canonical_order(table, labels), in_canonical_order(changed, again)
    return same and here.size == there.size and bool(adjusted_rand_score(here, there) == 1.0)


def in_canonical_order(table: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """(r,) groups of the distinct rows, in the order of the search."""
    pool = bc.Pool.from_labels(list(table))
    rows, _, _ = canonical_order(bc.PreferenceMatrix.from_pool(pool))
    of_row = np.empty(len(rows), np.int64)
    of_row[pool.inverse] = labels
    return of_row[rows]


def check(method: str, k: int) -> list[str]:
    """Answer pool k and its changed copy; what differs, in words."""
    table = noisy(k, SMALL)
    rng = np.random.default_rng(k + 1)
    change = CHANGES[k % len(CHANGES)]
    doubled = np.repeat(table, 2, axis=1 if change == "elements doubled" else 0) if change != "permuted" else table
    order = rng.permutation(doubled.shape[1])
    named = np.stack([rng.permutation(20)[row] for row in doubled])
    changed = named[rng.permutation(len(named))][:, order]
    if method == "problem":
        both = [True, False] if change == "permuted" else [True]
        same = all(
            all(starmap(np.array_equal, zip(canonical(table, divide), canonical(changed, divide), strict=True)))
            for divide in both
        )
        return [] if same else [f"problem: pool {k}, {change}: not the same numbers"]
    minima = {"elements doubled": (4, 2), "sources doubled": (2, 4)}.get(change, (2, 2))
    found, again = answers(table, method, 2, 2), answers(changed, method, *minima)
    faults = []
    for name, here in found.items():
        labels = again[name].labels[np.argsort(order)]
        try:
            if change == "elements doubled":
                assert np.array_equal(labels[::2], labels[1::2]), "copies of an element are apart"
                labels = labels[::2]
            assert_as_good(here, again[name], labels, copies=1 if change == "permuted" else 2)
        except AssertionError as error:
            if same_up_to_symmetry(table, here.labels, changed, again[name].labels):
                continue
            faults.append(f"{name}: pool {k}, {change}: {' '.join(str(error).split())[:150]}")
    return faults


def main() -> int:
    """Number of ways to search in which a pool was answered in two ways."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("methods", nargs="*", default=["problem", "greedy", "joint", "path"])
    parser.add_argument("--pools", type=int, default=POOLS)
    parser.add_argument("--first", type=int, default=0)
    options = parser.parse_args()
    failed = 0
    for method in options.methods:
        wrong, begin = 0, time.process_time()
        for k in range(options.first, options.first + options.pools):
            faults = check(method, k)
            wrong += bool(faults)
            print(*faults, sep="\n", end="\n" if faults else "", flush=True)
            done = k + 1 - options.first
            if done % SAID == 0 or done == options.pools:
                spent = time.process_time() - begin
                print(f"{method}: {done} pools from {options.first} on, {wrong} differ ({spent:.0f} s)", flush=True)
        failed += wrong > 0
    return failed


if __name__ == "__main__":
    sys.exit(main())
