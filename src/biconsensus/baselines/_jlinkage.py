"""J-linkage of Toldo and Fusiello, on any pool."""

from __future__ import annotations

import numpy as np

from biconsensus.baselines._cooccurrence import check_n_groups, check_square, grouped_rows, to_elements
from biconsensus.pool._pool import Pool
from biconsensus.protocols import BoolArray, FloatArray, IntArray


def jlinkage(
    pool: Pool, n_groups: int | None = None, *, random_state: int | None = None, memory_limit: int | None = 4 << 30
) -> IntArray:
    """Merge clusters while the candidates that hold all of both overlap.

    Parameters
    ----------
    pool : Pool
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
    The preference set of a cluster is the intersection of those of its elements; the two clusters of the smallest
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
    merged = _merge(pool.rows[rows].toarray() > 0)
    labels = np.full(pool.rows.shape[0], -1, np.int64)
    labels[rows] = merged
    if n_groups is not None:
        sizes = np.bincount(merged, pool.counts[rows])
        kept = np.argsort(-sizes, kind="stable")[:n_groups]
        labels[~np.isin(labels, kept)] = -1
    return to_elements(pool, labels)


def _merge(preferences: BoolArray) -> IntArray:
    """Cluster of each row of preference sets (r, n): the row that it was merged into."""
    sets = preferences.astype(np.float64)
    r = len(sets)
    owner = np.arange(r)
    sizes = sets.sum(axis=1)
    distances = _jaccard(sets, sizes, sets, sizes)
    np.fill_diagonal(distances, np.inf)
    nearest = distances.argmin(axis=1)
    smallest = distances[np.arange(r), nearest]
    while True:
        i = int(smallest.argmin())
        if not smallest[i] < 1:
            return owner
        j = int(nearest[i])
        i, j = min(i, j), max(i, j)
        owner[owner == j] = i
        sets[i] *= sets[j]
        sizes[i] = sets[i].sum()
        alive = np.isfinite(smallest)
        alive[j] = False
        distances[j], distances[:, j] = np.inf, np.inf
        row = np.where(alive, _jaccard(sets[i : i + 1], sizes[i : i + 1], sets, sizes)[0], np.inf)
        row[i] = np.inf
        distances[i], distances[:, i] = row, row
        smallest[j] = np.inf
        # Distances to an intersection can fall as well as rise, so look again wherever i or j was nearest or is nearer.
        stale = np.flatnonzero(alive & ((nearest == i) | (nearest == j) | (row < smallest)))
        stale = np.union1d(stale, [i])
        nearest[stale] = distances[stale].argmin(axis=1)
        smallest[stale] = distances[stale, nearest[stale]]


def _jaccard(a: FloatArray, a_sizes: FloatArray, b: FloatArray, b_sizes: FloatArray) -> FloatArray:
    """Jaccard distances between rows of 0 and 1; two empty sets are at distance 1."""
    both = a @ b.T
    either = a_sizes[:, None] + b_sizes[None, :] - both
    result: FloatArray = 1.0 - both / np.where(either > 0, either, 1.0)
    return result
