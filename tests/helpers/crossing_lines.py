"""Points on two lines that cross, among outliers."""

from __future__ import annotations

import numpy as np

from biconsensus.protocols import FloatArray


def lines() -> FloatArray:
    """A horizontal line of 60 points, a vertical one of 25, and 60 outliers."""
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, (145, 2))
    x[:60, 1] = rng.normal(0, 0.006, 60)
    x[60:85, 0] = 0.2 + rng.normal(0, 0.006, 25)
    return x
