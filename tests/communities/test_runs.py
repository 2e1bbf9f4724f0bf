"""The second round, on edges weighed by the pool."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

import biconsensus as bc
from biconsensus.communities._runs import weighed_by_pool
from biconsensus.graphs import read_graph
from biconsensus.graphs._lfr import lfr_network


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


def test_second_round_joins_the_pool_where_the_network_decides():
    graph, _ = lfr_network(300, 0.4, 13, max_degree=40, communities=(15, 40), random_state=3)
    given = bc.ConsensusCommunities("louvain", random_state=0, quorum=0.5).fit(graph)
    auto = bc.ConsensusCommunities("louvain", random_state=0).fit(graph)
    assert len(given.results_) == 10
    assert [r.name for r in auto.results_].count("block_model, second round") == 3
