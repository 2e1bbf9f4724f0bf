"""Louvain on the matrix."""

from __future__ import annotations

import pytest
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

import biconsensus as bc
from biconsensus.baselines import get_baseline
from tests.helpers.k_means_runs import runs


def test_louvain_finds_the_blobs_without_their_number() -> None:
    pytest.importorskip("sknetwork")
    data, truth = make_blobs(200, centers=4, cluster_std=0.4, random_state=2)
    labels = get_baseline("louvain_matrix")(bc.Pool.from_labels(runs(data)), random_state=0)
    assert adjusted_rand_score(truth, labels) > 0.8
