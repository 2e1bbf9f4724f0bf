"""ConsensusCommunities: answers, options, faults."""

from __future__ import annotations

import pickle
import sys

import networkx as nx
import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

import biconsensus as bc
from biconsensus.communities._estimator import _doubt, conductances
from biconsensus.communities._runs import settings_of
from biconsensus.errors import (
    InputError,
    InputTypeError,
    MissingDependencyError,
    PoolWarning,
    SourceError,
    UnknownNameError,
)
from biconsensus.graphs._lfr import lfr_network
from biconsensus.sources import _workers
from tests.helpers.planted_networks import planted

TRUTH = np.repeat(np.arange(4), 20)


def test_finds_planted_communities(fitted):
    assert adjusted_rand_score(TRUTH, fitted.labels_) == 1.0
    assert sorted(map(sorted, fitted.communities_)) == [list(range(k, k + 20)) for k in range(0, 80, 20)]
    assert len(fitted.consensus_) == 4
    np.testing.assert_array_equal(fitted.consensus_.labels, fitted.labels_)
    assert fitted.backing_.min() > 0.5
    assert fitted.pool_.ids.tolist() == list(range(80))


def test_default_pool_is_permissive_and_of_ten_runs_or_more(fitted, monkeypatch):
    assert len(fitted.results_) >= 10
    assert len({(r.name, *sorted(r.params.items())) for r in fitted.results_}) > 3
    runs = [r for r in fitted.results_ if r.name not in ("refined on the network", "belief propagation")]
    assert len({r.seed for r in runs}) == len(runs)
    for package in ("igraph", "leidenalg", "infomap"):
        monkeypatch.setitem(sys.modules, package, None)
    again = bc.ConsensusCommunities(random_state=0).fit(planted())
    np.testing.assert_array_equal(again.labels_, fitted.labels_)


def test_missing_package_is_named_before_anything_runs(monkeypatch):
    monkeypatch.setitem(sys.modules, "infomap", None)
    with pytest.raises(MissingDependencyError, match=r"infomap.*graph-fast"):
        bc.ConsensusCommunities("infomap").fit(planted())


@pytest.fixture(scope="module")
def one_and_two():
    """Default runs on an unclear network: in this process, and in two others with a matrix instead of a graph."""
    unclear = lfr_network(150, 0.4, 12, communities=(15, 50), random_state=2)[0]
    one, two = (bc.ConsensusCommunities(n_runs=2, random_state=0, n_jobs=n) for n in (1, 2))
    one.fit(nx.from_scipy_sparse_array(unclear.adjacency))
    started, kept = _workers._started_pool, []

    def started_once(n_workers, call):
        kept.append(kept[0] if kept else started(n_workers, call))
        return kept[0]

    with pytest.MonkeyPatch.context() as patch:
        # both rounds of runs in the same two processes: starting them is what costs here
        patch.setattr(_workers, "_started_pool", started_once)
        patch.setattr(_workers, "_stop", lambda pool: None)
        two.fit(unclear.adjacency)
    _workers._stop(kept[0])
    assert len(kept) == 2, "runs of the first and of the second round"
    return one, two


def test_answer_does_not_depend_on_n_jobs_or_the_form_of_the_graph(one_and_two):
    one, two = one_and_two
    assert len(one.communities_) > 1
    np.testing.assert_array_equal(one.labels_, two.labels_)
    assert one.communities_ == two.communities_
    assert one.evidence_ == two.evidence_


def test_default_runs_are_the_same_in_one_process_and_in_two(one_and_two):
    one, two = one_and_two
    assert {"louvain", "leiden", "block_model", "label_propagation"} <= {result.name for result in one.results_}
    for a, b in zip(one.results_, two.results_, strict=True):
        np.testing.assert_array_equal(a.labels, b.labels, err_msg=a.name)


def test_names_are_the_users_own():
    graph = nx.relabel_nodes(planted(), {i: f"node {i}" for i in range(80)})
    model = bc.ConsensusCommunities("louvain", 3, random_state=0).fit(graph)
    assert set().union(*model.communities_) == set(graph)
    assert model.consensus_.pool.ids[3] == "node 3"


