from __future__ import annotations

import inspect
import random
import sys

import networkx as nx
import numpy as np
import pytest
from scipy.sparse import csr_array, issparse
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from biconsensus.errors import InputError, MissingDependencyError, TooLargeError, UnknownNameError
from biconsensus.graphs import read_graph
from biconsensus.graphs._lfr import lfr_network
from biconsensus.significance._description import Links
from biconsensus.sources.networks import ALGORITHMS, Algorithm, get_algorithm, link_communities
from biconsensus.sources.networks._label_propagation import label_propagation
from biconsensus.sources.networks._modularity import _likely_resolution

PARTITIONS = [name for name, algorithm in ALGORITHMS.items() if not algorithm.overlapping]
COVERS = [name for name, algorithm in ALGORITHMS.items() if algorithm.overlapping]
PARAMETERS = {"spectral": {"n_communities": 4}}
TRUTH = np.repeat(np.arange(4), 16)


def planted(seed=3, isolated=0):
    graph = nx.planted_partition_graph(4, 16, 0.7, 0.03, seed=seed)
    graph.add_nodes_from(range(64, 64 + isolated))
    return read_graph(graph)


def quality(graph, labels, resolution=1.0):
    """Modularity from the dense definition."""
    a, k = graph.adjacency.toarray(), graph.degrees
    same = labels[:, None] == labels[None, :]
    return float(((a - resolution * np.outer(k, k) / k.sum()) * same).sum() / k.sum())


@pytest.mark.parametrize("name", PARTITIONS)
def test_finds_planted_communities(name):
    graph = planted()
    labels = get_algorithm(name)(graph, 5, **PARAMETERS.get(name, {}))
    assert labels.shape == (64,)
    assert labels.dtype == np.int64
    assert sorted(set(labels.tolist())) == list(range(labels.max() + 1))
    assert adjusted_rand_score(TRUTH, labels) > 0.95


@pytest.mark.parametrize("name", list(ALGORITHMS))
def test_same_seed_same_answer_and_no_global_randomness(name):
    graph, algorithm = planted(), get_algorithm(name)
    random.seed(11)
    np.random.seed(11)  # noqa: NPY002 (the global state is what is under test)
    before = random.getstate(), np.random.get_state()[1].copy()  # noqa: NPY002
    first, second = (algorithm(graph, 7, **PARAMETERS.get(name, {})) for _ in range(2))
    np.testing.assert_array_equal(*(x.toarray() if issparse(x) else x for x in (first, second)))
    assert random.getstate() == before[0]
    np.testing.assert_array_equal(np.random.get_state()[1], before[1])  # noqa: NPY002


@pytest.fixture(scope="module")
def unclear():
    """A network without clear communities, where every draw of a generator shows."""
    return lfr_network(400, 0.5, 8, communities=(15, 60), random_state=3)[0]


@pytest.mark.parametrize("name", list(ALGORITHMS))
def test_answers_do_not_depend_on_what_ran_before(name, unclear):
    algorithm = get_algorithm(name)
    first = algorithm(unclear, 1)
    for other in ("leiden", "louvain"):  # whose package has generators of its own
        get_algorithm(other)(unclear, 2)
    second = algorithm(unclear, 1)
    np.testing.assert_array_equal(*(x.toarray() if issparse(x) else x for x in (first, second)))


@pytest.mark.parametrize("name", list(ALGORITHMS))
def test_isolated_nodes_and_components(name):
    graph = planted(isolated=2)
    found = get_algorithm(name)(graph, 0, **PARAMETERS.get(name, {}))
    if issparse(found):
        assert found.shape[0] == 66
        assert found.tocsr()[64:].nnz == 0
    else:
        assert (found[64:] == -1).all()
        assert (found[:64] >= 0).all()
    apart = read_graph([(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5)])
    parts = get_algorithm(name)(apart, 0, **({"n_communities": 2} if name == "spectral" else {}))
    dense = parts.toarray().T if issparse(parts) else np.array([parts == k for k in np.unique(parts)])
    assert sorted(row.tolist() for row in dense.astype(int)) == [[0, 0, 0, 1, 1, 1], [1, 1, 1, 0, 0, 0]]


@pytest.mark.parametrize("name", list(ALGORITHMS))
def test_network_without_edges(name):
    graph = read_graph(csr_array((3, 3)))
    np.testing.assert_array_equal(get_algorithm(name)(graph, 0), [-1, -1, -1])


