"""Drawings of modes."""

from __future__ import annotations

import numpy as np
import pytest

import biconsensus as bc
from biconsensus import plots
from biconsensus.errors import InputError


def test_every_source_is_a_line_and_bold_where_it_belongs() -> None:
    found = bc.find_modes([[0] * 20 + [1] * 20] * 3 + [[0, 1] * 20] * 2)
    ax = plots.modes(found)
    assert len(ax.get_yticks()) == 5
    bold = [text.get_position() for text in ax.texts if text.get_weight() == "bold"]
    assert len(bold) == 5
    ax = plots.mode_groups(found)
    assert np.isclose(sum(bar.get_width() * bar.get_height() for bar in ax.patches), 1.0)


def test_what_cannot_be_drawn_is_said() -> None:
    found = bc.find_modes(np.random.default_rng(0).integers(0, 3, (60, 4)))
    with pytest.raises(InputError, match="no mode to draw"):
        plots.modes(found)
    with pytest.raises(InputError, match="first: received 0; the pool has 0 modes"):
        plots.mode_groups(found)
