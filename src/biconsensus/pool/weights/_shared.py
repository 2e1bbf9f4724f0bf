"""One vote for each opinion: sources that say the same share it."""

from __future__ import annotations

import numpy as np

from biconsensus.pool._agreement import agreement_matrix, same_setting
from biconsensus.pool._pool import Pool
from biconsensus.protocols import FloatArray

POWER = 8
"""How fast likeness falls with the adjusted Rand index: sources at 0.92 are half alike. The power by which the sources
that back a grouping are counted elsewhere too."""


def shared(pool: Pool) -> FloatArray:
    """(n,) one over the number of sources that say the same as the source of each candidate, itself included.

    Parameters
    ----------
    pool : Pool
        The candidates. Runs of one algorithm with the same parameters say the same by definition; other sources as far
        as they agree.

    Returns
    -------
    (n,) array
        In (0, 1]: 1 for a source that is like no other.

    Notes
    -----
    The likeness of two sources is ``max(adjusted Rand index, 0)^8``; the weight of a source is one over the sum of its
    likenesses.

    Examples
    --------
    >>> import biconsensus as bc
    >>> shared(bc.Pool.from_labels([[0, 0, 1, 1], [0, 0, 1, 1], [0, 1, 0, 1]])).round(2)
    array([0.5, 0.5, 0.5, 0.5, 1. , 1. ])
    """
    alike = np.maximum(agreement_matrix(pool), 0.0) ** POWER
    alike[same_setting(pool)] = 1.0
    return np.asarray(1.0 / alike.sum(axis=1))[pool.source_of]
