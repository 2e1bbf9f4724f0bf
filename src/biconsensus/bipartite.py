"""Votes between rows and groups of columns: the two exact half-steps of the joint method."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from biconsensus.core.preference import PreferenceMatrix
from biconsensus.protocols import FloatArray, IntArray

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

    def row_scores(self, columns: IntArray) -> csr_array:
        """(r, T) gain of each row in each group of columns that contains it somewhere."""
        n_groups = int(columns.max(initial=-1)) + 1
        inside = np.flatnonzero(columns >= 0)
        groups = columns[inside]
        shape = (self.n_columns, n_groups)
        scores = csr_array(self.entries @ csr_array((self.praise[inside], (inside, groups)), shape=shape))
        asked = np.bincount(groups, self.tolls[inside], minlength=n_groups)
        if self.problem.unseen is not None and self.problem.view is not None:
            shape = (self.problem.unseen.shape[1], n_groups)
            by_view = csr_array((self.tolls[inside], (self.problem.view[inside], groups)), shape=shape)
            scores = csr_array(scores + self.problem.unseen.astype(np.float64) @ by_view)
        scores.data -= asked[scores.indices]
        scores.sort_indices()
        return scores

    def best_rows(self, columns: IntArray) -> tuple[IntArray, float]:
        """(r,) best group of each row (-1 where none gains), and the total gain."""
        scores = self.row_scores(columns)
        filled = np.flatnonzero(np.diff(scores.indptr))
        rows = np.full(scores.shape[0], -1)
        if filled.size == 0:
            return rows, 0.0
        top = np.maximum.reduceat(scores.data, scores.indptr[filled])
        ties = np.flatnonzero(scores.data == np.repeat(top, np.diff(scores.indptr)[filled]))
        owner = np.searchsorted(scores.indptr, ties, side="right") - 1
        _, first = np.unique(owner, return_index=True)
        gains = top > 0
        rows[filled[gains]] = scores.indices[ties[first]][gains]
        return rows, float(self.problem.counts[filled[gains]] @ top[gains])

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

    def dense_scores(self, columns: IntArray) -> FloatArray:
        """(r, T) gain of every row in every group, also of those that contain it nowhere."""
        n_groups = int(columns.max(initial=-1)) + 1
        member = np.zeros((self.n_columns, n_groups))
        inside = np.flatnonzero(columns >= 0)
        member[inside, columns[inside]] = 1.0
        scores: FloatArray = self.entries @ (member * self.praise[:, None])
        asked = member * self.tolls[:, None]
        scores = scores - asked.sum(axis=0)
        if self.problem.unseen is not None and self.problem.view is not None:
            by_view = np.zeros((self.problem.unseen.shape[1], n_groups))
            np.add.at(by_view, self.problem.view, asked)
            scores = scores + self.problem.unseen.astype(np.float64) @ by_view
        return scores


def consecutive(groups: IntArray) -> IntArray:
    """Groups numbered 0, 1, ... in the order of their old numbers; -1 stays."""
    kept = np.unique(groups[groups >= 0])
    return np.where(groups >= 0, np.searchsorted(kept, groups), -1)
