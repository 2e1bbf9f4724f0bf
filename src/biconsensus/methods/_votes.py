"""Votes between rows and groups of columns: the two exact half-steps of the joint method."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from biconsensus.matrix._coverage import stored_rows, summed, top_in_rows, values_at
from biconsensus.matrix._matrix import PreferenceMatrix
from biconsensus.protocols import FloatArray, IntArray

DENSE = 2_000_000
"""Entries up to which a matrix is dense: many small sparse products cost far more."""
MAX_ROUNDS = 50
"""Bound of every loop that also ends by itself, since each round must gain."""


@dataclass(frozen=True)
class Votes:
    """Scores between rows and groups of columns; whole numbers where weights and quorum allow it, so ties are exact."""

    problem: PreferenceMatrix
    reward: FloatArray
    """(q,) what a column gives to each row that it contains."""
    cost: FloatArray
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

    def best_rows(self, columns: IntArray) -> tuple[IntArray, float]:
        """(r,) best group of each row (-1 where none gains), and the total gain."""
        best, top = _best(self.row_scores(columns) if self._few_groups(columns) else self._near_rows(columns))
        return np.where(top > 0, best, -1), float(self.problem.counts @ np.maximum(top, 0.0))

    def best_columns(self, rows: IntArray) -> IntArray:
        """(q,) best group of each column (-1 where none gains), groups without columns left out."""
        return consecutive(self.group_of_columns(rows))

    def group_of_columns(self, rows: IntArray) -> IntArray:
        """(q,) best group of each column (-1 where none gains), under the numbers of the groups of rows."""
        best, top = _best(self.column_scores(rows) if self._few_groups(rows) else self._near_columns(rows))
        return np.where(top > 0, best, -1)

    def _few_groups(self, groups: IntArray) -> bool:
        """Whether a dense matrix of all rows and columns by groups is small."""
        n_rows, n_columns = self.problem.shape
        return (n_rows + n_columns) * (int(groups.max(initial=-1)) + 1) <= DENSE

    def row_scores(self, columns: IntArray) -> FloatArray:
        """(r, T) gain of each row in each group of columns."""
        member = _one_hot(columns)
        asked = member * self.cost[:, None]
        scores: FloatArray = self.entries @ (member * self.reward[:, None])
        scores -= asked.sum(axis=0)
        if self.problem.unseen is not None and self.problem.view is not None:
            by_view = np.zeros((self.problem.unseen.shape[1], member.shape[1]))
            np.add.at(by_view, self.problem.view, asked)
            scores += self.problem.unseen.astype(np.float64) @ by_view
        return scores

    def _near_rows(self, columns: IntArray) -> csr_array:
        """(r, T) the same where a column of the row is in the group: elsewhere it can only lose."""
        asked = _grouped(columns, self.cost)
        scores = csr_array(self.entries @ _grouped(columns, self.reward))
        scores.data = scores.data - asked.sum(axis=0)[scores.indices]
        if self.problem.unseen is not None and self.problem.view is not None:
            by_view = summed(asked, self.problem.view, self.problem.unseen.shape[1])
            lost = csr_array(self.problem.unseen.astype(np.float64) @ by_view)
            scores.data = scores.data + values_at(lost, stored_rows(scores), scores.indices)
        return scores

    def column_scores(self, rows: IntArray) -> FloatArray:
        """(q, T) gain of each column in each group of rows."""
        member = _one_hot(rows)
        held: FloatArray = self.entries_by_column @ member
        asked = np.broadcast_to(self._sizes(rows), held.shape)
        if self.unseen_by_view is not None and self.problem.view is not None:
            asked = asked - (self.unseen_by_view @ member)[self.problem.view]
        return self.reward[:, None] * held - self.cost[:, None] * asked

    def _near_columns(self, rows: IntArray) -> csr_array:
        """(q, T) the same where the column holds an element of the group: elsewhere it can only lose."""
        scores = csr_array(self.entries_by_column @ _grouped(rows, np.ones(rows.size)))
        column = stored_rows(scores)
        asked = self._sizes(rows)[scores.indices]
        if self.problem.view is not None and self.unseen_by_view is not None:
            asked = asked - values_at(self._lost(rows), self.problem.view[column], scores.indices)
        scores.data = self.reward[column] * scores.data - self.cost[column] * asked
        return scores

    def gain_between_groups(self, columns: IntArray, rows: IntArray) -> FloatArray:
        """(T, T) gain of all columns of one group with all rows of another."""
        n_groups = int(columns.max(initial=-1)) + 1
        held = self.entries_by_column @ _grouped(rows, np.ones(rows.size), n_groups)
        asked = _grouped(columns, self.cost)
        gains: FloatArray = (_grouped(columns, self.reward).T @ held).toarray()
        gains -= np.outer(asked.sum(axis=0), self._sizes(rows, n_groups))
        if self.problem.view is not None and self.unseen_by_view is not None:
            by_view = summed(asked, self.problem.view, self.unseen_by_view.shape[0])
            gains += (by_view.T @ self._lost(rows, n_groups)).toarray()
        return gains

    def _sizes(self, rows: IntArray, n_groups: int = 0) -> FloatArray:
        """(T,) elements of each group of rows."""
        inside = np.flatnonzero(rows >= 0)
        weights = self.problem.counts[inside].astype(np.float64)
        return np.asarray(np.bincount(rows[inside], weights, minlength=n_groups))

    def _lost(self, rows: IntArray, n_groups: int = 0) -> csr_array:
        """(v, T) elements of each group of rows that were not seen in each view."""
        return csr_array(self.unseen_by_view @ _grouped(rows, np.ones(rows.size), n_groups))

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

    def alternate(self, columns: IntArray) -> tuple[IntArray, float]:
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


def _best(scores: FloatArray | csr_array) -> tuple[IntArray, FloatArray]:
    """Column and value of the largest score of each row, the first of equal ones."""
    if not isinstance(scores, np.ndarray):
        return top_in_rows(scores)
    if scores.shape[1] == 0:
        return np.full(scores.shape[0], -1), np.zeros(scores.shape[0])
    best = scores.argmax(axis=1)
    return best, scores[np.arange(best.size), best]


def _one_hot(groups: IntArray) -> FloatArray:
    """(k, T) ones at the group of each item."""
    member = np.zeros((groups.size, int(groups.max(initial=-1)) + 1))
    inside = np.flatnonzero(groups >= 0)
    member[inside, groups[inside]] = 1.0
    return member


def _grouped(groups: IntArray, values: FloatArray, n_groups: int = 0) -> csr_array:
    """(k, T) the value of each item in its group."""
    inside = groups >= 0
    ends = np.concatenate([[0], np.cumsum(inside)])
    shape = (groups.size, max(int(groups.max(initial=-1)) + 1, n_groups))
    return csr_array((values[inside], groups[inside], ends), shape=shape)
