"""A planted network and its pool; runs of k-means."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.datasets import load_iris

import biconsensus as bc
from biconsensus.graphs import read_graph
from biconsensus.sources.networks import get_algorithm
from tests.helpers.k_means_runs import runs


@pytest.fixture(scope="module")
def network():
    return read_graph(nx.planted_partition_graph(4, 16, 0.6, 0.06, seed=2))


@pytest.fixture(scope="module")
def pool(network):
    return bc.Pool.from_labels([get_algorithm("louvain")(network, seed) for seed in range(12)])


@pytest.fixture(scope="module")
def table() -> NDArray[np.int_]:
    return runs(load_iris().data)
