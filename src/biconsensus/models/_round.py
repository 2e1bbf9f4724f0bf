"""Round models: circles in the plane and spheres in space, which share everything but the dimension."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from biconsensus.models._background import as_probability, box_sides
from biconsensus.models._least_squares import levenberg_marquardt
from biconsensus.protocols import FloatArray


def round_through(samples: FloatArray) -> FloatArray:
    """Centre and radius (k, d + 1) of the sphere through d + 1 points (k, d + 1, d); NaN where they are flat."""
    first = samples[:, 0]
    spokes = samples[:, 1:] - first[:, None]
    reach = np.sqrt(np.einsum("kbd,kbd->kb", spokes, spokes)).max(axis=1, initial=0.0)
    # the determinant over the reach to its power is zero exactly for collinear or coplanar points
    with np.errstate(invalid="ignore", divide="ignore"):
        flat = ~(np.abs(np.linalg.det(spokes / reach[:, None, None])) > 1e-9)
    spokes = np.where(flat[:, None, None], np.eye(first.shape[1]), spokes)
    offset = np.linalg.solve(spokes, np.einsum("kbd,kbd->kb", spokes, spokes)[..., None] / 2)[..., 0]
    radius = np.sqrt(np.einsum("kd,kd->k", offset, offset))
    params = np.column_stack([first + offset, radius])
    params[flat] = np.nan
    return params


def round_distances(params: FloatArray, data: FloatArray) -> FloatArray:
    """Distances (m, k) of points to circles or spheres."""
    # |x - c|^2 as one product, around the middle of the data, where it loses no digits that matter
    middle = data.mean(axis=0)
    points, centres = data - middle, params[:, :-1] - middle
    left = np.column_stack([points, np.einsum("md,md->m", points, points), np.ones(len(points))])
    right = np.column_stack([-2 * centres, np.ones(len(centres)), np.einsum("kd,kd->k", centres, centres)])
    distance: FloatArray = left @ right.T
    np.sqrt(np.maximum(distance, 0.0, out=distance), out=distance)
    distance -= params[:, -1]
    np.abs(distance, out=distance)
    return distance


def round_refit(data: FloatArray, weights: FloatArray) -> FloatArray:
    """Geometric least squares, from an algebraic start."""
    centre = weights @ data / weights.sum()
    scale = np.sqrt(weights @ ((data - centre) ** 2).sum(axis=1) / weights.sum()) or 1.0
    unit = (data - centre) / scale
    root = np.sqrt(weights)[:, None]
    # |x|^2 = 2 c.x + (r^2 - |c|^2) is linear in c and in the last term
    lhs = root * np.column_stack([2 * unit, np.ones(len(unit))])
    solution, _, rank, _ = np.linalg.lstsq(lhs, root[:, 0] * (unit**2).sum(axis=1), rcond=1e-9)
    if rank < lhs.shape[1]:
        return np.full(data.shape[1] + 1, np.nan)
    middle = solution[:-1]
    start = np.append(middle, np.sqrt(max(solution[-1] + middle @ middle, 0.0)))

    def system(theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        spokes = unit - theta[:-1]
        length = np.sqrt(np.einsum("md,md->m", spokes, spokes))
        slopes = np.column_stack([spokes / np.maximum(length, 1e-300)[:, None], np.ones(len(unit))])
        return root[:, 0] * (length - theta[-1]), -root * slopes

    best = levenberg_marquardt(system, np.add, start)
    return np.append(centre + scale * best[:-1], scale * abs(best[-1]))


class _RoundModel:
    """What circles and spheres share: a centre (d) and a radius."""

    measures: ClassVar[tuple[str, ...]] = ("radius",)
    dispersion: ClassVar[float] = 3.0
    """A dense spot of this radius, in thresholds, is no such model (the paper's Fig. 17)."""

    def fit(self, samples: FloatArray) -> FloatArray:
        """Centres and radii (k, d + 1) through d + 1 points each (k, d + 1, d)."""
        return round_through(samples)

    def residuals(self, params: FloatArray, data: FloatArray) -> FloatArray:
        """Distances (m, k) of points (m, d) to models (k, d + 1)."""
        return round_distances(params, data)

    def measure(self, name: str, params: FloatArray) -> FloatArray:
        """The radius (k,), which can be bounded."""
        return np.asarray(params[:, -1], dtype=float)

    def refit(self, data: FloatArray, weights: FloatArray) -> FloatArray:
        """Geometric least squares (d + 1,)."""
        return round_refit(data, weights)


@dataclass(frozen=True)
class CircleModel(_RoundModel):
    """Circle through three points; parameters: centre x, y and radius.

    Notes
    -----
    Distance | |x - c| - r |; hit probability pi [(r + delta)^2 - (r - delta)^2] / a with the inner radius not below
    0, at most 1.

    Examples
    --------
    >>> model = CircleModel()
    >>> theta = model.fit(np.array([[[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]]]))
    >>> model.residuals(theta, np.array([[0.0, -3.0]]))
    array([[2.]])
    """

    sample_size: ClassVar[int] = 3
    n_features: ClassVar[int] = 2
    degrees_of_freedom: ClassVar[int] = 3

    def hit_probability(self, params: FloatArray, threshold: float, box: FloatArray) -> FloatArray:
        """Area (k,) of the ring over that of the box, at most 1."""
        radius = params[:, 2]
        ring = np.pi * ((radius + threshold) ** 2 - np.maximum(radius - threshold, 0.0) ** 2)
        return as_probability(ring / box_sides(box).prod(), params.shape[0])

    def project(self, params: FloatArray, data: FloatArray) -> FloatArray:
        """Arc lengths (m, k) from the point right of the centre, in [0, 2 pi r)."""
        return self.around(params, data) * (2 * np.pi * params[:, 2])

    def around(self, params: FloatArray, data: FloatArray) -> FloatArray:
        """Places (m, k) on the circles, as shares of the whole turn."""
        spokes = data[:, None] - params[:, :2]
        return np.asarray(np.arctan2(spokes[..., 1], spokes[..., 0]) % (2 * np.pi) / (2 * np.pi), dtype=float)

    def draw(self, params: FloatArray, box: FloatArray) -> FloatArray:
        """One circle as a closed polyline (181, 2)."""
        angle = np.linspace(0, 2 * np.pi, 181)
        return np.asarray(params[:2] + params[2] * np.column_stack([np.cos(angle), np.sin(angle)]), dtype=float)


@dataclass(frozen=True)
class SphereModel(_RoundModel):
    """Sphere through four points; parameters: centre x, y, z and radius.

    Notes
    -----
    Distance | |x - c| - r |; hit probability: the volume of the shell over that of the box, at most 1.

    Examples
    --------
    >>> model = SphereModel()
    >>> theta = model.fit(np.array([[[1.0, 0, 0], [0, 1, 0], [0, 0, 1], [-1, 0, 0]]]))
    >>> model.residuals(theta, np.array([[0.0, 0.0, 3.0]])).round(6)
    array([[2.]])
    """

    sample_size: ClassVar[int] = 4
    n_features: ClassVar[int] = 3
    degrees_of_freedom: ClassVar[int] = 4

    def hit_probability(self, params: FloatArray, threshold: float, box: FloatArray) -> FloatArray:
        """Volume (k,) of the shell over that of the box, at most 1."""
        radius = params[:, 3]
        shell = 4 / 3 * np.pi * ((radius + threshold) ** 3 - np.maximum(radius - threshold, 0.0) ** 3)
        return as_probability(shell / box_sides(box).prod(), params.shape[0])
