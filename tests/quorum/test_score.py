"""What counts in the score of a point, and which candidates vote."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

import biconsensus as bc
from biconsensus.matrix._matrix import PreferenceMatrix
from biconsensus.quorum._score import FEW_SEEN, MANY_SEEN, SHARED, Fit, PathScorer
from tests.helpers.quorum_pools import problem_of


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
