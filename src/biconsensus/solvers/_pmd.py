"""Penalised matrix decomposition (Witten, Tibshirani and Hastie 2009), for comparison."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from biconsensus.matrix._matrix import PreferenceMatrix
from biconsensus.protocols import Block, BoolArray, FloatArray
from biconsensus.solvers._factors import (
    block_of_factors,
    dense,
    leading_triplets,
    live_matrix,
    require_seen,
    unit_length,
)

SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
"""Shares of the largest possible L1 bound that are tried, as in the paper on PMD."""


class PmdSolver:
    """Rank-one factor with bounded L1 norms, the bounds by cross-validation; nothing missing.

    Parameters
    ----------
    shares : tuple of float
        Values tried for c, where the bounds are ``c1 = c sqrt(m)`` and ``c2 = c sqrt(n)``, at least 1.
    n_folds : int
        Parts of the entries that are held out in turn.
    max_iter : int
        Most alternations for one factor.
    random_state : int
        Seed of the folds.

    Attributes
    ----------
    share_ : float
        The c chosen in the last call.

    Notes
    -----
    ``max u^T A v`` subject to ``||u||_2, ||v||_2 <= 1, ||u||_1 <= c1, ||v||_1 <= c2``: each side in turn is the soft
    threshold of A v (of A^T u), with the least threshold that meets its bound. A held-out entry is replaced by the mean
    of the others, and the squared error on what was held out decides. An entry is held out together with all the
    elements that share its row; apart from that, a row with multiplicity s is s equal rows, which stay equal even where
    a tight bound would need them to differ. The quorum only enters the gain that is reported.

    Examples
    --------
    >>> import numpy as np
    >>> from fractions import Fraction
    >>> from scipy.sparse import csr_array, eye_array
    >>> from biconsensus.matrix._matrix import PreferenceMatrix
    >>> B = csr_array(np.kron([[1, 0], [0, 1]], np.ones((4, 3))).astype(np.uint8)[:6])
    >>> problem = PreferenceMatrix(B, np.ones(6, int), np.ones(6), np.arange(6), eye_array(6, dtype=bool, format="csr"))
    >>> solver = PmdSolver()
    >>> solver.load(problem, Fraction(1, 2))
    >>> solver.best_block(np.ones(6, bool), np.ones(6, bool), 1, 1).columns.tolist()
    [True, True, True, False, False, False]
    """

    share_: float

    def __init__(
        self,
        *,
        shares: tuple[float, ...] = SHARES,
        n_folds: int = 10,
        max_iter: int = 50,
        random_state: int = 0,
    ) -> None:
        self.shares = shares
        self.n_folds = n_folds
        self.max_iter = max_iter
        self.random_state = random_state

    def load(self, problem: PreferenceMatrix, quorum: Fraction) -> None:
        """Take a problem; refuses missing votes."""
        require_seen(problem, "pmd")
        self._problem, self._quorum = problem, quorum

    def best_block(self, rows: BoolArray, columns: BoolArray, min_elements: int, min_candidates: int) -> Block | None:
        """Block of the cross-validated factor of the live matrix, or None if it is too small."""
        matrix, counts = live_matrix(self._problem, rows, columns)
        if not matrix.nnz:
            return None
        A = dense(matrix, "pmd")
        self.share_ = self._validated_share(A, counts)
        u, value, v = sparse_pair(A, counts, self.share_, leading_right(A, counts), self.max_iter)
        return block_of_factors(
            self._problem, self._quorum, (rows, columns), (value * u, v), (min_elements, min_candidates)
        )

    def _validated_share(self, A: FloatArray, counts: FloatArray) -> float:
        """The c with the least squared error on held-out entries."""
        fold = np.random.default_rng(self.random_state).permutation(A.size).reshape(A.shape) % self.n_folds
        errors = np.zeros(len(self.shares))
        for k in range(self.n_folds):
            held = fold == k
            if held.all() or not held.any():
                continue
            weight = counts[:, None] * ~held
            filled = np.where(held, (weight * A).sum() / weight.sum(), A)
            start = leading_right(filled, counts)
            for t, share in enumerate(self.shares):
                u, value, v = sparse_pair(filled, counts, share, start, self.max_iter)
                errors[t] += ((A - value * np.outer(u, v)) ** 2 * counts[:, None])[held].sum()
        return self.shares[int(np.argmin(errors))]


def sparse_pair(
    A: FloatArray, counts: FloatArray, share: float, start: FloatArray, max_iter: int
) -> tuple[FloatArray, float, FloatArray]:
    """Factor ``value * u v^T`` with ``||u||_1 <= share sqrt(m)`` and ``||v||_1 <= share sqrt(n)``.

    Parameters
    ----------
    A : (r, n) array of float
        Non-negative matrix.
    counts : (r,) array of float
        Multiplicity of each row; m is their sum.
    share : float
        Tightness of the bounds, in (0, 1]; 1 gives the leading singular pair.
    start : (n,) array of float
        First v; the authors take the leading right singular vector.
    max_iter : int
        Most alternations.

    Returns
    -------
    u : (r,) array of float
    value : float
    v : (n,) array of float

    Examples
    --------
    >>> import numpy as np
    >>> u, value, v = sparse_pair(np.diag([3.0, 1.0]), np.ones(2), 1.0, np.array([1.0, 0.1]), 50)
    >>> round(value, 6), v.round(6).tolist()
    (3.0, [1.0, 0.0])
    """
    ones = np.ones(A.shape[1])
    c1 = max(1.0, share * np.sqrt(counts.sum()))
    c2 = max(1.0, share * np.sqrt(ones.size))
    v, u = start, np.zeros(A.shape[0])
    for _ in range(max_iter):
        u = _bounded(A @ v, counts, c1)
        new = _bounded(A.T @ (counts * u), ones, c2)
        change = float(np.abs(new - v).sum())
        v = new
        if change < 1e-7:
            break
    return u, float((counts * u) @ A @ v), v


def leading_right(A: FloatArray, counts: FloatArray) -> FloatArray:
    """Leading right singular vector of the matrix with its rows repeated, in absolute values."""
    right: FloatArray = leading_triplets(np.sqrt(counts)[:, None] * A)[2][0]
    return right


def _bounded(values: FloatArray, counts: FloatArray, bound: float) -> FloatArray:
    """Soft threshold of non-negative values, of length 1, whose L1 norm meets the bound; each counts repeatedly."""
    unit = unit_length(values, counts)
    if counts @ unit <= bound or not unit.any():
        return unit
    low, high = 0.0, float(values.max())
    while high - low >= 1e-10 * values.max():
        middle = (low + high) / 2
        unit = unit_length(np.maximum(values - middle, 0.0), counts)
        low, high = (low, middle) if unit.any() and counts @ unit < bound else (middle, high)
    cut = np.maximum(values - low, 0.0)
    return unit_length(cut if cut.any() else values * (values == values.max()), counts)
