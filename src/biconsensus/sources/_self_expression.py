"""Express every point of a cloud sparsely by the others, by alternating directions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from biconsensus.errors import InputError
from biconsensus.protocols import FloatArray


@dataclass(frozen=True)
class SelfExpression:
    """The parts of the problem that do not depend on kappa: made once, solved for many.

    Notes
    -----
    With P = [D, I / gamma] (D alone without outliers), mu the normalisation of D and the penalty of the multipliers
    equal to kappa, kappa leaves the linear step: Z = M (P^T D / mu + C - U), M = (P^T P / mu + I + delta delta^T)^{-1},
    delta = 1 on the points for affine subspaces and 0 without. By one SVD of the stacked [P / sqrt(mu); delta^T] the
    product with M costs two thin products.
    """

    vectors: FloatArray
    """(n, r) right singular vectors of the stacked matrix, n = m or m + d."""
    shrink: FloatArray
    """(r, 1) e / (1 + e), with e the squared singular values."""
    target: FloatArray
    """(n, m) M (P^T D / mu + delta 1^T): what the linear step adds each time."""
    delta: FloatArray | None
    """(n,) ones on the points for affine subspaces; None without."""

    @classmethod
    def of(cls, X: FloatArray, affine: bool = False, outliers: float | None = None) -> SelfExpression:
        """Factor the problem for points (m, d)."""
        D = np.asarray(X, dtype=np.float64).T
        d, m = D.shape
        P = D if outliers is None else np.hstack([D, np.eye(d) * (np.abs(D).sum(axis=0).max() / outliers)])
        correlations = P.T @ D
        mu = _normalisation(correlations)
        delta = np.r_[np.ones(m), np.zeros(P.shape[1] - m)] if affine else None
        stacked = P / np.sqrt(mu)
        right = correlations / mu
        if delta is not None:
            stacked = np.vstack([stacked, delta])
            right = right + delta[:, None]
        _, singular, rows = np.linalg.svd(stacked, full_matrices=False)
        shrink = singular**2 / (1 + singular**2)
        kept = shrink > 1e-12
        vectors, shrink = np.ascontiguousarray(rows[kept].T), shrink[kept, None]
        return cls(vectors, shrink, right - vectors @ (shrink * (vectors.T @ right)), delta)

    def solve(
        self, kappa: float, max_iter: int = 200, tol: float = 2e-4, exact: bool = False
    ) -> tuple[FloatArray, int]:
        """Coefficients (m, m) with an empty diagonal, and the number of iterations.

        As in the program of Elhamifar and Vidal, the linear step empties the diagonal too, which converges fast to an
        answer slightly off the optimum; `exact` leaves that to the other step, as in their paper.
        """
        n, m = self.target.shape
        diagonal = np.arange(m)
        C, U, work = np.zeros((n, m)), np.zeros((n, m)), np.empty((n, m))
        row = np.zeros(m)
        for iteration in range(1, max_iter + 1):  # noqa: B007 (the last value is returned)
            np.subtract(C, U, out=work)
            if self.delta is not None:
                work -= np.outer(self.delta, row)
            small = self.vectors.T @ work
            small *= self.shrink
            Z = work - self.vectors @ small
            Z += self.target
            if not exact:
                Z[diagonal, diagonal] = 0.0
            np.add(Z, U, out=work)
            # Soft threshold: v less its clipping to [-1/kappa, 1/kappa], which is the new scaled multiplier.
            np.clip(work, -1 / kappa, 1 / kappa, out=U)
            np.subtract(work, U, out=C)
            U[diagonal, diagonal], C[diagonal, diagonal] = work[diagonal, diagonal], 0.0
            np.subtract(Z, C, out=work)
            gap = max(work.max(), -work.min())
            if self.delta is not None:
                excess = self.delta @ Z - 1
                row += excess
                gap = max(gap, np.abs(excess).max())
            if gap <= tol:
                break
        return C[:m], iteration


def _normalisation(correlations: FloatArray) -> float:
    """mu_D = min over i of max over j != i of |p_j^T d_i|, over the points that others can express at all."""
    T = np.abs(correlations)
    np.fill_diagonal(T, 0.0)
    largest = T.max(axis=0)
    if not largest.any():
        raise InputError("X: every point is zero or orthogonal to all others, so none can be expressed by the others.")
    return float(largest[largest > 0].min())
