"""One model or two: the evidence of sets of models."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import multivariate_t

from benchmarks import fitting_views as views
from biconsensus import MultiModelFitter
from biconsensus.fitting._evidence import (
    Column,
    Neighbours,
    _log_names,
    _moved_together,
    _scale,
    explained,
    gain,
    student_weights,
)
from biconsensus.metrics import misclassification_error
from biconsensus.models import get_model


def column(distances: Any, chance: float = 0.01) -> Column:
    """A model of codimension two with threshold 3."""
    return Column(np.abs(distances), 3.0, 7.5, 2, 4.0, chance)


def lengths(rng: np.random.Generator, n: int, sigma: float) -> Any:
    """Lengths of errors in the plane."""
    return np.linalg.norm(rng.normal(0, sigma, (n, 2)), axis=1)


class TestExplained:
    def test_no_model_explains_nothing(self) -> None:
        assert explained([], 7.0).evidence == 0

    def test_scale_is_that_of_the_noise(self) -> None:
        rng = np.random.default_rng(0)
        found = explained([column(np.append(lengths(rng, 300, 0.5), np.full(100, 50.0)))], 7.0)
        assert 0.35 < found.scales[0] < 0.6
        assert (found.labels[300:] == -1).all()
        assert (found.labels[:300] == 0).mean() > 0.98

    def test_two_tight_models_beat_a_loose_one(self) -> None:
        rng = np.random.default_rng(1)
        first = np.append(lengths(rng, 60, 0.4), np.full(40, 9.0))
        second = np.append(np.full(60, 9.0), lengths(rng, 40, 0.4))
        loose = lengths(rng, 100, 1.5)
        both = explained([column(first), column(second)], 7.0).evidence
        assert both > explained([column(loose)], 7.0).evidence
        assert both > explained([column(first), column(second), column(loose)], 7.0).evidence

    def test_a_double_costs_more_than_it_gains(self) -> None:
        rng = np.random.default_rng(2)
        errors = rng.normal(0, 1, (200, 2))
        one = column(np.linalg.norm(errors, axis=1))
        halves = [column(np.linalg.norm(errors + [shift, 0], axis=1)) for shift in (-0.8, 0.8)]
        assert explained([one], 7.0).evidence > explained(halves, 7.0).evidence

    def test_names_cost_what_the_shares_say(self) -> None:
        # one model at a scale that is known: sixty elements of a hundred, the others out of its reach
        distances = np.append(np.abs(np.random.default_rng(3).normal(0, 0.5, 60)), np.full(40, 50.0))
        found = explained([column(distances)], 7.0)
        names = 60 * np.log(61 / 102) + 40 * np.log(41 / 102)
        gains = found.gains.sum()
        assert found.evidence == pytest.approx(gains + names - 4 * gains / 60 - 7.0)


class TestNeighbours:
    def test_those_before_are_a_part_of_those_around(self) -> None:
        near = Neighbours.of(np.random.default_rng(0).random((50, 2)))
        assert near.around.shape == (50, 12)
        kept = near.before >= 0
        np.testing.assert_array_equal(near.before[kept], near.around[kept])
        # of two elements that are neighbours of each other one comes first
        for i in range(50):
            for j in near.before[i][kept[i]]:
                assert i not in near.before[j]

    def test_few_elements(self) -> None:
        assert Neighbours.of(np.zeros((1, 2))).around.shape == (1, 0)
        assert Neighbours.of(np.arange(6.0).reshape(3, 2)).around.shape == (3, 2)

    def test_structures_in_one_place_each_have_more_evidence(self) -> None:
        rng = np.random.default_rng(4)
        half = np.arange(100) < 50
        near = [np.where(own, lengths(rng, 100, 0.5), 9.0) for own in (half, ~half)]
        columns = [column(one) for one in near]
        apart = np.column_stack([np.where(half, 0.0, 10.0) + rng.random(100), rng.random(100)])
        mixed = rng.random((100, 2))
        alone = explained(columns, 7.0).evidence
        assert explained(columns, 7.0, Neighbours.of(apart)).evidence > alone + 30
        assert explained(columns, 7.0, Neighbours.of(mixed)).evidence < alone

    def test_an_element_between_two_models_belongs_where_its_neighbours_belong(self) -> None:
        rng = np.random.default_rng(5)
        half = np.arange(100) < 50
        near = [np.where(own, lengths(rng, 100, 0.5), 9.0) for own in (half, ~half)]
        near[0][99], near[1][99] = 0.5, 0.7
        places = np.column_stack([np.where(half, 0.0, 10.0) + rng.random(100), rng.random(100)])
        columns = [column(one) for one in near]
        assert explained(columns, 7.0).labels[99] == 0
        assert explained(columns, 7.0, Neighbours.of(places)).labels[99] == 1


class TestClutterThatMovesTogether:
    def test_what_moves_together_is_compared_with_such_clutter(self) -> None:
        rng = np.random.default_rng(7)
        places, one = rng.random((60, 2)), column(lengths(rng, 60, 1.5))
        alone = explained([one], 7.0, Neighbours.of(places)).evidence
        scattered = explained([one], 7.0, Neighbours.of(places, rng.uniform(0, 600, (60, 2)))).evidence
        together = explained([one], 7.0, Neighbours.of(places, rng.normal(0, 3, (60, 2)))).evidence
        assert scattered == pytest.approx(alone)
        assert together < 0.6 * alone

    def test_likelihood_of_three_elements(self) -> None:
        one = Column(np.zeros(4), 3.0, 7.5, 2, 1.0, 0.02)
        before = np.array([[-1, -1], [0, -1], [1, 3], [-1, -1]])
        shifts = np.array([[0.0, 0], [3, 4], [9, 12], [9, 12]])
        near = Neighbours(before, before, shifts)
        law = multivariate_t(np.zeros(2), 7.5**2 * np.eye(2), df=4)
        clutter = 0.02 / (np.pi * 7.5**2)
        # the last element is of no model, so nobody follows it
        wanted = np.log((1 + law.pdf([3.0, 4.0]) / clutter) / 2) + np.log((1 + law.pdf([6.0, 8.0]) / clutter) / 2)
        assert _moved_together(one, np.array([True, True, True, False]), near, shifts) == pytest.approx(max(wanted, 0))
        assert wanted > 0

    def test_only_homographies_say_where_an_element_moves(self) -> None:
        assert get_model("homography").shifts(np.array([[1.0, 2, 5, 9]])).tolist() == [[4.0, 7.0]]
        assert not hasattr(get_model("fundamental"), "shifts")


def test_weights_make_the_mean_the_likeliest_place() -> None:
    # the derivative of Student's log density, (4 + 2) / (4 + d^2 / s^2) d / s^2, is the weight times d / s^2
    np.testing.assert_allclose(student_weights(np.array([0.0, 1.0, 4.0]), 2, 2.0), [6 / 4, 6 / 4.25, 6 / 8])


class TestViews:
    @pytest.mark.parametrize("make", [views.building, views.motions])
    def test_scenes_are_repeatable_and_inside_the_pictures(self, make: Any) -> None:
        matches, labels = make(900)
        again, _ = make(900)
        np.testing.assert_array_equal(matches, again)
        assert len(matches) == len(labels)
        assert labels.min() == -1
        assert (matches > -10).all()
        assert (matches < 810).all()

    def test_what_stood_still_is_a_motion(self) -> None:
        # 43 right matches of a thing that stood still obey one epipolar geometry
        matches, labels = views.motions(2004)
        still = matches[labels == labels.max()]
        model = get_model("fundamental")
        assert len(still) >= views.FEWEST
        assert np.median(model.residuals(model.refit(still, np.ones(len(still)))[None], still)) < 1.5

    def test_planes_that_a_loose_homography_would_join_stay_apart(self) -> None:
        # three planes with a noise of 0.4 pixels; within 3 pixels one homography holds two of them
        matches, labels = views.building(7)
        fitter = MultiModelFitter("homography", 3.0, random_state=7).fit(matches)
        assert len(fitter.params_) == 3
        assert misclassification_error(labels, fitter.labels_) < 0.08


class TestDefinitions:
    def test_gain_is_the_density_of_students_law_over_that_of_clutter(self) -> None:
        one = Column(np.array([0.0, 1.0, 3.0, 7.5, 7.6]), 3.0, 7.5, 2, 4.0, 0.02)
        law = multivariate_t(np.zeros(2), 0.8**2 * np.eye(2), df=4)
        density = [law.pdf([d, 0.0]) for d in (0.0, 1.0, 3.0, 7.5)]
        clutter = 0.02 / (np.pi * 7.5**2)
        gains = gain(one, 0.8)
        np.testing.assert_allclose(gains[:4], np.log(np.array(density) / clutter))
        assert gains[4] == -np.inf
        flat = Column(np.array([0.5]), 1.0, 2.0, 1, 2.0, 0.1)
        wanted = np.log(multivariate_t(0, 0.3**2, df=4).pdf(0.5) / (0.1 / 4.0))
        np.testing.assert_allclose(gain(flat, 0.3), [wanted])

    def test_scale_is_one_step_of_the_iteration(self) -> None:
        one = Column(np.array([1.0, 2.0, 0.5, 1.5, 2.5, 9.0]), 3.0, 7.5, 2, 2.0, 0.02)
        own = np.arange(6) < 5
        square = sum(6 / (4 + d * d / 0.64) * d * d for d in (1.0, 2.0, 0.5, 1.5, 2.5)) / 3 / 2
        assert _scale(one, own, 0.8) == pytest.approx(np.sqrt(square))
        assert _scale(one, np.arange(6) < 2, 0.8) == 0.8  # no more than determine it
        assert _scale(one, np.arange(6) < 3, 0.8) != 0.8
        still, wide = np.zeros(6), np.full(6, 50.0)
        assert _scale(Column(still, 3.0, 7.5, 2, 2.0, 0.02), own, 0.8) == pytest.approx(0.15)
        assert _scale(Column(wide, 3.0, 7.5, 2, 2.0, 0.02), own, 9.8) == pytest.approx(
            3 / np.sqrt(4 * (np.sqrt(3) - 1))
        )

    def test_names_of_neighbours_and_of_all(self) -> None:
        labels, shares = np.array([0, 1, 2, 1]), np.array([0.2, 0.5, 0.3])
        np.testing.assert_allclose(_log_names(labels, shares, None), np.log([shares] * 4))
        near = np.array([[1, 2], [3, -1], [-1, -1], [0, 1]])
        wanted = [[0.2 / 3, 1.5 / 3, 1.3 / 3], [0.1, 0.75, 0.15], [0.2, 0.5, 0.3], [1.2 / 3, 1.5 / 3, 0.3 / 3]]
        np.testing.assert_allclose(_log_names(labels, shares, near), np.log(wanted))

    def test_evidence_of_two_models_with_neighbours(self) -> None:
        rng = np.random.default_rng(6)
        places = rng.random((40, 2))
        left = places[:, 0] < 0.5
        columns = [column(np.where(own, lengths(rng, 40, 0.6), 6.0 + rng.random(40))) for own in (left, ~left)]
        near = Neighbours.of(places)
        found = explained(columns, 5.0, near)
        names = np.where(found.labels < 0, 2, found.labels)
        shares = (np.bincount(names, minlength=3) + 1) / 43
        total = 0.0
        for i in range(40):
            before = [names[j] for j in near.before[i] if j >= 0]
            total += np.log((before.count(names[i]) + shares[names[i]]) / (len(before) + 1)) + found.gains[i]
        for t in (0, 1):
            total -= 4.0 * max(found.gains[names == t].mean(), 0) + 5.0
        assert found.evidence == pytest.approx(total)
