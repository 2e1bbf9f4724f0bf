"""PreferenceMatrix against dense formulas."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import biconsensus as bc
from biconsensus.matrix import _matrix as preference
from biconsensus.matrix._matrix import PreferenceMatrix
from tests.helpers.strategies import dense_gain, dense_parts, label_tables


@given(label_tables(missing=True), st.randoms(use_true_random=False), st.sampled_from([0.2, 0.5, 0.7]))
def test_gain_is_that_of_the_definition(table, random, quorum):
    pool = bc.Pool.from_labels(table, weights=[random.uniform(0.1, 2) for _ in range(table.shape[1])], missing=-2)
    problem = bc.PreferenceMatrix.from_pool(pool)
    rows = np.array([random.random() < 0.5 for _ in range(problem.shape[0])])
    columns = np.array([random.random() < 0.5 for _ in range(problem.shape[1])])
    expected = dense_gain(pool, rows[pool.inverse], columns[problem.members], quorum)
    assert problem.gain(rows, columns, Fraction(str(quorum))) == pytest.approx(expected, abs=1e-9)
    seen = problem.seen(rows, columns)
    held = problem.entries[rows][:, columns].toarray()
    again = (problem.counts[rows, None] * seen * problem.weights[columns] * (held - quorum)).sum()
    assert again == pytest.approx(expected, abs=1e-9)


def test_identical_candidates_are_one_column_that_knows_its_sources():
    problem = bc.PreferenceMatrix.from_pool(bc.Pool.from_labels([[0, 0, 1], [7, 7, 8], [0, 1, 1]], weights=[1, 2, 4]))
    assert problem.members.tolist() == [0, 1, 0, 1, 2, 3]
    assert problem.weights.tolist() == [3, 3, 4, 4]
    assert problem.n_sources(np.array([True, True, False, False])) == 2
    assert problem.n_sources(np.array([True, False, True, False])) == 3


def test_candidates_with_different_views_stay_apart():
    pool = bc.Pool.from_labels([[0, 0, 1, None], [0, 0, 1, -1]])
    problem = bc.PreferenceMatrix.from_pool(pool)
    assert problem.shape[1] == 4
    assert problem.mask is not None


def test_norm_and_sizes_count_multiplicities():
    pool = bc.Pool.from_labels([[0, 0, 0, 1], [0, 0, 0, -1]], weights=[2, 1])
    problem = bc.PreferenceMatrix.from_pool(pool)
    assert problem.norm == 4 * 2 + 3 * 1
    assert problem.n_elements(np.array([True, False])) == 3


@given(label_tables(max_sources=5, max_groups=3, missing=True), st.sampled_from([1, 3, 4096]))
def test_candidates_are_merged_where_members_and_views_are_equal_and_nowhere_else(table, probe):
    table = np.hstack([table, table[:, ::-1] + (table[:, ::-1] >= 0)])
    pool = bc.Pool.from_labels(table, missing=-2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(preference, "PROBE", probe)
        problem = bc.PreferenceMatrix.from_pool(pool)
    B, M, _ = dense_parts(pool)
    seen = {}
    expected = [seen.setdefault((B[:, j].tobytes(), M[:, j].tobytes()), len(seen)) for j in range(pool.shape[1])]
    assert problem.members.tolist() == expected
    assert problem.weights.tolist() == np.bincount(expected).tolist()
    held = problem.entries.toarray()[pool.inverse]
    assert np.array_equal(held[:, problem.members], B)
    mask = problem.seen(np.ones(problem.shape[0], bool), np.ones(problem.shape[1], bool))
    assert np.array_equal(mask[pool.inverse][:, problem.members], M)
    for column in range(problem.shape[1]):
        behind = np.unique(pool.source_of[problem.members == column]).size
        assert problem.n_sources(np.arange(problem.shape[1]) == column) == behind


def test_weights_may_replace_those_of_the_pool():
    pool = bc.Pool.from_labels([[0, 0, 1], [0, 0, 1]], weights=[1, 2])
    assert bc.PreferenceMatrix.from_pool(pool).weights.tolist() == [3, 3]
    assert bc.PreferenceMatrix.from_pool(pool, np.array([1.0, 5, 1, 7])).weights.tolist() == [2, 12]
    assert bc.PreferenceMatrix.from_pool(pool).binary
    assert not bc.PreferenceMatrix.from_pool(bc.Pool.from_matrix([[0.5, 1.0]])).binary


TABLE = np.array([[0, 0, 1], [0, 1, 1], [1, 1, 0], [1, 0, 1], [0, 0, 1], [2, 1, -1], [2, 2, 2]])


@pytest.mark.parametrize("weights", [[1, 1, 1], [3, 3, 3], [1, 2, 0.5]])
def test_the_norm_is_the_sum_of_all_weighted_memberships(weights):
    pool = bc.Pool.from_labels(TABLE, weights=weights)
    expected = (pool.to_matrix().toarray() * pool.weights).sum()
    assert PreferenceMatrix.from_pool(pool).norm == pytest.approx(expected, rel=1e-15)
    real = bc.Pool.from_matrix(pool.to_matrix().toarray() * 0.25, weights=pool.weights)
    assert PreferenceMatrix.from_pool(real).norm == pytest.approx(0.25 * expected, rel=1e-15)


def test_other_weights_keep_what_does_not_depend_on_them():
    problem = PreferenceMatrix.from_pool(bc.Pool.from_labels(TABLE))
    sizes = problem.sizes
    other = problem.with_weights(2 * problem.weights)
    assert other.sizes is sizes
    assert other.norm == 2 * problem.norm


def test_the_norm_of_more_rows_than_columns():
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


@pytest.mark.parametrize("padded", [0, 2])
def test_what_columns_hold_is_counted_again_only_for_rows_that_moved(monkeypatch, padded):
    monkeypatch.setattr(preference, "PADDED", padded)
    rng = np.random.default_rng(1)
    problem = PreferenceMatrix.from_pool(bc.Pool.from_labels(rng.integers(0, 5, (200, 6))))
    dense = problem.entries.toarray() * problem.counts[:, None]
    counted, added = [], []
    count_all, add_rows = PreferenceMatrix._counted, PreferenceMatrix._add_rows

    def count(matrix, rows, n_groups):
        counted.append(rows.size)
        return count_all(matrix, rows, n_groups)

    def add(matrix, table, moved, groups, sign):
        added.append(moved.size)
        add_rows(matrix, table, moved, groups, sign)

    monkeypatch.setattr(PreferenceMatrix, "_counted", count)
    monkeypatch.setattr(PreferenceMatrix, "_add_rows", add)
    rows = rng.integers(-1, 4, problem.shape[0])
    for _ in range(5):
        rows = rows.copy()
        rows[rng.integers(0, rows.size, 10)] = rng.integers(-1, 4, 10)
        held = problem.held_by_columns(rows, 4)
        assert np.array_equal(held, np.stack([dense[rows == t].sum(axis=0) for t in range(4)], axis=1))
        assert problem.held_by_columns(rows.copy(), 4) is held
        columns = rng.integers(-1, 4, problem.shape[1])
        columns[:4] = np.arange(4)
        gains, fresh = (
            matrix.group_gains(rows, columns, Fraction(1, 3))
            for matrix in (problem, problem.with_weights(problem.weights))
        )
        assert np.array_equal(gains, fresh)
    assert counted == [problem.shape[0]]
    assert max(added) <= 10
    # groups with other numbers, one of them gone and one new
    other = np.array([3, 5, 0, 2, -1])[rows]
    other[50:53] = 1
    held = problem.held_by_columns(other, 6)
    assert np.array_equal(held, np.stack([dense[other == t].sum(axis=0) for t in range(6)], axis=1))
    assert counted == [problem.shape[0]]


def test_some_rows_and_the_rows_that_any_of_some_columns_holds():
    table = np.array([[0, 0], [0, 1], [1, 1], [2, 2]])
    problem = PreferenceMatrix.from_pool(bc.Pool.from_labels(table))
    assert problem.rows_with_any(np.array([True, False, False, False, False, False])).tolist() == [
        True,
        True,
        False,
        False,
    ]
    part = problem.some_rows(np.array([3, 1]), np.array([5, 7]))
    assert np.array_equal(part.entries.toarray(), problem.entries.toarray()[[3, 1]])
    assert part.counts.tolist() == [5, 7]
    assert problem.some_rows(np.array([2])).counts.tolist() == [1]


@pytest.mark.parametrize("kept", [0, 10**6])
def test_columns_of_rows_are_those_of_the_entries_filled_up_to_one_length(monkeypatch, kept):
    monkeypatch.setattr(preference, "KEPT", kept)
    rng = np.random.default_rng(3)
    for table in (rng.integers(0, 4, (40, 6)), rng.integers(-1, 4, (40, 6))):
        problem = PreferenceMatrix.from_pool(bc.Pool.from_labels(table))
        n_rows, n_columns = problem.shape
        for part in (slice(None), slice(5, 9), np.array([7, 2, 30])):
            lists = problem.columns_of_rows(part)
            assert lists.shape[0] == problem.row_length
            for row, columns in zip(np.arange(n_rows)[part], lists.T, strict=True):
                own = np.flatnonzero(problem.entries[[row]].toarray().ravel())
                assert columns[columns < n_columns].tolist() == own.tolist()
                assert (columns[own.size :] == n_columns).all()


def test_rows_of_very_different_lengths_are_not_filled_up():
    problem = PreferenceMatrix.from_pool(
        bc.Pool.from_groups([[k] for k in range(30)] + [[0, k] for k in range(1, 30)], 30)
    )
    assert problem.row_length == 0
