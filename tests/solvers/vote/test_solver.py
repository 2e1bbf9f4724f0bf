"""The vote solver: optimal on tiny matrices, monotone, exact at the quorum, the same however it is asked."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

import biconsensus as bc
from biconsensus.solvers.vote import _ballot as ballot
from biconsensus.solvers.vote import _solver as descent
from biconsensus.solvers.vote import _solver as vote
from biconsensus.solvers.vote._ballot import Ballot, Sets, Tally, set_of, whole_unit
from biconsensus.solvers.vote._solver import LEADING, VoteSolver, flags_of, heaviest
from tests.helpers.solver_problems import HALF, planted, problem_of, solve
from tests.helpers.strategies import binary_matrices, examples, label_tables, paper_consensus, same_either_way


def pooled(B, **options):
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


@examples(50)
@given(binary_matrices(7, 7))
def test_random_tiny_matrices_reach_at_least_98_percent_of_the_optimum(B):
    block = best(pooled(B))
    optimum = brute_force_gain(B.astype(float))
    assert (0.0 if block is None else block.gain) >= 0.98 * optimum


def test_the_optimum_is_reached_on_99_of_100_tiny_matrices():
    rng = np.random.default_rng(0)
    reached = 0
    for _ in range(100):
        B = (rng.random(rng.integers(2, 8, 2)) < rng.uniform(0.2, 0.8)).astype(int)
        block = best(pooled(B))
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
            block = flags_of(tally.rows(k), rows.size), flags_of(set_of(key), columns.size)
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
    assert best(pooled(B), Fraction("0.29")).columns.tolist() == [True, False]
    B[29, 1] = 1
    assert best(pooled(B), Fraction("0.29")).columns.tolist() == [True, True]


def test_dead_rows_and_columns_stay_out_and_minimum_sizes_hold():
    B = np.zeros((12, 8), int)
    B[:6, :4] = B[6:, 4:] = 1
    problem = pooled(B)
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
        monkeypatch, vote, "FEW_POINTS", lambda: paper_consensus(table, min_elements=2, min_candidates=2)
    )
    assert len(found) >= 15


def test_rows_that_come_back_to_life_are_seen_again():
    B = np.zeros((12, 8), int)
    B[:6, :4] = B[6:, 4:] = 1
    solver = VoteSolver()
    problem = pooled(B)
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
    light = best(pooled(B, weights=[1, 0.3, 0.7]))
    assert light.gain == pytest.approx(1.5 + 0.35)


def test_votes_that_are_cut_short_return_where_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = problem_of(np.random.default_rng(1).random((12, 9)) < 0.5)
    votes = Ballot(problem, HALF)
    every = np.ones(12, bool), np.ones(9, bool)
    starts = votes.first_columns(np.arange(9), *every)
    once = votes.vote(starts, *every).columns
    monkeypatch.setattr(descent, "MAX_STEPS", 1)
    assert descent.vote_to_fixed_point(votes, starts, *every).keys() == once.keys()
    assert once.keys() != starts.keys()


def test_quorums_other_than_one_half_start_from_candidates_only() -> None:
    """Two groups that everybody separates stay apart at a quorum where their union would gain more."""
    matrix = planted([(6, 4), (6, 4)])
    low = solve("vote", problem_of(matrix), quorum=Fraction(1, 5))
    assert low is not None
    assert (low.rows.sum(), low.columns.sum()) == (6, 4)


@pytest.fixture
def starts(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Every start that a solver takes from now on: columns, rows after them, and the singular vector."""
    taken: list[int] = []
    original = VoteSolver._record_fixed_points
    monkeypatch.setattr(
        VoteSolver, "_record_fixed_points", lambda self, sets, who: (taken.extend(who), original(self, sets, who))
    )
    return taken


def solved(matrix: np.ndarray, **parts: np.ndarray) -> VoteSolver:
    solver = VoteSolver(n_jobs=1)
    solver.load(problem_of(matrix, **parts), HALF)
    return solver


