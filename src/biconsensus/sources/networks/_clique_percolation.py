"""Clique percolation: overlapping communities of cliques that share all but one node (networkx)."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from biconsensus._checks import need
from biconsensus.errors import InputError
from biconsensus.graphs._graph import Graph


def clique_percolation(graph: Graph, seed: int = 0, *, k: int = 3) -> csr_array:
    """Find overlapping communities by clique percolation.

    Parameters
    ----------
    graph : Graph
        A network of m nodes, none of them isolated. Weights do not matter.
    seed : int
        Not used; the method is deterministic.
    k : int
        Size of the cliques, at least 2.

    Returns
    -------
    (m, g) sparse bool array
        Memberships; a node may be in several communities, or in none.

    Examples
    --------
    >>> from biconsensus.graphs import read_graph
    >>> from biconsensus.sources.networks._clique_percolation import clique_percolation
    >>> graph = read_graph([(0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (2, 4)])
    >>> clique_percolation(graph).sum(axis=1).tolist()
    [1, 1, 2, 1, 1]
    """
    if k < 2:
        raise InputError(f"k: received {k}; a clique of the percolation has at least 2 nodes")
    nx = need("networkx", "graph")
    network = nx.from_scipy_sparse_array(graph.adjacency)
    groups = sorted(sorted(members) for members in nx.community.k_clique_communities(network, k))
    return memberships(groups, graph.n_nodes)


def memberships(groups: list[list[int]], n_nodes: int) -> csr_array:
    """(m, g) sparse bool memberships of lists of nodes."""
    rows = np.array([node for members in groups for node in members], dtype=np.int64)
    columns = np.repeat(np.arange(len(groups)), [len(members) for members in groups])
    return csr_array((np.ones(rows.size, bool), (rows, columns)), shape=(n_nodes, len(groups)))
