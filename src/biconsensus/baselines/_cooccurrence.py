"""The co-occurrence matrix on distinct rows, which is all that elements with the same memberships need."""

from __future__ import annotations

import numpy as np

from biconsensus.baselines._pools import MEMORY_LIMIT, check_square
from biconsensus.pool._pool import Pool, seen_by_sources
from biconsensus.protocols import FloatArray


def cooccurrence(pool: Pool, memory_limit: int | None = MEMORY_LIMIT) -> FloatArray:
    """Share of the sources that put two distinct rows in one group, among those that saw both.

    Parameters
    ----------
    pool : Pool
        The candidates.
    memory_limit : int or None
        Bytes that the answer may take, at most what is free; more is an error, raised before anything is allocated.

    Returns
    -------
    (r, r) array
        In [0, 1] for uniform weights; ones on the diagonal where a row is in a group of each source.

    Notes
    -----
    B = (1/c) sum over k of B_k, with (B_k)_ij = 1 where a group of source k holds both. A source that has several
    groups with both counts once for each, as in the sum of A_j A_j^T, which is c times B.

    Examples
    --------
    >>> import biconsensus as bc
    >>> cooccurrence(bc.Pool.from_labels([[0, 0, 1], [0, 1, 1]]))
    array([[1. , 0.5, 0. ],
           [0.5, 1. , 0.5],
           [0. , 0.5, 1. ]])
    """
    r = pool.rows.shape[0]
    check_square(f"the co-occurrence matrix of {r} distinct rows", r, memory_limit)
    rows = pool.rows.astype(np.float64)
    together = (rows * pool.weights[None, :]) @ rows.T
    B: FloatArray = together.toarray()
    B /= _both_seen(pool)
    return B


def _both_seen(pool: Pool) -> FloatArray | float:
    """Mean weight of a source's candidates, summed over the sources that saw both rows."""
    active = np.unique(pool.source_of)
    size = np.bincount(pool.source_of, minlength=len(pool.sources))
    total = np.bincount(pool.source_of, pool.weights, minlength=len(pool.sources))
    share = np.divide(total, size, out=np.zeros(len(pool.sources)), where=size > 0)
    if pool.unseen is None:
        return float(share[active].sum())
    seen = seen_by_sources(pool)[:, active].astype(np.float64)
    both: FloatArray = (seen * share[active]) @ seen.T
    return np.where(both > 0, both, 1.0)
