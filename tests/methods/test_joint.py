"""The joint method: brute force, an existing optimiser of the same objective, and properties."""

from __future__ import annotations

import itertools
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits, load_iris, load_wine

from biconsensus import Pool, find_consensus
from biconsensus.matrix import _matrix as matrix_module
from biconsensus.matrix._matrix import PreferenceMatrix
from biconsensus.methods import _joint as bipartite
from biconsensus.methods import _joint as joint_method
from biconsensus.methods._joint import Votes, optimise
from biconsensus.protocols import Block
from tests.helpers.strategies import examples

QUORUMS = [Fraction(1, 50), Fraction(1, 10), Fraction(1, 5), Fraction(7, 20), Fraction(1, 2), Fraction(4, 5)]


def problem_of(labels: NDArray[np.int_]) -> PreferenceMatrix:
    return PreferenceMatrix.from_pool(Pool.from_labels(labels))


def total(blocks: list[Block]) -> float:
    return sum(block.gain for block in blocks)


def assert_disjoint(blocks: list[Block]) -> None:
    if blocks:
        assert np.sum([block.rows for block in blocks], axis=0).max() <= 1
        assert np.sum([block.columns for block in blocks], axis=0).max() <= 1
        assert all(block.rows.any() and block.columns.any() for block in blocks)


def dense_votes(problem: PreferenceMatrix, quorum: Fraction) -> NDArray[np.float64]:
    everything = np.ones(problem.shape[0], bool), np.ones(problem.shape[1], bool)
    seen = problem.seen(*everything)
    return problem.counts[:, None] * seen * problem.weights * (problem.entries.toarray() - float(quorum))


@cache
def groupings(n: int) -> list[list[int]]:
    """All groupings of n columns, each once: every group is numbered where it first occurs."""
    every = itertools.product(range(n), repeat=n)
    return [list(of) for of in every if all(g <= max(of[:j], default=-1) + 1 for j, g in enumerate(of))]


def brute_force(problem: PreferenceMatrix, quorum: Fraction) -> float:
    """Best total over all groupings of the columns, rows following (exact, since rows then decide alone)."""
    votes, n_columns, best = dense_votes(problem, quorum), problem.shape[1], 0.0
    for groups in groupings(n_columns):
        fold = np.eye(n_columns)[groups]
        # a column that only costs would be left out: leaving out is a group of its own that no row takes
        best = max(best, float(np.maximum((votes @ fold).max(axis=1), 0.0).sum()))
    return best


def planted(seed: int, n_elements: int = 200, n_sources: int = 10) -> NDArray[np.int_]:
    rng = np.random.default_rng(seed)
    n_groups = int(rng.integers(3, 8))
    truth = rng.integers(n_groups, size=n_elements)
    table = []
    for _ in range(n_sources):
        k = int(rng.integers(2, 12))
        labels = rng.integers(k, size=n_groups)[truth]
        noisy = rng.random(n_elements) < 0.2
        labels[noisy] = rng.integers(k, size=noisy.sum())
        table.append(labels)
    return np.column_stack(table)


def k_means_pool(data: NDArray[np.float64], n_sources: int = 10) -> NDArray[np.int_]:
    rng = np.random.default_rng(0)
    return np.column_stack(
        [
            KMeans(int(k), n_init=1, max_iter=20, random_state=int(seed)).fit_predict(data)
            for k, seed in zip(rng.integers(2, 13, n_sources), rng.integers(1 << 30, size=n_sources), strict=True)
        ]
    )


def potts(problem: PreferenceMatrix, quorum: Fraction) -> float:
    """Total gain of leidenalg's answer: only pairs of a row and a column are penalised, by the sum of three layers."""
    igraph, leidenalg = pytest.importorskip("igraph"), pytest.importorskip("leidenalg")
    n_rows, n_columns = problem.shape
    edges = problem.entries.tocoo()
    weights = problem.counts[edges.row] * problem.weights[edges.col]
    graph = igraph.Graph(n=n_rows + n_columns, edges=np.column_stack([edges.row, edges.col + n_rows]).tolist())
    bare = igraph.Graph(n=n_rows + n_columns)
    of_rows = np.r_[problem.counts, np.zeros(n_columns, int)].astype(int)
    of_columns = np.r_[np.zeros(n_rows, int), problem.weights.astype(int)].astype(int)
    layers = [
        leidenalg.CPMVertexPartition(
            graph,
            weights=weights.tolist(),
            node_sizes=(of_rows + of_columns).tolist(),
            resolution_parameter=float(quorum),
        ),
        leidenalg.CPMVertexPartition(bare, node_sizes=of_rows.tolist(), resolution_parameter=float(quorum)),
        leidenalg.CPMVertexPartition(bare, node_sizes=of_columns.tolist(), resolution_parameter=float(quorum)),
    ]
    optimiser = leidenalg.Optimiser()
    optimiser.set_rng_seed(0)
    optimiser.optimise_partition_multiplex(layers, layer_weights=[1, -1, -1], n_iterations=5)
    found = np.array(layers[0].membership)
    same = found[:n_rows, None] == found[n_rows:]
    return float(dense_votes(problem, quorum)[same].sum())


