"""Measures of how a grouping fits a pool, and the scores made of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.datasets import load_iris
from sklearn.metrics import adjusted_rand_score, silhouette_score

import biconsensus as bc
from biconsensus.matrix._matrix import PreferenceMatrix
from biconsensus.methods._joint import Votes, peaks
from biconsensus.quorum import QuorumPath, _score
from biconsensus.quorum._path import QUORUMS
from biconsensus.quorum._score import (
    CLEAR,
    COARSE,
    FINE,
    FitMeasures,
    Overlaps,
    PathScorer,
    ScoreWeights,
    _agreed,
    contrast,
    relation,
    score_weights,
    shared_amounts,
)
from tests.helpers.quorum_pools import grouping, problem_of, runs


def together(table: NDArray[np.int_]) -> NDArray[np.float64]:
    return np.mean([column[:, None] == column for column in table.T], axis=0)


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


def test_fit_is_perfect_for_the_groups_of_identical_sources() -> None:
    scorer = PathScorer.of(problem_of(*[np.repeat([0, 1], 30)] * 3))
    fit = scorer.measure(np.arange(2))
    assert (fit.recall, fit.precision) == pytest.approx((0.5, 0.5))
    assert (fit.difference, fit.silhouette, fit.retention) == pytest.approx((1, 1, 1))
    assert fit.score(COARSE) == pytest.approx(0.25 + 0.25 + 1 - 1 + 3)
    assert fit.score(FINE) == pytest.approx(1)


def test_one_group_measures_nothing() -> None:
    assert PathScorer.of(problem_of(*[np.repeat([0, 1], 30)] * 3)).measure(np.zeros(2, int)) == FitMeasures()


def test_score_is_the_weighted_sum() -> None:
    fit = FitMeasures(0.1, 0.2, 0.3, 0.4, 0.5)
    assert fit.score(ScoreWeights(1, 10, 100, 1000, 10_000)) == pytest.approx(0.1 + 2 + 30 + 400 + 5000)


def test_coarse_score_chooses_only_where_its_own_choice_is_clear() -> None:
    other = FitMeasures(silhouette=0.9, retention=0.3)
    assert score_weights([FitMeasures(retention=CLEAR + 0.01), other]) == COARSE
    assert score_weights([FitMeasures(retention=CLEAR), other]) == FINE
    # what counts is the best point by the coarse score, not any clear point
    assert score_weights([FitMeasures(retention=0.95), FitMeasures(silhouette=2.0, retention=0.85)]) == FINE


def test_noise_of_the_sources_is_not_joined_into_clear_groups() -> None:
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(12), 15)
    table = [np.where(rng.random(truth.size) < 0.35, rng.integers(12, size=truth.size), truth) for _ in range(12)]
    path = QuorumPath.of(bc.Pool.from_labels(table))
    assert path.weights == FINE
    assert len(path.best) == 12


def test_a_source_of_one_large_group_and_crumbs_does_not_change_the_choice() -> None:
    """Its large group has no vote; the crumbs that are left must not make the pool look finely cut."""
    truth = np.repeat([0, 1, 2], 40)
    crumbs = np.where(np.arange(120) < 112, -2, np.arange(120))
    plain, more = ([truth] * 6, [truth] * 6 + [crumbs] * 2)
    assert [len(QuorumPath.of(bc.Pool.from_labels(table)).best) for table in (plain, more)] == [3, 3]


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


def test_what_was_not_seen_is_not_left_out() -> None:
    # three sources leave the last two elements out; the fourth saw nothing of them, and leaves out others
    out = [0.0] * 6 + [-1.0] * 2
    other = [-1.0] * 2 + [0.0] * 4 + [np.nan] * 2
    problem = PreferenceMatrix.from_pool(bc.Pool.from_labels([out, out, out, other]))
    columns = np.arange(problem.shape[1])
    assert columns.size == 2
    first = int(np.asarray(problem.backers.sum(axis=1)).ravel().argmax())
    agreed = _agreed(problem, columns)
    assert agreed[first]
    assert not agreed[1 - first]


def test_sources_that_leave_half_of_the_same_elements_out_do_not_agree() -> None:
    problem = problem_of([0] * 8 + [-1] * 2, [0] * 9 + [-1], [-1] + [0] * 9)
    assert not _agreed(problem, np.arange(3)).any()
    alike = problem_of([0] * 7 + [-1] * 3, [0] * 8 + [-1] * 2, [-1] + [0] * 9)
    assert sorted(zip(alike.sizes, _agreed(alike, np.arange(3)))) == [(7, True), (8, True), (9, False)]


def test_a_scorer_keeps_its_weights_on_a_part() -> None:
    problem = problem_of([0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1], [0, 0, 0, 1, 1, 2])
    scorer = PathScorer.of(problem)
    turned = np.arange(problem.shape[1])[::-1]
    part = replace(problem, entries=csr_array(problem.entries[:, turned]), weights=problem.weights[turned])
    on_part = scorer.on(part, turned)
    assert np.array_equal(on_part.problem.weights, scorer.problem.weights[turned])
    assert np.array_equal(on_part.plain, scorer.plain[turned])


def test_certainty_is_the_entropy_over_the_other_sources() -> None:
    table = np.array([[0, 0], [0, 0], [0, 1], [0, 1], [1, 1], [1, 1]])
    problem = PreferenceMatrix.from_pool(bc.Pool.from_labels(table))
    sizes = problem.counts @ problem.entries.toarray()
    values = Overlaps.of(problem).certainty()
    # both groups of four are cut in half by the other source: one bit over c = 2 sources at scale 0.4
    assert values[sizes == 4] == pytest.approx(np.exp(-1.0 / 0.8))
    assert values[sizes == 2] == pytest.approx(1.0)


@pytest.mark.parametrize("limits", [{}, {"CELLS": 0}, {"CELLS": 0, "TABLE": 0}, {"ROWS": 7}], ids=str)
def test_every_pair_of_sources_is_counted_once_whatever_way_is_taken(
    monkeypatch: pytest.MonkeyPatch, limits: dict[str, int]
) -> None:
    for name, value in limits.items():
        monkeypatch.setattr(_score, name, value)
    rng = np.random.default_rng(1)
    widths = [3, 4, 2, 5, 3]
    held = [rng.integers(0, width, 200).astype(np.int32) for width in widths]
    counts = rng.integers(1, 5, 200).astype(np.float64)
    found = {}
    for a, b, first, second, number in _score._met(held, counts, widths):
        assert (min(a, b), max(a, b)) not in found
        table = np.zeros((widths[a], widths[b]))
        table[first, second] = number
        found[min(a, b), max(a, b)] = table if a < b else table.T
    assert len(found) == 10
    for (a, b), table in found.items():
        expected = np.zeros_like(table)
        np.add.at(expected, (held[a], held[b]), counts)
        assert np.array_equal(table, expected)


@pytest.mark.parametrize("few_rows", [0, 4096], ids=["by pairs of sources", "by one product"])
@pytest.mark.parametrize("overlapping", [False, True])
def test_shared_amounts_are_those_of_the_matrix(
    monkeypatch: pytest.MonkeyPatch, overlapping: bool, few_rows: int
) -> None:
    monkeypatch.setattr(_score, "FEW_ROWS", few_rows)
    rng = np.random.default_rng(2)
    if overlapping:
        pool = bc.Pool.from_matrix(rng.random((60, 9)) < 0.3, sources=[0, 0, 0, 1, 1, 1, 2, 2, 2])
    else:
        pool = bc.Pool.from_labels(rng.integers(-1, 4, (60, 5)))
    problem = PreferenceMatrix.from_pool(pool)
    amounts, dense = rng.random(problem.shape[0]), problem.entries.toarray().astype(float)
    assert shared_amounts(problem, amounts).toarray() == pytest.approx(dense.T @ (amounts[:, None] * dense))


def test_the_start_from_frequent_rows_is_the_same_at_every_quorum() -> None:
    rng = np.random.default_rng(3)
    table = rng.integers(0, 3, (500, 6)).astype(float)
    table[rng.random(table.shape) < 0.1] = np.nan
    scorer = PathScorer.of(PreferenceMatrix.from_pool(bc.Pool.from_labels(table)))
    for quorum in QUORUMS:
        votes = Votes.at_quorum(scorer.problem, quorum)
        assert np.array_equal(votes.best_columns(peaks(votes)), scorer.from_peaks)


def test_a_grouping_that_comes_again_is_not_measured_again(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = problem_of(*np.random.default_rng(0).integers(0, 3, (4, 40)))
    scorer, measured = PathScorer.of(problem), []
    monkeypatch.setattr(PathScorer, "_measured", lambda _, labels: measured.append(labels.tolist()) or FitMeasures())
    one, other = np.arange(problem.shape[0]) % 2, np.arange(problem.shape[0]) % 3
    for labels in (one, one.copy(), other, one):
        scorer.measure(labels)
    assert measured == [one.tolist(), other.tolist(), one.tolist()]


@pytest.fixture(scope="module")
def gappy() -> tuple[bc.Pool, PreferenceMatrix, NDArray[np.float64], NDArray[np.int_]]:
    """A pool of 40 elements, cells missing or in no group; its matrix, its table, and a grouping with left-overs."""
    rng = np.random.default_rng(5)
    table = rng.integers(-1, 3, (40, 4)).astype(float)
    table[rng.random(table.shape) < 0.2] = np.nan
    table[:, 3] = table[:, 2]  # the same candidates twice
    pool = bc.Pool.from_labels(table)
    rows = rng.integers(-1, 3, pool.rows.shape[0])
    return pool, PreferenceMatrix.from_pool(pool), table, rows[pool.inverse]


def pairs_of(column: NDArray[np.float64]) -> NDArray[np.bool_]:
    """(m, m) whether two elements are in one group."""
    return (column[:, None] == column) & (column >= 0)[:, None]


def test_recall_and_precision_are_those_of_the_pairs_that_a_source_saw(gappy) -> None:
    pool, problem, table, labels = gappy
    same, expected = pairs_of(labels), []
    for column in table.T:
        seen = ~np.isnan(column)
        held, grouped = (part[np.ix_(seen, seen)] for part in (pairs_of(column), same))
        both = (held & grouped).sum()
        expected.append((both / held.sum() - grouped.mean(), both / grouped.sum() - held.mean()))
    assert relation(problem, grouping(pool, labels)) == pytest.approx(tuple(np.mean(expected, axis=0)))
    # a source whose columns have no weight is not asked
    weights = np.where(problem.backers.toarray()[:, 0] > 0, 0.0, problem.weights)
    found = relation(problem.with_weights(weights), grouping(pool, labels))
    assert found == pytest.approx(tuple(np.mean(expected[1:], axis=0)))
    assert relation(problem, np.full(problem.shape[0], -1)) == (0.0, 0.0)


@pytest.mark.parametrize("scanned", [0, 100], ids=["sparse", "dense"])
@pytest.mark.parametrize("whole", [False, True])
def test_contrast_is_that_of_co_occurrences(gappy, monkeypatch, scanned: int, whole: bool) -> None:
    monkeypatch.setattr(_score, "SCANNED", scanned)
    pool, problem, table, labels = gappy
    if whole:
        table = np.nan_to_num(table, nan=-1.0)
        pool = bc.Pool.from_labels(table)
        problem = PreferenceMatrix.from_pool(pool)
        labels = np.random.default_rng(6).integers(-1, 3, problem.shape[0])[pool.inverse]
    weights = np.random.default_rng(7).uniform(0.5, 2.0, problem.shape[1])
    weights[0] = 0.0
    members = problem.entries.toarray()[pool.inverse].astype(float)
    together, own = members @ (weights[:, None] * members.T), members @ weights
    most = np.full(40, own.max()) if whole else own
    differences, contrasts = [], []
    for i in np.flatnonzero((labels >= 0) & (own > 0)):
        near = [together[i, labels == t].mean() / most[i] if t != labels[i] else 0.0 for t in range(3)]
        a = (together[i, labels == labels[i]].sum() - own[i]) / (np.count_nonzero(labels == labels[i]) - 1) / most[i]
        differences.append(a - max(near))
        contrasts.append((a - max(near)) / (1 - min(a, max(near))))
    found = contrast(problem, grouping(pool, labels), weights)
    assert found == pytest.approx((np.mean(differences), np.mean(contrasts)))
    assert contrast(problem, np.zeros(problem.shape[0], int), weights) == (0.0, 0.0)


def test_retention_is_the_walk_that_stays_and_left_overs_are_not_walked_from(gappy) -> None:
    pool, problem, _, labels = gappy
    weighted = problem.with_weights(np.random.default_rng(8).uniform(0.5, 2.0, problem.shape[1]))
    members = problem.entries.toarray()[pool.inverse].astype(float)
    step = weighted.weights * members
    expected = 0.0
    for t in range(3):
        inside = labels == t
        # from an element of the group to a candidate, and from there to an element of the group
        stays = step[inside].sum(axis=0) * members[inside].sum(axis=0) / np.maximum(members.sum(axis=0), 1)
        expected += stays.sum() / step[inside].sum()
    assert _score.retention(weighted, grouping(pool, labels)) == pytest.approx(expected)


def entropies(members: NDArray[np.bool_], table: NDArray[np.float64]) -> list[float]:
    """Bits of a set of elements over the groups of each source that saw them, no group being one more."""
    found = []
    for column in table.T:
        seen = column[members & ~np.isnan(column)]
        shares = np.unique(seen, return_counts=True)[1] / max(seen.size, 1)
        found.append(float(-(shares * np.log2(shares)).sum()))
    return found


def test_certainty_counts_what_each_source_saw_by_the_mean_weight_of_its_columns(gappy) -> None:
    pool, problem, table, _ = gappy
    weights = np.random.default_rng(9).uniform(0.5, 2.0, problem.shape[1])
    backers = problem.backers.toarray() > 0
    weights[backers[:, 1]] = 0.0  # a source without a weighted column counts as others do on average
    overlaps = Overlaps.of(problem.with_weights(weights))
    members = problem.entries.toarray()[pool.inverse] > 0
    bits = np.array([entropies(column, table) for column in members.T])
    each = weights / backers.sum(axis=1)
    votes = np.array([each[backers[:, k]].mean() for k in range(4)])
    votes[1] = votes[[0, 2, 3]].mean()
    mean = bits @ (votes / votes.sum())
    assert overlaps.certainty() == pytest.approx(np.exp(-mean / 0.4))
    assert overlaps.certainty(2.0) == pytest.approx(np.exp(-mean / 2))
    assert (backers.sum(axis=0) == 3).all()
    assert overlaps.normalised_certainty() == pytest.approx(np.exp(-mean / np.log2(3) / 0.07))
    unweighted = Overlaps.of(problem.with_weights(np.zeros(problem.shape[1])))
    assert unweighted.certainty() == pytest.approx(np.exp(-bits.mean(axis=1) / 0.4))


def test_certainty_is_normalised_by_the_number_of_groups_of_the_own_source() -> None:
    table = np.column_stack([[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 2, 2], [0] * 6])
    pool = bc.Pool.from_labels(table)
    problem = PreferenceMatrix.from_pool(pool)
    members, backers = problem.entries.toarray()[pool.inverse] > 0, problem.backers.toarray()
    bits = np.array([np.mean(entropies(column, table.astype(float))) for column in members.T])
    number = backers @ [2, 3, 2]  # one group alone counts as two
    assert Overlaps.of(problem).normalised_certainty(0.5) == pytest.approx(np.exp(-bits / np.log2(number) / 0.5))


def test_weights_are_rounded_to_a_millionth_of_the_largest_unless_small_ones_would_vanish() -> None:
    weights = np.array([0.0, 1 / 3, 2 / 3, 1.9])
    found = _score.exact_sums(weights)
    assert found == pytest.approx(weights, abs=2.0**-19)
    assert (found * 2.0**19 == np.rint(found * 2.0**19)).all()
    assert not np.array_equal(found, weights)
    assert np.array_equal(_score.exact_sums(weights * 2.0**-40), found * 2.0**-40)
    smallest = 2.0**-9  # a thousandth of the power of two above the largest
    assert not np.array_equal(_score.exact_sums(np.array([smallest * 1.0001, 1.9])), [smallest * 1.0001, 1.9])
    tiny = np.array([smallest * 0.9999, 1 / 3, 1.9])
    assert np.array_equal(_score.exact_sums(tiny), tiny)
    assert _score.exact_sums(np.zeros(2)).tolist() == [0.0, 0.0]
