"""Segments against brute force: dense sampling, counting, independent formulas."""

from __future__ import annotations

import numpy as np

from biconsensus.models import (
    SegmentModel,
)
from tests.helpers.model_cases import (
    nearest,
)


def test_segment_distance_is_that_of_a_dense_polyline():
    points = np.random.default_rng(0).uniform(-3, 3, (50, 2))
    theta = np.array([[-1.0, 0.5, 2.0, 1.5]])
    curve = np.linspace(theta[0, :2], theta[0, 2:], 20001)
    np.testing.assert_allclose(SegmentModel().residuals(theta, points)[:, 0], nearest(curve, points), atol=1e-6)
