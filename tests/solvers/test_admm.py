"""The paper's ADMM against its definition, planted blocks and repeated rows."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from biconsensus.errors import ConvergenceWarning, InputError, TooLargeError
from biconsensus.solvers import _factors as factors
from biconsensus.solvers._admm import AdmmSolver, l1_nmf
from tests.helpers.solver_problems import planted, problem_of, solve


def test_error_reaches_that_of_the_planted_block() -> None:
    matrix = planted([(20, 30), (20, 30)], flips=0.0)
    matrix[20:, 30:] = False
    noisy = (matrix ^ (np.random.default_rng(0).random(matrix.shape) < 0.2)).astype(float)
    found = l1_nmf(noisy)
    assert found.converged
    assert max(found.primal_residual, found.dual_residual) <= 1e-4
    assert np.abs(noisy - found.U @ found.V).sum() == pytest.approx(np.abs(noisy - matrix).sum(), rel=1e-3)


def test_fixed_point_solves_the_stationarity_conditions() -> None:
    # at convergence U V is a local minimum of ||A - U V||_1: moving one factor alone does not lower the error
    rng = np.random.default_rng(1)
    A = np.outer(rng.uniform(0.5, 1.5, 12), rng.uniform(0.5, 1.5, 9))
    A[rng.random(A.shape) < 0.1] = 0.0
    found = l1_nmf(A, tol=1e-7)
    error = np.abs(A - found.U @ found.V).sum()
    for scale in (0.99, 1.01):
        for k in range(9):
            V = found.V.copy()
            V[0, k] *= scale
            assert np.abs(A - found.U @ V).sum() >= error - 1e-4


def test_rank_two_factorises_two_blocks() -> None:
    A = planted([(9, 7), (6, 5)]).astype(float)
    found = l1_nmf(A, rank=2)
    assert found.U.shape == (15, 2)
    assert found.V.shape == (2, 12)
    assert np.abs(A - found.U @ found.V).max() < 1e-2


def test_counts_are_repeated_rows() -> None:
    A = planted([(4, 6), (4, 5)], flips=0.1, seed=2).astype(float)
    counts = np.array([1, 4, 2, 1, 1, 3, 1, 2])
    short = l1_nmf(A, rank=2, counts=counts)
    long = l1_nmf(np.repeat(A, counts, axis=0), rank=2)
    assert short.n_iter == long.n_iter
    np.testing.assert_allclose(np.repeat(short.U, counts, axis=0), long.U, atol=1e-8)
    np.testing.assert_allclose(short.V, long.V, atol=1e-8)


def test_penalty_enters_the_inverse() -> None:
    # with the erratum of the paper unmended (no penalty inside the inverse) other penalties would not converge here
    A = planted([(9, 7), (6, 5)]).astype(float)
    for penalty in (0.5, 2.0):
        found = l1_nmf(A, penalty=penalty)
        assert np.abs(A - found.U @ found.V).sum() == pytest.approx(30.0, abs=0.05)


def test_weights_scale_columns() -> None:
    matrix = planted([(6, 5), (6, 5)])
    weights = np.repeat([1.0, 2.0], 5)
    block = solve("admm", problem_of(matrix, weights=weights))
    assert block is not None
    assert np.flatnonzero(block.columns).tolist() == list(range(5, 10))
    assert block.gain == 30.0


def test_too_few_iterations_warn_with_the_residual_and_are_counted() -> None:
    solver = AdmmSolver(max_iter=3)
    solver.load(problem_of(planted([(9, 7), (6, 5)], flips=0.1)), Fraction(1, 2))
    with pytest.warns(ConvergenceWarning, match=r"after 3 iterations with primal residual \d\.\d\de[+-]\d\d"):
        solver.best_block(np.ones(15, bool), np.ones(12, bool), 1, 1)
    assert solver.n_iter_ == 3
    assert solver.residual_ > solver.tol


def test_no_warning_when_converged() -> None:
    solver = AdmmSolver()
    solver.load(problem_of(planted([(9, 7), (6, 5)])), Fraction(1, 2))
    solver.best_block(np.ones(15, bool), np.ones(12, bool), 1, 1)
    assert 0 < solver.n_iter_ < solver.max_iter
    assert solver.residual_ <= solver.tol


def test_real_values_are_factorised_and_gain_is_half_the_drop() -> None:
    A = np.zeros((8, 7))
    A[:5, :4] = np.outer([1, 0.5, 1, 2, 1], [0.5, 1, 1, 0.25])
    block = solve("admm", problem_of(A))
    assert block is not None
    assert (block.rows.sum(), block.columns.sum()) == (5, 4)
    assert block.gain == pytest.approx(A.sum() / 2, rel=1e-3)


def test_refuses_another_quorum() -> None:
    with pytest.raises(InputError, match=r"solver 'admm' is defined at quorum 1/2 only; received quorum 0\.3"):
        AdmmSolver().load(problem_of(np.ones((3, 3), bool)), Fraction(3, 10))


@pytest.mark.parametrize("rank", [0, 4])
def test_refuses_impossible_ranks(rank: int) -> None:
    with pytest.raises(InputError, match=f"rank must lie between 1 and 3 .*; received {rank}"):
        l1_nmf(np.ones((3, 5)), rank=rank)


def test_refuses_what_does_not_fit_as_a_dense_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(factors, "DENSE_LIMIT", 10)
    with pytest.raises(TooLargeError, match="received 3 distinct rows x 4 distinct columns"):
        solve("admm", problem_of(np.ones((3, 4), bool)))
