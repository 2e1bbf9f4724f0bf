"""Spectral clustering: k-means on the leading eigenvectors of the normalised adjacency."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array, diags_array
from scipy.sparse.linalg import eigsh

from biconsensus.errors import InputError
from biconsensus.graphs._graph import Graph, relabel
from biconsensus.protocols import FloatArray, IntArray

DENSE_BELOW = 300
"""Nodes up to which all eigenvectors by LAPACK are quicker than a few by Lanczos."""


def spectral(graph: Graph, seed: int, *, n_communities: int = 8) -> IntArray:
    """Find a given number of communities by spectral clustering.

    Parameters
    ----------
    graph : Graph
        A network of m nodes, none of them isolated.
    seed : int
        Seed of k-means.
    n_communities : int
        How many (K).

    Returns
    -------
    (m,) int array
        Labels from 0.

    Notes
    -----
    Ng, Jordan and Weiss (2001): the K leading eigenvectors of ``D^-1/2 A D^-1/2``, rows scaled to length one.

    Examples
    --------
    >>> from biconsensus.graphs import read_graph
    >>> from biconsensus.sources.networks._spectral import spectral
    >>> graph = read_graph([(0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (4, 5), (3, 5)])
    >>> len(set(spectral(graph, seed=0, n_communities=2).tolist()))
    2
    """
    # here, because the other algorithms of the table do without scikit-learn, which is slow to import
    from sklearn.cluster import KMeans

    if not 1 <= n_communities <= graph.n_nodes:
        raise InputError(f"n_communities: received {n_communities}; allowed are 1 to {graph.n_nodes}, the linked nodes")
    vectors = _leading(graph, n_communities)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    rows = vectors / np.where(lengths > 0, lengths, 1.0)
    return relabel(KMeans(n_communities, n_init=10, random_state=seed % 2**32).fit_predict(rows))


def _leading(graph: Graph, k: int) -> FloatArray:
    """(m, k) leading eigenvectors of the normalised adjacency, the same for every seed."""
    scale = diags_array(1.0 / np.sqrt(graph.degrees))
    normalised = csr_array(scale @ graph.adjacency @ scale)
    if graph.n_nodes <= max(DENSE_BELOW, 2 * k):
        return np.asarray(np.linalg.eigh(normalised.toarray())[1][:, -k:])
    start = np.random.default_rng(0).normal(size=graph.n_nodes)
    return np.asarray(eigsh(normalised, k=k, which="LA", v0=start)[1])
