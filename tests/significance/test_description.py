"""The description of a network by groups: what is counted, and what merging and staying are worth, by definition."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from biconsensus.matrix._groups import in_groups
from biconsensus.significance import _description
from biconsensus.significance._description import (
    GroupLinks,
    Links,
    compact,
    description_gain,
    groups_cost,
    node_certainty,
    one_rate,
    refine,
    to_groups,
)


@pytest.fixture(scope="module")
def weighted() -> tuple[Links, np.ndarray]:
    """A network with unequal weights, one node without an edge, and four groups that are not in it."""
    rng = np.random.default_rng(2)
    upper = np.triu(rng.random((30, 30)) < 0.2, 1) * rng.uniform(0.5, 3.0, (30, 30))
    upper[:, 7] = upper[7] = 0.0
    return Links(csr_array(upper + upper.T)), np.append(np.arange(4), rng.integers(0, 4, 26))


def test_tally_counts_nodes_degrees_and_inner_weights(weighted: tuple[Links, np.ndarray]) -> None:
    links, labels = weighted
    dense = links.adjacency.toarray()
    number, degree, inner = links.tally(labels)
    for t in range(4):
        own = labels == t
        assert number[t] == (dense[own].sum(axis=1) > 0).sum()
        assert degree[t] == pytest.approx(dense[own].sum())
        assert inner[t] == pytest.approx(dense[np.ix_(own, own)].sum() / 2)


def test_tally_of_nodes_that_stand_for_several_is_that_of_the_several(weighted: tuple[Links, np.ndarray]) -> None:
    links, labels = weighted
    halves = 2 * labels + (np.arange(labels.size) % 2)
    member = in_groups(halves, np.ones(halves.size))
    merged = Links(csr_array(member.T @ links.adjacency @ member))  # links inside are on the diagonal, twice
    scale = links.total / merged.total
    _, degree, inner = merged.tally(np.arange(8) // 2)
    assert degree * scale == pytest.approx(links.tally(labels)[1])
    assert inner * scale == pytest.approx(links.tally(labels)[2])


def test_a_merge_gains_what_the_description_of_the_merged_groups_saves(weighted: tuple[Links, np.ndarray]) -> None:
    links, labels = weighted

    def saved(groups: np.ndarray) -> float:
        number, degree, inner = links.tally(groups)
        expected = float(((degree / (2 * links.total)) ** 2).sum())
        return float(one_rate(inner.sum(), expected, links.total)) - groups_cost(number)

    first, second, gains = GroupLinks.of(links, labels).merge_gains(links.total)
    assert len(gains) == 6
    for a, b, gain in zip(first, second, gains):
        merged = np.where(labels == b, a, labels)
        assert gain == pytest.approx(saved(np.unique(merged, return_inverse=True)[1]) - saved(labels))


def test_nodes_are_certain_where_groups_are_clear_and_not_where_they_are_not(
    weighted: tuple[Links, np.ndarray],
) -> None:
    cliques = np.kron(np.eye(2), np.ones((12, 12))) - np.eye(24)
    cliques[0, 12] = cliques[12, 0] = 1.0
    clear = node_certainty(Links(csr_array(cliques)), np.repeat([0, 1], 12))
    assert 0.99 < clear <= 1.0
    assert node_certainty(*weighted) < 0.8


def test_certainty_is_the_probability_of_the_likeliest_group(weighted: tuple[Links, np.ndarray]) -> None:
    links, labels = weighted
    dense, (inside, between) = links.adjacency.toarray(), links.rates(labels)
    number, degree, _ = links.tally(labels)
    likeliest = []
    for i in np.flatnonzero(links.linked):
        odds = []
        for t in np.unique(np.append(labels[dense[i] > 0], labels[i])):
            own = t == labels[i]
            chance = (inside - between) / (2 * links.total) * links.degree[i] * (degree[t] - own * links.degree[i])
            size = number[t] + (not own)
            odds.append(np.log(inside / between) * dense[i, labels == t].sum() - chance + np.log(size))
        likeliest.append(np.exp(max(odds)) / np.exp(odds).sum())
    assert node_certainty(links, labels) == pytest.approx(np.mean(likeliest), rel=1e-6)


def test_a_network_without_links_has_none() -> None:
    links = Links(csr_array((3, 3)))
    assert links.total == 0
    assert links.n_linked == 0


def test_rates_are_links_over_those_of_chance(weighted: tuple[Links, np.ndarray]) -> None:
    links, labels = weighted
    dense, degree = links.adjacency.toarray(), links.degree
    same = labels[:, None] == labels
    chance = np.outer(degree, degree) / degree.sum()
    expected = dense[same].sum() / chance[same].sum(), dense[~same].sum() / chance[~same].sum()
    assert links.rates(labels) == pytest.approx(expected)


def test_the_two_sides_of_a_bipartite_network_are_no_communities() -> None:
    sides = np.repeat([0, 1], 12)
    across = csr_array((sides[:, None] != sides).astype(float))
    inside = csr_array(((sides[:, None] == sides) & ~np.eye(24, dtype=bool)).astype(float))
    assert description_gain(Links(across), sides) < 0 < description_gain(Links(inside), sides)


def test_a_round_that_moves_hardly_a_node_is_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    cliques = np.kron(np.eye(4), np.ones((12, 12))) - np.eye(48)
    cliques[0, 12] = cliques[12, 0] = 1.0
    rounds: list[int] = []
    moved = _description.move_nodes
    monkeypatch.setattr(_description, "move_nodes", lambda *given: (rounds.append(1), moved(*given))[1])
    truth = np.repeat(np.arange(4), 12)
    started = np.where(np.arange(48) % 12 == 5, (truth + 1) % 4, truth)  # one node of each is elsewhere
    monkeypatch.setattr(_description, "FEW", 0.1)
    assert refine(Links(csr_array(cliques)), started, np.random.default_rng(0))[0].tolist() == truth.tolist()
    assert len(rounds) == 1


def test_links_to_groups_are_summed_exactly_as_by_a_product() -> None:
    rng = np.random.default_rng(0)
    weights = csr_array(np.where(rng.random((60, 60)) < 0.5, rng.lognormal(size=(60, 60)), 0.0))
    labels = rng.permutation(np.arange(60) % 7)
    product = weights @ in_groups(labels, np.ones(60), 7)
    assert np.array_equal(to_groups(weights, labels, 7).toarray(), product.toarray())


@pytest.mark.parametrize("top", [3, 40, 10**12])
def test_compact_numbers_groups_in_their_order_however_large_the_numbers(top: int) -> None:
    rng = np.random.default_rng(0)
    labels = rng.integers(-1, top, 40)
    expected = np.unique(np.maximum(labels, 0), return_inverse=True)[1]
    assert np.array_equal(compact(labels), expected)
    assert compact(labels[:0]).size == 0
