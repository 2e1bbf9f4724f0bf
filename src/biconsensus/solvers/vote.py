"""The default solver: exact alternating votes from many starts, with reuse between rounds."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array

from biconsensus.core.preference import PreferenceMatrix
from biconsensus.protocols import Block, BoolArray, IntArray
from biconsensus.solvers.ballot import Ballot, Tally
from biconsensus.solvers.descent import sample_rows, settle

HALF = Fraction(1, 2)
BATCH = 256
ROW_STARTS = 64
FEW_ROWS = 1 << 11
"""Rows up to which rows are starts of their own; where there are more, candidates found all that they found."""
HEAVY_ROWS = 1 << 8
"""Rows, the heaviest ones, that the leading singular vector is taken from."""
LEADING_ROUNDS = 32
"""Rounds that start from the singular vector too: later ones have small groups, which candidates find."""
WELL_SAMPLED = 64
LEADING = -1


@dataclass(frozen=True)
class FixedPoint:
    """A block that neither vote changes."""

    rows: NDArray[np.uint8]
    columns: BoolArray
    gain: float
    n_elements: int
    n_sources: int
    first_row: int


class VoteSolver:
    """Alternate the votes of columns and rows until nothing moves, from every candidate.

    Each half-step is the exact maximum of the gain given the other side, so the gain never falls. Blocks found once are
    kept: one that shares no row and no column with what was removed since is still a fixed point with the same gain.
    Where there are many rows, starts first come to rest on a sample of them, and only the few distinct outcomes go on
    to the whole.

    Parameters
    ----------
    n_jobs : int, optional
        Threads for the votes; the answer does not depend on it.

    Notes
    -----
    Ties are broken by content: the larger gain, then more elements, more sources, the first row in the user's order,
    the first column. At quorum 1/2 the heaviest rows and the leading singular vector are starts too; below it only
    candidates are, because the global maximum would merge groups that every source keeps apart.

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

    def load(self, problem: PreferenceMatrix, quorum: Fraction) -> None:
        """Take a problem."""
        self._problem, self._quorum = problem, quorum
        self._ballot = Ballot(problem, quorum, self.n_jobs)
        sample = sample_rows(problem)
        self._sampled = np.zeros(0, np.int64) if sample is None else sample[0]
        self._coarse = None if sample is None else Ballot(sample[1], quorum, self.n_jobs)
        self._round = 0
        self._heaviest = np.argsort(-problem.counts, kind="stable")
        self._points: dict[bytes, FixedPoint] = {}
        self._reached: dict[int, bytes] = {}
        self._starts: dict[bytes, list[int]] = {}
        self._rows = np.ones(problem.shape[0], bool)
        self._columns = np.ones(problem.shape[1], bool)

    def best_block(self, rows: BoolArray, columns: BoolArray, min_elements: int, min_candidates: int) -> Block | None:
        """Best fixed point of the minimum sizes inside the live rows and columns; weightless columns back nothing."""
        columns = columns & (self._problem.weights > 0)
        self._forget(rows, columns)
        if rows.any() and columns.any():
            self._search()
        good = [
            point
            for point in self._points.values()
            if point.gain > 0 and point.n_elements >= min_elements and point.n_sources >= min_candidates
        ]
        if not good:
            return None
        self._round += 1
        best = max(good, key=_preference)
        inside = np.unpackbits(best.rows, count=rows.size).astype(bool)
        return Block(inside, best.columns.copy(), best.gain)

    def _forget(self, rows: BoolArray, columns: BoolArray) -> None:
        """Drop the fixed points that what has changed since the last call touches."""
        changed_rows, changed_columns = np.packbits(self._rows != rows), np.flatnonzero(self._columns != columns)
        # only the bytes that changed are looked at, so that a round costs little where there are many groups
        spots = np.flatnonzero(changed_rows)
        bits = changed_rows[spots]
        revived = bool((rows & ~self._rows).any() or (columns & ~self._columns).any())
        stale = [
            key
            for key, point in self._points.items()
            if revived or point.columns[changed_columns].any() or (point.rows[spots] & bits).any()
        ]
        for key in stale:
            del self._points[key]
            for start in self._starts.pop(key, ()):
                self._reached.pop(start, None)
        self._rows, self._columns = rows.copy(), columns.copy()

    def _search(self) -> None:
        """Descend from every start whose fixed point is not known."""
        n_columns = self._columns.size
        fresh = np.array([j for j in np.flatnonzero(self._columns) if j not in self._reached], dtype=np.int64)
        for starts in _batches(fresh):
            self._from(self._first_columns(starts), starts)
        if self._quorum == HALF:
            wanted = self._heavy_rows(ROW_STARTS if self._rows.size <= FEW_ROWS else 0)
            heavy = np.array([i for i in wanted if i + n_columns not in self._reached], dtype=np.int64)
            for starts in _batches(heavy):
                held = self._problem.entries[starts].toarray().T != 0
                self._from(self._approach(held & self._columns[:, None]), starts + n_columns)
            if self._round < LEADING_ROUNDS:
                self._from(self._approach(self._leading()), np.array([LEADING]))

    def _first_columns(self, starts: IntArray) -> BoolArray:
        """(q, S) columns that join the rows of each candidate; from the sample where it holds enough of them."""
        if self._coarse is None:
            return self._ballot.first_columns(starts, self._rows, self._columns)
        live = self._rows[self._sampled]
        sizes = self._coarse.problem.by_column[starts].astype(np.float64) @ live.astype(np.float64)
        rich = sizes >= WELL_SAMPLED
        columns = np.zeros((self._columns.size, starts.size), bool)
        columns[:, rich] = self._coarse.first_columns(starts[rich], live, self._columns)
        columns[:, ~rich] = self._ballot.first_columns(starts[~rich], self._rows, self._columns)
        columns[:, rich] = self._approach(columns[:, rich])
        return columns

    def _approach(self, columns: BoolArray) -> BoolArray:
        """Come to rest on the sample, where there is one."""
        if self._coarse is None:
            return columns
        return settle(self._coarse, columns, self._rows[self._sampled], self._columns)

    def _from(self, columns: BoolArray, starts: IntArray) -> None:
        """Come to rest from column sets (q, S) and remember where each start did."""
        rest = settle(self._ballot, columns, self._rows, self._columns, self._keep, self._points)
        for k, start in enumerate(starts):
            key = rest[:, k].tobytes()
            if key in self._points:
                self._reached[int(start)] = key
                self._starts.setdefault(key, []).append(int(start))

    def _keep(self, columns: BoolArray, tally: Tally, k: int) -> None:
        """Remember a block that did not move."""
        rows = tally.rows(k)
        if columns.any() and rows.any():
            self._points[columns.tobytes()] = FixedPoint(
                rows=np.packbits(rows),
                columns=columns,
                gain=float(tally.gains[k]),
                n_elements=int(tally.n_elements[k]),
                n_sources=self._problem.n_sources(columns),
                first_row=int(rows.argmax()),
            )

    def _heavy_rows(self, number: int) -> IntArray:
        """The live rows that stand for the most elements."""
        return self._heaviest[self._rows[self._heaviest]][:number] if number else self._heaviest[:0]

    def _leading(self) -> BoolArray:
        """(q, 1) start from the leading singular vector of the heaviest live rows, by power iteration."""
        problem, rows = self._problem, np.sort(self._heavy_rows(HEAVY_ROWS))
        scale = diags_array(problem.weights / problem.weights.max() * self._columns)
        matrix = csr_array(problem.entries[rows].astype(np.float64)) @ scale
        counts, vector = problem.counts[rows].astype(np.float64), self._columns.astype(np.float64)
        turned = matrix.T
        for _ in range(10):
            vector = turned @ (counts * (matrix @ vector))
            vector = vector / (np.linalg.norm(vector) or 1.0)
        return np.asarray((vector > 0.5 * vector.max()) & self._columns)[:, None]


def _preference(point: FixedPoint) -> tuple[float, int, int, int, int]:
    """Order of fixed points: the documented rule for ties."""
    rounded = float(f"{point.gain:.12e}")
    return rounded, point.n_elements, point.n_sources, -point.first_row, -int(point.columns.argmax())


def _batches(items: IntArray) -> list[IntArray]:
    """Slices of at most BATCH items."""
    return [items[k : k + BATCH] for k in range(0, items.size, BATCH)]
