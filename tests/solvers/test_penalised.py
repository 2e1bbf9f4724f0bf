"""Classical NMF, PMD and SSVD against their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.sparse import csr_array
from solver_problems import HALF, planted, problem_of, solve

from biconsensus.solvers._frobenius import leading_pair
from biconsensus.solvers._pmd import PmdSolver, leading_right, sparse_pair
from biconsensus.solvers._ssvd import penalised


def test_leading_pair_is_the_best_rank_one_factor() -> None:
    A = np.random.default_rng(0).random((8, 6))
    left, value, right = leading_pair(csr_array(A))
    energy = np.linalg.svd(A, compute_uv=False) ** 2
    assert ((A - value * np.outer(left, right)) ** 2).sum() == pytest.approx(energy[1:].sum())
    assert (left > 0).all()
    assert (right > 0).all()


def test_leading_pair_keeps_to_one_component_where_singular_values_tie() -> None:
    A = planted([(4, 4), (4, 4)]).astype(float)
    left, value, right = leading_pair(csr_array(A))
    assert value == pytest.approx(4.0)
    assert np.count_nonzero(left) == 4
    assert np.count_nonzero(right) == 4


def test_leading_pair_of_a_large_matrix_is_found_without_making_it_dense() -> None:
    A = planted([(150, 130), (140, 120)]).astype(float)
    left, value, right = leading_pair(csr_array(A))
    assert value == pytest.approx(np.sqrt(150 * 130))
    assert np.flatnonzero(left).tolist() == list(range(150))
    assert np.flatnonzero(right > 1e-9).tolist() == list(range(130))


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
