"""Pools with a few errors, and labels up to their names."""

from __future__ import annotations

import numpy as np

import biconsensus as bc

PARTITION = np.repeat([0, 1, 2], [9, 7, 5])


def noisy_pool(seed=0, n_sources=7, flips=2):
    rng = np.random.default_rng(seed)
    table = np.tile(PARTITION[:, None], (1, n_sources))
    for column in table.T:
        column[rng.choice(21, flips, replace=False)] = rng.integers(3, size=flips)
    return bc.Pool.from_labels(table), table


def same(a, b):
    return len(set(zip(a, b))) == len(set(a)) == len(set(b))
