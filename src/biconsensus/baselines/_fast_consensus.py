"""Fast consensus (Tandon et al. 2019): iterated consensus on the edges of the network and a few closed triads."""

from __future__ import annotations

from typing import Any

import numpy as np

from biconsensus._words import counted
from biconsensus.baselines._consensus_network import is_unanimous, network_of, runs_on, share_together, thresholded
from biconsensus.baselines._pools import label_table, takes_tables
from biconsensus.errors import InputError
from biconsensus.graphs._graph import Graph, read_graph, relabel
from biconsensus.pool._pool import Pool
from biconsensus.protocols import IntArray


@takes_tables
def fast_consensus(
    pool: Pool,
    n_groups: int | None = None,
    *,
    random_state: int | None = None,
    graph: Any = None,
    algorithm: str = "louvain",
    threshold: float = 0.2,
    tolerance: float = 0.02,
    max_rounds: int = 30,
) -> IntArray:
    """Weigh the edges of a network by how often runs keep them whole, detect communities again, and repeat.

    Parameters
    ----------
    pool : Pool, or anything that `Pool.from_labels` takes
        Communities of the m nodes of `graph`.
    n_groups : None
        It finds the number of groups itself and cannot be told.
    random_state : int, optional
        Seed of the runs and of the triads.
    graph : anything that `read_graph` takes
        The network that the pool is of; needed.
    algorithm : str
        Base algorithm of every round but the first, which is the pool.
    threshold : float
        Edges that fewer runs keep whole are left out.
    tolerance : float
        It ends when no larger share of the edges is undecided.
    max_rounds : int
        Rounds before it gives up.

    Returns
    -------
    (m,) array of int
        Labels from 0.

    Examples
    --------
    >>> import biconsensus as bc
    >>> edges = [(0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (4, 5), (3, 5)]
    >>> fast_consensus(bc.Pool.from_labels([[0, 0, 0, 1, 1, 1]] * 3), graph=edges, random_state=0)
    array([0, 0, 0, 1, 1, 1])
    """
    if graph is None:
        raise InputError("graph: fast consensus weighs the edges of the network that the pool is of; give it.")
    if n_groups is not None:
        raise InputError(f"n_groups: got {n_groups}; fast consensus finds the number of groups, leave it out.")
    network = read_graph(graph)
    if network.n_nodes != pool.shape[0]:
        raise InputError(
            f"graph: it has {counted(network.n_nodes, 'node')}, the pool {counted(pool.shape[0], 'element')}."
        )
    rng = np.random.default_rng(random_state)
    table, n_closed = label_table(pool), network.n_edges
    n_runs = table.shape[1]
    for _ in range(max_rounds):
        left, right, _ = network.edges()
        share = share_together(table, left, right)
        if is_unanimous(share, tolerance):
            break
        weights = thresholded(left, right, share, threshold, network.n_nodes)
        extra_left, extra_right = _closed_triads(network, n_closed, rng)
        extra = share_together(table, extra_left, extra_right)
        ends = np.append(left, extra_left), np.append(right, extra_right)
        network = network_of(*ends, np.append(weights, extra), network.n_nodes)
        table = runs_on(network, algorithm, n_runs, rng)
    return relabel(table[:, 0])


def _closed_triads(network: Graph, n: int, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """Up to n new pairs of nodes that share a neighbour, each once, smaller node first."""
    adjacency, m = network.adjacency, network.n_nodes
    degree = np.diff(adjacency.indptr)
    centres = rng.choice(np.flatnonzero(degree > 1), size=n) if (degree > 1).any() else np.empty(0, np.int64)
    picks = [adjacency.indices[adjacency.indptr[centres] + rng.integers(degree[centres])] for _ in range(2)]
    low, high = np.minimum(*picks).astype(np.int64), np.maximum(*picks).astype(np.int64)
    left, right, _ = network.edges()
    pairs = np.setdiff1d((low * m + high)[low != high], left * m + right)
    new_left, new_right = np.divmod(pairs, m)
    return new_left, new_right
