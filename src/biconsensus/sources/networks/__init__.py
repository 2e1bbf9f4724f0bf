"""Base algorithms for communities in networks, one file each, and their table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import Any, TypeAlias

import numpy as np
from scipy.sparse import csr_array

from biconsensus._checks import need
from biconsensus.errors import UnknownNameError
from biconsensus.graphs._graph import Graph
from biconsensus.protocols import IntArray
from biconsensus.sources.networks._clique_percolation import clique_percolation
from biconsensus.sources.networks._infomap import infomap
from biconsensus.sources.networks._label_propagation import label_propagation
from biconsensus.sources.networks._link_communities import link_communities
from biconsensus.sources.networks._modularity import block_model, greedy_modularity, leiden, leidenalg, louvain
from biconsensus.sources.networks._spectral import spectral
from biconsensus.sources.networks._walktrap import walktrap

__all__ = ["ALGORITHMS", "Algorithm", "get_algorithm"]
__dir__ = __all__.copy  # what dir() shows


Grouping: TypeAlias = IntArray | csr_array
"""(m,) labels, -1 for nodes in no community; or (m, g) memberships where communities overlap."""


@dataclass(frozen=True)
class Algorithm:
    """A base algorithm; calling it finds communities and leaves isolated nodes in none."""

    run: Callable[..., Grouping]
    """Called with a graph without isolated nodes, a seed and its own parameters."""
    seeded: bool = True
    """Whether the seed changes the answer; where it does not, one run is enough."""
    overlapping: bool = False
    """Whether a node may be in several communities."""
    package: str | None = None
    """The optional package that it needs."""
    extra: str = "graph"
    """The extra of this library that brings the package."""

    def check_installed(self) -> None:
        """Raise, with the command that mends it, where the package is missing."""
        if self.package is not None:
            need(self.package, self.extra)

    def __call__(self, graph: Graph, seed: int, **parameters: Any) -> Grouping:
        """(m,) labels or (m, g) memberships of the nodes of a graph."""
        linked = np.flatnonzero(~graph.isolated)
        if linked.size == 0:
            return np.full(graph.n_nodes, -1, dtype=np.int64)
        found = self.run(graph if linked.size == graph.n_nodes else graph.subgraph(linked), seed, **parameters)
        return _spread(found, linked, graph.n_nodes)


def _spread(found: Grouping, linked: IntArray, n_nodes: int) -> Grouping:
    """Put the answer for some of the nodes among all of them."""
    if isinstance(found, np.ndarray):
        labels = np.full(n_nodes, -1, dtype=np.int64)
        labels[linked] = found
        return labels
    entries = found.tocoo()
    return csr_array((np.ones(entries.nnz, bool), (linked[entries.row], entries.col)), shape=(n_nodes, found.shape[1]))


ALGORITHMS: dict[str, Algorithm] = {
    "louvain": Algorithm(louvain, package="sknetwork"),
    "leiden": Algorithm(leiden, package="sknetwork"),
    "leidenalg": Algorithm(leidenalg, package="leidenalg", extra="graph-fast"),
    "infomap": Algorithm(infomap, package="infomap", extra="graph-fast"),
    "label_propagation": Algorithm(label_propagation),
    "spectral": Algorithm(spectral),
    "block_model": Algorithm(block_model, package="sknetwork"),
    "walktrap": Algorithm(walktrap, seeded=False, package="igraph", extra="graph-fast"),
    "greedy_modularity": Algorithm(greedy_modularity, seeded=False, package="networkx"),
    "clique_percolation": Algorithm(clique_percolation, seeded=False, overlapping=True, package="networkx"),
    "link_communities": Algorithm(link_communities, seeded=False, overlapping=True),
}
ENTRY_POINTS = "biconsensus.networks"


def get_algorithm(name: str) -> Algorithm:
    """Look a base algorithm up by name, here and among the entry points ``biconsensus.networks`` of other packages.

    Parameters
    ----------
    name : str
        One of `ALGORITHMS`, or a name that an installed package registers.

    Returns
    -------
    Algorithm

    Examples
    --------
    >>> from biconsensus.sources.networks import get_algorithm
    >>> get_algorithm("walktrap").seeded
    False
    """
    if name in ALGORITHMS:
        return ALGORITHMS[name]
    outside = {point.name: point for point in entry_points(group=ENTRY_POINTS)}
    if name not in outside:
        raise UnknownNameError.of("algorithm", name, [*ALGORITHMS, *outside])
    loaded = outside[name].load()
    return loaded if isinstance(loaded, Algorithm) else Algorithm(loaded)
