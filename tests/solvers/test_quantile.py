"""Weighted quantiles: the vote for real values."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.sparse import csr_array

from biconsensus.solvers._factors import factor_gain
from biconsensus.solvers._quantile import QuantileSolver, quantiles
from tests.helpers.solver_problems import HALF, best_gain, planted, problem_of, solve
from tests.helpers.strategies import examples

QUORUMS = [Fraction(1, 4), Fraction(1, 2), Fraction(29, 100), Fraction(3, 4)]


binary = hnp.arrays(bool, st.tuples(st.integers(2, 6), st.integers(2, 6)))


levels = st.sampled_from(QUORUMS)


def pinball(residual: np.ndarray, quorum: Fraction) -> np.ndarray:
    """(1 - theta) r above zero, -theta r below."""
    return np.where(residual >= 0, (1 - float(quorum)) * residual, -float(quorum) * residual)


def loaded(matrix: np.ndarray, quorum: Fraction, **parts: np.ndarray) -> QuantileSolver:
    solver = QuantileSolver()
    solver.load(problem_of(matrix, **parts), quorum)
    return solver


@given(binary, levels, st.integers(0, 2**32 - 1))
@examples(60)
def test_half_step_on_a_binary_matrix_is_the_vote(matrix: np.ndarray, quorum: Fraction, seed: int) -> None:
    rng = np.random.default_rng(seed)
    m, n = matrix.shape
    counts, unseen, rows = rng.integers(1, 4, m), rng.random((m, n)) < 0.2, rng.random(m) < 0.6
    solver = loaded(matrix, quorum, counts=counts, unseen=unseen)
    joined = solver._column_step(rows.astype(float), np.ones(n, bool))
    held = (counts * rows) @ (matrix & ~unseen)
    asked = (counts * rows) @ ~unseen
    assert joined.tolist() == (held * quorum.denominator > asked * quorum.numerator).astype(float).tolist()


@given(st.integers(0, 2**32 - 1), levels)
@examples(60)
def test_half_steps_are_exact_minima_of_the_pinball_loss(seed: int, quorum: Fraction) -> None:
    rng = np.random.default_rng(seed)
    m, n = rng.integers(2, 7, 2)
    matrix = np.where(rng.random((m, n)) < 0.5, rng.integers(1, 5, (m, n)) / 4, 0.0)
    parts = {"counts": rng.integers(1, 4, m), "weights": rng.random(n) + 0.5, "unseen": rng.random((m, n)) < 0.2}
    solver = loaded(matrix, quorum, **parts)
    seen, values = ~parts["unseen"], np.where(parts["unseen"], 0.0, matrix)
    x = rng.integers(0, 4, m) / 3

    def column_loss(j: int, z: float) -> float:
        return float((parts["counts"] * seen[:, j] * pinball(values[:, j] - x * z, quorum)).sum())

    for j, z in enumerate(solver._column_step(x, np.ones(n, bool))):
        # the loss is piecewise linear in z: its least value is at zero or at a ratio
        corners = [0.0, *(values[x > 0, j] / x[x > 0])]
        assert column_loss(j, z) == pytest.approx(min(column_loss(j, corner) for corner in corners), abs=1e-9)
    z = rng.integers(0, 4, n) / 3

    def row_loss(i: int, value: float) -> float:
        return float((parts["weights"] * seen[i] * pinball(values[i] - value * z, quorum)).sum())

    for i, value in enumerate(solver._row_step(z, np.ones(m, bool))):
        corners = [0.0, *(values[i, z > 0] / z[z > 0])]
        assert row_loss(i, value) == pytest.approx(min(row_loss(i, corner) for corner in corners), abs=1e-9)


@given(st.integers(0, 2**32 - 1), levels)
@examples(40)
def test_gain_is_the_drop_of_the_pinball_loss(seed: int, quorum: Fraction) -> None:
    rng = np.random.default_rng(seed)
    matrix = np.where(rng.random((5, 4)) < 0.6, rng.random((5, 4)), 0.0)
    unseen = rng.random((5, 4)) < 0.2
    problem = problem_of(matrix, counts=rng.integers(1, 4, 5), weights=rng.random(4) + 0.1, unseen=unseen)
    x, z = np.where(rng.random(5) < 0.6, rng.random(5), 0), np.where(rng.random(4) < 0.6, rng.random(4), 0)
    values = problem.entries.toarray()
    drop = pinball(values, quorum) - pinball(values - np.outer(x, z), quorum)
    expected = (problem.counts[:, None] * ~unseen * problem.weights * drop).sum()
    assert factor_gain(problem, x, z, quorum) == pytest.approx(expected, abs=1e-9)


def test_gain_at_one_half_is_half_of_the_drop_of_the_l1_norm() -> None:
    matrix = np.random.default_rng(0).random((6, 5)) * (np.random.default_rng(1).random((6, 5)) < 0.7)
    weights = np.array([1.0, 2.0, 0.5, 1.0, 3.0])
    problem = problem_of(matrix, weights=weights)
    x, z = np.array([1.0, 0.5, 0, 0, 0.2, 1]), np.array([0.4, 0, 0.3, 0.9, 0])
    A = matrix * weights
    drop = np.abs(A).sum() - np.abs(A - np.outer(x, z * weights)).sum()
    assert factor_gain(problem, x, z, HALF) == pytest.approx(drop / 2, abs=1e-12)


@given(binary)
@examples(60)
def test_on_binary_matrices_never_above_the_optimum_and_no_worse_than_candidates(matrix: np.ndarray) -> None:
    problem = problem_of(matrix)
    block = solve("quantile", problem)
    gain = 0.0 if block is None else block.gain
    assert gain <= best_gain(problem) + 1e-9
    for j in np.flatnonzero(matrix.any(axis=0)):
        # one vote of each side from candidate j, by hand
        columns = (matrix[matrix[:, j]].mean(axis=0) > 0.5).astype(float)
        assert gain >= np.maximum((matrix - 0.5) @ columns, 0).sum() - 1e-9


@pytest.mark.parametrize("quorum", QUORUMS)
def test_same_blocks_as_the_vote_on_planted_binary_matrices(quorum: Fraction) -> None:
    for seed in range(5):
        problem = problem_of(planted([(12, 9), (10, 8), (8, 7)], flips=0.1, seed=seed))
        block, vote = solve("quantile", problem, quorum=quorum), solve("vote", problem, quorum=quorum)
        assert block is not None
        assert vote is not None
        assert np.array_equal(block.rows, vote.rows)
        assert np.array_equal(block.columns, vote.columns)
        assert block.gain == pytest.approx(vote.gain, abs=1e-9)


def test_reaches_the_global_minimum_on_real_matrices_of_two_columns() -> None:
    # with two columns the right factor is an angle: try them all, with the exact median of each row
    angles = np.linspace(0, np.pi / 2, 4001)
    directions = np.stack([np.cos(angles), np.sin(angles)], axis=1)[1:-1]
    for seed in range(25):
        rng = np.random.default_rng(seed)
        A = np.where(rng.random((6, 2)) < 0.8, rng.random((6, 2)), 0.0)
        both = np.concatenate([directions, A[(A > 0).all(axis=1)]])
        first = np.abs(A[:, 1] - A[:, 0] * (both[:, 1] / both[:, 0])[:, None])
        second = np.abs(A[:, 0] - A[:, 1] * (both[:, 0] / both[:, 1])[:, None])
        losses = np.minimum(np.minimum(first, second), A.sum(axis=1)).sum(axis=1)
        best = min(losses.min(), A[:, 0].sum(), A[:, 1].sum())
        block = solve("quantile", problem_of(A))
        assert block is not None
        assert A.sum() - 2 * block.gain <= best + 1e-6


def test_real_factor_is_recovered_under_sparse_gross_errors() -> None:
    rng = np.random.default_rng(4)
    x, z = rng.uniform(0.5, 1.5, 20), rng.uniform(0.5, 1.0, 15)
    A = np.zeros((26, 22))
    A[:20, :15] = np.outer(x, z)
    clean = A.copy()
    wrong = rng.random(A.shape) < 0.1
    A[wrong] = rng.uniform(0, 2, int(wrong.sum()))
    block = solve("quantile", problem_of(A))
    assert block is not None
    assert np.flatnonzero(block.rows).tolist() == list(range(20))
    assert np.flatnonzero(block.columns).tolist() == list(range(15))
    assert A.sum() - 2 * block.gain == pytest.approx(np.abs(A - clean).sum(), abs=1e-9)


def test_unseen_entries_neither_support_nor_oppose() -> None:
    # two chunks that share elements 4..7: columns 0..2 saw rows 0..7 only, columns 3..5 rows 4..11 only
    matrix, unseen = np.ones((14, 6)) * 0.8, np.zeros((14, 6), bool)
    matrix[12:] = 0.0
    unseen[8:12, :3] = True
    unseen[:4, 3:] = True
    seen = solve("quantile", problem_of(matrix, unseen=unseen))
    assert seen is not None
    assert np.flatnonzero(seen.rows).tolist() == list(range(12))
    assert seen.columns.all()
    assert seen.gain == pytest.approx(0.5 * 0.8 * 48, abs=1e-12)
    opposed = solve("quantile", problem_of(np.where(unseen, 0.0, matrix)))
    assert opposed is not None
    assert opposed.gain < seen.gain


def test_level_is_one_minus_the_quorum() -> None:
    column = csr_array(np.array([[4.0], [3.0], [2.0], [1.0], [0.0]]))
    ones = np.ones(5)
    found = [quantiles(column, ones, ones, np.array([5.0]), Fraction(k, 10))[0] for k in (1, 3, 5, 7, 8, 9)]
    assert found == [4.0, 3.0, 2.0, 1.0, 0.0, 0.0]


def test_exact_ties_do_not_join() -> None:
    # 29 of 100 is not more than 0.29 of them, though 0.29 * 100 < 29 in floating point
    column = csr_array((np.arange(100) < 29).astype(float)[:, None])
    ones, total = np.ones(100), np.array([100.0])
    assert quantiles(column, ones, ones, total, Fraction(29, 100))[0] == 0.0
    assert quantiles(column, ones, ones, total, Fraction(289, 1000))[0] == 1.0


def test_one_step_of_the_quantile_solver_already_has_a_gain() -> None:
    matrix = planted([(6, 5), (4, 4)])
    block = solve("quantile", problem_of(matrix), max_iter=1)
    assert block is not None
    assert block.gain == 15.0
