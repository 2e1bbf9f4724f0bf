"""Graphs of other packages: networkx and igraph, by what they offer, so that neither is imported here."""

from __future__ import annotations

from typing import Any

import numpy as np

from biconsensus.errors import InputError
from biconsensus.graphs._graph import Graph, edge_weight, from_ends


def from_networkx(graph: Any, weight: str | None) -> Graph:
    """Read any networkx graph; parallel edges are added up."""
    names = list(graph.nodes)
    index = {name: i for i, name in enumerate(names)}
    triples = [
        (index[u], index[v], 1.0 if weight is None else d.get(weight, 1.0)) for u, v, d in graph.edges(data=True)
    ]
    values = [edge_weight(w, k) for k, (_, _, w) in enumerate(triples)]
    ends = np.array([t[:2] for t in triples], dtype=np.int64).reshape(-1, 2)
    return from_ends(ends[:, 0], ends[:, 1], np.array(values), names)


def from_igraph(graph: Any, weight: str | None) -> Graph:
    """Read an igraph graph; vertex names where it has them, positions otherwise."""
    names = list(graph.vs["name"]) if "name" in graph.vs.attributes() else list(range(graph.vcount()))
    if len(set(names)) < len(names):
        raise InputError("graph: vertex names of the igraph graph repeat; give every vertex its own name")
    ends = np.array(graph.get_edgelist(), dtype=np.int64).reshape(-1, 2)
    named = weight is not None and weight in graph.es.attributes()
    values = [edge_weight(w, k) for k, w in enumerate(graph.es[weight])] if named else [1.0] * len(ends)
    return from_ends(ends[:, 0], ends[:, 1], np.array(values), names)
