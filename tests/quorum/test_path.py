"""The quorum path, and its automatic choice on pools with a known truth."""

from __future__ import annotations

import warnings
from fractions import Fraction

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, load_wine, make_blobs
from sklearn.metrics import adjusted_rand_score

import biconsensus as bc
from biconsensus import find
from biconsensus.errors import PoolWarning
from biconsensus.matrix import _condensed
from biconsensus.matrix._groups import Blocks
from biconsensus.methods._joint import Votes, columns_of
from biconsensus.protocols import Block, silent
from biconsensus.quorum import _given_number
from biconsensus.quorum._path import (
    QUORUMS,
    PathPoint,
    QuorumPath,
    agreement,
    best_point,
    columns_behind,
    finish_groups,
    lifetimes,
    rows_of_source,
    steady_point,
)
from biconsensus.quorum._score import FitMeasures
from tests.helpers.quorum_pools import problem_of, runs
from tests.helpers.strategies import paper_consensus


@pytest.fixture(scope="module")
def iris() -> bc.Pool:
    return bc.Pool.from_labels(runs(load_iris().data, 2, 12))


@pytest.fixture(scope="module")
def iris_path(iris: bc.Pool) -> QuorumPath:
    return QuorumPath.of(iris)


@pytest.mark.parametrize("k", [9, 12])
def test_clear_groups_are_found_by_sources_that_cut_them_all_as_finely(k: int) -> None:
    truth = np.repeat([0, 1, 2], 60)
    X = np.random.default_rng(0).normal(size=(180, 2)) + 12 * np.eye(3, 2)[truth]
    runs = [KMeans(k, n_init=1, init="random", random_state=seed).fit_predict(X) for seed in range(20)]
    assert adjusted_rand_score(truth, bc.find_consensus(runs, quorum="auto").labels) == 1.0
    assert len(paper_consensus(runs)) > 3


@pytest.mark.parametrize("n_sources", [4, 10])
def test_identical_partitions_come_back_unchanged_anywhere_on_the_path(n_sources: int) -> None:
    truth = np.repeat(np.arange(5), [10, 12, 14, 20, 44])
    pool = bc.Pool.from_labels(np.column_stack([truth] * n_sources))
    path = QuorumPath.of(pool)
    for point in path.points:
        assert adjusted_rand_score(truth, path.labels(point)[pool.inverse]) == 1.0
    assert path.best.quorum == Fraction(1, 2)


def test_path_goes_from_fine_to_coarse_and_can_be_cut_anywhere(iris_path: QuorumPath) -> None:
    numbers = [len(point) for point in iris_path.points]
    assert [point.quorum for point in iris_path.points] == list(QUORUMS)
    assert numbers[0] > numbers[-1] >= 1
    assert iris_path.at(0.5) is iris_path.points[list(QUORUMS).index(Fraction(1, 2))]
    assert {point.rule for point in iris_path.points} == {"joint"}
    assert iris_path.at(Fraction(5000, 10_001)).quorum.denominator <= 10_000
    assert len(iris_path.at(0.95)) >= 1  # finer than the first point
    between = iris_path.at(0.27)
    assert between.quorum == Fraction(27, 100)
    assert min(numbers) <= len(between) <= max(numbers)


def test_frame_holds_every_group_with_its_lifetime(iris_path: QuorumPath) -> None:
    frame = iris_path.to_frame()
    assert len(frame) == sum(len(point) for point in iris_path.points)
    whole = np.log(float(QUORUMS[0]) / float(QUORUMS[-1]))
    assert frame["lifetime"].between(0, whole + 1e-9).all()
    # setosa is a group from end to end of the useful part of the path
    assert frame.loc[frame["n_elements"] == 50, "lifetime"].max() > 0.5 * whole
    for _, line in frame[frame["parent"] >= 0].head(5).iterrows():
        place = [float(point.quorum) for point in iris_path.points].index(line["quorum"])
        here, there = iris_path.points[place].blocks[int(line["group"])], iris_path.points[place + 1]
        held = [iris_path.problem.n_elements(here.rows & (there.row_labels == t)) for t in range(len(there))]
        assert int(np.argmax(held)) == line["parent"]
    last = frame[frame["quorum"] == float(iris_path.points[-1].quorum)]
    assert (last["parent"] == -1).all()


