"""Certainty of candidates against its definition."""

from __future__ import annotations

import numpy as np
import pytest

import biconsensus as bc
from biconsensus.matrix._matrix import PreferenceMatrix
from biconsensus.quorum._overlaps import Overlaps


def test_certainty_is_the_entropy_over_the_other_sources() -> None:
    table = np.array([[0, 0], [0, 0], [0, 1], [0, 1], [1, 1], [1, 1]])
    problem = PreferenceMatrix.from_pool(bc.Pool.from_labels(table))
    sizes = problem.counts @ problem.entries.toarray()
    values = Overlaps.of(problem).certainty()
    # both groups of four are cut in half by the other source: one bit over c = 2 sources at scale 0.4
    assert values[sizes == 4] == pytest.approx(np.exp(-1.0 / 0.8))
    assert values[sizes == 2] == pytest.approx(1.0)
