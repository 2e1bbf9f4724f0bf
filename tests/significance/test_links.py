"""Evidence of the links: values against definitions, nulls, weak groups, refinement, placing."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.metrics import adjusted_rand_score

from biconsensus.graphs import lfr_network, read_graph
from biconsensus.significance import _propagation
from biconsensus.significance._description import GroupLinks, Links, compact, description_gain, refine
from biconsensus.significance._links import LinkEvidence, place_with_neighbours


def block_model(n: int, q: int, degree: float, times: float, seed: int) -> tuple[csr_array, np.ndarray]:
    """Equal groups so many times above the limit of detectability."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n) * q // n
    difference = times * q * np.sqrt(degree)
    inside = degree + difference * (q - 1) / q
    a, b = np.triu_indices(n, 1)
    kept = rng.random(a.size) < np.where(truth[a] == truth[b], inside, inside - difference) / n
    ends = np.concatenate([a[kept], b[kept]]), np.concatenate([b[kept], a[kept]])
    return csr_array((np.ones(ends[0].size), ends), shape=(n, n)), truth


def test_likelihood_is_that_of_poisson_links_at_their_best_rates() -> None:
    rng = np.random.default_rng(0)
    edges = [(i, j) for i in range(12) for j in range(i) if rng.random() < (0.8 if i // 4 == j // 4 else 0.2)]
    graph = read_graph(edges)
    labels = np.array([int(name) // 4 for name in graph.names])
    A, k = graph.adjacency.toarray(), graph.degrees
    same = labels[:, None] == labels
    expected = np.outer(k, k) / k.sum()

    def log_likelihood(inside: float, outside: float) -> float:
        rates = np.where(same, inside, outside) * expected
        return float((A * np.log(rates) - rates).sum()) / 2

    best = log_likelihood((A * same).sum() / expected[same].sum(), (A * ~same).sum() / expected[~same].sum())
    fit = best - log_likelihood(1.0, 1.0)
    n, total = 12, k.sum() / 2
    members = np.log(n) + np.log(55.0) + sum(np.log(range(1, 13))) - 3 * sum(np.log(range(1, 5)))  # C(11, 2) = 55
    wanted = fit - members - np.log(total + 1) - np.log(2)
    assert description_gain(Links(graph.adjacency), labels) == pytest.approx(wanted)


def test_one_group_is_zero_and_numbering_does_not_matter() -> None:
    graph = read_graph(nx.planted_partition_graph(3, 15, 0.6, 0.05, seed=1))
    evidence = LinkEvidence(graph.adjacency)
    truth = np.repeat([0, 1, 2], 15)
    assert evidence.of_grouping(np.zeros(45, dtype=int)) == 0
    assert evidence.of_grouping(truth) == pytest.approx(evidence.of_grouping(2 - truth))
    assert evidence.of_grouping(truth) > 0 > evidence.of_grouping(np.arange(45) % 3)


def test_the_unit_of_weights_does_not_matter() -> None:
    graph = read_graph(nx.planted_partition_graph(3, 15, 0.6, 0.05, seed=1))
    truth = np.repeat([0, 1, 2], 15)
    plain, heavy = (LinkEvidence(graph.adjacency * unit).of_grouping(truth) for unit in (1.0, 1000.0))
    assert plain == pytest.approx(heavy)


def test_each_group_has_a_p_value_of_at_most_one() -> None:
    graph = read_graph(nx.planted_partition_graph(3, 15, 0.6, 0.05, seed=1))
    evidence = LinkEvidence(graph.adjacency)
    truth = np.repeat([0, 1, 2], 15)
    assert (evidence.of_groups(truth) < -2).all()
    split = np.where(truth == 0, 3 * (np.arange(45) % 2), truth)  # one true group in two halves
    found = evidence.of_groups(split)
    assert found[[0, 3]].tolist() == [0, 0]
    assert (found[[1, 2]] < -2).all()


def test_what_a_merge_loses_is_the_difference_of_two_groupings() -> None:
    graph, truth = lfr_network(300, 0.3, 8, random_state=2)
    links = Links(graph.adjacency)
    network = GroupLinks.of(links, truth)
    partner = np.roll(np.arange(truth.max() + 1), 1)
    whole = description_gain(links, truth)
    wanted = [whole - description_gain(links, compact(np.where(truth == g, partner[g], truth))) for g in partner]
    assert network.lost_by_merging(partner, links.total)[partner] == pytest.approx(wanted)


def test_a_network_of_groups_stays_that_of_its_nodes_when_groups_merge() -> None:
    graph, truth = lfr_network(300, 0.3, 8, random_state=2)
    links, to = Links(graph.adjacency), np.arange(truth.max() + 1) // 2
    merged, wanted = GroupLinks.of(links, truth).merged(to), GroupLinks.of(links, to[truth])
    for name in ("number", "degree", "inner"):
        assert getattr(merged, name) == pytest.approx(getattr(wanted, name))
    assert abs(merged.between - wanted.between).max() < 1e-9


def test_a_group_without_links_to_others_has_its_number_too() -> None:
    cliques = nx.disjoint_union_all([nx.complete_graph(8)] * 3)
    found = LinkEvidence(read_graph(cliques).adjacency).of_groups(np.repeat([0, 1, 2], 8))
    assert (found < -3).all()


@pytest.mark.parametrize("seed", range(3))
def test_random_networks_have_no_groups(seed: int) -> None:
    graph = read_graph(nx.gnm_random_graph(200, 900, seed=seed))
    evidence = LinkEvidence(graph.adjacency)
    rng = np.random.default_rng(seed)
    base = [rng.integers(5, size=graph.n_nodes) for _ in range(3)]
    proposed = [labels for _, labels in evidence.propose(base, seed)]
    assert all(evidence.of_grouping(labels) <= 0 for labels in base + proposed)


def test_weak_groups_are_found_by_propagation() -> None:
    adjacency, truth = block_model(600, 4, 16, 1.6, seed=3)
    evidence = LinkEvidence(adjacency)
    proposed = dict(evidence.propose([np.arange(600) % 7], seed=0))
    labels = proposed["belief propagation"]
    assert adjusted_rand_score(truth, labels) > 0.6
    assert evidence.of_grouping(labels) > max(0.0, description_gain(evidence.links, labels))


def test_refinement_shortens_the_description() -> None:
    graph, truth = lfr_network(300, 0.4, 14, communities=(20, 60), random_state=1)
    rng = np.random.default_rng(0)
    shaken = np.where(rng.random(300) < 0.2, rng.integers(int(truth.max()) + 1, size=300), truth)
    links = Links(graph.adjacency)
    labels, saved = refine(links, shaken, rng)
    assert saved == pytest.approx(description_gain(links, labels))
    assert saved > description_gain(links, shaken)
    assert adjusted_rand_score(truth, labels) > 0.95


def test_placing_goes_ring_by_ring_to_the_heaviest_and_the_rest_to_the_largest() -> None:
    edges = [("a", "b", 3.0), ("b", "c", 1.0), ("c", "d", 5.0), ("d", "e", 2.0), ("x", "y", 1.0)]
    graph = read_graph(edges, nodes=[*"abcdexy", "alone"])
    labels = np.array([0, -1, 1, -1, -1, -1, -1, -1])
    assert place_with_neighbours(graph.adjacency, labels).tolist() == [0, 0, 1, 1, 1, 1, 1, -1]
    assert place_with_neighbours(graph.adjacency, np.full(8, -1)).tolist() == [-1] * 8


def states_of(nats: dict[int, tuple[float, float]]):
    """A belief propagation whose evidence and its error are given for each number of groups."""

    def run(links: Links, q: int, start: np.ndarray, before: object = None, *, learn_shares: bool = False):
        value, error = nats.get(q, (-9.0, 0.0))
        marginals = np.eye(q)[np.arange(links.n_nodes) % q]
        return _propagation.State(marginals, value - learn_shares, error, (1.0, 1.0), np.full(q, 1 / q), 0.1)

    return run


@pytest.mark.parametrize(
    ("nats", "n_groups"),
    [
        ({3: (20.0, 0.0), 5: (18.0, 1.0), 8: (18.0, 4.0)}, 8),  # the same within its error: the larger number
        ({3: (20.0, 0.0), 5: (18.0, 1.0), 8: (9.0, 4.0)}, 3),
        ({3: (-1.0, 0.0)}, 6),  # the spectrum shows groups, no number of them pays: as many as the runs found
    ],
)
def test_how_many_weak_groups_there_are(monkeypatch: pytest.MonkeyPatch, nats: dict, n_groups: int) -> None:
    monkeypatch.setattr(_propagation, "run", states_of(nats))
    links = Links(block_model(300, 3, 12.0, 2.0, 0)[0])
    assert _propagation._Spectrum(links).n_detectable == 3
    found = _propagation.propagate(links, [], [], numbers=[5, 6, 7, 200, 250, 1])
    assert found[0][0].max() + 1 == n_groups
    assert found[0][1] > 0