POOLS = {
    "planted 0": lambda: planted(0, 80),
    "planted 1": lambda: planted(1, 80),
    "iris": lambda: k_means_pool(load_iris().data),
    "wine": lambda: k_means_pool(load_wine().data / load_wine().data.std(axis=0)),
    "digits": lambda: k_means_pool(load_digits().data[:250]),
}


@pytest.mark.parametrize("name", POOLS)
def test_total_gain_is_within_one_percent_of_an_existing_optimiser(name: str) -> None:
    problem = problem_of(POOLS[name]())
    for quorum in QUORUMS:
        assert total(optimise(problem, quorum)) >= 0.99 * potts(problem, quorum)


@examples(30)
@given(seed=st.integers(0, 10_000), quorum=st.sampled_from(QUORUMS))
def test_tiny_problems_never_exceed_the_optimum(seed: int, quorum: Fraction) -> None:
    rng = np.random.default_rng(seed)
    problem = PreferenceMatrix.from_pool(Pool.from_matrix((rng.random((6, 5)) < 0.5).astype(float) + np.eye(6, 5) > 0))
    assert total(optimise(problem, quorum)) <= brute_force(problem, quorum) + 1e-9


def test_tiny_problems_reach_the_optimum_in_nearly_all_cases() -> None:
    rng, shares = np.random.default_rng(0), []
    for _ in range(60):
        matrix = (rng.random((6, 5)) < 0.5) | np.eye(6, 5, dtype=bool)
        problem = PreferenceMatrix.from_pool(Pool.from_matrix(matrix.astype(float)))
        quorum = QUORUMS[int(rng.integers(len(QUORUMS)))]
        shares.append(total(optimise(problem, quorum)) / brute_force(problem, quorum))
    # a local search: of 400 such problems at quorum 1/2 two end more than a tenth below
    assert np.mean(np.array(shares) > 1 - 1e-9) >= 0.95
    assert np.mean(shares) > 0.99


@examples(30)
@given(
    labels=st.lists(st.integers(0, 4), min_size=4, max_size=25),
    n_sources=st.integers(1, 6),
    quorum=st.fractions(Fraction(1, 50), Fraction(49, 50), max_denominator=50),
)
def test_identical_partitions_come_back_unchanged(labels: list[int], n_sources: int, quorum: Fraction) -> None:
    pool = Pool.from_labels(np.column_stack([labels] * n_sources))
    blocks = optimise(PreferenceMatrix.from_pool(pool), quorum)
    found = {frozenset(np.flatnonzero(block.rows[pool.inverse])) for block in blocks}
    assert found == {frozenset(np.flatnonzero(np.array(labels) == g)) for g in set(labels)}


@examples(10)
@given(seed=st.integers(0, 1000), quorum=st.sampled_from(QUORUMS))
def test_never_below_its_start_and_always_disjoint(seed: int, quorum: Fraction) -> None:
    problem = problem_of(planted(seed, 60, 6))
    columns = np.random.default_rng(seed).integers(-1, 4, problem.shape[1])
    votes = Votes.at_quorum(problem, quorum)
    rows, _ = votes.best_rows(columns)
    start = [Block(rows == t, columns == t, problem.gain(rows == t, columns == t, quorum)) for t in range(4)]
    blocks = optimise(problem, quorum, start)
    assert_disjoint(blocks)
    assert total(blocks) >= total(start) - 1e-9
    for block in blocks:
        assert block.gain == pytest.approx(dense_votes(problem, quorum)[np.ix_(block.rows, block.columns)].sum())


