"""The quorum path: groups for every quorum, from fine to coarse, and the choice of a point on it.

The path is that of the joint method, candidates weighted by how certain the pool is of them; nothing else is looked at.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from biconsensus._checks import need, warn_user
from biconsensus._work import on_one_thread
from biconsensus.errors import PoolWarning
from biconsensus.matrix._condensed import Condensed
from biconsensus.matrix._groups import Blocks, sums_by
from biconsensus.matrix._matrix import PreferenceMatrix
from biconsensus.methods._joint import Votes, climb, columns_of, divided, merged, n_groups_of, rows_of
from biconsensus.pool._pool import Pool
from biconsensus.pool._rows import row_parts
from biconsensus.protocols import Block, FloatArray, IntArray, Progress, comparable, silent
from biconsensus.quorum._given_number import group_rows
from biconsensus.quorum._likely import MANY_ROWS, most_likely
from biconsensus.quorum._score import FitMeasures, PathScorer, ScoreWeights, nearest, score_weights

if TYPE_CHECKING:
    import pandas as pd

QUORUMS = tuple(
    Fraction(n, 10_000)
    for n in (9000, 8000, 6500, 5000, 4000, 3000, 2200, 1600, 1200, 900, 650, 480, 350, 250, 180, 130, 90, 60, 40, 25)
)
"""Places of the path, from fine to coarse."""
SAME_GROUP = 0.75
"""Jaccard index above which groups of neighbouring points are one group that lives on."""

N_CONFIRMED = 4
"""Points of a sampled path whose fit is measured on more rows; estimated, so that it costs far less than the path."""
CLEAR_LEAD = 0.5
"""Lead in the score of the best point of a sampled path over all points at 1/2 and above from which on no majority
is searched for. Algorithm 1 at 1/2 may have more than the best of these, up to 1.9 on 41 pools of 13 kinds with 3,000
to 10,000 rows; but on the 19 of these with such a lead it never came up to the best point (`docs/tried/scale.md`)."""
NEARLY_AS_GOOD = 0.005
"""Difference of scores up to which two groupings are as good as each other (see the page on the quorum)."""
SAME_GROUPING = 0.999
"""Adjusted Rand index above which two points count as one grouping, of which the better one is confirmed: finer than
the agreement with the search on all rows that is asked for (0.995)."""


@dataclass(frozen=True)
class PathPoint:
    """The groups at one quorum."""

    quorum: Fraction
    blocks: Sequence[Block]
    """Groups of the minimum sizes, largest gain first."""
    row_labels: IntArray
    """(k,) group of each row that was searched, left-overs with the nearest; -1 where no group's candidates hold it."""
    columns: IntArray
    """(q,) group of each column before small groups were left out; where the next search starts."""
    weights: FloatArray
    """(q,) weights of the columns in the search."""
    fit: FitMeasures
    """How well the groups fit the pool."""
    rule: str = "joint"
    """How rows choose between groups: "joint" (the best), "greedy" (the first in order), "nearest" (never none)."""
    base: IntArray | None = None
    """(q,) groups of the columns of one source, where the rows are grouped as this source did."""
    confirmed: bool = False
    """Whether its fit was measured on more rows than those that are searched."""

    def __len__(self) -> int:
        """Number of groups."""
        return len(self.blocks)


