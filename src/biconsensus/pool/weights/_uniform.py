"""Every candidate counts the same."""

from __future__ import annotations

import numpy as np

from biconsensus.pool._pool import Pool
from biconsensus.protocols import FloatArray


def uniform(pool: Pool) -> FloatArray:
    """(n,) ones.

    Examples
    --------
    >>> import biconsensus as bc
    >>> uniform(bc.Pool.from_labels([[0, 0, 1]]))
    array([1., 1.])
    """
    return np.ones(pool.shape[1])
