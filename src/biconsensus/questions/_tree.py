"""A tree over the rows of a consensus, in which its groups are branches.

Inside each group, and then between the groups, what most sources put together is joined first (average linkage on the
share of the sources that do). A consensus is one cut of the tree; an answer of a person speaks for a cut at another
place.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.cluster.hierarchy import linkage
from scipy.sparse import csr_array
from scipy.spatial.distance import squareform

from biconsensus.matrix._condensed import draw_rows
from biconsensus.matrix._matrix import PreferenceMatrix
from biconsensus.pool._pool import Pool
from biconsensus.protocols import BoolArray, FloatArray, IntArray
from biconsensus.result._consensus import Consensus

SAMPLE_ROWS = 1_000
"""Rows that the tree is made of where there are many more: pairs of 2,000 rows are compared in a few tenths of a
second, and a group that matters has tens of them."""
ROWS_AT_ONCE = 2_048
"""Rows that are compared with those of the tree at a time: bounds memory, not the answer."""


@dataclass(frozen=True, eq=False)
class RowTree:
    """Branches over rows: numbers below k are rows, the others joints of two branches, in the order of joining."""

    pool: Pool
    rows: IntArray
    """(k,) distinct rows of the pool that the tree is made of; the other rows go with the nearest of them."""
    counts: FloatArray
    """(k,) elements that each of them stands for."""
    groups: IntArray
    """(r,) the group of every distinct row of the pool in the consensus, -1 for none."""
    children: IntArray
    """(j, 2) the two branches that each joint joins."""
    together: FloatArray
    """(j,) mean share of the sources that put a pair across the joint together."""
    inside: BoolArray
    """(j,) whether the joint is inside a group of the consensus; the others join groups."""
    share: FloatArray
    """(k, k) share of the sources that put each pair of the rows together."""

    @classmethod
    def of(cls, consensus: Consensus) -> RowTree:
        """The tree of a consensus; rows in no group take no part."""
        pool, labels = consensus.pool, consensus.labels
        groups = labels[first_of_rows(pool)]
        drawn = draw_rows(PreferenceMatrix.from_pool(pool), SAMPLE_ROWS)
        rows = np.arange(groups.size) if drawn is None else drawn.rows
        counts = np.asarray(pool.counts if drawn is None else drawn.counts, np.float64)
        rows, counts = rows[groups[rows] >= 0], counts[groups[rows] >= 0]
        share = shared_share(pool, rows, rows)
        own = groups[rows]
        children: list[tuple[int, int]] = []
        together: list[float] = []
        tops = []
        for group in np.unique(own):
            part = np.flatnonzero(own == group)
            tops.append(_join(share[np.ix_(part, part)], part.tolist(), rows.size, children, together))
        n_inside = len(children)
        weight = np.zeros((rows.size, len(tops)))
        weight[np.arange(rows.size), np.searchsorted(np.unique(own), own)] = counts
        weight /= np.maximum(weight.sum(axis=0), 1e-300)
        _join(weight.T @ share @ weight, tops, rows.size, children, together)
        joints = np.array(children, np.int64).reshape(-1, 2)
        inside = np.arange(len(children)) < n_inside
        return cls(pool, rows, counts, groups, joints, np.array(together), inside, share)

    @cached_property
    def parent(self) -> IntArray:
        """(k + j,) the joint above each branch, -1 above the whole."""
        found = np.full(self.rows.size + len(self.children), -1)
        found[self.children.ravel()] = np.repeat(np.arange(len(self.children)) + self.rows.size, 2)
        return found

    @cached_property
    def sizes(self) -> FloatArray:
        """(k + j,) elements of each branch."""
        found = np.concatenate([self.counts, np.zeros(len(self.children))])
        for joint, (a, b) in enumerate(self.children, start=self.rows.size):
            found[joint] = found[a] + found[b]
        return found

    @cached_property
    def _order(self) -> tuple[IntArray, IntArray]:
        """Rows so that every branch is a range of them, and (k + j, 2) the ranges."""
        k = self.rows.size
        spans = np.zeros((k + len(self.children), 2), np.int64)
        length = np.concatenate([np.ones(k, np.int64), np.zeros(len(self.children), np.int64)])
        for joint, (a, b) in enumerate(self.children, start=k):
            length[joint] = length[a] + length[b]
        start = 0
        for branch in range(spans.shape[0] - 1, -1, -1):
            if self.parent[branch] < 0:
                spans[branch] = start, start + length[branch]
                start += int(length[branch])
            if branch >= k:
                a, b = self.children[branch - k]
                low, high = spans[branch]
                spans[a], spans[b] = (low, low + length[a]), (low + length[a], high)
        order = np.empty(k, np.int64)
        order[spans[:k, 0]] = np.arange(k)
        return order, spans

    def members(self, branch: int) -> IntArray:
        """Rows of the tree in a branch."""
        order, spans = self._order
        return order[spans[branch, 0] : spans[branch, 1]]

    def typical(self, members: IntArray) -> IntArray:
        """Rows of the tree, those that most sources put together with the others first."""
        held = self.share[np.ix_(members, members)] @ self.counts[members]
        return members[np.argsort(-held, kind="stable")]

    def leaves_of(self, rows: IntArray) -> IntArray:
        """The row of the tree that goes with each distinct row of the pool: itself, or the nearest of its group."""
        place = np.full(self.groups.size, -1)
        place[self.rows] = np.arange(self.rows.size)
        found = place[rows]
        own = self.groups[self.rows]
        for group in np.unique(self.groups[rows[found < 0]]):
            wanted = np.flatnonzero((found < 0) & (self.groups[rows] == group))
            near = np.flatnonzero(own == group)
            for start in range(0, wanted.size if near.size else 0, ROWS_AT_ONCE):
                some = wanted[start : start + ROWS_AT_ONCE]
                found[some] = near[shared_share(self.pool, rows[some], self.rows[near]).argmax(axis=1)]
        return found

    def joint_of(self, one: int, other: int) -> int:
        """The joint at which two different rows of the tree meet, counted from 0; -1 where they never do."""
        above = set()
        branch = one
        while branch >= 0:
            above.add(branch)
            branch = int(self.parent[branch])
        branch = other
        while branch >= 0 and branch not in above:
            branch = int(self.parent[branch])
        return branch - self.rows.size if branch >= 0 else -1


def _join(
    share: FloatArray, branches: list[int], n_rows: int, children: list[tuple[int, int]], together: list[float]
) -> int:
    """Join branches by average linkage, write down the joints, and return the last one."""
    if len(branches) == 1:
        return branches[0]
    apart = np.maximum(1.0 - (share + share.T) / 2, 0.0)
    np.fill_diagonal(apart, 0.0)
    branches = list(branches)
    for a, b, distance, _ in linkage(squareform(apart, checks=False), "average"):
        branches.append(n_rows + len(children))
        children.append((branches[int(a)], branches[int(b)]))
        together.append(1.0 - float(distance))
    return branches[-1]


def shared_share(pool: Pool, rows: IntArray, others: IntArray) -> FloatArray:
    """(k, l) share of the sources that put each pair of distinct rows together, of those that saw both."""
    held = csr_array((pool.rows != 0).astype(np.float64)) if not pool.binary else pool.rows
    found = (held[rows].astype(np.float64) @ held[others].astype(np.float64).T).toarray()
    seen = np.full(found.shape, float(len(pool.sources)))
    if pool.unseen is not None and pool.mask_of is not None:
        mask = pool.mask_of_source
        seen = (~pool.unseen[rows].toarray()[:, mask]).astype(float) @ (~pool.unseen[others].toarray()[:, mask]).T
    return np.asarray(np.minimum(found / np.maximum(seen, 1.0), 1.0))


def first_of_rows(pool: Pool) -> IntArray:
    """(r,) the first element of each distinct row."""
    first = np.empty(pool.rows.shape[0], np.int64)
    first[pool.inverse[::-1]] = np.arange(pool.inverse.size)[::-1]
    return first
