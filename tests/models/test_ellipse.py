"""Ellipses against brute force: dense sampling, counting, independent formulas."""

from __future__ import annotations

import numpy as np

from biconsensus.models import (
    CircleModel,
    EllipseFromSegments,
    EllipseModel,
)
from biconsensus.models._conics import ellipse_distances
from tests.helpers.model_cases import on_ellipse, segments_on_ellipse


def test_circle_is_an_ellipse_of_equal_axes():
    points = np.vstack([np.random.default_rng(1).uniform(-5, 5, (40, 2)), [[1.0, 2.0]]])
    ours = ellipse_distances(np.array([[1.0, 2.0, 3.0, 3.0, 0.4]]), points)
    np.testing.assert_allclose(ours, CircleModel().residuals(np.array([[1.0, 2.0, 3.0]]), points), atol=1e-9)


def test_segment_to_ellipse_is_the_larger_of_both_ends():
    theta = np.array([[0.0, 0, 3, 2, 0.5]])
    segments = np.random.default_rng(2).uniform(-5, 5, (30, 4))
    both = [ellipse_distances(theta, segments[:, i : i + 2]) for i in (0, 2)]
    np.testing.assert_array_equal(EllipseFromSegments().residuals(theta, segments), np.maximum(*both))


def test_elongation_and_radius_limits_are_kept():
    samples = np.stack([segments_on_ellipse(3, np.random.default_rng(s)) for s in range(5)])
    assert np.isfinite(EllipseFromSegments(max_elongation=1.7).fit(samples)).all()
    assert np.isnan(EllipseFromSegments(max_elongation=1.5).fit(samples)).all()
    assert np.isnan(EllipseFromSegments(max_radius=3.9).fit(samples)).all()
    points = np.stack([on_ellipse(5, np.random.default_rng(s)) for s in range(5)])
    assert np.isnan(EllipseModel(max_elongation=1.5).fit(points)).all()
