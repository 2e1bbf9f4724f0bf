"""Ensemble clustering for graphs (Poulin and Theberge 2019): edges weighted by how often the pool keeps them whole."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array, csr_matrix

from biconsensus._checks import need
from biconsensus.baselines._pools import takes_tables
from biconsensus.errors import InputError
from biconsensus.graphs._graph import read_graph, relabel
from biconsensus.pool._pool import Pool
from biconsensus.protocols import BoolArray, IntArray


@takes_tables
def ecg(
    pool: Pool,
    n_groups: int | None = None,
    *,
    random_state: int | None = None,
    graph: Any = None,
    min_weight: float = 0.05,
) -> IntArray:
    """Louvain on the network, its edges weighted by the pool.

    Parameters
    ----------
    pool : Pool, or anything that `Pool.from_labels` takes
        Communities of the nodes of `graph`.
    n_groups : None
        It finds the number of groups itself and cannot be told.
    random_state : int, optional
        Seed of the final Louvain.
    graph : anything that `read_graph` takes
        The network that the pool is of; needed.
    min_weight : float
        Weight of an edge that no source keeps whole, and of all edges outside the 2-core.

    Returns
    -------
    (m,) array of int
        Labels from 0.

    Notes
    -----
    ``w_uv = w_min + (1 - w_min) * share of the sources with u and v in one group`` inside the 2-core.

    Examples
    --------
    >>> import biconsensus as bc
    >>> edges = [(0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (4, 5), (3, 5)]
    >>> ecg(bc.Pool.from_labels([[0, 0, 0, 1, 1, 1], [0, 0, 0, 0, 1, 1]]), graph=edges, random_state=0)
    array([0, 0, 0, 1, 1, 1])
    """
    if graph is None:
        raise InputError("graph: ECG weights the edges of the network that the pool is of; give it.")
    if n_groups is not None:
        raise InputError(f"n_groups: got {n_groups}; ECG finds the number of groups itself, leave it out.")
    network = read_graph(graph)
    edges = network.adjacency.tocoo()
    memberships = csr_array(pool.to_matrix() > 0).astype(np.float64)
    kept = np.asarray((memberships[edges.row] * memberships[edges.col]).sum(axis=1)).ravel()
    share = np.minimum(1.0, kept / np.unique(pool.source_of).size)
    core = _two_core(network.adjacency)
    share[~(core[edges.row] & core[edges.col])] = 0.0
    weights = min_weight + (1.0 - min_weight) * share
    model = need("sknetwork.clustering", "graph").Louvain(random_state=random_state, shuffle_nodes=True)
    return relabel(model.fit_predict(csr_matrix((weights, (edges.row, edges.col)), shape=network.adjacency.shape)))


def _two_core(adjacency: csr_array) -> BoolArray:
    """(m,) nodes that remain once nodes of degree below 2 are removed again and again."""
    links = csr_array(adjacency > 0).astype(np.int64)
    alive = np.ones(links.shape[0], bool)
    while True:
        kept = alive & (links @ alive.astype(np.int64) >= 2)
        if (kept == alive).all():
            return alive
        alive = kept
