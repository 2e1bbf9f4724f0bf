"""A network in any form that people have becomes a `Graph`."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import issparse

from biconsensus.graphs._files import read_graph_file
from biconsensus.graphs._graph import Graph, from_edge_list, from_igraph, from_matrix, from_networkx


def read_graph(data: Any, *, weight: str | None = "weight", nodes: Sequence[Hashable] | None = None) -> Graph:
    """Read a network of any supported form.

    Parameters
    ----------
    data : Graph, networkx graph, igraph graph, (m, m) sparse or dense adjacency, edge list, or path
        An edge list is an iterable of ``(u, v)`` or ``(u, v, weight)``, an (e, 2) or (e, 3) table, or a
        (2, e) array of both ends, e above 3. A path is a file in one of the forms of `read_graph_file`: GML, GraphML,
        GEXF, Pajek, METIS, Matrix Market, SciPy sparse, adjacency list or edge list, told by its suffix.
    weight : str or None
        Edge attribute with the weights; an edge without it weighs 1. None: every edge weighs 1.
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
        return read_graph_file(Path(data), weight)
    if hasattr(data, "edges") and hasattr(data, "adj") and hasattr(data, "is_directed"):
        return from_networkx(data, weight)
    if hasattr(data, "get_edgelist"):
        return from_igraph(data, weight)
    if issparse(data) or _square(data):
        return from_matrix(data, nodes)
    if isinstance(data, np.ndarray) and data.ndim == 2 and data.shape[0] == 2 and data.shape[1] > 3:
        data = data.T
    return from_edge_list(data, nodes)


def _square(data: Any) -> bool:
    """Whether this is a dense square matrix rather than a table of edges (a 2 x 2 or 3 x 3 array is a matrix)."""
    if not isinstance(data, np.ndarray) or data.dtype.kind not in "buif" or data.ndim != 2:
        return False
    return bool(data.shape[0] == data.shape[1])