@pytest.mark.parametrize(
    ("algorithms", "n_runs", "expected"),
    [
        ("louvain", 3, 3),
        (["louvain", "walktrap"], 3, 4),
        (("louvain", {"resolution": [0.5, 1, 2]}), 2, 6),
        ([("spectral", {"n_communities": range(2, 5)}), "leiden"], 2, 8),
        ({"louvain": {"resolution": np.array([1.0, 2.0])}}, 1, 2),
        (lambda graph, seed: np.arange(graph.n_nodes) % 2, 2, 2),
    ],
)
def test_forms_of_algorithms(algorithms, n_runs, expected):
    assert sum(setting.n_runs for setting in settings_of(algorithms, n_runs)) == expected


@pytest.mark.parametrize(
    ("algorithms", "error", "text"),
    [
        ("luvain", UnknownNameError, "Did you mean 'louvain'"),
        ([], InputError, "algorithms: received"),
        ([3], InputTypeError, "received 3"),
    ],
)
def test_wrong_algorithms(algorithms, error, text):
    with pytest.raises(error, match=text):
        bc.ConsensusCommunities(algorithms).fit(planted())


def test_isolated_nodes_and_components_and_loops():
    graph = planted(p_out=0.0)
    graph.add_edge(0, 0)
    graph.add_nodes_from(["alone", "also alone"])
    model = bc.ConsensusCommunities(n_runs=3, random_state=0).fit(graph)
    assert adjusted_rand_score(TRUTH, model.labels_[:80]) == 1.0
    assert model.labels_[80:].tolist() == [-1, -1]
    assert model.backing_[80:].tolist() == [0, 0]
    with pytest.raises(InputError, match="a network needs edges between different nodes, with weights above 0"):
        bc.ConsensusCommunities().fit(csr_array((5, 5)))


def test_directed_network_works():
    directed = nx.DiGraph(planted())
    model = bc.ConsensusCommunities("louvain", 3, random_state=0).fit(directed)
    assert adjusted_rand_score(TRUTH, model.labels_) == 1.0


def test_weights_by_modularity_follow_the_formula():
    model = bc.ConsensusCommunities(
        [("louvain", {"resolution": [1.0, 3.0]})], 1, search=bc.Search(weights="modularity"), random_state=0
    ).fit(planted())
    quality = [bc.metrics.modularity(model.graph_.adjacency, r.labels) for r in model.results_]
    expected = np.exp(5 * (np.array(quality) - max(quality)))
    np.testing.assert_allclose(model.pool_.weights, expected[model.pool_.source_of])
    by_number = bc.Search(weights=lambda graph, labels: labels.max() + 1.0)
    own = bc.ConsensusCommunities("louvain", 3, search=by_number, random_state=0)
    np.testing.assert_array_equal(own.fit(planted()).pool_.weights, 4.0)
    with pytest.raises(UnknownNameError, match="modularity"):
        bc.ConsensusCommunities("louvain", search=bc.Search(weights="heavy")).fit(planted())


def test_seeds_in_node_names():
    graph = nx.relabel_nodes(planted(), {i: f"n{i}" for i in range(80)})
    free = bc.ConsensusCommunities("louvain", 3, random_state=0).fit(graph)
    tied = bc.ConsensusCommunities("louvain", 3, random_state=0, search=bc.Search(together=[["n0", "n79"]])).fit(graph)
    assert free.labels_[0] != free.labels_[79]
    assert tied.labels_[0] == tied.labels_[79]
    with pytest.raises(InputError, match="together: 'n80' is no node"):
        bc.ConsensusCommunities("louvain", search=bc.Search(together=[["n0", "n80"]])).fit(graph)


def test_several_networks_and_nodes_missing_in_some():
    copies = [planted(seed, p_in=0.4, p_out=0.04) for seed in range(6)]
    copies[0].remove_nodes_from(range(5))
    copies[3].remove_nodes_from(range(60, 70))
    model = bc.ConsensusCommunities("louvain", 1, random_state=0).fit_many(copies)
    order = [model.graph_.index[i] for i in range(80)]
    assert adjusted_rand_score(TRUTH, model.labels_[order]) > 0.95
    assert [r.name for r in model.results_[6:8]] == ["block_model, second round"] * 2
    assert {r.name for r in model.results_[8:]} <= {"refined on the network", "belief propagation"}
    unseen = model.pool_.unseen[model.pool_.inverse].toarray()
    assert set(unseen.sum(axis=0).tolist()) - {0} == {5, 10}
    with pytest.raises(InputError, match="graphs: received none"):
        bc.ConsensusCommunities().fit_many([])


