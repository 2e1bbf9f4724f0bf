"""PreferenceMatrix: what a solver sees."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array

from biconsensus.pool._distinct import column_sizes, group_rows, mix
from biconsensus.protocols import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from biconsensus.pool._pool import Pool

ROWS = 1 << 16
PROBE = 1 << 12
"""Rows that mostly tell candidates apart."""


@dataclass(frozen=True)
class PreferenceMatrix:
    """Distinct rows, distinct columns, weights, and what was seen.

    With B the entries, w the weights, s the multiplicities and M the mask of what was seen, a block of rows R and
    columns Q gains ``sum over i in R, j in Q of s_i M_ij w_j (B_ij - theta)``.
    """

    entries: csr_array
    """(r, q): ones where a binary pool has a membership (uint8), values where it is real (float64)."""
    counts: IntArray
    """(r,) how many elements share each row (s)."""
    weights: FloatArray
    """(q,) weight of each column: the sum over the candidates that it stands for (w)."""
    members: IntArray
    """(n,) the column that stands for each candidate of the pool."""
    backers: csr_array
    """(q, c) bool: the sources behind each column."""
    unseen: csr_array | None = None
    """(r, v) bool: what each view did not see; None where everything was seen."""
    view: IntArray | None = None
    """(q,) the view of each column: candidates of one source have one view."""

    @property
    def shape(self) -> tuple[int, int]:
        """Distinct rows and distinct columns."""
        rows, columns = self.entries.shape
        return rows, columns

    @property
    def binary(self) -> bool:
        """Whether the entries are memberships rather than real values."""
        return bool(self.entries.dtype == np.uint8)

    @cached_property
    def by_column(self) -> csr_array:
        """(q, r) the transposed entries, for votes on columns."""
        return csr_array(self.entries.T)

    def n_elements(self, rows: BoolArray) -> int:
        """Number of elements, with multiplicity, in a mask over rows."""
        return int(self.counts[rows].sum())

    def n_sources(self, columns: BoolArray) -> int:
        """Number of distinct sources behind a mask over columns."""
        picked = self.backers.indices[np.repeat(columns, np.diff(self.backers.indptr))]
        return int(np.unique(picked).size)

    def seen(self, rows: BoolArray, columns: BoolArray) -> FloatArray:
        """(rows, columns) dense mask M of what was seen inside a block."""
        n_rows, n_columns = int(rows.sum()), int(columns.sum())
        if self.unseen is None or self.view is None:
            return np.ones((n_rows, n_columns))
        return np.asarray(1.0 - self.unseen[rows].astype(np.float64).toarray()[:, self.view[columns]])

    def gain(self, rows: BoolArray, columns: BoolArray, quorum: Fraction) -> float:
        """Gain of a block of a binary matrix, in sparse arithmetic."""
        counts = np.where(rows, self.counts, 0)
        weights = np.where(columns, self.weights, 0.0)
        held = counts @ (self.entries @ weights)
        asked = counts.sum() * weights.sum()
        if self.unseen is not None and self.view is not None:
            by_view = np.bincount(self.view, weights, minlength=self.unseen.shape[1])
            asked -= counts @ (self.unseen @ by_view)
        return float(held - float(quorum) * asked)

    @cached_property
    def norm(self) -> float:
        """||A||_1 = sum of s_i w_j B_ij over everything."""
        if self.binary and self.weights.min() == self.weights.max():
            return float(self.weights[0] * (self.counts @ np.diff(self.entries.indptr)))
        # some rows at a time, because the product is made of a copy of the entries as floats
        parts = [slice(start, start + ROWS) for start in range(0, self.shape[0], ROWS)]
        return float(sum(self.counts[part] @ (self.entries[part] @ self.weights) for part in parts))

    @classmethod
    def from_pool(cls, pool: Pool, weights: FloatArray | None = None) -> PreferenceMatrix:
        """Merge identical candidates of a pool (same members, same view) into one column with the summed weight."""
        weights = pool.weights if weights is None else weights
        view, unseen = pool.views()
        first, members = _distinct_columns(pool.rows, view)
        summed = np.bincount(members, weights, minlength=first.size).astype(np.float64)
        n_sources = len(pool.sources)
        backers = csr_array((np.ones(members.size, bool), (members, pool.source_of)), shape=(first.size, n_sources))
        backers.sum_duplicates()
        return cls(
            entries=pool.rows if first.size == members.size else csr_array(pool.rows[:, first]),
            counts=pool.counts,
            weights=summed,
            members=members,
            backers=backers.astype(bool),
            unseen=unseen,
            view=None if unseen is None else view[first],
        )


def _distinct_columns(rows: csr_array, view: IntArray) -> tuple[IntArray, IntArray]:
    """First of each set of identical columns with the same view, and the set of each column."""
    # columns that differ in size or in their first rows differ: mostly there is nothing more to compare
    probe = rows[:PROBE]
    # sums of 4,096 numbers of 40 bits are exact
    marks = (mix(np.arange(PROBE)) >> np.uint64(24)).astype(np.float64)[: probe.shape[0]]
    start = np.bincount(probe.indices, np.repeat(marks, np.diff(probe.indptr)), minlength=rows.shape[1])
    sizes = column_sizes(rows)
    order = np.lexsort((sizes, start))
    if ((np.diff(start[order]) != 0) | (np.diff(sizes[order]) != 0)).all():
        return np.arange(rows.shape[1]), np.arange(rows.shape[1])
    return group_rows(csr_array(rows.T), view)
