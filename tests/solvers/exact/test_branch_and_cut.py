"""Searches that end without their last step: no better block, no time to settle, no convergence."""

from __future__ import annotations

import time
from types import SimpleNamespace

import numpy as np
import pytest
from solver_problems import HALF, pair_gains, planted, problem_of

from biconsensus.solvers._pmd import _bounded
from biconsensus.solvers._ssvd import SsvdSolver
from biconsensus.solvers.exact import _branch_and_cut as branch_and_cut
from biconsensus.solvers.exact._branch_and_cut import BlockSearch


def search_of(gains: np.ndarray) -> BlockSearch:
    return BlockSearch(gains, None, None, time.monotonic() + 60)


def test_no_better_block_is_a_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    search = search_of(pair_gains(problem_of(planted([(4, 3), (2, 2)]))))
    search._settle(np.array([True, True, True, False, False]))
    search.bound = 100.0
    infeasible = SimpleNamespace(status=2, x=None, mip_dual_bound=None)
    monkeypatch.setattr(branch_and_cut, "milp", lambda *_, **__: infeasible)
    search._branch(*search._relaxation())
    assert search.gain == 6.0
    assert search.bound == 6.0


def test_votes_that_never_rest_are_cut_short() -> None:
    # each vote of the rows wins one more column, and that column one more row
    gains = np.eye(150) + np.eye(150, k=1)
    search = search_of(gains)
    search._settle(np.arange(150) == 0)
    assert search.block is not None
    assert search.block[0].sum() == 100
    assert search.block[1].sum() == 101
    assert search.gain == 200.0


def test_branching_finds_what_the_minimum_sizes_ask_for() -> None:
    gains = pair_gains(problem_of(planted([(3, 3), (2, 2)])))
    search = BlockSearch(gains, (np.ones(5), 4), None, time.monotonic() + 60)
    search.run()
    assert search.gain == 3.0  # three rows gain 4.5 with the first block; a fourth one costs 1.5
    assert search.bound - search.gain < search.grain
    assert search.block is not None
    assert search.block[0].sum() == 4


def test_sparse_svd_returns_where_it_is_when_the_steps_are_used_up() -> None:
    matrix = planted([(9, 7), (6, 5)], flips=0.15, seed=4)
    solver = SsvdSolver(max_iter=1, tol=0.0)
    solver.load(problem_of(matrix), HALF)
    block = solver.best_block(np.ones(15, bool), np.ones(12, bool), 1, 1)
    assert solver.n_iter_ == 1
    assert block is not None
    assert block.gain == pytest.approx(pair_gains(problem_of(matrix))[np.ix_(block.rows, block.columns)].sum())


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
