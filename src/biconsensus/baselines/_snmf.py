"""Symmetric non-negative factorisation of the co-occurrence matrix, of Li, Ding and Jordan."""

from __future__ import annotations

import numpy as np
from sklearn.utils import check_random_state

from biconsensus.baselines._cooccurrence import cooccurrence
from biconsensus.baselines._pools import check_n_groups, grouped_rows, takes_tables, to_elements
from biconsensus.pool._pool import Pool
from biconsensus.protocols import FloatArray, IntArray

TINY = 1e-12
"""Keeps divisions finite."""


@takes_tables
def snmf(
    pool: Pool,
    n_groups: int | None = None,
    *,
    random_state: int | None = None,
    n_init: int = 10,
    max_iter: int = 500,
    tol: float = 1e-7,
) -> IntArray:
    """Group elements by the largest entry of their row of H in B ~ H D H^T.

    Parameters
    ----------
    pool : Pool, or anything that `Pool.from_labels` takes
        The candidates.
    n_groups : int
        Number of groups, q.
    random_state : int or None
        Seed of the starts.
    n_init, max_iter : int
        Starts, of which the one with the least error counts, and their iterations.
    tol : float
        Relative change of the error at which to stop.

    Returns
    -------
    (m,) array of int
        Labels from 0; -1 for elements in no candidate.

    Notes
    -----
    min ||B - H D H^T||_F^2 with H, D >= 0 and H^T H = I, by the multiplicative updates
    H <- H sqrt(B H D / (H H^T B H D)) and D <- D sqrt(H^T B H / (H^T H D H^T H)). Elements with the same memberships
    keep the same row of H, so the updates run on distinct rows with their multiplicities.

    Examples
    --------
    >>> import biconsensus as bc
    >>> snmf(bc.Pool.from_labels([[0, 0, 1, 1], [0, 0, 1, 1], [0, 1, 1, 1]]), 2, random_state=0)
    array([0, 0, 1, 1])
    """
    rows = grouped_rows(pool)
    check_n_groups(n_groups, rows.size, "snmf")
    assert n_groups is not None
    B, counts = cooccurrence(pool)[np.ix_(rows, rows)], pool.counts[rows].astype(np.float64)
    random = check_random_state(random_state)
    tries = [_factor(B, counts, random.uniform(size=(rows.size, n_groups)), max_iter, tol) for _ in range(n_init)]
    H = min(tries, key=lambda found: found[1])[0]
    return to_elements(pool, rows, H.argmax(axis=1))


def _factor(B: FloatArray, s: FloatArray, H: FloatArray, max_iter: int, tol: float) -> tuple[FloatArray, float]:
    """H of one start, and its error; s are the multiplicities of the rows."""
    S = s[:, None]
    H = H / np.sqrt((S * H**2).sum(axis=0))
    D = H.T @ (S * (B @ (S * H)))
    total = float(s @ (B**2 @ s))
    error = np.inf
    for _ in range(max_iter):
        BH = B @ (S * H)
        up = BH @ D
        H = H * np.sqrt(up / np.maximum(H @ (H.T @ (S * up)), TINY))
        BH = B @ (S * H)
        HBH, HH = H.T @ (S * BH), H.T @ (S * H)
        D = D * np.sqrt(HBH / np.maximum(HH @ D @ HH, TINY))
        last, error = error, total - 2 * float((HBH * D).sum()) + float(((HH @ D @ HH) * D).sum())
        if last - error <= tol * total:
            break
    return H, error
