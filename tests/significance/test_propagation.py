"""Belief propagation by its equations: states at rest, first rates, spectra, labels, and what is believed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.special import softmax
from scipy.stats import t as student
from sklearn.metrics import adjusted_rand_score

import biconsensus as bc
from biconsensus.graphs import lfr_network, read_graph
from biconsensus.significance import _propagation
from biconsensus.significance._description import Links
from biconsensus.significance._propagation import (
    MAX_GROUPS,
    SMALLEST,
    State,
    _believed,
    _best,
    _certainty,
    _evidence,
    _first_rates,
    _labels,
    _share_together,
    _Spectrum,
    run,
)

GROUPS = np.repeat([0, 1, 2], [60, 40, 40])
"""Planted groups of unequal size, and after them two nodes without an edge."""


@pytest.fixture(scope="module", params=["plain", "weighted"])
def links(request: pytest.FixtureRequest) -> Links:
    """A network with groups that are clear enough for messages to come to rest."""
    rng = np.random.default_rng(4)
    n = GROUPS.size + 2
    upper = np.zeros((n, n))
    chance = np.where(GROUPS[:, None] == GROUPS, 0.25, 0.03)
    upper[: GROUPS.size, : GROUPS.size] = np.triu(rng.random(chance.shape) < chance, 1)
    if request.param == "weighted":
        upper *= rng.uniform(0.5, 1.5, upper.shape)
    return Links(csr_array(upper + upper.T))


def equations(links: Links, state: State) -> tuple[np.ndarray, np.ndarray, float, tuple[float, float]]:
    """Marginals at rest, degree sums, evidence and learned rates, message by message, at the rates of a state."""
    (inside, between), weight = state.rates, links.weight[:, None]
    messages, marginals = state.marginals[links.source], state.marginals
    for _ in range(300):
        expected = links.degree @ marginals / (2 * links.total)
        incoming = np.log(between**weight + (inside**weight - between**weight) * messages[links.reverse])
        fields = np.log(state.shares) - np.outer(links.degree, between + (inside - between) * expected - 1)
        np.add.at(fields, links.source, incoming)
        marginals = 0.5 * marginals + 0.5 * softmax(fields, axis=1)
        messages = 0.5 * messages + 0.5 * softmax(fields[links.source] - incoming, axis=1)
    both = (messages * messages[links.reverse]).sum(axis=1)
    chance = float((expected**2).sum())
    one_group = inside**links.weight * both  # a link of weight w counts as w links with the same ends
    mean = one_group + between**links.weight * (1 - both)
    nats = links.total * (between + (inside - between) * chance - 1) - float(np.log(mean).sum()) / 2
    nats += float(np.log(np.exp(fields[links.linked]).sum(axis=1)).sum())
    share = float(links.weight @ (one_group / mean)) / (2 * links.total)
    return marginals, expected, nats, (share / chance, (1 - share) / (1 - chance))


@pytest.mark.parametrize("learn_shares", [False, True])
def test_a_state_at_rest_satisfies_the_equations(links: Links, learn_shares: bool) -> None:
    start = np.append(GROUPS, [0, 0])
    state = run(links, 3, start, learn_shares=learn_shares)
    marginals, _, nats, rates = equations(links, state)
    assert state.change < _propagation.SETTLED
    assert state.error == 0
    assert state.marginals[links.linked] == pytest.approx(marginals[links.linked], abs=0.02)
    assert state.marginals[~links.linked] == pytest.approx(np.full((2, 3), 1 / 3))
    assert state.nats == pytest.approx(nats, rel=0.005)
    assert state.rates == pytest.approx(rates, rel=0.01)
    shares = state.marginals[links.linked].mean(axis=0) if learn_shares else np.full(3, 1 / 3)
    assert state.shares == pytest.approx(shares, rel=0.01)
    assert np.array_equal(state.marginals.argmax(axis=1)[:140], GROUPS)
    assert _believed(links, state)


def test_a_state_begins_at_the_rates_of_another_one(links: Links, monkeypatch: pytest.MonkeyPatch) -> None:
    before = run(links, 3, np.append(GROUPS, [0, 0]))
    monkeypatch.setattr(_propagation, "MAX_SWEEPS", 3)  # rates are not yet learned
    assert run(links, 3, np.append(GROUPS, [0, 0]), before).rates == before.rates
    monkeypatch.setattr(_propagation, "MAX_SWEEPS", 4)  # now they are
    assert run(links, 3, np.append(GROUPS, [0, 0]), before).rates != before.rates
    monkeypatch.setattr(_propagation, "MAX_SWEEPS", 3)
    alone = run(links, 3, np.append(GROUPS, [0, 0]))
    assert alone.rates == pytest.approx(_first_rates(links, 3, np.append(GROUPS, [0, 0])))
    shares = run(links, 3, np.append(GROUPS, [0, 0]), learn_shares=True).shares
    assert shares == pytest.approx(np.array([60, 40, 40]) / 140)


def test_messages_that_wander_have_the_mean_evidence_of_the_last_sweeps(
    links: Links, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_propagation, "SETTLED", 0.0)
    monkeypatch.setattr(_propagation, "N_LOOKS", 1)
    start, looks = np.append(GROUPS, [0, 0])[::-1].copy(), []
    for sweeps in (5, 6, 7):
        monkeypatch.setattr(_propagation, "MAX_SWEEPS", sweeps)
        looks.append(run(links, 3, start).nats)
    monkeypatch.setattr(_propagation, "N_LOOKS", 3)
    state = run(links, 3, start)
    assert np.std(looks) > 0
    assert state.nats == pytest.approx(np.mean(looks))
    assert state.error == pytest.approx(np.std(looks))


def test_messages_of_weak_groups_come_near_rest() -> None:
    graph, truth = lfr_network(1000, 0.645, 15, max_degree=50, communities=(20, 80), random_state=211)
    links = Links(graph.adjacency)
    state = run(links, 26, _Spectrum(links).start(26))  # with messages that go all the way it is 0.29
    assert state.change < _propagation.UNSETTLED
    assert adjusted_rand_score(truth, state.marginals.argmax(axis=1)) > 0.7


def test_evidence_of_messages_that_wander_is_taken_at_two_errors_less(links: Links) -> None:
    state = state_of(links, np.eye(3)[np.append(GROUPS, [0, 0])], error=1.5)
    assert state.sure_nats == 7.0
    assert _evidence(links, state) == pytest.approx(7.0 - 0.5 * np.log(links.total))


def test_first_rates_are_those_of_the_limit_or_of_a_clearer_start(links: Links) -> None:
    degree = links.degree[links.linked]
    excess = (degree**2).mean() / degree.mean() - 1
    limit = 3 / (np.sqrt(excess) - 1) + 1
    nonsense = np.arange(142) % 3
    inside, between = _first_rates(links, 3, nonsense)
    assert inside / between == pytest.approx(limit)
    assert inside / 3 + between * 2 / 3 == pytest.approx(1)  # as many links as there are
    inside, between = _first_rates(links, 3, np.append(GROUPS, [0, 0]))
    known = links.rates(np.append(GROUPS, [0, 0]))
    assert inside / between == pytest.approx(known[0] / known[1])
    assert inside / between > limit
    assert inside / 3 + between * 2 / 3 == pytest.approx(1)


def test_the_limit_of_a_network_of_pairs_is_finite() -> None:
    pairs = np.kron(np.eye(4), [[0, 1], [1, 0]])
    inside, between = _first_rates(Links(csr_array(pairs)), 2, np.arange(8) % 2)
    assert inside / between == pytest.approx(2 / (np.sqrt(1.5) - 1) + 1)


def state_of(links: Links, marginals: np.ndarray, **changes: object) -> State:
    """A state with given marginals at the rates that its expected links have."""
    chance = float(((links.degree @ marginals / (2 * links.total)) ** 2).sum())
    n_groups = marginals.shape[1]
    given = State(marginals, 10.0, 0.0, (2.0, (1 - 2 * chance) / (1 - chance)), np.full(n_groups, 1 / n_groups), 0.1)
    return replace(given, **changes)


def test_only_states_near_rest_with_as_many_links_as_there_are_are_believed(links: Links) -> None:
    good = state_of(links, np.eye(3)[np.append(GROUPS, [0, 0])])
    assert _believed(links, good)
    for changes in ({"nats": np.nan}, {"nats": np.inf}, {"change": _propagation.UNSETTLED}):
        assert not _believed(links, replace(good, **changes))
    inside, between = good.rates
    for more, believed in ((0.019, True), (0.021, False), (-0.019, True), (-0.021, False)):
        assert _believed(links, replace(good, rates=(inside + more, between + more))) is believed


def test_a_state_that_wanders_is_no_answer_however_much_evidence_it_has(links: Links) -> None:
    calm = state_of(links, np.eye(3)[np.append(GROUPS, [0, 0])])
    restless = replace(calm, nats=99.0, change=_propagation.RESTLESS)
    assert _believed(links, restless)
    assert _best([restless, calm, replace(calm, nats=9.0)]) is calm
    assert _best([restless]) is None
    assert _best([]) is None


def test_evidence_pays_for_what_was_learned(links: Links) -> None:
    state = state_of(links, np.eye(3)[np.append(GROUPS, [0, 0])])
    alike = 10 - 0.5 * np.log(links.total)
    assert _evidence(links, state) == pytest.approx(alike)
    learned = replace(state, shares=np.array([0.6, 0.4 - 0.9 / 140, 0.9 / 140]))  # the last has not even one node
    assert _evidence(links, learned) == pytest.approx(alike - 0.5 * np.log(140))
    all_three = replace(state, shares=np.array([0.6, 0.4 - 1.01 / 140, 1.01 / 140]))
    assert _evidence(links, all_three) == pytest.approx(alike - np.log(140))


def test_certainty_is_that_of_linked_nodes(links: Links) -> None:
    marginals = np.tile([0.5, 0.3, 0.2], (142, 1))
    marginals[:70] = [0.1, 0.7, 0.2]
    marginals[140:] = [0.0, 0.0, 1.0]
    assert _certainty(links, state_of(links, marginals)) == pytest.approx(0.6)


def test_labels_are_the_likeliest_groups_of_enough_nodes(links: Links) -> None:
    marginals = np.zeros((142, 5))
    likeliest = np.repeat([0, 1, 2, 3, 4], [70, 64, SMALLEST, SMALLEST - 1, 3])
    marginals[np.arange(142), likeliest] = 0.6
    # the node of the group of one linked node (two more have no edge) goes to the other small one, which is large then
    marginals[likeliest == 4, 3] = 0.4
    marginals[likeliest == 3, 0] = marginals[likeliest == 2, 0] = 0.4
    found = _labels(links, state_of(links, marginals), [])
    assert np.array_equal(found, np.where(likeliest == 4, 3, likeliest))
    marginals[likeliest == 4] = marginals[likeliest == 4][:, [0, 1, 2, 4, 3]]
    marginals[:2] = [[0.7, 0.3, 0, 0, 0], [0.1, 0.9, 0, 0, 0]]
    together = _labels(links, state_of(links, marginals), [[0, 1, 2]])
    assert together[:3].tolist() == [0, 0, 0]  # 0.7 + 0.1 + 0.6 against 0.3 + 0.9
    apart = _labels(links, state_of(links, marginals), [])
    assert apart[:3].tolist() == [0, 1, 0]
    assert marginals[0].tolist() == [0.7, 0.3, 0, 0, 0]  # what was given is as it was


def test_spectrum_is_that_of_the_bethe_hessian(links: Links) -> None:
    spectrum = _Spectrum(links)
    nodes = np.flatnonzero(links.linked)
    A, d = links.adjacency.toarray()[np.ix_(nodes, nodes)], links.degree[nodes]
    r = np.sqrt((d**2).sum() / d.sum() - 1)
    values, vectors = np.linalg.eigh((r**2 - 1) * np.eye(nodes.size) - r * A + np.diag(d))
    assert spectrum._values == pytest.approx(values[:8], abs=0.02)
    assert spectrum.n_detectable == (values < 0).sum() == 3
    assert spectrum.most_groups == min(MAX_GROUPS, 140 // SMALLEST)
    assert abs(vectors[:, :3].T @ spectrum._vectors[:, :3]) == pytest.approx(np.eye(3), abs=0.02)
    start = spectrum.start(3)
    assert len(set(zip(start[:140], GROUPS))) == 3
    assert start[140:].tolist() == [0, 0]
    assert len(np.unique(spectrum.start(12)[:140])) == 12  # more vectors than were there at first


def test_the_most_groups_that_are_tried_are_bounded() -> None:
    rng = np.random.default_rng(0)
    for n, most in (
        (SMALLEST * MAX_GROUPS + 60, MAX_GROUPS),
        (2 * SMALLEST - 1, 2),
        (3 * SMALLEST, 3),
        (4 * SMALLEST - 1, 3),
    ):
        upper = np.triu(rng.random((n, n)) < 0.9, 1)
        assert _Spectrum(Links(csr_array((upper + upper.T).astype(float)))).most_groups == most


def test_groups_by_the_dozen_are_all_detectable() -> None:
    cliques = np.kron(np.eye(12), np.ones((10, 10))) - np.eye(120)
    spectrum = _Spectrum(Links(csr_array(cliques)))
    assert spectrum.n_detectable == 12  # more than the eight that are looked at first
    assert len(np.unique(spectrum.start(12))) == 12


def test_what_speaks_for_a_link_is_shared_by_certainty_and_evidence(links: Links) -> None:
    spectrum, other = _Spectrum(links), np.arange(142) % 3
    clear = np.append(GROUPS, [0, 0])
    kept = [
        (labels[links.source] == labels[links.target]).astype(float)
        for labels in (clear, other, spectrum.start(3), spectrum.start(5))
    ]
    unsure = np.full((142, 3), 0.2)
    unsure[np.arange(142), clear] = 0.6
    uniform = np.full((142, 2), 0.5)
    first, second = state_of(links, unsure), state_of(links, uniform, nats=8.0, error=1.0)
    runs = [clear, other, np.where(other == 2, np.arange(142) % 5, other)]
    runs[2][:5] = np.arange(5)
    of_runs = np.mean([*kept[:2], (runs[2][links.source] == runs[2][links.target]).astype(float)], axis=0)
    others = 0.5 * of_runs + 0.5 * np.mean(kept[2:], axis=0)
    assert _share_together(links, spectrum, runs, []) == pytest.approx(others)
    inner = np.where(kept[0] > 0, 0.36 + 2 * 0.04, 2 * 0.12 + 0.04)
    believed = (inner + np.exp(-1) * 0.5) / (1 + np.exp(-1))
    assert _share_together(links, spectrum, runs, [second, first]) == pytest.approx(0.4 * others + 0.6 * believed)


@pytest.mark.parametrize(("share", "shown"), [(0.99, False), (1.01, True)])
def test_a_spectrum_shows_groups_below_the_level_of_one_more_rewired_network(
    monkeypatch: pytest.MonkeyPatch, share: float, shown: bool
) -> None:
    cliques = np.kron(np.eye(2), np.ones((10, 10))) - np.eye(20)
    spectrum = _Spectrum(Links(csr_array(cliques)))
    sums = np.random.default_rng(0).normal(-5.0, 0.3, _propagation.N_REWIRED)
    drawn = iter(sums)
    # the lowest value does not count, the others add up
    monkeypatch.setattr(_propagation, "_lowest", lambda *_: (np.array([-99.0, next(drawn) - 1.0, 1.0]), None))
    spread = sums.std(ddof=1) * np.sqrt(1 + 1 / sums.size)
    level = student.ppf(_propagation.LEVEL, sums.size - 1)
    spectrum._values, spectrum.n_detectable = np.array([-7.0, sums.mean() + share * level * spread, 0.0]), 1
    assert spectrum.shows_groups() is shown


def test_two_negative_eigenvalues_show_groups_without_a_comparison(monkeypatch: pytest.MonkeyPatch) -> None:
    spectrum = _Spectrum(Links(csr_array(np.kron(np.eye(2), np.ones((10, 10))) - np.eye(20))))
    assert spectrum.n_detectable == 2
    monkeypatch.setattr(_propagation, "rewired", None)
    assert spectrum.shows_groups()


def test_a_few_heavy_links_do_not_show_groups() -> None:
    rng = np.random.default_rng(5)
    upper = np.triu(rng.random((100, 100)) < 0.1, 1) * rng.lognormal(0, 1.0, (100, 100))
    spectrum = _Spectrum(Links(csr_array(upper + upper.T)))
    assert spectrum.n_detectable >= 2
    assert not spectrum.shows_groups()


def test_weights_that_differ_do_not_hide_groups_of_the_links() -> None:
    rng = np.random.default_rng(1)
    truth = np.repeat([0, 1], 60)
    chance = np.where(truth[:, None] == truth, 0.15, 0.03)
    upper = np.triu(rng.random(chance.shape) < chance, 1) * rng.lognormal(0, 0.3, chance.shape)
    assert _Spectrum(Links(csr_array(upper + upper.T))).shows_groups()


def test_groups_without_a_link_between_them_keep_a_rate_for_it() -> None:
    cliques = Links(csr_array(np.kron(np.eye(2), np.ones((10, 10))) - np.eye(20)))
    state = run(cliques, 2, np.repeat([0, 1], 10))
    assert np.isfinite(state.nats)
    assert 0 < state.rates[1] < 0.02
    assert state.marginals.max(axis=1) == pytest.approx(np.ones(20), abs=1e-3)


@pytest.mark.parametrize("edges", ["01 12 23 30 24 34", "01 12 02 03 34 04"])
def test_networks_of_five_nodes_are_looked_at_too(edges: str) -> None:
    """Rewired networks of this size lose some of their links, and with them nodes."""
    graph = read_graph([(first, second) for first, second in edges.split()])
    assert len(bc.ConsensusCommunities(random_state=0).fit(graph).communities_) == 1
    assert _propagation.propagate(Links(graph.adjacency), []) == ([], None)
