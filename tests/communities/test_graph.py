"""What is measured on the network itself."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from biconsensus.communities._graph import place_with_neighbours
from biconsensus.graphs import read_graph
from tests.helpers.planted_networks import planted


def test_modularity_and_conductance_against_networkx(fitted):
    graph, communities = planted(), fitted.communities_
    assert fitted.modularity_ == pytest.approx(nx.community.modularity(graph, communities))
    expected = [nx.conductance(graph, community) for community in communities]
    np.testing.assert_allclose(fitted.conductance_, expected)


def test_placing_goes_ring_by_ring_to_the_heaviest():
    graph = read_graph([("a", "b", 3.0), ("b", "c", 1.0), ("c", "d", 5.0), ("d", "e", 2.0), ("x", "y", 1.0)])
    labels = np.array([0, -1, 1, -1, -1, -1, -1])
    assert place_with_neighbours(graph, labels).tolist() == [0, 0, 1, 1, 1, -1, -1]
