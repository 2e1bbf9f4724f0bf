"""Recall, precision, silhouette and numbers of groups against plain formulas."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.datasets import load_iris
from sklearn.metrics import silhouette_score

import biconsensus as bc
from biconsensus.matrix._matrix import PreferenceMatrix
from biconsensus.quorum._measures import contrast, relation
from tests.helpers.quorum_pools import grouping, runs


def together(table: NDArray[np.int_]) -> NDArray[np.float64]:
    return np.mean([column[:, None] == column for column in table.T], axis=0)


def test_recall_and_precision_are_those_of_pairs() -> None:
    rng = np.random.default_rng(0)
    table = np.column_stack([rng.integers(k, size=30) for k in (2, 3, 4)])
    labels = table[:, 0] * 2 + (table[:, 1] == 0)
    pool = bc.Pool.from_labels(np.column_stack([table, labels]))
    problem = PreferenceMatrix.from_pool(pool)
    found = relation(problem, grouping(pool, labels))
    same = labels[:, None] == labels
    expected = []
    for column in [*table.T, labels]:
        held = column[:, None] == column
        expected.append(
            ((held & same).sum() / held.sum() - same.mean(), (held & same).sum() / same.sum() - held.mean())
        )
    assert found == pytest.approx(tuple(np.mean(expected, axis=0)))


def test_silhouette_is_that_of_the_co_occurrence_distance() -> None:
    table = runs(load_iris().data, 2, 6, n_runs=6)
    pool = bc.Pool.from_labels(table)
    labels = table[:, 0]
    problem = PreferenceMatrix.from_pool(pool)
    distances = 1.0 - together(table)
    expected = silhouette_score(distances, labels, metric="precomputed")
    _, found = contrast(problem, grouping(pool, labels), problem.weights)
    assert found == pytest.approx(expected, abs=1e-9)