@dataclass(frozen=True)
class QuorumPath:
    """Groups for every quorum, from fine to coarse.

    Examples
    --------
    >>> import biconsensus as bc
    >>> base = [[0] * 8 + [1] * 8] * 4 + [[0] * 4 + [1] * 4 + [2] * 4 + [3] * 4] * 4
    >>> path = QuorumPath.of(bc.Pool.from_labels(base), min_elements=2, min_candidates=2)
    >>> len(path.best), len(path.at(0.8)), len(path.with_n_groups(3))
    (2, 4, 3)
    """

    scorer: PathScorer
    """The rows that are searched, weighted, and what tells how points fit them."""
    condensed: Condensed
    """All rows, and those that are searched: a sample where there are very many."""
    points: tuple[PathPoint, ...]
    min_elements: int
    min_candidates: int
    source_names: tuple[str, ...] = ()
    """(c,) names of the sources of the pool."""
    by_likelihood: bool = False
    """Whether rows at last go to the group in which their candidates are most likely."""

    @cached_property
    def wide(self) -> PathScorer:
        """More rows than those that are searched, which confirm the best points of a sample."""
        return replace(self.scorer, problem=self.condensed.wide.with_weights(self.problem.weights))

    @cached_property
    def all_rows(self) -> PathScorer:
        """All rows, columns in the order of `condensed.whole`."""
        whole = self.condensed.whole.with_weights(self.condensed.in_whole(self.problem.weights))
        return replace(self.scorer, problem=whole, plain=self.condensed.in_whole(self.scorer.plain), columns=None)

    @property
    def problem(self) -> PreferenceMatrix:
        """The rows that are searched, candidates weighted by certainty, trivial ones by zero."""
        return self.scorer.problem

    @property
    def sizes(self) -> tuple[int, int]:
        """Minimum sizes in the units of what is searched."""
        return self.condensed.smallest(self.min_elements, self.min_candidates)

    @classmethod
    def of(
        cls,
        pool: Pool,
        weights: FloatArray | None = None,
        *,
        min_elements: int = 7,
        min_candidates: int = 4,
        quorums: tuple[Fraction, ...] = QUORUMS,
    ) -> QuorumPath:
        """Trace the path of a pool.

        Parameters
        ----------
        pool : Pool
            The candidates.
        weights : (n,) array, optional
            Weights of the candidates, in place of the pool's weights; certainty multiplies them.
        min_elements, min_candidates : int
            Smallest group: elements, and distinct sources behind it.
        quorums : tuple of Fraction
            Quorums of the points, in falling order.

        Returns
        -------
        QuorumPath

        Notes
        -----
        Each point starts from the answer of the one before and from the most frequent rows.
        """
        names = tuple(source.name for source in pool.sources)
        problem = PreferenceMatrix.from_pool(pool, weights)
        return cls.of_problem(problem, min_elements, min_candidates, quorums, names)

    @classmethod
    def of_problem(
        cls,
        problem: PreferenceMatrix,
        min_elements: int,
        min_candidates: int,
        quorums: tuple[Fraction, ...] = QUORUMS,
        source_names: tuple[str, ...] = (),
        *,
        condense: bool = True,
        progress: Progress = silent,
    ) -> QuorumPath:
        """The same for a pool that is a preference matrix already; `condense` allows a sample of very many rows."""
        condensed = Condensed.of(problem, sample=min_candidates if condense else 0, divide=condense)
        sizes = condensed.smallest(min_elements, min_candidates)
        points: list[PathPoint] = []
        # products are small here, and more threads than one only get into each other's way
        with on_one_thread("blas"):
            # weights of candidates come from all rows: weights from a sample favour what the sample happens to cut less
            scorer = PathScorer.of(condensed.whole)
            if condensed.sampled:
                scorer = scorer.on(condensed.part, condensed.columns)
            for quorum in quorums:
                progress(len(points), len(quorums), "quorum path")
                points.append(point_at(scorer, quorum, points[-1].columns if points else None, sizes))
            progress(len(points), len(quorums), "quorum path")
            names = tuple(source_names[k] for k in condensed.sources) if source_names else ()
            many = condense and condensed.whole.shape[0] > MANY_ROWS
            path = cls(scorer, condensed, tuple(points), min_elements, min_candidates, names, many)
            return path._with_confirmed_points() if condensed.sampled else path

    def _with_confirmed_points(self) -> QuorumPath:
        """The same path, the best of its points confirmed, no two of which are nearly the same grouping."""
        order = sorted(range(len(self.points)), key=lambda k: -self.score(self.points[k]))
        kept: list[int] = []
        for k in order:
            labels = self.points[k].row_labels
            if len(kept) < N_CONFIRMED and not any(
                agreement(self.problem.counts, labels, self.points[other].row_labels) > SAME_GROUPING for other in kept
            ):
                kept.append(k)
        points = list(self.points)
        for k in kept:
            points[k] = self.confirm(self.points[k])
        return replace(self, points=tuple(points))

    def confirm(self, point: PathPoint) -> PathPoint:
        """A point with its fit measured on more rows than it was found on, where it was found on a sample."""
        if not self.condensed.sampled:
            return point
        labels = self.labels_on(self.wide.problem, point)
        return replace(point, fit=self.wide.measure(labels), confirmed=True)

    def finish(self, point: PathPoint) -> Sequence[Block]:
        """The groups of a point on all rows and columns of the pool, in its order.

        Parameters
        ----------
        point : PathPoint
            Groups of the rows that are searched.

        Returns
        -------
        sequence of Block
            Largest gain first. Where all rows were searched and they are few, the groups of the point itself.

        Notes
        -----
        Where a sample was searched, the columns of its groups choose among all rows, these choose their columns again,
        and those their rows: each is the best choice given the other side, so that the gain over all rows never falls.
        Groups of Algorithm 1 are instead taken in turn, in the order of their gains over all rows, as it does.
        The minimum sizes count all rows. If there are many, each at last goes to the group in which its candidates are
        most likely, however the point was chosen; only the groups of one source stay those of the source. Rows that no
        group gains by are in no block; near which block they are is told by the same likelihood.
        """
        if self.by_likelihood and point.base is None:
            if point.rule == "nearest" and self.condensed.sampled:
                # votes may leave a group without a row, and as many groups as were asked for are to have some
                columns = self.condensed.in_whole(columns_of(point.blocks, self.problem.shape[1]))
                rows, voting = rows_of(point.blocks, self.problem.shape[0]), self.all_rows.unweighted
                likely = most_likely(voting, rows, (self.condensed.rows, self.problem.counts))
                return self._finished_blocks(point, np.where(voting.entries @ voting.weights > 0, likely, -1), columns)
            rows, columns = self._voted(point)
            likely = most_likely(self.all_rows.unweighted, rows)
            return self._finished_blocks(point, np.where(rows >= 0, likely, -1), columns, likely)
        return self._blocks_by_votes(point)

    def _blocks_by_votes(self, point: PathPoint) -> Sequence[Block]:
        """The same where votes alone place the rows."""
        if not self.condensed.sampled:
            return in_order(self.condensed.given_blocks(point.blocks))
        return self._finished_blocks(point, *self._voted(point))

    def _voted(self, point: PathPoint) -> tuple[IntArray, IntArray]:
        """The groups of all rows and of all columns of a point by votes, in the order of `condensed.whole`."""
        condensed = self.condensed
        if not condensed.sampled:
            return rows_of(point.blocks, self.problem.shape[0]), columns_of(point.blocks, self.problem.shape[1])
        columns, base = condensed.in_whole(point.columns), point.base
        votes = Votes.at_quorum(self._weighted_whole(point), point.quorum)
        return _finished(votes, columns, point.rule, None if base is None else condensed.in_whole(base))

    def _finished_blocks(
        self, point: PathPoint, rows: IntArray, columns: IntArray, likely: IntArray | None = None
    ) -> Sequence[Block]:
        """The groups of rows and columns that are large enough, in the order of the pool."""
        sizes, whole = (1, 1) if point.rule == "nearest" else self.sizes, self._weighted_whole(point)
        blocks = blocks_of(whole, point.quorum, rows, columns, sizes, likely)
        if blocks.row_labels is not None:
            # rows that no candidate of any group holds are near none, and groups that are too small are near no row
            near = nearest(whole, replace(blocks, row_labels=None))
            left = (blocks.rows < 0) & (near >= 0) & (blocks.row_labels >= 0)
            blocks = replace(blocks, row_labels=np.where(left, blocks.row_labels, near) if left.any() else None)
        return in_order(self.condensed.given_blocks(blocks))

    def _weighted_whole(self, point: PathPoint) -> PreferenceMatrix:
        """All rows, weighted as in the search of a point."""
        return self.condensed.whole.with_weights(self.condensed.in_whole(point.weights))

    def labels(self, point: PathPoint) -> IntArray:
        """(r,) the group of each distinct row of the pool at a point, left-overs with the nearest; -1 for none."""
        return nearest(self.weighted(point), self.finish(point))

    def labels_on(self, part: PreferenceMatrix, point: PathPoint) -> IntArray:
        """(k,) the same for some of the rows, columns in canonical order, which alone say what backs a group.

        Rows that stand for no element say nothing and are grouped, too.
        """
        part = part.with_weights(point.weights)
        rows, columns = _finished(Votes.at_quorum(part, point.quorum), point.columns, point.rule, point.base)
        return nearest(part, blocks_of(part, point.quorum, rows, columns, self.sizes))

    def weighted(self, point: PathPoint) -> PreferenceMatrix:
        """All rows and columns of the pool, in its order, with the weights that a point was searched with."""
        return self.condensed.given.with_weights(self.condensed.in_given(point.weights) * self.condensed.units[1])

    @cached_property
    def weights(self) -> ScoreWeights:
        """The score that chooses on this path."""
        return score_weights(point.fit for point in self.points)

    def score(self, point: PathPoint) -> float:
        """How well a point fits the pool, in one number; larger is better."""
        return point.fit.score(self.weights)

    @property
    def best(self) -> PathPoint:
        """The point of the largest score; of those nearly as good, one whose number of groups most quorums give."""
        return steady_point(self.points, self.score)

    @property
    def far_from_majority(self) -> bool:
        """Whether a sample was searched and its points at a majority and above are all far worse than the best one."""
        lead = self.score(self.best) - CLEAR_LEAD
        return self.condensed.sampled and all(self.score(p) < lead for p in self.points if 2 * p.quorum >= 1)

    def at(self, quorum: float | Fraction) -> PathPoint:
        """Groups at any quorum; between two points the search starts from the finer one.

        Parameters
        ----------
        quorum : float in (0, 1)
            Quorum wanted.

        Returns
        -------
        PathPoint
        """
        theta = Fraction(quorum).limit_denominator(10_000)
        for point in self.points:
            if point.quorum == theta:
                return point
        finer = [point.columns for point in self.points if point.quorum > theta]
        return point_at(self.scorer, theta, finer[-1] if finer else None, self.sizes)

    def with_n_groups(self, n_groups: int) -> PathPoint:
        """Exactly `n_groups` groups, by average linkage on co-occurrence seen through the random walk.

        Parameters
        ----------
        n_groups : int
            Number of groups wanted.

        Returns
        -------
        PathPoint
            With a warning where groups are under the minimum sizes, or fewer.
        """
        finest = max(self.points, key=len)
        labels = group_rows(self.scorer.for_given_number(), n_groups, finest.row_labels)
        columns = None if labels is None else columns_behind(self.problem, labels)
        if labels is None or columns is None:
            found = finest
        else:
            blocks = blocks_of(self.problem, self.best.quorum, labels, columns)
            found = make_point(self.scorer, self.best.quorum, blocks, columns, rule="nearest")
        # a group may have few candidates of its own, since each candidate backs only the group that it holds most of
        small = any(self.problem.n_elements(block.rows) < self.sizes[0] for block in found.blocks)
        if len(found) != n_groups or small:
            warn_user(
                f"n_groups={n_groups}: the pool does not have that many groups of at least {self.min_elements} "
                f"elements; the answer has {len(found)}{', some of them smaller' if small else ''}.",
                PoolWarning,
            )
        return found

    def to_frame(self) -> pd.DataFrame:
        """One line for each group of each point, for a ribbon or a tree.

        Returns
        -------
        DataFrame
            quorum, group, n_elements, gain, parent (group of the next point that holds most of it, -1 for none),
            lifetime (range of log quorum over which the group lives), score of the point.
        """
        pd = need("pandas", "tables")
        alive, (elements, sources) = self.lifetimes(), self.condensed.units
        lines: list[dict[str, Any]] = []
        for k, point in enumerate(self.points):
            coarser = self.points[k + 1].row_labels if k + 1 < len(self.points) else np.full(point.row_labels.size, -1)
            for t, block in enumerate(point.blocks):
                held = np.bincount(coarser[block.rows] + 1, self.problem.counts[block.rows])
                lines.append(
                    {
                        "quorum": float(point.quorum),
                        "group": t,
                        "n_elements": self.problem.n_elements(block.rows) * elements,
                        "gain": block.gain * elements * sources,
                        "parent": int(held.argmax()) - 1,
                        "lifetime": float(alive[k][t]),
                        "score": self.score(point),
                    }
                )
        return pd.DataFrame(lines)

    def lifetimes(self) -> list[FloatArray]:
        """For each point, the range of log quorum over which each of its groups lives on in its neighbours.

        Returns
        -------
        list of (T,) arrays
        """
        return lifetimes(self.problem, self.points)


