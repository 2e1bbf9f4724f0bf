"""Networks with names and true groups."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from biconsensus._checks import need
from biconsensus.datasets._reading import codes, matlab
from biconsensus.datasets._sets import file_of
from biconsensus.protocols import IntArray


class Network(NamedTuple):
    """A graph with names and, where known, its true groups."""

    adjacency: csr_array
    """(m, m) symmetric edge weights."""
    names: list[str]
    """(m,) name of each node."""
    labels: IntArray | None
    """(m,) true groups from 0; None where none are known."""


class School(NamedTuple):
    """A friendship network of one school, with what its members told of themselves."""

    adjacency: csr_array
    """(m, m) symmetric, 0 or 1."""
    info: IntArray
    """(m, 7) status, gender, major, second major, dorm, year, high school; 0 where not told."""


def load_network(name: str) -> Network:
    """A small network: football, footballTSEinput, polbooks, lesmis, karate_club or dolphins.

    Parameters
    ----------
    name : str
        "footballTSEinput" is football with the conferences corrected by T. S. Evans.

    Returns
    -------
    Network
        Weighted only for "lesmis"; labels None for "lesmis" and "dolphins".

    Examples
    --------
    >>> load_network("karate_club").adjacency.shape  # doctest: +SKIP
    (34, 34)
    """
    nx = need("networkx", "graph")
    text = file_of("network", name).read_text()
    # football lists some games twice, which a plain graph refuses
    text = re.sub(r"\bgraph\s*\[", "graph [\n  multigraph 1", text, count=1)
    graph: Any = nx.Graph(nx.parse_gml(text, label="id"))
    nodes = sorted(graph)
    weight = "value" if name == "lesmis" else None
    adjacency = nx.to_scipy_sparse_array(graph, nodes, weight=weight).astype(np.float64)
    truth: list[Any] = [graph.nodes[node].get("value", graph.nodes[node].get("club")) for node in nodes]
    labels = None if None in truth else codes(truth)
    return Network(csr_array(adjacency), [str(graph.nodes[node]["label"]) for node in nodes], labels)


def load_facebook100(name: str, year: int | None = None) -> School:
    """A Facebook100 network; these rows describe real people, so do not try to identify anyone.

    Parameters
    ----------
    name : {"Caltech36", "Duke14", "Reed98"}
        School and number.
    year : int, optional
        Keep the members of one year, then the largest connected part: 2006 of Duke is the paper's network of
        1424 nodes.

    Returns
    -------
    School

    Examples
    --------
    >>> load_facebook100("Duke14", year=2006).adjacency.shape  # doctest: +SKIP
    (1424, 1424)
    """
    from scipy.sparse.csgraph import connected_components

    variables = matlab(file_of("facebook100", name), "A", "local_info")
    adjacency, info = csr_array(variables["A"]).astype(np.float64), variables["local_info"].astype(np.int64)
    if year is not None:
        kept = np.flatnonzero(info[:, 5] == year)
        part = connected_components(adjacency[kept][:, kept], directed=False)[1]
        kept = kept[part == np.bincount(part).argmax()]
        adjacency, info = adjacency[kept][:, kept], info[kept]
    return School(csr_array(adjacency), info)
