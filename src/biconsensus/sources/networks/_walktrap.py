"""Walktrap: short random walks stay in a community (igraph, GPL, extra ``graph-fast``)."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from biconsensus._checks import need
from biconsensus.graphs._graph import Graph, relabel
from biconsensus.protocols import IntArray


def walktrap(graph: Graph, seed: int = 0, *, steps: int = 4) -> IntArray:
    """Merge nodes whose random walks end in the same places; the cut with the best modularity.

    Parameters
    ----------
    graph : Graph
        A network of m nodes, none of them isolated.
    seed : int
        Not used; the method is deterministic.
    steps : int
        Length of the walks.

    Returns
    -------
    (m,) int array
        Labels from 0.

    Examples
    --------
    >>> from biconsensus.graphs import read_graph
    >>> from biconsensus.sources.networks._walktrap import walktrap
    >>> graph = read_graph([(0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (4, 5), (3, 5)])
    >>> walktrap(graph).tolist()
    [0, 0, 0, 1, 1, 1]
    """
    with igraph_seed(seed):
        return relabel(as_igraph(graph).community_walktrap(weights="weight", steps=steps).as_clustering().membership)


def as_igraph(graph: Graph) -> Any:
    """The same network as an igraph graph, weights in the edge attribute ``weight``."""
    igraph = need("igraph", "graph-fast")
    sources, targets, weights = graph.edges()
    converted = igraph.Graph(n=graph.n_nodes, edges=np.column_stack([sources, targets]))
    converted.es["weight"] = weights.tolist()
    return converted


@contextmanager
def igraph_seed(seed: int) -> Iterator[None]:
    """Seed the generator that igraph draws from, which is Python's global one, and put that back afterwards."""
    state = random.getstate()
    random.seed(seed)
    try:
        yield
    finally:
        random.setstate(state)