def test_smaller_minimum_sizes_find_what_larger_ones_left_aside() -> None:
    solver = solved(planted([(6, 4), (3, 3)]))
    every = np.ones(9, bool), np.ones(7, bool)
    assert solver.best_block(*every, 7, 1) is None
    assert solver.best_block(*every, 1, 5) is None
    for sizes in ((6, 4), (1, 1)):
        block = solver.best_block(*every, *sizes)
        assert block is not None
        assert (block.rows.sum(), block.columns.sum(), block.gain) == (6, 4, 12.0)
    rest = solver.best_block(~block.rows, ~block.columns, 3, 3)
    assert rest is not None
    assert rest.gain == 4.5
    assert solver.best_block(~block.rows, ~block.columns, 4, 3) is None
    assert solver.best_block(~block.rows, ~block.columns, 3, 4) is None


def test_nothing_alive_gives_nothing() -> None:
    solver = solved(planted([(6, 4), (3, 3)]))
    none, every = np.zeros(9, bool), np.ones(9, bool)
    assert solver.best_block(none, np.ones(7, bool), 1, 1) is None
    assert solver.best_block(every, np.zeros(7, bool), 1, 1) is None
    assert solver.best_block(every, np.ones(7, bool), 1, 1) is not None


def test_what_is_known_is_forgotten_with_its_rows_and_columns() -> None:
    solver = solved(planted([(6, 4), (5, 4), (4, 4)]))
    rows, columns = np.ones(15, bool), np.ones(12, bool)
    solver.best_block(rows, columns, 1, 1)
    assert len(solver._points) == 3
    assert sorted(len(point.columns) for point in solver._points.values()) == [4, 4, 4]
    assert not solver._unknown[:12].any()
    rows[0] = False
    block = solver.best_block(rows, columns, 1, 1)
    assert block is not None
    assert block.gain == 10.0
    columns[0] = False
    block = solver.best_block(rows, columns, 1, 1)
    assert block is not None
    assert block.gain == 10.0  # five rows by four columns: the second block now
    assert sorted(point.gain for point in solver._points.values()) == [7.5, 8.0, 10.0]


