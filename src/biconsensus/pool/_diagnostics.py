"""A look at the pool itself: trivial, empty and duplicate candidates, sources that dissent from all others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from biconsensus.pool._distinct import group_rows
from biconsensus.pool._pool import TRIVIAL_SHARE, Pool
from biconsensus.protocols import FloatArray, IntArray


@dataclass(frozen=True)
class Diagnosis:
    """What deserves a look in a pool; all indices are into its candidates or sources."""

    empty: IntArray
    """Candidates without elements."""
    trivial: IntArray
    """Candidates that hold 90% or more of what their source saw."""
    duplicates: list[IntArray]
    """Sets of candidates with the same elements and the same view."""
    agreement: FloatArray
    """(c,) mean adjusted Rand index of each source with the others."""
    dissenting: IntArray
    """Sources whose agreement is below half the median and three deviations under it."""


def diagnose(pool: Pool) -> Diagnosis:
    """Find what deserves a look in a pool.

    Examples
    --------
    >>> import biconsensus as bc
    >>> from biconsensus.pool._diagnostics import diagnose
    >>> found = diagnose(bc.Pool.from_labels([[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 0, 0]]))
    >>> found.trivial, [d.tolist() for d in found.duplicates]
    (array([4]), [[0, 2], [1, 3]])
    """
    sizes = pool.sizes
    _, groups = group_rows(csr_array(pool.rows.T), pool.views()[0])
    shared = np.flatnonzero(np.bincount(groups) > 1)
    agreement = source_agreement(pool)
    middle = float(np.median(agreement))
    spread = 1.4826 * float(np.median(np.abs(agreement - middle)))
    return Diagnosis(
        empty=np.flatnonzero(sizes == 0),
        trivial=np.flatnonzero((sizes > 0) & (sizes >= TRIVIAL_SHARE * pool.seen_sizes)),
        duplicates=[np.flatnonzero(groups == g) for g in shared if sizes[groups == g][0] > 0],
        agreement=agreement,
        dissenting=np.flatnonzero((agreement < middle / 2) & (agreement < middle - 3 * spread)),
    )


def source_agreement(pool: Pool) -> FloatArray:
    """(c,) mean adjusted Rand index of each source with the others, from the overlaps of candidates alone."""
    held = (pool.rows != 0).astype(np.float64)
    counted = csr_array(held.T) @ held.multiply(pool.counts[:, None]).tocsr()
    n_sources = len(pool.sources)
    by_source = csr_array(
        (np.ones(pool.shape[1]), (pool.source_of, np.arange(pool.shape[1]))), shape=(n_sources, pool.shape[1])
    )
    pairs = counted.copy()
    pairs.data = pairs.data * (pairs.data - 1) / 2
    both = (by_source @ pairs @ by_source.T).toarray()
    alone = np.diag(both)
    total = pool.shape[0] * (pool.shape[0] - 1) / 2
    chance = np.outer(alone, alone) / max(total, 1.0)
    top = (alone[:, None] + alone[None, :]) / 2 - chance
    index = np.divide(both - chance, top, out=np.ones_like(both), where=top > 1e-12)
    np.fill_diagonal(index, 0.0)
    return np.asarray(index.sum(axis=1) / max(n_sources - 1, 1))
