"""Both ways to count votes against plain formulas, whichever a ballot would choose; parts of the vote solver."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from solver_problems import HALF, planted, problem_of
from strategies import examples

from biconsensus.core.preference import PreferenceMatrix
from biconsensus.solvers import ballot, descent, vote
from biconsensus.solvers.ballot import Ballot
from biconsensus.solvers.dense_votes import DenseVotes
from biconsensus.solvers.fixed_point import FixedPoint, Preference
from biconsensus.solvers.sets import Sets, set_of
from biconsensus.solvers.sparse_votes import SparseVotes
from biconsensus.solvers.vote import VoteSolver, heaviest

seeds = st.integers(0, 2**32 - 1)
levels = st.sampled_from([Fraction(29, 100), HALF, Fraction(2, 3)])


def random_problem(rng: np.random.Generator, missing: bool, real: bool) -> PreferenceMatrix:
    m, n = rng.integers(2, 9, 2)
    matrix = rng.random((m, n)) < 0.5
    unseen = rng.random((m, n)) < 0.25 if missing else None
    weights = rng.integers(1, 4, n) * (0.3 if real else 1.0) + (0.01 * rng.random(n) if real else 0)
    return problem_of(matrix, rng.integers(1, 4, m), weights, unseen)


def by_definition(
    problem: PreferenceMatrix, rows: np.ndarray, live: np.ndarray, quorum: Fraction
) -> tuple[list[tuple[int, int, int]], int]:
    """Columns that join a set of rows with what they hold and saw, and the elements of the rows."""
    seen = problem.seen(np.ones(problem.shape[0], bool), np.ones(problem.shape[1], bool)).astype(int)
    held = problem.entries.toarray().astype(int)
    counts = np.where(rows, problem.counts, 0)
    found = [
        (j, int(counts @ held[:, j]), int(counts @ seen[:, j]))
        for j in np.flatnonzero(live)
        if counts @ held[:, j] * quorum.denominator > counts @ seen[:, j] * quorum.numerator
    ]
    return found, int(counts.sum())


def rows_by_definition(
    problem: PreferenceMatrix, columns: np.ndarray, live: np.ndarray, quorum: Fraction
) -> np.ndarray:
    """Live rows that join a set of columns, in exact fractions."""
    seen = problem.seen(np.ones(problem.shape[0], bool), np.ones(problem.shape[1], bool)).astype(int)
    held = problem.entries.toarray().astype(int)
    weights = [Fraction(float(weight)) for weight in problem.weights]
    joined = [
        sum(weights[j] * int(held[i, j]) for j in columns) > quorum * sum(weights[j] * int(seen[i, j]) for j in columns)
        for i in range(problem.shape[0])
    ]
    return np.array(joined, bool) & live


@given(seeds, levels, st.booleans(), st.booleans(), st.sampled_from([1, 3, 100]))
@examples(60)
def test_dense_and_sparse_counts_are_those_of_the_definition(
    seed: int, quorum: Fraction, missing: bool, real: bool, size: int
) -> None:
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, missing, real)
    (m, n), votes = problem.shape, Ballot(problem, quorum, n_jobs=1)
    live_rows, live_columns = rng.random(m) < 0.8, rng.random(n) < 0.8
    masks = rng.random((4, n)) < 0.5
    starts = rng.permutation(n)[: max(1, n // 2)]
    for way in (DenseVotes(votes, size), SparseVotes(votes)):
        count = way.of_sets(Sets.from_masks(masks), live_rows, live_columns)
        for k in range(4):
            rows = rows_by_definition(problem, np.flatnonzero(masks[k]), live_rows, quorum)
            columns, elements = by_definition(problem, rows, live_columns, quorum)
            mine = count.which == k
            assert count.rows(k).tolist() == np.flatnonzero(rows).tolist()
            assert count.n_elements[k] == elements
            assert list(zip(count.columns[mine], count.held[mine], count.seen[mine])) == columns
        first = way.of_candidates(starts, live_rows, live_columns)
        assert len(first) == starts.size
        for k, start in enumerate(starts):
            inside = (problem.entries.toarray()[:, start] != 0) & live_rows
            expected = [j for j, _, _ in by_definition(problem, inside, live_columns, quorum)[0]]
            assert first.items[first.bounds[k] : first.bounds[k + 1]].tolist() == expected


def test_whole_numbers_beyond_single_precision_are_counted_exactly_by_both() -> None:
    big = 2**24
    matrix = np.array([[1, 0, 1], [0, 1, 1], [1, 1, 0]], bool)
    problem = problem_of(matrix, np.array([big, 1, big + 1]), np.array([big, big + 1, 1.0]))
    votes = Ballot(problem, HALF, n_jobs=1)
    every = np.ones(3, bool), np.ones(3, bool)
    for way in (DenseVotes(votes, 2), SparseVotes(votes)):
        count = way.of_sets(Sets.from_masks(np.array([[True, True, False], [True, True, True]])), *every)
        assert count.rows(0).tolist() == [1, 2]
        assert count.rows(1).tolist() == [1, 2]  # row 0 holds 2^24 + 1 of 2^25 + 2: just the half
        assert count.n_elements.tolist() == [big + 2, big + 2]
        first = way.of_candidates(np.array([0, 1, 2]), *every)
        assert first.items[: first.bounds[1]].tolist() == [0, 1]  # of 2^25 + 1 elements, 2^24 + 1 are in column 1


def test_between_2_to_the_24_and_2_to_the_25_nothing_is_rounded() -> None:
    """22,500,001 of 30,000,001 is more than three quarters; single precision would round it down to just that."""
    large = np.array([22_500_001, 7_499_999, 1])
    for parts in ({"weights": large}, {"counts": large}):
        matrix = np.eye(3, dtype=bool) if "weights" in parts else np.array([[1, 1], [0, 1], [0, 1]], bool)
        votes = Ballot(problem_of(matrix, **parts), Fraction(3, 4), n_jobs=1)
        every = np.ones(3, bool), np.ones(matrix.shape[1], bool)
        for way in (DenseVotes(votes, 2), SparseVotes(votes)):
            if "weights" in parts:
                assert way.of_sets(Sets.from_masks(np.ones((1, 3), bool)), *every).rows(0).tolist() == [0]
            else:
                first = way.of_candidates(np.array([1]), *every)
                assert first.items.tolist() == [0, 1]


def test_many_candidates_are_looked_at_some_at_a_time() -> None:
    rng = np.random.default_rng(0)
    problem = problem_of(rng.random((40, 150)) < 0.3)
    votes = Ballot(problem, HALF, n_jobs=1)
    every = np.ones(40, bool), np.ones(150, bool)
    dense, sparse = (way.of_candidates(np.arange(150), *every) for way in (DenseVotes(votes, 7), SparseVotes(votes)))
    assert dense.keys() == sparse.keys()
    assert len(dense) == 150


def test_threads_take_blocks_of_rows_in_order() -> None:
    rng = np.random.default_rng(1)
    problem = problem_of(rng.random((60, 9)) < 0.5, rng.integers(1, 4, 60))
    sets, every = Sets.from_masks(rng.random((5, 9)) < 0.5), (np.ones(60, bool), np.ones(9, bool))
    one, two = (DenseVotes(Ballot(problem, HALF, n_jobs=n), 8).of_sets(sets, *every) for n in (1, 2))
    assert [one.rows(k).tolist() for k in range(5)] == [two.rows(k).tolist() for k in range(5)]
    assert one.held.tolist() == two.held.tolist()


def test_a_ballot_takes_the_way_that_costs_less(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = problem_of(np.eye(100, dtype=bool))
    votes = Ballot(problem, HALF)
    columns = np.arange(100)
    assert votes._way(63, columns[:63]) is votes._dense
    monkeypatch.setattr(ballot, "TURNED", 10)
    assert votes._way(9, columns[:9]) is votes._dense
    # 100 sets reach 100 memberships: 20 * 100 + 10 * 100 steps against 100 * 100
    assert votes._way(100, columns) is votes._sparse
    # the matrix is turned already: 20 * 5 steps against 1 * 100, and one more
    assert votes._way(1, columns[:5]) is votes._sparse
    assert votes._way(1, columns[:6]) is votes._dense
    assert votes._way(1, columns[:2], 3.0) is votes._dense
    monkeypatch.setattr(ballot, "MANY", 50)
    assert votes._way(10**6, columns) is votes._sparse
    assert votes._way(10**6, columns, 1.01) is votes._dense


def test_threads_are_for_many_memberships_unless_they_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ballot, "effective_n_jobs", lambda n: 8 if n == -1 else n or 1)
    problem = problem_of(np.ones((4, 5), bool))
    monkeypatch.setattr(ballot, "MANY", 19)
    assert [Ballot(problem, HALF, n).n_jobs for n in (None, 1, 3)] == [8, 1, 3]
    monkeypatch.setattr(ballot, "MANY", 20)
    assert Ballot(problem, HALF, None).n_jobs == 1


def test_fixed_points_are_stored_the_shorter_way() -> None:
    key = np.array([0], ">i4").tobytes()
    assert FixedPoint.of(key, np.array([3]), 33, 1.0, 1, 1).rows.dtype == np.int32
    assert FixedPoint.of(key, np.array([3]), 32, 1.0, 1, 1).rows.dtype == np.uint8


def test_fixed_points_are_preferred_by_gain_elements_sources_first_row_and_columns() -> None:
    def rank(gain: float, elements: int, sources: int, first: int, columns: list[int]) -> Preference:
        key = np.array(columns, ">i4").tobytes()
        return FixedPoint.of(key, np.array([first, 9]), 10, gain, elements, sources).preference

    best_first = [
        rank(2.0, 1, 1, 9, [9]),
        rank(1.0, 6, 1, 9, [9]),
        rank(1.0, 5, 4, 9, [9]),
        rank(1.0, 5, 3, 1, [9]),
        rank(1.0, 5, 3, 2, [1]),
        rank(1.0, 5, 3, 2, [1, 3]),
        rank(1.0, 5, 3, 2, [2]),
        rank(0.5, 9, 9, 0, [0]),
    ]
    assert all(better < worse for better, worse in pairwise(best_first))


def test_real_weights_are_compared_in_double_precision() -> None:
    problem = problem_of(np.eye(2, dtype=bool), weights=np.array([1.0, 1.0 + 1e-9]))
    votes = Ballot(problem, HALF, n_jobs=1)
    every = np.ones(2, bool), np.ones(2, bool)
    for way in (DenseVotes(votes, 2), SparseVotes(votes)):
        assert way.of_sets(Sets.from_masks(np.ones((1, 2), bool)), *every).rows(0).tolist() == [1]


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


def test_rows_are_starts_where_there_are_few(monkeypatch: pytest.MonkeyPatch) -> None:
    starts = []
    original = VoteSolver._from
    monkeypatch.setattr(VoteSolver, "_from", lambda self, sets, who: (starts.extend(who), original(self, sets, who)))
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


def test_the_singular_vector_is_a_start_of_the_first_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vote, "LEADING_ROUNDS", 2)
    asked = []
    original = VoteSolver._leading
    monkeypatch.setattr(VoteSolver, "_leading", lambda self: (asked.append(self._round), original(self))[1])
    solver = solved(planted([(6, 4), (5, 4), (4, 4), (3, 3)]))
    rows, columns = np.ones(18, bool), np.ones(15, bool)
    for gain in (12.0, 10.0, 8.0, 4.5):
        block = solver.best_block(rows, columns, 1, 1)
        assert block is not None
        assert block.gain == gain
        rows, columns = rows & ~block.rows, columns & ~block.columns
    assert asked == [0, 1]


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


def test_weights_are_counted_in_their_unit() -> None:
    votes = Ballot(problem_of(np.eye(3, dtype=bool), weights=np.array([0.5, 1.5, 2.0])), HALF)
    assert votes.unit == 0.5
    assert votes.weights.tolist() == [1, 3, 4]


def test_rows_are_starts_up_to_the_border(monkeypatch: pytest.MonkeyPatch) -> None:
    starts: list[int] = []
    original = VoteSolver._from
    monkeypatch.setattr(VoteSolver, "_from", lambda self, sets, who: (starts.extend(who), original(self, sets, who)))
    for few, expected in ((4, False), (5, True)):
        monkeypatch.setattr(vote, "FEW_ROWS", few)
        starts.clear()
        solved(planted([(3, 3), (2, 2)])).best_block(np.ones(5, bool), np.ones(5, bool), 1, 1)
        assert (max(starts) >= 5) == expected


def test_a_row_starts_from_the_columns_that_hold_it(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: dict[int, list[int]] = {}
    original = VoteSolver._from

    def note(self: VoteSolver, sets: Sets, who: np.ndarray) -> None:
        begun.update(zip(who.tolist(), map(list, map(set_of, sets.keys()))))
        original(self, sets, who)

    monkeypatch.setattr(VoteSolver, "_from", note)
    matrix = planted([(3, 3), (2, 2)])
    matrix[0, 4] = True
    solved(matrix).best_block(np.ones(5, bool), np.array([True, True, True, True, False]), 1, 1)
    # column 4 is dead; rows are numbered after the five columns
    assert [begun[k] for k in range(5, 10)] == [[0, 1, 2]] * 3 + [[3]] * 2
    assert [begun[k] for k in range(4)] == [[0, 1, 2]] * 3 + [[3]]
    assert begun[-1] == [0, 1, 2]


def test_no_set_is_too_large_for_a_row_that_holds_all_of_it() -> None:
    votes = Ballot(problem_of(np.ones((2, 2), bool), weights=np.array([1.0, 3.0])), HALF)
    assert not votes.is_too_large(np.ones(2, bool))
    heavy = Ballot(problem_of(np.eye(3, dtype=bool), weights=np.array([2.0, 3.0, 4.0])), HALF)
    assert [heavy.is_too_large(np.arange(3) < k) for k in (1, 2, 3)] == [False, False, True]  # 4 of 2, 5, 9


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
