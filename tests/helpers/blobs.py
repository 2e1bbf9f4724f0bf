"""Two blobs, and partitions up to the names of groups."""

from __future__ import annotations

import numpy as np

RNG = np.random.default_rng(0)


X = np.concatenate([RNG.normal(0, 0.5, (30, 4)), RNG.normal(5, 0.5, (30, 4))])


def same_partition(a, b):
    return len(set(zip(a, b))) == len(set(a)) == len(set(b))
