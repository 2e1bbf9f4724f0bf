"""Networks in overlapping chunks."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score

import biconsensus as bc
from biconsensus.communities._chunks import chunks_of
from biconsensus.errors import (
    InputError,
)
from biconsensus.graphs import read_graph
from tests.helpers.planted_networks import planted


def test_chunks_are_stitched():
    graph = nx.planted_partition_graph(8, 40, 0.4, 0.003, seed=1)
    truth = np.repeat(np.arange(8), 40)
    model = bc.ConsensusCommunities("louvain", 3, random_state=0).fit_chunks(graph, n_chunks=4, overlap=0.6)
    assert {r.params["network"] for r in model.results_} == {0, 1, 2, 3}
    assert all(r.labels.size < 320 for r in model.results_)
    assert adjusted_rand_score(truth, model.labels_) > 0.95


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 30), st.integers(1, 6), st.floats(0.1, 2.0), st.integers(0, 10**6))
def test_chunks_cover_every_node_and_overlap(n, n_chunks, overlap, seed):
    graph = read_graph(nx.gnm_random_graph(n, 2 * n, seed=seed))
    n_chunks = min(n, n_chunks)
    chunks = chunks_of(graph, n_chunks, overlap)
    assert len(chunks) == n_chunks
    assert set(np.concatenate(chunks).tolist()) == set(range(n))
    for chunk in chunks:
        assert np.array_equal(chunk, np.unique(chunk))
        assert chunk.size <= np.ceil(n / n_chunks) + round(overlap * np.ceil(n / n_chunks))


def test_chunks_must_overlap_and_fit():
    with pytest.raises(InputError, match="overlap: received 0"):
        bc.ConsensusCommunities().fit_chunks(planted(), 2, overlap=0)
    with pytest.raises(InputError, match="n_chunks: received 100"):
        bc.ConsensusCommunities().fit_chunks(planted(), 100)
