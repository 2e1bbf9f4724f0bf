"""Fundamental matrices against brute force: dense sampling, counting, independent formulas."""

from __future__ import annotations

import numpy as np

from biconsensus.models import (
    FundamentalModel,
)
from tests.helpers.model_cases import two_views


def test_sampson_distance_is_near_the_way_to_the_nearest_pair():
    data = two_views(40, np.random.default_rng(10))
    model = FundamentalModel()
    theta = model.refit(data, np.ones(40))
    off = data + np.random.default_rng(11).normal(scale=1e-3, size=data.shape)
    # to first order: the gradient of the constraint, by differences
    matrix = theta.reshape(3, 3)

    def constraint(x):
        return np.append(x[2:], 1) @ matrix @ np.append(x[:2], 1)

    expected = []
    for x in off:
        gradient = [(constraint(x + step) - constraint(x - step)) / 2e-6 for step in 1e-6 * np.eye(4)]
        expected.append(abs(constraint(x)) / np.linalg.norm(gradient))
    np.testing.assert_allclose(model.residuals(theta[None], off)[:, 0], expected, rtol=1e-4, atol=1e-9)


def test_fundamental_refuses_points_behind_a_camera():
    data = two_views(8, np.random.default_rng(12))
    assert np.isfinite(FundamentalModel().fit(data[None])).all()
    rng = np.random.default_rng(13)
    mixed = rng.uniform(-3, 3, (400, 8, 4))
    assert np.isnan(FundamentalModel().fit(mixed)[:, 0]).mean() > 0.9
