"""Cutting planes and branch and bound for the best block of a matrix of gains, for `exact`."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, linprog, milp
from scipy.sparse import csr_array, vstack

from biconsensus.protocols import BoolArray, FloatArray, IntArray

VIOLATED = 1e-3
"""Violation from which a cut is worth adding."""
MOST = 2000
"""Cuts added in one round: more slow the next linear program down."""


def cycle_cuts(
    gains: FloatArray, r: FloatArray, q: FloatArray, z: FloatArray, n_variables: int
) -> tuple[csr_array, FloatArray]:
    """Inequalities over two rows and two columns that a fractional answer violates most.

    Parameters
    ----------
    gains : (m, n) array of float
        Gain of each pair; only its sign matters.
    r, q, z : (m,), (n,), (m, n) array of float
        Answer of the relaxation.
    n_variables : int
        Width of the inequalities; r, q and z (row by row) come first.

    Returns
    -------
    matrix : (k, n_variables) csr_array
    limits : (k,) array of float
        The cuts ``matrix @ x <= limits``.

    Notes
    -----
    For rows i, i' and columns j, j' where (i, j), (i, j') and (i', j) gain and (i', j') loses,
    ``z_ij + z_ij' + z_i'j - z_i'j' <= r_i + q_j`` holds for every block; where the three lose and the last one gains,
    ``r_i + q_j - z_ij - z_ij' - z_i'j + z_i'j' <= 1``. At r = q = 1/2 both are violated by 1/2.

    Examples
    --------
    >>> import numpy as np
    >>> half = np.full(2, 0.5)
    >>> gains = np.array([[0.5, 0.5], [0.5, -0.5]])
    >>> matrix, limits = cycle_cuts(gains, half, half, np.array([[0.5, 0.5], [0.5, 0.0]]), 8)
    >>> matrix.toarray().tolist(), limits.tolist()
    ([[-1.0, 0.0, -1.0, 0.0, 1.0, 1.0, 1.0, -1.0]], [0.0])
    """
    m, n = gains.shape
    sign = np.sign(gains)
    found = [_worst(i, sign, r, q, z) for i in range(m)]
    violation = np.concatenate([amount for amount, _ in found])
    cycles = np.concatenate([cycle for _, cycle in found])
    worst = np.argsort(-violation, kind="stable")[:MOST]
    i, j, i2, j2 = cycles[worst[violation[worst] > VIOLATED]].T
    s = sign[i, j]
    first_z = m + n
    variables = [first_z + i * n + j, first_z + i * n + j2, first_z + i2 * n + j, first_z + i2 * n + j2, i, m + j]
    values = [s, s, s, -s, -s, -s]
    cut = np.tile(np.arange(i.size), 6)
    matrix = csr_array((np.concatenate(values), (cut, np.concatenate(variables))), shape=(i.size, n_variables))
    return matrix, np.where(s < 0, 1.0, 0.0)


def _worst(i: int, sign: FloatArray, r: FloatArray, q: FloatArray, z: FloatArray) -> tuple[FloatArray, IntArray]:
    """For row i and each column j, the most violated cycle through them: its violation and (i, j, i', j')."""
    m, n = sign.shape
    s = sign[i][:, None, None]
    total = (z[i] - r[i] - q)[:, None, None] + z[i][None, None, :] + z.T[:, :, None] - z[None]
    fits = (s != 0) & (sign[i][None, None, :] == s) & (sign.T[:, :, None] == s) & (sign[None] == -s)
    violation = np.where(fits, s * total - (s < 0), -1.0).reshape(n, m * n)
    place = violation.argmax(axis=1)
    row, column = np.divmod(place, n)
    here = np.arange(n)
    return violation[here, place], np.stack([np.full(n, i), here, row, column], axis=1)


TINY = 1e-6
"""What counts as whole, and as no gain, in the linear programs."""


@dataclass
class BlockSearch:
    """One search for the best block; variables are r, q, z (row by row) and one for each source."""

    gains: FloatArray
    elements: tuple[FloatArray, int] | None
    """Multiplicities of the rows and the least sum of them."""
    sources: tuple[csr_array, int] | None
    """(c, q) columns of each source and the least number of sources."""
    deadline: float
    block: tuple[BoolArray, BoolArray] | None = None
    gain: float = 0.0
    bound: float = np.inf
    grain: float = field(init=False)
    """Steps in which gains can differ."""

    def __post_init__(self) -> None:
        whole = np.array_equal(2 * self.gains, np.rint(2 * self.gains))
        self.grain = 0.5 - TINY if whole else TINY * max(1.0, float(np.abs(self.gains).max(initial=0.0)))
        n_sources = 0 if self.sources is None else self.sources[0].shape[0]
        self.cost = np.concatenate([np.zeros(sum(self.gains.shape)), -self.gains.ravel(), np.zeros(n_sources)])

    def run(self) -> None:
        """Cut until the bound meets the best block or no cut helps; then branch."""
        for rows in (self.gains > 0).T:
            self._settle(rows @ self.gains > 0)
        matrix, limits = self._relaxation()
        n_fixed = limits.size
        while self._closing():
            programme: Any = {"c": self.cost, "A_ub": matrix, "b_ub": limits, "bounds": (0, 1)}
            result = linprog(**programme, options=self._options())
            if result.status == 2:
                self.bound = self.gain
                return
            if result.status != 0:
                break
            self.bound = min(self.bound, -float(result.fun))
            self._round(result.x)
            cuts, cut_limits = cycle_cuts(self.gains, *self._parts(result.x), self.cost.size)
            if not cut_limits.size:
                break
            tight = (limits - matrix @ result.x < 0.1) | (np.arange(limits.size) < n_fixed)
            matrix, limits = csr_array(vstack([matrix[tight], cuts])), np.append(limits[tight], cut_limits)
        if self._closing():
            self._branch(matrix, limits)

    def _closing(self) -> bool:
        """Whether there is a gap left and time to close it."""
        return self.bound - self.gain >= self.grain and time.monotonic() < self.deadline

    def _options(self) -> Any:
        """Time left, for HiGHS."""
        return {"time_limit": max(0.01, self.deadline - time.monotonic())}

    def _parts(self, x: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Values of r, q and z."""
        m, n = self.gains.shape
        return x[:m], x[m : m + n], x[m + n : m + n + m * n].reshape(m, n)

    def _relaxation(self) -> tuple[csr_array, FloatArray]:
        """Inequalities that tie z to r and q, and the minimum sizes."""
        m, n = self.gains.shape
        row, column = np.divmod(np.arange(m * n), n)
        z, good, bad = m + n + np.arange(m * n), self.gains.ravel() > 0, self.gains.ravel() < 0
        parts = [
            self._inequalities([(z[good], 1.0), (row[good], -1.0)]),
            self._inequalities([(z[good], 1.0), (m + column[good], -1.0)]),
            self._inequalities([(row[bad], 1.0), (m + column[bad], 1.0), (z[bad], -1.0)]),
        ]
        limits = [np.zeros(2 * int(good.sum())), np.ones(int(bad.sum()))]
        if self.elements is not None:
            parts.append(self._row({i: -count for i, count in enumerate(self.elements[0])}))
            limits.append(np.array([-float(self.elements[1])]))
        if self.sources is not None:
            backers, least = self.sources
            first = m + n + m * n
            for c in range(backers.shape[0]):
                columns = backers.indices[backers.indptr[c] : backers.indptr[c + 1]]
                parts.append(self._row({first + c: 1.0, **{m + int(j): -1.0 for j in columns}}))
            parts.append(self._row({first + c: -1.0 for c in range(backers.shape[0])}))
            limits.append(np.append(np.zeros(backers.shape[0]), -float(least)))
        return csr_array(vstack(parts)), np.concatenate(limits)

    def _inequalities(self, terms: list[tuple[IntArray, float]]) -> csr_array:
        """One inequality for each place of the given variables."""
        k = terms[0][0].size
        variables = np.concatenate([variable for variable, _ in terms])
        signs = np.repeat([sign for _, sign in terms], k)
        return csr_array((signs, (np.tile(np.arange(k), len(terms)), variables)), shape=(k, self.cost.size))

    def _row(self, coefficients: dict[int, float]) -> csr_array:
        """A single inequality."""
        variables = np.array(list(coefficients), dtype=np.int64)
        values = np.array(list(coefficients.values()))
        return csr_array((values, (np.zeros_like(variables), variables)), shape=(1, self.cost.size))

    def _round(self, x: FloatArray) -> None:
        """Try the block near a fractional answer, after votes have settled it."""
        self._settle(self._parts(x)[1] > 0.5 - TINY)

    def _settle(self, columns: BoolArray) -> None:
        """Vote from a set of columns until nothing moves, and keep the block."""
        for _ in range(100):
            rows = self.gains @ columns > 0
            settled = rows @ self.gains > 0
            if np.array_equal(settled, columns):
                break
            columns = settled
        self._keep(rows, columns)

    def _keep(self, rows: BoolArray, columns: BoolArray) -> None:
        """Take a block if it is admissible and better than what is known."""
        if self.elements is not None and self.elements[0] @ rows < self.elements[1]:
            return
        if self.sources is not None and np.count_nonzero(self.sources[0] @ columns) < self.sources[1]:
            return
        gain = float(rows @ self.gains @ columns)
        if gain > self.gain:
            self.block, self.gain = (rows, columns), gain

    def _branch(self, matrix: csr_array, limits: FloatArray) -> None:
        """Branch and bound; only blocks better than the known one are looked for."""
        m, n = self.gains.shape
        better = csr_array(self.cost[None, :])
        rows = csr_array(vstack([matrix, better]))
        # HiGHS of SciPy before 1.15 takes 32-bit indices only
        rows.indices, rows.indptr = rows.indices.astype(np.int32), rows.indptr.astype(np.int32)
        constraints = LinearConstraint(rows, ub=np.append(limits, -self.gain - self.grain))
        # with one side fixed the other is a vote: only sizes make it necessary to branch on both
        integer = np.zeros(self.cost.size, dtype=np.int64)
        integer[: m + n] = 1 if self.elements is not None else np.repeat([m <= n, m > n], [m, n])
        result = milp(
            self.cost, integrality=integer, bounds=Bounds(0, 1), constraints=constraints, options=self._options()
        )
        if result.status == 2:
            self.bound = self.gain
            return
        if result.x is not None:
            rows, columns, _ = self._parts(result.x)
            self._keep(rows > 0.5, columns > 0.5)
            if self.elements is None:
                self._settle((rows > 0.5) @ self.gains > 0 if m <= n else columns > 0.5)
        if result.mip_dual_bound is not None:
            self.bound = min(self.bound, max(self.gain, -float(result.mip_dual_bound)))
