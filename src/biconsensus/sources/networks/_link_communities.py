"""Link communities: group the edges, so that a node is in every community of its edges."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import minimum_spanning_tree

from biconsensus.errors import TooLargeError
from biconsensus.graphs._graph import Graph
from biconsensus.protocols import FloatArray, IntArray
from biconsensus.sources.networks._clique_percolation import memberships

MAX_PAIRS = 20_000_000
"""Pairs of links that share a node, up to which similarities fit into memory."""


def link_communities(graph: Graph, seed: int = 0, *, min_edges: int = 2) -> csr_array:
    """Find overlapping communities by single linkage of the edges.

    Parameters
    ----------
    graph : Graph
        A network of m nodes, none of them isolated. Weights do not matter.
    seed : int
        Not used; the method is deterministic.
    min_edges : int
        Communities of fewer edges are left out.

    Returns
    -------
    (m, g) sparse bool array
        Memberships; a node may be in several communities, or in none.

    Notes
    -----
    Ahn, Bagrow and Lehmann (2010): edges (i, k) and (j, k) are as similar as the neighbourhoods of i and j (Jaccard,
    each with the node itself); the dendrogram is cut where the partition density
    ``(2/M) sum_c m_c (m_c - n_c + 1) / ((n_c - 2)(n_c - 1))`` is greatest.

    Examples
    --------
    >>> from biconsensus.graphs import read_graph
    >>> from biconsensus.sources.networks._link_communities import link_communities
    >>> graph = read_graph([(0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (2, 4)])
    >>> link_communities(graph).sum(axis=1).tolist()
    [1, 1, 2, 1, 1]
    """
    sources, targets, _ = graph.edges()
    first, second, similarity = _edge_pairs(graph)
    # 2 - similarity: the tree would take a distance of zero for no edge; SciPy before 1.15 takes 32-bit indices only
    pairs = first.astype(np.int32), second.astype(np.int32)
    tree = minimum_spanning_tree(csr_array((2.0 - similarity, pairs), shape=(sources.size, sources.size))).tocoo()
    order = np.argsort(tree.data, kind="stable")
    merges = [(int(tree.row[k]), int(tree.col[k]), float(tree.data[k])) for k in order]
    edge_labels = _densest_cut(merges, sources, targets)
    by_label = np.argsort(edge_labels, kind="stable")
    parts = np.split(by_label, np.flatnonzero(np.diff(edge_labels[by_label])) + 1)
    groups = [np.unique(np.append(sources[p], targets[p])).tolist() for p in parts if p.size >= min_edges]
    return memberships(sorted(groups), graph.n_nodes)


def _edge_pairs(graph: Graph) -> tuple[IntArray, IntArray, FloatArray]:
    """Pairs of edges that share a node, and their similarity."""
    adjacency = graph.adjacency
    degree = np.diff(adjacency.indptr)
    n_pairs = int((degree * (degree - 1) // 2).sum())
    if n_pairs > MAX_PAIRS:
        raise TooLargeError(f"link_communities: {n_pairs} pairs of edges share a node; at most {MAX_PAIRS} are handled")
    edge_of = _edge_numbers(graph)
    first, second, left, right = [], [], [], []
    for node in np.flatnonzero(degree > 1):
        span = slice(adjacency.indptr[node], adjacency.indptr[node + 1])
        a, b = np.triu_indices(degree[node], 1)
        first.append(edge_of[span][a])
        second.append(edge_of[span][b])
        left.append(adjacency.indices[span][a])
        right.append(adjacency.indices[span][b])
    if not first:
        return np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0)
    return np.concatenate(first), np.concatenate(second), _jaccard(graph, np.concatenate(left), np.concatenate(right))


def _edge_numbers(graph: Graph) -> IntArray:
    """(nnz,) the number of the edge, in the order of `Graph.edges`, behind each stored entry."""
    numbers = csr_array(graph.adjacency, copy=True)
    sources, targets, _ = graph.edges()
    rows = np.repeat(np.arange(graph.n_nodes), np.diff(numbers.indptr))
    low, high = np.minimum(rows, numbers.indices), np.maximum(rows, numbers.indices)
    found: IntArray = np.searchsorted(sources * graph.n_nodes + targets, low * graph.n_nodes + high).astype(np.int64)
    return found


def _jaccard(graph: Graph, left: IntArray, right: IntArray) -> FloatArray:
    """Jaccard similarity of the neighbourhoods, each with the node itself, of pairs of nodes."""
    closed = graph.adjacency.astype(bool).astype(np.float64).tolil()
    closed.setdiag(1.0)
    rows = csr_array(closed)
    pairs, inverse = np.unique(left * graph.n_nodes + right, return_inverse=True)
    a, b = np.divmod(pairs, graph.n_nodes)
    shared = np.asarray(rows[a].multiply(rows[b]).sum(axis=1)).ravel()
    sizes = np.diff(rows.indptr)
    similarity: FloatArray = shared / (sizes[a] + sizes[b] - shared)
    return np.asarray(similarity[inverse.ravel()], dtype=np.float64)


def _densest_cut(merges: list[tuple[int, int, float]], sources: IntArray, targets: IntArray) -> IntArray:
    """(e,) labels of the edges at the cut with the greatest partition density."""
    nodes = [{int(u), int(v)} for u, v in zip(sources, targets)]
    count, parent = [1] * len(nodes), list(range(len(nodes)))
    density = best = 0.0
    kept = 0
    for k, (a, b, height) in enumerate(merges):
        a, b = _root(parent, a), _root(parent, b)
        density -= _density(count[a], len(nodes[a])) + _density(count[b], len(nodes[b]))
        if len(nodes[a]) < len(nodes[b]):
            a, b = b, a
        parent[b], nodes[a] = a, nodes[a] | nodes[b]
        count[a] += count[b]
        density += _density(count[a], len(nodes[a]))
        complete = k + 1 == len(merges) or merges[k + 1][2] > height
        if complete and density > best + 1e-12:
            best, kept = density, k + 1
    parent = list(range(len(sources)))
    for a, b, _ in merges[:kept]:
        parent[_root(parent, b)] = _root(parent, a)
    return np.array([_root(parent, e) for e in range(len(sources))], dtype=np.int64)


def _density(n_edges: int, n_nodes: int) -> float:
    """Term of one community in the partition density, without the common factor."""
    return 0.0 if n_nodes <= 2 else n_edges * (n_edges - n_nodes + 1) / ((n_nodes - 2) * (n_nodes - 1))


def _root(parent: list[int], k: int) -> int:
    """Representative of a set, with path halving."""
    while parent[k] != k:
        parent[k] = parent[parent[k]]
        k = parent[k]
    return k
