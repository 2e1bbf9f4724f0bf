"""The co-occurrence matrix on distinct rows, which is all that elements with the same memberships need."""

from __future__ import annotations

from typing import Any

import numpy as np

from biconsensus._checks import available_memory, check_memory
from biconsensus.errors import InputError
from biconsensus.pool._pool import Pool
from biconsensus.protocols import FloatArray, IntArray

MEMORY_LIMIT = 4 << 30
"""Bytes that a co-occurrence matrix may take unless told otherwise."""


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


def check_square(what: str, size: int, memory_limit: int | None = MEMORY_LIMIT) -> None:
    """A dense square matrix of that size, with its temporary copies, fits into the limit and into what is free."""
    figures = [figure for figure in (memory_limit, available_memory()) if figure is not None]
    check_memory(f"{what} ({size} x {size})", 3 * 8 * size * size, min(figures, default=None))


def _both_seen(pool: Pool) -> FloatArray | float:
    """Mean weight of a source's candidates, summed over the sources that saw both rows."""
    active = np.unique(pool.source_of)
    size = np.bincount(pool.source_of, minlength=len(pool.sources))
    total = np.bincount(pool.source_of, pool.weights, minlength=len(pool.sources))
    share = np.divide(total, size, out=np.zeros(len(pool.sources)), where=size > 0)
    if pool.unseen is None or pool.mask_of is None:
        return float(share[active].sum())
    mask = pool.mask_of_source
    seen = 1.0 - pool.unseen.astype(np.float64).toarray()[:, mask[active]]
    both: FloatArray = (seen * share[active]) @ seen.T
    return np.where(both > 0, both, 1.0)


def to_elements(pool: Pool, rows: IntArray, found: Any) -> IntArray:
    """Labels of the elements from those of some distinct rows: consecutive from 0, first seen first; other rows -1."""
    row_labels = np.full(pool.rows.shape[0], -1, np.int64)
    row_labels[rows] = found
    labels = row_labels[pool.inverse]
    inside = labels >= 0
    _, first, codes = np.unique(labels[inside], return_index=True, return_inverse=True)
    rank = np.empty(first.size, np.int64)
    rank[np.argsort(first)] = np.arange(first.size)
    result = np.full(labels.size, -1, np.int64)
    result[inside] = rank[codes]
    return result


def grouped_rows(pool: Pool) -> IntArray:
    """Distinct rows that are in some candidate."""
    found: IntArray = np.flatnonzero(np.diff(pool.rows.indptr) > 0)
    return found


def check_n_groups(n_groups: int | None, n_rows: int, name: str, needed: bool = True) -> None:
    """n_groups is given where it is needed, and not above the number of distinct rows."""
    if n_groups is None and needed:
        raise InputError(f"n_groups: {name} cannot find the number of groups; give it.")
    if n_groups is not None and not 1 <= n_groups <= n_rows:
        raise InputError(f"n_groups: got {n_groups}; give 1 to {n_rows}, the number of distinct rows.")
