"""Corners of the solvers: solvers of other packages, too few steps, one entry, searches without an answer."""

from __future__ import annotations

import time
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from solver_problems import HALF, pair_gains, planted, problem_of, solve

import biconsensus as bc
from biconsensus import solvers
from biconsensus.solvers import get_solver, solver_names
from biconsensus.solvers._pmd import PmdSolver
from biconsensus.solvers._ssvd import SsvdSolver, penalised
from biconsensus.solvers.exact import _branch_and_cut as branch_and_cut
from biconsensus.solvers.exact._branch_and_cut import BlockSearch
from biconsensus.solvers.vote import _descent as descent
from biconsensus.solvers.vote._ballot import Ballot
from biconsensus.solvers.vote._solver import VoteSolver


def test_solvers_of_other_packages_come_by_entry_point(monkeypatch: pytest.MonkeyPatch) -> None:
    point = SimpleNamespace(name="theirs", load=lambda: VoteSolver)
    monkeypatch.setattr(solvers, "entry_points", lambda group, name="theirs": [point] if name == "theirs" else [])
    assert "theirs" in solver_names()
    assert isinstance(get_solver("theirs", n_jobs=1), VoteSolver)
    assert bc.find_consensus([np.repeat([0, 1], 8)] * 4, solver="theirs").labels.tolist() == [0] * 8 + [1] * 8
    with pytest.raises(ValueError, match="Did you mean 'theirs'"):
        get_solver("their")


def test_a_matrix_of_one_entry_has_nothing_to_hold_out() -> None:
    solver = PmdSolver()
    solver.load(problem_of(np.ones((1, 1), bool)), HALF)
    block = solver.best_block(np.ones(1, bool), np.ones(1, bool), 1, 1)
    assert block is not None
    assert block.gain == 0.5
    assert solver.share_ == solver.shares[0]


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


def test_one_step_of_the_quantile_solver_already_has_a_gain() -> None:
    matrix = planted([(6, 5), (4, 4)])
    block = solve("quantile", problem_of(matrix), max_iter=1)
    assert block is not None
    assert block.gain == 15.0


def test_votes_that_are_cut_short_return_where_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = problem_of(np.random.default_rng(1).random((12, 9)) < 0.5)
    votes = Ballot(problem, HALF)
    every = np.ones(12, bool), np.ones(9, bool)
    starts = votes.first_columns(np.arange(9), *every)
    once = votes.vote(starts, *every).columns
    monkeypatch.setattr(descent, "MAX_STEPS", 1)
    assert descent.vote_to_fixed_point(votes, starts, *every).keys() == once.keys()
    assert once.keys() != starts.keys()


def search_of(matrix: np.ndarray) -> BlockSearch:
    return BlockSearch(pair_gains(problem_of(matrix)), None, None, time.monotonic() + 60)


def test_a_branching_without_an_answer_leaves_what_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    search = search_of(planted([(4, 3), (2, 2)]))
    search.bound = 100.0
    nothing = SimpleNamespace(status=1, x=None, mip_dual_bound=None)
    monkeypatch.setattr(branch_and_cut, "milp", lambda *_, **__: nothing)
    search._branch(*search._relaxation())
    assert (search.block, search.gain, search.bound) == (None, 0.0, 100.0)


@pytest.mark.parametrize("shape", [(4, 6), (6, 4)])
def test_a_block_found_by_branching_is_settled_and_bounded(
    monkeypatch: pytest.MonkeyPatch, shape: tuple[int, int]
) -> None:
    matrix = np.ones(shape, bool)
    search = search_of(matrix)
    m, n = shape
    answer = np.concatenate([np.arange(m) < 2, np.arange(n) < 2, np.zeros(m * n)]).astype(float)
    found = SimpleNamespace(status=1, x=answer, mip_dual_bound=-float(m * n))
    monkeypatch.setattr(branch_and_cut, "milp", lambda *_, **__: found)
    search.bound = 1e9
    search._branch(*search._relaxation())
    assert search.gain == m * n / 2
    assert search.bound == m * n
    assert search.block is not None
    assert search.block[0].all()
    assert search.block[1].all()


def test_quorums_other_than_one_half_start_from_candidates_only() -> None:
    """Two groups that everybody separates stay apart at a quorum where their union would gain more."""
    matrix = planted([(6, 4), (6, 4)])
    low = solve("vote", problem_of(matrix), quorum=Fraction(1, 5))
    assert low is not None
    assert (low.rows.sum(), low.columns.sum()) == (6, 4)
