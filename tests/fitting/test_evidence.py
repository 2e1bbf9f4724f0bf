"""One model or two: the evidence of sets of models."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from benchmarks import fitting_views as views
from biconsensus import MultiModelFitter
from biconsensus.fitting._evidence import Clutter, Column, Neighbours, explained, student_weights
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
    def test_those_before_are_near_and_told_before(self) -> None:
        places = np.random.default_rng(0).random((200, 2))
        near = Neighbours.of(places)
        assert near.around.shape == (200, 12)
        assert near.before.shape == (200, 6)
        assert near.apart is None
        # all but the first ones have six, and no two elements come before each other
        assert (near.before >= 0).all(axis=1).sum() == 194
        for i in range(200):
            for j in near.before[i][near.before[i] >= 0]:
                assert i not in near.before[j]
        # the farther along, the nearer: what is known to half of the elements is nearer than to a random one
        gaps = np.linalg.norm(places[:, None] - places[near.before], axis=2)[(near.before >= 0).all(axis=1)]
        assert np.median(gaps) < 0.2

    def test_few_elements(self) -> None:
        alone = Neighbours.of(np.zeros((1, 2)), np.zeros((1, 2)))
        assert alone.around.shape == (1, 0)
        assert (alone.before == -1).all()
        assert Clutter.of(alone, 7.5) is not None
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


class TestClutter:
    """Elements of no model that moved as their neighbours did are no model."""

    @staticmethod
    def scene(alike: bool) -> tuple[Any, Any]:
        """Places and images of 100 elements of a plane that stays, and 40 of clutter in one place beside it."""
        rng = np.random.default_rng(6)
        places = np.vstack([rng.uniform(0, 300, (100, 2)), rng.uniform(400, 500, (40, 2))])
        images = places + rng.normal(0, 0.5, places.shape)
        tree = places[100:] + [60, 0] + rng.normal(0, 15, (40, 2))
        images[100:] = tree if alike else rng.uniform(0, 500, (40, 2))
        return places, images

    def test_share_and_width_are_learned(self) -> None:
        own = np.arange(140) >= 100
        shares, widths = list[float](), list[float]()
        for alike in (True, False):
            clutter = Clutter.of(Neighbours.of(*self.scene(alike)), 7.5)
            for _ in range(20):
                assert clutter is not None
                clutter = clutter.like(own)
            assert clutter is not None
            shares.append(clutter.share)
            widths.append(clutter.width)
        assert shares[0] > 0.7
        assert shares[1] < 0.3
        assert 7.5 < widths[0] < 21  # errors of 15 pixels, seen from the nearest of six others

    def test_width_is_at_least_the_reach_of_models(self) -> None:
        places = np.random.default_rng(0).uniform(0, 300, (80, 2))
        clutter = Clutter.of(Neighbours.of(places, places + 5), 7.5)
        assert clutter is not None
        assert clutter.like(np.ones(80, bool)).width == 7.5

    def test_what_moved_as_its_neighbours_is_less_evidence(self) -> None:
        # a second model that holds 10 of the 40 elements of clutter, 1.5 pixels wide
        rng = np.random.default_rng(7)
        first = np.where(np.arange(140) < 100, lengths(rng, 140, 0.5), 60.0)
        second = np.where(np.arange(140) >= 130, lengths(rng, 140, 1.5), 60.0)
        one, both = [column(first, 1e-3)], [column(first, 1e-3), column(second, 1e-3)]
        places, images = self.scene(True)
        worth = [
            explained(both, 11.5, near).evidence - explained(one, 11.5, near).evidence
            for near in (Neighbours.of(places), Neighbours.of(places, images))
        ]
        assert worth[0] > 0 > worth[1]

    def test_only_homographies_have_such_clutter(self) -> None:
        # right matches of what is no plane obey an epipolar geometry: for fundamental matrices they are a model
        matches = np.arange(8.0).reshape(2, 4)
        np.testing.assert_array_equal(get_model("homography").images(matches), matches[:, 2:])
        assert not hasattr(get_model("fundamental"), "images")


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

    def test_outliers_of_a_building_are_no_plane(self) -> None:
        # eight matches of a thing with depth lie within 1.6 pixels of one homography, where the wall has 0.3
        matches, labels = views.building(5009)
        fitter = MultiModelFitter("homography", 3.0, random_state=0).fit(matches)
        assert len(fitter.params_) == 1
        assert misclassification_error(labels, fitter.labels_) < 0.03
