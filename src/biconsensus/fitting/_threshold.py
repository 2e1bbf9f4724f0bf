"""The threshold from the data: at which scale the best models are most meaningful."""

from __future__ import annotations

import numpy as np

from biconsensus.fitting._settings import Family
from biconsensus.protocols import FloatArray

N_SCALES = 12
"""Scales that are tried; they count as tests."""


def scale_of(families: list[Family], data: FloatArray, rng: np.random.Generator) -> float | None:
    """Threshold of what is left in the data; None where no scale is meaningful."""
    raise NotImplementedError
