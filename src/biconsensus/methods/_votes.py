"""Votes between rows and groups of columns: the two exact half-steps of the joint method."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from biconsensus.matrix._coverage import in_groups, stored_rows, summed, sums_by, top_in_rows, values_at
from biconsensus.matrix._matrix import SCANNED, PreferenceMatrix
from biconsensus.pool._distinct import CACHED
from biconsensus.protocols import BoolArray, FloatArray, IntArray

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

    @property
    def entries(self) -> csr_array:
        """(r, q) entries in the type of the products."""
        return self.problem.as_floats

    @property
    def entries_by_column(self) -> csr_array:
        """(q, r) the same, transposed, each row times its multiplicity."""
        return self.problem.amounts_by_column

    @cached_property
    def unseen(self) -> csr_array | None:
        """(r, v) what was not seen, in the type of the products."""
        return None if self.problem.unseen is None else self.problem.unseen.astype(np.float64)

    @cached_property
    def unseen_by_view(self) -> csr_array | None:
        """(v, r) what was not seen, each row times its multiplicity."""
        if self.unseen is None:
            return None
        transposed = csr_array(self.unseen.T)
        transposed.data = transposed.data * self.problem.counts[transposed.indices]
        return transposed

    def best_rows(self, columns: IntArray) -> tuple[IntArray, float]:
        """(r,) best group of each row (-1 where none gains), and the total gain."""
        key = columns.tobytes()
        if self._last.get("key") != key:  # one step after the other asks for the same
            best, top = self._top_rows(columns)
            answer = np.where(top > 0, best, -1), float(self.problem.counts @ np.maximum(top, 0.0))
            self._last.update(key=key, answer=answer)
        rows, value = self._last["answer"]
        return rows, value

    @cached_property
    def _last(self) -> dict[str, Any]:
        """The last question for the best rows, and the answer."""
        return {}

    def first_rows(self, columns: IntArray) -> IntArray:
        """(r,) first group in which each row gains, -1 for none: the order in which Algorithm 1 removes them."""
        best, top = self._top_rows(columns, first=True)
        return np.where(top > 0, best, -1)

    def _top_rows(self, columns: IntArray, first: bool = False) -> tuple[IntArray, FloatArray]:
        """(r,) and (r,) the group of the largest score of each row, and that score; or of the first that gains."""
        n_rows, n_groups = self.problem.shape[0], n_groups_of(columns)
        if not self._is_dense(n_rows, n_groups):
            near = self._near_rows(columns)
            if first:
                near.data = (near.data > 0) * (n_groups - near.indices).astype(np.float64)
            return top_in_rows(near)
        best, top = np.full(n_rows, -1), np.zeros(n_rows)
        step = max(1, CACHED // (2 * (n_groups + 1)))
        for start in range(0, n_rows if n_groups else 0, step):
            part = slice(start, min(start + step, n_rows))
            scores = self.row_scores(columns, part)
            if first:
                gains = scores > 0
                best[part], top[part] = first_of_each(gains), gains.any(axis=0)
            else:
                top[part] = scores.max(axis=0)
                best[part] = first_of_each(scores == top[part])
        return best, top

    def best_columns(self, rows: IntArray) -> IntArray:
        """(q,) best group of each column (-1 where none gains), groups without columns left out."""
        return consecutive(self.group_of_columns(rows))

    def group_of_columns(self, rows: IntArray) -> IntArray:
        """(q,) best group of each column (-1 where none gains), under the numbers of the groups of rows."""
        n_groups = n_groups_of(rows)
        if n_groups == 0:
            return np.full(self.n_columns, -1)
        if not self._is_dense(self.n_columns, n_groups):
            best, top = top_in_rows(self._near_columns(rows))
        else:
            scores = self.column_scores(rows)
            best = scores.argmax(axis=1)
            top = scores[np.arange(best.size), best]
        return np.where(top > 0, best, -1)

    def _is_dense(self, n_items: int, n_groups: int) -> bool:
        """Whether it is quicker to score all items in all groups than only the pairs that overlap."""
        return n_items * n_groups <= max(SCANNED * int(self.problem.entries.nnz), CACHED)

    def row_scores(self, columns: IntArray, part: slice | None = None) -> FloatArray:
        """(T, r) gain in each group of columns of each row, or of some of them.

        Groups come first, so that what is done to all rows is done to long stretches of memory.
        """
        entries, n_groups = self.problem.entries, n_groups_of(columns)
        start, stop = (0, self.problem.shape[0]) if part is None else (part.start, part.stop)
        n_rows, stored = stop - start, slice(entries.indptr[start], entries.indptr[stop])
        indices = entries.indices[stored]
        # columns in no group are counted in one more, which is left out
        group = np.where(columns >= 0, columns, n_groups)
        place = np.repeat(np.arange(n_rows), np.diff(entries.indptr[start : stop + 1]))
        place += np.take(group * n_rows, indices)
        reward = np.take(self.reward, indices)
        if not self._binary:
            reward *= entries.data[stored]
        held = sums_by(place, reward, (n_groups + 1) * n_rows)
        scores = held.reshape(n_groups + 1, n_rows)[:n_groups]
        scores -= sums_by(group, self.cost, n_groups + 1)[:n_groups, None]
        if self.unseen is not None and self.problem.view is not None:
            by_view = summed(in_groups(columns, self.cost), self.problem.view, self.unseen.shape[1]).toarray()
            scores += (self.unseen[start:stop] @ by_view).T
        return scores

    def _near_rows(self, columns: IntArray) -> csr_array:
        """(r, T) the same where a column of the row is in the group: elsewhere it can only lose."""
        asked = in_groups(columns, self.cost)
        scores = csr_array(self.entries @ in_groups(columns, self.reward))
        scores.data = scores.data - asked.sum(axis=0)[scores.indices]
        if self.unseen is not None and self.problem.view is not None:
            by_view = summed(asked, self.problem.view, self.unseen.shape[1])
            lost = csr_array(self.unseen @ by_view)
            scores.data = scores.data + values_at(lost, stored_rows(scores), scores.indices)
        return scores

    def column_scores(self, rows: IntArray) -> FloatArray:
        """(q, T) gain of each column in each group of rows."""
        held = self.problem.held_by_columns(rows, n_groups_of(rows))
        asked = np.broadcast_to(self.problem.group_sizes(rows, 0), held.shape)
        if self.unseen_by_view is not None and self.problem.view is not None:
            asked = asked - self._lost(rows).toarray()[self.problem.view]
        return self.reward[:, None] * held - self.cost[:, None] * asked

    def _near_columns(self, rows: IntArray) -> csr_array:
        """(q, T) the same where the column holds an element of the group: elsewhere it can only lose."""
        scores = csr_array(self.entries_by_column @ in_groups(rows, np.ones(rows.size)))
        column = stored_rows(scores)
        asked = self.problem.group_sizes(rows, 0)[scores.indices]
        if self.problem.view is not None and self.unseen_by_view is not None:
            asked = asked - values_at(self._lost(rows), self.problem.view[column], scores.indices)
        scores.data = self.reward[column] * scores.data - self.cost[column] * asked
        return scores

    def gain_between_groups(self, columns: IntArray, rows: IntArray) -> FloatArray:
        """(T, T) gain of all columns of one group with all rows of another."""
        n_groups = n_groups_of(columns)
        left = np.where(columns >= 0, columns, n_groups)[self.problem.entries.indices]
        right = np.where(rows >= 0, rows, n_groups)[self.problem.row_of_entry]
        reward = self.reward[self.problem.entries.indices] * self.problem.amounts
        both = sums_by(left * (n_groups + 1) + right, reward, (n_groups + 1) ** 2)
        gains = both.reshape(n_groups + 1, n_groups + 1)[:n_groups, :n_groups]
        gains -= np.outer(self.asked(columns), self.problem.group_sizes(rows, n_groups))
        if self.unseen_by_view is not None:
            gains += self._unasked(columns, rows).toarray()
        return gains

    def near_groups(self, columns: IntArray, rows: IntArray) -> csr_array:
        """(T, T) the same before what is asked, where a column of the one group holds a row of the other."""
        held = self.entries_by_column @ in_groups(rows, np.ones(rows.size), n_groups_of(columns))
        found = csr_array(in_groups(columns, self.reward).T @ held)
        return found if self.unseen_by_view is None else csr_array(found + self._unasked(columns, rows))

    def asked(self, columns: IntArray) -> FloatArray:
        """(T,) what the columns of each group ask of a row that all of them saw."""
        inside = columns >= 0
        return sums_by(columns[inside], self.cost[inside], 0)

    def _unasked(self, columns: IntArray, rows: IntArray) -> csr_array:
        """(T, T) what the columns of one group do not ask of the rows of another, because they did not see them."""
        assert self.problem.view is not None
        assert self.unseen_by_view is not None
        by_view = summed(in_groups(columns, self.cost), self.problem.view, self.unseen_by_view.shape[0])
        return csr_array(by_view.T @ self._lost(rows, n_groups_of(columns)))

    def _lost(self, rows: IntArray, n_groups: int = 0) -> csr_array:
        """(v, T) elements of each group of rows that were not seen in each view."""
        return csr_array(self.unseen_by_view @ in_groups(rows, np.ones(rows.size), n_groups))

    @cached_property
    def _binary(self) -> bool:
        """Whether all entries are ones, so that sums are whole numbers in any order."""
        return self.problem.binary

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


def first_of_each(marks: BoolArray) -> IntArray:
    """(r,) the first group that each row is marked in (T, r); 0 where it is marked in none."""
    n_groups = marks.shape[0]
    # the largest of falling ranks: many times quicker than argmax, which goes through rows one by one
    ranks = np.arange(n_groups, 0, -1, dtype=np.min_scalar_type(n_groups))
    largest = (marks * ranks[:, None]).max(axis=0).astype(np.int64)
    return np.where(largest > 0, n_groups - largest, 0)


def n_groups_of(groups: IntArray) -> int:
    """Number of groups, numbered from 0."""
    return int(groups.max(initial=-1)) + 1
