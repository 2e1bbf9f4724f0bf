"""Networks of every common form, read into one: a symmetric adjacency and the user's node names.

What happens to the special cases, the same for every form:

* **Self-loops** are left out: they do not say with whom a node belongs.
* **Parallel edges** become one whose weight is the sum. Weights of zero are no edge.
* **Isolated nodes** stay, and end in no community (-1).
* **Negative, infinite or missing weights** are an error that names the first such edge.
* **Directed networks** lose their direction: the weights of the two directions add up. A matrix that is not symmetric
  counts as directed; one that is symmetric lists every edge twice, and each counts once.
* **Disconnected networks** work; a community never has to be connected to another.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import coo_array, csr_array, issparse

from biconsensus._words import counted
from biconsensus.errors import InputError, InputTypeError, UnknownNameError
from biconsensus.graphs._files import places_of_ends, read_graph_file
from biconsensus.protocols import BoolArray, FloatArray, IntArray

__all__ = ["Graph", "read_graph", "sum_of_graphs", "union_nodes"]

DEFAULT_WEIGHT = "weight"
"""Attribute of the edges that is read where nobody names one, and that a network need not have."""
HUGE = 1e100
"""Weights are scaled if the largest is above this, or below its inverse: their squares would overflow or vanish."""


@dataclass(frozen=True)
class Graph:
    """An undirected weighted network without self-loops.

    Examples
    --------
    >>> from biconsensus.graphs import read_graph
    >>> graph = read_graph([("a", "b"), ("b", "c"), ("a", "b")])
    >>> graph.names, graph.n_edges
    (['a', 'b', 'c'], 2)
    >>> graph.adjacency.toarray()[0]
    array([0., 2., 0.])
    """

    adjacency: csr_array
    """(m, m) symmetric float64 weights, zero diagonal, sorted indices."""
    names: list[Hashable]
    """The user's name of each of the m nodes."""
    directed: bool = False
    """Whether links had a direction, which was left out."""

    def __repr__(self) -> str:
        """One line: nodes and edges."""
        return f"Graph({counted(self.n_nodes, 'node')}, {counted(self.n_edges, 'edge')})"

    @property
    def n_nodes(self) -> int:
        """Number of nodes (m)."""
        return len(self.names)

    @property
    def n_edges(self) -> int:
        """Number of distinct edges."""
        return int(self.adjacency.nnz // 2)

    @cached_property
    def degrees(self) -> FloatArray:
        """(m,) sum of the weights at each node."""
        return np.asarray(self.adjacency.sum(axis=1), dtype=np.float64).ravel()

    @property
    def isolated(self) -> BoolArray:
        """(m,) nodes without an edge."""
        return np.asarray(np.diff(self.adjacency.indptr) == 0, dtype=bool)

    @cached_property
    def index(self) -> dict[Hashable, int]:
        """The position of each name."""
        return {name: i for i, name in enumerate(self.names)}

    def edges(self) -> tuple[IntArray, IntArray, FloatArray]:
        """Both ends (e,) and the weight (e,) of each edge, every edge once."""
        rows = np.repeat(np.arange(self.n_nodes), np.diff(self.adjacency.indptr))
        once = rows < self.adjacency.indices
        return rows[once], self.adjacency.indices[once].astype(np.int64), self.adjacency.data[once]

    def subgraph(self, nodes: IntArray) -> Graph:
        """The network between some of the nodes."""
        return Graph(csr_array(self.adjacency[nodes][:, nodes]), [self.names[i] for i in nodes])

    def positions(self, names: Iterable[Hashable], argument: str) -> list[int]:
        """Positions of some names; an error names `argument` and the first unknown name."""
        found = list(names)
        for name in found:
            if name not in self.index:
                raise InputError(
                    f"{argument}: {name!r} is no node of the network; its nodes are e.g. {self.names[:5]!r}"
                )
        return [self.index[name] for name in found]


def read_graph(data: Any, *, weight: str | None = DEFAULT_WEIGHT, nodes: Sequence[Hashable] | None = None) -> Graph:
    """Read a network of any supported form.

    Parameters
    ----------
    data : Graph, networkx graph, igraph graph, (m, m) sparse or dense adjacency, edge list, or path
        An edge list is an iterable of ``(u, v)``, ``(u, v, weight)`` or ``(u, v, {"weight": weight})``, an (e, 2) or
        (e, 3) table, or a (2, e) array of both ends, e above 3. A path is a file in one of the forms of
        `read_graph_file`: GML, GraphML, GEXF, Pajek, METIS, Matrix Market, SciPy sparse, adjacency list or edge list.
        Its suffix tells which.
    weight : str or None
        Edge attribute, or column of a table of edges, with the weights; an edge without it weighs 1. An array or a
        list of edges has its weights in the third place. None: every edge weighs 1.
    nodes : sequence of m names, optional
        Names for the rows of a matrix; for an edge list all nodes, also those without an edge.

    Returns
    -------
    Graph

    Examples
    --------
    >>> import numpy as np
    >>> from biconsensus.graphs import read_graph
    >>> read_graph(np.array([[0, 1], [1, 0]]), nodes=["left", "right"]).n_edges
    1
    """
    if isinstance(data, Graph):
        return data
    if isinstance(data, (str, Path)):
        found = read_graph_file(Path(data), weight)
        return read_graph(found.network, weight=found.weight, nodes=found.nodes)
    if hasattr(data, "edges") and hasattr(data, "adj") and hasattr(data, "is_directed"):
        return from_networkx(data, weight)
    if hasattr(data, "get_edgelist"):
        return from_igraph(data, weight)
    if issparse(data) or _square(data):
        return from_matrix(data, nodes, weight)
    if _is_adjacency_frame(data):
        return from_matrix(np.asarray(data), list(data.columns) if nodes is None else nodes, weight)
    if isinstance(data, np.ndarray) and data.ndim == 2 and data.shape[0] == 2 and data.shape[1] > 3:
        data = data.T
    return from_edge_list(data, nodes, weight)


def _square(data: Any) -> bool:
    """Whether this is a dense square matrix rather than a table of edges (a 2 x 2 or 3 x 3 array is a matrix)."""
    if not isinstance(data, np.ndarray) or data.dtype.kind not in "buif" or data.ndim != 2:
        return False
    return bool(data.shape[0] == data.shape[1])


def _is_adjacency_frame(data: Any) -> bool:
    """Whether this is a data frame whose rows and columns have the same names."""
    return hasattr(data, "iloc") and len(data) == len(data.columns) and list(data.index) == list(data.columns)


def from_matrix(matrix: Any, names: Sequence[Hashable] | None = None, weight: str | None = DEFAULT_WEIGHT) -> Graph:
    """Read an (m, m) adjacency; one that is not symmetric counts as directed. Without `weight` all edges weigh 1."""
    given = coo_array(matrix)
    if given.ndim != 2 or given.shape[0] != given.shape[1]:
        raise InputError(
            f"graph: an adjacency must be square, received shape {given.shape}; of a network with two kinds of nodes "
            "and links B between them, give scipy.sparse.block_array([[None, B], [B.T, None]])"
        )
    listed: list[Hashable] = list(range(given.shape[0]) if names is None else names)
    if len(listed) != given.shape[0]:
        raise InputError(
            f"nodes: {counted(len(listed), 'name')} for an adjacency of "
            f"{counted(given.shape[0], 'node')}; give one for each"
        )
    weights = _check_weights(given.data, given.row, given.col, listed)
    if weight is None:
        weights = (weights != 0).astype(np.float64)
    square = csr_array(coo_array((weights, (given.row, given.col)), shape=given.shape))
    difference = abs(square - square.T)
    symmetric = difference.nnz == 0 or float(difference.max()) <= 1e-12 * float(square.max())
    return replace(_finish(square, listed, twice=symmetric), directed=not symmetric)


def from_edge_list(
    edges: Iterable[Any], nodes: Sequence[Hashable] | None = None, weight: str | None = DEFAULT_WEIGHT
) -> Graph:
    """Read pairs or triples; names in order of first appearance. Without `weight` all edges weigh 1."""
    mapping = isinstance(edges, Mapping) and not isinstance(edges, Set)  # the edges of networkx are both
    if mapping or not (isinstance(edges, Iterable) or hasattr(edges, "columns")):
        raise InputTypeError(
            f"graph: received {type(edges).__name__}; allowed are a networkx or igraph graph, an (m, m) adjacency, "
            "an edge list of (u, v) or (u, v, weight), or the path of a GML, GraphML, Pajek or edge-list file"
        )
    rows = _edge_rows(edges, weight)
    index: dict[Hashable, int] = {name: i for i, name in enumerate(() if nodes is None else nodes)}
    ends, weights, closed = np.empty((len(rows), 2), dtype=np.int64), np.ones(len(rows)), nodes is not None
    for k, row in enumerate(rows):
        if not isinstance(row, (tuple, list)) or len(row) not in (2, 3):
            raise InputError(
                f"graph: edge {k} is {row!r:.80}; an edge is (u, v) or (u, v, weight), and an adjacency is a square "
                "NumPy array"
            )
        for side, name in enumerate(row[:2]):
            if closed and name not in index:
                raise InputError(f"graph: edge {k} has the node {name!r}, which is not in nodes")
            ends[k, side] = index.setdefault(name, len(index))
        if len(row) == 3 and weight is not None:
            weights[k] = edge_weight(row[2].get(weight, 1.0) if isinstance(row[2], Mapping) else row[2], k)
    if not closed:
        _check_are_no_points(list(index), len(rows))
    return from_ends(ends[:, 0], ends[:, 1], weights, list(index))


def _edge_rows(edges: Any, weight: str | None) -> list[Any]:
    """Edges as tuples; names of nodes stay what they are where the weights beside them are no whole numbers."""
    if hasattr(edges, "columns") and not isinstance(edges, np.ndarray):
        return list(zip(*_edge_columns(edges, weight)))
    if not hasattr(edges, "__array__"):
        return list(edges)
    rows: list[Any] = np.asarray(edges).tolist()
    if getattr(edges, "dtype", np.dtype(object)).kind == "f":
        return [tuple(int(x) if k < 2 and x.is_integer() else x for k, x in enumerate(row)) for row in rows]
    return rows


def _check_are_no_points(names: list[Hashable], n_edges: int) -> None:
    """An error for coordinates of points: numbers with fractions, most of which come once, link nothing."""
    first = next((name for name in names if isinstance(name, float) and not name.is_integer()), None)
    if first is not None and len(names) > n_edges:
        raise InputError(
            f"graph: the first two columns of a table are the nodes of each edge, but hold numbers such as {first:g}, "
            "most of them once; give whole numbers or text, or cluster points with ConsensusClustering."
        )


def _edge_columns(frame: Any, weight: str | None) -> list[list[Any]]:
    """Both ends and, where there is one, the weight: by the names of the columns, or in their order."""
    names = [str(name) for name in getattr(frame, "column_names", frame.columns)]
    lower = [name.lower() for name in names]
    one, other = places_of_ends(names)
    # what stands before the ends, as ids do, is no weight
    order = [one, *range(other, len(names))]
    if weight is None:
        order = order[:2]
    elif weight in names or weight.lower() in lower:
        at = names.index(weight) if weight in names else lower.index(weight.lower())
        order = [*[k for k in order if k != at][:2], at]
    elif weight != DEFAULT_WEIGHT:
        raise UnknownNameError.of("column for the weights of the edges", weight, names)
    if hasattr(frame, "iloc"):
        return [frame.iloc[:, k].tolist() for k in order]
    return [list(frame[k].to_pylist() if hasattr(frame, "to_pylist") else frame[:, k].to_list()) for k in order]


def from_ends(sources: IntArray, targets: IntArray, weights: FloatArray, names: list[Hashable]) -> Graph:
    """Build a graph from the positions of both ends of every edge."""
    checked = _check_weights(weights, sources, targets, names)
    square = csr_array(coo_array((checked, (sources, targets)), shape=(len(names), len(names))))
    return _finish(square, names, twice=False)


def union_nodes(graphs: Sequence[Graph]) -> tuple[list[Hashable], list[IntArray]]:
    """All names of several graphs in order of first appearance, and where each graph's nodes stand among them."""
    index: dict[Hashable, int] = {}
    places = [
        np.array([index.setdefault(name, len(index)) for name in graph.names], dtype=np.int64) for graph in graphs
    ]
    return list(index), places


def sum_of_graphs(graphs: Sequence[Graph], names: list[Hashable], places: Sequence[IntArray]) -> Graph:
    """One graph over all names whose weights are the sums."""
    total = csr_array((len(names), len(names)), dtype=np.float64)
    for graph, place in zip(graphs, places):
        entries = graph.adjacency.tocoo()
        total = total + coo_array((entries.data, (place[entries.row], place[entries.col])), shape=total.shape).tocsr()
    total.sort_indices()
    return Graph(csr_array(total), names)


def _finish(square: csr_array, names: list[Hashable], twice: bool) -> Graph:
    """Add the two directions up (unless every edge is listed twice), drop loops and zeros."""
    if not names:
        raise InputError("graph: the network has no nodes; at least one is needed")
    both = coo_array(square if twice else square + square.T)
    keep = (both.row != both.col) & (both.data != 0)
    adjacency = csr_array(coo_array((both.data[keep], (both.row[keep], both.col[keep])), shape=both.shape))
    adjacency.sum_duplicates()
    return Graph(adjacency, names)


def _check_weights(weights: Any, sources: Any, targets: Any, names: Sequence[Hashable]) -> FloatArray:
    """(e,) float64 weights, all finite and not negative."""
    values = np.asarray(weights, dtype=np.float64)
    bad = np.flatnonzero(~np.isfinite(values) | (values < 0))
    if bad.size:
        u, v = names[int(sources[bad[0]])], names[int(targets[bad[0]])]
        many = f"{bad.size:,} edges have" if bad.size > 1 else "1 edge has"
        raise InputError(
            f"graph: {many} a negative or non-finite weight, the first {float(values[bad[0]])} between "
            f"{u!r} and {v!r}; weights must be finite and at least 0: leave such edges out, or shift the weights"
        )
    largest = float(values.max(initial=0.0))
    # sums and products of such weights would overflow or vanish; a power of two changes no digit
    extreme = largest > HUGE or 0 < largest < 1 / HUGE
    return np.ldexp(values, -int(np.frexp(largest)[1])) if extreme else values


def edge_weight(value: Any, edge: int) -> float:
    """A weight as float; an error says which edge."""
    try:
        return float(value)
    except (TypeError, ValueError):
        raise InputError(f"graph: edge {edge} has the weight {value!r}; a weight is a number") from None


def from_networkx(graph: Any, weight: str | None) -> Graph:
    """Read any networkx graph; parallel edges are added up."""
    names = list(graph.nodes)
    index = {name: i for i, name in enumerate(names)}
    _check_attribute(weight, (key for _, _, attributes in graph.edges(data=True) for key in attributes))
    triples = [
        (index[u], index[v], 1.0 if weight is None else d.get(weight, 1.0)) for u, v, d in graph.edges(data=True)
    ]
    values = [edge_weight(w, k) for k, (_, _, w) in enumerate(triples)]
    ends = np.array([t[:2] for t in triples], dtype=np.int64).reshape(-1, 2)
    return replace(from_ends(ends[:, 0], ends[:, 1], np.array(values), names), directed=bool(graph.is_directed()))


def _check_attribute(weight: str | None, attributes: Iterable[Any]) -> None:
    """An error where somebody names an attribute that no edge has; the default may be absent."""
    if weight not in (None, DEFAULT_WEIGHT):
        known = set(map(str, attributes))
        if weight not in known:
            raise UnknownNameError.of("edge attribute", str(weight), known)


def from_igraph(graph: Any, weight: str | None) -> Graph:
    """Read an igraph graph; vertex names where it has them, positions otherwise."""
    names = list(graph.vs["name"]) if "name" in graph.vs.attributes() else list(range(graph.vcount()))
    if len(set(names)) < len(names):
        raise InputError("graph: vertex names of the igraph graph repeat; give every vertex its own name")
    ends = np.array(graph.get_edgelist(), dtype=np.int64).reshape(-1, 2)
    _check_attribute(weight, graph.es.attributes())
    named = weight is not None and weight in graph.es.attributes()
    values = [edge_weight(w, k) for k, w in enumerate(graph.es[weight])] if named else [1.0] * len(ends)
    return replace(from_ends(ends[:, 0], ends[:, 1], np.array(values), names), directed=bool(graph.is_directed()))


def relabel(labels: Any) -> IntArray:
    """Consecutive labels from 0, first seen first."""
    _, first, codes = np.unique(np.asarray(labels), return_index=True, return_inverse=True)
    rank = np.empty(first.size, dtype=np.int64)
    rank[np.argsort(first)] = np.arange(first.size)
    return rank[codes.ravel()]
