"""Communities that other packages found."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

import biconsensus as bc
from biconsensus.errors import InputError, InputTypeError


@pytest.fixture(scope="module")
def cliques() -> nx.Graph:
    """Four cliques of six in a ring, nodes by name."""
    return nx.relabel_nodes(nx.ring_of_cliques(4, 6), lambda node: f"n{node}")


def test_networkx_communities_in_and_out(cliques):
    results = [nx.community.louvain_communities(cliques, seed=seed) for seed in range(5)]
    model = bc.ConsensusCommunities().fit_communities(cliques, results)
    assert sorted(map(len, model.communities_)) == [6, 6, 6, 6]
    assert nx.community.modularity(cliques, model.communities_) == pytest.approx(model.modularity_)
    model.write_to(cliques)
    assert {cliques.nodes[node]["community"] for node in model.communities_[2]} == {2}


def test_igraph_clusterings_in_and_out(cliques):
    igraph = pytest.importorskip("igraph")
    graph = igraph.Graph.TupleList(cliques.edges, directed=False)
    results = [graph.community_multilevel(resolution=value) for value in (0.5, 1.0, 1.5)]
    model = bc.ConsensusCommunities().fit_communities(graph, results)
    assert len(model.to_igraph(graph)) == 4
    assert model.to_igraph(graph).modularity == pytest.approx(model.modularity_)


def test_a_mapping_is_silent_about_nodes_that_it_does_not_name(cliques):
    nodes = list(cliques)
    whole = {node: k // 6 for k, node in enumerate(nodes)}
    part = {node: label for node, label in whole.items() if label < 2}
    model = bc.ConsensusCommunities().fit_communities(cliques, [whole, whole, part])
    last = [nodes.index(node) for node in nodes[12:]]
    assert (model.backing_[last] == 1.0).all(), "the third result does not vote on them"
    np.testing.assert_array_equal(np.unique(model.labels_), [0, 1, 2, 3])


def test_overlapping_communities_stay_overlapping(cliques):
    covers = [[set(list(cliques)[6 * k : 6 * k + 8]) for k in range(4)]] * 4
    search = bc.Search(overlap=True, min_elements=3)
    model = bc.ConsensusCommunities(quorum=0.5, search=search).fit_communities(cliques, covers)
    assert sorted(map(len, model.communities_)) == [6, 8, 8, 8]


def test_what_does_not_fit_is_named(cliques):
    fit = bc.ConsensusCommunities().fit_communities
    with pytest.raises(InputError, match=r"results\[1\]: 'zoo' is no node"):
        fit(cliques, [[{"n0"}], [{"zoo"}]])
    with pytest.raises(InputTypeError, match=r"results\[0\]: received str"):
        fit(cliques, ["leiden"])
    with pytest.raises(InputError, match="results: received none"):
        fit(cliques, [])
