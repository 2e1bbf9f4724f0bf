"""The automatic quorum of communities: of the points on the path, the one that explains the network best."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from biconsensus.graphs._graph import Graph
from biconsensus.metrics import noise_as_singletons
from biconsensus.pool._pool import Pool
from biconsensus.protocols import IntArray
from biconsensus.quorum._path import QuorumPath, best_point


def likeliest_quorum(graph: Graph, pool: Pool, min_elements: int, min_candidates: int) -> Fraction:
    """Quorum whose groups, left-overs with the nearest, make the network most likely; ties go to a majority."""
    path = QuorumPath.of(pool, min_elements=min_elements, min_candidates=min_candidates)
    return best_point(path.points, lambda point: likelihood(graph, path.labels(point)[pool.inverse])).quorum


def likelihood(graph: Graph, labels: IntArray) -> float:
    """Log-likelihood of a network under communities with one rate of links inside and one between, given the degrees.

    Parameters
    ----------
    graph : Graph
        The network (m nodes).
    labels : (m,) array of int
        Community of each node; -1 is a community of one.

    Returns
    -------
    float
        At least 0, which is that of no communities; per unit of weight.

    Notes
    -----
    The degree-corrected planted partition with both rates at their best: ``x log(x / e) + (1 - x) log((1 - x) /
    (1 - e))`` with x the share of the links inside communities and e the share expected from the degrees. Unlike
    modularity, ``x - e``, it has no scale below which it merges communities that are clear.

    Examples
    --------
    >>> from biconsensus.graphs import read_graph
    >>> graph = read_graph([(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5)])
    >>> round(likelihood(graph, np.array([0, 0, 0, 1, 1, 1])), 3)
    0.693
    """
    groups = noise_as_singletons(labels)
    links = graph.adjacency.tocoo()
    total = float(links.data.sum())
    if total == 0:
        return 0.0
    inside = float(links.data[groups[links.row] == groups[links.col]].sum()) / total
    expected = float((np.bincount(groups, graph.degrees) ** 2).sum()) / total**2
    return _divergence(inside, expected) + _divergence(1 - inside, 1 - expected)


def _divergence(share: float, expected: float) -> float:
    """x log(x / e), 0 at 0."""
    return share * float(np.log(share / expected)) if share > 0 and expected > 0 else 0.0
