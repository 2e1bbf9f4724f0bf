"""The two votes, for many sets of columns at once.

Row i joins R if ``sum_{j in Q} w_j B_ij > theta * sum_{j in Q} w_j M_ij``; column j joins Q if
``sum_{i in R} s_i B_ij > theta * sum_{i in R} s_i M_ij``. Where weights are whole multiples of one unit everything is
counted in integers, so that 29 of 100 is never more than 0.29 of them.

Sets that reach little of the matrix are counted by sparse products, at the cost of what they reach; others by dense
ones. Both add the same numbers in the same order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from biconsensus.matrix._groups import stored_rows, sums_by
from biconsensus.matrix._matrix import PreferenceMatrix
from biconsensus.pool._rows import column_sizes, n_threads
from biconsensus.protocols import GUARD, BoolArray, FloatArray, IntArray

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
    """(b, v) what the masks did not see."""


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
        self._masks = None
        if self._problem.unseen is not None and self._problem.mask is not None:
            self._masks = _indicator(self._problem.mask, self._problem.unseen.shape[1])

    def _block(self, start: int, stop: int, ones: NDArray[Any], others: NDArray[Any]) -> RowBlock:
        """Slice of rows."""
        problem, shape = self._problem, (stop - start, self._problem.shape[1])
        indptr = problem.entries.indptr[start : stop + 1]
        indices, indptr = problem.entries.indices[indptr[0] : indptr[-1]], indptr - indptr[0]
        held = csr_array((ones[: indices.size], indices, indptr), shape=shape)
        # the transpose of a slice is one as well: nothing is sorted again
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
        by_mask = None if self._masks is None else self._masks @ ballots.astype(np.float64)

        def join(block: RowBlock) -> tuple[BoolArray, NDArray[Any]]:
            held = block.held @ ballots
            if by_mask is None or block.unseen is None:
                joined = held > needed
            else:
                joined = held > self._ballot.share(asked - block.unseen @ by_mask)
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
        if self._problem.mask is not None and self._masks is not None:
            seen = elements - _total(sums[2])[self._problem.mask]
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


class SparseVotes:
    """Both votes of a ballot."""

    def __init__(self, ballot: Ballot) -> None:
        self._ballot, self._problem = ballot, ballot.problem
        self._counts = self._problem.counts.astype(np.float64)
        # both ways to look at the entries share the same ones
        ones = np.ones(self._problem.entries.nnz)
        self._entries, self._by_column = (
            csr_array((ones, way.indices, way.indptr), shape=way.shape)
            for way in (self._problem.entries, self._problem.by_column)
        )

    def of_sets(self, sets: Sets, live_rows: BoolArray, live_columns: BoolArray) -> Count:
        """Rows that join each set, then the columns that join those rows."""
        ballots = sets.matrix(self._ballot.weights)
        held = ballots @ self._by_column
        which, rows = stored_rows(held), held.indices
        asked = sums_by(sets.which(), self._ballot.weights[sets.items], len(sets))
        if self._problem.unseen is None:
            needed = self._ballot.share(asked)[which]
        else:
            needed = self._ballot.share(asked[which] - self._hidden(ballots, which, rows))
        joined = (held.data > needed) & live_rows[rows]
        return self._columns(Sets.from_pairs(which[joined], rows[joined], len(sets)), live_columns)

    def of_candidates(self, starts: IntArray, live_rows: BoolArray, live_columns: BoolArray) -> Sets:
        """The columns that join the rows of each candidate."""
        held = csr_array(self._by_column[starts])
        live = live_rows[held.indices]
        rows = Sets.from_pairs(stored_rows(held)[live], held.indices[live], starts.size)
        count = self._columns(rows, live_columns)
        return Sets.from_pairs(count.which, count.columns, starts.size)

    def _columns(self, rows: Sets, live_columns: BoolArray) -> Count:
        """The columns that join sets of rows."""
        inside = rows.matrix(self._counts)
        held = inside @ self._entries
        n_elements = sums_by(rows.which(), self._counts[rows.items], len(rows))
        which, columns = stored_rows(held), held.indices
        seen = n_elements[which]
        if self._problem.unseen is not None and self._problem.mask is not None:
            hidden = (inside @ self._problem.unseen).toarray()
            seen = seen - hidden[which, self._problem.mask[columns]]
        joined = np.flatnonzero((held.data > self._ballot.share(seen, whole=True)) & live_columns[columns])
        joined = joined[np.lexsort((columns[joined], which[joined]))]

        def rows_of(k: int) -> IntArray:
            return np.sort(rows.items[rows.bounds[k] : rows.bounds[k + 1]]).astype(np.int64)

        return Count(rows_of, n_elements, which[joined], columns[joined], held.data[joined], seen[joined])

    def _hidden(self, ballots: csr_array, which: IntArray, rows: IntArray) -> FloatArray:
        """(p,) weight that pairs of a set and a row have in columns whose mask did not see the row."""
        unseen, mask = self._problem.unseen, self._problem.mask
        assert unseen is not None
        assert mask is not None
        by_mask = np.zeros((ballots.shape[0], unseen.shape[1]))
        np.add.at(by_mask, (stored_rows(ballots), mask[ballots.indices]), ballots.data)
        dark = csr_array(unseen[rows])
        pair = stored_rows(dark)
        return np.bincount(pair, by_mask[which[pair], dark.indices], minlength=rows.size).astype(np.float64)


@dataclass(frozen=True)
class Sets:
    """The k-th set is ``items[bounds[k] : bounds[k + 1]]``.

    Examples
    --------
    >>> sets = Sets.from_masks(np.array([[True, False, True], [False, False, False]]))
    >>> [set_of(key).tolist() for key in sets.keys()]
    [[0, 2], []]
    """

    items: NDArray[np.int32]
    bounds: IntArray

    def __len__(self) -> int:
        """Number of sets."""
        return self.bounds.size - 1

    @classmethod
    def from_pairs(cls, which: IntArray, items: NDArray[Any], size: int) -> Sets:
        """Sets from pairs of a set and an item, in the order of both."""
        bounds = np.concatenate([[0], np.cumsum(np.bincount(which, minlength=size))])
        return cls(items.astype(np.int32, copy=False), bounds)

    @classmethod
    def from_masks(cls, masks: BoolArray) -> Sets:
        """Sets from masks (S, q)."""
        which, items = np.nonzero(masks)
        return cls.from_pairs(which, items, masks.shape[0])

    @classmethod
    def from_keys(cls, keys: Sequence[bytes]) -> Sets:
        """Sets from their keys."""
        return cls(set_of(b"".join(keys)), np.cumsum([0, *(len(key) // 4 for key in keys)]))

    def and_also(self, others: Sets) -> Sets:
        """These sets and some others."""
        bounds = np.concatenate([self.bounds, self.bounds[-1] + others.bounds[1:]])
        return Sets(np.concatenate([self.items, others.items]), bounds)

    def keys(self) -> list[bytes]:
        """One name for each set, equal for equal sets; they sort like the sets: by the first column, the second ..."""
        content = self.items.astype(">i4").tobytes()
        return [content[4 * start : 4 * stop] for start, stop in pairwise(self.bounds.tolist())]

    def which(self) -> IntArray:
        """The set of each item."""
        return np.repeat(np.arange(len(self)), np.diff(self.bounds))

    def matrix(self, values: NDArray[Any]) -> csr_array:
        """(S, q) the values of the columns of each set."""
        return csr_array((values[self.items], self.items, self.bounds), shape=(len(self), values.size))


def set_of(key: bytes) -> NDArray[np.int32]:
    """The columns that a key stands for."""
    return np.frombuffer(key, ">i4").astype(np.int32)


@dataclass(frozen=True)
class Count:
    """The rows that joined S sets of columns, and the columns that join those rows."""

    rows: Callable[[int], IntArray]
    """Rows that joined the k-th set, in order."""
    n_elements: FloatArray
    """(S,) elements, with multiplicity, that joined."""
    which: IntArray
    """(p,) the set of each pair of a set and a column that joins it, in order."""
    columns: NDArray[Any]
    """(p,) the column of each pair, in order."""
    held: FloatArray
    """(p,) elements of the rows of the set that the column holds."""
    seen: FloatArray
    """(p,) elements of the rows of the set that the source of the column saw."""


class Counting(Protocol):
    """A way to count votes."""

    def of_sets(self, sets: Sets, live_rows: BoolArray, live_columns: BoolArray) -> Count:
        """Rows that join each set, then the columns that join those rows."""

    def of_candidates(self, starts: IntArray, live_rows: BoolArray, live_columns: BoolArray) -> Sets:
        """The columns that join the rows of each candidate."""


BLOCK = 1 << 14
"""Rows that dense products take together: they fit into the cache."""
MANY = 1 << 20
"""Memberships from which threads pay for themselves."""
SPARSE = 20
"""Steps of a dense product in the time of one step of a sparse one, measured."""
TURNED = 64
"""Sets for which dense products take the time in which the matrix is turned for sparse ones."""
MADE = 1 << 17
"""Steps of a dense product in the time in which the sparse matrices of one vote are made, whatever they hold; measured:
0.07 milliseconds."""
WHOLE = 2**33
"""Sum of whole weights up to which a share of them is exact in 64 bits: quorums have numerators below 10^9 < 2^30."""


@dataclass(frozen=True)
class Tally:
    """Outcome of one round of votes for S sets of columns."""

    rows: Callable[[int], IntArray]
    """Rows that joined the k-th set, in order."""
    columns: Sets
    """The columns that join, given those rows."""
    gains: FloatArray
    """(S,) gain of the rows with the columns that join."""
    n_elements: IntArray
    """(S,) elements, with multiplicity, that joined."""


class Ballot:
    """Votes on one preference matrix at one quorum."""

    def __init__(self, problem: PreferenceMatrix, quorum: Fraction, n_jobs: int | None = None) -> None:
        self.problem, self.quorum = problem, quorum
        fitting = -1 if problem.entries.nnz > MANY else 1
        self.n_jobs = n_threads(fitting if n_jobs is None else n_jobs)
        self.unit = whole_unit(problem.weights)
        self.weights = problem.weights if self.unit is None else np.rint(problem.weights / self.unit)

    @cached_property
    def _sizes(self) -> IntArray:
        """(q,) memberships of each column."""
        return column_sizes(self.problem.entries)

    @cached_property
    def _dense(self) -> Counting:
        """Made where it is needed."""
        return DenseVotes(self, BLOCK)

    @cached_property
    def _sparse(self) -> Counting:
        """Made where it is needed."""
        return SparseVotes(self)

    def _way(self, n_sets: int, columns: NDArray[Any], weight: float = 1.0) -> Counting:
        """The quicker way for this number of sets with these columns in all; sparse only where few rows are reached."""
        nnz, made = self.problem.entries.nnz, "_sparse" in self.__dict__
        if not made and n_sets < TURNED:
            return self._dense
        reached = weight * float(self._sizes[columns].sum())
        cost = MADE + SPARSE * reached + (0 if made else TURNED * nnz)
        return self._sparse if cost <= n_sets * nnz and reached <= max(nnz, MANY) else self._dense

    def vote(self, sets: Sets, live_rows: BoolArray, live_columns: BoolArray) -> Tally:
        """Rows that join each set of columns, then the columns that join those rows."""
        count = self._way(len(sets), sets.items).of_sets(sets, live_rows, live_columns)
        excess = self.problem.weights[count.columns] * (count.held - float(self.quorum) * count.seen)
        gains = np.bincount(count.which, excess, minlength=len(sets)).astype(np.float64)
        joined = Sets.from_pairs(count.which, count.columns, len(sets))
        return Tally(count.rows, joined, gains, count.n_elements.astype(np.int64))

    def is_too_large(self, columns: BoolArray) -> bool:
        """Whether no row can hold enough of a set of columns: every row holds fewer than the quorum asks for."""
        most = float(np.diff(self.problem.entries.indptr).max()) * self.weights.max()
        return self.problem.unseen is None and bool(most <= self.share(np.asarray(self.weights[columns].sum())))

    def first_columns(self, starts: IntArray, live_rows: BoolArray, live_columns: BoolArray) -> Sets:
        """Columns that join the rows of each starting candidate: all first votes at once, from the overlaps."""
        in_a_row = self.problem.entries.nnz / max(1, self.problem.shape[0])
        return self._way(starts.size, starts, in_a_row).of_candidates(starts, live_rows, live_columns)

    def share(self, asked: FloatArray, whole: bool = False) -> FloatArray:
        """The number of votes that must be exceeded, of those asked; exact where votes are whole numbers."""
        if whole or self.unit is not None:
            shares = asked.astype(np.int64) * self.quorum.numerator // self.quorum.denominator
            return np.asarray(shares, dtype=np.float64)
        # what is left of nothing seen may be less than nothing by rounding
        return np.maximum(asked * (float(self.quorum) * (1 + GUARD)), 0.0)


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
