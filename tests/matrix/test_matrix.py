"""PreferenceMatrix against dense formulas."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import dense_gain, dense_parts, label_tables

import biconsensus as bc
from biconsensus.matrix import _matrix as preference


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
    assert problem.view is not None


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
