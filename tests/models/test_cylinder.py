"""Cylinders against brute force: dense sampling, counting, independent formulas."""

from __future__ import annotations

import numpy as np
import pytest

from biconsensus.models import (
    CylinderModel,
    with_normals,
)
from tests.helpers.model_cases import on_cylinder


def test_cylinder_distance_is_measured_from_the_axis():
    theta = np.array([[0.0, 0, 0, 0, 0.6, 0.8, 2.0]])
    points = np.random.default_rng(4).normal(size=(30, 6)) * 3
    axis = np.linspace(-50, 50, 40001)[:, None] * theta[0, 3:6]
    expected = np.abs(np.sqrt(((points[:, None, :3] - axis) ** 2).sum(axis=2)).min(axis=1) - 2.0)
    np.testing.assert_allclose(CylinderModel().residuals(theta, points)[:, 0], expected, atol=1e-5)


def test_normals_of_points_make_cylinders_of_them():
    rng = np.random.default_rng(5)
    truth = on_cylinder(600, rng)
    estimated = with_normals(truth[:, :3])
    agreement = np.abs((estimated[:, 3:] * truth[:, 3:]).sum(axis=1))
    assert np.median(agreement) > 0.99
    theta = CylinderModel().refit(estimated, np.ones(600))
    assert theta[6] == pytest.approx(2.0, abs=1e-4)
