"""Groups at one quorum of the path: found, finished, joined to fewer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from biconsensus.bipartite import Votes
from biconsensus.core.pool import TRIVIAL_SHARE
from biconsensus.core.preference import PreferenceMatrix
from biconsensus.granularity import certainty, contrast, members_of, nearest, relation, spread
from biconsensus.joint import climb, divided, merged, peaks
from biconsensus.protocols import Block, BoolArray, FloatArray, IntArray
from biconsensus.walk import retention, walk_groups

NARROW = 0.4
"""Spread of the sources' granularity (standard deviation of log effective number of groups) below which they agree."""
SAME_GROUP = 0.75
"""Jaccard index above which groups of neighbouring places are one group that lives on."""


@dataclass(frozen=True)
class Cut:
    """The groups at one quorum."""

    quorum: Fraction
    blocks: tuple[Block, ...]
    """Groups of the minimum sizes, largest gain first."""
    labels: IntArray
    """(r,) group of each distinct row, left-overs with the nearest group; -1 where no group's candidates hold it."""
    columns: IntArray
    """(q,) group of each column before small groups were left out; where the next search starts."""
    score: float
    """How well the groups fit the pool; larger is better."""
    retention: float = 0.0
    """Share of a random walk over elements and candidates that stays in its group, summed over the groups."""

    def __len__(self) -> int:
        """Number of groups."""
        return len(self.blocks)


@dataclass(frozen=True)
class Judge:
    """What the score of a grouping is made of; the weights were found by experiment (see the page on the quorum)."""

    plain: FloatArray
    """(q,) weights of the columns without certainty, zero for trivial ones."""
    recall: float
    precision: float
    difference: float
    silhouette: float
    retention: float

    @classmethod
    def of(cls, problem: PreferenceMatrix) -> Judge:
        """Judge for a pool: sources of one granularity can be met as they are, others only in what they share."""
        plain = np.where(useful(problem), problem.weights, 0.0)
        if spread(replace(problem, weights=plain)) < NARROW:
            return cls(plain, recall=1.0, precision=0.5, difference=2.0, silhouette=0.0, retention=0.0)
        return cls(plain, recall=1.0, precision=0.0, difference=0.0, silhouette=1.0, retention=4.0)

    def score(self, problem: PreferenceMatrix, labels: IntArray, kept: float) -> float:
        """Score of a grouping of the rows; `kept` is its retention."""
        n_groups = int(labels.max(initial=-1)) + 1
        if n_groups < 2:
            return 0.0
        recall, precision = relation(problem, labels)
        difference, silhouette = contrast(problem, labels, self.plain)
        return (
            self.recall * recall
            + self.precision * precision
            + self.difference * difference
            + self.silhouette * silhouette
            + self.retention * (kept - 1.0) / (n_groups - 1.0)
        )


def useful(problem: PreferenceMatrix) -> BoolArray:
    """(q,) columns that are neither empty nor hold nearly all that their source saw."""
    sizes = problem.counts @ problem.entries
    seen = np.full(sizes.size, float(problem.counts.sum()))
    if problem.unseen is not None and problem.view is not None:
        seen -= (problem.counts @ problem.unseen.astype(np.float64))[problem.view]
    found: BoolArray = (sizes > 0) & (sizes < TRIVIAL_SHARE * seen)
    return found


def weighted(problem: PreferenceMatrix) -> PreferenceMatrix:
    """The same problem, candidates weighted by certainty, trivial ones by zero."""
    return replace(problem, weights=np.where(useful(problem), problem.weights * certainty(problem), 0.0))


def cut_at(
    problem: PreferenceMatrix, quorum: Fraction, start: IntArray | None, sizes: tuple[int, int], judge: Judge
) -> Cut:
    """Groups at one quorum, grown from a start and from the most frequent rows."""
    votes = Votes.at_quorum(problem, quorum)
    starts = [votes.best_columns(peaks(votes))] + ([] if start is None else [start])
    columns = max((climb(votes, s, (merged, divided)) for s in starts), key=lambda answer: answer[1])[0]
    rows, _ = votes.best_rows(columns)
    blocks = []
    for t in range(int(columns.max(initial=-1)) + 1):
        of_rows, of_columns = rows == t, columns == t
        if problem.n_elements(of_rows) >= sizes[0] and problem.n_sources(of_columns) >= sizes[1]:
            blocks.append(Block(of_rows, of_columns, problem.gain(of_rows, of_columns, quorum)))
    return finished(problem, quorum, blocks, columns, judge)


