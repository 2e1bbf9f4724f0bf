"""Infomap: the partition that describes a random walk in the fewest bits (GPL or AGPL, extra ``graph-fast``)."""

from __future__ import annotations

import numpy as np

from biconsensus._checks import need
from biconsensus.graphs._graph import Graph, relabel
from biconsensus.protocols import IntArray


def infomap(graph: Graph, seed: int, *, n_trials: int = 1, markov_time: float = 1.0) -> IntArray:
    """Find communities by minimising the two-level map equation.

    Parameters
    ----------
    graph : Graph
        A network of m nodes, none of them isolated.
    seed : int
        Seed of the search.
    n_trials : int
        Searches, of which the best is kept.
    markov_time : float
        Higher values give larger communities.

    Returns
    -------
    (m,) int array
        Labels from 0.

    Examples
    --------
    >>> from biconsensus.graphs import read_graph
    >>> from biconsensus.sources.networks._infomap import infomap
    >>> graph = read_graph([(0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (4, 5), (3, 5)])
    >>> infomap(graph, seed=1).tolist() in ([0, 0, 0, 1, 1, 1], [1, 1, 1, 0, 0, 0])
    True
    """
    # the package takes seeds from 1 up
    options = {"seed": seed % (2**31 - 1) + 1, "num_trials": n_trials, "markov_time": markov_time}
    search = need("infomap", "graph-fast").Infomap(two_level=True, silent=True, **options)
    search.add_links(np.column_stack(graph.edges()))
    result = search.run()
    modules = search.get_modules() if result is None else result.modules()  # None in older versions
    return relabel([modules[node] for node in range(graph.n_nodes)])
