"""Label tables with noise, and their groups of equal rows."""

from __future__ import annotations

import numpy as np


def noisy(m=3000, c=6, k=5, seed=0, dtype=np.int16):
    """A table of c noisy copies of one partition."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, k, m)
    table = np.where(rng.random((m, c)) < 0.1, rng.integers(-1, k, (m, c)), truth[:, None])
    return table.astype(dtype)


def expected_groups(rows):
    """Groups in order of appearance, by a dictionary."""
    seen = {}
    return [seen.setdefault(tuple(row), len(seen)) for row in rows]
