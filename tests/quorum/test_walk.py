"""The random walk between rows and candidates against dense formulas."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris

import biconsensus as bc
from biconsensus.matrix._matrix import PreferenceMatrix
from biconsensus.quorum._score import leading_vectors, retention, walk_coordinates, walk_groups
from tests.helpers.quorum_pools import grouping, runs


def test_retention_is_the_normalised_association() -> None:
    table = runs(load_iris().data, 2, 6, n_runs=5)
    pool = bc.Pool.from_labels(table)
    problem = PreferenceMatrix.from_pool(pool)
    A = pool.to_matrix().toarray()
    walk = A @ np.diag(1.0 / A.sum(axis=0)) @ A.T
    labels = table[:, 1]
    expected = sum(walk[np.ix_(labels == t, labels == t)].sum() / walk[labels == t].sum() for t in np.unique(labels))
    assert retention(problem, grouping(pool, labels)) == pytest.approx(expected)
    n_groups = np.unique(labels).size
    own = walk_groups(problem.entries, problem.counts, problem.weights, n_groups)
    assert retention(problem, own) >= expected - 0.05


def test_more_separate_parts_than_groups_wanted() -> None:
    """Where many eigenvalues are one, the walk still gives the number asked for."""
    truth = np.repeat(np.arange(25), 8)
    found = bc.find_consensus([truth] * 6, n_groups=2)
    assert len(found) == 2
    assert leading_vectors(np.eye(6), 2).shape == (6, 2)


def test_walk_coordinates_are_eigenvectors_of_the_bipartite_walk() -> None:
    table = runs(load_iris().data, 2, 8, n_runs=8)
    pool = bc.Pool.from_labels(table)
    A = pool.to_matrix().toarray()
    W = A / np.sqrt(A.sum(axis=1, keepdims=True) * A.sum(axis=0))
    left, values, _ = np.linalg.svd(W, full_matrices=False)
    expected = left[:, :3] * values[:3] / np.sqrt(A.sum(axis=1, keepdims=True))
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    found = walk_coordinates(pool.rows, pool.counts, pool.weights, 3)[pool.inverse]
    # eigenvectors have no sign and the axes no order, so compare angles between rows
    assert found @ found.T == pytest.approx(expected @ expected.T, abs=1e-8)


def test_rows_that_no_weighted_column_holds_are_in_no_group() -> None:
    pool = bc.Pool.from_labels([[0, 0, 1, 1, -1], [-1, -1, -1, -1, 0]])
    weights = np.where(pool.source_of == 0, 1.0, 0.0)
    labels = walk_groups(pool.rows, pool.counts, weights, 2)[pool.inverse]
    assert labels[4] == -1
    assert labels[0] == labels[1] != labels[2] == labels[3]
    assert min(labels[:4]) == 0
