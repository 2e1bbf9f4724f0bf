"""The paper's own solver: L1 non-negative matrix factorisation by ADMM (first appendix). The reference."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from biconsensus._checks import warn_user
from biconsensus.errors import ConvergenceWarning, InputError
from biconsensus.matrix._matrix import PreferenceMatrix
from biconsensus.protocols import Block, BoolArray, FloatArray
from biconsensus.solvers._factors import (
    block_of_factors,
    dense,
    leading_triplets,
    live_matrix,
    require_majority,
    require_seen,
)


class AdmmSolver:
    """The paper's solver: rank-one L1 factorisation by ADMM; quorum 1/2 and nothing missing.

    Parameters
    ----------
    penalty, step, tol, max_iter
        As in `l1_nmf`.

    Attributes
    ----------
    n_iter_ : int
        Iterations of the last call.
    residual_ : float
        Larger one of its primal and dual residuals.

    Notes
    -----
    Rows and columns of the block are those where the non-negative copies U and V of the factors are above 1e-4 of their
    maximum. The answer is that of the matrix with its rows repeated by their multiplicities.

    Examples
    --------
    >>> import numpy as np
    >>> from fractions import Fraction
    >>> from scipy.sparse import csr_array, eye_array
    >>> from biconsensus.matrix._matrix import PreferenceMatrix
    >>> B = csr_array(np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1]], dtype=np.uint8))
    >>> problem = PreferenceMatrix(B, np.ones(3, int), np.ones(3), np.arange(3), eye_array(3, dtype=bool, format="csr"))
    >>> solver = AdmmSolver()
    >>> solver.load(problem, Fraction(1, 2))
    >>> solver.best_block(np.ones(3, bool), np.ones(3, bool), 1, 1).gain
    2.0
    """

    n_iter_: int
    residual_: float

    def __init__(self, *, penalty: float = 1.0, step: float = 1.0, tol: float = 1e-4, max_iter: int = 2000) -> None:
        self.penalty = penalty
        self.step = step
        self.tol = tol
        self.max_iter = max_iter

    def load(self, problem: PreferenceMatrix, quorum: Fraction) -> None:
        """Take a problem; refuses a quorum other than 1/2 and missing votes."""
        require_majority(quorum, "admm")
        require_seen(problem, "admm")
        self._problem, self._quorum = problem, quorum

    def best_block(self, rows: BoolArray, columns: BoolArray, min_elements: int, min_candidates: int) -> Block | None:
        """Block read from the factors of the live matrix, or None if it is too small."""
        matrix, counts = live_matrix(self._problem, rows, columns)
        if not matrix.nnz:
            return None
        factors = l1_nmf(
            dense(matrix, "admm"),
            counts=counts,
            penalty=self.penalty,
            step=self.step,
            tol=self.tol,
            max_iter=self.max_iter,
        )
        self.n_iter_ = factors.n_iter
        self.residual_ = max(factors.primal_residual, factors.dual_residual)
        factor = factors.U[:, 0], factors.V[0]
        return block_of_factors(self._problem, self._quorum, (rows, columns), factor, (min_elements, min_candidates))


@dataclass(frozen=True)
class L1Factors:
    """Non-negative factors and how the iterations that made them ended."""

    U: FloatArray
    """(m, rank) left factor."""
    V: FloatArray
    """(rank, n) right factor."""
    n_iter: int
    """Iterations done."""
    primal_residual: float
    """Size of the constraint violation, relative to the variables."""
    dual_residual: float
    """Size of the last change of the variables, relative to the multipliers' scale."""
    converged: bool
    """Whether both residuals fell below the tolerance."""


