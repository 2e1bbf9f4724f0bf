"""Level lines of a function on a grid (marching squares), for models of any kind in the plane."""

from __future__ import annotations

import numpy as np

from biconsensus.protocols import BoolArray, FloatArray, IntArray

# corners of a cell in turn: (row, column) offsets
CORNERS = ((0, 0), (0, 1), (1, 1), (1, 0))
"""Corners of a cell in order around it, as offsets of row and column."""


def level_segments(values: FloatArray, x: FloatArray, y: FloatArray, level: float) -> FloatArray:
    """Short segments along which a function on a grid takes a value.

    Parameters
    ----------
    values : (a, b) float array
        Values at the points of the grid.
    x : (b,) float array
        Coordinates of its columns.
    y : (a,) float array
        Coordinates of its rows.
    level : float
        Value to follow.

    Returns
    -------
    (k, 4) float array
        Segments as x1, y1, x2, y2.

    Examples
    --------
    >>> import numpy as np
    >>> grid = np.arange(2.0)
    >>> level_segments(np.array([[0.0, 1.0], [0.0, 1.0]]), grid, grid, 0.5).tolist()
    [[0.5, 0.0, 0.5, 1.0]]
    """
    crossed, points = _crossings(values, x, y, level)
    count = crossed.sum(axis=0)
    single, double = np.flatnonzero(count == 2), np.flatnonzero(count == 4)
    pairs = ((single, (0, 1)), (double, (0, 1)), (double, (2, 3)))
    return np.concatenate([_join(points, crossed, cells, ends) for cells, ends in pairs])


def _crossings(values: FloatArray, x: FloatArray, y: FloatArray, level: float) -> tuple[BoolArray, FloatArray]:
    """(4, cells) which sides of each cell are crossed, and (4, cells, 2) where."""
    grid = np.stack(np.meshgrid(x, y), axis=-1)
    a, b = values.shape
    corner = [np.s_[r : a - 1 + r, c : b - 1 + c] for r, c in CORNERS]
    crossed, points = [], []
    for here, there in zip(corner, corner[1:] + corner[:1]):
        low, high = values[here] - level, values[there] - level
        change = (low < 0) != (high < 0)
        share = np.divide(low, low - high, out=np.zeros_like(low), where=change)
        points.append((grid[here] + share[..., None] * (grid[there] - grid[here])).reshape(-1, 2))
        crossed.append(change.ravel())
    return np.array(crossed), np.array(points)


def _join(points: FloatArray, crossed: BoolArray, cells: IntArray, ends: tuple[int, int]) -> FloatArray:
    """Segments between two of the crossed sides of some cells."""
    sides = np.argsort(~crossed[:, cells], axis=0, kind="stable")
    start, stop = (points[sides[end], cells] for end in ends)
    return np.concatenate([start, stop], axis=1)