def test_several_networks_beat_each_of_them():
    copies = [planted(seed, p_in=0.22, p_out=0.05) for seed in range(10)]
    model = bc.ConsensusCommunities("louvain", 1, random_state=0).fit_many(copies)
    single = [normalized_mutual_info_score(TRUTH, r.labels) for r in model.results_[:10]]
    assert normalized_mutual_info_score(TRUTH, model.labels_) > max(single)


def test_overlapping_communities():
    # three cliques of eight in a chain, neighbours sharing two nodes
    cliques = [range(8), range(6, 14), range(12, 20)]
    graph = nx.compose_all([nx.complete_graph(c) for c in cliques])
    model = bc.ConsensusCommunities(
        ["link_communities", ("clique_percolation", {"k": [4, 5, 6]})], search=bc.Search(overlap=True), random_state=0
    ).fit(graph)
    assert sorted(map(sorted, model.communities_)) == [list(c) for c in cliques]
    assert model.consensus_.membership.sum(axis=1)[[6, 7, 12, 13]].tolist() == [2, 2, 2, 2]
    np.testing.assert_allclose(model.conductance_, conductances(model.graph_, model.consensus_.membership))


def test_failing_runs_are_recorded():
    def broken(graph, seed):
        raise RuntimeError("out of luck")

    model = bc.ConsensusCommunities([broken, "louvain"], n_runs=4, random_state=0)
    with pytest.warns(PoolWarning, match="4 of 8 base runs skipped"):
        model.fit(planted())
    assert [r.error for r in model.results_[:4]] == ["RuntimeError: out of luck"] * 4
    assert adjusted_rand_score(TRUTH, model.labels_) == 1.0
    with pytest.raises(SourceError, match="0 of 2"):
        bc.ConsensusCommunities(lambda graph, seed: np.zeros(3), n_runs=2).fit(planted())


