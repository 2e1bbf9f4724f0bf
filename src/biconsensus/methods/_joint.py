"""All groups at once: the constant Potts model on the bipartite graph of elements and candidates.

Given the columns of every group, the best group of each row is exact and costs one sparse product; given the rows, so
is that of each column. The search alternates the two, merges and splits whole groups, moves single columns with the
rows following, and does so from several starts; nothing is drawn at random.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction

import numpy as np

from biconsensus.matrix._matrix import PreferenceMatrix
from biconsensus.methods._votes import MAX_ROUNDS, Votes, consecutive
from biconsensus.protocols import Block, IntArray, comparable

Step = Callable[[Votes, IntArray], IntArray]

N_STARTS = 6
"""Covers by single sources tried as starts; more of them rarely gained anything."""
LARGE = 1_000_000
"""Memberships of distinct rows above which fewer starts are tried, to keep the time in proportion."""
N_PEAKS = 1000
"""Most frequent rows that make a start of their own."""
MOVES_BUDGET = 100_000_000
"""Rows x groups x columns up to which single columns are moved with their rows following."""


def optimise(problem: PreferenceMatrix, quorum: Fraction, start: list[Block] | None = None) -> list[Block]:
    """Disjoint blocks of the largest total gain that the search finds, their number free.

    Parameters
    ----------
    problem : PreferenceMatrix
        Distinct rows (r,) and columns (q,) with multiplicities, weights and what was seen.
    quorum : Fraction
        Share of support theta in (0, 1) that a member needs.
    start : list of Block, optional
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
    columns = search(votes, [] if start is None else [_columns_of(start, votes.n_columns)])
    rows, _ = votes.best_rows(columns)
    groups = np.unique(rows[rows >= 0])
    blocks = [Block(rows == t, columns == t, problem.gain(rows == t, columns == t, quorum)) for t in groups]
    return sorted(blocks, key=lambda b: (-comparable(b.gain), -problem.n_elements(b.rows), int(b.rows.argmax())))


def search(votes: Votes, starts: Iterable[IntArray] = ()) -> IntArray:
    """(q,) group of each column (-1: none) of the best answer grown from the given starts and from covers."""
    grown = [climb(votes, columns, (merged, divided)) for columns in (*starts, *covers(votes))]
    distinct = {value: columns for columns, value in grown}
    finished = [climb(votes, columns, (moved, merged, divided)) for columns in distinct.values()]
    return max(finished, key=lambda answer: answer[1])[0]


def climb(votes: Votes, columns: IntArray, steps: Sequence[Step]) -> tuple[IntArray, float]:
    """Local optimum reached from a grouping of the columns by these steps, and its total gain (scaled)."""
    columns, value = votes.alternate(columns)
    for _ in range(MAX_ROUNDS):
        before = value
        for step in steps:
            changed = step(votes, columns)
            if np.array_equal(changed, columns):
                continue  # settled already
            changed, total = votes.alternate(changed)
            if total > value:
                columns, value = changed, total
        if value <= before:
            break
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


def peaks(votes: Votes) -> IntArray:
    """(r,) the most frequent rows, each a group of its own."""
    rows = np.full(votes.entries.shape[0], -1)
    top = np.argsort(-votes.problem.counts, kind="stable")[:N_PEAKS]
    rows[np.sort(top)] = np.arange(top.size)
    return rows


def merged(votes: Votes, columns: IntArray) -> IntArray:
    """Groups joined while a pair gains by it, mutual best pairs first."""
    rows, _ = votes.best_rows(columns)
    n_groups = int(columns.max(initial=-1)) + 1
    if n_groups < 2:
        return columns
    cross = votes.gain_between_groups(columns, rows)
    groups = np.arange(n_groups)
    while True:
        joint = cross + cross.T
        np.fill_diagonal(joint, 0.0)
        partner, best = joint.argmax(axis=1), joint.max(axis=1)
        pairs = np.flatnonzero((best > 0) & (partner[partner] == np.arange(best.size)))
        if pairs.size == 0:
            break
        onto = np.arange(best.size)
        onto[pairs] = np.minimum(pairs, partner[pairs])
        onto = np.unique(onto, return_inverse=True)[1]
        fold = np.zeros((onto.max() + 1, onto.size))
        fold[onto, np.arange(onto.size)] = 1.0
        cross, groups = fold @ cross @ fold.T, onto[groups]
    return np.where(columns >= 0, groups[columns], -1)


def divided(votes: Votes, columns: IntArray) -> IntArray:
    """Each group cut in two by the one of its columns whose members and others gain most apart."""
    rows, _ = votes.best_rows(columns)
    n_groups = int(columns.max(initial=-1)) + 1
    result, fresh = columns.copy(), n_groups
    for t in range(n_groups):
        of_group, members = np.flatnonzero(columns == t), np.flatnonzero(rows == t)
        if of_group.size < 2 or members.size < 2:
            continue
        shared = votes.overlaps(members, of_group)
        held, size = shared.diagonal(), votes.problem.counts[members].sum()
        reward, cost = votes.reward[of_group][:, None], votes.cost[of_group][:, None]
        near = reward * shared - cost * held
        far = reward * (held[:, None] - shared) - cost * (size - held)
        value = np.maximum(np.maximum(near, far), 0.0).sum(axis=0)
        best = int(value.argmax())
        if value[best] > (reward[:, 0] * held - cost[:, 0] * size).sum():
            result[of_group[far[:, best] > near[:, best]]] = fresh
            fresh += 1
    return result


def moved(votes: Votes, columns: IntArray) -> IntArray:
    """Single columns moved to where the total gain is largest once every row has followed."""
    n_rows, n_groups = votes.entries.shape[0], int(columns.max(initial=-1)) + 2
    if n_rows * n_groups * votes.n_columns > MOVES_BUDGET:
        return columns
    columns = columns.copy()
    counts = votes.problem.counts.astype(np.float64)
    scores = np.column_stack([votes.row_scores(columns), np.zeros((n_rows, 2))])
    by_column = votes.problem.by_column
    for j in range(votes.n_columns):
        vote = np.full(n_rows, -votes.cost[j])
        if votes.problem.unseen is not None and votes.problem.view is not None:
            vote[votes.problem.unseen[:, [votes.problem.view[j]]].toarray().ravel() > 0] = 0.0
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


def _columns_of(blocks: list[Block], n_columns: int) -> IntArray:
    """(q,) number of the block that holds each column, -1 for none."""
    columns = np.full(n_columns, -1)
    for t, block in enumerate(blocks):
        columns[block.columns] = t
    return columns