def test_rows_are_starts_where_there_are_few(monkeypatch: pytest.MonkeyPatch, starts: list[int]) -> None:
    solver = solved(planted([(3, 3), (2, 2)]))
    solver.best_block(np.ones(5, bool), np.ones(5, bool), 1, 1)
    assert sorted(starts) == [-1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
    starts.clear()
    solver.best_block(np.ones(5, bool), np.ones(5, bool), 1, 1)
    assert starts == [-1]  # everything else is known
    starts.clear()
    monkeypatch.setattr(vote, "FEW_ROWS", 4)
    monkeypatch.setattr(vote, "LEADING_ROUNDS", 0)
    solver.load(problem_of(planted([(3, 3), (2, 2)])), HALF)
    solver.best_block(np.ones(5, bool), np.ones(5, bool), 1, 1)
    assert sorted(starts) == [0, 1, 2, 3, 4]
    starts.clear()
    solver.load(problem_of(planted([(3, 3), (2, 2)])), Fraction(1, 3))
    solver.best_block(np.ones(5, bool), np.ones(5, bool), 1, 1)
    assert sorted(starts) == [0, 1, 2, 3, 4]


def test_the_singular_vector_is_a_start_of_the_first_32_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    original = VoteSolver._leading
    monkeypatch.setattr(VoteSolver, "_leading", lambda self: (asked.append(self._round), original(self))[1])
    heights = range(40, 5, -1)
    solver = solved(planted([(height, 4) for height in heights]))
    rows, columns = np.ones(sum(heights), bool), np.ones(4 * len(heights), bool)
    for height in heights:
        block = solver.best_block(rows, columns, 1, 1)
        assert block is not None
        assert block.gain == height * 4 / 2
        rows, columns = rows & ~block.rows, columns & ~block.columns
    assert asked == list(range(32))


def test_rows_or_columns_that_come_back_are_searched_again_from_their_candidates() -> None:
    matrix = planted([(6, 4), (5, 4)])
    solver = VoteSolver(n_jobs=1)
    solver.load(problem_of(matrix), Fraction(1, 3))  # only candidates are starts
    first, second = (np.arange(11) < 6, np.arange(8) < 4), (np.arange(11) >= 6, np.arange(8) >= 4)
    for rows, columns, gain in [
        (first[0], np.ones(8, bool), 16.0),
        (np.ones(11, bool), second[1], 20 * 2 / 3),  # rows have come back
        (np.ones(11, bool), first[1], 16.0),  # columns have
        (second[0], np.ones(8, bool), 20 * 2 / 3),
    ]:
        block = solver.best_block(rows, columns, 1, 1)
        assert block is not None
        assert block.gain == pytest.approx(gain)


def test_candidates_with_few_rows_in_the_sample_are_started_on_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(descent, "SAMPLE", 80)
    monkeypatch.setattr(vote, "WELL_SAMPLED", 30)
    matrix = planted([(150, 12), (20, 12)], flips=0.1, seed=1)
    solver = VoteSolver(n_jobs=1)
    solver.load(problem_of(matrix), Fraction(1, 3))
    assert solver._coarse is not None
    assert (solver._sizes_in_sample(solver._coarse) >= 30).tolist() == [True] * 12 + [False] * 12
    rows, columns = np.ones(170, bool), np.ones(24, bool)
    for lower, upper in ((0, 12), (12, 24)):
        block = solver.best_block(rows, columns, 2, 2)
        assert block is not None
        assert np.flatnonzero(block.columns).tolist() == list(range(lower, upper))
        rows, columns = rows & ~block.rows, columns & ~block.columns


def test_rows_are_starts_up_to_the_border(monkeypatch: pytest.MonkeyPatch, starts: list[int]) -> None:
    for few, expected in ((4, False), (5, True)):
        monkeypatch.setattr(vote, "FEW_ROWS", few)
        starts.clear()
        solved(planted([(3, 3), (2, 2)])).best_block(np.ones(5, bool), np.ones(5, bool), 1, 1)
        assert (max(starts) >= 5) == expected


def test_a_row_starts_from_the_columns_that_hold_it(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: dict[int, list[int]] = {}
    original = VoteSolver._record_fixed_points

    def note(self: VoteSolver, sets: Sets, who: np.ndarray) -> None:
        begun.update(zip(who.tolist(), map(list, map(set_of, sets.keys()))))
        original(self, sets, who)

    monkeypatch.setattr(VoteSolver, "_record_fixed_points", note)
    matrix = planted([(3, 3), (2, 2)])
    matrix[0, 4] = True
    solved(matrix).best_block(np.ones(5, bool), np.array([True, True, True, True, False]), 1, 1)
    # column 4 is dead; rows are numbered after the five columns
    assert [begun[k] for k in range(5, 10)] == [[0, 1, 2]] * 3 + [[3]] * 2
    assert [begun[k] for k in range(4)] == [[0, 1, 2]] * 3 + [[3]]
    assert begun[-1] == [0, 1, 2]


def test_the_heaviest_rows_of_many() -> None:
    counts = np.array([5, 1, 4, 4, 9, 1])
    assert heaviest(counts, 6).tolist() == heaviest(counts, 7).tolist() == [4, 0, 2, 3, 1, 5]
    assert heaviest(counts, 1).tolist() == [4]
    assert heaviest(counts, 3).tolist() == [4, 0, 2, 3]
    assert heaviest(counts, 5).tolist() == [4, 0, 2, 3, 1, 5]
    many = np.random.default_rng(0).integers(1, 400, 5000)
    for number in (1, 2, 10, 100, 999, 2500, 4000, 4999):
        found = heaviest(many, number)
        least = np.sort(many)[-number]
        assert sorted(found.tolist()) == np.flatnonzero(many >= least).tolist()
        assert (np.diff(many[found]) <= 0).all()


def test_the_64_heaviest_rows_are_starts(starts: list[int]) -> None:
    counts = np.arange(1, 67)
    solved(np.ones((66, 2), bool), counts=counts).best_block(np.ones(66, bool), np.ones(2, bool), 1, 1)
    assert sorted(starts) == [LEADING, 0, 1, *range(2 + 2, 2 + 66)]  # the rows of one and two elements are not


@pytest.mark.parametrize(("n_rows", "expected"), [(2048, 64), (2049, 0)])
def test_of_more_than_2048_rows_none_is_a_start(starts: list[int], n_rows: int, expected: int) -> None:
    solved(np.ones((n_rows, 2), bool)).best_block(np.ones(n_rows, bool), np.ones(2, bool), 1, 1)
    assert sum(start >= 2 for start in starts) == expected


def test_a_candidate_without_live_rows_is_started_once(starts: list[int]) -> None:
    matrix = planted([(4, 3), (3, 2)])
    matrix[:, 0] = False
    solver = solved(matrix)
    every = np.ones(7, bool), np.ones(5, bool)
    solver.best_block(*every, 1, 1)
    assert starts.count(0) == 1
    solver.best_block(*every, 1, 1)
    assert starts.count(0) == 1


def leading(matrix: np.ndarray, **parts: np.ndarray) -> list[int]:
    """Columns that the start from the singular vector has."""
    return np.flatnonzero(solved(matrix, **parts)._leading()).tolist()


def test_the_singular_vector_is_that_of_the_256_heaviest_rows() -> None:
    """Of all 512 rows it would be the second block: 256 * 2 * 8 is more than 256 * 3 * 4."""
    matrix, counts = planted([(256, 4), (256, 8)]), np.repeat([3, 2], 256)
    assert leading(matrix, counts=counts) == [0, 1, 2, 3]
    assert leading(matrix, counts=np.repeat([2, 2], 256)) == [0, 1, 2, 3]  # the first of equal ones
    assert leading(matrix, counts=np.repeat([2, 3], 256)) == list(range(4, 12))


@pytest.mark.parametrize(("counts", "expected"), [((14, 13), [0]), ((16, 15), [0, 1])])
def test_the_singular_vector_comes_from_ten_steps(counts: tuple[int, int], expected: list[int]) -> None:
    """Two rows apart: the lighter column loses to the heavier one step by step, and is out below a half."""
    light, heavy = counts[1] ** 10, counts[0] ** 10
    assert (2 * light > heavy) == (expected == [0, 1])
    assert leading(np.eye(2, dtype=bool), counts=np.array(counts)) == expected


def test_a_column_of_half_the_largest_part_is_not_in_the_start() -> None:
    assert leading(np.ones((3, 3), bool), weights=np.array([2.0, 2.0, 1.0])) == [0, 1]
    assert leading(np.ones((3, 3), bool), weights=np.array([2.0, 2.0, 1.1])) == [0, 1, 2]


def test_votes_that_never_rest_end_after_200_steps() -> None:
    class Restless(Ballot):
        """Moves every set to the next column."""

        def vote(self, sets: Sets, live_rows: np.ndarray, live_columns: np.ndarray) -> Tally:
            moved = Sets(sets.items + 1, sets.bounds)
            return Tally(lambda k: np.zeros(0, np.int64), moved, np.zeros(len(sets)), np.zeros(len(sets), np.int64))

    votes = Restless(problem_of(np.eye(2, dtype=bool)), HALF)
    rest = descent.vote_to_fixed_point(
        votes, Sets.from_masks(np.eye(2, dtype=bool)), np.ones(2, bool), np.ones(2, bool)
    )
    assert rest.items.tolist() == [200, 201]
