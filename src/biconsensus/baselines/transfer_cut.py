"""Normalised cut of the bipartite graph of elements and candidates, solved on the candidates (Li et al. 2012)."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh
from sklearn.cluster import KMeans

from biconsensus.baselines.cooccurrence import check_n_groups, grouped_rows, to_elements
from biconsensus.core.pool import Pool
from biconsensus.protocols import FloatArray, IntArray


def transfer_cut(
    pool: Pool, weights: FloatArray, n_groups: int | None, name: str, random_state: int | None = None
) -> IntArray:
    """Cut the bipartite graph into groups.

    Parameters
    ----------
    pool : Pool
        The candidates.
    weights : (n,) array
        Weight of the edges of each candidate.
    n_groups : int or None
        Number of groups; None is an error.
    name : str
        Method named in that error.
    random_state : int, optional
        Seed of the k-means on the spectral coordinates.

    Returns
    -------
    (m,) array of int
        Labels from 0; -1 for elements in no candidate.

    Notes
    -----
    With W the edge weights and D_X the degrees of the elements, the candidates form the graph ``W^T D_X^-1 W``; its
    eigenvectors carry over to the elements by ``D_X^-1 W``.

    Examples
    --------
    >>> import biconsensus as bc
    >>> pool = bc.Pool.from_labels([[0, 0, 1, 1], [0, 0, 1, 1]])
    >>> transfer_cut(pool, np.ones(4), 2, "transfer cut", 0)
    array([0, 0, 1, 1])
    """
    rows = grouped_rows(pool)
    check_n_groups(n_groups, rows.size, name)
    assert n_groups is not None
    coordinates = spectral_coordinates(pool, weights, n_groups)[rows]
    labels = np.full(pool.rows.shape[0], -1, np.int64)
    model = KMeans(n_groups, n_init=10, random_state=random_state)
    labels[rows] = model.fit_predict(coordinates, sample_weight=pool.counts[rows])
    return to_elements(pool, labels)


def spectral_coordinates(pool: Pool, weights: FloatArray, n_groups: int) -> FloatArray:
    """(r, k) coordinates of the distinct rows, scaled to unit length."""
    edges = pool.rows.astype(np.float64) * (weights * pool.weights)[None, :]
    degrees = np.maximum(edges.sum(axis=1), 1e-300)
    spread = edges * (1.0 / degrees)[:, None]
    graph = (spread.T @ (edges * pool.counts[:, None])).toarray()
    scale = 1.0 / np.sqrt(np.maximum(graph.sum(axis=1), 1e-300))
    n = graph.shape[0]
    span = (max(0, n - n_groups), n - 1)
    _, vectors = eigh(scale[:, None] * graph * scale, subset_by_index=span)
    found: FloatArray = spread @ (scale[:, None] * vectors)
    found /= np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-300)
    return found
