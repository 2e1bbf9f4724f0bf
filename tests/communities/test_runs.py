"""The number of runs, and the second round, on edges weighed by the pool."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.metrics import adjusted_rand_score

import biconsensus as bc
from biconsensus.communities import _estimator
from biconsensus.communities._runs import agreed_in_rounds, contracted, second_round, usual_runs, weighed_by_pool
from biconsensus.graphs import Graph, read_graph
from biconsensus.graphs._lfr import lfr_network
from biconsensus.sources.networks import get_algorithm
from biconsensus.sources.networks._modularity import likely_resolution


def test_edges_weighed_by_the_pool_against_the_definition():
    rng = np.random.default_rng(0)
    graph = read_graph(nx.gnm_random_graph(12, 30, seed=1))
    runs = [np.where(rng.random(12) < 0.2, np.nan, rng.integers(-1, 3, size=12)) for _ in range(5)]
    weights = np.array([1.0, 2.0, 0.5, 1.0, 3.0])
    weighed = weighed_by_pool(graph, bc.Pool.from_labels(runs, weights=weights)).adjacency.toarray()
    for u, v in np.argwhere(graph.adjacency.toarray() > 0):
        both = [not np.isnan(r[[u, v]]).any() for r in runs]
        held = [b and r[u] == r[v] and r[u] >= 0 for b, r in zip(both, runs)]
        share = weights[held].sum() / weights[both].sum() if any(both) else 0.0
        assert weighed[u, v] == pytest.approx(0.05 + 0.95 * share)


def test_agreed_in_rounds_follows_what_speaks_for_the_links():
    """Two cliques of six with every link between them: only the shares tell them apart; a lone node has none."""
    network = nx.complete_graph(12)
    network.add_node(12)
    graph = read_graph(network)
    half = np.append(np.repeat([0, 1], 6), 2)
    pairs = graph.adjacency.tocoo()
    share = (half[pairs.row] == half[pairs.col]).astype(float)
    labels = agreed_in_rounds(graph, share, seed=0)
    assert adjusted_rand_score(half[:12], labels[:12]) == 1
    assert labels[12] == -1
    assert agreed_in_rounds(graph, share, seed=0).tolist() == labels.tolist()
    tied = agreed_in_rounds(graph, share, seed=0, together=[[0, 1, 6], [12]])
    assert tied[6] == tied[0] == tied[1]
    assert tied[12] == -1


def test_agreed_in_rounds_gets_finer_until_there_are_as_many_groups_as_asked_for():
    groups = np.repeat(np.arange(8), 6)
    pairs = [
        (a, b)
        for a in range(48)
        for b in range(a)
        if groups[a] == groups[b] or (groups[a] // 2 == groups[b] // 2 and (a + b) % 2)
    ]
    graph = read_graph([*pairs, *((12 * k, (12 * k + 12) % 48) for k in range(4))])
    share = np.ones(2 * graph.n_edges)
    coarse, fine = (agreed_in_rounds(graph, share, 0, n_groups=number) for number in (1, 8))
    assert coarse.max() + 1 == 4
    assert 8 <= fine.max() + 1 <= 12
    assert agreed_in_rounds(graph, share, 0, n_groups=3).tolist() == coarse.tolist()  # there are as many


def test_weak_communities_are_agreed_on_in_rounds():
    """The spectrum alone does not count two groups here, but is lower than that of rewired networks."""
    graph, truth = lfr_network(1000, 0.7, 15, max_degree=50, communities=(20, 80), random_state=53)
    model = bc.ConsensusCommunities(random_state=0).fit(graph)
    weak = next(result.labels for result in model.results_ if result.name == "agreed in rounds")
    assert model.labels_.tolist() == weak.tolist() or adjusted_rand_score(model.labels_, weak) == 1
    assert model.evidence_ >= 1
    assert adjusted_rand_score(truth, model.labels_) > 0.12


def test_communities_of_belief_propagation_are_the_same_for_every_seed():
    graph, truth = lfr_network(1000, 0.645, 15, max_degree=50, communities=(20, 80), random_state=211)
    first, second = (bc.ConsensusCommunities(random_state=seed).fit(graph) for seed in (0, 1))
    assert first.consensus_.extraction["origin"] == "base result 'belief propagation'"
    assert adjusted_rand_score(first.labels_, second.labels_) == 1
    assert adjusted_rand_score(truth, first.labels_) > 0.7
    assert "% of the nodes may be misplaced" in first.consensus_.summary


def test_the_second_round_starts_where_the_best_of_the_first_ended():
    ring = read_graph(nx.ring_of_cliques(30, 5))
    cliques, pairs = np.repeat(np.arange(30), 5), np.repeat(np.arange(15), 10)
    nodes = np.arange(150)
    setting = second_round(ring, nodes, [pairs, cliques], 2)
    assert setting.n_runs == 2
    assert setting.parameters == {"start": likely_resolution(ring, [cliques])}
    assert setting.parameters["start"] > 1.2 * likely_resolution(ring, [pairs])
    # the cliques as nodes of their own: their links are on the diagonal
    small = csr_array((np.ones(150), (nodes, cliques)))
    contracted_ring = Graph(csr_array(small.T @ ring.adjacency @ small), list(range(30)))
    assert second_round(contracted_ring, cliques, [pairs, cliques], 2).parameters == setting.parameters


def test_second_round_joins_the_pool_where_the_network_decides():
    graph, _ = lfr_network(300, 0.4, 13, max_degree=40, communities=(15, 40), random_state=3)
    given = bc.ConsensusCommunities("louvain", random_state=0, quorum=0.5).fit(graph)
    auto = bc.ConsensusCommunities("louvain", random_state=0).fit(graph)
    assert len(given.results_) == 10
    assert [r.name for r in auto.results_].count("block_model, second round") == 3


def test_groups_of_contracted_nodes_have_the_modularity_of_their_nodes():
    graph, truth = lfr_network(300, 0.2, 10, random_state=1)
    halves = np.where(np.arange(300) % 2, truth, truth + 100)
    small, place = contracted(graph, bc.Pool.from_labels([halves, truth]), least=0)
    assert small.n_nodes == np.unique(halves).size
    assert small.degrees == pytest.approx(np.bincount(place, graph.degrees))
    # links inside a set are on the diagonal, so that Louvain and the block model see the same network
    for name in ("louvain", "block_model"):
        found = get_algorithm(name)(small, 0)[place]
        wanted = get_algorithm(name)(graph, 0)
        apart = abs(bc.metrics.modularity(graph.adjacency, found) - bc.metrics.modularity(graph.adjacency, wanted))
        assert apart < 0.02
    assert contracted(graph, bc.Pool.from_labels([halves, truth]))[0] is graph, "small networks stay as they are"


def test_large_networks_have_fewer_runs_and_a_second_round_on_what_all_runs_keep_together(monkeypatch):
    graph, truth = lfr_network(600, 0.2, 12, random_state=1)
    monkeypatch.setattr(_estimator, "usual_runs", lambda n_edges: 2)
    seen = []

    def small(weighed, pool):
        seen.append(contracted(weighed, pool, least=0))
        return seen[-1]

    monkeypatch.setattr(_estimator, "contracted", small)
    model = bc.ConsensusCommunities(random_state=0).fit(graph)
    names = [result.name for result in model.results_]
    assert names.count("louvain") == names.count("block_model, second round") == 2
    assert seen[0][0].n_nodes < 200
    assert all(result.labels.shape == (600,) for result in model.results_)
    assert adjusted_rand_score(truth, model.labels_) == 1.0


def test_number_of_runs_falls_with_the_edges_unless_it_is_given():
    assert [usual_runs(n) for n in (0, 200_000, 1_000_000, 10**9)] == [10, 10, 2, 2]
    graph = read_graph(nx.complete_graph(6))
    assert len(bc.ConsensusCommunities("louvain", 3, random_state=0, quorum=0.5).fit(graph).results_) == 3


def test_long_work_says_how_far_it_is():
    steps = set()
    graph, _ = lfr_network(200, 0.2, 8, random_state=1)
    runs = bc.Runs(progress=lambda done, total, step: steps.add(step))
    bc.ConsensusCommunities("louvain", 3, random_state=0, runs=runs).fit(graph)
    assert {"base results", "refinement on the network", "quorum path"} <= steps