def point_at(scorer: PathScorer, quorum: Fraction, start: IntArray | None, sizes: tuple[int, int]) -> PathPoint:
    """Groups at one quorum, grown from a start and from the most frequent rows."""
    votes = Votes.at_quorum(scorer.problem, quorum)
    starts = ([] if start is None else [start]) + [scorer.from_peaks]
    found: dict[float, IntArray] = {}
    passed: set[float] = set()
    for columns, value in map(votes.alternate, starts):
        if value not in passed:  # else this way up was gone before
            best, gain = climb(votes, columns, (merged, divided), value, passed)
            found.setdefault(gain, best)
    columns = found[max(found)]
    rows, _ = votes.best_rows(columns)
    return make_point(scorer, quorum, blocks_of(scorer.problem, quorum, rows, columns, sizes), columns)


def blocks_of(
    problem: PreferenceMatrix,
    quorum: Fraction,
    rows: IntArray,
    columns: IntArray,
    sizes: tuple[int, int] = (1, 1),
    row_labels: IntArray | None = None,
) -> Blocks:
    """The groups of rows and columns that have the minimum sizes."""
    n_groups = n_groups_of(columns)
    large = (problem.group_sizes(rows, n_groups) >= sizes[0]) & (problem.group_sources(columns, n_groups) >= sizes[1])
    gains = problem.group_gains(rows, columns, quorum)
    return Blocks(rows, columns, gains, row_labels).picked(np.flatnonzero(large))


