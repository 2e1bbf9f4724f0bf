"""Overlapping chunks of a large network."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.sparse.csgraph import reverse_cuthill_mckee

from biconsensus._checks import check_count
from biconsensus._words import counted
from biconsensus.errors import InputError
from biconsensus.graphs._graph import Graph
from biconsensus.protocols import BoolArray, IntArray
from biconsensus.sources.networks import get_algorithm


def chunks_of(graph: Graph, n_chunks: int, overlap: float) -> list[IntArray]:
    """Nodes of each chunk: parts of equal size, each grown by the nodes most linked to it.

    Parameters
    ----------
    graph : Graph
        Network of m nodes.
    n_chunks : int
        Number of chunks, at most m.
    overlap : float
        How many nodes each part grows by, relative to its size.

    Returns
    -------
    list of int arrays
        Every node is in at least one of them.

    Examples
    --------
    >>> from biconsensus.graphs import read_graph
    >>> path = read_graph([(i, i + 1) for i in range(7)])
    >>> [chunk.tolist() for chunk in chunks_of(path, 2, overlap=0.5)]
    [[2, 3, 4, 5, 6, 7], [0, 1, 2, 3, 4, 5]]
    """
    check_count("n_chunks", n_chunks)
    if n_chunks > graph.n_nodes:
        raise InputError(
            f"n_chunks: received {n_chunks} for a network of {counted(graph.n_nodes, 'node')}; give at most that many"
        )
    if not overlap > 0:
        raise InputError(
            f"overlap: received {overlap!r}; chunks can only be stitched where they share nodes: give more than 0"
        )
    return [_grown(graph, part, round(overlap * part.size)) for part in np.array_split(_order(graph), n_chunks)]


def _order(graph: Graph) -> IntArray:
    """All nodes, breadth first; nodes that a quick clustering joins stay together, so that few links are cut."""
    rank = np.empty(graph.n_nodes, np.int64)
    rank[reverse_cuthill_mckee(graph.adjacency.tocsr(), symmetric_mode=True)] = np.arange(graph.n_nodes)
    found: IntArray = np.asarray(get_algorithm("label_propagation")(graph, seed=0, max_sweeps=5))
    labels = np.where(found < 0, found.max() + 1, found)
    middle = np.bincount(labels, rank) / np.bincount(labels)
    return np.lexsort((rank, labels, middle[labels]))


def well_seen(graph: Graph, chunks: Sequence[IntArray]) -> list[BoolArray]:
    """For each chunk, its nodes that have most of their links in it, or more than in any other chunk.

    A node that a chunk cut off from its community is put anywhere there; its label would join what does not belong
    together, and nothing would speak against it where no chunk holds both.
    """
    inside = np.zeros((graph.n_nodes, len(chunks)), bool)
    for k, chunk in enumerate(chunks):
        inside[chunk, k] = True
    links = np.where(inside, graph.adjacency @ inside.astype(np.float64), -1.0)
    counted = inside & ((2 * links > graph.degrees[:, None]) | (links == links.max(axis=1, keepdims=True)))
    return [counted[chunk, k] for k, chunk in enumerate(chunks)]


def _grown(graph: Graph, part: IntArray, extra: int) -> IntArray:
    """A part with the nodes around it that have the largest share of their links in it, ring by ring."""
    inside = np.zeros(graph.n_nodes)
    inside[part] = 1.0
    while extra > 0:
        share = np.where(inside > 0, 0.0, graph.adjacency @ inside) / np.maximum(graph.degrees, 1e-300)
        ring = np.flatnonzero(share > 0)
        if ring.size == 0:
            break
        chosen = ring[np.argsort(-share[ring], kind="stable")[:extra]]
        inside[chosen] = 1.0
        extra -= chosen.size
    return np.flatnonzero(inside)
