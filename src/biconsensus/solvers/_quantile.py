"""The vote for real-valued matrices: block descent by weighted quantiles."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from hashlib import blake2b

import numpy as np
from scipy.sparse import csr_array

from biconsensus.matrix._matrix import PreferenceMatrix
from biconsensus.protocols import GUARD, Block, BoolArray, FloatArray, IntArray, comparable
from biconsensus.solvers._factors import admissible, factor_gain, leading_triplets, live_matrix
from biconsensus.solvers.vote._solver import vote_memory

HALF = Fraction(1, 2)


class QuantileSolver:
    """Best rank-one factor of a real-valued matrix under the pinball loss, by weighted quantiles.

    Parameters
    ----------
    max_iter : int
        Most rounds of one descent (a round updates both sides).
    row_starts : int
        How many of the heaviest rows serve as starts, beside all candidates, at quorum 1/2.

    Notes
    -----
    With B the entries, w the weights, s the multiplicities and M the mask of what was seen, the solver looks for
    ``x, z >= 0`` that minimise ``sum of s_i M_ij w_j rho(B_ij - x_i z_j)`` with the pinball loss ``rho(r) = (1 - theta)
    r`` for r >= 0 and ``-theta r`` below. Given x, the best z_j is the quantile of level 1 - theta of the ratios ``B_ij
    / x_i`` with weights ``s_i M_ij x_i``: the smallest value that has at most the share theta of the weight strictly
    above it. It is zero, and the column stays out, unless its non-zeros weigh more than theta of what the column saw:
    on a binary matrix that is the vote. Zeros are never stored. At theta = 1/2 the quantiles are medians and this is
    the paper's problem ``min ||A - x y||_1`` for A = B diag(w), y = w z.

    Each half-step is the exact minimum given the other side, so the gain never falls. The gain of the block is the drop
    of the loss from x = z = 0 (see `factor_gain`): ``sum of s_i M_ij w_j (B_ij - theta)`` on a binary matrix, half of
    the drop of the L1 norm at theta = 1/2.

    Examples
    --------
    >>> import numpy as np
    >>> from fractions import Fraction
    >>> from scipy.sparse import csr_array, eye_array
    >>> from biconsensus.matrix._matrix import PreferenceMatrix
    >>> B = csr_array(np.array([[0.9, 0.8, 0.0], [1.0, 0.9, 0.0], [0.0, 0.1, 0.7]]))
    >>> problem = PreferenceMatrix(B, np.ones(3, int), np.ones(3), np.arange(3), eye_array(3, dtype=bool, format="csr"))
    >>> solver = QuantileSolver()
    >>> solver.load(problem, Fraction(1, 2))
    >>> block = solver.best_block(np.ones(3, bool), np.ones(3, bool), 1, 1)
    >>> block.rows.tolist(), block.columns.tolist()
    ([True, True, False], [True, True, False])
    """

    def __init__(self, *, max_iter: int = 100, row_starts: int = 32) -> None:
        self.max_iter = max_iter
        self.row_starts = row_starts

    def memory(self, problem: PreferenceMatrix) -> int:
        """Bytes that a search needs, in proportion to the memberships."""
        return vote_memory(problem)

    def load(self, problem: PreferenceMatrix, quorum: Fraction) -> None:
        """Take a problem; any quorum, missing votes allowed."""
        self._problem, self._quorum = problem, quorum
        self._entries = csr_array(problem.entries.astype(np.float64))
        self._by_column = csr_array(problem.by_column.astype(np.float64))

    def best_block(self, rows: BoolArray, columns: BoolArray, min_elements: int, min_candidates: int) -> Block | None:
        """Best block over all starts inside the live rows and columns that has the minimum sizes, or None."""
        best: tuple[tuple[float, int, int], Block] | None = None
        visited: set[bytes] = set()
        for start in self._starts(rows, columns):
            found = self._descend(start, rows, columns, visited)
            if found is None:
                continue
            x, z, gain = found
            if not admissible(self._problem, x > 0, z > 0, min_elements, min_candidates):
                continue
            # ties: the larger block, then the one with the earlier first row
            rank = (comparable(gain), self._problem.n_elements(x > 0), -int(np.argmax(x > 0)))
            if best is None or rank > best[0]:
                best = (rank, Block(x > 0, z > 0, gain))
        return None if best is None else best[1]

    def _starts(self, rows: BoolArray, columns: BoolArray) -> Iterator[FloatArray]:
        """Values of the columns to start from: each candidate's first vote; at quorum 1/2 also rows and the SVD."""
        for j in np.flatnonzero(columns):
            x = np.zeros(rows.size)
            span = slice(self._by_column.indptr[j], self._by_column.indptr[j + 1])
            x[self._by_column.indices[span]] = self._by_column.data[span]
            yield self._column_step(np.where(rows, x, 0.0), columns)
        if self._quorum == HALF:
            yield from self._row_starts(rows, columns)
            yield from self._svd_start(rows, columns)

    def _row_starts(self, rows: BoolArray, columns: BoolArray) -> Iterator[FloatArray]:
        """The heaviest live rows."""
        mass = np.where(
            rows, self._problem.counts * (self._entries @ np.where(columns, self._problem.weights, 0.0)), 0.0
        )
        for i in np.argsort(-mass, kind="stable")[: self.row_starts]:
            if mass[i] > 0:
                z = np.zeros(columns.size)
                span = slice(self._entries.indptr[i], self._entries.indptr[i + 1])
                z[self._entries.indices[span]] = self._entries.data[span]
                yield np.where(columns, z, 0.0)

    def _svd_start(self, rows: BoolArray, columns: BoolArray) -> Iterator[FloatArray]:
        """Right singular vector of the live matrix, in absolute values."""
        matrix, counts = live_matrix(self._problem, rows, columns)
        if not matrix.nnz:
            return
        matrix.data = matrix.data * np.repeat(np.sqrt(counts), np.diff(matrix.indptr))
        z, weights = np.zeros(columns.size), self._problem.weights[columns]
        vector = leading_triplets(matrix)[2][0]
        z[columns] = np.divide(vector, weights, out=np.zeros_like(vector), where=weights > 0)
        yield np.where(z > 1e-9 * z.max(), z, 0.0)

    def _descend(
        self, z: FloatArray, rows: BoolArray, columns: BoolArray, visited: set[bytes]
    ) -> tuple[FloatArray, FloatArray, float] | None:
        """Alternate both quantile steps until nothing moves; None where an earlier descent passed by."""
        x = np.zeros(rows.size)
        own: set[bytes] = set()
        for _ in range(self.max_iter):
            key = blake2b(z.tobytes(), digest_size=16).digest()
            if key in visited or not z.any():
                return None
            if key in own:
                break
            own.add(key)
            x = self._row_step(z, rows)
            z = self._column_step(x, columns)
        visited |= own
        gain = factor_gain(self._problem, x, z, self._quorum)
        return (x, z, gain) if gain > 0 else None

    def _column_step(self, x: FloatArray, columns: BoolArray) -> FloatArray:
        """Best value of each live column given the values of the rows."""
        weights = self._problem.counts * x
        totals = np.full(columns.size, weights.sum())
        if self._problem.unseen is not None and self._problem.mask is not None:
            totals -= (self._problem.unseen.T @ weights)[self._problem.mask]
        return np.where(columns, quantiles(self._entries, x, weights, totals, self._quorum), 0.0)

    def _row_step(self, z: FloatArray, rows: BoolArray) -> FloatArray:
        """Best value of each live row given the values of the columns."""
        weights = self._problem.weights * z
        totals = np.full(rows.size, weights.sum())
        if self._problem.unseen is not None and self._problem.mask is not None:
            totals -= self._problem.unseen @ np.bincount(
                self._problem.mask, weights, minlength=self._problem.unseen.shape[1]
            )
        return np.where(rows, quantiles(self._by_column, z, weights, totals, self._quorum), 0.0)


