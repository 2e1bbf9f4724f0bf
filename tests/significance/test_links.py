"""Evidence of the links: values against definitions, nulls, weak groups, refinement, placing."""

from __future__ import annotations

import math

import networkx as nx
import numpy as np
import pytest
from scipy.sparse import csr_array, triu
from sklearn.metrics import adjusted_rand_score

from biconsensus.graphs import lfr_network, read_graph
from biconsensus.significance import _propagation
from biconsensus.significance._description import (
    GroupLinks,
    Links,
    best_refined,
    description_gain,
    log_false_alarms,
    refine,
)
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


def chance_of_links_inside(degree: int, inner: int, ends: int) -> float:
    """Probability that `degree` of `ends` ends, paired at random, have `inner` pairs or more among themselves."""
    states = {(degree, 0): 1.0}  # ends of the set that are not paired yet, pairs inside
    for _ in range(degree):
        after: dict[tuple[int, int], float] = {}
        for (own, pairs), chance in states.items():
            if own == 0:
                after[own, pairs] = after.get((own, pairs), 0.0) + chance
                continue
            left = ends - (degree - own) - (degree - own - 2 * pairs)  # ends of all nodes that are not paired yet
            for key, share in (
                ((own - 2, pairs + 1), (own - 1) / (left - 1)),
                ((own - 1, pairs), (left - own) / (left - 1)),
            ):
                if share > 0:
                    after[key] = after.get(key, 0.0) + chance * share
        states = after
    return sum(chance for (_, pairs), chance in states.items() if pairs >= inner)


def test_false_alarms_are_those_of_links_paired_at_random() -> None:
    graph, truth = lfr_network(60, 0.3, 6, communities=(8, 20), random_state=2)
    links = Links(graph.adjacency)
    number, degree, inner = links.tally(truth)
    n = links.n_linked
    for group, found in enumerate(log_false_alarms(links, truth)):
        chance = chance_of_links_inside(int(degree[group]), int(inner[group]), round(2 * links.total))
        wanted = np.log(chance) + np.log(n) + np.log(math.comb(n, int(number[group])))
        assert wanted - 1e-6 <= found <= wanted + 0.1


def test_one_heavy_link_is_no_group() -> None:
    graph = nx.gnm_random_graph(60, 240, seed=3)
    graph.add_edge(0, 1, weight=1000.0)
    read = read_graph(graph)
    pair = np.array([0 if name in (0, 1) else 1 for name in read.names])
    assert LinkEvidence(read.adjacency).of_groups(pair).tolist() == [0, 0]


def test_weights_that_differ_at_random_do_not_hide_groups() -> None:
    graph = nx.planted_partition_graph(3, 20, 0.5, 0.05, seed=1)
    truth = np.repeat([0, 1, 2], 20)
    links_only = LinkEvidence(read_graph(graph).adjacency).of_grouping(truth)
    rng = np.random.default_rng(0)
    nx.set_edge_attributes(graph, {edge: rng.lognormal(0, 1.5) for edge in graph.edges}, "weight")
    evidence = LinkEvidence(read_graph(graph).adjacency)
    assert evidence.of_grouping(truth) > links_only - np.log(3) - 1e-9  # what it takes to tell one of three scales
    assert description_gain(evidence.links, truth) < 0  # with the weights as they are
    assert (evidence.of_groups(truth) < -2).all()
    assert evidence.of_grouping(np.zeros(60, int)) == 0


def test_groups_are_found_where_no_run_on_weights_that_say_nothing_found_any() -> None:
    plain, truth = block_model(400, 4, 16, 2.2, seed=3)
    upper = csr_array(triu(plain))
    upper.data = np.random.default_rng(0).lognormal(0, 1.2, upper.nnz)
    evidence = LinkEvidence(csr_array(upper + upper.T))
    proposed = evidence.propose([np.arange(400) % 7], seed=0)
    best = max((labels for _, labels in proposed), key=evidence.of_grouping)
    assert adjusted_rand_score(truth, best) > 0.85
    assert evidence.of_grouping(best) > 0


