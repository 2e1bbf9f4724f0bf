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


@pytest.mark.parametrize("overlapping", [False, True])
def test_shared_amounts_are_those_of_the_matrix(overlapping: bool) -> None:
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