def finished(problem: PreferenceMatrix, quorum: Fraction, blocks: list[Block], columns: IntArray, judge: Judge) -> Cut:
    """Order the groups, give left-overs to the nearest, and score."""
    blocks = sorted(blocks, key=lambda b: (-b.gain, int(b.rows.argmax())))
    labels = nearest(problem, blocks)
    kept = retention(problem, labels)
    return Cut(quorum, tuple(blocks), labels, columns, judge.score(problem, labels, kept), kept)


def best_cut(cuts: Sequence[Cut]) -> Cut:
    """The cut of the largest score; ties go to the quorum nearest to a majority."""
    return max(cuts, key=lambda cut: (round(cut.score, 12), -abs(np.log(2 * float(cut.quorum)))))


def joined(problem: PreferenceMatrix, cut: Cut, n_groups: int, judge: Judge) -> Cut:
    """Join the two groups whose elements are together most often, on average, until so many are left."""
    blocks = list(cut.blocks)
    shape = (problem.shape[0], len(blocks))
    members = np.zeros(shape)
    for t, block in enumerate(blocks):
        members[block.rows, t] = problem.counts[block.rows]
    held, sizes = problem.entries.T @ members, members.sum(axis=0)
    while len(blocks) > n_groups:
        together = (held * problem.weights[:, None]).T @ held / np.outer(sizes, sizes)
        np.fill_diagonal(together, -1.0)
        a, b = sorted(divmod(int(together.argmax()), len(blocks)))
        rows, columns = blocks[a].rows | blocks[b].rows, blocks[a].columns | blocks[b].columns
        blocks[a] = Block(rows, columns, problem.gain(rows, columns, cut.quorum))
        del blocks[b]
        held[:, a] += held[:, b]
        sizes[a] += sizes[b]
        held, sizes = np.delete(held, b, axis=1), np.delete(sizes, b)
    return finished(problem, cut.quorum, blocks, cut.columns, judge)


def walked(problem: PreferenceMatrix, quorum: Fraction, n_groups: int, judge: Judge) -> Cut | None:
    """So many groups straight from the random walk, with the columns that hold them most; None if these run out."""
    labels = walk_groups(problem.entries, problem.counts, problem.weights, n_groups)
    members = members_of(problem, labels)
    held = problem.entries.T @ members
    held[problem.weights <= 0] = 0.0
    columns = np.where(held.max(axis=1) > 0, held.argmax(axis=1), -1)
    alike = held**2 / np.maximum(np.outer(problem.counts @ problem.entries, members.sum(axis=0)), 1.0)
    for t in range(members.shape[1]):
        owned = np.bincount(columns + 1, minlength=n_groups + 1)[1:]
        if owned[t] == 0:
            spare = (columns >= 0) & (owned[columns] > 1)
            if not spare.any():
                return None
            columns[np.where(spare, alike[:, t], -1.0).argmax()] = t
    blocks = [Block(labels == t, columns == t, 0.0) for t in range(members.shape[1])]
    blocks = [replace(block, gain=problem.gain(block.rows, block.columns, quorum)) for block in blocks]
    return finished(problem, quorum, blocks, columns, judge)


def large(problem: PreferenceMatrix, cut: Cut, min_elements: int, min_candidates: int) -> bool:
    """Whether every group of a cut has the minimum sizes."""
    return all(
        problem.n_elements(block.rows) >= min_elements and problem.n_sources(block.columns) >= min_candidates
        for block in cut.blocks
    )


def successors(problem: PreferenceMatrix, here: Cut, there: Cut) -> IntArray:
    """(T,) the group of the next place that is the same group, -1 for none."""
    found = np.full(len(here), -1)
    for t, block in enumerate(here.blocks):
        for u, other in enumerate(there.blocks):
            both = problem.n_elements(block.rows & other.rows)
            if both >= SAME_GROUP * problem.n_elements(block.rows | other.rows):
                found[t] = u
    return found
