"""The random walk over elements and candidates: what groups retain of it, and groups made from it."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import eigh
from scipy.sparse import csr_array

from biconsensus.matrix._matrix import PreferenceMatrix
from biconsensus.protocols import FloatArray, IntArray
from biconsensus.quorum._measures import members_of


def retention(problem: PreferenceMatrix, labels: IntArray) -> float:
    """Sum over the groups of the share of a random walk that stays inside.

    Parameters
    ----------
    problem : PreferenceMatrix
        The pool.
    labels : (r,) array of int
        Group of each row, -1 for none.

    Returns
    -------
    float
        Between 1 (the walk does not see the groups) and the number of groups (it never leaves them).

    Notes
    -----
    The normalised association of the bipartite graph with edges ``w_j B_ij``: the walk goes from an element of the
    group to one of its candidates and from there to an element.

    Examples
    --------
    >>> import biconsensus as bc
    >>> problem = bc.PreferenceMatrix.from_pool(bc.Pool.from_labels([[0, 0, 1, 1]]))
    >>> retention(problem, np.array([0, 1]))
    2.0
    """
    members = members_of(problem, labels)
    held = problem.weights[:, None] * (problem.entries.T @ members)
    reach = problem.weights * (problem.counts @ problem.entries)
    volumes = members.T @ (problem.entries @ problem.weights)
    inside = (held**2 / np.maximum(reach, 1e-300)[:, None]).sum(axis=0)
    return float((inside / np.maximum(volumes, 1e-300)).sum())


def walk_coordinates(entries: csr_array, counts: IntArray, weights: FloatArray, n_groups: int) -> FloatArray:
    """Leading coordinates of the rows in the walk, scaled to unit length.

    Parameters
    ----------
    entries : (r, q) sparse array
        Memberships of the distinct rows.
    counts : (r,) array of int
        Elements behind each row.
    weights : (q,) array
        Weight of the edges of each column.
    n_groups : int
        Number of coordinates (k).

    Returns
    -------
    (r, k) array

    Notes
    -----
    The transfer cut of Li et al. (2012): with W the edge weights and D the degrees of the elements, the columns form
    the graph ``W^T D^-1 W``; its eigenvectors carry over to the rows by ``D^-1 W``.

    Examples
    --------
    >>> import biconsensus as bc
    >>> pool = bc.Pool.from_labels([[0, 0, 1, 1], [0, 0, 0, 1]])
    >>> np.abs(walk_coordinates(pool.rows, pool.counts, pool.weights, 1)).round(3).tolist()
    [[1.0], [1.0], [1.0]]
    """
    edges = entries.astype(np.float64) * weights[None, :]
    spread = edges * (1.0 / np.maximum(edges.sum(axis=1), 1e-300))[:, None]
    graph = (spread.T @ (edges * counts[:, None])).toarray()
    scale = 1.0 / np.sqrt(np.maximum(graph.sum(axis=1), 1e-300))
    scale[weights <= 0] = 0.0
    found: FloatArray = spread @ (scale[:, None] * leading_vectors(scale[:, None] * graph * scale, n_groups))
    found /= np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-300)
    return found


def leading_vectors(matrix: FloatArray, number: int) -> FloatArray:
    """(n, k) eigenvectors of the largest eigenvalues of a symmetric matrix."""
    n = matrix.shape[0]
    number = min(number, n)
    _, vectors = eigh(matrix, subset_by_index=(n - number, n - 1))
    # where more eigenvalues coincide than are asked for, LAPACK may return none of them
    return np.asarray(vectors if vectors.shape[1] == number else eigh(matrix)[1][:, n - number :])


def walk_groups(entries: csr_array, counts: IntArray, weights: FloatArray, n_groups: int, seed: Any = 0) -> IntArray:
    """(r,) groups of the rows by k-means in their `walk_coordinates`; -1 for rows that no weighted column holds."""
    from sklearn.cluster import KMeans

    labels = np.full(entries.shape[0], -1, np.int64)
    held = np.flatnonzero(entries @ weights > 0)
    coordinates = walk_coordinates(entries, counts, weights, n_groups)[held]
    labels[held] = KMeans(n_groups, n_init=10, random_state=seed).fit_predict(coordinates, sample_weight=counts[held])
    return labels
