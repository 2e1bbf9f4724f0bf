"""Self-enhanced co-association of Jia, Tao, Wang and Wang (2023)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.cluster.hierarchy import fcluster

from biconsensus.baselines._cooccurrence import cooccurrence
from biconsensus.baselines._lwea import certainty
from biconsensus.baselines._pools import check_n_groups, check_square, grouped_rows, takes_tables, to_elements
from biconsensus.pool._pool import Pool
from biconsensus.protocols import FloatArray, IntArray
from biconsensus.quorum._linkage import average_tree

MAX_ITER = 100
"""Rounds of the alternating method, as in the authors' program."""
TOLERANCE = 1e-2
"""Largest relative change of any unknown at which it ends, as in the authors' program."""


@takes_tables
def ec_cms(
    pool: Pool,
    n_groups: int | None = None,
    *,
    random_state: int | None = None,
    confident: float = 0.8,
    penalty: float = 0.4,
    scale: float = 0.4,
) -> IntArray:
    """Average linkage of a co-association matrix that was smoothed over its own most confident pairs.

    Parameters
    ----------
    pool : Pool, or anything that `Pool.from_labels` takes
        The candidates.
    n_groups : int
        Number of groups; needed.
    random_state : ignored
        The answer is deterministic.
    confident : float
        The authors' alpha: co-occurrence from which a pair counts as certain.
    penalty : float
        The authors' lambda: cost of changing the matrix.
    scale : float
        Parameter of `lwea`, whose weighted matrix is smoothed.

    Returns
    -------
    (m,) array of int
        Labels from 0; -1 for elements in no candidate.

    Notes
    -----
    With A the matrix of `lwea`, H the co-occurrences of at least `confident` and L the Laplacian of H, it minimises
    ``tr(C^T L C) + penalty / 2 ||E||^2`` over ``A = C + E``, C symmetric with entries from 0 to 1, E zero on the pairs
    of H, by alternating directions. It needs several m x m matrices. The authors tune `confident` and `penalty` for
    each data set (their demonstration has 0.75 and 0.01); the defaults here are one setting for all.

    Examples
    --------
    >>> import biconsensus as bc
    >>> ec_cms(bc.Pool.from_labels([[0, 0, 1, 1], [0, 0, 1, 1], [0, 1, 1, 1]]), 2)
    array([0, 0, 1, 1])
    """
    rows = grouped_rows(pool)
    check_n_groups(n_groups, rows.size, "EC-CMS")
    inside = np.flatnonzero(np.isin(pool.inverse, rows))
    check_square("the co-association matrices of EC-CMS", 4 * inside.size)
    element = np.ix_(pool.inverse[inside], pool.inverse[inside])
    # the weights must not enter the normalisation, which counts sources
    weighted = replace(pool, rows=pool.rows * np.sqrt(certainty(pool, scale))[None, :])
    together = cooccurrence(pool)
    high = np.where(together >= confident, together, 0.0)[element]
    np.fill_diagonal(high, 0.0)
    similar = _enhanced(high, cooccurrence(weighted)[element], penalty)
    # elements with the same memberships are never parted: one leaf each, by their mean similarity
    member = np.zeros((inside.size, pool.rows.shape[0]))
    member[np.arange(inside.size), pool.inverse[inside]] = 1.0
    member = member[:, rows] / np.maximum(member[:, rows].sum(axis=0), 1.0)
    if rows.size == 1:
        return to_elements(pool, rows, 0)
    tree = average_tree(1.0 - member.T @ similar @ member, pool.counts[rows])
    return to_elements(pool, rows, fcluster(tree, n_groups, "maxclust"))


def _enhanced(high: FloatArray, similar: Any, penalty: float) -> FloatArray:
    """(m, m) the matrix C of the minimum, by alternating directions with unit steps, from multipliers as published."""
    m = similar.shape[0]
    solve = np.linalg.inv(2.0 * (np.diag(high.sum(axis=1)) - high) + 2.0 * np.eye(m)).astype(np.float32)
    # single precision: the products of m x m matrices are all the time there is, and the end is at one in a hundred
    similar, fixed = similar.astype(np.float32), high > 0
    enhanced, error, boxed, of_box = (np.zeros((m, m), np.float32) for _ in range(4))
    of_sum = similar.copy()
    for _ in range(MAX_ITER):
        before = enhanced, error, boxed
        enhanced = solve @ (similar - error + of_sum + boxed - of_box)
        error = np.where(fixed, 0.0, (similar - enhanced + of_sum) / (penalty + 1.0))
        shifted = enhanced + of_box
        boxed = np.clip((shifted + shifted.T) / 2.0, 0.0, 1.0)
        gaps = similar - enhanced - error, enhanced - boxed
        changes = [_relative(new - old, old) for new, old in zip((enhanced, error, boxed), before, strict=True)]
        changes += [_relative(gap, dual) for gap, dual in zip(gaps, (of_sum, of_box), strict=True)]
        of_sum, of_box = of_sum + gaps[0], of_box + gaps[1]
        if max(changes) < TOLERANCE:
            break
    found: FloatArray = np.clip((enhanced + enhanced.T) / 2.0, 0.0, 1.0).astype(np.float64)
    return found


def _relative(change: Any, of: Any) -> float:
    """Norm of a change over the norm of what changed; infinite for a change of nothing."""
    size = float(np.linalg.norm(of))
    return float(np.linalg.norm(change)) / size if size > 0 else np.inf
