"""The groupings along the quorum path that a consensus was chosen from, kept with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biconsensus._words import counted
from biconsensus.errors import InputError
from biconsensus.matrix._groups import Blocks
from biconsensus.methods._joint import columns_of
from biconsensus.protocols import Block, Evidence, FloatArray
from biconsensus.quorum._path import PathPoint, QuorumPath
from biconsensus.quorum._score import nearest

SmallIntArray = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class PathGroups:
    """The groups at one point of the path."""

    quorum: float
    score: float
    """How well the groups fit the pool; larger is better."""
    evidence: float
    """What the data says for the whole grouping; NaN where there was no data to ask."""
    objective: float
    """Loss of the reconstruction."""
    rows: SmallIntArray
    """(r,) group of each row of the members of the consensus, as found; -1 for none."""
    columns: SmallIntArray
    """(n,) the group that each candidate of the pool backs, -1 for none."""
    gains: FloatArray
    """(T,) gain of each group, largest first."""
    significance: FloatArray | None = None
    """(T,) base-10 logarithm of the chance of each group, where there was data to ask."""
    placed: SmallIntArray | None = None
    """(m,) group of each element, where the data placed some that no candidate of any group holds."""
    row_labels: SmallIntArray | None = None
    """(r,) the same as `rows`, and for each other row the group where its candidates are most likely, where known."""

    def __repr__(self) -> str:
        """One line: the quorum, how many groups, and the score."""
        return f"PathGroups({counted(len(self), 'group')} at quorum {self.quorum:.3g}, score {self.score:.4g})"

    def __len__(self) -> int:
        """Number of groups."""
        return self.gains.size


@dataclass(frozen=True, eq=False)
class ConsensusPath:
    """Groupings from fine to coarse, of which the consensus is one or lies near one.

    Examples
    --------
    >>> import biconsensus as bc
    >>> base = [np.repeat([0, 1], 16)] * 4 + [np.repeat([0, 1, 2, 3], 8)] * 4
    >>> path = bc.find_consensus(base).path
    >>> sorted({len(point) for point in path.points})
    [2, 4]
    """

    points: tuple[PathGroups, ...]
    weights: FloatArray
    """(n,) weights of the candidates in the search of all points."""

    def __repr__(self) -> str:
        """One line: how many points, and the numbers of groups that they have."""
        numbers = ", ".join(str(number) for number in sorted({len(point) for point in self.points}))
        return f"ConsensusPath({counted(len(self.points), 'point')}, numbers of groups: {numbers})"

    def at(self, quorum: float | None = None, n_groups: int | None = None) -> PathGroups:
        """The point of a quorum, or the best one with a number of groups."""
        if (quorum is None) == (n_groups is None):
            raise InputError(f"give either quorum or n_groups; got quorum={quorum!r} and n_groups={n_groups!r}.")
        if quorum is not None:
            found = [point for point in self.points if abs(point.quorum - float(quorum)) < 1e-9]
            known = ", ".join(f"{point.quorum:g}" for point in self.points)
        else:
            found = [point for point in self.points if len(point) == n_groups]
            known = ", ".join(str(number) for number in sorted({len(point) for point in self.points}))
        if not found:
            asked = f"quorum={quorum!r}" if quorum is not None else f"n_groups={n_groups!r}"
            number = quorum is not None and quorum >= 1
            how = f"A number of groups is at(n_groups={quorum!r})." if number else "Search again for it."
            raise InputError(f"{asked}: the path of this result has no such point; it has {known}. {how}")
        return max(found, key=lambda point: point.score)


@dataclass(frozen=True, eq=False)
class PathTrace:
    """A path that was searched; its groups on all rows are worked out when somebody asks for them."""

    path: QuorumPath
    row_of: NDArray[Any]
    """(m,) the row of each element."""
    power: int
    """Power of two that was taken out of the weights."""
    weights: FloatArray
    """(n,) weights of the candidates on the path."""
    unassigned: str = "nearest"
    """What becomes of left-over elements."""
    evidence: Evidence | None = None
    """What was known of the elements beyond the pool."""
    of_grouping: tuple[float, ...] = ()
    """What it said for each point."""
    chosen: Fraction | None = None
    """Quorum of the answer; its point stays, where one point stands for all of a number of groups."""

    @cached_property
    def finished(self) -> ConsensusPath:
        """The groups of every point; of a path that was searched on a sample, one point for each number of groups."""
        kept = list(range(len(self.path.points)))
        if self.path.condensed.sampled:
            # a pass over all rows for each point: those that differ in a few elements only are not worth it
            best: dict[int, int] = {}
            for k in kept:
                number = len(self.path.points[k])
                if number not in best or self._rank(k) > self._rank(best[number]):
                    best[number] = k
            kept = sorted(best.values())
        return ConsensusPath(tuple(self._groups(k) for k in kept), self.weights)

    def _rank(self, k: int) -> tuple[bool, float]:
        """Which of several points with one number of groups is kept: that of the answer, else the best."""
        point = self.path.points[k]
        return point.quorum == self.chosen, self.path.score(point)

    def _groups(self, k: int) -> PathGroups:
        """One point on all rows of the pool."""
        point = self.path.points[k]
        blocks, problem = self.path.finish(point), self.path.weighted(point)
        gains = blocks.gains if isinstance(blocks, Blocks) else np.array([block.gain for block in blocks], np.float64)
        loss = 2 * (1 - float(point.quorum)) * problem.norm - 2 * float(gains.sum())
        significance, placed = self._by_data(point, blocks)
        near = blocks.row_labels if isinstance(blocks, Blocks) else None
        return PathGroups(
            quorum=float(point.quorum),
            score=self.path.score(point),
            evidence=self.of_grouping[k] if self.of_grouping else np.nan,
            objective=float(np.ldexp(loss, self.power)),
            rows=_groups_of_rows(blocks, problem.shape[0]),
            columns=columns_of(blocks, problem.shape[1]).astype(np.int32)[problem.members],
            gains=np.ldexp(gains, self.power),
            significance=significance,
            placed=placed,
            row_labels=None if near is None else near.astype(np.int32),
        )

    def _by_data(self, point: PathPoint, blocks: Sequence[Block]) -> tuple[FloatArray | None, SmallIntArray | None]:
        """What the data says of each group of a point, and where it puts elements that no candidate holds."""
        if self.evidence is None:
            return None, None
        if not blocks:
            return np.zeros(0), None
        labels, placed = _groups_of_rows(blocks, self.path.condensed.given.shape[0])[self.row_of], None
        if self.unassigned == "nearest":
            labels = nearest(self.path.weighted(point), blocks)[self.row_of]
            if (labels < 0).any():
                moved = self.evidence.place(labels)
                placed = None if np.array_equal(moved, labels) else moved.astype(np.int32)
                labels = moved
        found = np.asarray(self.evidence.of_groups(labels.astype(np.int64)), np.float64)
        return np.concatenate([found, np.zeros(len(blocks) - found.size)]), placed

    def __reduce__(self) -> tuple[Any, ...]:
        """What pickle keeps: the groups of every point, and not the search."""
        return _kept, (self.finished,)


def _kept(path: ConsensusPath) -> ConsensusPath:
    """The path as it was kept."""
    return path


def _groups_of_rows(blocks: Sequence[Block], n_rows: int) -> SmallIntArray:
    """(r,) the number of the block that holds each row, -1 for none."""
    if isinstance(blocks, Blocks):
        return blocks.rows.astype(np.int32)
    found = np.full(n_rows, -1, np.int32)
    for number, block in enumerate(blocks):
        found[block.rows] = number
    return found
