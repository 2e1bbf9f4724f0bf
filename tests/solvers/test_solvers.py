"""What every registered solver keeps to."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from biconsensus import solvers
from biconsensus.protocols import Solver
from biconsensus.solvers import SOLVERS, get_solver, solver_names
from biconsensus.solvers.vote._solver import VoteSolver
from tests.helpers.solver_problems import HALF, pair_gains, planted, problem_of, solve
from tests.helpers.strategies import paper_consensus

BLOCKS = [(9, 7), (6, 5), (4, 4)]


every = pytest.mark.parametrize("name", sorted(SOLVERS))


@every
def test_follows_the_protocol(name: str) -> None:
    assert isinstance(get_solver(name), Solver)


@every
def test_recovers_the_largest_clean_block_of_those_that_are_live(name: str) -> None:
    problem = problem_of(planted(BLOCKS))
    rows, columns = np.ones(19, bool), np.ones(16, bool)
    solver = get_solver(name)
    solver.load(problem, HALF)
    first_row = first_column = 0
    for n_rows, n_columns in BLOCKS:
        block = solver.best_block(rows.copy(), columns.copy(), 2, 2)
        assert block is not None
        assert np.flatnonzero(block.rows).tolist() == list(range(first_row, first_row + n_rows))
        assert np.flatnonzero(block.columns).tolist() == list(range(first_column, first_column + n_columns))
        assert block.gain == n_rows * n_columns / 2
        rows &= ~block.rows
        columns &= ~block.columns
        first_row, first_column = first_row + n_rows, first_column + n_columns
    assert solver.best_block(rows, columns, 2, 2) is None


@every
def test_block_stays_inside_live_rows_and_columns(name: str) -> None:
    problem = problem_of(planted(BLOCKS))
    rows, columns = np.arange(19) != 2, np.arange(16) != 3
    block = solve(name, problem, live=(rows, columns))
    assert block is not None
    assert not (block.rows & ~rows).any()
    assert not (block.columns & ~columns).any()
    assert (block.rows.sum(), block.columns.sum(), block.gain) == (8, 6, 24.0)


@every
def test_sizes_count_elements_and_sources_and_are_inclusive(name: str) -> None:
    # 4 distinct rows stand for 3 + 1 + 1 + 1 elements; 4 columns come from 3 sources
    problem = problem_of(planted([(4, 4)]), counts=np.array([3, 1, 1, 1]), sources=np.array([0, 0, 1, 2]))
    block = solve(name, problem, (6, 3))
    assert block is not None
    assert block.gain == 12.0
    assert solve(name, problem, (7, 3)) is None
    assert solve(name, problem, (6, 4)) is None


@every
def test_gain_is_that_of_the_definition(name: str) -> None:
    matrix = planted(BLOCKS, flips=0.05, seed=3)
    rng = np.random.default_rng(0)
    problem = problem_of(matrix, counts=rng.integers(1, 4, 19), weights=rng.integers(1, 4, 16) / 2)
    block = solve(name, problem)
    assert block is not None
    assert block.gain == pytest.approx(pair_gains(problem)[block.rows][:, block.columns].sum(), abs=1e-9)
    assert block.gain == pytest.approx(problem.gain(block.rows, block.columns, HALF), abs=1e-9)


@every
def test_same_answer_twice(name: str) -> None:
    problem = problem_of(planted(BLOCKS[:2], flips=0.1, seed=5))
    options = {"shares": (0.4, 0.8)} if name == "pmd" else {}  # two bounds to choose from, by folds that are drawn
    first, second = solve(name, problem, **options), solve(name, problem, **options)
    assert first is not None
    assert second is not None
    assert np.array_equal(first.rows, second.rows)
    assert np.array_equal(first.columns, second.columns)
    assert first.gain == second.gain


@every
def test_multiplicity_means_repeated_rows(name: str) -> None:
    # the folds of `pmd` are drawn for distinct rows, so its choice of bounds is fixed here
    options = {"shares": (0.6,)} if name == "pmd" else {}
    matrix = planted([(5, 6), (6, 4)], flips=0.06, seed=1)
    counts = np.array([1, 3, 2, 1, 1, 2, 1, 1, 4, 1, 1])
    short = solve(name, problem_of(matrix, counts=counts), **options)
    long = solve(name, problem_of(np.repeat(matrix, counts, axis=0)), **options)
    assert short is not None
    assert long is not None
    assert np.array_equal(np.repeat(short.rows, counts), long.rows)
    assert np.array_equal(short.columns, long.columns)
    assert short.gain == pytest.approx(long.gain, abs=1e-9)


@every
def test_nothing_where_nothing_is_held(name: str) -> None:
    problem = problem_of(np.zeros((3, 4), bool))
    assert solve(name, problem) is None


@pytest.mark.parametrize("name", ["vote", "quantile", "admm", "exact"])
def test_robust_solvers_find_a_noisy_planted_block(name: str) -> None:
    matrix = planted([(12, 14), (10, 6)], flips=0.15, seed=2)
    block = solve(name, problem_of(matrix))
    assert block is not None
    assert np.flatnonzero(block.rows).tolist() == list(range(12))
    assert np.flatnonzero(block.columns).tolist() == list(range(14))


def test_least_squares_spill_over_where_groups_touch() -> None:
    # the reason for the L1 norm (the paper's Fig. 4): one shared element makes the Frobenius factor cover both groups
    matrix = planted([(9, 7), (6, 5)])
    matrix[0, 8] = True
    spilled, robust = solve("frobenius", problem_of(matrix)), solve("vote", problem_of(matrix))
    assert spilled is not None
    assert robust is not None
    assert spilled.rows.all()
    assert np.flatnonzero(robust.rows).tolist() == list(range(9))


@pytest.mark.parametrize("name", ["admm", "frobenius", "pmd", "ssvd"])
def test_solvers_without_missing_votes_say_so(name: str) -> None:
    unseen = np.zeros((4, 3), bool)
    unseen[0, 0] = True
    with pytest.raises(ValueError, match=f"solver '{name}' cannot take missing votes.*Use solver='vote'"):
        solve(name, problem_of(np.ones((4, 3), bool), unseen=unseen))


def test_solvers_of_other_packages_come_by_entry_point(monkeypatch: pytest.MonkeyPatch) -> None:
    point = SimpleNamespace(name="theirs", load=lambda: VoteSolver)
    monkeypatch.setattr(solvers, "entry_points", lambda group, name="theirs": [point] if name == "theirs" else [])
    assert "theirs" in solver_names()
    assert isinstance(get_solver("theirs", n_jobs=1), VoteSolver)
    assert paper_consensus([np.repeat([0, 1], 8)] * 4, solver="theirs").labels.tolist() == [0] * 8 + [1] * 8
    with pytest.raises(ValueError, match="Did you mean 'theirs'"):
        get_solver("their")