def _finished(votes: Votes, columns: IntArray, rule: str, base: IntArray | None) -> tuple[IntArray, IntArray]:
    """Groups of all rows and columns, from groups of columns; or as one source grouped the rows, by its columns."""
    if base is None:
        return finish_groups(votes, columns, rule)
    rows = rows_of_source(votes.problem, base)
    return rows, votes.group_of_columns(rows)


def finish_groups(votes: Votes, columns: IntArray, rule: str) -> tuple[IntArray, IntArray]:
    """Groups of all rows and of all columns, from groups of columns that were found on a sample of the rows."""
    if rule == "nearest":
        weights = votes.problem.weights
        return Votes(votes.problem, weights, np.zeros_like(weights)).best_rows(columns)[0], columns
    if rule == "greedy":
        columns = votes.columns_in_turn(votes.first_rows(columns))
        return votes.first_rows(columns), columns
    columns = votes.best_columns(votes.best_rows(columns)[0])
    return votes.best_rows(columns)[0], columns


def agreement(counts: IntArray, one: IntArray, other: IntArray) -> float:
    """Adjusted Rand index of two groupings (r,) of rows that stand for several elements each; -1 is a group too."""
    both = sums_by(np.unique((one + 1) * np.int64(n_groups_of(other) + 1) + other, return_inverse=True)[1], counts, 0)
    left, right = sums_by(one + 1, counts, 0), sums_by(other + 1, counts, 0)
    both, left, right = ((part**2).sum() for part in (both, left, right))
    total = float(counts.sum())
    chance = left * right / total**2
    top = (left + right) / 2 - chance
    return 1.0 if top <= 0 else float((both - chance) / top)


