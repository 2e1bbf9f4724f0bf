"""Quality of a partition of a graph."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import coo_array

from biconsensus.errors import InputError
from biconsensus.metrics._partitions import noise_as_singletons


def modularity(adjacency: Any, labels: ArrayLike, resolution: float = 1.0) -> float:
    """Modularity of a partition of a graph: edges inside groups, less those expected from the degrees.

    Parameters
    ----------
    adjacency : (m, m) array or sparse array
        Edge weights, not negative; symmetric, or directed from row to column. A self-loop counts as its diagonal entry.
    labels : (m,) array of int
        -1 means a group of its own for that node alone.
    resolution : float, default 1
        Weight of the expected part; larger values favour smaller groups.

    Returns
    -------
    float
        At most 1; 0 for a graph without edges.

    Notes
    -----
    ``Q = sum over groups of  e_g / W - resolution * (out_g / W) * (in_g / W)`` with W the sum of the matrix, e_g that
    of the entries inside the group, and out_g and in_g the row and column sums of its nodes.

    Examples
    --------
    >>> edges = np.kron(np.eye(2), np.ones((3, 3)) - np.eye(3))
    >>> modularity(edges, [0, 0, 0, 1, 1, 1])
    0.5
    """
    matrix = coo_array(adjacency)
    groups = np.unique(noise_as_singletons(labels), return_inverse=True)[1]
    if matrix.shape != (groups.size, groups.size):
        raise InputError(f"labels has {groups.size} entries for an adjacency of shape {matrix.shape}; give one a node.")
    total = float(matrix.sum())
    if not total:
        return 0.0
    inside = matrix.data[groups[matrix.row] == groups[matrix.col]].sum() / total
    outgoing, incoming = (np.bincount(groups, matrix.sum(axis)) / total for axis in (1, 0))
    return float(inside - resolution * (outgoing @ incoming))