def l1_nmf(
    A: ArrayLike,
    rank: int = 1,
    *,
    counts: ArrayLike | None = None,
    penalty: float = 1.0,
    step: float = 1.0,
    tol: float = 1e-4,
    max_iter: int = 2000,
) -> L1Factors:
    """Factorise a non-negative matrix under the L1 norm, ``min ||A - U V||_1`` with U, V >= 0.

    Parameters
    ----------
    A : (m, n) array of float
        Non-negative matrix.
    rank : int
        Number of factors (q).
    counts : (m,) array of int, optional
        How often each row stands in the matrix; the answer is that of the matrix with its rows repeated.
    penalty : float
        Penalty parameters alpha = beta = gamma; the paper uses 1.
    step : float
        Length xi of the step of the multipliers; the paper uses 1.
    tol : float
        Relative size of the primal and dual residuals at which to stop.
    max_iter : int
        Most iterations; a `ConvergenceWarning` with the residuals is issued when they do not suffice.

    Returns
    -------
    L1Factors

    Notes
    -----
    The appendix of the paper solves ``min ||E||_1`` subject to ``E = A - X Y, X = U, Y = V, U, V >= 0``. Errata that
    are mended here: the X and Y updates carry the penalty inside the inverse, ``(gamma Y Y^T + alpha I)``; the E and
    Psi updates use X Y; the multipliers ascend. The iterations start from the absolute values of the SVD.

    Examples
    --------
    >>> import numpy as np
    >>> A = np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    >>> factors = l1_nmf(A)
    >>> (factors.U @ factors.V).round(2).tolist()
    [[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 0.0]]
    """
    matrix = np.asarray(A, dtype=np.float64)
    repeats = np.ones(matrix.shape[0]) if counts is None else np.asarray(counts, dtype=np.float64)
    if not 1 <= rank <= min(matrix.shape):
        raise InputError(f"rank must lie between 1 and {min(matrix.shape)} (the smaller side of A); received {rank}.")
    factors = _iterate(matrix, rank, repeats[:, None], penalty, step, tol, max_iter)
    if not factors.converged:
        warn_user(
            f"ADMM stopped after {factors.n_iter} iterations with primal residual {factors.primal_residual:.2e} and "
            f"dual residual {factors.dual_residual:.2e}, above tol={tol:g}. Raise max_iter or tol.",
            ConvergenceWarning,
        )
    return factors


def _iterate(
    A: FloatArray, rank: int, s: FloatArray, penalty: float, step: float, tol: float, max_iter: int
) -> L1Factors:
    """Run the updates; rows carry their multiplicity s in every sum over rows."""
    X, Y = _svd_start(A, rank, s)
    U, V, E = X, Y, A - X @ Y
    # multipliers of X = U, Y = V and A = X Y + E, each divided by the penalty
    L, F, P = np.zeros_like(X), np.zeros_like(Y), np.zeros_like(A)
    eye: Any = np.eye(rank)
    primal = dual = np.inf
    iteration = 0
    while iteration < max_iter and max(primal, dual) > tol:
        iteration += 1
        rest = A - E + P
        X = np.linalg.solve(Y @ Y.T + eye, (rest @ Y.T + U - L).T).T
        Y = np.linalg.solve(X.T @ (s * X) + eye, X.T @ (s * rest) + V - F)
        U_old, V_old, E_old = U, V, E
        U, V = np.maximum(X + L, 0.0), np.maximum(Y + F, 0.0)
        XY = X @ Y
        E = _shrink(A - XY + P, 1.0 / penalty)
        L, F, P = L + step * (X - U), F + step * (Y - V), P + step * (A - XY - E)
        primal = _relative(s, (X - U, Y - V, A - XY - E), (X, Y, A))
        dual = _relative(s, (U - U_old, V - V_old, E - E_old), (U, V, A))
    return L1Factors(U, V, iteration, primal, dual, max(primal, dual) <= tol)


def _svd_start(A: FloatArray, rank: int, s: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Absolute values of the leading singular triplets of the matrix with its rows repeated."""
    left, values, right = leading_triplets(np.sqrt(s) * A, rank)
    root = np.sqrt(values)
    return left / np.sqrt(s) * root, right * root[:, None]


def _shrink(matrix: FloatArray, threshold: float) -> FloatArray:
    """Soft threshold."""
    return np.sign(matrix) * np.maximum(np.abs(matrix) - threshold, 0.0)


def _relative(s: FloatArray, parts: tuple[FloatArray, ...], scales: tuple[FloatArray, ...]) -> float:
    """Largest norm of (left, right, matrix) parts, each relative to its scale; rows count with multiplicity."""
    roots = (np.sqrt(s), np.ones(1), np.sqrt(s))
    return max(
        float(np.linalg.norm(root * part) / max(1.0, float(np.linalg.norm(root * scale))))
        for root, part, scale in zip(roots, parts, scales, strict=True)
    )
