"""Points on two lines that cross, among outliers."""

from __future__ import annotations

import numpy as np

from biconsensus.protocols import FloatArray


def lines(n_vertical: int = 25, noise: float = 0.006) -> FloatArray:
    """A horizontal line of 60 points, a vertical one of `n_vertical`, and 60 outliers."""
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, (120 + n_vertical, 2))
    x[:60, 1] = rng.normal(0, noise, 60)
    x[60 : 60 + n_vertical, 0] = 0.2 + rng.normal(0, noise, n_vertical)
    return x
