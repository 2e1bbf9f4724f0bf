"""Votes between rows and groups of columns: the two exact half-steps of the joint method."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from biconsensus.core.preference import PreferenceMatrix
from biconsensus.protocols import FloatArray, IntArray

CHUNK = 10_000_000
"""Scores of rows in groups that are held at once."""
DENSE = 2_000_000
"""Rows x columns up to which overlaps are counted in a dense matrix: many small sparse products cost far more."""
MAX_ROUNDS = 50
"""Bound of every loop that also ends by itself, since each round must gain."""


@dataclass(frozen=True)
class Votes:
    """Scores between rows and groups of columns; whole numbers where weights and quorum allow it, so ties are exact."""

    problem: PreferenceMatrix
    praise: FloatArray
    """(q,) what a column gives to each row that it contains."""
    tolls: FloatArray
    """(q,) what a column asks of each row that it saw."""

    @classmethod
    def at_quorum(cls, problem: PreferenceMatrix, quorum: Fraction) -> Votes:
        """Votes of one quorum for all columns, scaled by its denominator."""
        return cls(problem, problem.weights * quorum.denominator, problem.weights * quorum.numerator)

    @cached_property
    def n_columns(self) -> int:
        """Number of distinct columns."""
        return self.problem.shape[1]

    @cached_property
    def entries(self) -> csr_array:
        """(r, q) entries in the type of the products."""
        return self.problem.entries.astype(np.float64)

    @cached_property
    def entries_by_column(self) -> csr_array:
        """(q, r) the same, transposed, each row times its multiplicity."""
        transposed = csr_array(self.entries.T)
        transposed.data = transposed.data * self.problem.counts[transposed.indices]
        return transposed

    @cached_property
    def unseen_by_view(self) -> csr_array | None:
        """(v, r) what was not seen, each row times its multiplicity."""
        if self.problem.unseen is None:
            return None
        transposed = csr_array(self.problem.unseen.T.astype(np.float64))
        transposed.data = transposed.data * self.problem.counts[transposed.indices]
        return transposed

    def row_scores(self, columns: IntArray, part: slice = slice(None)) -> FloatArray:
        """(r, T) gain of each row of a part in each group of columns."""
        n_groups = int(columns.max(initial=-1)) + 1
        member = np.zeros((self.n_columns, n_groups))
        inside = np.flatnonzero(columns >= 0)
        member[inside, columns[inside]] = 1.0
        asked = member * self.tolls[:, None]
        entries = self.entries if part == slice(None) else self.entries[part]  # a slice of everything is a copy
        scores: FloatArray = entries @ (member * self.praise[:, None])
        scores -= asked.sum(axis=0)
        if self.problem.unseen is not None and self.problem.view is not None:
            by_view = np.zeros((self.problem.unseen.shape[1], n_groups))
            np.add.at(by_view, self.problem.view, asked)
            scores += self.problem.unseen[part].astype(np.float64) @ by_view
        return scores

    def best_rows(self, columns: IntArray) -> tuple[IntArray, float]:
        """(r,) best group of each row (-1 where none gains), and the total gain."""
        n_rows, n_groups = self.entries.shape[0], int(columns.max(initial=-1)) + 1
        rows, total = np.full(n_rows, -1), 0.0
        step = max(1, CHUNK // max(1, n_groups))
        for begin in range(0, n_rows if n_groups else 0, step):
            part = slice(begin, begin + step) if step < n_rows else slice(None)
            scores = self.row_scores(columns, part)
            best = scores.argmax(axis=1)
            top = scores[np.arange(best.size), best]
            rows[part] = np.where(top > 0, best, -1)
            total += float(self.problem.counts[part] @ np.maximum(top, 0.0))
        return rows, total

    def column_scores(self, rows: IntArray, n_groups: int) -> FloatArray:
        """(q, T) gain of each column in each group of rows."""
        inside = np.flatnonzero(rows >= 0)
        shape = (rows.size, n_groups)
        member = csr_array((np.ones(inside.size), (inside, rows[inside])), shape=shape)
        held = (self.entries_by_column @ member).toarray()
        sizes = np.bincount(rows[inside], self.problem.counts[inside], minlength=n_groups)
        asked = np.broadcast_to(sizes, held.shape)
        if self.unseen_by_view is not None and self.problem.view is not None:
            asked = asked - (self.unseen_by_view @ member).toarray()[self.problem.view]
        scores: FloatArray = self.praise[:, None] * held - self.tolls[:, None] * asked
        return scores

    @cached_property
    def _binary(self) -> bool:
        """Whether all entries are ones, so that sums are whole numbers in any order."""
        return bool((self.entries.data == 1).all())

    def overlaps(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """(k, k) elements that each two of these columns share inside these rows."""
        row, column, values = self._picked(rows, columns)
        shape = (rows.size, columns.size)
        if self._binary and rows.size * columns.size <= DENSE:
            held = np.zeros(shape)
            held[row, column] = values
            return np.asarray((held * self.problem.counts[rows, None]).T @ held)
        inner = csr_array((values, (row, column)), shape=shape)
        weighted = csr_array((values * self.problem.counts[rows][row], (row, column)), shape=shape)
        return np.asarray((inner.T @ weighted).toarray())

    def _picked(self, rows: IntArray, columns: IntArray) -> tuple[IntArray, IntArray, FloatArray]:
        """Places and values of the entries of some rows and columns, without a look at any other row."""
        begin, end = self.entries.indptr[rows], self.entries.indptr[rows + 1]
        row = np.repeat(np.arange(rows.size), end - begin)
        entry = np.arange(row.size) + np.repeat(end - np.cumsum(end - begin), end - begin)
        place = np.full(self.n_columns, -1)
        place[columns] = np.arange(columns.size)
        column = place[self.entries.indices[entry]]
        kept = column >= 0
        return row[kept], column[kept], self.entries.data[entry[kept]]

    def best_columns(self, rows: IntArray) -> IntArray:
        """(q,) best group of each column (-1 where none gains), groups without columns left out."""
        n_groups = int(rows.max(initial=-1)) + 1
        if n_groups == 0:
            return np.full(self.n_columns, -1)
        scores = self.column_scores(rows, n_groups)
        best = scores.argmax(axis=1)
        best[scores[np.arange(best.size), best] <= 0] = -1
        return consecutive(best)

    def settle(self, columns: IntArray) -> tuple[IntArray, float]:
        """Alternate the exact half-steps until nothing is gained."""
        rows, value = self.best_rows(columns)
        for _ in range(MAX_ROUNDS):
            changed = self.best_columns(rows)
            rows, total = self.best_rows(changed)
            if total <= value:
                return (consecutive(changed), total) if total == value else (columns, value)
            columns, value = changed, total
        return columns, value


def consecutive(groups: IntArray) -> IntArray:
    """Groups numbered 0, 1, ... in the order of their old numbers; -1 stays."""
    kept = np.unique(groups[groups >= 0])
    return np.where(groups >= 0, np.searchsorted(kept, groups), -1)
