"""Columns in one unit, and the components of very many columns, as every default clustering sees them."""

from __future__ import annotations

import numpy as np
import pytest

from biconsensus.significance._components import COMPONENTS
from biconsensus.sources._default_pool import default_sources
from biconsensus.sources._features import Features, in_one_unit, share_a_unit
from tests.helpers.blobs import X


def test_only_columns_of_different_units_are_standardised():
    assert share_a_unit(X)
    assert Features.of(X).apply(X) is X
    mixed = X * [1, 1000, 1, 0.01]
    assert not share_a_unit(mixed)
    assert np.allclose(Features.of(mixed).apply(mixed), in_one_unit(mixed))


@pytest.mark.parametrize("d", [2, 3, 4, 5, 8])
def test_one_column_of_a_larger_unit_decides_where_columns_are_few(d):
    points = np.random.default_rng(0).uniform(size=(50, d))
    assert share_a_unit(points * 3.5)
    points[:, 0] *= 1000
    assert share_a_unit(points) == (d > 4), "among many columns one may be odd"


@pytest.mark.parametrize("units", [1.0, 1000.0])
def test_components_of_many_columns_keep_the_distances_within_them(units):
    rng = np.random.default_rng(0)
    spanned = rng.normal(size=(300, 8)) @ rng.normal(size=(8, 60))
    spanned[:, 30:] *= units
    found = Features.of(spanned).apply(spanned)
    assert found.shape == (300, 8), "the points vary in no more directions"
    expected = in_one_unit(spanned)
    assert np.allclose(np.linalg.norm(found[1:] - found[0], axis=1), np.linalg.norm(expected[1:] - expected[0], axis=1))


def test_new_rows_are_seen_as_the_others():
    rng = np.random.default_rng(1)
    points = rng.normal(size=(200, 90)) + 6 * (np.arange(200) % 3 == 0)[:, None]
    for source in default_sources(points)[::10]:
        found = source.run(points, 0)
        assert np.array_equal(found.predictor.predict(points), found.labels), source.name


def test_components_are_found_from_a_part_of_very_many_rows(monkeypatch: pytest.MonkeyPatch):
    points = np.random.default_rng(2).normal(size=(400, 50)) * np.linspace(3, 0.5, 50)
    whole = Features.of(points)
    monkeypatch.setattr("biconsensus.sources._features.ROWS_OF_AXES", 200)
    part = Features.of(points)
    assert whole.axes is not None
    assert part.axes is not None
    assert whole.axes.shape == part.axes.shape == (50, COMPONENTS)
    assert np.linalg.svd(whole.axes.T @ part.axes, compute_uv=False)[:10].min() > 0.9, "nearly the same directions"


def test_rows_that_are_all_equal_stay_as_they_are():
    points = np.ones((20, 50))
    assert Features.of(points).apply(points) is points
