"""The default solver: exact alternating votes from many starts, with reuse between rounds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Container
from dataclasses import dataclass, replace
from fractions import Fraction
from heapq import heappop, heappush
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from biconsensus.matrix._matrix import PreferenceMatrix
from biconsensus.pool._rows import mix, row_hashes
from biconsensus.protocols import Block, BoolArray, IntArray, comparable
from biconsensus.solvers.vote._ballot import BLOCK, Ballot, Sets, Tally, set_of


class Preference(NamedTuple):
    """What orders fixed points, the best first: the documented rule for ties."""

    loss: float
    """Gain, negative, without the digits that only rounding makes."""
    elements: int
    """Number of them, negative."""
    sources: int
    """Number of them, negative."""
    first_row: int
    key: bytes
    """Of the columns; sorts like them."""


@dataclass(frozen=True)
class FixedPoint:
    """A block that neither vote changes."""

    rows: NDArray[Any]
    """Indices (int32), or bits where those are shorter (uint8)."""
    columns: NDArray[np.int32]
    gain: float
    preference: Preference

    @classmethod
    def of(cls, key: bytes, rows: IntArray, n_rows: int, gain: float, n_elements: int, n_sources: int) -> FixedPoint:
        """The fixed point of a set of columns and the rows that join it, in order."""
        preference = Preference(-comparable(gain), -n_elements, -n_sources, int(rows[0]), key)
        if 32 * rows.size < n_rows:
            return cls(rows.astype(np.int32), set_of(key), gain, preference)
        return cls(np.packbits(flags_of(rows, n_rows)), set_of(key), gain, preference)

    def inside(self, n_rows: int) -> BoolArray:
        """(r,) mask of the rows."""
        if self.rows.dtype == np.uint8:
            return np.unpackbits(self.rows, count=n_rows).astype(bool)
        return flags_of(self.rows, n_rows)

    def has_any(self, rows: BoolArray) -> bool:
        """Whether it holds any of these rows."""
        if self.rows.dtype == np.uint8:
            return bool((np.packbits(rows) & self.rows).any())
        return bool(rows[self.rows].any())


def flags_of(items: NDArray[Any], size: int) -> BoolArray:
    """(size,) mask of some items."""
    mask = np.zeros(size, bool)
    mask[items] = True
    return mask


MAX_STEPS = 200
"""Bound of votes that end by themselves, since each must gain."""
SAMPLE = 1 << 13
"""Rows on which starts come to rest first where there are many more."""

Keep = Callable[[list[bytes], Tally, list[int]], None]


def vote_to_fixed_point(
    ballot: Ballot,
    sets: Sets,
    live_rows: BoolArray,
    live_columns: BoolArray,
    keep: Keep | None = None,
    known: Container[bytes] = (),
) -> Sets:
    """The fixed points that votes from sets of columns end in; sets that become equal go on as one.

    `keep` is called with the sets that did not move, their tally and their places there; sets in `known`, and
    the empty one, need no vote.
    """
    place = sets.keys()
    starts: dict[bytes, list[int]] = {}
    for k, key in enumerate(place):
        starts.setdefault(key, []).append(k)
    for _ in range(MAX_STEPS):
        moving = [key for key in starts if key and key not in known]
        if not moving:
            break
        tally = ballot.vote(Sets.from_keys(moving), live_rows, live_columns)
        after = tally.columns.keys()
        still = [k for k, key in enumerate(moving) if after[k] == key]
        if keep is not None and still:
            keep([moving[k] for k in still], tally, still)
        starts = _moved(starts, {old: new for old, new in zip(moving, after) if old != new})
        for key, own in starts.items():
            for k in own:
                place[k] = key
    return Sets.from_keys(place)


def _moved(starts: dict[bytes, list[int]], to: dict[bytes, bytes]) -> dict[bytes, list[int]]:
    """The starts of each set that moved, by where it went."""
    moved: dict[bytes, list[int]] = {}
    for old, new in to.items():
        moved.setdefault(new, []).extend(starts[old])
    return moved


def sample_rows(problem: PreferenceMatrix) -> tuple[IntArray, PreferenceMatrix] | None:
    """Some thousand rows that stand for all of them, or None where there are few anyway.

    Row i, shared by s_i elements, is taken with probability p_i = min(1, SAMPLE s_i / m) and then counts s_i / p_i, so
    that every vote is right on average. Chance comes from the content of the row: its place does not matter.
    """
    n_rows, total = problem.shape[0], int(problem.counts.sum())
    if n_rows <= 2 * SAMPLE:
        return None
    chance = mix(row_hashes(problem.entries, mix(np.arange(problem.shape[1])))).astype(np.float64) / 2.0**64
    rows = np.flatnonzero(chance * total < SAMPLE * problem.counts)
    unseen = None if problem.unseen is None else csr_array(problem.unseen[rows])
    counts = np.maximum(problem.counts[rows], round(total / SAMPLE))
    return rows, replace(problem, entries=csr_array(problem.entries[rows]), counts=counts, unseen=unseen)


HALF = Fraction(1, 2)
BATCH = 256
ROW_STARTS = 64
FEW_ROWS = 1 << 11
"""Rows up to which rows are starts of their own; where there are more, candidates found all that they found."""
HEAVY_ROWS = 1 << 8
"""Rows, the heaviest ones, that the leading singular vector is taken from."""
SORTED_ROWS = 1 << 14
"""Rows, the heaviest ones, that are put in order first; the others only if these run out."""
LEADING_ROUNDS = 32
"""Rounds that start from the singular vector too: later ones have small groups, which candidates find."""
WELL_SAMPLED = 64
FEW_POINTS = 64
"""Memberships of removed rows for each fixed point from which all of these are looked at."""
LEADING = -1
"""Number of the start from the leading singular vector, beside the starts from columns and rows."""


class VoteSolver:
    """Alternate the votes of columns and rows until nothing moves, from every candidate.

    Each half-step is the exact maximum of the gain given the other side, so the gain never falls. Blocks found once are
    kept: one that shares no row and no column with what was removed since is still a fixed point with the same gain. An
    index from columns to blocks finds those that do, and a heap the best of all, so that a round costs what it changes.
    Where there are many rows, starts first come to rest on a sample of them, and only the few distinct outcomes go on
    to the whole.

    Parameters
    ----------
    n_jobs : int, optional
        Threads for the votes; the answer does not depend on it.

    Notes
    -----
    Ties are broken by content: the larger gain, then more elements, more sources, the first row in the user's order,
    the first column, the second, and so on. At quorum 1/2 the heaviest rows and the leading singular vector are starts
    too; below it only candidates are, because the global maximum would merge groups that every source keeps apart.

    Examples
    --------
    >>> import biconsensus as bc
    >>> problem = bc.PreferenceMatrix.from_pool(bc.Pool.from_labels([[0, 0, 0, 1], [0, 0, 0, 1], [0, 0, 1, 1]]))
    >>> solver = VoteSolver()
    >>> solver.load(problem, Fraction(1, 2))
    >>> solver.best_block(np.ones(3, bool), np.ones(4, bool), 1, 1).gain
    3.5
    """

    def __init__(self, n_jobs: int | None = None) -> None:
        self.n_jobs = n_jobs

    def memory(self, problem: PreferenceMatrix) -> int:
        """Bytes that a search needs, in proportion to the memberships."""
        return vote_memory(problem)

    def load(self, problem: PreferenceMatrix, quorum: Fraction) -> None:
        """Take a problem."""
        self._problem, self._quorum = problem, quorum
        self._ballot = Ballot(problem, quorum, self.n_jobs)
        sample = sample_rows(problem)
        self._sampled = np.zeros(0, np.int64) if sample is None else sample[0]
        self._coarse = None if sample is None else Ballot(sample[1], quorum, self.n_jobs)
        self._round = 0
        self._heaviest = heaviest(problem.counts, SORTED_ROWS)
        self._clear(0, 0)

    def _clear(self, min_elements: int, min_candidates: int) -> None:
        """Forget all fixed points, and look for blocks of these minimum sizes."""
        self._sizes = min_elements, min_candidates
        self._rows, self._columns = (np.ones(size, bool) for size in self._problem.shape)
        self._points: dict[bytes, FixedPoint] = {}
        self._best: list[Preference] = []
        self._holding: defaultdict[int, set[bytes]] = defaultdict(set)
        self._starts: defaultdict[bytes, list[int]] = defaultdict(list)
        # starts whose fixed point is not known: columns, rows, and the singular vector at the end
        self._unknown = np.ones(sum(self._problem.shape) + 1, bool)

    def best_block(self, rows: BoolArray, columns: BoolArray, min_elements: int, min_candidates: int) -> Block | None:
        """Best fixed point of the minimum sizes inside the live rows and columns; weightless columns back nothing."""
        columns = columns & (self._problem.weights > 0)
        revived = (rows & ~self._rows).any() or (columns & ~self._columns).any()
        if revived or self._sizes != (min_elements, min_candidates):
            self._clear(min_elements, min_candidates)
        self._forget(self._rows & ~rows, self._columns & ~columns)
        self._rows, self._columns = rows.copy(), columns
        if rows.any() and columns.any():
            self._search()
        while self._best:
            point = self._points.get(self._best[0].key)
            if point is not None and point.preference == self._best[0]:
                self._round += 1
                return Block(point.inside(rows.size), flags_of(point.columns, columns.size), point.gain)
            heappop(self._best)
        return None

    def _forget(self, rows: BoolArray, columns: BoolArray) -> None:
        """Drop the fixed points that hold any of the rows or columns that are gone."""
        stale = self._with_any(columns)
        stale |= {key for key in self._near(rows) - stale if self._points[key].has_any(rows)}
        for key in stale:
            for j in self._points.pop(key).columns.tolist():
                self._holding[j].discard(key)
            self._unknown[self._starts.pop(key, [])] = True

    def _with_any(self, columns: BoolArray) -> set[bytes]:
        """Fixed points that hold any of these columns."""
        return set().union(*(self._holding[j] for j in np.flatnonzero(columns).tolist() if j in self._holding))

    def _near(self, rows: BoolArray) -> set[bytes]:
        """Fixed points that may hold any of these rows: a block has a column that holds the row."""
        entries, gone = self._problem.entries, np.flatnonzero(rows)
        n_held = int((entries.indptr[gone + 1] - entries.indptr[gone]).sum())
        # where there are few fixed points it is quicker to look at all of them
        if n_held > FEW_POINTS * len(self._points):
            return set(self._points)
        return self._with_any(flags_of(entries[gone].indices, self._columns.size))

    def _search(self) -> None:
        """Descend from every start whose fixed point is not known."""
        fresh = np.flatnonzero(self._columns & self._unknown[: self._columns.size])
        if self._coarse is not None and fresh.size:
            rich = self._sizes_in_sample(self._coarse)[fresh] >= WELL_SAMPLED
            for starts in _batches(fresh[rich]):
                first = self._coarse.first_columns(starts, self._rows[self._sampled], self._columns)
                self._record_fixed_points(self._settle_on_sample(first), starts)
            fresh = fresh[~rich]
        waiting, numbers = self._other_starts()
        for starts in _batches(fresh):
            first = self._ballot.first_columns(starts, self._rows, self._columns)
            # a candidate without live rows leads nowhere, now and later
            self._unknown[starts[np.diff(first.bounds) == 0]] = False
            # one vote on many sets takes less time than many votes
            self._record_fixed_points(first.and_also(waiting), np.concatenate([starts, numbers]))
            waiting, numbers = Sets.from_keys([]), numbers[:0]
        self._record_fixed_points(waiting, numbers)

    def _other_starts(self) -> tuple[Sets, IntArray]:
        """Heavy rows whose fixed point is not known and the leading singular vector, as sets, and their numbers."""
        masks, numbers = np.zeros((0, self._columns.size), bool), np.zeros(0, np.int64)
        if self._quorum == HALF and self._rows.size <= FEW_ROWS:
            heavy = self._heavy_rows(ROW_STARTS)
            starts = heavy[self._unknown[heavy + self._columns.size]]
            masks = (self._problem.entries[starts].toarray() != 0) & self._columns
            numbers = starts + self._columns.size
        if self._quorum == HALF and self._round < LEADING_ROUNDS:
            leading = self._leading()
            if not self._ballot.is_too_large(leading):
                masks, numbers = np.vstack([masks, leading]), np.append(numbers, LEADING)
        return self._settle_on_sample(Sets.from_masks(masks)), numbers

    def _sizes_in_sample(self, sample: Ballot) -> IntArray:
        """(q,) live rows of each candidate in the sample."""
        entries = sample.problem.entries
        live = np.repeat(self._rows[self._sampled], np.diff(entries.indptr))
        return np.bincount(entries.indices[live], minlength=self._columns.size)

    def _settle_on_sample(self, sets: Sets) -> Sets:
        """Come to rest on the sample, where there is one."""
        if self._coarse is None:
            return sets
        return vote_to_fixed_point(self._coarse, sets, self._rows[self._sampled], self._columns)

    def _record_fixed_points(self, sets: Sets, starts: IntArray) -> None:
        """Come to rest from sets of columns and remember where each start did."""
        rest = vote_to_fixed_point(self._ballot, sets, self._rows, self._columns, self._keep, self._points)
        for start, key in zip(starts.tolist(), rest.keys()):
            if key in self._points:
                self._unknown[start] = False
                self._starts[key].append(start)

    def _keep(self, keys: list[bytes], tally: Tally, places: list[int]) -> None:
        """Remember blocks that did not move."""
        sets = Sets.from_keys(keys)
        n_sources = self._problem.sources_of_sets(sets.which(), sets.items, len(sets))
        for key, k, sources in zip(keys, places, n_sources.tolist()):
            rows = tally.rows(k)
            if not key or not rows.size:
                continue
            point = FixedPoint.of(key, rows, self._rows.size, float(tally.gains[k]), int(tally.n_elements[k]), sources)
            self._points[key] = point
            for j in point.columns.tolist():
                self._holding[j].add(key)
            if point.gain > 0 and tally.n_elements[k] >= self._sizes[0] and sources >= self._sizes[1]:
                heappush(self._best, point.preference)

    def _heavy_rows(self, number: int) -> IntArray:
        """The live rows that stand for the most elements."""
        live = self._heaviest[self._rows[self._heaviest]]
        if live.size < number and self._heaviest.size < self._rows.size:
            self._heaviest = heaviest(self._problem.counts, self._rows.size)
            return self._heavy_rows(number)
        return live[:number]

    def _leading(self) -> BoolArray:
        """(q,) start from the leading singular vector of the heaviest live rows, by power iteration."""
        problem, rows = self._problem, np.sort(self._heavy_rows(HEAVY_ROWS))
        scale = problem.weights / problem.weights.max() * self._columns
        held = problem.entries[rows]
        matrix = csr_array((scale[held.indices], held.indices, held.indptr), shape=held.shape)
        counts, vector = problem.counts[rows].astype(np.float64), self._columns.astype(np.float64)
        turned = matrix.T
        for _ in range(10):
            vector = turned @ (counts * (matrix @ vector))
            vector = vector / (vector.max() or 1.0)
        return np.asarray((vector > 0.5 * vector.max()) & self._columns)


def heaviest(counts: IntArray, number: int) -> IntArray:
    """The heaviest rows, at least the given number of them, in order where they are equal."""
    if number >= counts.size:
        return np.argsort(-counts, kind="stable")
    rows = np.flatnonzero(counts >= np.partition(counts, -number)[-number])
    return rows[np.argsort(-counts[rows], kind="stable")]


def _batches(items: IntArray) -> list[IntArray]:
    """Slices of at most BATCH items."""
    return [items[k : k + BATCH] for k in range(0, items.size, BATCH)]


def vote_memory(problem: PreferenceMatrix) -> int:
    """Bytes that votes need: a copy of the memberships as numbers, and one batch of starts."""
    rows, columns = problem.shape
    return 40 * int(problem.entries.nnz) + BATCH * (24 * min(rows, BLOCK) + 48 * columns + rows // 8)
