"""What is measured on the network itself, and written back into it."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from biconsensus.errors import InputError, InputTypeError
from tests.helpers.planted_networks import planted


def test_modularity_and_conductance_against_networkx(fitted):
    graph, communities = planted(), fitted.communities_
    assert fitted.modularity_ == pytest.approx(nx.community.modularity(graph, communities))
    expected = [nx.conductance(graph, community) for community in communities]
    np.testing.assert_allclose(fitted.conductance_, expected)


def test_writes_back_to_networkx_and_igraph(fitted):
    igraph = pytest.importorskip("igraph")
    graph = planted()
    fitted.write_to(graph, "group")
    assert [graph.nodes[i]["group"] for i in range(80)] == fitted.labels_.tolist()
    assert graph.nodes[0]["backing"] == fitted.backing_[0]
    other = igraph.Graph.from_networkx(planted())
    fitted.write_to(other, backing=None)
    assert other.vs["community"] == fitted.labels_.tolist()
    assert "backing" not in other.vs.attributes()
    with pytest.raises(InputTypeError, match="list"):
        fitted.write_to([(1, 2)])
    with pytest.raises(InputError, match="no node"):
        fitted.write_to(nx.path_graph(3))


def test_igraph_vertex_clustering(fitted):
    igraph = pytest.importorskip("igraph")
    clustering = fitted.to_igraph()
    assert isinstance(clustering, igraph.VertexClustering)
    assert clustering.membership == fitted.labels_.tolist()
    assert clustering.modularity == pytest.approx(fitted.modularity_)
    assert clustering.graph.vs["name"] == list(range(80))
