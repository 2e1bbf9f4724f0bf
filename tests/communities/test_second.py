"""The second round, on edges weighed by the pool."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

import biconsensus as bc
from biconsensus.communities._second import weighed_by_pool
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


def test_second_round_helps_where_communities_mix():
    graph, truth = lfr_network(400, 0.52, 13, max_degree=40, communities=(15, 40), random_state=3)
    first, both = (
        bc.ConsensusCommunities("louvain", random_state=0, second_round=second).fit(graph) for second in (False, True)
    )
    assert len(first.results_) == 10
    assert len(both.results_) == 13
    assert len(bc.ConsensusCommunities("louvain", random_state=0, second_round=6).fit(graph).results_) == 16
    assert bc.metrics.ari(truth, both.labels_) > bc.metrics.ari(truth, first.labels_)