def rows_of_source(problem: PreferenceMatrix, groups: IntArray) -> IntArray:
    """(r,) the group of each row by the columns (q,) of one source, which share no row; -1 for none."""
    rows, entries = np.full(problem.shape[0], -1), problem.entries
    for part, stored, lengths in row_parts(entries):
        group = np.take(groups, entries.indices[stored])
        own = np.flatnonzero(group >= 0)
        rows[np.repeat(np.arange(part.start, part.stop), lengths)[own]] = group[own]
    return rows


def in_order(blocks: Sequence[Block]) -> Sequence[Block]:
    """Largest gain first; ties by the first row."""
    if isinstance(blocks, Blocks):
        return blocks.in_order()
    return sorted(blocks, key=lambda b: (-comparable(b.gain), int(b.rows.argmax())))


def make_point(
    scorer: PathScorer,
    quorum: Fraction,
    blocks: Sequence[Block],
    columns: IntArray | None = None,
    rule: str = "joint",
    weights: FloatArray | None = None,
    base: IntArray | None = None,
) -> PathPoint:
    """Order the groups, give left-overs to the nearest, and see how they fit."""
    blocks = in_order(blocks)
    labels = nearest(scorer.problem, blocks)
    columns = columns_of(blocks, scorer.problem.shape[1]) if columns is None else columns
    weights = scorer.problem.weights if weights is None else weights
    return PathPoint(quorum, blocks, labels, columns, weights, scorer.measure(labels), rule, base)


