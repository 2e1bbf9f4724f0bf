"""Base algorithms for communities in networks, one file each, and their table."""

from __future__ import annotations

from importlib.metadata import entry_points

from biconsensus.errors import UnknownNameError
from biconsensus.sources.networks._algorithm import Algorithm
from biconsensus.sources.networks._clique_percolation import clique_percolation
from biconsensus.sources.networks._infomap import infomap
from biconsensus.sources.networks._label_propagation import label_propagation
from biconsensus.sources.networks._link_communities import link_communities
from biconsensus.sources.networks._modularity import block_model, greedy_modularity, leiden, leidenalg, louvain
from biconsensus.sources.networks._spectral import spectral
from biconsensus.sources.networks._walktrap import walktrap

__all__ = ["ALGORITHMS", "Algorithm", "get_algorithm"]

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
