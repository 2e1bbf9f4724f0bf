"""The exact solver against brute force, and its certificate."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from biconsensus.errors import InputError, TooLargeError
from biconsensus.solvers.exact._branch_and_cut import cycle_cuts
from biconsensus.solvers.exact._solver import ExactSolver
from tests.helpers.solver_problems import HALF, best_gain, pair_gains, planted, problem_of, solve
from tests.helpers.strategies import examples

seeds = st.integers(0, 2**32 - 1)


def random_problem(seed: int, largest: int = 6, missing: bool = False):
    rng = np.random.default_rng(seed)
    m, n = rng.integers(2, largest + 1, 2)
    matrix = rng.random((m, n)) < rng.uniform(0.2, 0.8)
    unseen = rng.random((m, n)) < 0.2 if missing else None
    weights = rng.integers(1, 4, n) if seed % 2 else rng.random(n) + 0.2
    return problem_of(matrix, rng.integers(1, 4, m), weights, unseen, rng.integers(0, 4, n))


@given(seeds, st.booleans())
@examples(25)
def test_reaches_the_optimum(seed: int, missing: bool) -> None:
    problem = random_problem(seed, missing=missing)
    solver = ExactSolver()
    solver.load(problem, HALF)
    block = solver.best_block(np.ones(problem.shape[0], bool), np.ones(problem.shape[1], bool), 1, 1)
    assert solver.optimal_
    assert solver.gap_ == 0.0
    assert (0.0 if block is None else block.gain) == pytest.approx(best_gain(problem), abs=1e-6)


@given(seeds, st.integers(1, 8), st.integers(1, 4))
@examples(20)
def test_reaches_the_optimum_of_the_minimum_sizes(seed: int, min_elements: int, min_candidates: int) -> None:
    problem = random_problem(seed, largest=5)
    block = solve("exact", problem, (min_elements, min_candidates))
    expected = best_gain(problem, (min_elements, min_candidates))
    assert (0.0 if block is None else block.gain) == pytest.approx(expected, abs=1e-6)
    if block is not None:
        assert problem.n_elements(block.rows) >= min_elements
        assert problem.n_sources(block.columns) >= min_candidates


@given(seeds)
@examples(15)
def test_no_solver_beats_it(seed: int) -> None:
    problem = random_problem(seed, largest=9)
    best = solve("exact", problem)
    limit = 0.0 if best is None else best.gain
    for name in ("vote", "quantile", "frobenius", "ssvd"):
        block = solve(name, problem)
        assert block is None or block.gain <= limit + 1e-6


@pytest.mark.parametrize("seed", range(2))
def test_vote_is_optimal_on_planted_matrices(seed: int) -> None:
    problem = problem_of(planted([(9, 12), (9, 12)], flips=0.2, seed=seed))
    solver = ExactSolver()
    solver.load(problem, HALF)
    block = solver.best_block(np.ones(18, bool), np.ones(24, bool), 2, 2)
    vote = solve("vote", problem, (2, 2))
    assert solver.optimal_
    assert block is not None
    assert vote is not None
    assert vote.gain == block.gain


@given(seeds)
@examples(20)
def test_cycle_inequalities_hold_for_every_block(seed: int) -> None:
    rng = np.random.default_rng(seed)
    gains = pair_gains(problem_of(rng.random((3, 4)) < 0.5))
    r, q, z = rng.random(3), rng.random(4), rng.random((3, 4))
    matrix, limits = cycle_cuts(gains, r, q, z, 19)
    assert (matrix @ np.concatenate([r, q, z.ravel()]) > limits).all()
    for rows, columns in product(product([0, 1], repeat=3), product([0, 1], repeat=4)):
        point = np.concatenate([rows, columns, np.outer(rows, columns).ravel()])
        assert (matrix @ point <= limits).all()


def test_out_of_time_reports_the_gap() -> None:
    problem = problem_of(np.random.default_rng(0).random((30, 30)) < 0.5)
    solver = ExactSolver(time_limit=0.2)
    solver.load(problem, HALF)
    block = solver.best_block(np.ones(30, bool), np.ones(30, bool), 1, 1)
    assert block is not None
    assert not solver.optimal_
    assert solver.gap_ > 0


def test_refuses_what_it_cannot_prove() -> None:
    with pytest.raises(InputError, match=r"'exact' is defined at quorum 1/2 only; received quorum 0\.6"):
        ExactSolver().load(problem_of(np.ones((2, 2), bool)), Fraction(3, 5))
    with pytest.raises(InputError, match="binary memberships only"):
        ExactSolver().load(problem_of(np.ones((2, 2))), HALF)
    with pytest.raises(TooLargeError, match=r"received 5 live distinct rows x 6 columns, above max_entries=20"):
        solve("exact", problem_of(np.ones((5, 6), bool)), max_entries=20)
