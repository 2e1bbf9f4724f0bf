"""Meta-clustering of Strehl and Ghosh (2002): candidates are clustered, elements join one of the clusters."""

from __future__ import annotations

import numpy as np
from sklearn.cluster import SpectralClustering

from biconsensus.baselines._pools import check_n_groups, check_square, grouped_rows, takes_tables, to_elements
from biconsensus.errors import InputError
from biconsensus.pool._pool import Pool
from biconsensus.protocols import IntArray

LEAST_SIMILARITY = 1e-6
"""Added to the similarity of any two candidates: a graph in several pieces has no unique leading eigenvectors."""


@takes_tables
def mcla(pool: Pool, n_groups: int | None = None, *, random_state: int | None = None) -> IntArray:
    """Cluster the candidates by their overlap; elements go to the cluster of candidates that holds them most.

    Parameters
    ----------
    pool : Pool, or anything that `Pool.from_labels` takes
        The candidates.
    n_groups : int
        Number of groups; needed.
    random_state : int, optional
        Seed of the clustering of the candidates.

    Returns
    -------
    (m,) array of int
        Labels from 0; -1 for elements in no candidate. Groups that win no element are missing.

    Notes
    -----
    The similarity of two candidates is the Jaccard index, an element belongs to a cluster of candidates by the mean of
    its memberships in them. The authors cut the graph of candidates with METIS into parts of about one size; here it
    is cut by a normalised spectral cut.

    Examples
    --------
    >>> import biconsensus as bc
    >>> mcla(bc.Pool.from_labels([[0, 0, 1, 1], [0, 0, 1, 1], [0, 1, 1, 1]]), 2, random_state=0)
    array([0, 0, 1, 1])
    """
    rows = grouped_rows(pool)
    check_n_groups(n_groups, rows.size, "MCLA")
    n = pool.shape[1]
    if n_groups is not None and n_groups > n:
        raise InputError(f"n_groups: got {n_groups}; MCLA clusters the candidates, of which there are {n}.")
    check_square("the overlaps of the candidates", n)
    held = pool.rows.astype(np.float64)
    shared = np.asarray((held.T @ (held * pool.counts[:, None])).todense())
    size = np.diag(shared)
    jaccard = shared / np.maximum(size[:, None] + size - shared, 1e-300)
    if n_groups == n or n_groups == 1:
        cluster = np.arange(n) if n_groups == n else np.zeros(n, np.int64)
    else:
        method = SpectralClustering(n_groups, affinity="precomputed", random_state=random_state)
        cluster = method.fit_predict(jaccard + LEAST_SIMILARITY)
    member = np.zeros((n, int(cluster.max()) + 1))
    member[np.arange(n), cluster] = pool.weights
    member /= np.maximum(member.sum(axis=0), 1e-300)
    return to_elements(pool, rows, np.asarray(held[rows] @ member).argmax(axis=1))