def best_point(points: Sequence[PathPoint], score: Callable[[PathPoint], float]) -> PathPoint:
    """The point of the largest score; ties go to the quorum nearest to a majority."""
    return max(points, key=lambda point: (round(score(point), 12), -abs(np.log(2 * float(point.quorum)))))


def steady_point(points: Sequence[PathPoint], score: Callable[[PathPoint], float]) -> PathPoint:
    """The best point of a path; of those nearly as good, the best with the number of groups that most points have.

    Where some points are confirmed, only those can be chosen.
    """
    confirmed = [point for point in points if point.confirmed] or points
    least = max(map(score, confirmed)) - NEARLY_AS_GOOD
    good = [point for point in confirmed if score(point) >= least]
    number = Counter(map(len, points))
    longest = max(number[len(point)] for point in good)
    return best_point([point for point in good if number[len(point)] == longest], score)


def columns_behind(problem: PreferenceMatrix, labels: IntArray) -> IntArray | None:
    """(q,) the group of rows that each column holds most of, each group having one; None where columns run out."""
    n_groups = n_groups_of(labels)
    held = np.where(problem.weights[:, None] > 0, problem.held_by_columns(labels, n_groups), 0.0)
    columns = np.where(held.max(axis=1) > 0, held.argmax(axis=1), -1)
    sizes = problem.group_sizes(labels, n_groups)
    alike = held**2 / np.maximum(np.outer(problem.sizes, sizes), 1.0)
    for t in range(n_groups):
        owned = np.bincount(columns + 1, minlength=n_groups + 1)[1:]
        if owned[t] == 0:
            spare = (columns >= 0) & (owned[columns] > 1)
            if not spare.any():
                return None
            columns[np.where(spare, alike[:, t], -1.0).argmax()] = t
    return columns


def successors(problem: PreferenceMatrix, here: PathPoint, there: PathPoint) -> IntArray:
    """(T,) the group of the next point that is the same group, -1 for none."""
    found = np.full(len(here), -1)
    for t, block in enumerate(here.blocks):
        for u, other in enumerate(there.blocks):
            both = problem.n_elements(block.rows & other.rows)
            if both >= SAME_GROUP * problem.n_elements(block.rows | other.rows):
                found[t] = u
    return found


def lifetimes(problem: PreferenceMatrix, points: Sequence[PathPoint]) -> list[FloatArray]:
    """For each point of a path, the range of log quorum over which each of its groups lives on in its neighbours."""
    steps = -np.diff(np.log([float(point.quorum) for point in points]))
    links = [successors(problem, a, b) for a, b in pairwise(points)]
    back = [np.zeros(len(point)) for point in points]
    ahead = [np.zeros(len(point)) for point in points]
    for k, (step, link) in enumerate(zip(steps, links, strict=True)):
        kept = np.flatnonzero(link >= 0)
        back[k + 1][link[kept]] = back[k][kept] + step
    for k in range(len(links) - 1, -1, -1):
        kept = np.flatnonzero(links[k] >= 0)
        ahead[k][kept] = ahead[k + 1][links[k][kept]] + steps[k]
    return [a + b for a, b in zip(ahead, back, strict=True)]