def test_left_over_nodes():
    def shaky(graph, seed):
        labels = TRUTH.copy()
        labels[[0, 25]] = [seed % 4, (seed // 4) % 4]
        return labels

    def fit(unassigned):
        return bc.ConsensusCommunities(shaky, 16, quorum=0.7, unassigned=unassigned, random_state=1).fit(planted())

    assert (fit("leave").labels_ == -1).sum() >= 1
    assert (fit("nearest").labels_ >= 0).all()
    with pytest.raises(ValueError, match="nearest"):
        fit("somewhere")


def test_every_node_with_a_path_to_a_community_has_one():
    graph = planted()
    graph.add_edges_from([("x", "y"), (0, "pendant")])
    graph.add_node("alone")
    model = bc.ConsensusCommunities(n_runs=3, random_state=0).fit(graph)
    names = dict(zip(model.graph_.names, model.labels_))
    apart = ("alone", "x", "y")
    assert [names[name] for name in apart] == [-1, -1, -1]
    assert min(label for name, label in names.items() if name not in apart) >= 0
    assert names["pendant"] == names[0]


def test_leaves_of_a_weighted_network_go_with_their_neighbour_and_the_summary_asks_for_no_sources():
    graph = nx.les_miserables_graph()
    model = bc.ConsensusCommunities(random_state=0).fit(graph)
    label = dict(zip(model.graph_.names, model.labels_))
    assert all(label[leaf] == label[next(iter(graph[leaf]))] for leaf in graph if graph.degree(leaf) == 1)
    assert (model.consensus_.significance < -2).sum() >= 3
    # base results may be chosen as they are, however many sources are behind their groups
    assert "a group needs 3 elements; every element is in a group." in model.consensus_.summary


@pytest.mark.parametrize("seed", range(3))
def test_random_weights_make_no_communities(seed):
    graph, rng = nx.gnm_random_graph(100, 400, seed=501 + seed), np.random.default_rng(501 + seed)
    nx.set_edge_attributes(graph, {edge: rng.lognormal() for edge in graph.edges}, "weight")
    assert len(bc.ConsensusCommunities(random_state=seed + 1).fit(graph).communities_) == 1


@pytest.mark.parametrize("graph", [nx.complete_graph(12), nx.star_graph(9), nx.complete_graph(3)])
def test_networks_without_parts_are_one_community(graph):
    model = bc.ConsensusCommunities(n_runs=3, random_state=0).fit(graph)
    assert model.communities_ == [set(graph)]
    assert model.evidence_ == 0


def test_a_random_network_has_no_communities():
    model = bc.ConsensusCommunities(n_runs=3, random_state=0).fit(nx.gnm_random_graph(200, 1000, seed=5))
    assert len(model.communities_) == 1
    assert model.consensus_.extraction["origin"] == "no structure"


def test_what_was_scored_is_what_is_returned():
    graph, _ = lfr_network(300, 0.5, 12, communities=(15, 50), random_state=2)
    model = bc.ConsensusCommunities(n_runs=3, random_state=0).fit(graph)
    assert model.evidence_ > 1
    assert model.evidence_ == pytest.approx(model.consensus_.extraction["evidence"])
    assert (model.consensus_.significance <= 0).all()


def test_ring_of_small_cliques_is_exact():
    edges = [(5 * c + a, 5 * c + b) for c in range(30) for a in range(5) for b in range(a)]
    edges += [(5 * c, 5 * ((c + 1) % 30) + 1) for c in range(30)]
    model = bc.ConsensusCommunities(n_runs=3, random_state=0).fit(edges)
    assert sorted(map(sorted, model.communities_)) == [list(range(k, k + 5)) for k in range(0, 150, 5)]


def test_parameters_of_other_versions_are_pointed_to():
    with pytest.raises(InputTypeError, match="min_elements"):
        bc.ConsensusCommunities(min_elements=5)
    assert len(bc.ConsensusCommunities().get_params(deep=False)) <= 10


def test_number_of_communities_on_request():
    model = bc.ConsensusCommunities([("louvain", {"resolution": [0.2, 1.0]})], 5, n_groups=4, random_state=0)
    assert len(model.fit(planted()).communities_) == 4


def test_estimator_keeps_its_parameters_and_pickles(fitted):
    model = bc.ConsensusCommunities("louvain", 4, quorum=0.6, random_state=3)
    assert clone(model).get_params() == model.get_params()
    copy = pickle.loads(pickle.dumps(fitted))
    assert copy.communities_ == fitted.communities_


def test_consensus_of_louvain_runs_is_more_stable_than_single_runs():
    graph, _ = lfr_network(300, 0.4, 12, max_degree=40, communities=(15, 40), random_state=10)
    answers = [bc.ConsensusCommunities("louvain", 10, random_state=s).fit(graph) for s in range(3)]
    pairs = [(0, 1), (0, 2), (1, 2)]
    together = np.mean([normalized_mutual_info_score(answers[a].labels_, answers[b].labels_) for a, b in pairs])
    single = np.mean(
        [normalized_mutual_info_score(answers[a].results_[k].labels, answers[b].results_[k].labels)
         for a, b in pairs for k in range(10)]
    )  # fmt: skip
    assert together > single


def test_checkpoint_is_taken_up_again(tmp_path):
    calls = []

    def counted(graph, seed):
        calls.append(seed)
        return TRUTH

    for _ in range(2):
        bc.ConsensusCommunities(counted, 5, random_state=0, runs=bc.Runs(checkpoint=tmp_path)).fit(planted())
    assert len(calls) == 5


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


def test_fit_predict_gives_the_labels() -> None:
    model = bc.ConsensusCommunities(n_runs=2, random_state=0)
    edges = [(a, b) for part in ("abcde", "fghij") for a in part for b in part if a < b]
    assert model.fit_predict(edges).tolist() == model.labels_.tolist()


def test_the_summary_says_where_the_links_say_little():
    karate = nx.karate_club_graph()
    model = bc.ConsensusCommunities(random_state=0).fit(karate)
    assert 0 < model.evidence_ < 3
    percent = f"{np.exp(-model.evidence_):.0%}"
    assert f"the links are weak evidence for them: up to {percent} of networks" in model.consensus_.summary
    note = "No group is beyond chance by itself (below 0.05): the links speak for the groups together."
    assert model.consensus_._repr_html_().endswith(f"<p>{note}</p>")
    cliques = nx.ring_of_cliques(6, 6)
    assert "weak" not in bc.ConsensusCommunities(random_state=0).fit(cliques).consensus_.summary


def test_doubt_tells_weak_evidence_from_communities_whose_members_are_uncertain():
    uncertain = (
        "the network has communities, but its links do not tell for sure who is in them: "
        "about 31% of the nodes may be misplaced"
    )
    assert _doubt(5.0, 0.31, False) == _doubt(0.5, 0.31, True) == uncertain
    assert (
        _doubt(0.5, 0.0, False)
        == _doubt(0.5, 0.31, False)
        == ("the links are weak evidence for them: up to 61% of networks without communities show as much")
    )
    assert "up to 100% of networks" in str(_doubt(-1.0, 0.0, False))
    assert _doubt(20.0, 0.0, False) is None