def test_unseen_entries_do_not_vote() -> None:
    truth = np.repeat([0, 1, 2], 20)
    rng = np.random.default_rng(3)
    table = np.full((60, 8), np.nan)
    for j in range(8):
        seen = rng.random(60) < 0.6
        table[seen, j] = truth[seen]
    pool = Pool.from_labels(table)
    problem = PreferenceMatrix.from_pool(pool)
    blocks = optimise(problem, Fraction(1, 2))
    votes = dense_votes(problem, Fraction(1, 2))
    assert len(blocks) == 3
    for block in blocks:
        assert np.unique(truth[block.rows[pool.inverse]]).size == 1
        assert block.gain == pytest.approx(votes[np.ix_(block.rows, block.columns)].sum())


def test_weights_multiply_votes_exactly_like_repeated_sources() -> None:
    table = planted(5, 80, 5)
    repeated = problem_of(np.column_stack([table, table[:, 0], table[:, 0]]))
    weighted = PreferenceMatrix.from_pool(Pool.from_labels(table, weights=[3, 1, 1, 1, 1]))
    for quorum in QUORUMS:
        assert total(optimise(weighted, quorum)) == pytest.approx(total(optimise(repeated, quorum)), rel=0.01)


def test_order_of_elements_does_not_matter() -> None:
    table = planted(7, 100, 8)
    shuffled = np.random.default_rng(0).permutation(100)
    for quorum in QUORUMS:
        here, there = problem_of(table), problem_of(table[shuffled])
        assert total(optimise(here, quorum)) == pytest.approx(total(optimise(there, quorum)), rel=0.005)


@pytest.mark.parametrize(("limit", "value"), [("PAIR_COST", 0), ("PAIR_COST", 10**9), ("FEW_GROUPS", 0)])
def test_the_way_pairs_are_counted_changes_nothing(monkeypatch, limit, value):
    rng = np.random.default_rng(6)
    table = np.where(rng.random((300, 8)) < 0.3, rng.integers(0, 9, (300, 8)), rng.integers(0, 9, (300, 1)))
    table = table.astype(float)
    table[rng.random(table.shape) < 0.1] = np.nan
    here = find_consensus(table, method="joint", quorum=0.3)
    monkeypatch.setattr(joint_method, limit, value)
    monkeypatch.setattr(joint_method, "SMALL_PRODUCT", 0)
    there = find_consensus(table, method="joint", quorum=0.3)
    assert len(here) == 9
    assert np.array_equal(here.labels, there.labels)
    assert here.objective == there.objective


@pytest.mark.parametrize("pair_cost", [0, 10**9])
@pytest.mark.parametrize("most", [3, 4_000_000])
def test_pairs_are_the_same_in_dense_tables_and_in_sparse_products(monkeypatch, most, pair_cost):
    rng = np.random.default_rng(8)
    problem = problem_of(rng.integers(0, 4, (60, 7)))
    rows, columns = rng.integers(-1, 5, problem.shape[0]), rng.integers(-1, 5, problem.shape[1])
    monkeypatch.setattr(joint_method, "MAX_PAIRS", most)
    small = joint_method.GroupPairs.of(problem, rows, columns)
    monkeypatch.setattr(joint_method, "SMALL_PRODUCT", 0)
    monkeypatch.setattr(joint_method, "PAIR_COST", pair_cost)
    large = joint_method.GroupPairs.of(problem, rows, columns)
    assert small is not None
    assert large is not None
    dense = problem.entries.toarray() * problem.counts[:, None]
    for k, column in enumerate(small.columns):
        assert small.held[k] == dense[rows == columns[column], column].sum()
    for name, value in vars(small).items():
        assert np.array_equal(value, getattr(large, name)), name


