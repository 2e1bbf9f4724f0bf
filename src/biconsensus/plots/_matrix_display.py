"""The preference matrix drawn with matplotlib."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from biconsensus.plots._drawing import new_axes
from biconsensus.plots._matrix import MatrixImage, matrix_image
from biconsensus.plots._palette import COLORS, OUTLIER
from biconsensus.protocols import FloatArray

if TYPE_CHECKING:
    from biconsensus.result._consensus import Consensus


def paint(image: MatrixImage) -> FloatArray:
    """Colours of a picture: blocks of a bi-cluster in the colour of their group, other memberships grey.

    Parameters
    ----------
    image : MatrixImage
        Picture as numbers.

    Returns
    -------
    (a, b, 3) float array
        Red, green, blue between 0 and 1.

    Examples
    --------
    >>> import biconsensus as bc
    >>> from biconsensus.plots import matrix_image
    >>> paint(matrix_image(bc.find_consensus([[0, 1] * 8] * 4))).shape
    (16, 8, 3)
    """
    same = (image.row_groups[:, None] == image.column_groups[None, :]) & (image.row_groups[:, None] >= 0)
    table = np.array([_rgb(color) for color in (*COLORS, OUTLIER)])
    index = np.where(same, image.row_groups[:, None] % len(COLORS), len(COLORS))
    return np.asarray(1.0 - image.ink[:, :, None] * (1.0 - table[index]))


def _rgb(color: str) -> tuple[float, ...]:
    """#RRGGBB as numbers between 0 and 1."""
    return tuple(int(color[start : start + 2], 16) / 255 for start in (1, 3, 5))


@dataclass
class PreferenceMatrixDisplay:
    """The preference matrix of a consensus, drawn with matplotlib.

    Parameters
    ----------
    image : MatrixImage
        Picture as numbers; see `matrix_image`.

    Examples
    --------
    >>> import biconsensus as bc
    >>> display = PreferenceMatrixDisplay.from_consensus(bc.find_consensus([[0, 1] * 8] * 4))
    >>> display.ax_.get_xlabel()
    'candidates (8)'
    """

    image: MatrixImage
    ax_: Any = None
    """Axes that were drawn on."""

    @classmethod
    def from_consensus(cls, consensus: Consensus, *, reorder: bool = True, ax: Any = None) -> PreferenceMatrixDisplay:
        """Take the numbers from a consensus and draw them."""
        return cls(matrix_image(consensus, reorder)).plot(ax)

    def plot(self, ax: Any = None) -> PreferenceMatrixDisplay:
        """Draw on the given axes, or on new ones."""
        self.ax_ = ax = new_axes(ax)
        ax.imshow(paint(self.image), aspect="auto", interpolation="nearest")
        ax.set(
            xlabel=f"candidates ({self.image.column_edges[-1]:,})", ylabel=f"elements ({self.image.row_edges[-1]:,})"
        )
        ax.set(xticks=[], yticks=[])
        return self


def preference_matrix(consensus: Consensus, *, reorder: bool = True, ax: Any = None) -> Any:
    """Draw the preference matrix, by default reordered by bi-cluster.

    Parameters
    ----------
    consensus : Consensus
        A result.
    reorder : bool
        False keeps the elements and candidates in the order of the pool.
    ax : matplotlib Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib Axes
        What was drawn on.

    Examples
    --------
    >>> import biconsensus as bc
    >>> preference_matrix(bc.find_consensus([[0, 1] * 8] * 4)).get_ylabel()
    'elements (16)'
    """
    return PreferenceMatrixDisplay.from_consensus(consensus, reorder=reorder, ax=ax).ax_
