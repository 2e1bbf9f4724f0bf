"""The vote solver: optimal on tiny matrices, monotone, exact at the quorum, the same however it is asked."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from strategies import binary_matrices, examples, label_tables, same_either_way

import biconsensus as bc
from biconsensus.solvers.vote import _ballot as ballot
from biconsensus.solvers.vote import _descent as descent
from biconsensus.solvers.vote import _solver as vote
from biconsensus.solvers.vote._ballot import Ballot, whole_unit
from biconsensus.solvers.vote._fixed_point import mask_of
from biconsensus.solvers.vote._sets import set_of
from biconsensus.solvers.vote._solver import VoteSolver

HALF = Fraction(1, 2)


def problem_of(B, **options):
    return bc.PreferenceMatrix.from_pool(bc.Pool.from_matrix(B, **options))


def best(problem, quorum=HALF, sizes=(1, 1), rows=None, columns=None, n_jobs=None):
    solver = VoteSolver(n_jobs)
    solver.load(problem, quorum)
    rows = np.ones(problem.shape[0], bool) if rows is None else rows
    columns = np.ones(problem.shape[1], bool) if columns is None else columns
    return solver.best_block(rows, columns, *sizes)


def brute_force_gain(B):
    """Largest gain over all column sets at quorum 1/2."""
    n = B.shape[1]
    sets = (np.arange(2**n)[:, None] >> np.arange(n)) & 1
    excess = B @ sets.T - sets.sum(axis=1) / 2
    return np.maximum(excess, 0).sum(axis=0).max()


@examples(150)
@given(binary_matrices(7, 7))
def test_random_tiny_matrices_reach_at_least_98_percent_of_the_optimum(B):
    block = best(problem_of(B))
    optimum = brute_force_gain(B.astype(float))
    assert (0.0 if block is None else block.gain) >= 0.98 * optimum


def test_the_optimum_is_reached_on_99_of_100_tiny_matrices():
    rng = np.random.default_rng(0)
    reached = 0
    for _ in range(100):
        B = (rng.random(rng.integers(2, 8, 2)) < rng.uniform(0.2, 0.8)).astype(int)
        block = best(problem_of(B))
        reached += (0.0 if block is None else block.gain) == brute_force_gain(B.astype(float))
    assert reached >= 99


@given(label_tables(missing=True), st.sampled_from(["0.2", "0.5", "0.65"]))
def test_the_gain_never_falls(table, quorum):
    problem = bc.PreferenceMatrix.from_pool(bc.Pool.from_labels(table, missing=-2))
    votes = Ballot(problem, Fraction(quorum))
    rows, columns = np.ones(problem.shape[0], bool), np.ones(problem.shape[1], bool)
    active = votes.first_columns(np.arange(problem.shape[1]), rows, columns)
    gains = np.full(len(active), -np.inf)
    for _ in range(10):
        tally = votes.vote(active, rows, columns)
        assert (tally.gains >= gains - 1e-9).all()
        for k, key in enumerate(tally.columns.keys()):
            block = mask_of(tally.rows(k), rows.size), mask_of(set_of(key), columns.size)
            assert tally.gains[k] == pytest.approx(problem.gain(*block, Fraction(quorum)), abs=1e-9)
        active, gains = tally.columns, tally.gains


@given(label_tables(missing=True), st.sampled_from(["0.3", "0.5", "0.8"]))
def test_the_block_is_a_fixed_point_of_the_definition(table, quorum):
    pool = bc.Pool.from_labels(table, missing=-2)
    problem = bc.PreferenceMatrix.from_pool(pool)
    block = best(problem, Fraction(quorum))
    if block is None:
        return
    theta = Fraction(quorum)
    B = problem.entries.toarray().astype(int)
    M = problem.seen(np.ones(B.shape[0], bool), np.ones(B.shape[1], bool)).astype(int)
    w = problem.weights.astype(int)
    for i in range(B.shape[0]):
        held, asked = int((w * B[i])[block.columns].sum()), int((w * M[i])[block.columns].sum())
        assert block.rows[i] == (held > theta * asked)
    for j in range(B.shape[1]):
        held = int((problem.counts * B[:, j])[block.rows].sum())
        asked = int((problem.counts * M[:, j])[block.rows].sum())
        assert block.columns[j] == (held > theta * asked)


def test_29_of_100_is_not_more_than_a_quorum_of_29_percent():
    B = np.zeros((100, 2), int)
    B[:, 0] = 1
    B[:29, 1] = 1
    assert best(problem_of(B), Fraction("0.29")).columns.tolist() == [True, False]
    B[29, 1] = 1
    assert best(problem_of(B), Fraction("0.29")).columns.tolist() == [True, True]


def test_dead_rows_and_columns_stay_out_and_minimum_sizes_hold():
    B = np.zeros((12, 8), int)
    B[:6, :4] = B[6:, 4:] = 1
    problem = problem_of(B)
    block = best(problem, rows=np.array([True, True]), columns=np.array([False, True]))
    assert block.rows.tolist() == [False, True]
    assert best(problem, sizes=(7, 1)) is None
    assert best(problem, sizes=(1, 5)) is None
    assert best(problem, sizes=(6, 4)).gain == 12.0


@given(label_tables(max_elements=16), st.sampled_from(["0.3", "0.5"]))
def test_reuse_between_rounds_gives_what_a_fresh_search_gives(table, quorum):
    problem = bc.PreferenceMatrix.from_pool(bc.Pool.from_labels(table))
    solver = VoteSolver()
    solver.load(problem, Fraction(quorum))
    rows, columns = np.ones(problem.shape[0], bool), np.ones(problem.shape[1], bool)
    while rows.any() and columns.any():
        kept = solver.best_block(rows, columns, 1, 1)
        fresh = best(problem, Fraction(quorum), rows=rows, columns=columns)
        assert (kept is None) == (fresh is None)
        if kept is None:
            break
        assert kept.gain == fresh.gain
        rows, columns = rows & ~kept.rows, columns & ~kept.columns


def test_whether_all_fixed_points_are_looked_at_or_those_near_changes_nothing(monkeypatch):
    rng = np.random.default_rng(2)
    table = np.where(rng.random((400, 8)) < 0.3, rng.integers(0, 15, (400, 8)), rng.integers(0, 15, (400, 1)))
    found = same_either_way(
        monkeypatch, vote, "FEW_POINTS", lambda: bc.find_consensus(table, min_elements=2, min_candidates=2)
    )
    assert len(found) >= 15


def test_rows_that_come_back_to_life_are_seen_again():
    B = np.zeros((12, 8), int)
    B[:6, :4] = B[6:, 4:] = 1
    solver = VoteSolver()
    problem = problem_of(B)
    solver.load(problem, HALF)
    first = solver.best_block(np.array([True, False]), np.array([True, True]), 1, 1)
    again = solver.best_block(np.array([True, True]), np.array([False, True]), 1, 1)
    assert first.rows.tolist() == [True, False]
    assert again.rows.tolist() == [False, True]


def test_threads_and_the_sample_of_rows_change_nothing(monkeypatch):
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 5, 6000)
    table = np.stack([np.where(rng.random(6000) < 0.15, rng.integers(0, 5, 6000), truth) for _ in range(8)], axis=1)
    problem = bc.PreferenceMatrix.from_pool(bc.Pool.from_labels(table))
    whole = best(problem)
    assert np.array_equal(whole.rows, best(problem, n_jobs=2).rows)
    monkeypatch.setattr(descent, "SAMPLE", 512)
    monkeypatch.setattr(ballot, "BLOCK", 128)
    assert descent.sample_rows(problem) is not None
    sampled = best(problem, n_jobs=2)
    assert np.array_equal(whole.rows, sampled.rows)
    assert np.array_equal(whole.columns, sampled.columns)
    assert whole.gain == sampled.gain


def test_the_sample_stands_for_all_rows():
    rng = np.random.default_rng(0)
    table = rng.integers(0, 6, (60_000, 6))
    problem = bc.PreferenceMatrix.from_pool(bc.Pool.from_labels(table))
    rows, part = descent.sample_rows(problem)
    assert abs(rows.size - 8192) < 500
    share = part.counts @ part.entries.toarray() / part.counts.sum()
    assert np.abs(share - problem.counts @ problem.entries / problem.counts.sum()).max() < 0.03


def test_weights_are_counted_in_whole_units_where_they_can_be():
    assert whole_unit(np.array([0.1, 0.2, 0.4])) == 0.1
    assert whole_unit(np.array([1.0, 2.5])) is None
    assert whole_unit(np.zeros(2)) is None
    assert whole_unit(np.array([1e-300, 1e300])) is None


def test_real_weights_decide():
    B = csr_array(np.array([[1, 1, 0], [1, 0, 1], [1, 0, 1]]))
    light = best(problem_of(B, weights=[1, 0.3, 0.7]))
    assert light.gain == pytest.approx(1.5 + 0.35)
