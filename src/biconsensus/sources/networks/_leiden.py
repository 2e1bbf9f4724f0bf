"""Leiden: Louvain with a refinement that keeps communities connected (scikit-network; leidenalg as an extra)."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

from scipy.sparse import csr_matrix

from biconsensus.errors import UnknownNameError
from biconsensus.graphs._graph import Graph
from biconsensus.protocols import IntArray
from biconsensus.sources.networks._algorithm import need, relabel
from biconsensus.sources.networks._walktrap import as_igraph

QUALITIES = {
    "modularity": "RBConfigurationVertexPartition",
    "cpm": "CPMVertexPartition",
    "surprise": "SurpriseVertexPartition",
    "significance": "SignificanceVertexPartition",
}

ONE_AT_A_TIME = Lock()
"""The refinement of scikit-network draws from the generator of C, of which a process has one."""


def leiden(graph: Graph, seed: int, *, resolution: float = 1.0) -> IntArray:
    """Find communities by the Leiden method, in the permissively licensed version of scikit-network.

    Parameters
    ----------
    graph : Graph
        A network of m nodes, none of them isolated.
    seed : int
        Decides the order in which nodes move.
    resolution : float
        Higher values give smaller communities.

    Returns
    -------
    (m,) int array
        Labels from 0.

    Examples
    --------
    >>> from biconsensus.graphs import read_graph
    >>> from biconsensus.sources.networks._leiden import leiden
    >>> graph = read_graph([(0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (4, 5), (3, 5)])
    >>> len(set(leiden(graph, seed=0).tolist()))
    2
    """
    method = need("sknetwork.clustering", "graph").Leiden(
        resolution=resolution, shuffle_nodes=True, random_state=seed, return_probs=False, return_aggregate=False
    )
    with one_seed_of_c(seed):
        return relabel(method.fit_predict(csr_matrix(graph.adjacency)))


@contextmanager
def one_seed_of_c(seed: int) -> Iterator[None]:
    """Seed the generator of C, which no argument of scikit-network reaches, and let nobody else draw from it."""
    with ONE_AT_A_TIME:
        library = ctypes.CDLL("ucrtbase" if sys.platform == "win32" else None)
        library.srand(ctypes.c_uint(seed))
        yield


def leidenalg(graph: Graph, seed: int, *, quality: str = "modularity", resolution: float = 1.0) -> IntArray:
    """Find communities by the reference version of Leiden (GPL, extra ``graph-fast``).

    Parameters
    ----------
    graph : Graph
        A network of m nodes, none of them isolated.
    seed : int
        Seed of the optimiser.
    quality : {"modularity", "cpm", "surprise", "significance"}
        What is maximised. ``"significance"`` counts edges and does not know their weights.
    resolution : float
        Higher values give smaller communities; for ``"modularity"`` and ``"cpm"``.

    Returns
    -------
    (m,) int array
        Labels from 0.

    Examples
    --------
    >>> from biconsensus.graphs import read_graph
    >>> from biconsensus.sources.networks._leiden import leidenalg
    >>> graph = read_graph([(0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (4, 5), (3, 5)])
    >>> leidenalg(graph, seed=0).tolist() in ([0, 0, 0, 1, 1, 1], [1, 1, 1, 0, 0, 0])
    True
    """
    if quality not in QUALITIES:
        raise UnknownNameError.of("quality", quality, QUALITIES)
    package = need("leidenalg", "graph-fast")
    options: dict[str, Any] = {} if quality == "significance" else {"weights": "weight"}
    if quality in ("modularity", "cpm"):
        options["resolution_parameter"] = resolution
    kind = getattr(package, QUALITIES[quality])
    return relabel(
        package.find_partition(as_igraph(graph), kind, seed=seed % 2**31, n_iterations=-1, **options).membership
    )