@pytest.mark.parametrize(
    "name", ["louvain", "leiden", "leidenalg", "infomap", "walktrap", "label_propagation", "spectral"]
)
def test_edge_weights_decide(name):
    # a ring of eight, heavy and light edges in turn: the pairs are the communities
    edges = [(i, (i + 1) % 8, 100.0 if i % 2 == 0 else 0.1) for i in range(8)]
    labels = get_algorithm(name)(read_graph(edges), 0, **({"n_communities": 4} if name == "spectral" else {}))
    np.testing.assert_array_equal(labels[::2], labels[1::2])
    assert len(set(labels.tolist())) > 1


@pytest.mark.parametrize("name", ["louvain", "leiden", "leidenalg", "greedy_modularity"])
def test_modularity_methods_are_near_the_best_known(name):
    graph = read_graph(nx.karate_club_graph(), weight=None)
    labels = get_algorithm(name)(graph, 0)
    assert 0.37 < quality(graph, labels) <= 0.4198 + 1e-4  # 0.4198 is the proven optimum
    fine = get_algorithm(name)(graph, 0, resolution=3.0)
    assert fine.max() > labels.max()


def test_seeds_differ():
    graph = read_graph(nx.gnm_random_graph(60, 150, seed=1))
    for name in ("louvain", "leiden", "label_propagation", "infomap"):
        answers = {tuple(get_algorithm(name)(graph, seed).tolist()) for seed in range(8)}
        assert len(answers) > 1, name


def test_louvain_levels():
    graph = read_graph(nx.karate_club_graph(), weight=None)
    one = get_algorithm("louvain")(graph, 0, n_levels=1)
    assert one.max() > get_algorithm("louvain")(graph, 0).max()


def test_label_propagation_ends_where_every_label_is_a_best_one():
    graph = read_graph(nx.gnm_random_graph(80, 240, seed=2))
    linked = np.flatnonzero(~graph.isolated)
    graph = graph.subgraph(linked)
    labels = label_propagation(graph, 3)
    votes = graph.adjacency @ (labels[:, None] == np.arange(labels.max() + 1)).astype(float)
    np.testing.assert_allclose(votes[np.arange(labels.size), labels], votes.max(axis=1))


def test_block_model_resolution_is_that_of_newman():
    graph = planted()
    a = graph.adjacency.toarray()
    same = TRUTH[:, None] == TRUTH[None, :]
    expected = np.outer(graph.degrees, graph.degrees) / a.sum()
    rate_in, rate_out = a[same].sum() / expected[same].sum(), a[~same].sum() / expected[~same].sum()
    links = Links(graph.adjacency)
    assert _likely_resolution(links, *links.tally(TRUTH)) == pytest.approx(
        (rate_in - rate_out) / (np.log(rate_in) - np.log(rate_out))
    )
    assert _likely_resolution(links, *links.tally(np.zeros(TRUTH.size, int))) == 1.0


def test_block_model_undoes_the_resolution_limit():
    ring = read_graph(nx.ring_of_cliques(30, 5))
    truth = np.repeat(np.arange(30), 5)
    assert adjusted_rand_score(truth, get_algorithm("louvain")(ring, 0)) < 0.75
    assert normalized_mutual_info_score(truth, get_algorithm("block_model")(ring, 0)) > 0.99


def test_block_model_does_not_shatter_weak_communities():
    """Its likelihood grows with ever more of them; their description does not pay."""
    graph, _ = lfr_network(1000, 0.7, 15, max_degree=50, communities=(20, 80), random_state=60)
    for seed in range(3):
        assert get_algorithm("block_model")(graph, seed).max() < 30