def test_groups_with_other_numbers_are_the_same_groups():
    rng = np.random.default_rng(2)
    problem = problem_of(np.repeat(rng.integers(0, 12, (300, 1)), 6, axis=1) * 3 + rng.integers(0, 3, (300, 6)) // 2)
    votes = Votes.at_quorum(problem, Fraction(1, 3))
    columns = np.arange(problem.shape[1]) // 5
    for _ in range(20):
        columns = columns.copy()
        columns[rng.integers(0, columns.size)] = rng.integers(-1, columns.max() + 1)
        columns = bipartite.consecutive(columns)
        if rng.random() < 0.5:  # a group that goes, and one that comes
            columns = bipartite.consecutive(np.where(columns == rng.integers(0, columns.max() + 1), -1, columns))
            columns[np.flatnonzero(columns < 0)[:3]] = columns.max() + 1
        rows, value = votes.best_rows(columns)
        fresh, expected = Votes.at_quorum(problem, Fraction(1, 3)).best_rows(columns)
        assert np.array_equal(rows, fresh)
        assert value == expected


def test_a_group_of_very_many_columns_is_cut_by_its_heaviest(monkeypatch):
    table = np.repeat([[0, 0, 0, 0, 1, 2], [0, 0, 0, 0, 3, 4], [1, 1, 1, 1, 5, 6]], 5, axis=0)
    problem = problem_of(table)
    votes = Votes.at_quorum(problem, Fraction(1, 2))
    one_group = np.zeros(problem.shape[1], np.int64)
    rows, _ = votes.best_rows(one_group)
    pairs = joint_method.GroupPairs.of(problem, np.maximum(rows, 0), one_group)
    assert pairs is not None
    assert pairs.left.size == problem.shape[1] ** 2
    monkeypatch.setattr(joint_method, "MAX_PAIRS", 2 * problem.shape[1])
    narrow = joint_method.GroupPairs.of(problem, np.maximum(rows, 0), one_group)
    assert narrow is not None
    assert set(narrow.right.tolist()) == {0, 1}
    wide = pairs.shared.reshape(problem.shape[1], -1)
    assert np.array_equal(narrow.shared.reshape(problem.shape[1], 2), wide[:, :2])


@examples(25)
@given(seed=st.integers(0, 1000), quorum=st.sampled_from(QUORUMS), missing=st.booleans(), dense=st.booleans())
def test_half_steps_are_those_of_the_matrix_of_votes(seed: int, quorum: Fraction, missing: bool, dense: bool) -> None:
    rng = np.random.default_rng(seed)
    table = planted(seed, 60, 6).astype(float)
    table[rng.random(table.shape) < 0.3 * missing] = np.nan
    problem = problem_of(table)
    each = dense_votes(problem, quorum)
    n_groups = 4
    columns = np.append(np.arange(n_groups), rng.integers(-1, n_groups, problem.shape[1] - n_groups))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bipartite, "SCANNED", 10**9 if dense else 0)
        patch.setattr(bipartite, "CACHED", 100 if dense else 0)
        patch.setattr(bipartite, "SCORED", 100)  # several blocks of rows
        votes = Votes.at_quorum(problem, quorum)
        rows, gain = votes.best_rows(columns)
        followed = votes.best_columns(rows)
        gain_between_groups = votes.gain_between_groups(columns, rows)
        without_last = votes.gain_between_groups(columns, np.where(rows == n_groups - 1, -1, rows))
        first = votes.first_rows(columns)
    by_group = np.stack([each[:, columns == t].sum(axis=1) for t in range(n_groups)], axis=1)
    best = np.maximum(by_group.max(axis=1), 0.0)
    scale = votes.reward[0] / problem.weights[0]  # votes are counted in whole numbers
    assert gain == pytest.approx(scale * best.sum())
    assert np.where(rows >= 0, by_group[np.arange(rows.size), rows], 0.0) == pytest.approx(best)
    taken = np.stack([each[rows == t].sum(axis=0) for t in range(n_groups)])
    assert np.array_equal(followed >= 0, taken.max(axis=0) > 1e-9)
    at_best = taken >= taken.max(axis=0) - 1e-9
    for group in range(int(followed.max(initial=-1)) + 1):  # numbered anew, so any group of rows that is best for all
        assert at_best[:, followed == group].all(axis=1).any()
    gains = np.stack([taken[:, columns == t].sum(axis=1) for t in range(n_groups)])
    assert gain_between_groups == pytest.approx(scale * gains)
    assert without_last == pytest.approx(scale * np.column_stack([gains[:, :-1], np.zeros(n_groups)]))
    gained = by_group > 1e-9
    assert np.array_equal(first, np.where(gained.any(axis=1), gained.argmax(axis=1), -1))


@examples(25)
@given(seed=st.integers(0, 1000), quorum=st.sampled_from(QUORUMS), even=st.booleans())
def test_no_row_gains_by_rounding_where_no_column_saw_it(seed: int, quorum: Fraction, even: bool) -> None:
    rng = np.random.default_rng(seed)
    table = planted(seed, 60, 12).astype(float)
    table[rng.random(table.shape) < 0.6] = np.nan
    problem = problem_of(table)
    problem = problem.with_weights(10.0 ** rng.uniform(-4, 0, problem.shape[1]))  # sums of these are not exact
    columns = np.append(np.arange(8), rng.integers(-1, 8, problem.shape[1] - 8))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bipartite, "MANY_GROUPS", 300 if even else 0)
        votes = Votes.at_quorum(problem, quorum)
        answers = votes.best_rows(columns)[0], votes.first_rows(columns)
    in_group = np.stack([columns == t for t in range(8)], axis=1).astype(float)
    holds = problem.entries.toarray() @ in_group
    for rows in answers:
        inside = np.flatnonzero(rows >= 0)
        assert (holds[inside, rows[inside]] > 0).all()


