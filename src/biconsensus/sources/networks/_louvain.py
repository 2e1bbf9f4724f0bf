"""Louvain: modularity by local moving and aggregation (scikit-network)."""

from __future__ import annotations

from scipy.sparse import csr_matrix

from biconsensus.graphs._graph import Graph
from biconsensus.protocols import IntArray
from biconsensus.sources.networks._algorithm import need, relabel


def louvain(graph: Graph, seed: int, *, resolution: float = 1.0, n_levels: int | None = None) -> IntArray:
    """Find communities by the Louvain method.

    Parameters
    ----------
    graph : Graph
        A network of m nodes, none of them isolated.
    seed : int
        Decides the order in which nodes move.
    resolution : float
        Higher values give smaller communities.
    n_levels : int, optional
        How often communities are aggregated; all the way by default.

    Returns
    -------
    (m,) int array
        Labels from 0.

    Notes
    -----
    Maximises ``Q = (1 / 2W) sum_ij (A_ij - resolution k_i k_j / 2W) [label_i = label_j]`` (Blondel et al. 2008).

    Examples
    --------
    >>> from biconsensus.graphs import read_graph
    >>> from biconsensus.sources.networks._louvain import louvain
    >>> graph = read_graph([(0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (4, 5), (3, 5)])
    >>> len(set(louvain(graph, seed=0).tolist()))
    2
    """
    method = need("sknetwork.clustering", "graph").Louvain(
        resolution=resolution,
        n_aggregations=-1 if n_levels is None else n_levels,
        shuffle_nodes=True,
        random_state=seed,
        return_probs=False,
        return_aggregate=False,
    )
    return relabel(method.fit_predict(csr_matrix(graph.adjacency)))
