"""Principal components: the few directions in which points of many columns vary most."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh

from biconsensus.protocols import FloatArray

COMPONENTS = 30
"""Columns up to which points are looked at as they are; of more columns, as many principal components are. Fifty are no
better (the page on meaning)."""


def principal_axes(centred: FloatArray, number: int = COMPONENTS) -> FloatArray:
    """Directions in which points vary most.

    Parameters
    ----------
    centred : (m, d) array
        Points less their mean.
    number : int
        How many directions are wanted.

    Returns
    -------
    (d, n) array
        Orthogonal directions of length 1, the one with the largest variance first; fewer than wanted where the points
        do not vary in as many.

    Examples
    --------
    >>> points = np.array([[-2.0, 0.0, 1.0], [0.0, 0.0, -2.0], [2.0, 0.0, 1.0]])
    >>> np.abs(principal_axes(points, 2)).round(6).tolist()
    [[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]]
    """
    m, d = centred.shape
    # the products of all points with each other, or of all columns, whichever are fewer
    products = centred @ centred.T if m < d else centred.T @ centred
    size = len(products)
    values, vectors = eigh(products, subset_by_index=[size - min(number, size), size - 1])
    varies = values > size * np.finfo(np.float64).eps * max(float(values[-1]), 0.0)
    axes = centred.T @ vectors[:, varies] / np.sqrt(values[varies]) if m < d else vectors[:, varies]
    return np.asarray(axes[:, ::-1], np.float64)
