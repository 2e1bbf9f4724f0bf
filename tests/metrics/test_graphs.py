"""Modularity against networkx."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from biconsensus import metrics


@pytest.mark.parametrize("resolution", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("directed", [False, True])
def test_modularity_is_that_of_networkx(resolution, directed):
    graph = nx.gnp_random_graph(30, 0.2, seed=3, directed=directed)
    rng = np.random.default_rng(5)
    for edge in graph.edges:
        graph.edges[edge]["weight"] = float(rng.integers(1, 5))
    labels = rng.integers(-1, 4, 30)
    groups = [set(np.flatnonzero(labels == k)) for k in range(4)] + [{i} for i in np.flatnonzero(labels == -1)]
    expected = nx.community.modularity(graph, groups, weight="weight", resolution=resolution)
    matrix = nx.to_scipy_sparse_array(graph, weight="weight")
    assert metrics.modularity(matrix, labels, resolution=resolution) == pytest.approx(expected)
    assert metrics.modularity(matrix.toarray(), labels, resolution=resolution) == pytest.approx(expected)


def test_modularity_leaves_its_input_alone():
    labels = np.array([0, -1, -1, 0])
    metrics.modularity(np.ones((4, 4)), labels)
    assert labels.tolist() == [0, -1, -1, 0]
    assert metrics.modularity(np.zeros((4, 4)), labels) == 0.0
