"""Homographies against brute force: dense sampling, counting, independent formulas."""

from __future__ import annotations

import numpy as np

from biconsensus.models import (
    HomographyModel,
)
from tests.helpers.model_cases import (
    HOMOGRAPHY,
    by_homography,
    counted,
)


def test_homography_is_the_one_that_made_the_data():
    data = by_homography(4, np.random.default_rng(7))
    theta = HomographyModel().fit(data[None])[0].reshape(3, 3)
    np.testing.assert_allclose(theta / theta[2, 2], HOMOGRAPHY, atol=1e-8)


def test_homography_error_is_the_mean_of_both_transfers():
    data = by_homography(20, np.random.default_rng(8)) + np.random.default_rng(9).normal(scale=0.1, size=(20, 4))
    theta = (HOMOGRAPHY / np.linalg.norm(HOMOGRAPHY)).reshape(1, 9)

    def transfer(matrix, source, target):
        mapped = np.column_stack([source, np.ones(20)]) @ matrix.T
        return ((mapped[:, :2] / mapped[:, 2:] - target) ** 2).sum(axis=1)

    both = transfer(HOMOGRAPHY, data[:, :2], data[:, 2:]) + transfer(
        np.linalg.inv(HOMOGRAPHY), data[:, 2:], data[:, :2]
    )
    np.testing.assert_allclose(HomographyModel().residuals(theta, data)[:, 0], np.sqrt(both / 2))


def test_homography_puts_what_lies_behind_out_of_reach():
    theta = (HOMOGRAPHY / np.linalg.norm(HOMOGRAPHY)).reshape(1, 9)
    behind = np.array([[-200.0, -200.0, 0.0, 0.0]])
    assert np.isinf(HomographyModel().residuals(theta, behind)).all()


def test_homography_refuses_samples_turned_inside_out():
    square = np.array([[0.0, 0], [1, 0], [1, 1], [0, 1]])
    crossed = square[[0, 2, 1, 3]] + 5
    assert np.isnan(HomographyModel().fit(np.hstack([square, crossed])[None])).all()


def test_homography_chance_equals_counting():
    theta = np.stack([HOMOGRAPHY, np.diag([0.5, 0.5, 1.0])]).reshape(2, 9)
    box = np.array([[-5.0] * 4, [5.0] * 4])
    np.testing.assert_allclose(
        HomographyModel().hit_probability(theta, 0.3, box), counted(HomographyModel(), theta, 0.3, box, 2**18), rtol=0.1
    )


def test_pairs_within_a_reach_are_those_of_all_errors():
    rng, model = np.random.default_rng(4), HomographyModel()
    first = rng.uniform(0, 300, (900, 2))
    data = np.hstack([first, first + rng.normal(0, 30, first.shape)])
    params = model.fit(data[rng.integers(len(data), size=(2000, 4))])
    params = params[np.isfinite(params).all(axis=1)]
    assert len(params) > 40  # more numbers than one piece of the table holds
    errors = model.residuals(params, data)
    rows, which, distances = model.close(params, data, 20.0)
    np.testing.assert_array_equal(np.stack([rows, which]), np.nonzero(errors <= 20.0))
    np.testing.assert_allclose(distances, errors[rows, which], rtol=1e-6, atol=1e-6)
    assert [part.size for part in model.close(params[:0], data, 20.0)] == [0, 0, 0]


def test_what_the_map_puts_at_infinity_is_out_of_reach_and_not_undefined():
    turned = np.array([[0.0, 0, 1, 0, 1, 0, 1, 0, 0]])  # x = 0 is at infinity, x < 0 on the wrong side
    errors = HomographyModel().residuals(turned, np.array([[0.0, 0.0, 5.0, 5.0], [-1.0, 0.0, -1.0, 0.0]]))
    assert np.isposinf(errors).all()
    assert not HomographyModel().close(turned, np.array([[0.0, 0.0, 5.0, 5.0], [-1.0, 0.0, -1.0, 0.0]]), 3.0)[0].size


def test_maps_of_samples_do_not_depend_on_bad_samples_beside_them():
    rng = np.random.default_rng(5)
    samples = rng.uniform(0, 100, (50, 4, 4))
    params = HomographyModel().fit(samples)
    good = np.isfinite(params).all(axis=1)
    assert 0 < good.sum() < 50
    assert np.isnan(params[~good]).all()
    np.testing.assert_allclose(HomographyModel().fit(samples[good]), params[good], rtol=1e-12)
    assert np.isnan(HomographyModel().fit(samples[~good])).all()
