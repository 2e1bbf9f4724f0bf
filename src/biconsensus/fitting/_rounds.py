"""Bi-clusters of the cleansed matrix, and what becomes of them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from biconsensus.fitting._hypotheses import Screened
from biconsensus.fitting._refit import Fit
from biconsensus.matrix._matrix import PreferenceMatrix
from biconsensus.methods._greedy import bicluster
from biconsensus.pool._pool import Pool
from biconsensus.protocols import BoolArray, FloatArray, IntArray
from biconsensus.solvers import get_solver

_SOFT = 96
_VOTES, _COLUMNS = 1 << 18, (256, 2048)


@dataclass(frozen=True)
class Found:
    """A model that passed the test."""

    fit: Fit
    log_nfa: float
    """That of the best sampled hypothesis behind it, among what was left."""
    worth: float
    """That of the fitted model itself, by which groups are compared."""
    support: FloatArray
    """(h, p) parameters of the hypotheses behind it."""
    reach: FloatArray
    """(h,) their thresholds."""
    toll: float = 0.0
    """Log-10 of the factor by which the looks before this one made its test stricter."""
    elements: BoolArray | None = None
    """(m,) the rows of its bi-cluster, where these are the members (the literal method)."""


def group(
    screened: Screened, min_elements: int, min_candidates: int, rng: np.random.Generator | None
) -> list[tuple[IntArray, IntArray]]:
    """Bi-clusters of the cleansed matrix, which may share elements: elements and hypotheses of each.

    With a source of randomness, a part of the hypotheses where there are very many.
    """
    if screened.matrix.shape[1] < min_candidates:
        return []
    soft = screened.matrix.dtype != np.uint8
    chosen = _looked_at(screened, rng, soft)
    pool = Pool.from_matrix(screened.matrix[:, chosen])
    problem = PreferenceMatrix.from_pool(pool)
    solver = get_solver("quantile", max_iter=8, row_starts=8) if soft else get_solver("vote")
    solver.load(problem, Fraction(1, 2))
    found = bicluster(problem, solver, min_elements=min_elements, min_candidates=min_candidates, overlap=True)
    return [
        (np.flatnonzero(block.rows[pool.inverse]), chosen[block.columns[problem.members]]) for block in found.blocks
    ]


def _looked_at(screened: Screened, rng: np.random.Generator | None, soft: bool) -> IntArray:
    """The hypotheses that a round looks at: all, or as many as bound its time; the next round looks at the rest.

    Where nearly all hypotheses pass, as on clouds of points that chance would not make, there are thousands of columns
    and no end of bi-clusters among them. A random part keeps the share of every model.
    """
    n_columns = screened.matrix.shape[1]
    if soft:  # quantiles cost far more than votes
        return np.sort(np.argsort(screened.log_nfa, kind="stable")[:_SOFT])
    most = int(np.clip(_VOTES * n_columns // max(screened.matrix.nnz, 1), *_COLUMNS))
    if rng is None or n_columns <= most:
        return np.arange(n_columns)
    return np.sort(rng.choice(n_columns, most, replace=False))
