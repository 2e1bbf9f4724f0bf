"""The consensus network against its definition."""

from __future__ import annotations

import numpy as np

import biconsensus as bc
from biconsensus.baselines._consensus_network import share_together, thresholded
from biconsensus.baselines._pools import label_table


def test_shares_against_the_definition():
    runs = np.array([[0, 0, 1, -1], [0, 0, 0, 1], [2, 2, 2, 2]])
    table = label_table(bc.Pool.from_labels(list(runs)))
    left, right = np.triu_indices(4, 1)
    expected = [np.mean([r[i] == r[j] and r[i] >= 0 for r in runs]) for i, j in zip(left, right)]
    np.testing.assert_allclose(share_together(table, left, right), expected)


def test_threshold_leaves_no_node_alone():
    left, right = np.array([0, 0, 2]), np.array([1, 2, 3])
    np.testing.assert_allclose(thresholded(left, right, np.array([0.9, 0.05, 0.1]), 0.2, 4), [0.9, 0.0, 0.1])
