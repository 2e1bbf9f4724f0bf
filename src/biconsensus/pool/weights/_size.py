"""Small candidates count more, so that a few large groups do not outweigh many small ones."""

from __future__ import annotations

import numpy as np

from biconsensus.pool._pool import Pool
from biconsensus.protocols import FloatArray


def by_size(pool: Pool, power: float = -0.5) -> FloatArray:
    """(n,) size of each candidate to a power; an empty one weighs 0.

    Examples
    --------
    >>> import biconsensus as bc
    >>> by_size(bc.Pool.from_labels([[0, 0, 0, 0, 1]]))
    array([0.5, 1. ])
    """
    sizes = pool.sizes.astype(np.float64)
    return np.where(sizes > 0, np.maximum(sizes, 1.0) ** power, 0.0)
