"""The two votes, for many sets of columns at once.

Row i joins R if ``sum_{j in Q} w_j B_ij > theta * sum_{j in Q} w_j M_ij``; column j joins Q if
``sum_{i in R} s_i B_ij > theta * sum_{i in R} s_i M_ij``. Where weights are whole multiples of one unit everything is
counted in integers, so that 29 of 100 is never more than 0.29 of them.

Sets that reach little of the matrix are counted by sparse products, at the cost of what they reach; others by dense
ones. Both add the same numbers in the same order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

from biconsensus.matrix._matrix import PreferenceMatrix
from biconsensus.pool._distinct import column_sizes
from biconsensus.protocols import GUARD, BoolArray, FloatArray, IntArray
from biconsensus.solvers.vote._counting import Counting, DenseVotes, Sets, SparseVotes

BLOCK = 1 << 14
"""Rows that dense products take together: they fit into the cache."""
MANY = 1 << 20
"""Memberships from which threads pay for themselves."""
SPARSE = 20
"""Steps of a dense product in the time of one step of a sparse one, measured."""
TURNED = 64
"""Sets for which dense products take the time in which the matrix is turned for sparse ones."""
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
        self.n_jobs = effective_n_jobs(-1 if n_jobs is None and problem.entries.nnz > MANY else n_jobs)
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
        cost = SPARSE * reached + (0 if made else TURNED * nnz)
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
        """The votes that more are needed than, of those that were asked; exact where votes are whole numbers."""
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