def test_groups_that_are_told_together_have_the_chance_of_the_whole() -> None:
    adjacency, truth = block_model(600, 4, 16, 1.3, seed=3)
    evidence = LinkEvidence(adjacency)
    assert evidence.of_groups(truth).tolist() == [0, 0, 0, 0]
    evidence.remember(truth, 7.0)
    assert evidence.of_groups(3 - truth) == pytest.approx(np.full(4, -7.0 / np.log(10)))
    clear, groups = block_model(200, 2, 16, 2.5, seed=3)
    evidence = LinkEvidence(clear)
    alone = evidence.of_groups(groups)
    evidence.remember(groups, evidence.of_grouping(groups) - 1.0)
    assert evidence.of_groups(groups).tolist() == alone.tolist()  # its own description is worth more


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


def test_two_groups_have_p_values_too() -> None:
    cliques = nx.disjoint_union_all([nx.complete_graph(10)] * 2)
    assert (LinkEvidence(read_graph(cliques).adjacency).of_groups(np.repeat([0, 1], 10)) < -3).all()


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


def test_what_is_proposed_is_refined_and_may_have_two_groups() -> None:
    cliques = nx.disjoint_union_all([nx.complete_graph(9)] * 2)
    cliques.add_edge(0, 9)
    cliques.add_node(18)
    evidence = LinkEvidence(read_graph(cliques).adjacency)
    labels = np.append(np.repeat([0, 1], 9), 0)
    labels[0] = 1
    proposed = evidence.propose([labels], seed=0)
    assert [name for name, _ in proposed] == ["refined on the network"]
    assert proposed[0][1].tolist() == [0] * 9 + [1] * 9 + [-1]


