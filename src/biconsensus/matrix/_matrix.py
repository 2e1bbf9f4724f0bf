"""PreferenceMatrix: what a solver sees."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from biconsensus.matrix._groups import in_groups, stored_rows, sums_by
from biconsensus.pool._rows import CACHED, column_sums, group_rows, mix, row_parts
from biconsensus.protocols import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from biconsensus.pool._pool import Pool

UNWEIGHTED = (
    "by_column",
    "as_floats",
    "amounts_by_column",
    "row_of_entry",
    "row_lengths",
    "amounts",
    "columns_of_sources",
    "sizes",
    "row_length",
    "_lists",
    "_last_held",
    "last_pairs",
)
"""What is kept of a matrix when its weights change."""
SCANNED = 8
"""Dense scores scanned in the time in which one stored entry goes through a sparse product; estimated, for speed."""
FEW_MOVED = 4
"""Of how many rows one at most moved to another group, for those alone to be counted again; estimated, for speed."""
PADDED = 2
"""Times the memberships that there may be places where all rows are made as long as the longest; estimated, for
speed."""
KEPT = 1 << 21
"""Memberships up to which the columns of each row are kept in a second form: 16 megabytes. For speed."""
PROBE = 1 << 12
"""Rows that are compared first: they are nearly always enough to tell two candidates apart."""


@dataclass(frozen=True)
class PreferenceMatrix:
    """Distinct rows, distinct columns, weights, and what was seen.

    With B the entries, w the weights, s the multiplicities and M the mask of what was seen, a block of rows R and
    columns Q gains ``sum over i in R, j in Q of s_i M_ij w_j (B_ij - theta)``.

    Examples
    --------
    >>> import biconsensus as bc
    >>> problem = bc.PreferenceMatrix.from_pool(bc.Pool.from_labels([[0] * 4 + [1] * 4] * 3))
    >>> problem.shape, problem.counts, problem.weights
    ((2, 2), array([4, 4]), array([3., 3.]))
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
    """(r, v) bool: what each mask did not see; None where everything was seen."""
    mask: IntArray | None = None
    """(q,) the mask of each column: candidates of one source have one mask."""

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

    @cached_property
    def as_floats(self) -> csr_array:
        """(r, q) the entries in the type of products."""
        return self.entries.astype(np.float64)

    @cached_property
    def amounts_by_column(self) -> csr_array:
        """(q, r) the transposed entries, each row times its multiplicity."""
        transposed = csr_array(self.as_floats.T)
        transposed.data = transposed.data * self.counts[transposed.indices]
        return transposed

    @cached_property
    def row_of_entry(self) -> IntArray:
        """(nnz,) the row of each stored entry."""
        return stored_rows(self.entries)

    @cached_property
    def amounts(self) -> FloatArray:
        """(nnz,) each stored entry times the multiplicity of its row."""
        counts = self.counts.astype(np.float64)[self.row_of_entry]
        return counts if self.binary else counts * self.entries.data

    @cached_property
    def columns_of_sources(self) -> csr_array:
        """(c, q) the columns of each source, in the type of products."""
        return csr_array(self.backers.T.astype(np.float64))

    @cached_property
    def row_lengths(self) -> IntArray:
        """(r,) how many entries each row stores."""
        return np.asarray(np.diff(self.entries.indptr))

    @cached_property
    def row_length(self) -> int:
        """Columns of the longest row, where most rows have nearly as many, as in tables of labels; else 0."""
        length = int(self.row_lengths.max(initial=0))
        return length if length * self.shape[0] <= PADDED * self.entries.nnz else 0

    def columns_of_rows(self, part: slice | IntArray) -> IntArray:
        """(k, p) the columns of some rows, `row_length` of each; a number behind all columns where a row has fewer.

        Rows come last, so that what is done to all of them is done to long stretches of memory.
        """
        if self.entries.nnz > KEPT:
            return self._listed(part)
        return self._lists[:, part] if isinstance(part, slice) else np.take(self._lists, part, axis=1)

    @cached_property
    def _lists(self) -> IntArray:
        """(k, r) the columns of all rows."""
        return self._listed(slice(None))

    def _listed(self, part: slice | IntArray) -> IntArray:
        """(k, p) the columns of some rows, taken from the entries."""
        entries, length = self.entries, self.row_length
        if entries.nnz == self.shape[0] * length:
            return np.asarray(entries.indices.reshape(-1, length)[part].T.astype(np.int64, order="C"))
        place = entries.indptr[:-1][part] + np.arange(length)[:, None]
        stored = np.take(entries.indices, np.minimum(place, entries.nnz - 1))
        return np.where(place < entries.indptr[1:][part], stored, self.shape[1]).astype(np.int64)

    @cached_property
    def sizes(self) -> FloatArray:
        """(q,) sum of the entries of each column over all elements: how many it holds, where entries are ones."""
        if self.binary:
            return column_sums(self.entries, self.counts)
        return sums_by(self.entries.indices, self.amounts, self.shape[1])

    @cached_property
    def row_weights(self) -> FloatArray:
        """(r,) weight of the columns that hold each row."""
        return np.asarray(self.entries @ self.weights)

    @cached_property
    def used_backers(self) -> FloatArray:
        """(q, c) sources behind each column that has a weight."""
        return np.asarray(self.backers.astype(np.float64).toarray() * (self.weights > 0)[:, None])

    def with_weights(self, weights: FloatArray) -> PreferenceMatrix:
        """The same matrix with other weights (q,) of its columns."""
        found = replace(self, weights=weights)
        # what was counted last is shared from now on: counts do not depend on weights
        _ = self._last_held, self.last_pairs
        found.__dict__.update({name: self.__dict__[name] for name in UNWEIGHTED if name in self.__dict__})
        return found

    def some_rows(self, rows: IntArray, counts: IntArray | None = None) -> PreferenceMatrix:
        """Some of the rows (k,), each standing for its elements or for other numbers (k,) of them."""
        unseen = None if self.unseen is None else csr_array(self.unseen[rows])
        counts = self.counts[rows] if counts is None else counts
        return replace(self, entries=csr_array(self.entries[rows]), counts=counts, unseen=unseen)

    def rows_with_any(self, columns: BoolArray) -> BoolArray:
        """(r,) the rows that any of these columns (q,) holds."""
        if self.row_length and self.entries.nnz <= KEPT:
            return np.asarray(np.take(np.append(columns, False), self._lists).any(axis=0))
        found, entries = np.zeros(self.shape[0], bool), self.entries
        for part, stored, lengths in row_parts(entries):
            inside = np.take(columns, entries.indices[stored])
            found[np.repeat(np.arange(part.start, part.stop), lengths)[inside]] = True
        return found

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
        if self.unseen is None or self.mask is None:
            return np.ones((n_rows, n_columns))
        return np.asarray(1.0 - self.unseen[rows].astype(np.float64).toarray()[:, self.mask[columns]])

    def unseen_by_source(self, members: Any) -> FloatArray:
        """(c, k) how much of k row-wise amounts (r, k) each source did not see."""
        n_sources = self.backers.shape[1]
        if self.unseen is None or self.mask is None:
            return np.zeros((n_sources, members.shape[1]))
        mask_of_source = np.zeros(n_sources, np.int64)
        column, source = self.backers.nonzero()
        mask_of_source[source] = self.mask[column]
        lost = self.unseen.T.astype(np.float64) @ members
        found: FloatArray = (lost.toarray() if issparse(lost) else lost)[mask_of_source]
        return found

    def gain(self, rows: BoolArray, columns: BoolArray, quorum: Fraction) -> float:
        """Gain of a block of a binary matrix, in sparse arithmetic."""
        counts = np.where(rows, self.counts, 0)
        weights = np.where(columns, self.weights, 0.0)
        held = counts @ (self.entries @ weights)
        asked = counts.sum() * weights.sum()
        if self.unseen is not None and self.mask is not None:
            by_mask = np.bincount(self.mask, weights, minlength=self.unseen.shape[1])
            asked -= counts @ (self.unseen @ by_mask)
        return float(held - float(quorum) * asked)

    def group_sizes(self, rows: IntArray, n_groups: int) -> FloatArray:
        """(T,) elements of groups of rows, from the group (r,) of each row, -1 for none."""
        inside = rows >= 0
        return sums_by(rows[inside], self.counts[inside], n_groups)

    def group_sources(self, columns: IntArray, n_groups: int) -> IntArray:
        """(T,) distinct sources behind groups of columns, from the group (q,) of each column, -1 for none."""
        members = np.flatnonzero(columns >= 0)
        return self.sources_of_sets(columns[members], members, n_groups)

    def sources_of_sets(self, sets: IntArray, columns: NDArray[Any], n_sets: int) -> IntArray:
        """(S,) distinct sources behind sets of columns, from pairs (p,) of a set and a column."""
        backers, number = self.backers, np.diff(self.backers.indptr)[columns]
        first = np.cumsum(number) - number
        place = np.repeat(backers.indptr[columns] - first, number) + np.arange(int(number.sum()))
        pairs = np.unique(np.repeat(sets, number) * np.int64(backers.shape[1]) + backers.indices[place])
        return np.bincount(pairs // backers.shape[1], minlength=n_sets)

    def held_by_columns(self, rows: IntArray, n_groups: int) -> FloatArray:
        """(q, T) elements of each group of rows that each column holds; rows (r,) have groups, -1 for none.

        Not to be written to: the last table is kept, because one step after the other asks for the same.
        """
        known = self._known_held(rows, n_groups)
        if known is None:
            table = self._recount(rows, n_groups)
            table.flags.writeable = False
            known = table[:-1, :n_groups]
            self._last_held.update(rows=rows.copy(), table=table, held=known)
        return known

    @cached_property
    def _last_held(self) -> dict[str, Any]:
        """The last question for what columns hold of groups, and the answer."""
        return {}

    @cached_property
    def last_pairs(self) -> dict[str, Any]:
        """The groups whose pairs of columns were counted last, and these pairs; for `methods`."""
        return {}

    def _known_held(self, rows: IntArray, n_groups: int) -> FloatArray | None:
        """(q, T) the last table, if it is that of these groups."""
        last = self._last_held
        if last and last["held"].shape[1] == n_groups and np.array_equal(last["rows"], rows):
            held: FloatArray = last["held"]
            return held
        return None

    def _recount(self, rows: IntArray, n_groups: int) -> FloatArray:
        """As `_counted`; of rows few of which moved, only these, also where the groups have other numbers now."""
        last = self._last_held
        if self.binary and last:
            before = last["held"].shape[1]
            number = same_groups(last["rows"], before, rows, n_groups)
            was = number[last["rows"]]
            now = np.where(rows >= 0, rows, n_groups)
            moved = np.flatnonzero(was != now)
            if FEW_MOVED * moved.size < rows.size:
                origin = np.full(n_groups + 2, -1)
                origin[number] = np.arange(before + 1)
                table = np.take(last["table"], origin[:-1], axis=1)
                fresh = np.flatnonzero(origin[:-1] < 0)
                if fresh.size:
                    table[:, fresh] = 0.0
                # numbers of elements are whole, so that sums are exact
                self._add_rows(table, moved[was[moved] <= n_groups], was, -1.0)
                self._add_rows(table, moved, now, 1.0)
                return np.asarray(table)
        return self._counted(rows, n_groups)

    def _add_rows(self, table: FloatArray, moved: IntArray, groups: IntArray, sign: float) -> None:
        """Add some of the rows to a table of what columns hold of groups, or take them away."""
        amounts = sign * self.counts[moved]
        if self.row_length:
            place = self.columns_of_rows(moved) * table.shape[1]
            place += groups[moved]
            amounts = np.broadcast_to(amounts, place.shape)
        else:
            part = csr_array(self.entries[moved])
            lengths = np.diff(part.indptr)
            place = part.indices * np.int64(table.shape[1])
            place += np.repeat(groups[moved], lengths)
            amounts = np.repeat(amounts, lengths)
        np.add.at(table.reshape(-1), place.ravel(), amounts.ravel())

    def _counted(self, rows: IntArray, n_groups: int) -> FloatArray:
        """(q + 1, T + 1) elements of each group of rows that each column holds; last come those in no group.

        The last line is for the place behind all columns, where a row has fewer than others.
        """
        n_columns, entries = self.shape[1], self.entries
        held, counts = np.zeros((n_columns + 1) * (n_groups + 1)), self.counts.astype(np.float64)
        group = np.where(rows >= 0, rows, n_groups)
        if self.binary and self.row_length:
            step = max(1, max(CACHED, held.size) // self.row_length)
            for start in range(0, rows.size, step):
                here = slice(start, start + step)
                place = self.columns_of_rows(here) * (n_groups + 1)
                place += group[here]
                held += sums_by(place.ravel(), np.broadcast_to(counts[here], place.shape).ravel(), held.size)
        else:
            for part, stored, lengths in row_parts(entries, max(CACHED, held.size)):
                place = entries.indices[stored] * np.int64(n_groups + 1) + np.repeat(group[part], lengths)
                amounts = np.repeat(counts[part], lengths)
                held += sums_by(place, amounts if self.binary else amounts * entries.data[stored], held.size)
        return held.reshape(n_columns + 1, n_groups + 1)

    def shared_with_groups(self, rows: IntArray, n_groups: int) -> csr_array:
        """(q, T) the same, sparse: by way of the table where it is small, else by the pairs that share an element."""
        if self.shape[1] * n_groups <= SCANNED * self.entries.nnz:
            return csr_array(self.held_by_columns(rows, n_groups))
        return csr_array(self.amounts_by_column @ in_groups(rows, np.ones(rows.size), n_groups))

    def group_gains(self, rows: IntArray, columns: IntArray, quorum: Fraction) -> FloatArray:
        """(T,) gains of disjoint blocks, from the group of each row (r,) and column (q,), -1 for none."""
        n_groups = int(columns.max(initial=-1)) + 1
        weights = np.where(columns >= 0, self.weights, 0.0)
        # the elements of the block that each column holds: whole numbers, the same in any order of the rows
        known = self._known_held(rows, n_groups)
        if known is None and self.binary and self._last_held and self._last_held["held"].shape[1] == n_groups:
            known = self.held_by_columns(rows, n_groups)  # mostly few rows have moved since the last table
        if known is not None:
            held = np.where(columns >= 0, known[np.arange(columns.size), columns], 0.0) if n_groups else weights
        else:
            held = self._held_of_own(rows, columns)
        asked = np.where(columns >= 0, self.group_sizes(rows, n_groups)[columns], 0.0) if n_groups else 0.0 * held
        if n_groups and self.unseen is not None and self.mask is not None:
            asked = asked - self._unseen_of_own(rows, columns, n_groups)
        excess = weights * (held - float(quorum) * asked)
        return sums_by(columns[columns >= 0], excess[columns >= 0], n_groups)

    def _held_of_own(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """(q,) elements of the group of each column that it holds."""
        entries, held, own = self.entries, np.zeros(columns.size), np.where(columns >= 0, columns, -2)
        for part, stored, lengths in row_parts(entries, max(CACHED, 8 * columns.size)):
            indices, amounts = entries.indices[stored], np.repeat(self.counts[part], lengths)
            amounts = amounts * (np.take(own, indices) == np.repeat(rows[part], lengths))
            held += sums_by(indices, amounts if self.binary else amounts * entries.data[stored], held.size)
        return held

    def _unseen_of_own(self, rows: IntArray, columns: IntArray, n_groups: int) -> FloatArray:
        """(q,) elements of the group of each column that its mask did not see."""
        assert self.unseen is not None
        assert self.mask is not None
        group = np.repeat(rows, np.diff(self.unseen.indptr))
        amounts = np.repeat(self.counts, np.diff(self.unseen.indptr))
        inside, n_masks = group >= 0, self.unseen.shape[1]
        cells = self.unseen.indices[inside] * np.int64(n_groups) + group[inside]
        lost = sums_by(cells, amounts[inside], n_masks * n_groups).reshape(n_masks, n_groups)
        return np.where(columns >= 0, lost[self.mask, columns], 0.0)

    @cached_property
    def norm(self) -> float:
        """||A||_1 = sum of s_i w_j B_ij over everything."""
        return float(self.sizes @ self.weights)

    @classmethod
    def from_pool(cls, pool: Pool, weights: FloatArray | None = None) -> PreferenceMatrix:
        """Merge identical candidates of a pool (same members, same mask) into one column with the summed weight."""
        weights = pool.weights if weights is None else weights
        mask, unseen = pool.masks()
        first, members = _distinct_columns(pool.rows, pool.sizes, mask)
        summed = np.bincount(members, weights, minlength=first.size).astype(np.float64)
        n_sources = len(pool.sources)
        backers = csr_array((np.ones(members.size, bool), (members, pool.source_of)), shape=(first.size, n_sources))
        backers.sum_duplicates()
        found = cls(
            entries=pool.rows if first.size == members.size else csr_array(pool.rows[:, first]),
            counts=pool.counts,
            weights=summed,
            members=members,
            backers=backers.astype(bool),
            unseen=unseen,
            mask=None if unseen is None else mask[first],
        )
        if found.binary:
            found.__dict__["sizes"] = pool.sizes[first].astype(np.float64)
        return found


def same_groups(old: IntArray, n_old: int, new: IntArray, n_new: int) -> IntArray:
    """(n_old + 1,) the new number of each group whose first item is first in that one, too; n_new + 1 for other groups.

    Items in no group have -1; the last place says where these are, which is behind all groups. Items come heaviest
    first, and the heaviest of a group mostly stays; where it does not, items only seem to move.

    Examples
    --------
    >>> same_groups(np.array([0, 0, 1, 2, -1]), 3, np.array([1, 1, 0, 0, -1]), 2)
    array([1, 0, 3, 2])
    """
    # assignments are in order, so that the last one stays: backwards, the first item does
    there, back = np.full(n_old + 1, -1), np.full(n_new + 1, -1)
    there[old[::-1]] = new[::-1]
    back[new[::-1]] = old[::-1]
    number = np.where((there >= 0) & (back[there] == np.arange(n_old + 1)), there, n_new + 1)
    number[-1] = n_new
    return number


def _distinct_columns(rows: csr_array, sizes: IntArray, mask: IntArray) -> tuple[IntArray, IntArray]:
    """First of each set of identical columns with the same mask, and the set of each column."""
    # columns that differ in size or in their first rows differ: mostly there is nothing more to compare
    probe = rows[:PROBE]
    # sums of 4,096 numbers of 40 bits are exact
    marks = (mix(np.arange(PROBE)) >> np.uint64(24)).astype(np.float64)[: probe.shape[0]]
    start = np.bincount(probe.indices, np.repeat(marks, np.diff(probe.indptr)), minlength=rows.shape[1])
    order = np.lexsort((sizes, start))
    if ((np.diff(start[order]) != 0) | (np.diff(sizes[order]) != 0)).all():
        return np.arange(rows.shape[1]), np.arange(rows.shape[1])
    return group_rows(csr_array(rows.T), mask)