def test_agreement_is_the_adjusted_rand_index_of_the_elements() -> None:
    rng = np.random.default_rng(0)
    counts = rng.integers(50, 200, 40)
    one = rng.integers(-1, 3, 40)
    other = np.where(rng.random(40) < 0.4, rng.integers(-1, 4, 40), one)
    expected = adjusted_rand_score(np.repeat(one, counts), np.repeat(other, counts))
    # -1 is a group too; an element is paired with itself as well, which matters little among thousands
    assert agreement(counts, one, other) == pytest.approx(expected, abs=0.002)
    assert agreement(counts, one, one) == pytest.approx(1.0)
    assert agreement(counts, np.zeros(40, int), np.zeros(40, int)) == 1.0
    assert agreement(np.full(4, 25), np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(
    ("numbers", "scores", "chosen"),
    [
        ([4, 3, 3, 2], [0.1, 0.503, 0.502, 0.505], 1),  # a tie: most quorums give three groups
        ([4, 3, 3, 2], [0.1, 0.49, 0.49, 0.505], 3),  # no tie
        ([4, 4, 3, 3], [0.503, 0.1, 0.505, 0.1], 2),  # both last as long
    ],
)
def test_near_ties_go_to_the_number_of_groups_that_lasts(numbers: list[int], scores: list[float], chosen: int) -> None:
    none = np.zeros(0, np.int64)
    points = [
        PathPoint(quorum, Blocks(none, none, np.ones(n)), none, none, np.zeros(0), FitMeasures(silhouette=score))
        for quorum, n, score in zip(QUORUMS, numbers, scores, strict=False)
    ]
    assert steady_point(points, lambda point: point.fit.silhouette) is points[chosen]


def test_rows_of_one_source() -> None:
    problem = problem_of([0, 0, 1, 1, -1, -1], [0, 1, 2, 2, 2, -1])
    entries = problem.entries.toarray()
    groups = np.full(problem.shape[1], -1)
    mine = [j for j in range(problem.shape[1]) if problem.backers[[j]].toarray()[0, 0]]
    groups[mine] = np.arange(len(mine))
    rows = rows_of_source(problem, groups)
    for i in range(problem.shape[0]):
        held = [int(groups[j]) for j in mine if entries[i, j]]
        assert [rows[i]] == (held or [-1])


def test_columns_behind_groups_of_rows() -> None:
    problem = problem_of([0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, -1])
    labels = np.full(problem.shape[0], -1)
    labels[problem.entries.toarray()[:, 0] > 0] = 0
    columns = columns_behind(problem, labels)
    assert columns is not None
    held = problem.held_by_columns(labels, 1)[:, 0]
    assert np.array_equal(columns, np.where(held > 0, 0, -1))


@pytest.mark.parametrize("n_groups", [2, 3, 4, 6])
def test_n_groups_gives_so_many(iris: bc.Pool, n_groups: int) -> None:
    found = bc.find_consensus(iris, n_groups=n_groups, unassigned="nearest")
    assert len(found) == n_groups
    assert np.unique(found.labels).size == n_groups


def test_a_given_number_of_groups_is_made_of_fine_groups_where_rows_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    truth = rng.permutation(np.repeat([0, 1, 2, 3], [70, 50, 40, 40]))
    noise = rng.random((8, 200)) < 0.08
    pool = bc.Pool.from_labels(list(np.where(noise, rng.integers(0, 4, noise.shape), truth)))
    path = QuorumPath.of(pool)
    monkeypatch.setattr(_given_number, "MAX_LEAVES", 3)
    assert not path.condensed.sampled
    found = path.with_n_groups(4)
    assert adjusted_rand_score(path.labels(found)[pool.inverse], truth) > 0.9


def test_more_groups_than_the_pool_has_is_a_warning() -> None:
    pool = bc.Pool.from_labels(np.column_stack([np.repeat([0, 1], 10)] * 4))
    with pytest.warns(PoolWarning, match="n_groups=5"):
        assert len(QuorumPath.of(pool).with_n_groups(5)) == 2


def test_automatic_choice_finds_what_is_there() -> None:
    data, truth = make_blobs(300, centers=6, cluster_std=0.6, random_state=4)
    for low, high in ((2, 12), (5, 8), (2, 17)):
        pool = bc.Pool.from_labels(runs(data, low, high, n_runs=20))
        path = QuorumPath.of(pool)
        point = path.best
        assert adjusted_rand_score(truth, path.labels(point)[pool.inverse]) > 0.8
        assert point in path.points


def test_automatic_choice_beats_the_majority_where_the_pool_is_over_clustered() -> None:
    data, truth = load_wine(return_X_y=True)
    table = runs((data - data.mean(axis=0)) / data.std(axis=0), 2, 13, n_runs=20)
    automatic = bc.find_consensus(table, quorum="auto", unassigned="nearest").labels
    majority = paper_consensus(table, unassigned="nearest").labels
    assert adjusted_rand_score(truth, automatic) > 0.8
    assert adjusted_rand_score(truth, automatic) > adjusted_rand_score(truth, majority) + 0.1


def test_choice_does_not_depend_on_the_order_of_elements(iris: bc.Pool) -> None:
    table = runs(load_iris().data, 2, 12)
    order = np.random.default_rng(1).permutation(len(table))
    here = bc.find_consensus(table, quorum="auto", unassigned="nearest").labels
    there = bc.find_consensus(table[order], quorum="auto", unassigned="nearest").labels
    assert adjusted_rand_score(here[order], there) > 0.95


def test_unseen_elements_are_stitched() -> None:
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(4), 25)
    table = np.full((100, 12), np.nan)
    for j in range(12):
        seen = rng.random(100) < 0.6
        table[seen, j] = truth[seen]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        path = QuorumPath.of(bc.Pool.from_labels(table))
        point = path.best
    assert adjusted_rand_score(truth, path.labels(point)[bc.Pool.from_labels(table).inverse]) > 0.95
    assert len(point) == 4


