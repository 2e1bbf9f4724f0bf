"""Rows that questions are about: the distinct rows of a pool, or a sample of them where there are very many."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from biconsensus.matrix._condensed import draw_rows
from biconsensus.matrix._matrix import PreferenceMatrix
from biconsensus.pool._pool import Pool, first_of_rows, seen_by_sources
from biconsensus.protocols import FloatArray, IntArray
from biconsensus.result._consensus import Consensus

SAMPLE_ROWS = 500
"""Rows of the sample that is used of many more rows: after twenty answers, the beliefs about all pairs of them take a
few tenths of a second, and a group that matters has tens of them."""
ROWS_AT_ONCE = 2_048
"""Other rows that are compared with those of the sample at a time: bounds memory, not the answer."""


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of a pool in groups of a consensus, and how many sources put two of them together."""

    pool: Pool
    rows: IntArray
    """(k,) distinct rows of the pool; the other rows go with the nearest of them."""
    counts: FloatArray
    """(k,) elements that each of them stands for."""
    groups: IntArray
    """(r,) the group of every distinct row of the pool in the consensus, -1 for none."""
    share: FloatArray
    """(k, k) share of the sources that put each pair of the rows together."""

    @classmethod
    def of(cls, consensus: Consensus) -> Rows:
        """The rows of a consensus; those in no group take no part."""
        pool, labels = consensus.pool, consensus.labels
        groups = labels[first_of_rows(pool)]
        drawn = draw_rows(PreferenceMatrix.from_pool(pool), SAMPLE_ROWS)
        rows = np.arange(groups.size) if drawn is None else drawn.rows
        counts = np.asarray(pool.counts if drawn is None else drawn.counts, np.float64)
        rows, counts = rows[groups[rows] >= 0], counts[groups[rows] >= 0]
        return cls(pool, rows, counts, groups, shared_share(pool, rows, rows))

    def nearest(self, rows: IntArray) -> IntArray:
        """The place among these of each distinct row of the pool: its own, or that of the nearest row of its group."""
        place = np.full(self.groups.size, -1)
        place[self.rows] = np.arange(self.rows.size)
        found = place[rows]
        own = self.groups[self.rows]
        for group in np.unique(self.groups[rows[found < 0]]):
            wanted = np.flatnonzero((found < 0) & (self.groups[rows] == group))
            near = np.flatnonzero(own == group)
            for start in range(0, wanted.size if near.size else 0, ROWS_AT_ONCE):
                some = wanted[start : start + ROWS_AT_ONCE]
                found[some] = near[shared_share(self.pool, rows[some], self.rows[near]).argmax(axis=1)]
        return found


def shared_share(pool: Pool, rows: IntArray, others: IntArray) -> FloatArray:
    """(k, l) share of the sources that put each pair of distinct rows together, of those that saw both."""
    held = csr_array((pool.rows != 0).astype(np.float64)) if not pool.binary else pool.rows
    found = (held[rows].astype(np.float64) @ held[others].astype(np.float64).T).toarray()
    seen = seen_by_sources(pool, rows).astype(np.float64) @ seen_by_sources(pool, others).T
    return np.asarray(np.minimum(found / np.maximum(seen, 1.0), 1.0))
