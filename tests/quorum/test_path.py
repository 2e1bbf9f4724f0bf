"""The quorum path, its scores against plain formulas, and its automatic choice on pools with a known truth."""

from __future__ import annotations

import warnings
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, load_wine, make_blobs
from sklearn.metrics import adjusted_rand_score, silhouette_score

import biconsensus as bc
from biconsensus.errors import PoolWarning
from biconsensus.matrix._matrix import PreferenceMatrix
from biconsensus.quorum._measures import contrast, effective_numbers, relation
from biconsensus.quorum._overlaps import Overlaps
from biconsensus.quorum._path import QUORUMS, QuorumPath, choose
from biconsensus.quorum._score import FEW_SEEN, MANY_SEEN, SHARED, Fit, PathScorer
from biconsensus.quorum._walk import leading_vectors, retention, walk_groups


def runs(data: NDArray[np.float64], low: int, high: int, seed: int = 0, n_runs: int = 12) -> NDArray[np.int_]:
    rng = np.random.default_rng(seed)
    ks, seeds = rng.integers(low, high + 1, n_runs), rng.integers(1 << 30, size=n_runs)
    made = [KMeans(int(k), n_init=1, random_state=int(s)).fit_predict(data) for k, s in zip(ks, seeds, strict=True)]
    return np.column_stack(made)


@pytest.fixture(scope="module")
def iris() -> bc.Pool:
    return bc.Pool.from_labels(runs(load_iris().data, 2, 12))


@pytest.fixture(scope="module")
def iris_path(iris: bc.Pool) -> QuorumPath:
    return QuorumPath.of(iris)


def together(table: NDArray[np.int_]) -> NDArray[np.float64]:
    return np.mean([column[:, None] == column for column in table.T], axis=0)


def grouping(pool: bc.Pool, labels: NDArray[np.int_]) -> NDArray[np.int_]:
    """Labels of distinct rows that the elements agree on."""
    rows = np.zeros(pool.rows.shape[0], np.int64)
    rows[pool.inverse] = labels
    return rows


def test_recall_and_precision_are_those_of_pairs() -> None:
    rng = np.random.default_rng(0)
    table = np.column_stack([rng.integers(k, size=30) for k in (2, 3, 4)])
    labels = table[:, 0] * 2 + (table[:, 1] == 0)
    pool = bc.Pool.from_labels(np.column_stack([table, labels]))
    problem = PreferenceMatrix.from_pool(pool)
    found = relation(problem, grouping(pool, labels))
    same = labels[:, None] == labels
    expected = []
    for column in [*table.T, labels]:
        held = column[:, None] == column
        expected.append(
            ((held & same).sum() / held.sum() - same.mean(), (held & same).sum() / same.sum() - held.mean())
        )
    assert found == pytest.approx(tuple(np.mean(expected, axis=0)))


def test_silhouette_is_that_of_the_co_occurrence_distance() -> None:
    table = runs(load_iris().data, 2, 6, n_runs=6)
    pool = bc.Pool.from_labels(table)
    labels = table[:, 0]
    problem = PreferenceMatrix.from_pool(pool)
    distances = 1.0 - together(table)
    expected = silhouette_score(distances, labels, metric="precomputed")
    _, found = contrast(problem, grouping(pool, labels), problem.weights)
    assert found == pytest.approx(expected, abs=1e-9)


def test_retention_is_the_normalised_association() -> None:
    table = runs(load_iris().data, 2, 6, n_runs=5)
    pool = bc.Pool.from_labels(table)
    problem = PreferenceMatrix.from_pool(pool)
    A = pool.to_matrix().toarray()
    walk = A @ np.diag(1.0 / A.sum(axis=0)) @ A.T
    labels = table[:, 1]
    expected = sum(walk[np.ix_(labels == t, labels == t)].sum() / walk[labels == t].sum() for t in np.unique(labels))
    assert retention(problem, grouping(pool, labels)) == pytest.approx(expected)
    n_groups = np.unique(labels).size
    own = walk_groups(problem.entries, problem.counts, problem.weights, n_groups)
    assert retention(problem, own) >= expected - 0.05


def test_certainty_is_the_entropy_over_the_other_sources() -> None:
    table = np.array([[0, 0], [0, 0], [0, 1], [0, 1], [1, 1], [1, 1]])
    problem = PreferenceMatrix.from_pool(bc.Pool.from_labels(table))
    sizes = problem.counts @ problem.entries.toarray()
    values = Overlaps.of(problem).certainty()
    # both groups of four are cut in half by the other source: one bit over c = 2 sources at scale 0.4
    assert values[sizes == 4] == pytest.approx(np.exp(-1.0 / 0.8))
    assert values[sizes == 2] == pytest.approx(1.0)


