"""Vanishing points against brute force: dense sampling, counting, independent formulas."""

from __future__ import annotations

import numpy as np
import pytest

from biconsensus.models import (
    VanishingPointModel,
    segment_hit_probability,
)


def test_vanishing_point_residual_is_the_way_of_the_ends_to_the_line():
    rng = np.random.default_rng(14)
    segments, point = rng.uniform(0, 10, (30, 4)), np.array([20.0, -3.0])
    theta = np.append(point, 1.0)[None] / np.linalg.norm([20, -3, 1])
    middle = (segments[:, :2] + segments[:, 2:]) / 2
    along = (point - middle) / np.linalg.norm(point - middle, axis=1, keepdims=True)
    for ends in (segments[:, :2], segments[:, 2:]):
        gap = ends - middle
        expected = np.abs(gap[:, 0] * along[:, 1] - gap[:, 1] * along[:, 0])
        np.testing.assert_allclose(VanishingPointModel().residuals(theta, segments)[:, 0], expected, atol=1e-9)


def test_parallel_segments_meet_at_infinity():
    pair = np.array([[[0.0, 0, 1, 2], [5, 0, 7, 4]]])
    theta = VanishingPointModel().fit(pair)
    assert theta[0, 2] == pytest.approx(0, abs=1e-12)
    assert abs(theta[0, 1] / theta[0, 0]) == pytest.approx(2.0)
    assert VanishingPointModel().residuals(theta, pair[0]).max() < 1e-9


@pytest.mark.parametrize("point", [(5.0, 5.0, 1.0), (1000.0, 3.0, 1.0), (1.0, 1.0, 0.0)])
def test_chance_of_a_segment_does_not_depend_on_the_vanishing_point(point):
    rng = np.random.default_rng(15)
    segments = np.hstack([rng.uniform(0, 10, (50, 2))] * 2)
    segments[:, 2:] += rng.normal(size=(50, 2))
    drawn = VanishingPointModel().background_like(segments, 40_000, rng)
    theta = np.array([point]) / np.linalg.norm(point)
    share = (VanishingPointModel().residuals(theta, drawn) <= 0.2).mean()
    assert share == pytest.approx(segment_hit_probability(segments, 0.2), abs=0.01)
