"""One small weighted network in many forms."""

from __future__ import annotations

import networkx as nx
import numpy as np

EDGES = [("a", "b", 2.0), ("b", "c", 1.0), ("c", "a", 0.5), ("c", "d", 3.0)]


EXPECTED = np.array([[0, 2, 0.5, 0], [2, 0, 1, 0], [0.5, 1, 0, 3], [0, 0, 3, 0]])


def weighted(kind=nx.Graph):
    graph = kind()
    graph.add_weighted_edges_from(EDGES)
    return graph
