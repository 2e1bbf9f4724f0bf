"""Agglomeration of rows by what they prefer: the linkage behind J-linkage and T-linkage."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from biconsensus.protocols import FloatArray, IntArray

Merge = Callable[[int, int], FloatArray]
"""Merge row j into row i and give the distances (m,) of the new row i to all rows."""


def jaccard(table: NDArray[np.bool_]) -> tuple[FloatArray, Merge]:
    """Distances (m, m) of all rows, and how to merge two rows, on packed bits."""
    ones = table.astype(np.float32)
    shared = (ones @ ones.T).astype(float)
    sizes = shared.diagonal().copy()
    padded = np.zeros((len(table), -(-table.shape[1] // 64) * 64), np.bool_)
    padded[:, : table.shape[1]] = table
    words = np.packbits(padded, axis=1).view(np.uint64)

    def merge(i: int, j: int) -> FloatArray:
        words[i] &= words[j]
        sizes[i] = np.bitwise_count(words[i]).sum()
        common = np.bitwise_count(words & words[i]).sum(axis=1).astype(float)
        return _distance(common, sizes + sizes[i] - common)

    return _distance(shared, sizes[:, None] + sizes - shared), merge


def tanimoto(grades: NDArray[np.float32]) -> tuple[FloatArray, Merge]:
    """Distances (m, m) of all rows, and how to merge two rows."""
    shared = (grades @ grades.T).astype(float)
    squares = shared.diagonal().copy()

    def merge(i: int, j: int) -> FloatArray:
        np.minimum(grades[i], grades[j], out=grades[i])
        common = (grades @ grades[i]).astype(float)
        squares[i] = common[i]
        return _distance(common, squares + squares[i] - common)

    return _distance(shared, squares[:, None] + squares - shared), merge


def _distance(shared: FloatArray, union: FloatArray) -> FloatArray:
    """One minus the shared part; rows without any preference are far from everything."""
    # rounding in float32 must not bring rows nearer than those that share all
    return np.clip(1.0 - shared / np.where(union > 0, union, 1.0), 0.0, 1.0)


def agglomerate(distance: FloatArray, merge: Merge) -> IntArray:
    """Merge the nearest two rows until all distances are one; cluster (m,) of each row."""
    m = len(distance)
    clusters = np.arange(m)
    np.fill_diagonal(distance, np.inf)
    nearest, gap = distance.argmin(axis=1), distance.min(axis=1)
    while m > 1:
        i = int(gap.argmin())
        if not gap[i] < 1.0:
            break
        j = int(nearest[i])
        i, j = min(i, j), max(i, j)
        row = merge(i, j)
        row[[i, j]] = np.inf
        row[np.isinf(distance[i])] = np.inf
        distance[i], distance[:, i] = row, row
        distance[j], distance[:, j] = np.inf, np.inf
        clusters[clusters == j] = i
        # only rows that pointed to i or j can have a farther neighbour now
        stale = np.flatnonzero((nearest == i) | (nearest == j))
        stale = np.union1d(stale, [i])
        nearest[stale], gap[stale] = distance[stale].argmin(axis=1), distance[stale].min(axis=1)
        closer = row < gap
        nearest[closer], gap[closer] = i, row[closer]
        gap[j] = np.inf
    return clusters.astype(np.int64)
