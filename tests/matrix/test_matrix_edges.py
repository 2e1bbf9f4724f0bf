"""Norms of preference matrices, some rows at a time or all at once, and the counts of their rows."""

import numpy as np
import pytest

import biconsensus as bc
from biconsensus.matrix import _matrix as preference
from biconsensus.matrix._matrix import PreferenceMatrix

TABLE = np.array([[0, 0, 1], [0, 1, 1], [1, 1, 0], [1, 0, 1], [0, 0, 1], [2, 1, -1], [2, 2, 2]])


@pytest.mark.parametrize("rows", [1, 2, 3, 1 << 16])
@pytest.mark.parametrize("weights", [[1, 1, 1], [3, 3, 3], [1, 2, 0.5]])
def test_the_norm_is_the_sum_of_all_weighted_memberships(monkeypatch, weights, rows):
    monkeypatch.setattr(preference, "ROWS", rows)
    pool = bc.Pool.from_labels(TABLE, weights=weights)
    expected = (pool.to_matrix().toarray() * pool.weights).sum()
    assert PreferenceMatrix.from_pool(pool).norm == pytest.approx(expected, rel=1e-15)
    real = bc.Pool.from_matrix(pool.to_matrix().toarray() * 0.25, weights=pool.weights)
    assert PreferenceMatrix.from_pool(real).norm == pytest.approx(0.25 * expected, rel=1e-15)


def test_the_norm_of_more_rows_than_columns_some_at_a_time(monkeypatch):
    monkeypatch.setattr(preference, "ROWS", 2)
    problem = PreferenceMatrix.from_pool(bc.Pool.from_labels(np.arange(7)[:, None] // [2, 4], weights=[1, 3]))
    assert problem.shape == (4, 6)
    tall = PreferenceMatrix.from_pool(bc.Pool.from_matrix(np.arange(1, 8)[:, None] * [0.5, 0.25], weights=[1, 3]))
    assert tall.shape == (7, 2)
    assert tall.norm == pytest.approx(28 * (0.5 + 0.75))


def test_the_norm_of_one_column_and_of_equal_real_values():
    assert PreferenceMatrix.from_pool(bc.Pool.from_groups([range(3)], n_elements=5, weights=[2.0])).norm == 6.0
    assert PreferenceMatrix.from_pool(bc.Pool.from_matrix([[0.5], [0.25]], weights=[2.0])).norm == 1.5


def test_rows_count_the_elements_that_share_them():
    problem = PreferenceMatrix.from_pool(bc.Pool.from_labels(TABLE))
    assert problem.counts.tolist() == [2, 1, 1, 1, 1, 1]
    assert problem.n_elements(np.ones(6, bool)) == 7


def test_rows_of_a_pool_that_only_counts_its_elements():
    counted = pytest.importorskip("biconsensus.engines._counted")
    from biconsensus.engines._local import compress_stream

    found, rows = compress_stream([TABLE])
    pool = counted.counted_pool(found)
    problem = PreferenceMatrix.from_pool(pool)
    assert problem.counts.tolist() == np.bincount(rows).tolist() == [2, 1, 1, 1, 1, 1]


def test_columns_that_begin_alike_are_told_apart_by_what_follows(monkeypatch):
    monkeypatch.setattr(preference, "PROBE", 2)
    groups = [[0, 1, 4], [0, 1, 5], [0, 1, 4], [0, 1], [2], [3]]
    problem = PreferenceMatrix.from_pool(bc.Pool.from_groups(groups, n_elements=6))
    assert problem.members.tolist() == [0, 1, 0, 2, 3, 4]
    assert problem.weights.tolist() == [2, 1, 1, 1, 1]
