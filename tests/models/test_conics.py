"""Distances to conics against brute force: dense sampling, counting, independent formulas."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biconsensus.models._conics import direct_fit, ellipse_distances
from biconsensus.models._ellipse import ellipse_points
from tests.helpers.model_cases import (
    nearest,
)


@given(
    a=st.floats(0.05, 10),
    ratio=st.floats(0.02, 1),
    angle=st.floats(0, np.pi),
    x=st.floats(-15, 15),
    y=st.floats(-15, 15),
)
@settings(max_examples=50, deadline=None)
def test_ellipse_distance_is_that_of_a_dense_polyline(a, ratio, angle, x, y):
    theta = np.array([0.3, -0.2, a, a * ratio, angle])
    point = np.array([[x, y]])
    grid = np.linspace(0, 2 * np.pi, 20001)
    coarse = ellipse_points(theta, grid)
    best = grid[np.argmin(((coarse - point) ** 2).sum(axis=1))]
    fine = ellipse_points(theta, best + np.linspace(-1, 1, 20001) * 2 * np.pi / 20000)
    assert ellipse_distances(theta[None], point)[0, 0] == pytest.approx(nearest(fine, point)[0], abs=1e-7 * (1 + a))


@pytest.mark.parametrize(
    "point", [(0, 0), (0.5, 0), (1.4, 0), (1.6, 0), (2, 0), (0, 0.3), (0, 5), (1e-9, 1e-9), (0.1, 1e-12)]
)
def test_ellipse_distance_on_the_axes_and_at_the_centre(point):
    theta = np.array([0.0, 0.0, 2.0, 1.0, 0.0])
    curve = ellipse_points(theta, np.linspace(0, 2 * np.pi, 400001))
    expected = nearest(curve, np.array([point], dtype=float))[0]
    assert ellipse_distances(theta[None], np.array([point], dtype=float))[0, 0] == pytest.approx(expected, abs=1e-8)


def test_direct_fit_returns_an_ellipse_where_the_best_conic_is_none():
    rng = np.random.default_rng(3)
    x = np.linspace(-1, 1, 30)
    parabola = np.column_stack([x, 0.3 * x**2 + rng.normal(scale=0.01, size=30)])
    theta = direct_fit(parabola[None])[0]
    assert np.isfinite(theta).all()
    assert ellipse_distances(theta[None], parabola).max() < 0.1
