"""Flat models: lines in the plane, planes in space, affine subspaces of any dimension."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import gammaln

from biconsensus.models._background import as_probability, box_sides
from biconsensus.protocols import FloatArray


class _Hyperplane:
    """What lines in the plane and planes in space share: a unit normal (d) and an offset."""

    dispersion: ClassVar[float] = 3.0
    """A dense spot of this radius, in thresholds, is no such model (the paper's Fig. 17)."""

    def residuals(self, params: FloatArray, data: FloatArray) -> FloatArray:
        """Distances (m, k) of points (m, d) to models (k, d + 1)."""
        points = np.ones((len(data), data.shape[1] + 1))
        points[:, :-1] = data
        distance: FloatArray = points @ params.T
        return np.abs(distance, out=distance)

    def refit(self, data: FloatArray, weights: FloatArray) -> FloatArray:
        """Total least squares (d + 1,)."""
        mean, axes = principal_axes(data, weights)
        return np.append(axes[:, -1], -axes[:, -1] @ mean)


@dataclass(frozen=True)
class LineModel(_Hyperplane):
    """Line through two points; parameters A, B, C with A x + B y + C = 0 and A^2 + B^2 = 1.

    Notes
    -----
    Distance |A x + B y + C| (the paper omits the absolute value); hit probability min(1, 2 delta D / a) for a box of
    diagonal D and area a.

    Examples
    --------
    >>> line = LineModel()
    >>> theta = line.fit(np.array([[[0.0, 0.0], [1.0, 1.0]]]))
    >>> line.residuals(theta, np.array([[2.0, 2.0], [0.0, 1.0]])).round(3)
    array([[0.   ],
           [0.707]])
    """

    sample_size: ClassVar[int] = 2
    n_features: ClassVar[int] = 2
    degrees_of_freedom: ClassVar[int] = 2

    def fit(self, samples: FloatArray) -> FloatArray:
        """Lines (k, 3) through pairs of points (k, 2, 2)."""
        direction = samples[:, 1] - samples[:, 0]
        length = np.hypot(direction[:, 0], direction[:, 1])
        scale = np.abs(samples).max(axis=(1, 2), initial=0.0)
        normal = np.column_stack([-direction[:, 1], direction[:, 0]])
        with np.errstate(invalid="ignore", divide="ignore"):
            normal = np.where((length > 1e-13 * scale)[:, None], normal / length[:, None], np.nan)
        return np.column_stack([normal, -np.einsum("kd,kd->k", normal, samples.mean(axis=1))])

    def hit_probability(self, params: FloatArray, threshold: float, box: FloatArray) -> FloatArray:
        """Share (k,) of the box within the threshold, at most: a band along the diagonal."""
        sides = box_sides(box)
        return as_probability(2 * threshold * np.hypot(*sides) / sides.prod(), params.shape[0])

    def project(self, params: FloatArray, data: FloatArray) -> FloatArray:
        """Positions (m, k) of points along the lines."""
        return data @ np.stack([params[:, 1], -params[:, 0]])

    def draw(self, params: FloatArray, box: FloatArray) -> FloatArray:
        """Part of one line inside the box, as its two ends (2, 2)."""
        low, high = np.asarray(box, dtype=float)
        normal, direction = params[:2], np.array([params[1], -params[0]])
        centre = (low + high) / 2
        foot = centre - normal * (normal @ centre + params[2])
        with np.errstate(divide="ignore", invalid="ignore"):
            steps = np.stack([(low - foot) / direction, (high - foot) / direction])
        steps = np.sort(np.where(np.isnan(steps), np.array([[-np.inf], [np.inf]]), steps), axis=0)
        return np.asarray(foot + np.array([[steps[0].max()], [steps[1].min()]]) * direction, dtype=float)


@dataclass(frozen=True)
class PlaneModel(_Hyperplane):
    """Plane through three points; parameters: unit normal A, B, C and D with A x + B y + C z + D = 0.

    Notes
    -----
    Distance |A x + B y + C z + D|; hit probability min(1, 2 pi r^2 delta / (4/3 pi r^3)) with r half the diagonal of
    the box.

    Examples
    --------
    >>> model = PlaneModel()
    >>> theta = model.fit(np.array([[[0.0, 0, 1], [1, 0, 1], [0, 1, 1]]]))
    >>> model.residuals(theta, np.array([[5.0, 5.0, 3.0]]))
    array([[2.]])
    """

    sample_size: ClassVar[int] = 3
    n_features: ClassVar[int] = 3
    degrees_of_freedom: ClassVar[int] = 3

    def fit(self, samples: FloatArray) -> FloatArray:
        """Planes (k, 4) through triples of points (k, 3, 3)."""
        u, v = samples[:, 1] - samples[:, 0], samples[:, 2] - samples[:, 0]
        normal = np.cross(u, v)
        length = np.sqrt(np.einsum("kd,kd->k", normal, normal))
        reach = np.maximum(np.einsum("kd,kd->k", u, u), np.einsum("kd,kd->k", v, v))
        with np.errstate(invalid="ignore", divide="ignore"):
            normal = np.where((length > 1e-9 * reach)[:, None], normal / length[:, None], np.nan)
        return np.column_stack([normal, -np.einsum("kd,kd->k", normal, samples.mean(axis=1))])

    def hit_probability(self, params: FloatArray, threshold: float, box: FloatArray) -> FloatArray:
        """Slab through a ball around the box over the ball (k,), at most 1."""
        radius = np.linalg.norm(box_sides(box)) / 2
        return as_probability(np.asarray(1.5 * threshold / radius), params.shape[0])


@dataclass(frozen=True)
class SubspaceModel:
    """Affine subspace of R^d; parameters: a point (d) and an orthonormal basis (d x dimension, row by row).

    Parameters
    ----------
    dimension : int
        Dimension of the subspace; dimension + 1 points span it.

    Notes
    -----
    Distances are accurate to about 1e-8 of the spread of the data. The hit probability generalises the paper's plane:
    the tube of radius delta through the ball around the box, over the ball.

    Examples
    --------
    >>> model = SubspaceModel(dimension=1)
    >>> theta = model.fit(np.array([[[0.0, 0, 0], [2, 0, 0]]]))
    >>> model.residuals(theta, np.array([[7.0, 3.0, 4.0]])).round(6)
    array([[5.]])
    """

    dimension: int = 3
    n_features: ClassVar[int | None] = None

    @property
    def sample_size(self) -> int:
        """Points that span the subspace."""
        return self.dimension + 1

    def fit(self, samples: FloatArray) -> FloatArray:
        """Subspaces (k, d + d * dimension) through points (k, dimension + 1, d)."""
        first = samples[:, 0]
        spokes = samples[:, 1:] - first[:, None]
        basis, corner = np.linalg.qr(np.swapaxes(spokes, 1, 2))
        pivots = np.abs(np.diagonal(corner, axis1=1, axis2=2))
        params = np.hstack([first, basis.reshape(first.shape[0], first.shape[1] * self.dimension)])
        params[pivots.min(axis=1) <= 1e-9 * pivots.max(axis=1)] = np.nan
        return params

    def residuals(self, params: FloatArray, data: FloatArray) -> FloatArray:
        """Distances (m, k) of points (m, d) to subspaces."""
        d = data.shape[1]
        middle = data.mean(axis=0)
        data, points = data - middle, params[:, :d] - middle
        basis = params[:, d:].reshape(-1, d, self.dimension)
        squared = (data**2).sum(axis=1)[:, None] - 2 * data @ points.T + (points**2).sum(axis=1)
        for axis in range(self.dimension):
            along = data @ basis[:, :, axis].T
            along -= np.einsum("kd,kd->k", points, basis[:, :, axis])
            squared -= along**2
        return np.asarray(np.sqrt(np.maximum(squared, 0.0, out=squared), out=squared), dtype=float)

    def refit(self, data: FloatArray, weights: FloatArray) -> FloatArray:
        """Principal component analysis."""
        mean, axes = principal_axes(data, weights)
        return np.concatenate([mean, axes[:, : self.dimension].ravel()])

    def hit_probability(self, params: FloatArray, threshold: float, box: FloatArray) -> FloatArray:
        """Tube through the ball around the box over the ball (k,), at most 1."""
        sides = box_sides(box)
        d, q = sides.size, self.dimension
        radius = np.linalg.norm(sides) / 2
        log_ratio = _log_ball(q) + _log_ball(d - q) - _log_ball(d) + (d - q) * (np.log(threshold) - np.log(radius))
        return as_probability(np.asarray(np.exp(min(log_ratio, 0.0))), params.shape[0])


def _log_ball(d: int) -> float:
    """Logarithm of the volume of the unit ball in d dimensions."""
    return float(d / 2 * np.log(np.pi) - gammaln(d / 2 + 1))


def principal_axes(data: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Weighted mean (d,) and right singular vectors (d, d), largest spread first."""
    mean = weights @ data / weights.sum()
    centred = np.sqrt(weights)[:, None] * (data - mean)
    _, vectors = np.linalg.eigh(centred.T @ centred)
    return mean, vectors[:, ::-1]
