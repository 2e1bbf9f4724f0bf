"""Both votes against dense formulas, in blocks and threads, exact where weights are whole."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import biconsensus as bc
from biconsensus.matrix._matrix import PreferenceMatrix
from biconsensus.solvers.vote import _ballot as ballot
from biconsensus.solvers.vote import _solver as descent
from biconsensus.solvers.vote import _solver as vote
from biconsensus.solvers.vote._ballot import Ballot, DenseVotes, Sets, SparseVotes, set_of, whole_unit
from biconsensus.solvers.vote._solver import FixedPoint, Preference, VoteSolver, heaviest
from tests.helpers.solver_problems import HALF, problem_of
from tests.helpers.strategies import examples, label_tables, paper_consensus, same_either_way


def dense_votes(problem, active, rows, columns, quorum):
    """Rows and columns that join, and the gains, in exact fractions."""
    B = problem.entries.toarray().astype(int)
    M = problem.seen(np.ones(B.shape[0], bool), np.ones(B.shape[1], bool)).astype(int)
    w = [Fraction(float(weight)) for weight in problem.weights]
    s = problem.counts.tolist()
    joined = np.zeros((B.shape[0], active.shape[1]), bool)
    answer = np.zeros_like(active)
    gains = np.zeros(active.shape[1])
    for k in range(active.shape[1]):
        picked = np.flatnonzero(active[:, k])
        for i in np.flatnonzero(rows):
            held = sum(w[j] * int(B[i, j]) for j in picked)
            joined[i, k] = held > quorum * sum(w[j] * int(M[i, j]) for j in picked)
        inside = np.flatnonzero(joined[:, k])
        for j in np.flatnonzero(columns):
            held, seen = (sum(s[i] * int(X[i, j]) for i in inside) for X in (B, M))
            answer[j, k] = held > quorum * seen
            gains[k] += float(w[j] * (held - quorum * seen)) if answer[j, k] else 0.0
    return joined, answer, gains


def dense_columns(problem, inside, columns, quorum):
    """Columns that join each set of rows (r, S)."""
    B = problem.entries.toarray().astype(int)
    M = problem.seen(np.ones(B.shape[0], bool), np.ones(B.shape[1], bool)).astype(int)
    held, seen = ((problem.counts[:, None] * X).T @ inside.astype(int) for X in (B, M))
    return (held * quorum.denominator > seen * quorum.numerator) & columns[:, None]


@given(
    label_tables(max_elements=14, max_sources=4, missing=True),
    st.sampled_from(["0.29", "0.5", "0.7"]),
    st.sampled_from([[1, 1, 1, 1], [1, 2, 3, 5], [0.3, 1.1, 0.7, 1.9]]),
    st.sampled_from([2, 5, 4096]),
    st.sampled_from([0, 1000]),
    st.integers(0, 2**16 - 1),
)
def test_votes_are_those_of_the_definition(table, quorum, weights, block, sparse, mask):
    """In dense blocks of rows and by sparse products."""
    pool = bc.Pool.from_labels(table, weights=weights[: table.shape[1]], missing=-2)
    problem = bc.PreferenceMatrix.from_pool(pool)
    m, n = problem.shape
    rows = np.array([mask >> (i % 13) & 1 for i in range(m)], bool)
    columns = np.array([mask >> (j % 11) & 3 != 0 for j in range(n)], bool)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ballot, "BLOCK", block)
        patch.setattr(ballot, "SPARSE", sparse)
        votes = Ballot(problem, Fraction(quorum), n_jobs=2)
        first = masks(votes.first_columns(np.arange(n), rows, columns), n)
        tally = votes.vote(Sets.from_masks((np.eye(n, dtype=bool) | first).T), rows, columns)
    inside = problem.entries.toarray().astype(bool) & rows[:, None]
    assert np.array_equal(first, dense_columns(problem, inside, columns, Fraction(quorum)))
    joined, answer, gains = dense_votes(problem, np.eye(n, dtype=bool) | first, rows, columns, Fraction(quorum))
    assert [tally.rows(k).tolist() for k in range(n)] == [np.flatnonzero(inside).tolist() for inside in joined.T]
    assert np.array_equal(masks(tally.columns, n), answer)
    assert tally.gains == pytest.approx(gains, abs=1e-9)
    assert tally.n_elements.tolist() == (problem.counts @ joined).tolist()


def masks(sets, n_columns):
    """(q, S) the columns of each set."""
    return sets.matrix(np.ones(n_columns, int)).toarray().T != 0


def columns_of(sets, n_columns=3):
    """Mask of the columns of one set."""
    return masks(sets, n_columns)[:, 0].tolist()


def pooled(B, **options):
    return bc.PreferenceMatrix.from_pool(bc.Pool.from_matrix(np.asarray(B), **options))


def test_first_columns_are_those_of_the_rows_of_a_candidate():
    problem = pooled([[1, 1, 0], [1, 0, 1], [1, 1, 1], [0, 0, 1]])
    votes = Ballot(problem, HALF)
    every = np.ones(4, bool), np.ones(3, bool)
    assert columns_of(votes.first_columns(np.array([1]), *every)) == [True, True, False]
    assert columns_of(votes.first_columns(np.array([2]), *every)) == [True, False, True]
    dead = np.array([True, False, False, True]), np.array([True, True, False])
    assert columns_of(votes.first_columns(np.array([0]), *dead)) == [True, True, False]


def test_whole_weights_beyond_single_precision_are_counted_right():
    problem = pooled([[1, 0, 0], [0, 1, 0], [0, 0, 1]], weights=[2**24 + 1, 2**24, 1])
    votes = Ballot(problem, HALF)
    tally = votes.vote(Sets.from_masks(np.array([[True, True, False]])), np.ones(3, bool), np.ones(3, bool))
    assert votes.unit == 1.0
    assert tally.rows(0).tolist() == [0]


def test_equal_shares_of_real_weights_do_not_join():
    """0.2 + 0.1 is above 0.3 in floating point; it is no majority of 0.6."""
    problem = pooled([[0, 1, 1], [1, 0, 0], [0, 1, 0]], weights=[0.3, 0.2, 0.1])
    assert whole_unit(problem.weights) is None
    assert 0.2 + 0.1 > (0.3 + 0.2 + 0.1) / 2
    tally = Ballot(problem, HALF).vote(Sets.from_masks(np.ones((1, 3), bool)), np.ones(3, bool), np.ones(3, bool))
    assert tally.rows(0).tolist() == []


@pytest.mark.parametrize("quorum", ["0.3", "0.5", "0.6"])
def test_sets_that_are_too_large_for_every_row(quorum):
    rng = np.random.default_rng(3)
    for weights in ([1] * 8, rng.random(8)):
        votes = Ballot(pooled(rng.random((40, 8)) < 0.2, weights=weights), Fraction(quorum))
        n_rows, n_columns = votes.problem.shape
        every, too_large = (np.ones(n_rows, bool), np.ones(n_columns, bool)), 0
        for size in range(1, n_columns + 1):
            columns = np.arange(n_columns) < size
            tally = votes.vote(Sets.from_masks(columns[None, :]), *every)
            too_large += votes.is_too_large(columns)
            assert not (votes.is_too_large(columns) and tally.rows(0).size)
        assert too_large < n_columns
    one = pooled(np.eye(4, dtype=int))
    assert [Ballot(one, HALF).is_too_large(np.arange(4) < size) for size in (1, 2, 3)] == [False, True, True]
    seen = pooled(np.eye(4, dtype=int), seen=np.eye(4, dtype=bool))
    assert not Ballot(seen, HALF).is_too_large(np.ones(4, bool))


def test_whole_units():
    assert whole_unit(np.array([0.0, 0.5, 1.5])) == 0.5
    assert whole_unit(np.array([0.5, 1.25])) is None
    assert whole_unit(np.zeros(3)) is None


@pytest.mark.parametrize("sparse", [0, 1000])
def test_a_row_that_no_column_of_a_set_saw_does_not_join_it(monkeypatch, sparse):
    """Weights that are not seen leave a rounding error of their sum, which is less than nothing here."""
    monkeypatch.setattr(ballot, "SPARSE", sparse)
    weights = np.array([0.1, 0.7, 0.3])
    assert weights.sum() - (weights[0] + weights[2] + weights[1]) < 0
    A = np.array([[1, 1, 1, 0], [0, 0, 1, 1], [0, 0, 0, 1]])
    seen = np.array([[1, 1, 1, 1], [1, 0, 1, 1], [0, 0, 0, 1]])
    votes = Ballot(pooled(A, weights=[*weights, 1], seen=seen), Fraction("0.9"))
    tally = votes.vote(Sets.from_masks(np.array([[True, True, True, False]])), np.ones(3, bool), np.ones(4, bool))
    assert tally.rows(0).tolist() == [0]


def point(gain=1.0, n_elements=5, n_sources=3, first_row=2, columns=(1, 3)):
    key = np.array(columns, ">i4").tobytes()
    return FixedPoint.of(key, np.array([first_row]), 10, gain, n_elements, n_sources).preference


@pytest.mark.parametrize(
    "better",
    [
        point(gain=1.1, n_elements=1),
        point(n_elements=6, n_sources=1),
        point(n_sources=4, first_row=9),
        point(first_row=1, columns=(2, 3)),
        point(columns=(0, 9)),
        point(columns=(1, 2)),
        point(columns=(1,)),
    ],
)
def test_ties_go_to_gain_then_elements_then_sources_then_the_first_row_and_columns(better):
    assert better < point()


def test_columns_beyond_one_byte_sort_as_numbers():
    assert point(columns=(2, 255)) < point(columns=(2, 256)) < point(columns=(3, 70_000))


def test_gains_that_differ_by_rounding_only_are_ties():
    assert point(gain=1 + 1e-15) == point(gain=1.0)
    assert point(gain=1 + 1e-9) < point(gain=1.0)


@pytest.mark.parametrize("rows", [[3], [3, 40, 99], list(range(0, 100, 2))])
def test_fixed_points_know_their_rows_however_they_are_stored(rows):
    found = FixedPoint.of(np.array([1, 4], ">i4").tobytes(), np.array(rows), 100, 1.0, len(rows), 1)
    assert found.rows.dtype == (np.uint8 if len(rows) > 3 else np.int32)
    assert found.rows.nbytes <= 13
    assert np.flatnonzero(found.inside(100)).tolist() == rows
    assert found.columns.tolist() == [1, 4]
    for i in range(100):
        assert found.has_any(np.arange(100) == i) == (i in rows)


def test_batches_cover_everything_once(monkeypatch):
    monkeypatch.setattr(vote, "BATCH", 4)
    assert [part.tolist() for part in vote._batches(np.arange(9))] == [[0, 1, 2, 3], [4, 5, 6, 7], [8]]
    assert vote._batches(np.arange(0)) == []


def test_many_candidates_in_small_batches_give_the_same(monkeypatch):
    rng = np.random.default_rng(0)
    table = np.where(rng.random((80, 12)) < 0.3, rng.integers(0, 4, (80, 12)), rng.integers(0, 4, (80, 1)))
    whole = paper_consensus(table, min_elements=2)
    monkeypatch.setattr(vote, "BATCH", 3)
    again = paper_consensus(table, min_elements=2)
    assert np.array_equal(whole.labels, again.labels)
    assert whole.gains.tolist() == again.gains.tolist()


def test_the_heaviest_live_rows_come_first():
    problem = pooled(np.repeat([[1, 0, 0], [0, 1, 0], [0, 0, 1]], [2, 5, 3], axis=0))
    solver = VoteSolver()
    solver.load(problem, HALF)
    assert solver._heavy_rows(2).tolist() == [1, 2]
    solver.best_block(np.array([True, False, True]), np.ones(3, bool), 1, 1)
    assert solver._heavy_rows(2).tolist() == [2, 0]
    assert solver._heavy_rows(0).tolist() == []


def test_more_rows_are_sorted_where_the_heaviest_are_gone(monkeypatch):
    counts = np.array([2, 5, 3, 5, 1])
    assert heaviest(counts, 2).tolist() == [1, 3]
    assert heaviest(counts, 1).tolist() == [1, 3]
    assert heaviest(counts, 5).tolist() == [1, 3, 2, 0, 4]
    monkeypatch.setattr(vote, "SORTED_ROWS", 2)
    solver = VoteSolver()
    solver.load(pooled(np.repeat(np.eye(5, dtype=int), counts, axis=0)), HALF)
    solver.best_block(np.array([True, False, True, True, True]), np.ones(5, bool), 1, 1)
    assert solver._heavy_rows(3).tolist() == [3, 2, 0]


@pytest.mark.parametrize(("weight", "leading"), [(1, [True, False]), (2, [False, True])])
def test_the_leading_start_is_the_block_of_the_largest_singular_value(weight, leading):
    """Squared singular values: 8 rows x 4^2 against 4 rows x (3 weight)^2."""
    B = np.zeros((12, 7), int)
    B[:8, :4] = B[8:, 4:] = 1
    solver = VoteSolver()
    solver.load(pooled(B, weights=[1, 1, 1, 1, weight, weight, weight]), HALF)
    assert solver._leading().tolist() == leading
    solver.best_block(np.ones(2, bool), ~np.array(leading), 1, 1)
    assert solver._leading().tolist() == (~np.array(leading)).tolist()


def test_sets_and_their_keys():
    sets = Sets.from_masks(np.array([[1, 0, 1], [0, 0, 0], [0, 1, 0]], bool))
    assert len(sets) == 3
    assert list(map(list, map(set_of, sets.keys()))) == [[0, 2], [], [1]]
    again = Sets.from_keys(sets.keys())
    assert (again.items.tolist(), again.bounds.tolist()) == (sets.items.tolist(), sets.bounds.tolist())
    assert sets.which().tolist() == [0, 0, 2]
    assert sets.matrix(np.array([5, 6, 7])).toarray().tolist() == [[5, 0, 7], [0, 0, 0], [0, 6, 0]]


def test_sets_that_are_known_need_no_vote():
    problem = pooled([[1, 0], [0, 1]])
    votes = Ballot(problem, HALF)
    every = np.ones(2, bool), np.ones(2, bool)
    start = Sets.from_masks(np.eye(2, dtype=bool))
    kept = []
    known = {start.keys()[0]}
    rest = descent.vote_to_fixed_point(
        votes, start, *every, lambda keys, tally, places: kept.extend(zip(keys, places)), known
    )
    assert rest.keys() == start.keys()
    assert kept == [(start.keys()[1], 0)]


def test_sparse_and_dense_votes_find_the_same_groups(monkeypatch):
    rng = np.random.default_rng(5)
    table = np.where(rng.random((900, 8)) < 0.2, rng.integers(0, 30, (900, 8)), rng.integers(0, 30, (900, 1)))
    table[rng.random(table.shape) < 0.1] = -9
    pool = bc.Pool.from_labels(table, weights=rng.random(8), missing=-9)
    found = same_either_way(monkeypatch, ballot, "SPARSE", lambda: bc.find_consensus(pool, min_elements=2, quorum=0.6))
    assert len(found) >= 30


def test_no_sample_up_to_twice_its_size(monkeypatch):
    table = np.arange(40)[:, None] // np.array([1, 2, 4])
    problem = bc.PreferenceMatrix.from_pool(bc.Pool.from_labels(table))
    monkeypatch.setattr(descent, "SAMPLE", 20)
    assert descent.sample_rows(problem) is None
    monkeypatch.setattr(descent, "SAMPLE", 19)
    rows, part = descent.sample_rows(problem)
    assert 0 < rows.size < 40
    assert (part.counts == 2).all()  # 40 elements, 19 of them sampled: each stands for two
    assert np.array_equal(part.entries.toarray(), problem.entries.toarray()[rows])


def test_rows_of_many_elements_are_always_in_the_sample(monkeypatch):
    labels = np.concatenate([np.zeros(500, int), np.arange(1, 60)])
    problem = bc.PreferenceMatrix.from_pool(bc.Pool.from_labels([labels, labels // 2]))
    monkeypatch.setattr(descent, "SAMPLE", 10)
    rows, part = descent.sample_rows(problem)
    assert rows[0] == 0
    assert part.counts[0] == 500
    assert (part.counts[1:] == round(559 / 10)).all()


def test_weightless_columns_back_nothing():
    B = np.array([[1, 1, 1], [1, 1, 1], [1, 0, 1], [0, 1, 1]])
    solver = VoteSolver()
    solver.load(pooled(B, weights=[1, 1, 0]), HALF)
    block = solver.best_block(np.ones(3, bool), np.ones(3, bool), 1, 1)
    assert block is not None
    assert block.columns.tolist() == [True, True, False]


def test_first_votes_leave_out_what_a_view_did_not_see():
    """Candidate 1 holds one of the three rows of candidate 0, but its source saw only that one: all of what it saw."""
    pool = bc.Pool.from_groups([[0, 1, 2], [0]], n_elements=4, seen=[[0, 1, 2, 3], [0, 3]])
    problem = bc.PreferenceMatrix.from_pool(pool)
    every = np.ones(problem.shape[0], bool), np.ones(2, bool)
    assert columns_of(Ballot(problem, HALF).first_columns(np.array([0]), *every), 2) == [True, True]
    seen = bc.PreferenceMatrix.from_pool(bc.Pool.from_groups([[0, 1, 2], [0]], n_elements=4))
    every = np.ones(seen.shape[0], bool), np.ones(2, bool)
    assert columns_of(Ballot(seen, HALF).first_columns(np.array([0]), *every), 2) == [True, False]


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
    monkeypatch.setattr(ballot, "MADE", 0)
    monkeypatch.setattr(ballot, "TURNED", 10)
    assert votes._way(9, columns[:9]) is votes._dense
    # 100 sets reach 100 memberships: 20 * 100 + 10 * 100 steps against 100 * 100
    assert votes._way(100, columns) is votes._sparse
    # the matrix is turned already: 20 * 5 steps against 1 * 100, and one more
    assert votes._way(1, columns[:5]) is votes._sparse
    assert votes._way(1, columns[:6]) is votes._dense
    monkeypatch.setattr(ballot, "MADE", 1)
    assert votes._way(1, columns[:5]) is votes._dense
    monkeypatch.setattr(ballot, "MADE", 0)
    assert votes._way(1, columns[:2], 3.0) is votes._dense
    monkeypatch.setattr(ballot, "MANY", 50)
    assert votes._way(10**6, columns) is votes._sparse
    assert votes._way(10**6, columns, 1.01) is votes._dense


def test_threads_are_for_many_memberships_unless_they_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ballot, "n_threads", lambda n: 8 if n == -1 else n)
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


def test_sets_one_after_the_other() -> None:
    first, second = (Sets.from_masks(np.array(masks)) for masks in ([[True, False], [False, False]], [[True, True]]))
    both = first.and_also(second)
    names = both.keys()
    assert [set_of(name).tolist() for name in names] == [[0], [], [0, 1]]
    assert both.and_also(Sets.from_masks(np.zeros((0, 2), bool))).keys() == names
