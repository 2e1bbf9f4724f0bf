"""Cylinders in space, from points with normals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.spatial import cKDTree

from biconsensus.models._background import Seed, as_probability, box_sides, uniform_background
from biconsensus.models._least_squares import levenberg_marquardt
from biconsensus.models._round import round_refit
from biconsensus.protocols import FloatArray


@dataclass(frozen=True)
class CylinderModel:
    """Endless cylinder from two points with normals; elements are x, y, z, nx, ny, nz.

    Parameters of a model: the point of the axis nearest the origin (3), unit direction of the axis (3), radius. Five
    bare points leave up to six cylinders to choose from; two points with normals leave one: the axis is at right
    angles to both normals, and the normals meet it. `with_normals` adds normals to bare points. Their signs do not
    matter.

    Notes
    -----
    Distance | distance to the axis - r |, of the point alone. Hit probability: the shell over the length of the
    diagonal of the box, over the volume of the box, at most 1.

    Examples
    --------
    >>> model = CylinderModel()
    >>> theta = model.fit(np.array([[[1.0, 0, 5, 1, 0, 0], [0, 1, 7, 0, 1, 0]]]))
    >>> model.residuals(theta, np.array([[3.0, 0, -4, 0, 0, 1]]))
    array([[2.]])
    """

    sample_size: ClassVar[int] = 2
    n_features: ClassVar[int] = 6
    degrees_of_freedom: ClassVar[int] = 5
    n_places: ClassVar[int] = 3
    """Leading columns that are places; the others are normals."""
    dispersion: ClassVar[float] = 3.0
    measures: ClassVar[tuple[str, ...]] = ("radius",)

    def fit(self, samples: FloatArray) -> FloatArray:
        """Cylinders (k, 7) through pairs of points with normals (k, 2, 6)."""
        p, n = samples[:, :, :3], samples[:, :, 3:]
        axis = np.cross(n[:, 0], n[:, 1])
        size = np.linalg.norm(axis, axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            axis = np.where((size > 1e-4)[:, None], axis / size[:, None], np.nan)
            # seen along the axis, the two normals meet in its foot: p0 + s n0 = p1 + t n1
            across = np.cross(axis, n[:, 1])
            step = np.einsum("kd,kd->k", p[:, 1] - p[:, 0], across) / np.einsum("kd,kd->k", n[:, 0], across)
        foot = p[:, 0] + step[:, None] * n[:, 0]
        foot -= np.einsum("kd,kd->k", foot, axis)[:, None] * axis
        reach = np.stack([_axis_distances(foot, axis, p[:, i]) for i in range(2)])
        params = np.column_stack([foot, axis, reach.mean(axis=0)])
        # both points must lie at the same distance of the axis, up to the error of the normals
        params[~(np.abs(reach[0] - reach[1]) <= 0.1 * reach.max(axis=0))] = np.nan
        params[~(params[:, 6] > 0)] = np.nan
        return params

    def residuals(self, params: FloatArray, data: FloatArray) -> FloatArray:
        """Distances (m, k) of points (m, 6), normals ignored, to cylinders (k, 7)."""
        points, foot, axis = data[:, :3], params[:, :3], params[:, 3:6]
        middle = points.mean(axis=0)
        points, foot = points - middle, foot - middle
        along = points @ axis.T - np.einsum("kd,kd->k", foot, axis)
        squared = (points**2).sum(axis=1)[:, None] - 2 * points @ foot.T + (foot**2).sum(axis=1) - along**2
        distance = np.sqrt(np.maximum(squared, 0.0, out=squared), out=squared)
        distance -= params[:, 6]
        return np.asarray(np.abs(distance, out=distance), dtype=float)

    def measure(self, name: str, params: FloatArray) -> FloatArray:
        """The radius (k,), which can be bounded."""
        return np.asarray(params[:, -1], dtype=float)

    def around(self, params: FloatArray, data: FloatArray) -> FloatArray:
        """Places (m, k) around the axes, as shares of the whole turn."""
        out = [(data[:, :3] - theta[:3]) @ _sides(theta[3:6]) for theta in params]
        angles = np.stack([np.arctan2(one[:, 1], one[:, 0]) for one in out], axis=1)
        return np.asarray(angles % (2 * np.pi) / (2 * np.pi), dtype=float)

    def refit(self, data: FloatArray, weights: FloatArray) -> FloatArray:
        """Geometric least squares (7,): the axis least along all normals, a circle across it, then refined."""
        points, normals = data[:, :3], data[:, 3:]
        _, axes = np.linalg.eigh((weights[:, None] * normals).T @ normals)
        axis, across = axes[:, 0], axes[:, 1:]
        disc = round_refit(points @ across, weights)
        if not np.isfinite(disc).all():
            return np.full(7, np.nan)
        middle, root = weights @ points / weights.sum(), np.sqrt(weights)
        start = np.concatenate([middle + across @ (disc[:2] - middle @ across), axis, disc[2:]])

        def system(theta: FloatArray) -> tuple[FloatArray, FloatArray]:
            gap, direction = points - theta[:3], theta[3:6]
            along = gap @ direction
            out = gap - along[:, None] * direction
            length = np.linalg.norm(out, axis=1)
            sideways = (out / np.maximum(length, 1e-300)[:, None]) @ _sides(direction)
            slopes = np.column_stack([-along[:, None] * sideways, -sideways, -np.ones(len(points))])
            return root * (length - theta[6]), root[:, None] * slopes

        def move(theta: FloatArray, step: FloatArray) -> FloatArray:
            sides = _sides(theta[3:6])
            direction = theta[3:6] + sides @ step[:2]
            foot = theta[:3] + sides @ step[2:4]
            return np.concatenate([foot, direction / np.linalg.norm(direction), [theta[6] + step[4]]])

        best = levenberg_marquardt(system, move, start)
        best[:3] -= (best[:3] @ best[3:6]) * best[3:6]
        return np.append(best[:6], abs(best[6]))

    def hit_probability(self, params: FloatArray, threshold: float, box: FloatArray) -> FloatArray:
        """Volume (k,) of the shell over that of the box, at most 1."""
        sides, radius = box_sides(np.asarray(box)[:, :3]), params[:, 6]
        ring = np.pi * ((radius + threshold) ** 2 - np.maximum(radius - threshold, 0.0) ** 2)
        return as_probability(ring * np.linalg.norm(sides) / sides.prod(), params.shape[0])

    def background(self, box: FloatArray, n: int, rng: Seed = None) -> FloatArray:
        """Points (n, 6) anywhere in the box with normals in any direction."""
        rng = np.random.default_rng(rng)
        normals = rng.normal(size=(n, 3))
        points = uniform_background(np.asarray(box)[:, :3], n, rng)
        return np.hstack([points, normals / np.linalg.norm(normals, axis=1, keepdims=True)])

    def positions(self, data: FloatArray) -> FloatArray:
        """Places (m, 3) of the elements, for localised sampling."""
        return data[:, :3]


def with_normals(points: FloatArray, n_neighbors: int = 12) -> FloatArray:
    """Add to each point the normal of the plane through its neighbours.

    Parameters
    ----------
    points : (m, 3) array
        Points on surfaces.
    n_neighbors : int
        Neighbours for each plane, the point included.

    Returns
    -------
    (m, 6) array
        Points and unit normals, of arbitrary sign.

    Examples
    --------
    >>> flat = np.column_stack([np.random.default_rng(0).random((30, 2)), np.zeros(30)])
    >>> np.abs(with_normals(flat)[:, 3:]).round(6).max(axis=0)
    array([0., 0., 1.])
    """
    points = np.asarray(points, dtype=float)
    _, near = cKDTree(points).query(points, k=min(n_neighbors, len(points)))
    patch = points[near.reshape(len(points), -1)]
    patch = patch - patch.mean(axis=1, keepdims=True)
    _, vectors = np.linalg.eigh(np.swapaxes(patch, 1, 2) @ patch)
    return np.hstack([points, vectors[:, :, 0]])


def _sides(direction: FloatArray) -> FloatArray:
    """(3, 2) two unit vectors at right angles to a direction and to each other."""
    x, y, z = direction.tolist()
    sign = 1.0 if z >= 0 else -1.0
    a = -1 / (sign + z)
    b = x * y * a
    return np.array([[1 + sign * x * x * a, b], [sign * b, sign + y * y * a], [-sign * x, -y]])


def _axis_distances(foot: FloatArray, axis: FloatArray, points: FloatArray) -> FloatArray:
    """Distances (k,) of points (k, 3) to axes, one each."""
    return np.asarray(np.linalg.norm(np.cross(points - foot, axis), axis=1), dtype=float)
