"""The automatic quorum of communities, and the likelihood behind it."""

from __future__ import annotations

import numpy as np
import pytest

import biconsensus as bc
from biconsensus.communities._quorum import likeliest_quorum, likelihood
from biconsensus.graphs import read_graph
from biconsensus.graphs._lfr import lfr_network
from biconsensus.sources.networks import get_algorithm


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
        return float((A * np.log(rates) - rates).sum())

    best = log_likelihood((A * same).sum() / expected[same].sum(), (A * ~same).sum() / expected[~same].sum())
    assert likelihood(graph, labels) * k.sum() == pytest.approx(best - log_likelihood(1.0, 1.0))


def test_nothing_is_likelier_than_no_communities_without_links() -> None:
    graph = read_graph(np.zeros((4, 4)))
    assert likelihood(graph, np.array([0, 0, 1, -1])) == 0


def test_nodes_in_no_community_stand_alone() -> None:
    graph = read_graph([(0, 1), (1, 2), (2, 3), (3, 0)])
    assert likelihood(graph, np.array([0, 0, -1, -1])) == pytest.approx(likelihood(graph, np.array([0, 0, 1, 2])))


def test_likeliest_place_is_found_on_a_noisy_network() -> None:
    graph, truth = lfr_network(400, 0.45, 15, max_degree=40, communities=(15, 50), random_state=1)
    runs = [get_algorithm("louvain")(graph, seed) for seed in range(12)]
    pool = bc.Pool.from_labels(runs).clean()
    quorum = likeliest_quorum(graph, pool, 7, 4)
    assert 0 < quorum < 1
    model = bc.ConsensusCommunities("louvain", n_runs=12, quorum="auto", unassigned="nearest", random_state=0).fit(
        graph
    )
    singles = [bc.metrics.ari(truth, run) for run in runs]
    assert bc.metrics.ari(truth, model.labels_) >= np.median(singles)
