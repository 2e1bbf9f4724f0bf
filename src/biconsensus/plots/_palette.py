"""Colours that people with any colour vision can tell apart, and markers for when they run out."""

from __future__ import annotations

COLORS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#882255", "#999933")
OUTLIER = "#8A8A8A"
MARKERS = ("o", "s", "^", "D", "v", "P", "X")


def color_of(group: int) -> str:
    """Colour of a group; grey for -1.

    Examples
    --------
    >>> color_of(0), color_of(8), color_of(-1)
    ('#0072B2', '#0072B2', '#8A8A8A')
    """
    return OUTLIER if group < 0 else COLORS[group % len(COLORS)]


def marker_of(group: int) -> str:
    """Marker of a group: it changes when the colours start again.

    Examples
    --------
    >>> marker_of(0), marker_of(8), marker_of(-1)
    ('o', 's', '.')
    """
    return "." if group < 0 else MARKERS[group // len(COLORS) % len(MARKERS)]
