"""All groups at once: the constant Potts model on the bipartite graph of elements and candidates.

Given the columns of every group, the best group of each row is exact and costs one sparse product; given the rows, so
is that of each column. The search alternates the two, merges and splits whole groups, moves single columns with the
rows following, and does so from several starts; nothing is drawn at random.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from biconsensus.matrix._groups import (
    Blocks,
    in_groups,
    stored_rows,
    summed,
    sums_by,
    top_in_rows,
    values_at,
)
from biconsensus.matrix._matrix import KEPT, SCANNED, PreferenceMatrix, same_groups
from biconsensus.pool._rows import CACHED
from biconsensus.protocols import Block, BoolArray, FloatArray, IntArray, comparable

MAX_ROUNDS = 50
"""Bound of every loop that also ends by itself, since each round must gain."""
SCORED = 1 << 18
"""Scores of rows in groups that are looked at together: two megabytes; fewer are slower by their calls. For speed."""
MANY_GROUPS = 300
"""Groups up to which rows of nearly as many columns each are scored in a table of all groups; estimated, for speed."""
TIED = 1e-12
"""Relative difference of gains that only rounding makes."""
ROUNDING = 1e-14
"""The same for what the columns of a group ask of a row, which cancels where none of them saw it: a bound on the error
of sums of some dozens of numbers."""
FEW_NEAR = 6
"""Of how many columns one at most is in a group that changed, for rows near those to be scored alone; estimated, for
speed."""


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
    def unseen_by_mask(self) -> csr_array | None:
        """(v, r) what was not seen, each row times its multiplicity."""
        if self.unseen is None:
            return None
        transposed = csr_array(self.unseen.T)
        transposed.data = transposed.data * self.problem.counts[transposed.indices]
        return transposed

    @cached_property
    def _rounding(self) -> float:
        """Score up to which a row gains nothing: columns that did not see it neither give to it nor ask of it."""
        return 0.0 if self.unseen is None else ROUNDING * float(self.cost.sum())

    def best_rows(self, columns: IntArray) -> tuple[IntArray, float]:
        """(r,) best group of each row (-1 where none gains), and the total gain."""
        last = self._last
        if not last or not np.array_equal(last["columns"], columns):  # one step after the other asks for the same
            best, top = self._again(columns) if last else self._top_rows(columns)
            rows = np.where(top > self._rounding, best, -1)
            value = float(self.problem.counts @ np.maximum(top, 0.0))
            last.update(columns=columns.copy(), best=best, top=top, rows=rows, value=value)
        return last["rows"], last["value"]

    @cached_property
    def _last(self) -> dict[str, Any]:
        """The last question for the best rows, and the answer."""
        return {}

    def _again(self, columns: IntArray) -> tuple[IntArray, FloatArray]:
        """The same as `_top_rows`; where few groups differ from those of the last question, only rows near them."""
        old, best, top = (self._last[name] for name in ("columns", "best", "top"))
        before, n_groups = n_groups_of(old), n_groups_of(columns)
        number = same_groups(old, before, columns, n_groups)
        now = np.where(columns >= 0, columns, n_groups)
        moved = number[old] != now
        # the places behind all groups: columns in no group, and groups that are no more
        differs, gone = np.zeros(n_groups + 2, bool), np.zeros(before + 1, bool)
        differs[number[old[moved]]] = differs[now[moved]] = True
        differs[n_groups] = False
        gone[old[moved]] = True
        gone[-1] = False
        near = differs[now] | gone[old]
        kept = number[:-1][~differs[number[:-1]]]
        # of equal scores the first group counts, so that groups must still be in the same order
        if FEW_NEAR * np.count_nonzero(near) < near.size and (np.diff(kept) > 0).all():
            rows = np.flatnonzero(self.problem.rows_with_any(near))
            if 2 * rows.size < best.size:
                # a row that none of these columns holds gains nothing from their groups, before and now
                best, top = np.minimum(number, n_groups)[best], top.copy()
                if self._is_even(n_groups):
                    best[rows], top[rows] = self._top_even_rows(columns, rows)
                else:
                    part = Votes(self.problem.some_rows(rows), self.reward, self.cost)
                    best[rows], top[rows] = part._top_rows(columns)
                return best, top
        return self._top_rows(columns)

    def first_rows(self, columns: IntArray) -> IntArray:
        """(r,) first group in which each row gains, -1 for none: the order in which Algorithm 1 removes them."""
        best, top = self._top_rows(columns, first=True)
        return np.where(top > 0, best, -1)

    def _top_rows(self, columns: IntArray, first: bool = False) -> tuple[IntArray, FloatArray]:
        """(r,) and (r,) the group of the largest score of each row, and that score; or of the first that gains."""
        n_rows, n_groups = self.problem.shape[0], n_groups_of(columns)
        if self._is_even(n_groups) and not first:
            return self._top_even_rows(columns)
        if not self._is_dense(n_rows, n_groups, self.problem.entries.nnz):
            near = self._near_rows(columns)
            if first:
                near.data = (near.data > 0) * (n_groups - near.indices).astype(np.float64)
            return top_in_rows(near)
        best, top = np.full(n_rows, -1), np.zeros(n_rows)
        step = max(1, SCORED // (n_groups + 1))
        for start in range(0, n_rows if n_groups else 0, step):
            part = slice(start, min(start + step, n_rows))
            scores = self.row_scores(columns, part)
            if first:
                gains = scores > self._rounding
                best[part], top[part] = first_of_each(gains), gains.any(axis=0)
            else:
                top[part] = scores.max(axis=0)
                best[part] = first_of_each(scores == top[part])
        return best, top

    def _top_even_rows(self, columns: IntArray, among: IntArray | None = None) -> tuple[IntArray, FloatArray]:
        """The same for all rows or some (k,) of them, which have nearly as many columns; any group where none gains."""
        n_groups, n_rows = n_groups_of(columns), self.problem.shape[0] if among is None else among.size
        # columns in no group, and places behind the last column, are counted in one more, which never gains
        group = np.append(np.where(columns >= 0, columns, n_groups), n_groups)
        cost = sums_by(group[:-1], self.cost, n_groups + 1)
        cost[n_groups] = np.inf
        best, top = np.empty(n_rows, np.int64), np.empty(n_rows)
        step = max(1, SCORED // (n_groups + 1))
        for start in range(0, n_rows, step):
            part = slice(start, min(start + step, n_rows))
            here, size = part if among is None else among[part], part.stop - start
            lists = self.problem.columns_of_rows(here)
            rewards = self._rewards[:, part] if among is None and self._is_kept else np.take(self._padded, lists)
            own = np.take(group, lists)
            place = own * size
            place += np.arange(size)
            scores = sums_by(place.ravel(), rewards.ravel(), (n_groups + 1) * size).reshape(-1, size)
            if self.unseen is not None or n_groups <= 2 * lists.shape[0]:
                scores -= cost[:, None]
                if self.unseen is not None:
                    scores[:n_groups] += self._unseen_scores(columns, here)
                top[part] = scores.max(axis=0)
                best[part] = first_of_each(scores == top[part])
            else:  # a row gains only in groups of its own columns
                near = np.take(scores, place)
                near -= np.take(cost, own)
                top[part] = near.max(axis=0)
                own += (near < top[part]) * np.int64(n_groups)  # behind all groups
                best[part] = own.min(axis=0)
        return best, top

    def _is_even(self, n_groups: int) -> bool:
        """Whether rows are memberships in nearly as many columns each, as in tables of labels, and groups are few."""
        return self._binary and self.problem.row_length > 0 and n_groups <= MANY_GROUPS

    @property
    def _is_kept(self) -> bool:
        """Whether memberships are few enough to keep more than one form of them."""
        return bool(self.problem.entries.nnz <= KEPT)

    @cached_property
    def _padded(self) -> FloatArray:
        """(q + 1,) what a column gives, and nothing for the place behind the last."""
        return np.append(self.reward, 0.0)

    @cached_property
    def _rewards(self) -> FloatArray:
        """(k, r) what each column of each row gives to it."""
        return np.take(self._padded, self.problem.columns_of_rows(slice(None)))

    def _unseen_scores(self, columns: IntArray, part: slice | IntArray) -> FloatArray:
        """(T, p) what the columns of each group do not ask of some rows, because they did not see them."""
        assert self.unseen is not None
        assert self.problem.mask is not None
        by_mask = summed(in_groups(columns, self.cost), self.problem.mask, self.unseen.shape[1]).toarray()
        return np.asarray((self.unseen[part] @ by_mask).T)

    def best_columns(self, rows: IntArray) -> IntArray:
        """(q,) best group of each column (-1 where none gains), groups without columns left out."""
        return consecutive(self.group_of_columns(rows))

    def group_of_columns(self, rows: IntArray) -> IntArray:
        """(q,) best group of each column (-1 where none gains), under the numbers of the groups of rows."""
        n_groups = n_groups_of(rows)
        if n_groups == 0:
            return np.full(self.n_columns, -1)
        if not self._is_dense(self.n_columns, n_groups, self._stored_in(rows)):
            best, top = top_in_rows(self._near_columns(rows))
        else:
            scores = self.column_scores(rows)
            best = scores.argmax(axis=1)
            top = np.take(scores, best + np.arange(0, scores.size, n_groups))
        return np.where(top > 0, best, -1)

    def columns_in_turn(self, rows: IntArray) -> IntArray:
        """(q,) group of each column (-1 for none) as Algorithm 1 takes them, groups numbered in the order of taking.

        The group of rows that gains most takes all columns that it gains by; then the next, of the columns that are
        left.
        """
        n_groups = n_groups_of(rows)
        if self._is_dense(self.n_columns, n_groups, self._stored_in(rows)):
            scores = csr_array(np.maximum(self.column_scores(rows), 0.0))
        else:
            scores = self._near_columns(rows)
            scores.data = np.maximum(scores.data, 0.0)
        scores.eliminate_zeros()
        by_group, several = csr_array(scores.T), np.diff(scores.indptr) > 1
        gains = sums_by(scores.indices, scores.data, n_groups)
        found = np.full(self.n_columns, -1)
        for number in range(n_groups):
            # gains that differ by rounding are a tie, and go to the group that was first
            group = int(np.argmax(gains >= gains.max() * (1.0 - TIED)))
            columns = by_group.indices[by_group.indptr[group] : by_group.indptr[group + 1]]
            columns = columns[found[columns] < 0]
            found[columns] = number
            gains[group] = -np.inf
            shared = columns[several[columns]]
            if shared.size:
                lost = csr_array(scores[shared])
                gains -= sums_by(lost.indices, lost.data, n_groups)
        return found

    def _is_dense(self, n_items: int, n_groups: int, stored: int) -> bool:
        """Whether it is quicker to score all items in all groups than only the pairs that share a stored entry."""
        return n_items * n_groups <= max(SCANNED * stored, CACHED)

    def _stored_in(self, rows: IntArray) -> int:
        """Stored entries of the rows that are in a group."""
        return int(self.problem.row_lengths @ (rows >= 0))

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
        place = np.take(group * n_rows, indices)
        place += np.repeat(np.arange(n_rows), np.diff(entries.indptr[start : stop + 1]))
        reward = np.take(self.reward, indices)
        if not self._binary:
            reward *= entries.data[stored]
        held = sums_by(place, reward, (n_groups + 1) * n_rows)
        scores = held.reshape(n_groups + 1, n_rows)[:n_groups]
        scores -= sums_by(group, self.cost, n_groups + 1)[:n_groups, None]
        if self.unseen is not None:
            scores += self._unseen_scores(columns, slice(start, stop))
        return scores

    def _near_rows(self, columns: IntArray) -> csr_array:
        """(r, T) the same where a column of the row is in the group: elsewhere it can only lose."""
        asked = in_groups(columns, self.cost)
        scores = csr_array(self.entries @ in_groups(columns, self.reward))
        scores.data = scores.data - asked.sum(axis=0)[scores.indices]
        if self.unseen is not None and self.problem.mask is not None:
            by_mask = summed(asked, self.problem.mask, self.unseen.shape[1])
            lost = csr_array(self.unseen @ by_mask)
            scores.data = scores.data + values_at(lost, stored_rows(scores), scores.indices)
        return scores

    def column_scores(self, rows: IntArray) -> FloatArray:
        """(q, T) gain of each column in each group of rows."""
        asked = self.problem.group_sizes(rows, 0)
        if self.unseen_by_mask is not None and self.problem.mask is not None:
            asked = asked - self._lost(rows).toarray()[self.problem.mask]
        scores = self.reward[:, None] * self.problem.held_by_columns(rows, n_groups_of(rows))
        scores -= self.cost[:, None] * asked
        return scores

    def _near_columns(self, rows: IntArray) -> csr_array:
        """(q, T) the same where the column holds an element of the group: elsewhere it can only lose."""
        scores = csr_array(self.entries_by_column @ in_groups(rows, np.ones(rows.size)))
        column = stored_rows(scores)
        asked = self.problem.group_sizes(rows, 0)[scores.indices]
        if self.problem.mask is not None and self.unseen_by_mask is not None:
            asked = asked - values_at(self._lost(rows), self.problem.mask[column], scores.indices)
        scores.data = self.reward[column] * scores.data - self.cost[column] * asked
        return scores

    def gain_between_groups(self, columns: IntArray, rows: IntArray) -> FloatArray:
        """(T, T) gain of all columns of one group with all rows of another."""
        n_groups = n_groups_of(columns)
        if self._is_dense(self.n_columns, n_groups, self._stored_in(rows)):
            held = in_groups(columns, self.reward).T @ self.problem.held_by_columns(rows, n_groups)
            gains = held if self.unseen_by_mask is None else held + self._unasked(columns, rows).toarray()
        else:
            gains = self.near_groups(columns, rows).toarray()
        return np.asarray(gains - np.outer(self.asked(columns), self.problem.group_sizes(rows, n_groups)))

    def near_groups(self, columns: IntArray, rows: IntArray) -> csr_array:
        """(T, T) the same before what is asked, where a column of the one group holds a row of the other."""
        held = self.entries_by_column @ in_groups(rows, np.ones(rows.size), n_groups_of(columns))
        found = csr_array(in_groups(columns, self.reward).T @ held)
        return found if self.unseen_by_mask is None else csr_array(found + self._unasked(columns, rows))

    def asked(self, columns: IntArray) -> FloatArray:
        """(T,) what the columns of each group ask of a row that all of them saw."""
        inside = columns >= 0
        return sums_by(columns[inside], self.cost[inside], 0)

    def _unasked(self, columns: IntArray, rows: IntArray) -> csr_array:
        """(T, T) what the columns of one group do not ask of the rows of another, because they did not see them."""
        assert self.problem.mask is not None
        assert self.unseen_by_mask is not None
        by_mask = summed(in_groups(columns, self.cost), self.problem.mask, self.unseen_by_mask.shape[0])
        return csr_array(by_mask.T @ self._lost(rows, n_groups_of(columns)))

    def _lost(self, rows: IntArray, n_groups: int = 0) -> csr_array:
        """(v, T) elements of each group of rows that were not seen in each mask."""
        return csr_array(self.unseen_by_mask @ in_groups(rows, np.ones(rows.size), n_groups))

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
    used = np.zeros(n_groups_of(groups) + 1, bool)  # the last place is that of items in no group
    used[groups] = True
    number = np.cumsum(used) - 1
    number[-1] = -1
    return np.asarray(number[groups])


def first_of_each(marks: BoolArray) -> IntArray:
    """(r,) the first group that each row is marked in (T, r); 0 where it is marked in none."""
    n_groups = marks.shape[0]
    # the largest of falling ranks: many times quicker than argmax, which goes through rows one by one
    ranks = np.arange(n_groups, 0, -1, dtype=np.min_scalar_type(n_groups))
    largest = (marks * ranks[:, None]).max(axis=0).astype(np.int64)
    return np.where(largest > 0, n_groups - largest, 0)


def order_of_groups(groups: IntArray) -> IntArray:
    """(k,) items by their groups, those of one group in order; numbers of 16 bits are sorted without comparing."""
    return np.argsort(groups.astype(np.min_scalar_type(n_groups_of(groups))), kind="stable")


def n_groups_of(groups: IntArray) -> int:
    """Number of groups, numbered from 0."""
    return int(groups.max(initial=-1)) + 1


Step = Callable[[Votes, IntArray], IntArray]

N_STARTS = 6
"""Covers by single sources tried as starts; more of them rarely gained anything."""
LARGE = 1_000_000
"""Memberships of distinct rows above which fewer starts are tried, to keep the time in proportion."""
FEW_GROUPS = 500
"""Groups up to which a table of all pairs of them is quicker than that of the pairs that meet; estimated, for speed."""
SINGLE = 2**24
"""Whole numbers below this are exact in single precision."""
MAX_PAIRS = 4_000_000
"""Pairs of columns that are looked at together; a group of more than 2,000 columns is cut by its heaviest ones."""
PAIR_COST = 60
"""Steps of a dense product in the time in which one pair of entries is counted; estimated, for speed."""
SMALL_PRODUCT = 2_000_000
"""Steps of a dense product, a fifth of a millisecond, up to which pairs of entries are not counted. For speed."""
N_PEAKS = 1000
"""Most frequent rows that make a start of their own."""
FEW_PEAKS = 2
"""The same for each group that sources usually have, where that is more; covers start from what these rows miss."""
MOVES_BUDGET = 100_000_000
"""Rows x groups x columns up to which single columns are moved with their rows following."""


def optimise(problem: PreferenceMatrix, quorum: Fraction, start: Sequence[Block] | None = None) -> list[Block]:
    """Disjoint blocks of the largest total gain that the search finds, their number free.

    Parameters
    ----------
    problem : PreferenceMatrix
        Distinct rows (r,) and columns (q,) with multiplicities, weights and what was seen.
    quorum : Fraction
        Share of support theta in (0, 1) that a member needs.
    start : sequence of Block, optional
        An answer to start from as well; the result never gains less.

    Returns
    -------
    list of Block
        Largest gain first; ties by size, then by first row.

    Notes
    -----
    Maximises ``sum_t sum_{i in R_t, j in Q_t} s_i M_ij w_j (B_ij - theta)`` over disjoint row sets R_t and disjoint
    column sets Q_t. At theta = 1/2 and with everything seen this is the smallest L1 error of A against a sum of
    disjoint rank-one blocks (the sum that Algorithm 1 of the paper pursues greedily).

    Examples
    --------
    >>> from fractions import Fraction
    >>> import biconsensus as bc
    >>> from biconsensus.matrix._matrix import PreferenceMatrix
    >>> pool = bc.Pool.from_labels([[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1]])
    >>> [int(block.rows.sum()) for block in optimise(PreferenceMatrix.from_pool(pool), Fraction(1, 2))]
    [1, 2]
    """
    votes = Votes.at_quorum(problem, quorum)
    columns = search(votes, [] if start is None else [columns_of(start, votes.n_columns)])
    rows, _ = votes.best_rows(columns)
    gains = problem.group_gains(rows, columns, quorum)
    blocks = [Block(rows == t, columns == t, float(gains[t])) for t in np.unique(rows[rows >= 0])]
    return sorted(blocks, key=lambda b: (-comparable(b.gain), -problem.n_elements(b.rows), int(b.rows.argmax())))


def search(votes: Votes, starts: Iterable[IntArray] = ()) -> IntArray:
    """(q,) group of each column (-1: none) of the best answer grown from the given starts and from covers."""
    grown = [climb(votes, columns, (merged, divided)) for columns in (*starts, *covers(votes))]
    distinct = {value: columns for columns, value in grown}
    finished = [climb(votes, columns, (moved, merged, divided)) for columns in distinct.values()]
    return max(finished, key=lambda answer: answer[1])[0]


def climb(
    votes: Votes,
    columns: IntArray,
    steps: Sequence[Step],
    value: float | None = None,
    passed: set[float] | None = None,
) -> tuple[IntArray, float]:
    """Local optimum reached from a grouping of the columns by these steps, and its total gain (scaled).

    `value` is the gain of columns that alternating has brought to rest already. `passed` are gains that other climbs
    went through: one that meets such a gain ends there, because the way up from it is known. Those met here are added.
    """
    passed = set() if passed is None else passed
    if value is None:
        columns, value = votes.alternate(columns)
    tried: dict[Step, IntArray] = {}
    for _ in range(MAX_ROUNDS):
        before = value
        for step in steps:
            if tried.get(step) is columns:
                continue  # it gained nothing from here
            tried[step] = columns
            changed = step(votes, columns)
            if np.array_equal(changed, columns):
                continue  # settled already
            changed, total = votes.alternate(changed)
            if total > value:
                passed.add(value)
                columns, value = changed, total
                if value in passed:
                    return columns, value
        if value <= before:
            break
    passed.add(value)
    return columns, value


def covers(votes: Votes) -> Iterator[IntArray]:
    """Starts: the columns of one source after the other, what it leaves bare covered by the next."""
    yield votes.best_columns(peaks(votes))
    sources = votes.problem.backers.indices[votes.problem.backers.indptr[:-1]]
    n_sources = votes.problem.backers.shape[1]
    sizes = votes.entries_by_column.sum(axis=1)
    n_starts = N_STARTS if votes.entries.nnz <= LARGE else 2
    picks = np.unique(np.linspace(0, n_sources - 1, n_starts).astype(int))
    number = np.bincount(votes.problem.backers.indices, minlength=n_sources)
    for source in np.argsort(number, kind="stable")[picks]:
        mine = np.asarray(votes.problem.backers[:, [source]].toarray(), dtype=bool).ravel()
        order = np.lexsort((np.arange(votes.n_columns), -sizes, sources, ~mine))
        yield votes.best_columns(_covered(votes, order))


def _covered(votes: Votes, order: IntArray) -> IntArray:
    """(r,) the first column in this order that contains each row, numbered consecutively."""
    rank = np.empty(order.size, dtype=np.int64)
    rank[order] = np.arange(order.size)
    rows = np.full(votes.entries.shape[0], -1)
    filled = np.flatnonzero(np.diff(votes.entries.indptr))
    if filled.size:
        rows[filled] = np.minimum.reduceat(rank[votes.entries.indices], votes.entries.indptr[filled])
    return consecutive(rows)


def peaks(votes: Votes, of_a_group: int = FEW_PEAKS) -> IntArray:
    """(r,) the most frequent rows, each a group of its own; more of them where sources have very many groups."""
    rows = np.full(votes.entries.shape[0], -1)
    usual = int(np.median(np.bincount(votes.problem.backers.indices, minlength=votes.problem.backers.shape[1])))
    top = np.argsort(-votes.problem.counts, kind="stable")[: max(N_PEAKS, of_a_group * usual)]
    rows[np.sort(top)] = np.arange(top.size)
    return rows


def merged(votes: Votes, columns: IntArray) -> IntArray:
    """Groups joined while a pair gains by it, mutual best pairs first."""
    rows, _ = votes.best_rows(columns)
    n_groups = n_groups_of(columns)
    if n_groups < 2:
        return columns
    pairs = DensePairs(votes, columns, rows) if n_groups <= FEW_GROUPS else SparsePairs(votes, columns, rows)
    groups = np.arange(n_groups)
    while True:
        partner, best = pairs.best()
        first = np.flatnonzero((best > 0) & (partner[partner] == np.arange(best.size)))
        first = first[first < partner[first]]
        if first.size == 0:
            return np.where(columns >= 0, groups[columns], -1)
        onto = np.arange(best.size)
        onto[partner[first]] = first
        onto = np.unique(onto, return_inverse=True)[1]
        pairs.join(onto)
        groups = onto[groups]


class DensePairs:
    """What every two groups gain by being one: their columns with each other's rows."""

    def __init__(self, votes: Votes, columns: IntArray, rows: IntArray) -> None:
        gains = votes.gain_between_groups(columns, rows)
        self._gains = gains + gains.T
        np.fill_diagonal(self._gains, 0.0)

    def best(self) -> tuple[IntArray, FloatArray]:
        """(T,) and (T,) the partner that each group gains most with, and that gain; 0 where it only loses."""
        partner = self._gains.argmax(axis=1)
        return partner, self._gains[np.arange(partner.size), partner]

    def join(self, onto: IntArray) -> None:
        """Groups become those that they are put on; gains add up."""
        size = int(onto.max()) + 1
        by_row = np.zeros((size, onto.size))
        np.add.at(by_row, onto, self._gains)
        self._gains = np.zeros((size, size))
        np.add.at(self._gains.T, onto, by_row.T)
        np.fill_diagonal(self._gains, 0.0)


