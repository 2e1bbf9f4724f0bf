"""Hybrid bipartite graph formulation of Fern and Brodley (2004)."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh
from sklearn.cluster import KMeans

from biconsensus.baselines._pools import check_n_groups, check_square, grouped_rows, takes_tables, to_elements
from biconsensus.pool._pool import Pool
from biconsensus.protocols import IntArray


@takes_tables
def hbgf(pool: Pool, n_groups: int | None = None, *, random_state: int | None = None) -> IntArray:
    """Cluster elements and candidates together in the leading singular vectors of the membership matrix.

    Parameters
    ----------
    pool : Pool, or anything that `Pool.from_labels` takes
        The candidates.
    n_groups : int
        Number of groups; needed.
    random_state : int, optional
        Seed of the k-means.

    Returns
    -------
    (m,) array of int
        Labels from 0; -1 for elements in no candidate.

    Notes
    -----
    With D the degrees of the candidates, the rows of the left and right singular vectors of ``A D^-1/2``, scaled to
    unit length, are clustered by one k-means.

    Examples
    --------
    >>> import biconsensus as bc
    >>> hbgf(bc.Pool.from_labels([[0, 0, 1, 1], [0, 0, 1, 1], [0, 1, 1, 1]]), 2, random_state=0)
    array([0, 0, 1, 1])
    """
    rows = grouped_rows(pool)
    check_n_groups(n_groups, rows.size, "HBGF")
    scaled = pool.rows.astype(np.float64) * np.sqrt(pool.weights / np.maximum(pool.sizes, 1))[None, :]
    check_square("the overlaps of the candidates", pool.shape[1])
    gram = (scaled.T @ (scaled * pool.counts[:, None])).toarray()
    n = gram.shape[0]
    values, right = eigh(gram, subset_by_index=(max(0, n - (n_groups or 1)), n - 1))
    left = scaled @ (right / np.sqrt(np.maximum(values, 1e-12)))
    both = np.vstack([left[rows], right])
    both /= np.maximum(np.linalg.norm(both, axis=1, keepdims=True), 1e-300)
    weights = np.concatenate([pool.counts[rows], np.ones(n)])
    found = KMeans(n_groups, n_init=10, random_state=random_state).fit_predict(both, sample_weight=weights)
    return to_elements(pool, rows, found[: rows.size])
