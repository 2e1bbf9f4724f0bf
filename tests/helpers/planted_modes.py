"""Pools in which the sources form several camps."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def planted_modes(
    rng: np.random.Generator, n_modes: int, m: int = 200, noise: float = 0.2
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Labels (m, c) of sources in random order, 3 to 6 for each mode, and the mode (c,) of each.

    Modes have 2 to 6 groups of unequal sizes; each source draws some of its labels at random.
    """
    table, owner = [], []
    for mode in range(n_modes):
        n_groups = int(rng.integers(2, 7))
        groups = rng.choice(n_groups, m, p=rng.dirichlet(np.full(n_groups, 3.0)))
        for _ in range(int(rng.integers(3, 7))):
            wrong = rng.random(m) < noise
            table.append(rng.permutation(n_groups)[np.where(wrong, rng.integers(0, n_groups, m), groups)])
            owner.append(mode)
    order = rng.permutation(len(owner))
    return np.column_stack(table)[:, order], np.array(owner)[order]