class SparsePairs:
    """The same for very many groups: only those that share an element can gain."""

    def __init__(self, votes: Votes, columns: IntArray, rows: IntArray) -> None:
        held = votes.near_groups(columns, rows)
        self._held = csr_array(held + held.T)
        self._asked, self._sizes = votes.asked(columns), votes.problem.group_sizes(rows, n_groups_of(columns))

    def best(self) -> tuple[IntArray, FloatArray]:
        """(T,) and (T,) the partner that each group gains most with, and that gain."""
        left, right = stored_rows(self._held), self._held.indices
        gains = self._held.copy()
        gains.data -= self._asked[left] * self._sizes[right] + self._asked[right] * self._sizes[left]
        gains.data[left == right] = -np.inf
        return top_in_rows(gains)

    def join(self, onto: IntArray) -> None:
        """Groups become those that they are put on; what they hold and ask adds up."""
        held = self._held.tocoo()
        size = int(onto.max()) + 1
        self._held = csr_array((held.data, (onto[held.row], onto[held.col])), shape=(size, size))
        self._held.sum_duplicates()
        self._asked, self._sizes = (sums_by(onto, part, size) for part in (self._asked, self._sizes))


def divided(votes: Votes, columns: IntArray) -> IntArray:
    """Each group cut in two by the one of its columns whose members and others gain most apart."""
    rows, _ = votes.best_rows(columns)
    last = votes.problem.last_pairs
    if not last or not (np.array_equal(last["rows"], rows) and np.array_equal(last["columns"], columns)):
        last.update(rows=rows.copy(), columns=columns.copy(), pairs=GroupPairs.of(votes.problem, rows, columns))
    pairs: GroupPairs | None = last["pairs"]  # neighbours on a path often have the same groups
    if pairs is None:
        return columns
    reward, cost = votes.reward[pairs.columns], votes.cost[pairs.columns]
    j, k, size = pairs.left, pairs.right, pairs.sizes[pairs.group]
    near = reward[j] * pairs.shared - cost[j] * pairs.held[k]
    far = reward[j] * (pairs.held[j] - pairs.shared) - cost[j] * (size - pairs.held)[k]
    value = sums_by(k, np.maximum(np.maximum(near, far), 0.0), pairs.columns.size)
    top = np.maximum.reduceat(value, pairs.starts)
    whole = sums_by(pairs.group, reward * pairs.held - cost * size, pairs.starts.size)
    # of equal cuts the first, which is that by the heaviest column
    candidates = np.flatnonzero(value == top[pairs.group])
    cut_by = candidates[np.unique(pairs.group[candidates], return_index=True)[1]]
    gains = top > whole
    chosen = (k == cut_by[pairs.group[k]]) & gains[pairs.group[k]] & (far > near)
    result, fresh = columns.copy(), n_groups_of(columns) + np.cumsum(gains) - 1
    result[pairs.columns[j[chosen]]] = fresh[pairs.group[j[chosen]]]
    return result


