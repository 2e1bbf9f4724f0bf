"""The two votes, for many blocks at once, on blocks of rows that fit into the cache.

Row i joins R if ``sum_{j in Q} w_j B_ij > theta * sum_{j in Q} w_j M_ij``; column j joins Q if
``sum_{i in R} s_i B_ij > theta * sum_{i in R} s_i M_ij``. Where weights are whole multiples of one unit everything is
counted in integers, so that 29 of 100 is never more than 0.29 of them.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from scipy.sparse import csr_array

from biconsensus.core.preference import PreferenceMatrix
from biconsensus.protocols import BoolArray, FloatArray, IntArray

BLOCK = 1 << 12
MANY = 1 << 20
"""Memberships from which threads pay for themselves."""
GUARD = 1e-12
WHOLE = 2**33
"""Sum of whole weights up to which a share of them is exact in 64 bits: quorums have numerators below 10^9 < 2^30."""


@dataclass(frozen=True)
class Tally:
    """Outcome of one round of votes for S column sets."""

    joined: list[BoolArray]
    """Blocks of rows (b, S): which of them joined."""
    columns: BoolArray
    """(q, S) columns that join, given those rows."""
    gains: FloatArray
    """(S,) gain of the rows with the columns that join."""
    n_elements: IntArray
    """(S,) elements, with multiplicity, that joined."""

    def rows(self, k: int) -> BoolArray:
        """(r,) rows that joined the k-th column set."""
        return np.concatenate([block[:, k] for block in self.joined])


@dataclass(frozen=True)
class RowBlock:
    """A slice of rows, ready for both votes."""

    rows: slice
    held: csr_array
    """(b, q) entries."""
    counted: csr_array
    """(q, b) transposed entries times the multiplicities."""
    unseen: csr_array | None
    """(b, v) what the views did not see."""


class Ballot:
    """Votes on one preference matrix at one quorum."""

    def __init__(self, problem: PreferenceMatrix, quorum: Fraction, n_jobs: int | None = None) -> None:
        self.problem, self.quorum = problem, quorum
        self.n_jobs = effective_n_jobs(-1 if n_jobs is None and problem.entries.nnz > MANY else n_jobs)
        self.unit = whole_unit(problem.weights)
        self.weights = problem.weights if self.unit is None else np.rint(problem.weights / self.unit)
        self.blocks = [self._block(start) for start in range(0, problem.shape[0], BLOCK)]
        n_views = 0 if problem.unseen is None else problem.unseen.shape[1]
        self.views = None if problem.view is None else _indicator(problem.view, n_views)

    def _block(self, start: int) -> RowBlock:
        """Slice of rows in the number types that make the products quick and exact."""
        problem, rows = self.problem, slice(start, min(start + BLOCK, self.problem.shape[0]))
        indptr = problem.entries.indptr[rows.start : rows.stop + 1]
        indices, indptr = problem.entries.indices[indptr[0] : indptr[-1]], indptr - indptr[0]
        shape = (rows.stop - rows.start, problem.shape[1])
        small = self.unit is not None and self.weights.sum() < 2**24
        held = csr_array((np.ones(indices.size, np.float32 if small else np.float64), indices, indptr), shape=shape)
        counts = np.repeat(problem.counts[rows].astype(np.float64), np.diff(indptr))
        # the transpose of a view is one as well: nothing is sorted again
        counted = csr_array((counts, indices, indptr), shape=shape).T
        unseen = None if problem.unseen is None else csr_array(problem.unseen[rows].astype(np.float64))
        return RowBlock(rows, held, counted, unseen)

    def vote(self, columns: BoolArray, live_rows: BoolArray, live_columns: BoolArray) -> Tally:
        """Rows that join each column set (q, S), then the columns that join those rows."""
        ballots = np.where(columns, self.weights[:, None], 0.0)
        asked = ballots.sum(axis=0)
        by_view = None if self.views is None else self.views @ ballots
        ballots = ballots.astype(self.blocks[0].held.dtype)

        def count(block: RowBlock) -> tuple[BoolArray, FloatArray, FloatArray, FloatArray | None]:
            wanted = asked if by_view is None or block.unseen is None else asked - block.unseen @ by_view
            joined = self.above(block.held @ ballots, wanted)
            joined &= live_rows[block.rows, None]
            numbers = joined.astype(np.float64)
            counts = self.problem.counts[block.rows].astype(np.float64)
            hidden = None if block.unseen is None else block.unseen.T @ (counts[:, None] * numbers)
            return joined, block.counted @ numbers, counts @ numbers, hidden

        parts = self._each(count)
        held = _total([part[1] for part in parts])
        elements = _total([part[2] for part in parts])
        seen: FloatArray = elements[None, :]
        if self.problem.view is not None:
            seen = elements - _total([part[3] for part in parts])[self.problem.view]
        return self._tally([part[0] for part in parts], held, seen, elements, live_columns)

    def _each(self, count: Callable[[RowBlock], Any]) -> list[Any]:
        """Count all blocks of rows, in threads where that pays; sums are taken in the order of the rows."""
        if self.n_jobs == 1 or len(self.blocks) == 1:
            return [count(block) for block in self.blocks]
        with ThreadPoolExecutor(self.n_jobs) as threads:
            return list(threads.map(count, self.blocks))

    def _tally(
        self, joined: list[BoolArray], held: FloatArray, seen: FloatArray, elements: FloatArray, live: BoolArray
    ) -> Tally:
        """Columns that join and what they gain."""
        columns = self.above(held, seen, whole=True) & live[:, None]
        excess = np.where(columns, held - float(self.quorum) * seen, 0.0)
        gains = self.problem.weights @ excess
        return Tally(joined, columns, gains, elements.astype(np.int64))

    def above(self, held: NDArray[Any], asked: FloatArray, whole: bool = False) -> BoolArray:
        """Whether votes exceed the quorum of what was asked; exact where votes are whole numbers."""
        if whole or self.unit is not None:
            share = asked.astype(np.int64) * self.quorum.numerator // self.quorum.denominator
            return np.asarray(held > share.astype(held.dtype))
        return np.asarray(held > asked * (float(self.quorum) * (1 + GUARD)))

    def first_columns(self, starts: IntArray, live_rows: BoolArray, live_columns: BoolArray) -> BoolArray:
        """(q, S) columns that join the rows of each starting candidate: all first votes at once, from the overlaps."""
        problem = self.problem
        if starts.size == 0:
            return np.zeros((problem.shape[1], 0), bool)
        counts = np.where(live_rows, problem.counts, 0).astype(np.float64)
        rows = csr_array(problem.by_column[starts].astype(np.float64))
        rows.data = rows.data * counts[rows.indices]
        held = (rows @ problem.entries.astype(np.float64)).toarray().T
        seen: FloatArray = np.asarray(rows.sum(axis=1))[None, :]
        if problem.unseen is not None and problem.view is not None:
            seen = seen - (rows @ problem.unseen.astype(np.float64)).toarray().T[problem.view]
        return self.above(held, seen, whole=True) & live_columns[:, None]


def whole_unit(weights: FloatArray) -> float | None:
    """The unit of which all weights are whole multiples, if they are."""
    positive = weights[weights > 0]
    if positive.size == 0:
        return None
    unit = float(positive.min())
    with np.errstate(over="ignore"):
        multiples = positive / unit
    if np.isfinite(multiples).all() and multiples.sum() < WHOLE and np.array_equal(multiples, np.rint(multiples)):
        return unit
    return None


def _indicator(labels: IntArray, size: int) -> csr_array:
    """(size, n) ones where n has the label."""
    ones = np.ones(labels.size)
    return csr_array((ones, (labels, np.arange(labels.size))), shape=(size, labels.size))


def _total(parts: list[FloatArray]) -> FloatArray:
    """Sum in a fixed order."""
    total = parts[0].copy()
    for part in parts[1:]:
        total += part
    return total
