"""A candidate counts as much as its source agrees with the others."""

from __future__ import annotations

import numpy as np

from biconsensus.pool._agreement import source_agreement
from biconsensus.pool._pool import Pool
from biconsensus.protocols import FloatArray


def by_agreement(pool: Pool) -> FloatArray:
    """(n,) mean adjusted Rand index of the source of each candidate with all other sources, not below 0.01.

    Examples
    --------
    >>> import biconsensus as bc
    >>> by_agreement(bc.Pool.from_labels([[0, 0, 1, 1], [0, 0, 1, 1], [0, 1, 0, 1]])).round(2)
    array([0.25, 0.25, 0.25, 0.25, 0.01, 0.01])
    """
    return np.maximum(source_agreement(pool), 0.01)[pool.source_of]
