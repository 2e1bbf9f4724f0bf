"""Both ways to count votes against plain formulas, whichever a ballot would choose."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from biconsensus.matrix._matrix import PreferenceMatrix
from biconsensus.solvers.vote import _ballot as ballot
from biconsensus.solvers.vote._ballot import Ballot, whole_unit
from biconsensus.solvers.vote._counting import DenseVotes, Sets, SparseVotes
from biconsensus.solvers.vote._solver import FixedPoint, Preference
from tests.helpers.solver_problems import HALF, problem_of
from tests.helpers.strategies import examples

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


def test_weights_are_counted_in_their_unit() -> None:
    votes = Ballot(problem_of(np.eye(3, dtype=bool), weights=np.array([0.5, 1.5, 2.0])), HALF)
    assert votes.unit == 0.5
    assert votes.weights.tolist() == [1, 3, 4]


def test_no_set_is_too_large_for_a_row_that_holds_all_of_it() -> None:
    votes = Ballot(problem_of(np.ones((2, 2), bool), weights=np.array([1.0, 3.0])), HALF)
    assert not votes.is_too_large(np.ones(2, bool))
    heavy = Ballot(problem_of(np.eye(3, dtype=bool), weights=np.array([2.0, 3.0, 4.0])), HALF)
    assert [heavy.is_too_large(np.arange(3) < k) for k in (1, 2, 3)] == [False, False, True]  # 4 of 2, 5, 9


def test_whole_weights_are_counted_while_their_shares_are_exact() -> None:
    assert whole_unit(np.array([1.0, 2.0**33 - 2])) == 1.0
    assert whole_unit(np.array([1.0, 2.0**33 - 1])) is None
    assert (2**33 - 1) * 10**9 < 2**63  # the largest sum times the largest numerator of a quorum
