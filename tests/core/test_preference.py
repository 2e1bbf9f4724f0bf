"""PreferenceMatrix against dense formulas."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import dense_gain, label_tables

import biconsensus as bc


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
