"""The default pool: any shape of data, units of features."""

from __future__ import annotations

import numpy as np
import pytest

from biconsensus.sources._default_pool import default_sources, share_a_unit
from biconsensus.sources._running import child_seeds, run_sources
from tests.helpers.blobs import X


def test_the_default_pool_standardises_only_features_of_different_units():
    assert share_a_unit(X)
    mixed = X * [1, 1000, 1, 0.01]
    assert not share_a_unit(mixed)
    assert all(s.params.get("standardised") for s in default_sources(mixed))
    assert not any("standardised" in s.params for s in default_sources(X))


@pytest.mark.parametrize("d", [2, 3, 4, 5, 8])
def test_one_column_of_a_larger_unit_decides_where_columns_are_few(d):
    points = np.random.default_rng(0).uniform(size=(50, d))
    assert share_a_unit(points * 3.5)
    points[:, 0] *= 1000
    assert share_a_unit(points) == (d > 4), "among many columns one may be odd"


@pytest.mark.parametrize("shape", [(2, 1), (12, 2), (60, 4), (40, 30)])
def test_the_default_pool_runs_on_any_shape(shape):
    points = np.random.default_rng(1).normal(size=shape)
    sources = default_sources(points)
    results = run_sources(sources, points, child_seeds(0, len(sources)), n_elements=shape[0])
    assert all(r.ok for r in results)
    assert len({s.name.split("(")[0] for s in sources}) == (7 if shape[0] > 2 else 3)
