"""What homographies and fundamental matrices share: correspondences x1, y1, x2, y2 between two images."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from biconsensus.protocols import BoolArray, FloatArray, IntArray

Close = tuple[IntArray, IntArray, FloatArray]
"""Elements, models and distances of the pairs within a reach."""
ROUNDING = 1 + 1e-6
"""Reach of a first look at pairs over that of the second one: rounding errors are far smaller than this."""


_CACHED = 1 << 15
"""Numbers of a table that stay in the cache while it is made, with three or four of its kind: 256 KB each."""


def pairs_where(close: Callable[[slice], BoolArray], n_elements: int, n_models: int) -> tuple[IntArray, IntArray]:
    """Rows and columns of the ones of a table (m, k) that is made some rows at a time."""
    step = max(1, _CACHED // max(n_models, 1))
    # few ones are found sooner on one long line
    places = [
        start * n_models + np.flatnonzero(close(slice(start, start + step))) for start in range(0, n_elements, step)
    ]
    return np.divmod(np.concatenate([np.empty(0, np.int64), *places]), max(n_models, 1))


def homogeneous(points: FloatArray) -> FloatArray:
    """Append a one to points (..., 2)."""
    return np.concatenate([points, np.ones((*points.shape[:-1], 1))], axis=-1)


def hartley(points: FloatArray) -> FloatArray:
    """Similarities (k, 3, 3) that bring batches of points (k, n, 2) to mean zero and mean distance sqrt(2)."""
    mean = points.mean(axis=1)
    spread = np.linalg.norm(points - mean[:, None], axis=2).mean(axis=1)
    scale = np.sqrt(2) / np.where(spread > 0, spread, 1.0)
    transform = np.zeros((len(points), 3, 3))
    transform[:, 0, 0] = transform[:, 1, 1] = scale
    transform[:, :2, 2] = -scale[:, None] * mean
    transform[:, 2, 2] = 1.0
    return transform


def transform(maps: FloatArray, points: FloatArray) -> FloatArray:
    """Apply similarities or homographies (k, 3, 3) to points (k, n, 2) in homogeneous form (k, n, 3)."""
    return homogeneous(points) @ np.swapaxes(maps, 1, 2)


def unit_rows(params: FloatArray) -> FloatArray:
    """Scale rows to unit length; zero rows become NaN."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(params / np.linalg.norm(params, axis=1, keepdims=True), dtype=float)


def adjugate(matrices: FloatArray) -> FloatArray:
    """Adjugates (k, 3, 3): inverses up to scale, without division."""
    a, b, c = (matrices[:, row].T for row in range(3))
    return np.ascontiguousarray(np.stack([_cross(b, c), _cross(c, a), _cross(a, b)], axis=1).transpose(2, 0, 1))


def _cross(u: FloatArray, v: FloatArray) -> FloatArray:
    """Cross products (3, k); numpy's own takes several times as long for small arrays."""
    return np.stack([u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]])


def least_vector(rows: FloatArray) -> FloatArray:
    """Unit vector (n,) that tall equations (r, n) map to least."""
    # the triangle of the QR decomposition has the same right singular vectors, and no large left ones
    return np.asarray(np.linalg.svd(np.linalg.qr(rows, mode="r"))[2][-1], dtype=float)


def least_vectors(equations: list[FloatArray], weights: FloatArray) -> FloatArray:
    """Unit vectors (k, n) that equations, arrays (m, n), map to least under each of k sets of weights (m, k)."""
    products = sum(rows[:, :, None] * rows[:, None, :] for rows in equations)
    size = equations[0].shape[1]
    moments = (weights.T @ np.asarray(products).reshape(len(weights), -1)).reshape(-1, size, size)
    return np.asarray(np.linalg.eigh(moments)[1][:, :, 0], dtype=float)


def biweights(residuals: FloatArray, threshold: float) -> FloatArray:
    """Tukey's weights of residuals, zero beyond the threshold."""
    return np.asarray(np.clip(1 - (residuals / threshold) ** 2, 0.0, None) ** 2, dtype=float)


def normalised(weights: FloatArray) -> FloatArray:
    """Weights (m, k) scaled to a largest one of 1 in each column."""
    return np.asarray(weights / np.maximum(weights.max(axis=0), np.finfo(float).tiny), dtype=float)


def exchanged(data: FloatArray, n: int, rng: int | np.random.Generator | None = None) -> FloatArray:
    """Correspondences (n, 4) of chance: a place of the first image and, of another correspondence, one of the second.

    The places of both images stay where they are, crowds included; only which belongs to which is of chance.
    """
    rng = np.random.default_rng(rng)
    first = rng.permutation(np.arange(n) % len(data))
    other = (first + rng.integers(1, max(len(data), 2), n)) % len(data)
    return np.hstack([data[first, :2], data[other, 2:]])
