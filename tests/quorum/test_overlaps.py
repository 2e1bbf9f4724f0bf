"""Certainty of candidates against its definition."""

from __future__ import annotations

import numpy as np
import pytest

import biconsensus as bc
from biconsensus.matrix._matrix import PreferenceMatrix
from biconsensus.quorum import _overlaps
from biconsensus.quorum._overlaps import Overlaps


def test_certainty_is_the_entropy_over_the_other_sources() -> None:
    table = np.array([[0, 0], [0, 0], [0, 1], [0, 1], [1, 1], [1, 1]])
    problem = PreferenceMatrix.from_pool(bc.Pool.from_labels(table))
    sizes = problem.counts @ problem.entries.toarray()
    values = Overlaps.of(problem).certainty()
    # both groups of four are cut in half by the other source: one bit over c = 2 sources at scale 0.4
    assert values[sizes == 4] == pytest.approx(np.exp(-1.0 / 0.8))
    assert values[sizes == 2] == pytest.approx(1.0)


@pytest.mark.parametrize("limits", [{}, {"CELLS": 0}, {"CELLS": 0, "TABLE": 0}, {"ROWS": 7}], ids=str)
def test_every_pair_of_sources_is_counted_once_whatever_way_is_taken(
    monkeypatch: pytest.MonkeyPatch, limits: dict[str, int]
) -> None:
    for name, value in limits.items():
        monkeypatch.setattr(_overlaps, name, value)
    rng = np.random.default_rng(1)
    widths = [3, 4, 2, 5, 3]
    held = [rng.integers(0, width, 200).astype(np.int32) for width in widths]
    counts = rng.integers(1, 5, 200).astype(np.float64)
    found = {}
    for a, b, first, second, number in _overlaps._met(held, counts, widths):
        assert (min(a, b), max(a, b)) not in found
        table = np.zeros((widths[a], widths[b]))
        table[first, second] = number
        found[min(a, b), max(a, b)] = table if a < b else table.T
    assert len(found) == 10
    for (a, b), table in found.items():
        expected = np.zeros_like(table)
        np.add.at(expected, (held[a], held[b]), counts)
        assert np.array_equal(table, expected)