def problem_of(*labels: object) -> PreferenceMatrix:
    return PreferenceMatrix.from_pool(bc.Pool.from_labels([np.asarray(each) for each in labels]))


def test_agreement_is_the_mean_adjusted_rand_index() -> None:
    rng = np.random.default_rng(0)
    table = rng.integers(4, size=(3000, 1)) * (rng.random((3000, 5)) < [0.9, 0.8, 0.7, 0.5, 0.2])
    pairs = [adjusted_rand_score(table[:, i], table[:, j]) for i in range(5) for j in range(i)]
    assert Overlaps.of(problem_of(*table.T)).agreement() == pytest.approx(np.mean(pairs))
    assert Overlaps.of(problem_of(*[table[:, 0]] * 3)).agreement() == pytest.approx(1.0)
    assert Overlaps.of(problem_of(table[:, 0])).agreement() == 1.0


def test_agreement_is_on_what_both_sources_saw() -> None:
    rng = np.random.default_rng(1)
    truth = rng.integers(4, size=4000)
    noisy = np.where(rng.random((3, 4000)) < 0.7, truth, rng.integers(4, size=(3, 4000))).astype(float)
    noisy[0, :1000] = noisy[1, 2500:] = np.nan
    pairs = []
    for a, b in ((0, 1), (0, 2), (1, 2)):
        seen = ~np.isnan(noisy[a] + noisy[b])
        pairs.append(adjusted_rand_score(noisy[a][seen], noisy[b][seen]))
    assert Overlaps.of(problem_of(*noisy)).agreement() == pytest.approx(np.mean(pairs))


def test_effective_number_of_groups_is_that_of_groups_of_one_size() -> None:
    assert effective_numbers(problem_of([0, 0, 1, 1], [0, 1, 2, 3], [0, 0, 0, 1])) == pytest.approx([2, 4, 1.6])


