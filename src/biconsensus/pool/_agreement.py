"""How far the sources of a pool agree with one another, and which of them say the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array

from biconsensus.protocols import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from biconsensus.pool._pool import Pool

SAME = 0.95
"""Adjusted Rand index from which two sources say the same: of twenty elements that one groups, the other would move
about one. A convention of the report that decides nothing."""


def agreement_matrix(pool: Pool) -> FloatArray:
    """Adjusted Rand index of every two sources, on the elements that both of them saw.

    Parameters
    ----------
    pool : Pool
        The candidates; elements that a source saw and put in no candidate are each alone in it.

    Returns
    -------
    (c, c) array
        Symmetric, ones on the diagonal; 1 as well where two sources leave no room for disagreement.

    Examples
    --------
    >>> import biconsensus as bc
    >>> agreement_matrix(bc.Pool.from_labels([[0, 0, 1, 1], [0, 0, 1, None], [0, 1, 0, 1]])).round(2)
    array([[ 1. ,  1. , -0.5],
           [ 1. ,  1. , -0.5],
           [-0.5, -0.5,  1. ]])
    """
    n_sources, n = len(pool.sources), pool.shape[1]
    held = (pool.rows != 0).astype(np.float64)
    counted = csr_array(held.multiply(pool.counts[:, None]))
    by_source = csr_array((np.ones(n), (pool.source_of, np.arange(n))), shape=(n_sources, n))
    shared = csr_array(held.T @ counted)
    shared.data = _pairs(shared.data)
    both = (by_source @ shared @ by_source.T).toarray()
    seen_of_candidate, seen_by_both = _seen(pool, counted)
    alone = by_source @ _pairs(seen_of_candidate)
    chance = alone * alone.T / np.maximum(_pairs(seen_by_both), 1.0)
    room = (alone + alone.T) / 2 - chance
    index = np.divide(both - chance, room, out=np.ones_like(both), where=room > 1e-12)
    np.fill_diagonal(index, 1.0)
    return np.asarray(index)


def source_agreement(pool: Pool) -> FloatArray:
    """(c,) mean adjusted Rand index of each source with the others; 0 for a source without others.

    Examples
    --------
    >>> import biconsensus as bc
    >>> source_agreement(bc.Pool.from_labels([[0, 0, 1, 1], [0, 0, 1, 1], [0, 1, 0, 1]])).round(2)
    array([ 0.25,  0.25, -0.5 ])
    """
    index = agreement_matrix(pool)
    np.fill_diagonal(index, 0.0)
    return np.asarray(index.sum(axis=1) / max(len(pool.sources) - 1, 1))


def redundant_sources(pool: Pool) -> list[IntArray]:
    """Sets of sources that say nearly the same, or are runs of one algorithm with the same parameters.

    Parameters
    ----------
    pool : Pool
        The candidates, with the provenance of their sources where it is known.

    Returns
    -------
    list of arrays of int
        Indices of the sources, two or more in each set; a source is in one set at most.

    Examples
    --------
    >>> import biconsensus as bc
    >>> [own.tolist() for own in redundant_sources(bc.Pool.from_labels([[0, 0, 1, 1], [0, 1, 0, 1], [5, 5, 2, 2]]))]
    [[0, 2]]
    """
    alike = (agreement_matrix(pool) >= SAME) | same_setting(pool)
    # a set is known by its first source, which spreads to all that say the same
    first, before = np.arange(len(alike)), np.full(len(alike), -1)
    while not np.array_equal(first, before):
        first, before = np.where(alike, first, len(alike)).min(axis=1), first
    return [np.flatnonzero(first == k) for k in np.flatnonzero(np.bincount(first) > 1)]


def same_setting(pool: Pool) -> BoolArray:
    """(c, c) whether two sources are known to be runs of one algorithm with the same parameters."""
    settings = [repr((source.name, sorted(source.params.items(), key=repr))) for source in pool.sources]
    code = np.unique(settings, return_inverse=True)[1]
    known = np.array([bool(source.params) or source.seed is not None for source in pool.sources])
    return np.asarray((code[:, None] == code) & known[:, None] & known)


def _seen(pool: Pool, counted: csr_array) -> tuple[FloatArray, FloatArray]:
    """(n, c) elements of each candidate that each source saw, and (c, c) elements that two sources saw."""
    n_sources = len(pool.sources)
    sizes = np.asarray(counted.sum(axis=0), dtype=np.float64)
    of_candidate = np.repeat(sizes[:, None], n_sources, axis=1)
    by_both = np.full((n_sources, n_sources), float(pool.counts.sum()))
    if pool.unseen is None or pool.mask_of is None:
        return of_candidate, by_both
    mask = pool.mask_of_source
    unseen = csr_array(pool.unseen.astype(np.float64))
    of_candidate -= (counted.T @ unseen).toarray()[:, mask]
    lost = (unseen.T @ unseen.multiply(pool.counts[:, None])).toarray()[np.ix_(mask, mask)]
    return of_candidate, np.asarray(by_both - lost.diagonal()[:, None] - lost.diagonal() + lost)


def _pairs(x: FloatArray) -> FloatArray:
    """Ordered pairs among x elements."""
    return np.asarray(x * (x - 1.0))
