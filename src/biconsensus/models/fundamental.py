"""Fundamental matrices: rigid motions between two images."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from biconsensus.models.least_squares import refine
from biconsensus.models.projective import adjugate, hartley, homogeneous, null_vectors, transform, unit_rows
from biconsensus.protocols import FloatArray


@dataclass(frozen=True)
class FundamentalModel:
    """Epipolar geometry of seven correspondences; elements are x1, y1, x2, y2.

    Parameters of a model: the nine entries of F, row by row, of unit length, with x2^T F x1 = 0. Seven points allow
    up to three matrices; the one kept is the first that puts all seven points in front of both cameras (oriented
    epipolar constraint), and a sample for which there is none is degenerate.

    Notes
    -----
    The residual is the Sampson distance in pixels, |x2^T F x1| over the length of its gradient.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> world = np.column_stack([rng.random((20, 2)), 2 + rng.random(20)])
    >>> views = np.hstack([world[:, :2] / world[:, 2:], (world[:, :2] + [0.5, 0]) / world[:, 2:]])
    >>> model = FundamentalModel()
    >>> bool(np.nanmax(model.residuals(model.refit(views, np.ones(20))[None], views)) < 1e-6)
    True
    """

    sample_size: ClassVar[int] = 7
    n_features: ClassVar[int] = 4
    degrees_of_freedom: ClassVar[int] = 7

    def fit(self, samples: FloatArray) -> FloatArray:
        """Fundamental matrices (k, 9) of seven correspondences each (k, 7, 4)."""
        t1, t2 = hartley(samples[..., :2]), hartley(samples[..., 2:])
        first, second = transform(t1, samples[..., :2]), transform(t2, samples[..., 2:])
        rows = (second[..., :, None] * first[..., None, :]).reshape(len(samples), 7, 9)
        flat = np.linalg.svd(np.where(np.isfinite(rows), rows, 0.0), compute_uv=False)
        pencil = null_vectors(rows, 2).reshape(-1, 2, 3, 3)
        candidates = _singular_members(pencil[:, 0], pencil[:, 1])
        valid = np.stack([_oriented(candidates[:, r], first, second) for r in range(3)], axis=1)
        chosen = np.take_along_axis(candidates, valid.argmax(axis=1)[:, None, None, None], axis=1)[:, 0]
        params = unit_rows((np.swapaxes(t2, 1, 2) @ chosen @ t1).reshape(-1, 9))
        params[~valid.any(axis=1) | ~(flat[:, 6] > 1e-9 * flat[:, 0])] = np.nan
        return params

    def residuals(self, params: FloatArray, data: FloatArray) -> FloatArray:
        """Sampson distances (m, k) of correspondences (m, 4)."""
        first, second = homogeneous(data[:, :2]), homogeneous(data[:, 2:])
        error = np.abs((second[:, :, None] * first[:, None, :]).reshape(-1, 9) @ params.T)
        maps = params.reshape(-1, 3, 3)
        gradient = np.zeros_like(error)
        for axis in range(2):
            gradient += (first @ maps[:, axis].T) ** 2
            gradient += (second @ maps[:, :, axis].T) ** 2
        error /= np.maximum(np.sqrt(gradient, out=gradient), 1e-300)
        return np.asarray(error, dtype=float)

    def refit(self, data: FloatArray, weights: FloatArray) -> FloatArray:
        """Normalised eight-point algorithm, rank two, then least squares of the Sampson distance (9,)."""
        if len(data) < 8:
            return np.asarray(self.fit(data[None])[0], dtype=float)
        t1, t2 = hartley(data[None, :, :2])[0], hartley(data[None, :, 2:])[0]
        first, second = transform(t1[None], data[None, :, :2])[0], transform(t2[None], data[None, :, 2:])[0]
        rows = np.sqrt(weights)[:, None] * (second[:, :, None] * first[:, None, :]).reshape(-1, 9)
        left, size, right = np.linalg.svd(null_vectors(rows[None], 1).reshape(3, 3))
        angle = np.arctan2(size[1], size[0])

        def place(step: FloatArray) -> FloatArray:
            middle = np.diag([np.cos(angle + step[6]), np.sin(angle + step[6]), 0.0])
            matrix = left @ _turn(step[:3]) @ middle @ _turn(step[3:6]) @ right
            return unit_rows((t2.T @ matrix @ t1).reshape(1, 9))

        return np.asarray(
            place(refine(lambda step: self.residuals(place(step), data)[:, 0], np.zeros(7), weights))[0], dtype=float
        )

    def positions(self, data: FloatArray) -> FloatArray:
        """Places (m, 2) in the first image, for localised sampling."""
        return data[:, :2]


def _singular_members(one: FloatArray, other: FloatArray) -> FloatArray:
    """Members (k, 3, 3, 3) of determinant zero of the pencils one + s (other - one); NaN where a root is not real."""
    gap = other - one
    # det(one + s gap) at s = 0, 1, -1 and its leading coefficient fix the cubic
    d0, d1, dm, d3 = (np.linalg.det(matrix) for matrix in (one, one + gap, one - gap, gap))
    d2 = (d1 + dm) / 2 - d0
    d_1 = (d1 - dm) / 2 - d3
    with np.errstate(invalid="ignore", divide="ignore"):
        companion = np.zeros((len(one), 3, 3))
        companion[:, 0] = -np.stack([d2, d_1, d0], axis=1) / d3[:, None]
    companion[:, 1, 0] = companion[:, 2, 1] = 1.0
    solvable = np.isfinite(companion.reshape(-1, 9)).all(axis=1)
    roots = np.full((len(one), 3), np.nan)
    if solvable.any():
        values = np.linalg.eigvals(companion[solvable])
        roots[solvable] = np.where(np.abs(values.imag) <= 1e-9 * (1 + np.abs(values.real)), values.real, np.nan)
    return one[:, None] + roots[:, :, None, None] * gap[:, None]


def _oriented(matrices: FloatArray, first: FloatArray, second: FloatArray) -> np.ndarray:
    """Whether (k,) all points lie in front of both cameras: (e2 x x2) . (F x1) has one sign."""
    finite = np.isfinite(matrices).all(axis=(1, 2))
    safe = np.where(finite[:, None, None], matrices, 0.0)
    cofactors = np.swapaxes(adjugate(safe), 1, 2)
    # every column of the cofactor matrix of rank-two F is a multiple of the second epipole
    column = np.linalg.norm(cofactors, axis=1).argmax(axis=1)
    epipole = np.take_along_axis(cofactors, column[:, None, None], axis=2)[..., 0]
    lines = first @ np.swapaxes(safe, 1, 2)
    sign = np.sign(np.einsum("knd,knd->kn", np.cross(epipole[:, None], second), lines))
    return np.asarray(finite & (np.abs(sign.sum(axis=1)) == sign.shape[1]))


def _turn(vector: FloatArray) -> FloatArray:
    """Rotation (3, 3) by a rotation vector (3,)."""
    angle = float(np.linalg.norm(vector))
    if angle == 0.0:
        return np.eye(3)
    x, y, z = vector / angle
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.asarray(np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross, dtype=float)
