"""PMD against its definition."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from biconsensus.solvers._pmd import PmdSolver, _bounded, leading_right, sparse_pair
from tests.helpers.solver_problems import HALF, planted, problem_of


@pytest.mark.parametrize("share", [0.5, 0.7, 0.9])
def test_sparse_pair_meets_its_bounds_and_is_the_best_answer_to_u(share: float) -> None:
    rng = np.random.default_rng(1)
    A, counts = rng.random((9, 7)), rng.integers(1, 4, 9).astype(float)
    u, value, v = sparse_pair(A, counts, share, leading_right(A, counts), 200)
    c1, c2 = max(1.0, share * np.sqrt(counts.sum())), max(1.0, share * np.sqrt(7))
    assert counts @ u <= c1 * (1 + 1e-6)
    assert v.sum() <= c2 * (1 + 1e-6)
    assert counts @ u**2 == pytest.approx(1.0)
    assert (v**2).sum() == pytest.approx(1.0)
    assert value == pytest.approx((counts * u) @ A @ v)
    # v is the best answer to u: compare with a general optimiser
    field = A.T @ (counts * u)
    limits = [
        {"type": "ineq", "fun": lambda t: 1 - t @ t},
        {"type": "ineq", "fun": lambda t: c2 - t.sum()},
    ]
    found = minimize(lambda t: -field @ t, np.full(7, 0.1), bounds=[(0, 1)] * 7, constraints=limits, method="SLSQP")
    assert value >= -found.fun - 1e-5


def test_cross_validation_prefers_a_sparse_factor_for_a_sparse_matrix() -> None:
    matrix = planted([(8, 6), (22, 20)])
    matrix[8:, 6:] = False
    solver = PmdSolver()
    problem = problem_of(matrix)
    solver.load(problem, HALF)
    block = solver.best_block(np.ones(30, bool), np.ones(26, bool), 1, 1)
    assert block is not None
    assert (block.rows.sum(), block.columns.sum()) == (8, 6)
    assert solver.share_ < 1.0


@pytest.mark.parametrize("bound", [1.05, 1.4, 1.9])
def test_the_soft_threshold_meets_its_bound(bound: float) -> None:
    values, counts = np.array([4.0, 3.0, 2.0, 1.0]), np.array([1.0, 2.0, 1.0, 1.0])
    unit = _bounded(values, counts, bound)
    assert counts @ unit**2 == pytest.approx(1)
    assert counts @ unit == pytest.approx(bound, abs=1e-6)
    assert (np.diff(unit) <= 0).all()
    loose = _bounded(values, counts, 3.0)
    assert loose == pytest.approx(values / np.sqrt(counts @ values**2))
    assert not _bounded(np.zeros(3), np.ones(3), 1.0).any()


def test_a_matrix_of_one_entry_has_nothing_to_hold_out() -> None:
    solver = PmdSolver()
    solver.load(problem_of(np.ones((1, 1), bool)), HALF)
    block = solver.best_block(np.ones(1, bool), np.ones(1, bool), 1, 1)
    assert block is not None
    assert block.gain == 0.5
    assert solver.share_ == solver.shares[0]
