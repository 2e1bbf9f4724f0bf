"""A given number of groups: exact, deterministic, and as good as the tree and the walk it is made of."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

import biconsensus as bc
from biconsensus.quorum import _given_number
from biconsensus.quorum._given_number import _moved, _similarity, group_rows
from biconsensus.quorum._score import LEAST_BITS, Overlaps, PathScorer
from tests.helpers.quorum_pools import problem_of, runs


def test_nested_groups_are_joined_along_the_nesting() -> None:
    fine = np.repeat(np.arange(8), 10)
    table = [fine] * 4 + [fine // 2] * 3 + [fine // 4] * 2
    for n_groups, expected in ((8, fine), (4, fine // 2), (2, fine // 4), (1, fine * 0)):
        assert adjusted_rand_score(expected, bc.find_consensus(table, n_groups=n_groups).labels) == 1.0


def test_surprise_is_the_bits_of_a_column_among_what_its_source_saw() -> None:
    pool = bc.Pool.from_labels([[0, 0, 0, 0, 1, 1, 2, 2], [0] * 8, [0, 0, 1, 1, -2, -2, -2, -2]], missing=-2)
    problem = bc.PreferenceMatrix.from_pool(pool)
    bits = Overlaps.of(problem).surprise()
    size, found = problem.sizes.astype(int), {}
    for column in range(problem.shape[1]):
        found.setdefault(int(size[column]), set()).add(float(bits[column].round(6)))
    # halves and quarters of all; all; and halves of the four that the third source saw
    assert found == {4: {1.0}, 2: {2.0, 1.0}, 8: {LEAST_BITS}}


def test_unequal_groups_are_not_balanced() -> None:
    X, truth = make_blobs([300, 20, 20], centers=[[0, 0], [7, 0], [0, 7]], cluster_std=1.0, random_state=0)
    table = runs(X, 8, 16, n_runs=20)
    assert adjusted_rand_score(truth, bc.find_consensus(table, n_groups=3).labels) > 0.95


def test_rows_in_no_voting_candidate_are_in_no_group() -> None:
    problem = problem_of([0, 0, 0, 1, 1, 1, -1], [0, 0, 1, 2, 2, 2, -1])
    labels = group_rows(problem, 2, np.arange(problem.shape[0]))
    assert labels is not None
    empty = np.diff(problem.entries.indptr) == 0
    assert (labels[empty] == -1).all()
    assert (labels[~empty] >= 0).all()


def test_fewer_leaves_than_groups_is_no_answer() -> None:
    assert group_rows(problem_of([0, 0, 1, 1]), 3, np.arange(2)) is None


def test_fine_groups_are_the_leaves_where_rows_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    X, truth = make_blobs(300, centers=5, cluster_std=0.5, random_state=4)
    problem = PathScorer.of(problem_of(*runs(X, 5, 20, n_runs=15).T)).for_given_number()
    rows = np.arange(problem.shape[0])
    pool = bc.Pool.from_labels(runs(X, 5, 20, n_runs=15))
    whole = group_rows(problem, 5, rows)
    fine = group_rows(problem, 20, rows)
    monkeypatch.setattr(_given_number, "MAX_LEAVES", 10)
    assert fine is not None
    coarse = group_rows(problem, 5, fine)
    assert whole is not None
    assert coarse is not None
    assert adjusted_rand_score(truth, whole[pool.inverse]) > 0.9
    assert adjusted_rand_score(whole[pool.inverse], coarse[pool.inverse]) > 0.9
    # fewer fine groups than wanted: the walk alone
    few = group_rows(problem, 5, np.zeros(problem.shape[0], int))
    assert few is not None
    assert np.unique(few).size == 5


def test_rows_move_to_the_group_they_are_with_most_and_no_group_runs_empty() -> None:
    truth = np.repeat([0, 1], 6)
    problem = problem_of(*[truth] * 4, np.arange(12) % 3)
    rows = np.array([int(problem.entries[[i]].indices[0]) for i in range(problem.shape[0])])
    side = np.unique(rows, return_inverse=True)[1]
    wrong = side.copy()
    wrong[0] = 1 - wrong[0]
    assert _moved(problem, wrong).tolist() == side.tolist()
    same = problem_of([0, 0, 0, 0], [0, 0, 0, 1])
    assert np.unique(_moved(same, np.array([0, 1]))).size == 2


def test_without_eigenvectors_the_tree_alone_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_given_number, "MAX_WALK", 1)
    truth = np.repeat([0, 1, 2], 10)
    assert adjusted_rand_score(truth, bc.find_consensus([truth] * 4 + [truth % 2], n_groups=3).labels) == 1.0


def test_likeness_of_leaves_is_their_co_occurrence_times_a_cosine() -> None:
    rng = np.random.default_rng(3)
    problem = problem_of(*rng.integers(0, 4, (6, 40)))
    leaves = np.arange(problem.shape[0]) // 2
    found = _similarity(problem, leaves, 3)
    size = np.bincount(leaves, problem.counts)
    held = problem.held_by_columns(leaves, size.size) / size
    together = held.T @ (problem.weights[:, None] * held)
    assert np.diag(found) == pytest.approx(np.diag(together))
    assert (found <= together + 1e-9).all()
    assert (found >= 0).all()


def test_of_two_that_are_a_group_none_leaves_for_those_it_is_with_less_often() -> None:
    # the first two are together three times; the first is with the last four twice
    table = [[0, 0, 1, 1, 1, 1]] * 3 + [[1, 2, 1, 1, 1, 1]] * 2
    pool = bc.Pool.from_labels([np.array(one) for one in table])
    labels = np.empty(pool.rows.shape[0], np.int64)
    labels[pool.inverse] = [0, 0, 1, 1, 1, 1]
    assert np.array_equal(_moved(problem_of(*table), labels), labels)
