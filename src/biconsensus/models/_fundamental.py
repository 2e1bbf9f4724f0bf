"""Fundamental matrices: rigid motions between two images."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from biconsensus.models._background import Seed
from biconsensus.models._least_squares import levenberg_marquardt
from biconsensus.models._projective import (
    adjugate,
    biweights,
    exchanged,
    hartley,
    homogeneous,
    least_vector,
    least_vectors,
    normalised,
    transform,
    unit_rows,
)
from biconsensus.protocols import BoolArray, FloatArray

CROSSES = np.array(
    [[[0.0, 0, 0], [0, 0, -1], [0, 1, 0]], [[0, 0, 1], [0, 0, 0], [-1, 0, 0]], [[0, -1, 0], [1, 0, 0], [0, 0, 0]]]
)
"""Derivatives of rotations about the three axes."""


@dataclass(frozen=True)
class FundamentalModel:
    """Epipolar geometry of eight correspondences; elements are x1, y1, x2, y2.

    Parameters of a model: the nine entries of F, row by row, of unit length, with x2^T F x1 = 0. A sample is degenerate
    if it leaves more than one matrix, or if that matrix does not put all eight points in front of both cameras (the
    oriented epipolar constraint, which most samples that mix motions fail).

    Notes
    -----
    The residual is the Sampson distance in pixels, |x2^T F x1| over the length of its gradient. Eight points have one
    linear solution, which fits them exactly, where seven leave up to three; rank two is enforced by the refit.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> world = np.column_stack([rng.random((20, 2)), 2 + rng.random(20)])
    >>> views = np.hstack([world[:, :2] / world[:, 2:], (world[:, :2] + [0.5, 0]) / world[:, 2:]])
    >>> model = FundamentalModel()
    >>> bool(np.nanmax(model.residuals(model.refit(views, np.ones(20))[None], views)) < 1e-6)
    True
    """

    sample_size: ClassVar[int] = 8
    n_features: ClassVar[int] = 4
    degrees_of_freedom: ClassVar[int] = 7
    codimension: ClassVar[int] = 1
    locality: ClassVar[float] = 0.1
    """Scale of local samples over the diagonal of the first image: eight elements of one object."""
    n_improve: ClassVar[int] = 3
    most_samples: ClassVar[int] = 2000
    label_reach: ClassVar[float] = 2.5
    """Labels may reach this many thresholds: a small threshold keeps neighbours apart, surfaces are not quite even."""

    def fit(self, samples: FloatArray) -> FloatArray:
        """Fundamental matrices (k, 9) of eight correspondences each (k, 8, 4)."""
        t1, t2 = hartley(samples[..., :2]), hartley(samples[..., 2:])
        first, second = transform(t1, samples[..., :2]), transform(t2, samples[..., 2:])
        rows = (second[..., :, None] * first[..., None, :]).reshape(len(samples), 8, 9)
        # the last column of Q is at right angles to all eight rows; singular values take five times as long
        basis, triangle = np.linalg.qr(np.swapaxes(np.where(np.isfinite(rows), rows, 0.0), 1, 2), mode="complete")
        solved = basis[:, :, -1].reshape(-1, 3, 3)
        size = np.abs(np.einsum("kii->ki", triangle[:, :8]))
        params = unit_rows((np.swapaxes(t2, 1, 2) @ solved @ t1).reshape(-1, 9))
        params[~(size.min(axis=1) > 1e-9 * size.max(axis=1)) | ~_oriented(solved, first, second)] = np.nan
        return params

    def residuals(self, params: FloatArray, data: FloatArray) -> FloatArray:
        """Sampson distances (m, k) of correspondences (m, 4)."""
        first, second = homogeneous(data[:, :2]), homogeneous(data[:, 2:])
        error = np.abs((second[:, :, None] * first[:, None, :]).reshape(-1, 9) @ params.T)
        gradient = _squared_gradients(params, data)
        error /= np.maximum(np.sqrt(gradient, out=gradient), 1e-300)
        return np.asarray(error, dtype=float)

    def refit(self, data: FloatArray, weights: FloatArray) -> FloatArray:
        """Normalised eight-point algorithm, rank two, then least squares of the Sampson distance (9,)."""
        t1, t2 = hartley(data[None, :, :2])[0], hartley(data[None, :, 2:])[0]
        first, second = transform(t1[None], data[None, :, :2])[0], transform(t2[None], data[None, :, 2:])[0]
        root = np.sqrt(weights)
        rows = root[:, None] * (second[:, :, None] * first[:, None, :]).reshape(-1, 9)
        left, size, right = np.linalg.svd(least_vector(rows).reshape(3, 3))
        ends = homogeneous(data[:, :2]), homogeneous(data[:, 2:])

        def system(state: RankTwo) -> tuple[FloatArray, FloatArray]:
            matrix, turns = state.matrix_and_slopes()
            errors, slopes = _sampson_system(t2.T @ matrix @ t1, *ends)
            chain = np.einsum("ia,ajs,jb->ibs", t2.T, turns, t1).reshape(9, 7)
            return root * errors, root[:, None] * (slopes @ chain)

        best = levenberg_marquardt(system, RankTwo.moved, RankTwo(left, float(np.arctan2(size[1], size[0])), right))
        return np.asarray(unit_rows((t2.T @ best.matrix_and_slopes()[0] @ t1).reshape(1, 9))[0], dtype=float)

    def improve(self, params: FloatArray, data: FloatArray, threshold: float, steps: int = 3) -> FloatArray:
        """Fundamental matrices (k, 9) after some steps of reweighted linear least squares on what lies near each."""
        t1, t2 = hartley(data[None, :, :2])[0], hartley(data[None, :, 2:])[0]
        first, second = transform(t1[None], data[None, :, :2])[0], transform(t2[None], data[None, :, 2:])[0]
        equations = [(second[:, :, None] * first[:, None, :]).reshape(-1, 9)]
        for _ in range(steps):
            near = biweights(self.residuals(params, data), threshold)
            # the equations are Sampson distances times the length of their gradient
            weights = normalised(near / np.maximum(_squared_gradients(params, data), np.finfo(float).tiny))
            left, size, right = np.linalg.svd(least_vectors(equations, weights).reshape(-1, 3, 3))
            solved = (left[:, :, :2] * size[:, None, :2]) @ right[:, :2]
            better = unit_rows((t2.T @ solved @ t1).reshape(-1, 9))
            enough = (near > 0).sum(axis=0) > self.sample_size
            params = np.where(enough[:, None] & np.isfinite(better), better, params)
        return params

    def positions(self, data: FloatArray) -> FloatArray:
        """Places (m, 2) in the first image, for localised sampling."""
        return data[:, :2]

    def background_like(self, data: FloatArray, n: int, rng: Seed = None) -> FloatArray:
        """Correspondences (n, 4) with the observed places in both images, matched by chance."""
        return exchanged(data, n, rng)


@dataclass(frozen=True)
class RankTwo:
    """A matrix of rank two and unit length: left diag(cos, sin, 0) right."""

    left: FloatArray
    angle: float
    right: FloatArray

    def matrix_and_slopes(self) -> tuple[FloatArray, FloatArray]:
        """The matrix (3, 3) and its derivatives (3, 3, 7) by turns of both sides and by the angle."""
        cos, sin = np.cos(self.angle), np.sin(self.angle)
        middle = np.diag([cos, sin, 0.0])
        turns = [self.left @ cross @ middle @ self.right for cross in CROSSES]
        turns += [self.left @ middle @ cross @ self.right for cross in CROSSES]
        turns.append(self.left @ np.diag([-sin, cos, 0.0]) @ self.right)
        return self.left @ middle @ self.right, np.stack(turns, axis=2)

    def moved(self, step: FloatArray) -> RankTwo:
        """The matrix after turns (3 + 3) and a change of the angle."""
        return RankTwo(self.left @ _turn(step[:3]), self.angle + step[6], _turn(step[3:6]) @ self.right)


def _squared_gradients(params: FloatArray, data: FloatArray) -> FloatArray:
    """Squared lengths (m, k) of the gradients of the constraints by the four coordinates."""
    first, second = homogeneous(data[:, :2]), homogeneous(data[:, 2:])
    maps = params.reshape(-1, 3, 3)
    squares = np.zeros((len(data), len(maps)))
    for points, rows in ((first, maps[:, 0]), (second, maps[:, :, 0]), (first, maps[:, 1]), (second, maps[:, :, 1])):
        part = points @ rows.T
        squares += np.multiply(part, part, out=part)
    return squares


def _sampson_system(matrix: FloatArray, first: FloatArray, second: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Signed Sampson distances (n,) and their derivatives (n, 9) by the entries of F."""
    lines, back = first @ matrix.T, second @ matrix
    errors = np.einsum("ni,ni->n", second, lines)
    length = np.sqrt((lines[:, :2] ** 2).sum(axis=1) + (back[:, :2] ** 2).sum(axis=1))
    length = np.maximum(length, 1e-300)
    outer = second[:, :, None] * first[:, None, :]
    growth = np.zeros_like(outer)
    growth[:, :2] += lines[:, :2, None] * first[:, None, :]
    growth[:, :, :2] += second[:, :, None] * back[:, None, :2]
    slopes = outer / length[:, None, None] - (errors / length**3)[:, None, None] * growth
    return errors / length, slopes.reshape(-1, 9)


def _oriented(matrices: FloatArray, first: FloatArray, second: FloatArray) -> BoolArray:
    """Whether (k,) all points lie in front of both cameras: (e2 x x2) . (F x1) has one sign."""
    # rows of the adjugate of a matrix of rank two are multiples of the epipole; the longest is the most certain
    rows = adjugate(matrices)
    longest = np.einsum("kij,kij->ki", rows, rows).argmax(axis=1)
    epipole = rows[np.arange(len(rows)), longest]
    lines = first @ np.swapaxes(matrices, 1, 2)
    sign = np.sign(np.einsum("knd,knd->kn", np.cross(epipole[:, None], second), lines))
    return np.asarray(np.abs(sign.sum(axis=1)) == sign.shape[1], dtype=np.bool_)


def _turn(vector: FloatArray) -> FloatArray:
    """Rotation (3, 3) by a rotation vector (3,)."""
    angle = float(np.linalg.norm(vector))
    if angle == 0.0:
        return np.eye(3)
    cross = np.tensordot(vector / angle, CROSSES, axes=1)
    return np.asarray(np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross, dtype=float)