def test_block_model_finds_communities_inside_larger_ones():
    """Twelve groups in four: on the way from four to twelve the description gets a little longer first."""
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(12), 30)
    i, j = np.triu_indices(360, 1)
    rate = np.where(group[i] == group[j], 0.4, np.where(group[i] // 3 == group[j] // 3, 0.07, 0.015))
    kept = rng.random(i.size) < rate
    graph = read_graph(list(zip(i[kept].tolist(), j[kept].tolist())), nodes=range(360))
    assert adjusted_rand_score(group // 3, get_algorithm("louvain")(graph, 0)) > 0.9
    assert adjusted_rand_score(group, get_algorithm("block_model")(graph, 0)) > 0.9


def test_spectral_on_sparse_and_dense_path():
    graph = read_graph(nx.planted_partition_graph(5, 80, 0.3, 0.005, seed=1))
    labels = get_algorithm("spectral")(graph, 0, n_communities=5)
    assert adjusted_rand_score(np.repeat(np.arange(5), 80), labels) > 0.95
    with pytest.raises(InputError, match="n_communities: received 0"):
        get_algorithm("spectral")(graph, 0, n_communities=0)


def test_clique_percolation_by_hand():
    # two tetrahedra that share an edge: one community of triangles, two of tetrahedra
    graph = read_graph(nx.compose(nx.complete_graph([0, 1, 2, 3]), nx.complete_graph([2, 3, 4, 5])))
    assert get_algorithm("clique_percolation")(graph, 0, k=3).toarray().T.astype(int).tolist() == [[1] * 6]
    four = get_algorithm("clique_percolation")(graph, 0, k=4).toarray().T.astype(int).tolist()
    assert four == [[1, 1, 1, 1, 0, 0], [0, 0, 1, 1, 1, 1]]
    with pytest.raises(InputError, match="k: received 1"):
        get_algorithm("clique_percolation")(graph, 0, k=1)


def test_link_communities_by_hand():
    # two cliques that share one node
    graph = read_graph(nx.compose(nx.complete_graph([0, 1, 2, 3]), nx.complete_graph([3, 4, 5, 6])))
    found = get_algorithm("link_communities")(graph, 0).toarray().T.astype(int).tolist()
    assert sorted(found) == [[0, 0, 0, 1, 1, 1, 1], [1, 1, 1, 1, 0, 0, 0]]


def test_link_communities_similarity_against_sets():
    graph = read_graph(nx.gnm_random_graph(15, 35, seed=4))
    module = sys.modules[link_communities.__module__]
    first, second, similarity = module._edge_pairs(graph)
    sources, targets, _ = graph.edges()
    around = [set(row.nonzero()[0].tolist()) | {i} for i, row in enumerate(graph.adjacency.toarray())]
    for a, b, s in zip(first, second, similarity):
        ends = {int(sources[a]), int(targets[a])} ^ {int(sources[b]), int(targets[b])}
        i, j = ends
        assert s == pytest.approx(len(around[i] & around[j]) / len(around[i] | around[j]))
    degree = np.diff(graph.adjacency.indptr)
    assert first.size == (degree * (degree - 1) // 2).sum()


def test_link_communities_refuses_before_it_allocates():
    star = read_graph([(0, i) for i in range(1, 7000)])
    with pytest.raises(TooLargeError, match="pairs of edges"):
        get_algorithm("link_communities")(star, 0)


def test_unknown_name_lists_the_valid_ones():
    with pytest.raises(UnknownNameError, match=r"Did you mean 'louvain'\?.*label_propagation"):
        get_algorithm("louvian")


def test_missing_package_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "infomap", None)
    with pytest.raises(MissingDependencyError, match=r"infomap is not installed.*biconsensus\[graph-fast\]"):
        ALGORITHMS["infomap"].check_installed()
    monkeypatch.setitem(sys.modules, "sknetwork", None)
    with pytest.raises(MissingDependencyError, match=r"scikit-network.*biconsensus\[graph\]"):
        ALGORITHMS["louvain"].check_installed()


def test_other_packages_register_by_entry_point(monkeypatch):
    class Point:
        name = "halves"

        @staticmethod
        def load():
            return lambda graph, seed: np.arange(graph.n_nodes) % 2

    monkeypatch.setattr("biconsensus.sources.networks.entry_points", lambda group: [Point])
    assert isinstance(get_algorithm("halves"), Algorithm)
    assert get_algorithm("halves")(planted(), 0).sum() == 32


@pytest.mark.parametrize("name", list(ALGORITHMS))
def test_parameters_are_keywords_with_defaults(name):
    parameters = list(inspect.signature(ALGORITHMS[name].run).parameters.values())
    assert [p.name for p in parameters[:2]] == ["graph", "seed"]
    assert all(p.kind is p.KEYWORD_ONLY and p.default is not p.empty for p in parameters[2:])


@pytest.mark.timeout(60)
def test_leiden_ends_where_moves_gain_nothing_but_rounding():
    rng = np.random.default_rng(1078)
    degrees = np.minimum(3 * (1 - rng.random(300)) ** (-1 / 1.5), 30).astype(int)
    ends = rng.permutation(np.repeat(np.arange(300), degrees))
    ends = ends[: ends.size // 2 * 2].reshape(-1, 2)
    edges = {(min(pair), max(pair)) for pair in ends.tolist() if pair[0] != pair[1]}
    graph = read_graph(sorted(edges), nodes=range(300))
    for seed in (979868300, *range(20)):  # the package alone never ends with the first
        assert 5 < np.unique(get_algorithm("leiden")(graph, seed, resolution=1.5)).size < 60
