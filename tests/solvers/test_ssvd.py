"""The sparse SVD against its definition."""

from __future__ import annotations

import numpy as np
import pytest

from biconsensus.solvers._ssvd import SsvdSolver, penalised
from tests.helpers.solver_problems import HALF, pair_gains, planted, problem_of, solve


def test_adaptive_lasso_minimises_its_criterion() -> None:
    rng = np.random.default_rng(2)
    fit = np.sort(rng.random(6))[::-1] * 3
    energy, size, gamma = float((fit**2).sum() + 4.0), 60.0, 2.0
    found = penalised(fit, np.ones(6), energy, size, gamma)
    variance = 4.0 / (size - 6)

    def bic(v: np.ndarray) -> float:
        error = energy - 2 * fit @ v + v @ v
        return error / (variance * size) + np.count_nonzero(v) * np.log(size) / size

    for half in np.linspace(0, fit.max() ** 3, 4000):
        v = np.maximum(fit - half * fit**-gamma, 0)
        # between two breakpoints a smaller penalty with as many coefficients is better: breakpoints suffice
        assert bic(found) <= bic(v) + 1e-12


def test_ssvd_finds_a_block_in_weak_noise() -> None:
    matrix = planted([(14, 12), (16, 18)])
    matrix[14:, 12:] = False
    noisy = matrix ^ (np.random.default_rng(0).random(matrix.shape) < 0.02)
    block = solve("ssvd", problem_of(noisy))
    assert block is not None
    assert block.rows[:14].all()
    assert block.columns[:12].all()
    # BIC lets a few elements in that noise touched
    assert block.rows[14:].sum() + block.columns[12:].sum() <= 3


def test_sparse_svd_returns_where_it_is_when_the_steps_are_used_up() -> None:
    matrix = planted([(9, 7), (6, 5)], flips=0.15, seed=4)
    solver = SsvdSolver(max_iter=1, tol=0.0)
    solver.load(problem_of(matrix), HALF)
    block = solver.best_block(np.ones(15, bool), np.ones(12, bool), 1, 1)
    assert solver.n_iter_ == 1
    assert block is not None
    assert block.gain == pytest.approx(pair_gains(problem_of(matrix))[np.ix_(block.rows, block.columns)].sum())


def test_one_step_of_the_sparse_svd_is_enough_for_a_clean_block() -> None:
    matrix = planted([(5, 4), (3, 3)])
    matrix[5:, 4:] = False
    solver = SsvdSolver(max_iter=1)
    solver.load(problem_of(matrix), HALF)
    block = solver.best_block(np.ones(8, bool), np.ones(7, bool), 1, 1)
    assert block is not None
    assert solver.n_iter_ == 1
    assert (block.rows.sum(), block.columns.sum(), block.gain) == (5, 4, 10.0)


def test_penalised_coefficients_of_nothing_are_zero() -> None:
    assert penalised(np.zeros(3), np.ones(3), 1.0, 10.0, 2.0).tolist() == [0, 0, 0]
