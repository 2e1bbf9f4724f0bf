"""Votes by products with dense sets, on blocks of rows that fit into the cache, in threads where that pays."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from biconsensus.protocols import BoolArray, FloatArray, IntArray
from biconsensus.solvers.vote._counting import Count, Sets

if TYPE_CHECKING:
    from biconsensus.solvers.vote._ballot import Ballot

SINGLE = 2**24
"""Whole numbers below this are exact in single precision."""
FEW = 64
"""Candidates whose rows are looked at together, as dense numbers that fit into the cache."""


@dataclass(frozen=True)
class RowBlock:
    """A slice of rows, ready for both votes."""

    rows: slice
    held: csr_array
    """(b, q) entries, in the type of the weights."""
    holding: csr_array
    """(q, b) the same, turned, in the type of the counts."""
    counts: NDArray[Any]
    """(b, 1) elements of each row, in that type."""
    unseen: csr_array | None
    """(b, v) what the views did not see."""


class DenseVotes:
    """Both votes of a ballot."""

    def __init__(self, ballot: Ballot, size: int) -> None:
        self._ballot, self._problem = ballot, ballot.problem
        whole = ballot.unit is not None and ballot.weights.sum() < SINGLE
        weight_type = np.float32 if whole else np.float64
        count_type = np.float32 if self._problem.counts.sum() < SINGLE else np.float64
        self._weights = ballot.weights.astype(weight_type)
        indptr = self._problem.entries.indptr
        starts = range(0, self._problem.shape[0], size)
        # all blocks share the same ones
        most = max(int(indptr[min(k + size, indptr.size - 1)] - indptr[k]) for k in starts)
        ones, others = np.ones(most, weight_type), np.ones(most, count_type)
        self._blocks = [self._block(k, min(k + size, indptr.size - 1), ones, others) for k in starts]
        self._views = None
        if self._problem.unseen is not None and self._problem.view is not None:
            self._views = _indicator(self._problem.view, self._problem.unseen.shape[1])

    def _block(self, start: int, stop: int, ones: NDArray[Any], others: NDArray[Any]) -> RowBlock:
        """Slice of rows."""
        problem, shape = self._problem, (stop - start, self._problem.shape[1])
        indptr = problem.entries.indptr[start : stop + 1]
        indices, indptr = problem.entries.indices[indptr[0] : indptr[-1]], indptr - indptr[0]
        held = csr_array((ones[: indices.size], indices, indptr), shape=shape)
        # the transpose of a view is one as well: nothing is sorted again
        holding = csr_array((others[: indices.size], indices, indptr), shape=shape).T
        unseen = None if problem.unseen is None else csr_array(problem.unseen[start:stop].astype(np.float64))
        counts = problem.counts[start:stop, None].astype(others.dtype)
        return RowBlock(slice(start, stop), held, holding, counts, unseen)

    def of_sets(self, sets: Sets, live_rows: BoolArray, live_columns: BoolArray) -> Count:
        """Rows that join each set, then the columns that join those rows."""
        ballots = np.zeros((self._weights.size, len(sets)), self._weights.dtype)
        ballots[sets.items, sets.which()] = self._weights[sets.items]
        asked = ballots.sum(axis=0, dtype=np.float64)
        needed = self._ballot.share(asked).astype(ballots.dtype)
        by_view = None if self._views is None else self._views @ ballots.astype(np.float64)

        def join(block: RowBlock) -> tuple[BoolArray, NDArray[Any]]:
            held = block.held @ ballots
            if by_view is None or block.unseen is None:
                joined = held > needed
            else:
                joined = held > self._ballot.share(asked - block.unseen @ by_view)
            joined &= live_rows[block.rows, None]
            return joined, joined * block.counts

        return self._count(join, live_columns)

    def of_candidates(self, starts: IntArray, live_rows: BoolArray, live_columns: BoolArray) -> Sets:
        """The columns that join the rows of each candidate."""
        found = [
            self._of_few(starts[k : k + FEW], live_rows, live_columns, first=k) for k in range(0, starts.size, FEW)
        ]
        which, columns = (np.concatenate(parts) for parts in zip(*found))
        return Sets.from_pairs(which, columns, starts.size)

    def _of_few(
        self, starts: IntArray, live_rows: BoolArray, live_columns: BoolArray, first: int
    ) -> tuple[IntArray, NDArray[Any]]:
        """Pairs of candidates, numbered from the first, and columns that join their rows."""

        def join(block: RowBlock) -> tuple[BoolArray, NDArray[Any]]:
            numbers = block.holding.T[:, starts].toarray()
            numbers *= block.counts * live_rows[block.rows, None]
            # the rows are known, and need not be kept
            return np.zeros((0, starts.size), bool), numbers

        count = self._count(join, live_columns)
        return count.which + first, count.columns

    def _count(self, join: Callable[[RowBlock], tuple[BoolArray, NDArray[Any]]], live_columns: BoolArray) -> Count:
        """The columns that join the rows which joined, in all blocks; sums are taken in the order of the rows."""

        def count(block: RowBlock) -> tuple[BoolArray, NDArray[Any], NDArray[Any], NDArray[Any] | None]:
            joined, numbers = join(block)
            hidden = None if block.unseen is None else block.unseen.T @ numbers.astype(np.float64)
            return joined, block.holding @ numbers, numbers.sum(axis=0), hidden

        joined, *sums = zip(*self._each(count))
        held, elements = _total(sums[0]), _total(sums[1])
        seen = elements[None, :]
        if self._problem.view is not None and self._views is not None:
            seen = elements - _total(sums[2])[self._problem.view]
        columns = (held > self._ballot.share(seen, whole=True)) & live_columns[:, None]
        which, found = np.nonzero(columns.T)
        seen = np.broadcast_to(seen, held.shape)[found, which]

        def rows(k: int) -> IntArray:
            return np.flatnonzero(np.concatenate([block[:, k] for block in joined]))

        return Count(rows, elements, which, found, held[found, which], seen)

    def _each(self, count: Callable[[RowBlock], Any]) -> list[Any]:
        """Count all blocks of rows, in threads where that pays."""
        if self._ballot.n_jobs == 1 or len(self._blocks) == 1:
            return [count(block) for block in self._blocks]
        with ThreadPoolExecutor(self._ballot.n_jobs) as threads:
            return list(threads.map(count, self._blocks))


def _indicator(labels: IntArray, size: int) -> csr_array:
    """(size, n) ones where n has the label."""
    ones = np.ones(labels.size)
    return csr_array((ones, (labels, np.arange(labels.size))), shape=(size, labels.size))


def _total(parts: tuple[NDArray[Any], ...]) -> FloatArray:
    """Sum in a fixed order."""
    total = parts[0].astype(np.float64)
    for part in parts[1:]:
        total += part
    return total