@dataclass(frozen=True)
class GroupPairs:
    """Elements that two columns of one group share within its rows, for all groups side by side."""

    columns: IntArray
    """(k,) columns of the groups that have two columns and two rows, group by group."""
    group: IntArray
    """(k,) the group of each of them, counted from 0."""
    starts: IntArray
    """(T,) the first column of each group."""
    sizes: FloatArray
    """(T,) elements of each group."""
    held: FloatArray
    """(k,) elements of its group that each column holds."""
    left: IntArray
    """(p,) one column of each pair."""
    right: IntArray
    """(p,) the other column of each pair; one of the heaviest where a group has very many columns."""
    shared: FloatArray
    """(p,) the elements that the two columns share."""

    @classmethod
    def of(cls, problem: PreferenceMatrix, rows: IntArray, columns: IntArray) -> GroupPairs | None:
        """Count them; None where no group could be cut."""
        n_groups = n_groups_of(columns)
        n_columns = np.bincount(columns[columns >= 0], minlength=n_groups)
        n_rows = np.bincount(rows[rows >= 0], minlength=n_groups)
        cut = (n_columns > 1) & (n_rows > 1)
        if not cut.any():
            return None
        # the last place: rows and columns in no group
        number = np.append(np.where(cut, np.cumsum(cut) - 1, -1), -1)
        rows, columns, n_columns, n_rows = number[rows], number[columns], n_columns[cut], n_rows[cut]
        members = np.flatnonzero(columns >= 0)
        members = members[order_of_groups(columns[members])]
        group = columns[members]
        starts = np.cumsum(n_columns) - n_columns
        # a group of very many columns is cut by its heaviest, which come first
        width = np.minimum(n_columns, np.maximum(MAX_PAIRS // n_columns, 1))
        first = np.cumsum(width[group]) - width[group]
        left = np.repeat(np.arange(members.size), width[group])
        right = np.arange(left.size) - first[left] + starts[group[left]]
        within = np.zeros(problem.shape[1], np.int64)
        within[members] = np.arange(members.size) - starts[group]
        of_row = np.take(rows, problem.row_of_entry)
        inside = np.take(np.where(columns >= 0, columns, -2), problem.entries.indices) == of_row
        n_steps = n_rows * n_columns * width
        by_product = n_steps <= SMALL_PRODUCT
        if not by_product.all():
            in_row = sums_by(problem.row_of_entry, inside, rows.size)
            in_a_group = rows >= 0
            by_product |= sums_by(rows[in_a_group], in_row[in_a_group] ** 2, n_rows.size) * PAIR_COST > n_steps
        by_product = np.append(by_product, False)
        # one dense table for each such group, one after the other; what is in other groups goes behind the last
        ordered = np.flatnonzero(by_product[rows])
        ordered = ordered[order_of_groups(rows[ordered])]
        lengths = n_columns[rows[ordered]]
        begins = np.zeros(rows.size, np.int64)
        begins[ordered] = np.cumsum(lengths) - lengths
        end = int(lengths.sum())
        place = np.take(begins, problem.row_of_entry)
        place += np.take(within, problem.entries.indices)
        in_tables = inside if by_product[:-1].all() else inside & by_product[of_row]
        # whole numbers below 2^24 are exact in single precision, in which products take half the time
        total = int(problem.counts.sum())
        number_type: type[np.floating[Any]] = np.float32 if problem.binary and total < SINGLE else np.float64
        tables: NDArray[Any] = np.zeros(end + 1, number_type)
        tables[np.where(in_tables, place, end)] = 1 if problem.binary else problem.entries.data
        weighted = tables[:-1] * np.repeat(problem.counts[ordered].astype(number_type), lengths)
        products: NDArray[Any] = np.zeros(left.size, number_type)
        begin = 0
        for t in np.flatnonzero(by_product).tolist():
            shape, at = (n_rows[t], n_columns[t]), first[starts[t]]
            part = slice(begin, begin := begin + shape[0] * shape[1])
            found = products[at : at + shape[1] * width[t]].reshape(shape[1], width[t])
            np.matmul(weighted[part].reshape(shape).T, tables[part].reshape(shape)[:, : width[t]], out=found)
        shared = products.astype(np.float64)
        rest = np.flatnonzero(inside & ~in_tables)
        if rest.size:
            row, column = problem.row_of_entry[rest], starts[of_row[rest]] + within[problem.entries.indices[rest]]
            values = np.ones(rest.size) if problem.binary else problem.entries.data[rest]
            heavy, size = within[members][column] < width[of_row[rest]], (rows.size, members.size)
            ends = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=rows.size))])
            amount = csr_array((problem.amounts[rest], column, ends), shape=size)
            heavy_ends = np.concatenate([[0], np.cumsum(np.bincount(row[heavy], minlength=rows.size))])
            value = csr_array((values[heavy], column[heavy], heavy_ends), shape=size)
            both = csr_array(amount.T @ value)
            shared[first[stored_rows(both)] + within[members][both.indices]] = both.data
        light = within[members] >= width[group]
        held = shared[np.where(light, 0, first + within[members])]
        if light.any():
            column = starts[of_row[inside]] + within[problem.entries.indices[inside]]
            values = 1.0 if problem.binary else problem.entries.data[inside]
            held[light] = sums_by(column, problem.amounts[inside] * values, members.size)[light]
        return cls(members, group, starts, problem.group_sizes(rows, n_rows.size), held, left, right, shared)


