"""Modularity: Louvain and Leiden, greedy merging, and the block model whose likelihood is a modularity."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from biconsensus._checks import need
from biconsensus.errors import UnknownNameError
from biconsensus.graphs._graph import Graph, relabel
from biconsensus.protocols import FloatArray, IntArray
from biconsensus.significance._description import Links, compact, gain_of_tally
from biconsensus.sources.networks._walktrap import as_igraph

LEAST_GAIN = 1e-5
"""What a move of Leiden's refinement must gain, as a share of the links of the node: above the rounding of single
precision (1e-7 for each of some terms), below the part of one link among thousands."""


def louvain(graph: Graph, seed: int, *, resolution: float = 1.0, n_levels: int | None = None) -> IntArray:
    """Find communities by the Louvain method.

    Parameters
    ----------
    graph : Graph
        A network of m nodes, none of them isolated.
    seed : int
        Decides the order in which nodes move.
    resolution : float
        Higher values give smaller communities.
    n_levels : int, optional
        How often communities are aggregated; all the way by default.

    Returns
    -------
    (m,) int array
        Labels from 0.

    Notes
    -----
    Maximises ``Q = (1 / 2W) sum_ij (A_ij - resolution k_i k_j / 2W) [label_i = label_j]`` (Blondel et al. 2008).

    Examples
    --------
    >>> from biconsensus.graphs import read_graph
    >>> from biconsensus.sources.networks._modularity import louvain
    >>> graph = read_graph([(0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (4, 5), (3, 5)])
    >>> len(set(louvain(graph, seed=0).tolist()))
    2
    """
    method = need("sknetwork.clustering", "graph").Louvain(
        resolution=resolution,
        n_aggregations=-1 if n_levels is None else n_levels,
        shuffle_nodes=True,
        random_state=seed,
        return_probs=False,
        return_aggregate=False,
    )
    return relabel(method.fit_predict(csr_matrix(graph.adjacency)))


SETTLED = 0.03
"""Share by which the resolution of a block model must change to be tried again. On LFR networks at nominal mixing 0.59
and block models at twice the limit (seeds 10 to 17, five runs each) the runs were better than with 0.0005, by .026
and .27 in ARI, and took half the time: where the resolution wanders, the last one is not the best."""
ENOUGH = 2**-0.125
"""Share of the most nats saved so far that a finer grouping must save: what twice as many backers make up for in the
choice (the eighth root of two). With less the resolution runs away on weak communities; with all of it communities
inside larger ones are lost."""
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
    >>> from biconsensus.sources.networks._modularity import leiden
    >>> graph = read_graph([(0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (4, 5), (3, 5)])
    >>> len(set(leiden(graph, seed=0).tolist()))
    2
    """
    method = _ending_leiden()(
        resolution=resolution, shuffle_nodes=True, random_state=seed, return_probs=False, return_aggregate=False
    )
    with one_seed_of_c(seed):
        return relabel(method.fit_predict(csr_matrix(graph.adjacency)))


@cache
def _ending_leiden() -> Any:
    """The package's class, with a refinement that ends."""
    package = need("sknetwork.clustering.leiden", "graph")

    class Ending(package.Leiden):  # type: ignore[misc, name-defined]
        """Leiden whose refinement ends: a move must gain more than rounding.

        The package moves a node for any gain above 0, in single precision, so that nodes whose moves gain nothing can
        change places for ever.
        """

        def _optimize_refine(
            self, labels: Any, labels_refined: Any, adjacency: Any, out_weights: Any, in_weights: Any
        ) -> Any:
            """Labels of the refined groups, each of which is one node at first."""
            out, into = out_weights.astype(np.float32), in_weights.astype(np.float32)
            # what a node gains by staying is counted without its self-loops: fewer of them, and moves must gain more
            loops = adjacency.diagonal() - LEAST_GAIN / 4 * (out_weights + in_weights)
            return package.optimize_refine_core(
                labels.astype(np.int32),
                labels_refined.astype(np.int32),
                adjacency.indices,
                adjacency.indptr,
                adjacency.data.astype(np.float32),
                out,
                into,
                out.copy(),
                into.copy(),
                np.zeros_like(out),
                loops.astype(np.float32),
                self.resolution,
            )

    return Ending


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
    >>> from biconsensus.sources.networks._modularity import leidenalg
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


def greedy_modularity(graph: Graph, seed: int = 0, *, resolution: float = 1.0) -> IntArray:
    """Find communities by the method of Clauset, Newman and Moore (2004).

    Parameters
    ----------
    graph : Graph
        A network of m nodes, none of them isolated.
    seed : int
        Not used; the method is deterministic.
    resolution : float
        Higher values give smaller communities.

    Returns
    -------
    (m,) int array
        Labels from 0.

    Examples
    --------
    >>> from biconsensus.graphs import read_graph
    >>> from biconsensus.sources.networks._modularity import greedy_modularity
    >>> graph = read_graph([(0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (4, 5), (3, 5)])
    >>> len(set(greedy_modularity(graph).tolist()))
    2
    """
    nx = need("networkx", "graph")
    network = nx.from_scipy_sparse_array(graph.adjacency)
    labels = np.empty(graph.n_nodes, dtype=np.int64)
    for k, members in enumerate(
        nx.community.greedy_modularity_communities(network, weight="weight", resolution=resolution)
    ):
        labels[list(members)] = k
    return labels


def block_model(graph: Graph, seed: int, *, start: float = 1.0, max_rounds: int = 10) -> IntArray:
    """Fit a stochastic block model with one rate inside and one rate between communities.

    Parameters
    ----------
    graph : Graph
        A network of m nodes, none of them isolated.
    seed : int
        Seed of the Louvain runs.
    start : float
        Resolution of the first round.
    max_rounds : int
        Rounds at most; it ends earlier where the resolution settles or the network gets longer to describe.

    Returns
    -------
    (m,) int array
        Labels from 0.

    Notes
    -----
    Newman (2016): the likelihood of the model is greatest where modularity is, at the resolution
    ``(w_in - w_out) / (log w_in - log w_out)`` with w the observed over the expected weight inside and between
    communities. The likelihood alone never tires of splitting where communities are weak, so the resolution is followed
    only as long as the description of the network, its communities paid for, gets hardly longer.

    Examples
    --------
    >>> from biconsensus.graphs import read_graph
    >>> from biconsensus.sources.networks._modularity import block_model
    >>> graph = read_graph([(0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (4, 5), (3, 5)])
    >>> len(set(block_model(graph, seed=0).tolist()))
    2
    """
    links, tried = Links(graph.adjacency), [start]
    labels = louvain(graph, seed, resolution=start)
    tally = links.tally(labels)
    most = gain_of_tally(*tally, links.total)
    for _ in range(max_rounds):
        resolution = round(_likely_resolution(links, *tally), 3)
        if any(abs(resolution - other) <= SETTLED * other for other in tried):
            break
        tried.append(resolution)
        finer = louvain(graph, seed, resolution=resolution)
        tally = links.tally(finer)
        gain = gain_of_tally(*tally, links.total)
        if gain <= (ENOUGH * most if most > 0 else most):
            break
        labels, most = finer, max(most, gain)
    return labels


def likely_resolution(graph: Graph, partitions: Sequence[IntArray]) -> float:
    """The resolution that suits the best of some partitions, the one that saves most nats; 1 where there is none.

    Examples
    --------
    >>> from biconsensus.graphs import read_graph
    >>> graph = read_graph([(0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (4, 5), (3, 5)])
    >>> likely_resolution(graph, [np.repeat([0, 1], 3)]), likely_resolution(graph, [])
    (0.797, 1.0)
    """
    links = Links(graph.adjacency)
    tallies = [links.tally(compact(labels)) for labels in partitions]
    if not tallies:
        return 1.0
    gains = [gain_of_tally(*tally, links.total) for tally in tallies]
    return round(_likely_resolution(links, *tallies[int(np.argmax(gains))]), 3)


def _likely_resolution(links: Links, number: FloatArray, degree: FloatArray, inner: FloatArray) -> float:
    """The resolution at which modularity is the likelihood of the model with the rates of this partition."""
    inside, between = links.rates_of(degree, inner)
    if number.size == 1 or inside == between:
        return 1.0
    return (inside - between) / float(np.log(inside / between))