@examples(25)
@given(seed=st.integers(0, 1000), quorum=st.sampled_from(QUORUMS), missing=st.booleans(), dense=st.booleans())
def test_columns_are_taken_in_turn_as_algorithm_1_takes_them(
    seed: int, quorum: Fraction, missing: bool, dense: bool
) -> None:
    rng = np.random.default_rng(seed)
    table = planted(seed, 60, 6).astype(float)
    table[rng.random(table.shape) < 0.3 * missing] = np.nan
    problem = problem_of(table)
    rows = rng.integers(-1, 4, problem.shape[0])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bipartite, "SCANNED", 10**9 if dense else 0)
        patch.setattr(bipartite, "CACHED", 100 if dense else 0)
        found = Votes.at_quorum(problem, quorum).columns_in_turn(rows)
    gained = np.stack([dense_votes(problem, quorum)[rows == t].sum(axis=0) for t in range(4)])
    gained = np.where(gained > 1e-9, gained, 0.0)
    expected, left = np.full(problem.shape[1], -1), [0, 1, 2, 3]
    for number in range(4):
        live = expected < 0
        group = max(left, key=lambda t: (round(gained[t, live].sum(), 6), -t))
        left.remove(group)
        expected[live & (gained[group] > 0)] = number
    assert np.array_equal(found, expected)


