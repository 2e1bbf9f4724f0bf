"""The second round: what a pool says about the edges, as a network to look at again."""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array, csr_array

from biconsensus.graphs._graph import Graph
from biconsensus.pool._pool import Pool
from biconsensus.protocols import FloatArray, IntArray

FLOOR = 0.05
"""What is left of an edge that no run keeps whole, so that nothing falls apart."""
BATCH = 200_000
"""Edges weighed at a time: bounds memory, changes no answer."""


def weighed_by_pool(graph: Graph, pool: Pool) -> Graph:
    """The same network, each edge weighed by how many runs of a pool keep its two ends together.

    Parameters
    ----------
    graph : Graph
        Network of m nodes.
    pool : Pool
        Communities of its nodes.

    Returns
    -------
    Graph
        The same edges.

    Notes
    -----
    ``w_uv (0.05 + 0.95 s_uv)`` with s_uv the share of weight of the runs that saw both ends and hold them in one
    community: the idea of Lancichinetti and Fortunato (2012) and of ECG, on the edges only.

    Examples
    --------
    >>> import biconsensus as bc
    >>> from biconsensus.graphs import read_graph
    >>> graph = read_graph([(0, 1), (1, 2)])
    >>> weighed_by_pool(graph, bc.Pool.from_labels([[0, 0, 1], [0, 0, 0]])).adjacency.toarray()[1]
    array([1.   , 0.   , 0.525])
    """
    sources, targets, weights = graph.edges()
    share = np.concatenate(
        [share_together(pool, sources[k : k + BATCH], targets[k : k + BATCH]) for k in range(0, sources.size, BATCH)]
        or [np.zeros(0)]
    )
    half = coo_array((weights * (FLOOR + (1 - FLOOR) * share), (sources, targets)), shape=graph.adjacency.shape)
    adjacency = csr_array(half + half.T)
    adjacency.sort_indices()
    return Graph(adjacency, graph.names)


def share_together(pool: Pool, left: IntArray, right: IntArray) -> FloatArray:
    """(p,) of the runs that saw both elements of a pair, the share of weight that holds them in one candidate."""
    a, b = pool.inverse[left], pool.inverse[right]
    both = csr_array(pool.rows[a].multiply(pool.rows[b]), dtype=np.float64) @ pool.weights
    n_sources = len(pool.sources)
    size = np.bincount(pool.source_of, minlength=n_sources)
    of_source = np.bincount(pool.source_of, pool.weights, minlength=n_sources) / np.maximum(size, 1)
    asked = np.full(left.size, of_source.sum())
    if pool.unseen is not None and pool.view_of is not None:
        view = np.zeros(n_sources, np.int64)
        view[pool.source_of] = pool.view_of
        of_view = np.bincount(view, of_source, minlength=pool.unseen.shape[1])
        hidden = (pool.unseen[a].astype(bool) + pool.unseen[b].astype(bool)).astype(np.float64)
        asked = asked - hidden @ of_view
    share: FloatArray = np.divide(both, asked, out=np.zeros(left.size), where=asked > 1e-12)
    return np.minimum(share, 1.0)
