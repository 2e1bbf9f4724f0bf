"""The answer of a sample of the rows beside that of the search on all rows: twenty pools of seven kinds.

The search on all rows is also called on a random half of the elements: where its own two answers differ, no sample can
be expected to agree with it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

import biconsensus as bc
from biconsensus.matrix import _condensed

Table = tuple[NDArray[Any], NDArray[Any]]
SEED = 700
"""First seed of the pools. Seeds 100 to 102, 400 to 405 and 500 to 524 were looked at while the search was made."""


def planted(rng: np.random.Generator, small: tuple[int, ...], noise: float) -> Table:
    """Eight groups and small ones in 12 sources, cells at random, which may have the names of small groups."""
    m, n_groups = 30_000, 8 + len(small)
    truth = rng.integers(0, 8, m)
    truth[: sum(small)] = np.repeat(np.arange(8, n_groups), small)
    table = np.empty((m, 12), np.int64)
    for j in range(12):
        wrong = rng.random(m) < noise
        table[:, j] = np.where(wrong, rng.integers(0, 8, m), rng.permutation(n_groups)[truth])
    order = rng.permutation(m)
    return table[order], truth[order]


def merging(rng: np.random.Generator) -> Table:
    """Twenty groups and three small ones in 15 sources, each of which merges some of the twenty."""
    m, small = 30_000, (12, 30, 100)
    truth = rng.integers(0, 20, m)
    truth[: sum(small)] = np.repeat([20, 21, 22], small)
    table = np.empty((m, 15), np.int64)
    for j in range(15):
        onto = np.arange(23)
        for _ in range(rng.integers(0, 8)):
            one, other = rng.integers(0, 20, 2)
            onto[onto == onto[one]] = onto[other]
        labels = onto[truth]
        table[:, j] = np.where(rng.random(m) < 0.15, rng.choice(labels, m), labels)
    order = rng.permutation(m)
    return table[order], truth[order]


def gaps(rng: np.random.Generator) -> Table:
    """The same with a fifth of the cells not seen."""
    table, truth = merging(rng)
    return np.where(rng.random(table.shape) < 0.2, np.nan, table), truth


def k_means(rng: np.random.Generator) -> Table:
    """Twenty k-means results of 25 overlapping normal clusters, k from 10 to 60."""
    from sklearn.cluster import KMeans

    m = 40_000
    truth = rng.integers(0, 25, m)
    points = (3.0 * rng.normal(size=(25, 10))[truth] + 2.2 * rng.normal(size=(m, 10))).astype(np.float32)
    table = np.empty((m, 20), np.int64)
    for j in range(20):
        fitted = points[rng.choice(m, 5000, replace=False)]
        model = KMeans(int(rng.integers(10, 61)), n_init=1, max_iter=10, random_state=int(rng.integers(1 << 30)))
        table[:, j] = model.fit(fitted).predict(points)
    return table, truth


def unequal(rng: np.random.Generator) -> Table:
    """200 groups whose sizes follow a power law, in 15 sources."""
    m, share = 40_000, 1 / np.arange(1, 201) ** 1.2
    truth = rng.choice(200, m, p=share / share.sum())
    wrong = rng.random((m, 15)) < 0.15
    return np.where(wrong, rng.choice(truth, (m, 15)), truth[:, None]), truth


def nested(rng: np.random.Generator) -> Table:
    """24 groups, their 12 pairs and their 6 fours, five sources of each."""
    m = 30_000
    fine = rng.integers(0, 24, m)
    table = np.empty((m, 15), np.int64)
    for j in range(15):
        labels = fine // (1, 2, 4)[j % 3]
        table[:, j] = np.where(rng.random(m) < 0.12, rng.choice(labels, m), labels)
    return table, fine


KINDS: dict[str, tuple[Callable[[np.random.Generator], Table], int]] = {
    "planted, groups of 60 and 150": (lambda rng: planted(rng, (60, 150), 0.25), 3),
    "planted, groups of 6 to 15": (lambda rng: planted(rng, (6, 8, 10, 12, 15), 0.15), 3),
    "sources that merge, groups of 12 to 100": (merging, 3),
    "the same, a fifth not seen": (gaps, 2),
    "k-means": (k_means, 3),
    "200 unequal groups": (unequal, 3),
    "nested groups": (nested, 3),
}
"""Kinds of pools, and how many of each."""


def agreement(kind: str, seed: int) -> dict[str, float]:
    """Agreement of the default answer with that of the search on all rows, and the processor seconds of both."""
    rng = np.random.default_rng(SEED + seed)
    table, truth = KINDS[kind][0](rng)
    pool, half = bc.Pool.from_labels(table), rng.random(truth.size) < 0.5
    sampled, quick = _timed(pool)
    whole, slow = _timed(pool, all_rows=True)
    of_half, _ = _timed(bc.Pool.from_labels(table[half]), all_rows=True)
    return {
        "rows": pool.rows.shape[0],
        "searched": sampled.extraction["rows_searched"],
        "groups": len(sampled),
        "groups of all rows": len(whole),
        "ari": bc.metrics.ari(sampled.labels, whole.labels),
        "ari of half": bc.metrics.ari(of_half.labels, whole.labels[half]),
        "truth": bc.metrics.ari(truth, sampled.labels),
        "truth of all rows": bc.metrics.ari(truth, whole.labels),
        "seconds": quick,
        "seconds of all rows": slow,
    }


def _timed(pool: bc.Pool, all_rows: bool = False) -> tuple[bc.Consensus, float]:
    """The default consensus, on all rows where that is asked for, and its processor seconds."""
    worth, started = _condensed.WORTH_SAMPLING, time.process_time()
    _condensed.WORTH_SAMPLING = 10**9 if all_rows else worth
    try:
        found = bc.find_consensus(pool)
    finally:
        _condensed.WORTH_SAMPLING = worth
    return found, time.process_time() - started
