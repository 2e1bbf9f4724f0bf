"""What the solvers that work on factors x y of A = B diag(w) share: live part, admissible block, gain."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.linalg import svds

from biconsensus.errors import InputError, TooLargeError
from biconsensus.matrix._matrix import PreferenceMatrix
from biconsensus.protocols import Block, BoolArray, FloatArray

NEGLIGIBLE = 1e-4
"""Factor values under this share of the largest one count as zero."""
DENSE_LIMIT = 50_000_000
"""Entries above which a solver that needs the dense matrix refuses."""


def live_matrix(problem: PreferenceMatrix, rows: BoolArray, columns: BoolArray) -> tuple[csr_array, FloatArray]:
    """A = B diag(w) on the live rows and columns, float64, and the multiplicities of these rows."""
    entries = csr_array(problem.entries[rows][:, columns].astype(np.float64))
    weights = problem.weights[columns]
    entries.data = entries.data * weights[entries.indices]
    return entries, problem.counts[rows].astype(np.float64)


def dense(matrix: csr_array, solver: str) -> FloatArray:
    """The dense form of a live matrix, refused before it is allocated if it is too large."""
    if matrix.shape[0] * matrix.shape[1] > DENSE_LIMIT:
        raise TooLargeError(
            f"solver {solver!r} needs a dense matrix; received {matrix.shape[0]} distinct rows x {matrix.shape[1]} "
            f"distinct columns, more than {DENSE_LIMIT} entries. Use solver='vote', which works on the non-zeros."
        )
    return np.asarray(matrix.toarray(), dtype=np.float64)


def leading_triplets(matrix: csr_array | FloatArray, rank: int = 1) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Leading singular triplets, the factors in absolute values: (m, rank), (rank,) and (rank, n)."""
    if min(matrix.shape) <= 10 * rank + 100:
        full = np.linalg.svd(matrix if isinstance(matrix, np.ndarray) else matrix.toarray(), full_matrices=False)
        return np.abs(full[0][:, :rank]), full[1][:rank], np.abs(full[2][:rank])
    # a fixed first vector keeps the answer the same in every run
    left, values, right = svds(matrix, k=rank, v0=np.ones(min(matrix.shape)))
    order = np.argsort(-values, kind="stable")
    return np.abs(left[:, order]), values[order], np.abs(right[order])


def require_seen(problem: PreferenceMatrix, solver: str) -> None:
    """Refuse missing votes."""
    if problem.unseen is not None and problem.unseen.nnz:
        raise InputError(
            f"solver {solver!r} cannot take missing votes; received a pool in which {problem.unseen.nnz} "
            "are missing. Use solver='vote' (binary) or solver='quantile' (real values)."
        )


def require_majority(quorum: Fraction, solver: str) -> None:
    """Refuse any quorum but 1/2."""
    if quorum != Fraction(1, 2):
        raise InputError(
            f"solver {solver!r} is defined at quorum 1/2 only; received quorum {float(quorum):g}. "
            "Use quorum=0.5, or solver='vote' for another quorum."
        )


def factor_gain(problem: PreferenceMatrix, x: FloatArray, z: FloatArray, quorum: Fraction) -> float:
    """Drop of the pinball loss from zero to the factor ``B_ij ~ x_i z_j``.

    Notes
    -----
    With rho(r) = (1 - theta) r for r >= 0 and -theta r below, ``gain = sum of s_i M_ij w_j (rho(B_ij) - rho(B_ij -
    x_i z_j))``, which is ``sum of s_i M_ij w_j (min(B_ij, x_i z_j) - theta x_i z_j)``. For binary B, x and z this is
    ``sum of s_i M_ij w_j (B_ij - theta)`` over the block; at theta = 1/2 it is half of the drop of the L1 norm.
    """
    picked = np.flatnonzero(x)
    inside = problem.entries[picked]
    row = np.repeat(picked, np.diff(inside.indptr))
    common = np.minimum(inside.data, x[row] * z[inside.indices])
    held = float(np.sum(problem.counts[row] * problem.weights[inside.indices] * common))
    return held - float(quorum) * _seen_mass(problem, problem.counts * x, problem.weights * z)


def _seen_mass(problem: PreferenceMatrix, x: FloatArray, z: FloatArray) -> float:
    """Sum of x_i M_ij z_j."""
    total = float(x.sum() * z.sum())
    if problem.unseen is not None and problem.mask is not None:
        by_mask = np.bincount(problem.mask, z, minlength=problem.unseen.shape[1])
        total -= float(x @ (problem.unseen @ by_mask))
    return total


def admissible(
    problem: PreferenceMatrix, rows: BoolArray, columns: BoolArray, min_elements: int, min_candidates: int
) -> bool:
    """Whether a block is not empty and has the minimum sizes."""
    return (
        bool(rows.any() and columns.any())
        and problem.n_elements(rows) >= min_elements
        and problem.n_sources(columns) >= min_candidates
    )


def block_of_factors(
    problem: PreferenceMatrix,
    quorum: Fraction,
    live: tuple[BoolArray, BoolArray],
    factors: tuple[FloatArray, FloatArray],
    min_sizes: tuple[int, int],
) -> Block | None:
    """Block of the supports of ``A ~ x y`` on the live rows and columns, or None if it is too small."""
    x, y = np.zeros(problem.shape[0]), np.zeros(problem.shape[1])
    x[live[0]], y[live[1]] = (_without_negligible(factor) for factor in factors)
    rows, columns = x > 0, y > 0
    if not admissible(problem, rows, columns, *min_sizes):
        return None
    if problem.binary:
        return Block(rows, columns, problem.gain(rows, columns, quorum))
    z = np.divide(y, problem.weights, out=np.zeros_like(y), where=columns)
    return Block(rows, columns, factor_gain(problem, x, z, quorum))


def _without_negligible(factor: FloatArray) -> FloatArray:
    """The factor with its negligible values set to zero."""
    top = factor.max(initial=0.0)
    return np.where(factor > NEGLIGIBLE * top, factor, 0.0) if top > 0 else np.zeros_like(factor)


def unit_length(values: FloatArray, counts: FloatArray) -> FloatArray:
    """Values scaled to length 1, each counted repeatedly; zeros stay zeros."""
    length = float(np.sqrt(counts @ values**2))
    return values / length if length > 0 else values