def test_all_refined_groupings_that_gain_are_kept_best_first_or_the_best_one() -> None:
    graph = read_graph(nx.planted_partition_graph(4, 20, 0.7, 0.02, seed=2))
    links, truth = Links(graph.adjacency), np.repeat([0, 1, 2, 3], 20)
    starts = [truth // 2, truth, np.where(truth == 3, 2, truth)]
    found = best_refined(links, starts, np.random.default_rng(0), lambda *_: None)
    gains = [description_gain(links, labels) for labels in found]
    assert gains == sorted(gains, reverse=True)
    assert all(gain > 0 for gain in gains)
    assert adjusted_rand_score(found[0], truth) == 1.0
    noise = Links(read_graph(nx.gnm_random_graph(60, 200, seed=1)).adjacency)
    left = best_refined(noise, [np.arange(60) % 3, np.arange(60) % 5], np.random.default_rng(0), lambda *_: None)
    assert left  # nothing gains: the best is kept
    assert max(description_gain(noise, labels) for labels in left) <= 0


def test_placing_goes_ring_by_ring_to_the_heaviest_and_nowhere_without_a_path() -> None:
    edges = [("a", "b", 3.0), ("b", "c", 1.0), ("c", "d", 5.0), ("d", "e", 2.0), ("x", "y", 1.0)]
    graph = read_graph(edges, nodes=[*"abcdexy", "alone"])
    labels = np.array([0, -1, 1, -1, -1, -1, -1, -1])
    assert place_with_neighbours(graph.adjacency, labels).tolist() == [0, 0, 1, 1, 1, -1, -1, -1]
    assert place_with_neighbours(graph.adjacency, np.full(8, -1)).tolist() == [-1] * 8


def states_of(nats: dict[int, tuple[float, float]]):
    """A belief propagation whose evidence and its error are given for each number of groups."""

    def run(links: Links, q: int, start: np.ndarray, before: object = None, *, learn_shares: bool = False):
        value, error = nats.get(q, (-9.0, 0.0))
        marginals = np.eye(q)[np.arange(links.n_nodes) % q]
        return _propagation.State(marginals, value - learn_shares, error, (1.0, 1.0), np.full(q, 1 / q), 0.1)

    return run


def sure(share: float):
    """A belief propagation that is as sure of every node as it is told, with the most nats for three groups."""

    def run(links: Links, q: int, start: np.ndarray, before: object = None, *, learn_shares: bool = False):
        marginals = np.full((links.n_nodes, q), (1.0 - share) / (q - 1))
        marginals[np.arange(links.n_nodes), start] = share
        return _propagation.State(marginals, 11.25 - abs(q - 3), 0.0, (1.0, 1.0), np.full(q, 1 / q), 0.1)

    return run


@pytest.mark.parametrize(
    ("nats", "best"),
    [
        ({3: (40.0, 0.0), 5: (50.0, 1.0), 8: (49.0, 0.0)}, 8),  # what wanders is taken at two errors less
        ({3: (np.nan, 0.0), 5: (50.0, 0.0)}, 5),  # the first one is not believed
        ({3: (40.0, 0.0), 5: (40.0, 0.0), 8: (40.0, 0.0), 13: (41.0, 0.0)}, 13),  # as good is not worse
        ({3: (40.0, 0.0), 5: (39.0, 0.0), 8: (41.0, 0.0)}, 8),
        ({3: (40.0, 0.0), 5: (39.0, 0.0), 8: (39.0, 0.0), 13: (90.0, 0.0)}, 3),  # it ends after two that are worse
        ({3: (40.0, 0.0), 5: (50.0, 0.0), 4: (60.0, 0.0)}, 4),  # between those of the first search, below ...
        ({3: (40.0, 0.0), 5: (50.0, 0.0), 6: (60.0, 0.0)}, 6),  # ... and above the best
    ],
)
def test_the_number_of_weak_groups_is_the_one_with_the_most_evidence(
    monkeypatch: pytest.MonkeyPatch, nats: dict[int, tuple[float, float]], best: int
) -> None:
    links = Links(block_model(300, 3, 12.0, 2.0, 0)[0])
    assert _propagation._Spectrum(links).n_detectable == 3
    monkeypatch.setattr(_propagation, "run", states_of(nats))
    found, weak = _propagation.propagate(links, [], [np.arange(300) % 6])
    assert weak is None
    told = found[0]
    assert told.labels.max() + 1 == best
    value, error = nats[best]
    assert told.nats == pytest.approx(value - 2 * error - 0.5 * np.log(links.total))
    assert told.misplaced == 0.0  # these states are certain


def test_groups_that_are_too_many_for_the_description_merge_into_a_further_start(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    adjacency, truth = block_model(300, 3, 16.0, 3.0, 0)
    links, starts = Links(adjacency), list[np.ndarray]()
    halves = 2 * truth + np.arange(300) % 2

    def run(links: Links, q: int, start: np.ndarray, before: object = None, *, learn_shares: bool = False):
        starts.append(start)
        return _propagation.State(np.eye(6)[halves], 40.0 if q == 3 else 1.0, 0.0, (1.0, 1.0), np.full(q, 1 / q), 0.1)

    monkeypatch.setattr(_propagation, "run", run)
    spectrum = _propagation._Spectrum(links)
    _propagation._states(links, spectrum)
    assert adjusted_rand_score(truth, starts[-1]) > 0.95


def test_what_is_remembered_of_a_grouping_does_not_depend_on_its_numbering() -> None:
    adjacency, truth = block_model(600, 4, 16, 1.3, seed=3)
    evidence = LinkEvidence(adjacency)
    assert evidence.misplaced(truth) == 0.0
    evidence.remember(truth, 7.0, 0.3)
    assert evidence.misplaced(3 - truth) == 0.3
    assert evidence.of_grouping(3 - truth) == 7.0


@pytest.mark.parametrize(("share", "told"), [(0.45, False), (0.55, True)])
def test_groups_with_little_evidence_for_their_errors_are_no_answer(
    monkeypatch: pytest.MonkeyPatch, share: float, told: bool
) -> None:
    monkeypatch.setattr(_propagation, "run", sure(share))
    links = Links(block_model(300, 3, 12.0, 2.0, 0)[0])
    found, weak = _propagation.propagate(links, [], [np.arange(300) % 6])
    nats = 14.25 - 3 - 0.5 * np.log(links.total)
    assert bool(nats > 0.05 * 300 * (1 - share)) is told
    assert bool(found) is told
    assert (weak is None) is told


def test_what_speaks_for_a_link_is_runs_spectrum_and_propagation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_propagation, "run", states_of({3: (3.0, 0.0)}))  # certain, but not worth its description
    links = Links(block_model(300, 3, 12.0, 2.0, 0)[0])
    run, ignored = np.arange(300) % 6, [np.zeros(300, int), np.arange(300)]
    found, weak = _propagation.propagate(links, [], [run, *ignored])
    assert found == []
    assert weak is not None
    assert weak.nats == 1.0
    assert weak.misplaced == 0.0
    left, right = links.source, links.target
    certain = np.arange(300) % 3  # the groups of `states_of`, of which it is certain: nobody else has a voice
    assert weak.share == pytest.approx((certain[left] == certain[right]).astype(float), abs=1e-4)
    monkeypatch.setattr(_propagation, "run", states_of({}))  # nothing to be believed
    monkeypatch.setattr(_propagation, "_believed", lambda links, state: False)
    found, weak = _propagation.propagate(links, [], [run, *ignored])
    assert weak is not None
    spectral = _propagation._Spectrum(links).start(6)
    wanted = 0.5 * (run[left] == run[right]) + 0.5 * (spectral[left] == spectral[right])
    assert weak.share == pytest.approx(wanted)
    assert weak.nats == _propagation.SPECTRAL_NATS
    assert weak.misplaced == 1.0


def test_without_runs_that_count_weak_groups_have_no_answer() -> None:
    links = Links(block_model(300, 4, 12.0, 1.0, 0)[0])
    found, weak = _propagation.propagate(links, [], [np.zeros(300, int), np.arange(300)])
    assert weak is None
    assert all(told.nats > 0 for told in found)


def test_rewiring_keeps_the_degrees_and_nothing_else() -> None:
    graph, truth = lfr_network(300, 0.1, 10, random_state=1)
    links = Links(graph.adjacency)
    mixed = _propagation.rewired(links, np.random.default_rng(0))
    assert abs(mixed.degree - links.degree).max() <= 2  # a link or two that could not be placed
    assert mixed.adjacency.diagonal().sum() == 0
    assert mixed.weight.max() == 1
    assert description_gain(links, truth) > 0 > description_gain(mixed, truth)
    rng = np.random.default_rng(0)
    upper = csr_array(triu(graph.adjacency)) * 1.0
    upper.data = rng.permutation(upper.nnz) + 1.0
    weighted = Links(csr_array(upper + upper.T))
    mixed = _propagation.rewired(weighted, rng)
    assert abs(np.diff(mixed.adjacency.indptr) - np.diff(weighted.adjacency.indptr)).max() <= 2
    kept = np.corrcoef(mixed.degree, weighted.degree)[0, 1]
    assert 0.5 < kept < 0.999  # a link keeps the weight that it had at one of its ends


def test_a_low_spectrum_shows_groups_that_no_negative_eigenvalue_shows() -> None:
    graph, _ = lfr_network(1000, 0.7, 15, max_degree=50, communities=(20, 80), random_state=53)
    spectrum = _propagation._Spectrum(Links(graph.adjacency))
    assert spectrum.n_detectable == 1
    assert spectrum.shows_groups()
    mixed = _propagation.rewired(Links(graph.adjacency), np.random.default_rng(7))
    assert not _propagation._Spectrum(mixed).shows_groups()
    weights = np.random.default_rng(0).uniform(1, 1.01, graph.adjacency.nnz)
    weighted = csr_array((weights, graph.adjacency.indices, graph.adjacency.indptr), shape=graph.adjacency.shape)
    assert _propagation._Spectrum(Links(csr_array(weighted + weighted.T))).shows_groups()