def test_kind_of_pool_decides_what_counts() -> None:
    elements = np.arange(60)
    few = PathScorer.of(problem_of(elements // 20, elements % 3))
    many = PathScorer.of(problem_of(elements // 5, elements % 12))
    varied = PathScorer.of(problem_of(elements // 5, elements % 3))
    points = {at: [Fit(retention=0.5), Fit(retention=at)] for at in (0.85, 0.86, 0.94, 0.95)}
    assert [few.weights(points[at]) for at in points] == [FEW_SEEN] * 3 + [SHARED]
    assert [many.weights(points[at]) for at in points] == [MANY_SEEN] * 3 + [SHARED]
    assert [varied.weights(points[at]) for at in points] == [FEW_SEEN] + [SHARED] * 3
    # clear is the place that is best by the score of varied sources, not any place
    assert few.weights([*points[0.95], Fit(silhouette=2.0, retention=0.9)]) == FEW_SEEN
    # sources that agree are met as they are
    assert replace(varied, agreement=0.7).weights(points[0.95]) == FEW_SEEN
    assert replace(varied, agreement=0.69).weights(points[0.95]) == SHARED


@pytest.mark.parametrize("k", [9, 12])
def test_clear_groups_are_found_by_sources_that_cut_them_all_as_finely(k: int) -> None:
    truth = np.repeat([0, 1, 2], 60)
    X = np.random.default_rng(0).normal(size=(180, 2)) + 12 * np.eye(3, 2)[truth]
    runs = [KMeans(k, n_init=1, init="random", random_state=seed).fit_predict(X) for seed in range(20)]
    assert adjusted_rand_score(truth, bc.find_consensus(runs, quorum="auto").labels) == 1.0
    assert len(bc.find_consensus(runs)) > 3


def test_fit_is_perfect_for_the_groups_of_identical_sources() -> None:
    scorer = PathScorer.of(problem_of(*[np.repeat([0, 1], 30)] * 3))
    fit = scorer.fit(np.arange(2))
    assert (fit.recall, fit.precision) == pytest.approx((0.5, 0.5))
    assert (fit.difference, fit.silhouette, fit.retention) == pytest.approx((1, 1, 1))
    assert fit.weighted(FEW_SEEN) == pytest.approx(2 * 0.5 + 0.5 / 2 + 1 + 1 / 4)
    assert scorer.fit(np.zeros(2, int)).weighted(SHARED) == 0


def test_trivial_candidates_do_not_vote() -> None:
    table = np.column_stack([np.repeat([0, 1], [95, 5]), np.repeat([0, 1], 50)])
    problem = PreferenceMatrix.from_pool(bc.Pool.from_labels(table))
    sizes = problem.counts @ problem.entries.toarray()
    weights = PathScorer.of(problem).problem.weights
    assert (weights[sizes == 95] == 0).all()
    assert (weights[sizes == 50] > 0).all()


def test_a_group_of_nearly_all_votes_where_most_sources_agree_on_it() -> None:
    truth = np.repeat([0, 1], [140, 10])
    other = np.roll(truth, 40)
    agreed = bc.find_consensus([truth] * 5 + [other] + [truth * 0] * 3, quorum="auto")
    assert adjusted_rand_score(truth, agreed.labels) == 1.0
    assert len(agreed) == 2
    # four of nine are no majority: as in a cleaned pool, only the small group is left
    few = bc.find_consensus([truth] * 4 + [other] + [truth * 0] * 4, quorum="auto")
    assert np.flatnonzero(few.labels >= 0).tolist() == list(range(140, 150))


def test_unseen_elements_are_neither_inside_nor_outside_a_group_of_nearly_all() -> None:
    truth = np.repeat([0.0, 1.0], [140, 10])
    views = [np.where(np.arange(150) % 7 == k, np.nan, truth) for k in range(5)]
    found = bc.find_consensus(views, quorum="auto")
    assert adjusted_rand_score(truth, found.labels) == 1.0


@pytest.mark.parametrize("n_sources", [4, 10])
def test_identical_partitions_come_back_unchanged_anywhere_on_the_path(n_sources: int) -> None:
    truth = np.repeat(np.arange(5), [10, 12, 14, 20, 44])
    pool = bc.Pool.from_labels(np.column_stack([truth] * n_sources))
    path = QuorumPath.of(pool)
    for point in path.points:
        assert adjusted_rand_score(truth, point.labels[pool.inverse]) == 1.0
    assert path.best.quorum == Fraction(1, 2)


def test_path_goes_from_fine_to_coarse_and_can_be_cut_anywhere(iris_path: QuorumPath) -> None:
    numbers = [len(point) for point in iris_path.points]
    assert [point.quorum for point in iris_path.points] == list(QUORUMS)
    assert numbers[0] > numbers[-1] >= 1
    assert iris_path.at(0.5) is iris_path.points[list(QUORUMS).index(Fraction(1, 2))]
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
        held = [iris_path.problem.n_elements(here.rows & (there.labels == t)) for t in range(len(there))]
        assert int(np.argmax(held)) == line["parent"]


@pytest.mark.parametrize("n_groups", [2, 3, 4, 6])
def test_n_groups_gives_so_many(iris: bc.Pool, n_groups: int) -> None:
    found = bc.find_consensus(iris, n_groups=n_groups, unassigned="nearest")
    assert len(found) == n_groups
    assert np.unique(found.labels).size == n_groups


def test_more_groups_than_the_pool_has_is_a_warning() -> None:
    pool = bc.Pool.from_labels(np.column_stack([np.repeat([0, 1], 10)] * 4))
    with pytest.warns(PoolWarning, match="n_groups=5"):
        assert len(QuorumPath.of(pool).with_n_groups(5)) == 2


def test_automatic_choice_finds_what_is_there() -> None:
    data, truth = make_blobs(300, centers=6, cluster_std=0.6, random_state=4)
    for low, high in ((2, 12), (5, 8), (2, 17)):
        pool = bc.Pool.from_labels(runs(data, low, high, n_runs=20))
        path, point = choose(pool)
        assert adjusted_rand_score(truth, point.labels[pool.inverse]) > 0.8
        assert point in path.points


def test_automatic_choice_beats_the_majority_where_the_pool_is_over_clustered() -> None:
    data, truth = load_wine(return_X_y=True)
    table = runs((data - data.mean(axis=0)) / data.std(axis=0), 2, 13, n_runs=20)
    automatic = bc.find_consensus(table, quorum="auto", unassigned="nearest").labels
    majority = bc.find_consensus(table, unassigned="nearest").labels
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
        _, point = choose(bc.Pool.from_labels(table))
    assert adjusted_rand_score(truth, point.labels[bc.Pool.from_labels(table).inverse]) > 0.95
    assert len(point) == 4


def test_more_separate_parts_than_groups_wanted() -> None:
    """Where many eigenvalues are one, the walk still gives the number asked for."""
    truth = np.repeat(np.arange(25), 8)
    found = bc.find_consensus([truth] * 6, n_groups=2)
    assert len(found) == 2
    assert leading_vectors(np.eye(6), 2).shape == (6, 2)