def test_no_majority_is_searched_for_where_a_sample_is_clearly_coarser(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four groups that every source cuts elsewhere: the path knows that nothing as fine as a majority can win."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 4, 1500)
    table = [truth * 6 + rng.permutation(6)[rng.integers(0, 6, 1500)] for _ in range(8)]
    asked: list[bool] = []
    own = find._blocks_at

    def blocks_at(*given: object) -> object:
        asked.append(True)
        return own(*given)

    monkeypatch.setattr(find, "_blocks_at", blocks_at)
    all_rows = bc.find_consensus(table)
    assert asked
    asked.clear()
    monkeypatch.setattr(_condensed, "SAMPLE_ROWS", 150)
    monkeypatch.setattr(_condensed, "ROWS_OF_A_CANDIDATE", 4)
    found = bc.find_consensus(table)
    assert found.extraction["rows_searched"] < 1000
    assert not asked
    assert adjusted_rand_score(found.labels, all_rows.labels) == 1.0


def point_of(quorum: str, *groups: range, score: float = 0.0) -> PathPoint:
    """A point with these groups of eight rows."""
    none = np.zeros(0, np.int64)
    blocks = [Block(np.isin(np.arange(8), group), np.zeros(0, bool), 1.0) for group in groups]
    return PathPoint(Fraction(quorum), blocks, none, none, np.zeros(0), FitMeasures(silhouette=score))


def test_a_group_lives_on_in_neighbours_that_share_three_quarters_with_it() -> None:
    problem = problem_of(np.arange(8))
    points = [
        point_of("0.8", range(4), range(4, 8)),
        point_of("0.4", range(4, 7), range(4)),  # three of four are the same group
        point_of("0.1", range(4), range(4, 6)),  # two of three are not
    ]
    first, second, third = lifetimes(problem, points)
    assert first == pytest.approx([np.log(8), np.log(2)])
    assert second == pytest.approx([np.log(2), np.log(8)])
    assert third == pytest.approx([np.log(8), 0.0])
    assert [one.tolist() for one in lifetimes(problem, points[:1])] == [[0.0, 0.0]]


def test_ties_of_scores_go_to_the_quorum_nearest_to_a_majority() -> None:
    points = [point_of(quorum, score=0.5) for quorum in ("0.9", "0.55", "0.4", "0.1")]
    assert best_point(points, lambda point: point.fit.silhouette) is points[1]
    near = [point_of("0.5", score=0.5), point_of("0.1", score=0.5 + 1e-10)]
    assert best_point(near, lambda point: point.fit.silhouette) is near[1]
    rounding = [point_of("0.5", score=0.5), point_of("0.1", score=0.5 + 1e-14)]
    assert best_point(rounding, lambda point: point.fit.silhouette) is rounding[0]


def test_each_group_has_a_column_behind_it_or_there_is_no_answer() -> None:
    table = [[0] * 4 + [1] * 4, [0] * 2 + [1] * 6, [0] * 4 + [1] * 3 + [2]]
    pool, problem = bc.Pool.from_labels(np.transpose(table)), problem_of(*table)
    labels = np.zeros(problem.shape[0], int)
    labels[pool.inverse] = [0, 0, 0, 0, 1, 1, 1, 2]
    columns = columns_behind(problem, labels)
    assert columns is not None
    sizes, held = problem.sizes, problem.held_by_columns(labels, 3)
    assert np.unique(columns).tolist() == [0, 1, 2]
    assert columns[sizes == 1].tolist() == [2]
    assert all(held[j, columns[j]] == held[j].max() for j in np.flatnonzero(sizes > 1))
    two = problem_of([0, 0, 1, 1])
    assert columns_behind(two, np.array([0, 1])) is not None
    # three groups of rows, but only two columns
    alone = problem_of([0, 0, 1, 1], [0, 0, 1, -1])
    assert columns_behind(alone.with_weights(np.where(alone.sizes == 2, 1.0, 0.0)), np.arange(3)) is None


def test_rows_are_finished_by_the_rule_of_their_point() -> None:
    rng = np.random.default_rng(1)
    problem = problem_of(*rng.integers(-1, 3, (5, 40)))
    columns = rng.integers(-1, 3, problem.shape[1])
    votes = Votes.at_quorum(problem, Fraction(1, 2))
    held = problem.entries.toarray() * problem.weights
    weight = np.stack([held[:, columns == t].sum(axis=1) for t in range(3)], axis=1)
    nearest, same = finish_groups(votes, columns, "nearest")
    assert np.array_equal(same, columns)
    assert np.array_equal(nearest, np.where(weight.max(axis=1) > 0, weight.argmax(axis=1), -1))

    def gains(groups: np.ndarray) -> np.ndarray:
        asked = [problem.weights[groups == t].sum() / 2 for t in range(groups.max() + 1)]
        return np.stack([held[:, groups == t].sum(axis=1) for t in range(groups.max() + 1)], axis=1) - asked

    rows, chosen = finish_groups(votes, columns, "greedy")
    first = (gains(chosen) > 0).argmax(axis=1)
    assert np.array_equal(rows, np.where((gains(chosen) > 0).any(axis=1), first, -1))
    rows, chosen = finish_groups(votes, columns, "joint")
    assert np.array_equal(rows, np.where(gains(chosen).max(axis=1) > 0, gains(chosen).argmax(axis=1), -1))


def test_a_majority_is_finished_as_algorithm_1_takes_its_groups() -> None:
    # sources merge groups of nearly one size, so that who takes a merged candidate depends on the order of the groups
    rng = np.random.default_rng(5)
    truth = np.repeat(np.arange(6), [200, 199, 198, 197, 196, 195])
    table = np.empty((truth.size, 9), np.int64)
    for j in range(9):
        onto = np.arange(6)
        one, other = rng.choice(6, 2, replace=False)
        onto[one] = other
        table[:, j] = np.where(rng.random(truth.size) < 0.05, rng.integers(0, 6, truth.size), onto[truth])
    problem = problem_of(*table.T)
    exact = find._blocks_at(problem, bc.Search.paper().resolved(bc.Pool.from_labels(table)), Fraction(1, 2), silent)
    taken = columns_of(exact.blocks, problem.shape[1])
    votes = Votes.at_quorum(problem, Fraction(1, 2))
    shuffled = np.where(taken >= 0, rng.permutation(6)[taken], -1)
    rows, columns = finish_groups(votes, shuffled, "greedy")
    assert np.array_equal(columns, taken)
    assert np.array_equal(rows, votes.first_rows(taken))


def test_a_path_starts_from_rows_of_every_group_where_rows_hardly_repeat() -> None:
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(800), 10)
    wrong = rng.random((truth.size, 20)) < 0.15
    table = np.where(wrong, rng.integers(0, 800, wrong.shape), truth[:, None])
    path = QuorumPath.of(bc.Pool.from_labels(table), quorums=(Fraction(1, 2),))
    assert len(path.points[0]) == 800
