"""One model or two: the evidence of sets of models."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from benchmarks import fitting_views as views
from biconsensus import MultiModelFitter
from biconsensus.fitting._evidence import Column, explained
from biconsensus.metrics import misclassification_error


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

    def test_planes_that_a_loose_homography_would_join_stay_apart(self) -> None:
        # three planes with a noise of 0.4 pixels; within 3 pixels one homography holds two of them
        matches, labels = views.building(7)
        fitter = MultiModelFitter("homography", 3.0, random_state=7).fit(matches)
        assert len(fitter.params_) == 3
        assert misclassification_error(labels, fitter.labels_) < 0.08
