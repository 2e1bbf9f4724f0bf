"""The matrix drawn."""

from __future__ import annotations

import numpy as np
from matplotlib.colors import to_hex

import biconsensus as bc
from biconsensus import plots
from biconsensus.plots._matrix_display import paint
from tests.helpers.strategies import paper_consensus


def test_paint_gives_blocks_the_colour_of_their_group() -> None:
    consensus = paper_consensus([[0, 1] * 8] * 4)
    colours = paint(plots.matrix_image(consensus))
    assert to_hex(colours[0, 0]).upper() == plots.color_of(0)
    assert to_hex(colours[-1, -1]).upper() == plots.color_of(1)
    assert (colours[0, -1] == 1).all()


def test_display_takes_given_axes(consensus: bc.Consensus) -> None:
    from matplotlib import pyplot as plt

    ax = plt.figure().add_subplot()
    display = plots.PreferenceMatrixDisplay.from_consensus(consensus, ax=ax)
    assert display.ax_ is ax
    np.testing.assert_array_equal(ax.images[0].get_array(), paint(display.image))
