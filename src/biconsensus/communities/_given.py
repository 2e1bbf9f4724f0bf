"""Communities that other packages found, as base results: cdlib, igraph, networkx, plain sets and mappings."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import numpy as np

from biconsensus._words import counted
from biconsensus.communities._runs import View
from biconsensus.errors import InputError, InputTypeError
from biconsensus.graphs._graph import Graph
from biconsensus.protocols import BoolArray
from biconsensus.sources._running import SourceResult


def given_result(entry: Any, number: int, graph: Graph) -> tuple[SourceResult, View]:
    """One ready-made result over the nodes of a network, and the nodes that it saw.

    Parameters
    ----------
    entry : NodeClustering of cdlib, clustering or cover of igraph, iterable of communities, or mapping
        What was found.
    number : int
        Its place among the results, for names and messages.
    graph : Graph
        The network.

    Returns
    -------
    result : SourceResult
        (m,) labels where communities are disjoint, (m, g) memberships where they overlap.
    view : View
        All nodes; of a mapping, those that it names.

    Examples
    --------
    >>> from biconsensus.graphs import read_graph
    >>> graph = read_graph([("a", "b"), ("b", "c"), ("c", "d")])
    >>> given_result([{"a", "b"}, {"c"}], 0, graph)[0].labels
    array([ 0,  0,  1, -1])
    >>> given_result({"a": "x", "b": "x", "c": "y"}, 0, graph)[1].counted()
    array([ True,  True,  True, False])
    """
    where = f"results[{number}]"
    if isinstance(entry, Mapping):
        return _of_mapping(entry, number, where, graph)
    name, communities = f"result {number}", entry
    params: Mapping[str, Any] = {}
    if hasattr(entry, "communities"):  # cdlib
        name, params = str(getattr(entry, "method_name", "") or name), getattr(entry, "method_parameters", None) or {}
        communities = entry.communities
    elif hasattr(entry, "graph") and hasattr(entry, "membership"):  # igraph counts its vertices
        if entry.graph.vcount() != graph.n_nodes:
            raise InputError(
                f"{where}: it has {counted(entry.graph.vcount(), 'node')}; the network has {graph.n_nodes:,}"
            )
        communities = [[graph.names[i] for i in part] for part in entry]
    elif isinstance(entry, str) or not isinstance(entry, Iterable):
        raise InputTypeError(
            f"{where}: received {type(entry).__name__}; give a NodeClustering, an igraph clustering, an iterable of "
            "sets of node names, or a mapping of node names to labels"
        )
    result = SourceResult(name, params, number, _memberships(communities, where, graph))
    return result, View(graph, np.arange(graph.n_nodes))


def _of_mapping(entry: Mapping[Hashable, Any], number: int, where: str, graph: Graph) -> tuple[SourceResult, View]:
    """Labels of the nodes that a mapping names; the others do not vote."""
    places = graph.positions(entry, where)
    labels, votes = np.full(graph.n_nodes, -1), np.zeros(graph.n_nodes, bool)
    labels[places] = np.unique([str(label) for label in entry.values()], return_inverse=True)[1]
    votes[places] = True
    return SourceResult(f"result {number}", {}, number, labels), View(graph, np.arange(graph.n_nodes), votes)


def _memberships(communities: Iterable[Iterable[Hashable]], where: str, graph: Graph) -> Any:
    """(m,) labels of communities, or (m, g) memberships where a node is in several."""
    listed = [list(community) for community in communities]
    held: BoolArray = np.zeros((graph.n_nodes, len(listed)), bool)
    for g, community in enumerate(listed):
        held[graph.positions(community, where), g] = True
    if not listed or (held.sum(axis=1) > 1).any():
        return held
    return np.where(held.any(axis=1), held.argmax(axis=1), -1)
