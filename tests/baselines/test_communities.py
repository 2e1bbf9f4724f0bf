from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

import biconsensus as bc
from biconsensus.baselines import get_baseline
from biconsensus.baselines._consensus_network import label_table, share_together, thresholded
from biconsensus.errors import InputError
from biconsensus.graphs._graph import read_graph
from biconsensus.sources.networks import get_algorithm

NAMES = ["campigotto", "iterated_consensus", "fast_consensus"]
TRUTH = np.repeat(np.arange(4), 16)


@pytest.fixture(scope="module")
def network():
    return read_graph(nx.planted_partition_graph(4, 16, 0.6, 0.06, seed=2))


@pytest.fixture(scope="module")
def pool(network):
    return bc.Pool.from_labels([get_algorithm("louvain")(network, seed) for seed in range(12)])


def own(name, network):
    return {"graph": network} if name == "fast_consensus" else {}


@pytest.mark.parametrize("name", NAMES)
def test_finds_planted_communities(name, network, pool):
    labels = get_baseline(name)(pool, random_state=0, **own(name, network))
    assert adjusted_rand_score(TRUTH, labels) > 0.9


@pytest.mark.parametrize("name", NAMES)
def test_identical_runs_come_back(name, network):
    pool = bc.Pool.from_labels([TRUTH] * 5)
    labels = get_baseline(name)(pool, random_state=0, **own(name, network))
    np.testing.assert_array_equal(labels, TRUTH)


@pytest.mark.parametrize("name", ["iterated_consensus", "fast_consensus"])
def test_repeats_with_the_same_seed_and_finds_the_number_itself(name, network, pool):
    first, second = (get_baseline(name)(pool, random_state=3, **own(name, network)) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    with pytest.raises(InputError, match="n_groups: got 4"):
        get_baseline(name)(pool, 4, **own(name, network))


def test_campigotto_threshold_is_inclusive():
    runs = [[0, 0, 1, 1], [0, 0, 1, 1], [0, 1, 1, 1], [0, 1, 1, 1]]
    assert get_baseline("campigotto")(bc.Pool.from_labels(runs), alpha=0.5).tolist() == [0, 0, 0, 0]
    assert get_baseline("campigotto")(bc.Pool.from_labels(runs), alpha=0.51).tolist() == [0, 1, 2, 2]
    with pytest.raises(InputError, match="alpha"):
        get_baseline("campigotto")(bc.Pool.from_labels(runs), alpha=0.0)


def test_fast_consensus_needs_its_network(network, pool):
    with pytest.raises(InputError, match="graph"):
        get_baseline("fast_consensus")(pool)
    with pytest.raises(InputError, match="3 nodes"):
        get_baseline("fast_consensus")(pool, graph=[(0, 1), (1, 2)])


def test_shares_against_the_definition():
    runs = np.array([[0, 0, 1, -1], [0, 0, 0, 1], [2, 2, 2, 2]])
    table = label_table(bc.Pool.from_labels(list(runs)))
    left, right = np.triu_indices(4, 1)
    expected = [np.mean([r[i] == r[j] and r[i] >= 0 for r in runs]) for i, j in zip(left, right)]
    np.testing.assert_allclose(share_together(table, left, right), expected)


def test_threshold_leaves_no_node_alone():
    left, right = np.array([0, 0, 2]), np.array([1, 2, 3])
    np.testing.assert_allclose(thresholded(left, right, np.array([0.9, 0.05, 0.1]), 0.2, 4), [0.9, 0.0, 0.1])
