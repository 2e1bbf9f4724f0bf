"""Sparse singular value decomposition (Lee, Shen, Huang and Marron 2010), for comparison."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from scipy.sparse import csr_array

from biconsensus.matrix._matrix import PreferenceMatrix
from biconsensus.protocols import Block, BoolArray, FloatArray
from biconsensus.solvers._factors import block_of_factors, live_matrix, require_seen, unit_length
from biconsensus.solvers._frobenius import leading_pair


class SsvdSolver:
    """Rank-one factor with adaptive lasso penalties, their sizes by BIC; nothing missing.

    Parameters
    ----------
    gamma : float
        Exponent of the adaptive weights ``|v_j|^-gamma``; the authors use 2.
    max_iter : int
        Most alternations.
    tol : float
        Change of the unit factors at which to stop.

    Attributes
    ----------
    n_iter_ : int
        Alternations of the last call.

    Notes
    -----
    ``min ||A - s u v^T||_F^2 + lambda_1 sum |u_i| / |u~_i|^gamma + lambda_2 sum |v_j| / |v~_j|^gamma``, one side at a
    time: with u of length 1 and v~ = A^T u, ``v_j = max(v~_j - lambda v~_j^-gamma / 2, 0)``, and lambda minimises
    ``SSE / (sigma^2 m n) + df log(m n) / (m n)`` with sigma^2 the residual variance at lambda = 0. A row with
    multiplicity s is s equal rows. The quorum only enters the gain that is reported.

    Examples
    --------
    >>> import numpy as np
    >>> from fractions import Fraction
    >>> from scipy.sparse import csr_array, eye_array
    >>> from biconsensus.matrix._matrix import PreferenceMatrix
    >>> B = csr_array(np.kron([[1, 0], [0, 1]], np.ones((4, 3))).astype(np.uint8)[:6])
    >>> problem = PreferenceMatrix(B, np.ones(6, int), np.ones(6), np.arange(6), eye_array(6, dtype=bool, format="csr"))
    >>> solver = SsvdSolver()
    >>> solver.load(problem, Fraction(1, 2))
    >>> solver.best_block(np.ones(6, bool), np.ones(6, bool), 1, 1).columns.tolist()
    [True, True, True, False, False, False]
    """

    n_iter_: int

    def __init__(self, *, gamma: float = 2.0, max_iter: int = 100, tol: float = 1e-6) -> None:
        self.gamma = gamma
        self.max_iter = max_iter
        self.tol = tol

    def load(self, problem: PreferenceMatrix, quorum: Fraction) -> None:
        """Take a problem; refuses missing votes."""
        require_seen(problem, "ssvd")
        self._problem, self._quorum = problem, quorum

    def best_block(self, rows: BoolArray, columns: BoolArray, min_elements: int, min_candidates: int) -> Block | None:
        """Block of the penalised factor of the live matrix, or None if it is too small."""
        matrix, counts = live_matrix(self._problem, rows, columns)
        if not matrix.nnz:
            return None
        u, v = self._factors(matrix, counts)
        return block_of_factors(self._problem, self._quorum, (rows, columns), (u, v), (min_elements, min_candidates))

    def _factors(self, A: csr_array, counts: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Alternate both penalised regressions from the leading singular pair; v has length 1."""
        scaled = A.copy()
        scaled.data = A.data * np.repeat(np.sqrt(counts), np.diff(A.indptr))
        left, value, v = leading_pair(scaled)
        u = left / np.sqrt(counts)
        energy, ones = float((scaled.data**2).sum()), np.ones(A.shape[1])
        size = counts.sum() * ones.size
        for iteration in range(1, self.max_iter + 1):
            self.n_iter_ = iteration
            new_v = unit_length(penalised(A.T @ (counts * u), ones, energy, size, self.gamma), ones)
            new_u = penalised(A @ new_v, counts, energy, size, self.gamma)
            value, new_u = float(np.sqrt(counts @ new_u**2)), unit_length(new_u, counts)
            change = max(float(np.abs(new_u - u).max()), float(np.abs(new_v - v).max()))
            u, v = new_u, new_v
            if change < self.tol:
                break
        return value * u, v


def penalised(fit: FloatArray, counts: FloatArray, energy: float, size: float, gamma: float) -> FloatArray:
    """Adaptive lasso of a least-squares fit, its penalty by BIC.

    Parameters
    ----------
    fit : (k,) array of float
        Least-squares coefficients (not negative) given the other side, which has length 1.
    counts : (k,) array of float
        How often each coefficient occurs.
    energy : float
        Squared Frobenius norm of the matrix.
    size : float
        Number of entries of the matrix.
    gamma : float
        Exponent of the adaptive weights.

    Returns
    -------
    (k,) array of float

    Examples
    --------
    >>> import numpy as np
    >>> penalised(np.array([3.0, 2.9, 0.01]), np.ones(3), 18.0, 30.0, 2.0).round(2).tolist()
    [3.0, 2.9, 0.0]
    """
    order = np.argsort(-fit, kind="stable")
    # a coefficient at rounding level has an infinite adaptive weight
    order = order[fit[order] > 1e-12 * fit.max(initial=0.0)]
    result = np.zeros_like(fit)
    if order.size:
        top, times = fit[order], counts[order]
        # half the penalty at which the next coefficient leaves; 0 keeps all
        half = np.append(top[1:], 0.0) ** (gamma + 1)
        error = energy - np.cumsum(times * top**2) + half**2 * np.cumsum(times * top ** (-2 * gamma))
        df = np.cumsum(times)
        variance = max(error[-1], 1e-12 * energy) / max(size - df[-1], 1.0)
        bic = error / (variance * size) + df * np.log(size) / size
        result[order] = np.maximum(top - half[int(np.argmin(bic))] * top ** (-gamma), 0.0)
    return result