@examples(10)
@given(seed=st.integers(0, 1000), quorum=st.sampled_from(QUORUMS), missing=st.booleans())
def test_pairs_of_many_groups_gain_what_pairs_of_few_do(seed: int, quorum: Fraction, missing: bool) -> None:
    rng = np.random.default_rng(seed)
    table = planted(seed, 60, 6).astype(float)
    table[rng.random(table.shape) < 0.3 * missing] = np.nan
    votes = Votes.at_quorum(problem_of(table), quorum)
    columns = bipartite.consecutive(rng.integers(0, 8, votes.n_columns))
    rows, _ = votes.best_rows(columns)
    both = bipartite.DensePairs(votes, columns, rows), bipartite.SparsePairs(votes, columns, rows)
    for _ in range(2):
        (_, dense), (partner, sparse) = (pairs.best() for pairs in both)
        gains = np.maximum(dense, 0)
        assert np.maximum(np.where(partner >= 0, sparse, 0), 0) == pytest.approx(gains)
        onto = bipartite.consecutive(np.arange(dense.size) // 2)
        for pairs in both:
            pairs.join(onto)


def test_columns_are_moved_only_where_there_are_few(monkeypatch: pytest.MonkeyPatch) -> None:
    votes = Votes.at_quorum(problem_of(planted(1, 60, 6)), Fraction(1, 2))
    columns = np.zeros(votes.n_columns, np.int64)
    n_rows = votes.problem.shape[0]
    monkeypatch.setattr(bipartite, "MOVES_BUDGET", n_rows * 2 * votes.n_columns)
    assert not np.array_equal(bipartite.moved(votes, columns), columns)
    monkeypatch.setattr(bipartite, "MOVES_BUDGET", n_rows * 2 * votes.n_columns - 1)
    assert np.array_equal(bipartite.moved(votes, columns), columns)


def test_groups_are_joined_however_small_the_weights_are() -> None:
    labels = planted(2, 60, 6)
    one, small = (
        Votes.at_quorum(PreferenceMatrix.from_pool(Pool.from_labels(labels, weights=[w] * 6)), Fraction(1, 2))
        for w in (1.0, 2.0**-20)
    )
    columns = np.arange(one.n_columns)
    joined = bipartite.merged(one, columns)
    assert np.unique(joined).size < one.n_columns
    assert np.array_equal(bipartite.merged(small, columns), joined)


@pytest.mark.parametrize("padded", [0, 2])
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_groups_that_changed_a_little_give_the_rows_of_a_fresh_look(
    monkeypatch: pytest.MonkeyPatch, missing: float, padded: int
) -> None:
    monkeypatch.setattr(matrix_module, "PADDED", padded)
    rng = np.random.default_rng(4)
    table = planted(4, 400, 12).astype(float)
    table[rng.random(table.shape) < missing] = np.nan
    problem = problem_of(table)
    votes = Votes.at_quorum(problem, Fraction(1, 5))
    columns = np.arange(problem.shape[1]) // 2
    scored: list[int] = []
    top_rows, top_even_rows = Votes._top_rows, Votes._top_even_rows

    def counted(self: Votes, columns: NDArray[np.int_], first: bool = False) -> object:
        scored.append(self.problem.shape[0])
        return top_rows(self, columns, first)

    def counted_even(self: Votes, columns: NDArray[np.int_], among: NDArray[np.int_] | None = None) -> object:
        scored.append(self.problem.shape[0] if among is None else among.size)
        return top_even_rows(self, columns, among)

    for step in range(30):
        columns = columns.copy()
        columns[rng.integers(columns.size)] = rng.integers(-1, columns.max() + 2)
        with monkeypatch.context() as patch:
            patch.setattr(Votes, "_top_rows", counted)
            patch.setattr(Votes, "_top_even_rows", counted_even)
            rows, value = votes.best_rows(columns)
        fresh_rows, fresh_value = Votes.at_quorum(problem, Fraction(1, 5)).best_rows(columns)
        assert np.array_equal(rows, fresh_rows), step
        assert value == fresh_value
    assert min(scored) < problem.shape[0] / 2  # only rows near the groups that changed


def test_a_step_that_gained_nothing_is_not_taken_from_the_same_place_again() -> None:
    votes = Votes.at_quorum(problem_of(planted(2, 200, 10)), Fraction(1, 2))
    asked: list[bytes] = []

    def settled(_: Votes, columns: NDArray[np.int_]) -> NDArray[np.int_]:
        asked.append(columns.tobytes())
        return columns

    joint_method.climb(votes, np.arange(votes.n_columns), (joint_method.merged, settled))
    assert len(asked) == len(set(asked))


@pytest.mark.parametrize("binary", [True, False])
def test_pairs_of_columns_are_those_of_the_matrix(monkeypatch: pytest.MonkeyPatch, binary: bool) -> None:
    rng = np.random.default_rng(8)
    matrix = (rng.random((50, 12)) < 0.4) * (1.0 if binary else rng.random((50, 12)))
    problem = PreferenceMatrix.from_pool(Pool.from_matrix(matrix.astype(bool) if binary else matrix))
    rows, columns = rng.integers(-1, 3, problem.shape[0]), np.arange(problem.shape[1]) % 3
    for cost in (0, 10**9):  # sparse products, dense ones
        monkeypatch.setattr(joint_method, "PAIR_COST", cost)
        pairs = joint_method.GroupPairs.of(problem, rows, columns)
        assert pairs is not None
        for left, right, shared in zip(pairs.columns[pairs.left], pairs.columns[pairs.right], pairs.shared):
            inside = rows == columns[left]
            both = problem.entries[:, [left, right]].toarray()[inside].prod(axis=1)
            assert shared == pytest.approx(problem.counts[inside] @ both)


@pytest.mark.parametrize("kept", [0, 10**6])
@pytest.mark.parametrize("n_groups", [3, 40])
@pytest.mark.parametrize("kind", ["complete", "outliers", "missing"])
def test_best_rows_are_those_of_all_scores(monkeypatch, kind, n_groups, kept) -> None:
    monkeypatch.setattr(joint_method, "KEPT", kept)
    monkeypatch.setattr(matrix_module, "KEPT", kept)
    monkeypatch.setattr(joint_method, "SCORED", 1000)
    rng = np.random.default_rng([n_groups, len(kind)])
    table = rng.integers(0, 12, (200, 9)).astype(float)
    if kind != "complete":
        table[rng.random(table.shape) < 0.2] = -1 if kind == "outliers" else np.nan
    problem = problem_of(table)
    votes = Votes.at_quorum(problem, Fraction(1, 10))
    assert problem.row_length == 9
    columns = rng.integers(-1, n_groups, problem.shape[1])
    changed = columns.copy()
    changed[np.flatnonzero(columns == 0)[:1]] = -1  # few groups differ, so that only rows near them are scored again
    for asked in (columns, changed):
        scores = votes.row_scores(asked)
        rows, value = votes.best_rows(asked)
        assert (rows == np.where(scores.max(axis=0) > 0, scores.argmax(axis=0), -1)).all()
        assert value == problem.counts @ np.maximum(scores.max(axis=0), 0.0)
