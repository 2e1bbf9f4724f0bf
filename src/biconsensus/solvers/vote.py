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

HALF = Fraction(1, 2)
BATCH = 256
ROW_STARTS = 64
MAX_STEPS = 200


@dataclass(frozen=True)
class FixedPoint:
    """A block that neither vote changes."""

    rows: NDArray[np.uint8]
    columns: BoolArray
    gain: float
    n_elements: int
    n_sources: int


class VoteSolver:
    """Alternate the votes of columns and rows until nothing moves, from every candidate.

    Each half-step is the exact maximum of the gain given the other side, so the gain never falls. Blocks found once are
    kept: one that shares no row and no column with what was removed since is still a fixed point with the same gain.

    Parameters
    ----------
    n_jobs : int, optional
        Threads for the votes; the answer does not depend on it.

    Notes
    -----
    Ties are broken by content: the larger gain, then more elements, more sources, the first row in the user's order,
    the first column. At quorum 1/2 the heaviest rows and the leading singular vector are starts too; below it only
    candidates are, because the global maximum would merge groups that every source keeps apart.
    """

    def __init__(self, n_jobs: int | None = None) -> None:
        self.n_jobs = n_jobs

    def load(self, problem: PreferenceMatrix, quorum: Fraction) -> None:
        """Take a problem."""
        self._ballot = Ballot(problem, quorum, self.n_jobs)
        self._problem = problem
        self._points: dict[bytes, FixedPoint] = {}
        self._reached: dict[int, bytes] = {}
        self._rows = np.ones(problem.shape[0], bool)
        self._columns = np.ones(problem.shape[1], bool)

    def best_block(self, rows: BoolArray, columns: BoolArray, min_elements: int, min_candidates: int) -> Block | None:
        """Best fixed point of the minimum sizes inside the live rows and columns."""
        self._forget(rows, columns)
        self._search(rows, columns)
        good = [
            point
            for point in self._points.values()
            if point.gain > 0 and point.n_elements >= min_elements and point.n_sources >= min_candidates
        ]
        if not good:
            return None
        best = max(good, key=_preference)
        return Block(self._unpack(best.rows), best.columns.copy(), best.gain)

    def _forget(self, rows: BoolArray, columns: BoolArray) -> None:
        """Drop the fixed points that what has changed since the last call touches."""
        changed_rows = np.packbits(self._rows != rows)
        changed_columns = self._columns != columns
        revived = bool((rows & ~self._rows).any() or (columns & ~self._columns).any())
        stale = {
            key
            for key, point in self._points.items()
            if revived or (point.columns & changed_columns).any() or (point.rows & changed_rows).any()
        }
        self._points = {key: point for key, point in self._points.items() if key not in stale}
        self._reached = {start: key for start, key in self._reached.items() if key in self._points}
        self._rows, self._columns = rows.copy(), columns.copy()

    def _search(self, rows: BoolArray, columns: BoolArray) -> None:
        """Descend from every start whose fixed point is not known."""
        n_columns = self._problem.shape[1]
        fresh = np.array([j for j in np.flatnonzero(columns) if j not in self._reached], dtype=np.int64)
        for batch in _batches(fresh):
            self._descend(self._ballot.first_columns(batch, rows, columns), batch)
        if self._ballot.quorum == HALF and rows.any() and columns.any():
            heavy = [i for i in self._heavy_rows(rows) if i + n_columns not in self._reached]
            for batch in _batches(np.array(heavy, dtype=np.int64)):
                self._descend(self._columns_of(batch), batch + n_columns)
            self._descend(self._leading(), np.array([-1]))

    def _heavy_rows(self, rows: BoolArray) -> IntArray:
        """The live rows that stand for the most elements."""
        live = np.flatnonzero(rows)
        return live[np.argsort(-self._problem.counts[live], kind="stable")[:ROW_STARTS]]

    def _columns_of(self, rows: IntArray) -> BoolArray:
        """(q, S) live columns that hold each row."""
        held = self._problem.entries[rows].toarray().T != 0
        return np.asarray(held & self._columns[:, None])

    def _leading(self) -> BoolArray:
        """(q, 1) start from the leading singular vector of the live matrix, by power iteration."""
        problem = self._problem
        matrix = csr_array(problem.entries[self._rows].astype(np.float64)) @ diags_array(
            problem.weights * self._columns
        )
        counts, vector = problem.counts[self._rows].astype(np.float64), self._columns.astype(np.float64)
        for _ in range(20):
            vector = matrix.T @ (counts * (matrix @ vector))
            vector = vector / (np.linalg.norm(vector) or 1.0)
        return (
            np.asarray(vector > 0.5 * vector.max())[:, None] if vector.max() > 0 else np.zeros((vector.size, 1), bool)
        )

    def _descend(self, columns: BoolArray, starts: IntArray) -> None:
        """Vote until nothing moves, from all column sets (q, S) at once; sets that meet go on as one."""
        active, which = _distinct(columns)
        for _ in range(MAX_STEPS):
            known = [active[:, k].tobytes() for k in range(active.shape[1])]
            resolved = np.array([key in self._points or not active[:, k].any() for k, key in enumerate(known)])
            for start, k in zip(starts[resolved[which]], which[resolved[which]]):
                self._reached[int(start)] = known[k]
            starts, which = starts[~resolved[which]], which[~resolved[which]]
            if starts.size == 0:
                return
            active, which = active[:, ~resolved], (np.cumsum(~resolved) - 1)[which]
            tally = self._ballot.vote(active, self._rows, self._columns)
            self._record(active, tally)
            active, again = _distinct(tally.columns)
            which = again[which]

    def _record(self, active: BoolArray, tally: Tally) -> None:
        """Keep the column sets that did not move, with their rows."""
        still = np.flatnonzero((active == tally.columns).all(axis=0))
        for k in still:
            columns = active[:, k].copy()
            self._points[columns.tobytes()] = FixedPoint(
                rows=tally.rows[:, k].copy(),
                columns=columns,
                gain=float(tally.gains[k]),
                n_elements=int(tally.n_elements[k]),
                n_sources=self._problem.n_sources(columns),
            )

    def _unpack(self, rows: NDArray[np.uint8]) -> BoolArray:
        """Mask over rows of a packed one."""
        return np.unpackbits(rows, count=self._problem.shape[0]).astype(bool)


def _preference(point: FixedPoint) -> tuple[float, int, int, int, int]:
    """Order of fixed points: the documented rule for ties."""
    first_byte = int(np.flatnonzero(point.rows)[0])
    first_row = 8 * first_byte + 7 - int(point.rows[first_byte]).bit_length() + 1
    first_column = int(np.flatnonzero(point.columns)[0])
    return float(f"{point.gain:.12e}"), point.n_elements, point.n_sources, -first_row, -first_column


def _distinct(columns: BoolArray) -> tuple[BoolArray, IntArray]:
    """Distinct column sets (q, S') in order of appearance, and which of them each one is."""
    packed = np.ascontiguousarray(np.packbits(columns, axis=0).T)
    keys = packed.view(np.dtype((np.void, packed.shape[1]))).ravel()
    _, first, which = np.unique(keys, return_index=True, return_inverse=True)
    return columns[:, first], which.ravel()


def _batches(items: IntArray) -> list[IntArray]:
    """Slices of at most BATCH items."""
    return [items[k : k + BATCH] for k in range(0, items.size, BATCH)]
