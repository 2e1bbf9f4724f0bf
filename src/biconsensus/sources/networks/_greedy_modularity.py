"""Greedy modularity: merge the pair of communities that gains most (networkx)."""

from __future__ import annotations

import numpy as np

from biconsensus.graphs._graph import Graph
from biconsensus.protocols import IntArray
from biconsensus.sources.networks._algorithm import need


def greedy_modularity(graph: Graph, seed: int = 0, *, resolution: float = 1.0) -> IntArray:
    """Find communities by the method of Clauset, Newman and Moore (2004).

    Parameters
    ----------
    graph : Graph
        A network of m nodes, none of them isolated.
    seed : int
        Not used; the method is deterministic.
    resolution : float
        Higher values give smaller communities.

    Returns
    -------
    (m,) int array
        Labels from 0.

    Examples
    --------
    >>> from biconsensus.graphs import read_graph
    >>> from biconsensus.sources.networks._greedy_modularity import greedy_modularity
    >>> graph = read_graph([(0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (4, 5), (3, 5)])
    >>> len(set(greedy_modularity(graph).tolist()))
    2
    """
    nx = need("networkx", "graph")
    network = nx.from_scipy_sparse_array(graph.adjacency)
    labels = np.empty(graph.n_nodes, dtype=np.int64)
    for k, members in enumerate(
        nx.community.greedy_modularity_communities(network, weight="weight", resolution=resolution)
    ):
        labels[list(members)] = k
    return labels
