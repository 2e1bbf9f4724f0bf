"""Level lines against the curves they stand for."""

from __future__ import annotations

import numpy as np
import pytest

from biconsensus.plots._contours import level_segments


def test_level_lines_of_a_circle_lie_on_it() -> None:
    x = np.linspace(-2, 2, 81)
    y = np.linspace(-1.5, 1.5, 61)
    values = np.hypot(*np.meshgrid(x, y))
    segments = level_segments(values, x, y, 1.0)
    np.testing.assert_allclose(np.hypot(segments[:, 0], segments[:, 1]), 1, atol=2e-3)
    lengths = np.hypot(segments[:, 2] - segments[:, 0], segments[:, 3] - segments[:, 1])
    assert lengths.sum() == pytest.approx(2 * np.pi, rel=2e-3)


def test_saddle_gives_two_lines() -> None:
    values = np.array([[1.0, 0.0], [0.0, 1.0]])
    assert level_segments(values, np.arange(2.0), np.arange(2.0), 0.5).shape == (2, 4)
