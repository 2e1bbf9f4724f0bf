"""Searches that end without their last step: no better block, no time to settle, no convergence."""

from __future__ import annotations

import time
from types import SimpleNamespace

import numpy as np
import pytest

from biconsensus.solvers.exact import _branch_and_cut as branch_and_cut
from biconsensus.solvers.exact._branch_and_cut import BlockSearch
from tests.helpers.solver_problems import pair_gains, planted, problem_of


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


def test_a_branching_without_an_answer_leaves_what_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    search = search_of(pair_gains(problem_of(planted([(4, 3), (2, 2)]))))
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
    search = search_of(pair_gains(problem_of(matrix)))
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