def moved(votes: Votes, columns: IntArray) -> IntArray:
    """Single columns moved to where the total gain is largest once every row has followed."""
    n_rows, n_groups = votes.entries.shape[0], int(columns.max(initial=-1)) + 2
    if n_rows * n_groups * votes.n_columns > MOVES_BUDGET:
        return columns
    columns = columns.copy()
    counts = votes.problem.counts.astype(np.float64)
    scores = np.column_stack([votes.row_scores(columns).T, np.zeros((n_rows, 2))])
    by_column = votes.problem.by_column
    for j in range(votes.n_columns):
        vote = np.full(n_rows, -votes.cost[j])
        if votes.problem.unseen is not None and votes.problem.mask is not None:
            vote[votes.problem.unseen[:, [votes.problem.mask[j]]].toarray().ravel() > 0] = 0.0
        mine = slice(by_column.indptr[j], by_column.indptr[j + 1])
        vote[by_column.indices[mine]] += votes.reward[j] * by_column.data[mine]
        home = columns[j]
        if home >= 0:
            scores[:, home] -= vote
        # the last column of `scores` is the row in no group; the one before it is a group of its own
        top = scores.argmax(axis=1)
        first = scores[np.arange(n_rows), top]
        rest = scores.copy()
        rest[np.arange(n_rows), top] = -np.inf
        second = rest.max(axis=1)
        others = np.where(top[:, None] == np.arange(n_groups), second[:, None], first[:, None])
        totals = counts @ np.maximum(others, scores[:, :-1] + vote[:, None])
        best = int(totals.argmax())
        if home >= 0 and totals[home] >= totals[best]:
            best = int(home)
        if totals[best] <= counts @ first:
            columns[j] = -1
            continue
        columns[j] = best
        scores[:, best] += vote
        if best == n_groups - 1:
            scores = np.column_stack([scores, np.zeros(n_rows)])
            n_groups += 1
    return consecutive(columns)


def columns_of(blocks: Sequence[Block], n_columns: int) -> IntArray:
    """(q,) number of the block that holds each column, the last of several, -1 for none."""
    if isinstance(blocks, Blocks):
        return blocks.columns.copy()
    return _numbered([block.columns for block in blocks], n_columns)


def rows_of(blocks: Sequence[Block], n_rows: int) -> IntArray:
    """(r,) number of the block that holds each row, the last of several, -1 for none."""
    if isinstance(blocks, Blocks):
        return blocks.rows.copy()
    return _numbered([block.rows for block in blocks], n_rows)


def _numbered(masks: Sequence[BoolArray], size: int) -> IntArray:
    """(size,) number of the last mask that holds each place, -1 for none."""
    numbers = np.full(size, -1)
    for t, mask in enumerate(masks):
        numbers[mask] = t
    return numbers
