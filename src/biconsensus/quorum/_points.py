"""Groups at one quorum of the path: found, finished, joined to fewer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise

import numpy as np

from biconsensus.matrix._matrix import PreferenceMatrix
from biconsensus.methods._joint import climb, divided, merged, peaks
from biconsensus.methods._votes import Votes
from biconsensus.protocols import Block, FloatArray, IntArray, comparable
from biconsensus.quorum._measures import members_of, nearest
from biconsensus.quorum._score import Fit, Judge
from biconsensus.quorum._walk import walk_groups

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
    fit: Fit
    """How well the groups fit the pool."""

    def __len__(self) -> int:
        """Number of groups."""
        return len(self.blocks)


def cut_at(judge: Judge, quorum: Fraction, start: IntArray | None, sizes: tuple[int, int]) -> Cut:
    """Groups at one quorum, grown from a start and from the most frequent rows."""
    problem = judge.problem
    votes = Votes.at_quorum(problem, quorum)
    starts = ([] if start is None else [start]) + [votes.best_columns(peaks(votes))]
    found: dict[float, IntArray] = {}
    for columns, value in map(votes.settle, starts):
        if value not in found:  # else this way up was gone before
            best, gain = climb(votes, columns, (merged, divided))
            found.setdefault(gain, best)
    columns = found[max(found)]
    rows, _ = votes.best_rows(columns)
    blocks = []
    for t in range(int(columns.max(initial=-1)) + 1):
        of_rows, of_columns = rows == t, columns == t
        if problem.n_elements(of_rows) >= sizes[0] and problem.n_sources(of_columns) >= sizes[1]:
            blocks.append(Block(of_rows, of_columns, problem.gain(of_rows, of_columns, quorum)))
    return finished(judge, quorum, blocks, columns)


def finished(judge: Judge, quorum: Fraction, blocks: list[Block], columns: IntArray) -> Cut:
    """Order the groups, give left-overs to the nearest, and see how they fit."""
    blocks = sorted(blocks, key=lambda b: (-comparable(b.gain), int(b.rows.argmax())))
    labels = nearest(judge.problem, blocks)
    return Cut(quorum, tuple(blocks), labels, columns, judge.fit(labels))


def best_cut(cuts: Sequence[Cut], score: Callable[[Cut], float]) -> Cut:
    """The cut of the largest score; ties go to the quorum nearest to a majority."""
    return max(cuts, key=lambda cut: (round(score(cut), 12), -abs(np.log(2 * float(cut.quorum)))))


def joined(judge: Judge, cut: Cut, n_groups: int) -> Cut:
    """Join the two groups whose elements are together most often, on average, until so many are left."""
    problem = judge.problem
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
    return finished(judge, cut.quorum, blocks, cut.columns)


def walked(judge: Judge, quorum: Fraction, n_groups: int) -> Cut | None:
    """So many groups straight from the random walk, with the columns that hold them most; None if these run out."""
    problem = judge.problem
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
    return finished(judge, quorum, blocks, columns)


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


def lifetimes(problem: PreferenceMatrix, cuts: Sequence[Cut]) -> list[FloatArray]:
    """For each cut of a path, the range of log quorum over which each of its groups lives on in its neighbours."""
    steps = -np.diff(np.log([float(cut.quorum) for cut in cuts]))
    links = [successors(problem, a, b) for a, b in pairwise(cuts)]
    back = [np.zeros(len(cut)) for cut in cuts]
    ahead = [np.zeros(len(cut)) for cut in cuts]
    for k, (step, link) in enumerate(zip(steps, links, strict=True)):
        kept = np.flatnonzero(link >= 0)
        back[k + 1][link[kept]] = back[k][kept] + step
    for k in range(len(links) - 1, -1, -1):
        kept = np.flatnonzero(links[k] >= 0)
        ahead[k][kept] = ahead[k + 1][links[k][kept]] + steps[k]
    return [a + b for a, b in zip(ahead, back, strict=True)]
