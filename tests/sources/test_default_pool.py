"""The default pool: any shape of data, units of features."""

from __future__ import annotations

import numpy as np
import pytest

from biconsensus.sources._default_pool import default_sources
from biconsensus.sources._running import child_seeds, run_sources


@pytest.mark.parametrize("shape", [(2, 1), (12, 2), (60, 4), (40, 30), (50, 80), (20, 200)])
def test_the_default_pool_runs_on_any_shape(shape):
    points = np.random.default_rng(1).normal(size=shape)
    sources = default_sources(points)
    results = run_sources(sources, points, child_seeds(0, len(sources)), n_elements=shape[0])
    assert all(r.ok for r in results)
    assert len({s.name.split("(")[0] for s in sources}) == (7 if shape[0] > 2 else 3)
