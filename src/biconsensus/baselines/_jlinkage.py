"""J-linkage of Toldo and Fusiello, on any pool."""

from __future__ import annotations

import numpy as np

from biconsensus.baselines._pools import check_n_groups, check_square, grouped_rows, takes_tables, to_elements
from biconsensus.baselines._preference_linkage import agglomerate, jaccard
from biconsensus.pool._pool import Pool
from biconsensus.protocols import IntArray


@takes_tables
def jlinkage(
    pool: Pool, n_groups: int | None = None, *, random_state: int | None = None, memory_limit: int | None = 4 << 30
) -> IntArray:
    """Merge clusters while the candidates that hold all of both overlap.

    Parameters
    ----------
    pool : Pool, or anything that `Pool.from_labels` takes
        The candidates; real values count as members.
    n_groups : int or None
        Keep only the largest n_groups groups; None keeps all that merging left.
    random_state : ignored
        J-linkage is deterministic.
    memory_limit : int or None
        Bytes for the distances between distinct rows.

    Returns
    -------
    (m,) array of int
        Labels from 0; -1 for elements in no candidate.

    Notes
    -----
    The preference set of a cluster is the intersection of its elements' sets; the two clusters of the smallest
    Jaccard distance |A xor B| / |A or B| merge, until all distances are 1. Elements with the same preference set are at
    distance 0 and merge first, so starting from distinct rows is exact.

    Examples
    --------
    >>> import biconsensus as bc
    >>> jlinkage(bc.Pool.from_labels([[0, 0, 1, 1], [0, 0, 1, 1], [0, 1, 1, 1]]))
    array([0, 0, 1, 1])
    """
    rows = grouped_rows(pool)
    check_square(f"the distances of {rows.size} distinct rows", rows.size, memory_limit)
    check_n_groups(n_groups, rows.size, "jlinkage", needed=False)
    merged = agglomerate(*jaccard(pool.rows[rows].toarray() > 0))
    if n_groups is not None:
        sizes = np.bincount(merged, pool.counts[rows])
        kept = np.argsort(-sizes, kind="stable")[:n_groups]
        merged = np.where(np.isin(merged, kept), merged, -1)
    return to_elements(pool, rows, merged)
