"""Principal axes, by the products of points or of columns."""

from __future__ import annotations

import numpy as np
import pytest

from biconsensus.significance._components import principal_axes


@pytest.mark.parametrize("shape", [(200, 40), (20, 300), (1, 50), (50, 1)])
def test_axes_are_those_of_the_singular_value_decomposition(shape):
    points = np.random.default_rng(0).normal(size=shape) * np.linspace(2, 1, shape[1])
    points -= points.mean(axis=0) if shape[0] > 1 else 0.0
    axes = principal_axes(points, 10)
    values, expected = np.linalg.svd(points, full_matrices=False)[1:]
    rank = min(10, int((values > 1e-9).sum()))
    assert axes.shape == (shape[1], rank)
    assert np.allclose(axes.T @ axes, np.eye(rank))
    assert np.allclose(np.abs(np.einsum("nd,dn->n", expected[:rank], axes)), 1.0)


def test_points_that_do_not_vary_have_no_axes():
    assert principal_axes(np.zeros((5, 40))).shape == (40, 0)