def quantiles(
    given: csr_array, values: FloatArray, weights: FloatArray, totals: FloatArray, quorum: Fraction
) -> FloatArray:
    """Weighted quantile of level 1 - quorum of ``given[i, j] / values[i]`` over i, for every j at once.

    Parameters
    ----------
    given : (g, t) csr_array
        Non-zero entries, one row for each given value.
    values, weights : (g,) array of float
        Given factor (zero: not in the block) and the weight of each of its ratios.
    totals : (t,) array of float
        Weight that each target saw, implicit zeros included.
    quorum : Fraction
        Share of the total that must lie strictly above zero for a target to be non-zero.

    Returns
    -------
    (t,) array of float

    Examples
    --------
    >>> import numpy as np
    >>> from fractions import Fraction
    >>> from scipy.sparse import csr_array
    >>> given = csr_array(np.array([[3.0, 0.0], [2.0, 0.0], [1.0, 5.0]]))
    >>> quantiles(given, np.ones(3), np.ones(3), np.full(2, 3.0), Fraction(1, 2)).tolist()
    [2.0, 0.0]
    """
    share, whole = quorum.as_integer_ratio()
    picked = np.flatnonzero(values)
    inside = given[picked]
    source = np.repeat(picked, np.diff(inside.indptr))
    target, weight = inside.indices, weights[source]
    above_zero = np.bincount(target, weight, minlength=totals.size)
    # products of whole numbers are exact; the guard keeps ties of real weights from being decided by rounding
    asked = share * totals * (1 + GUARD)
    wins = above_zero * whole > asked
    keep = wins[target]
    target, weight, ratio = target[keep], weight[keep], inside.data[keep] / values[source[keep]]
    order = np.lexsort((-ratio, target))
    result = np.zeros(totals.size)
    if order.size:
        winners = np.flatnonzero(wins)
        first = np.searchsorted(target[order], winners)
        place = _crossing(weight[order], first, asked[winners], whole)
        result[winners] = ratio[order][place]
    return result


def _crossing(weight: FloatArray, first: IntArray, asked: FloatArray, whole: int) -> IntArray:
    """Place in each segment where the running weight, times `whole`, first exceeds what is asked."""
    sizes = np.diff(np.append(first, weight.size))
    running = np.cumsum(weight)
    before = np.append(0.0, running)[first]
    short = (running - np.repeat(before, sizes)) * whole <= np.repeat(asked, sizes)
    ahead: IntArray = np.minimum(np.add.reduceat(short.astype(np.int64), first), sizes - 1)
    return ahead + first
