"""Degree-corrected planted-partition block model, fitted by Louvain at the resolution that its likelihood asks for."""

from __future__ import annotations

import numpy as np

from biconsensus.graphs._graph import Graph
from biconsensus.protocols import IntArray
from biconsensus.sources.networks._louvain import louvain


def block_model(graph: Graph, seed: int, *, start: float = 1.0, max_rounds: int = 10) -> IntArray:
    """Fit a stochastic block model with one rate inside and one rate between communities.

    Parameters
    ----------
    graph : Graph
        A network of m nodes, none of them isolated.
    seed : int
        Seed of the Louvain runs.
    start : float
        Resolution of the first round.
    max_rounds : int
        Rounds before it gives up waiting for the resolution to settle.

    Returns
    -------
    (m,) int array
        Labels from 0.

    Notes
    -----
    Newman (2016): the likelihood of the model is greatest where modularity is, at the resolution
    ``(w_in - w_out) / (log w_in - log w_out)`` with w the observed over the expected weight inside and between
    communities.

    Examples
    --------
    >>> from biconsensus.graphs import read_graph
    >>> from biconsensus.sources.networks._block_model import block_model
    >>> graph = read_graph([(0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (4, 5), (3, 5)])
    >>> len(set(block_model(graph, seed=0).tolist()))
    2
    """
    resolution, tried = start, set()
    labels = louvain(graph, seed, resolution=resolution)
    for _ in range(max_rounds):
        resolution = round(_likely_resolution(graph, labels), 3)
        if resolution in tried:
            break
        tried.add(resolution)
        labels = louvain(graph, seed, resolution=resolution)
    return labels


def _likely_resolution(graph: Graph, labels: IntArray) -> float:
    """The resolution at which modularity is the likelihood of the model with the rates of this partition."""
    total = float(graph.adjacency.sum())
    sources, targets, weights = graph.edges()
    inside = 2.0 * float(weights[labels[sources] == labels[targets]].sum())
    expected = float((np.bincount(labels, graph.degrees) ** 2).sum()) / total
    if inside == 0 or inside == total or expected >= total:
        return 1.0
    rate_in, rate_out = inside / expected, (total - inside) / (total - expected)
    return (rate_in - rate_out) / float(np.log(rate_in / rate_out)) if rate_in != rate_out else 1.0
