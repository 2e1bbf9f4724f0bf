"""Homographies between two images of planes."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

import numpy as np

from biconsensus.models._background import Seed, as_probability, box_sides, uniform_background
from biconsensus.models._least_squares import levenberg_marquardt
from biconsensus.models._projective import (
    ROUNDING,
    Close,
    adjugate,
    biweights,
    exchanged,
    hartley,
    homogeneous,
    least_vector,
    least_vectors,
    normalised,
    pairs_where,
    transform,
    unit_rows,
)
from biconsensus.protocols import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class HomographyModel:
    """Plane-to-plane map from four correspondences; elements are x1, y1, x2, y2.

    Parameters of a model: the nine entries of H, row by row, of unit length, with the sample on the positive side. A
    sample is degenerate if three of its points are collinear in an image or if H would turn part of it inside out.

    Notes
    -----
    The residual is the symmetric transfer error in pixels, the root mean square of |x2 - H x1| and |x1 - H^-1 x2|;
    elements on the wrong side of the plane are at infinite distance. Hit probability to first order in delta: the set
    of x2 that agree with a given x1 is an ellipse of area 2 pi delta^2 / sqrt(det(I + (J J^T)^-1)) with J the
    derivative of H at x1; its mean over the first image, where H x1 falls into the second one, over the area of the
    second.

    Examples
    --------
    >>> shift = np.array([[[0.0, 0, 5, 0], [9, 0, 14, 0], [0, 9, 5, 9], [9, 9, 14, 9]]])
    >>> model = HomographyModel()
    >>> model.residuals(model.fit(shift), np.array([[1.0, 1, 6, 4]])).round(6)
    array([[3.]])
    """

    min_area: float = 1e-3
    """Smallest area of a triangle of the sample over its squared reach."""
    sample_size: ClassVar[int] = 4
    n_features: ClassVar[int] = 4
    degrees_of_freedom: ClassVar[int] = 8
    codimension: ClassVar[int] = 2
    locality: ClassVar[float] = 0.12
    """Scale of local samples over the diagonal of the first image: planes are larger than that, mostly."""
    n_improve: ClassVar[int] = 3
    most_samples: ClassVar[int] = 2000
    tight_first: ClassVar[bool] = True
    """Planes are searched at half the threshold, in one round unless the user says more: within all of the threshold
    one homography can hold two planes that meet."""
    label_reach: ClassVar[float] = 2.5
    """Labels may reach this many thresholds: a small threshold keeps neighbours apart, surfaces are not quite even."""

    def fit(self, samples: FloatArray) -> FloatArray:
        """Homographies (k, 9) through four correspondences each (k, 4, 4)."""
        areas = _triangle_areas(samples[..., :2]), _triangle_areas(samples[..., 2:])
        with np.errstate(invalid="ignore"):
            wide = [np.abs(area).min(axis=0) > self.min_area for area in areas]
            sides = np.sign(areas[0] * areas[1])
        good = wide[0] & wide[1] & (sides == sides[:1]).all(axis=0)
        first, second = samples[good, :, :2], samples[good, :, 2:]
        t1, t2 = hartley(first), hartley(second)
        source, target = _projective_frame(transform(t1, first)), _projective_frame(transform(t2, second))
        maps = adjugate(t2) @ target @ adjugate(source) @ t1
        depth = np.einsum("kd,kd->k", maps[:, 2], homogeneous(first[:, 0]))
        params = np.full((len(samples), 9), np.nan)
        params[good] = unit_rows(maps.reshape(-1, 9) * np.sign(depth)[:, None])
        return params

    def residuals(self, params: FloatArray, data: FloatArray) -> FloatArray:
        """Symmetric transfer errors (m, k) of correspondences (m, 4)."""
        maps = params.reshape(-1, 3, 3)
        with np.errstate(invalid="ignore"):  # NaN stands for no model, and stays NaN
            sides = np.sign(np.linalg.det(maps))
        back = adjugate(maps) * sides[:, None, None]
        error = _squared_transfer(maps, data[:, :2], data[:, 2:])
        error += _squared_transfer(back, data[:, 2:], data[:, :2])
        error /= 2
        return np.sqrt(error, out=error)

    def close(self, params: FloatArray, data: FloatArray, reach: float) -> Close:
        """Pairs within a reach: most are too far apart in the second image alone, which no division has to tell."""
        points, maps = homogeneous(data[:, :2]), params.reshape(-1, 3, 3)
        # depth times the error of each coordinate, for all pairs by one product
        sides = [np.hstack([points, -data[:, 2 + axis, None] * points]) for axis in range(2)]
        entries = [np.hstack([maps[:, axis], maps[:, 2]]).T for axis in range(2)]
        # the mean of both squared errors is at most the square of the reach
        scaled = np.sqrt(2) * reach * ROUNDING * maps[:, 2].T

        def may_be(part: slice) -> BoolArray:
            across, down, most = sides[0][part] @ entries[0], sides[1][part] @ entries[1], points[part] @ scaled
            across *= across
            down *= down
            most *= most
            across += down
            return np.asarray(across <= most, dtype=np.bool_)

        rows, which = pairs_where(may_be, len(data), len(maps))
        distances = _pair_errors(maps, data, rows, which)
        kept = distances <= reach
        return rows[kept], which[kept], distances[kept]

    def refit(self, data: FloatArray, weights: FloatArray) -> FloatArray:
        """Normalised direct linear transform, then least squares of the symmetric transfer error (9,)."""
        t1, t2 = hartley(data[None, :, :2]), hartley(data[None, :, 2:])
        first, second = transform(t1, data[None, :, :2])[0], transform(t2, data[None, :, 2:])[0]
        rows = np.sqrt(np.tile(weights, 2))[:, None] * _equations(first, second)
        start = least_vector(rows).reshape(3, 3)
        sizes = 1 / t2[0, 0, 0], 1 / t1[0, 0, 0]
        root = np.sqrt(weights)

        def system(matrix: FloatArray) -> tuple[FloatArray, FloatArray]:
            return _transfer_system(matrix, first, second, sizes, root)

        best = levenberg_marquardt(system, lambda matrix, step: matrix + step.reshape(3, 3), start)
        theta = unit_rows((adjugate(t2)[0] @ best @ t1[0]).reshape(1, 9))[0]
        front = np.sign(homogeneous(data[:, :2]) @ theta[6:])
        return np.asarray(theta if weights @ front >= 0 else -theta, dtype=float)

    def improve(self, params: FloatArray, data: FloatArray, threshold: float, steps: int = 3) -> FloatArray:
        """Homographies (k, 9) after some steps of reweighted linear least squares on what lies near each."""
        t1, t2 = hartley(data[None, :, :2])[0], hartley(data[None, :, 2:])[0]
        rows = _equations(transform(t1[None], data[None, :, :2])[0], transform(t2[None], data[None, :, 2:])[0])
        equations, points = list(rows.reshape(2, len(data), 9)), homogeneous(data[:, :2])
        for _ in range(steps):
            near = biweights(self.residuals(params, data), threshold)
            # the equations are errors in pixels times the depth of the mapped point
            depth = np.maximum(np.abs(points @ params[:, 6:].T), np.finfo(float).tiny)
            solved = least_vectors(equations, normalised(near / depth**2)).reshape(-1, 3, 3)
            maps = unit_rows((adjugate(t2[None])[0] @ solved @ t1).reshape(-1, 9))
            front = np.einsum("mk,mk->k", near, points @ maps[:, 6:].T)
            maps *= np.where(front < 0, -1.0, 1.0)[:, None]
            enough = (near > 0).sum(axis=0) > self.sample_size
            params = np.where(enough[:, None] & np.isfinite(maps), maps, params)
        return params

    def hit_probability(self, params: FloatArray, threshold: float, box: FloatArray) -> FloatArray:
        """Mean area (k,) of what agrees with a point of the first image over the second image."""
        box = np.asarray(box, dtype=float)
        grid = uniform_background(box[:, :2], 256, 0)
        maps = params.reshape(-1, 3, 3)
        x, y, w = np.moveaxis(homogeneous(grid) @ np.swapaxes(maps, 1, 2), 2, 0)
        with np.errstate(invalid="ignore", divide="ignore"):
            x, y = x / w, y / w
            inside = (w > 0) & (x >= box[0, 2]) & (x <= box[1, 2]) & (y >= box[0, 3]) & (y <= box[1, 3])
            dx = (maps[:, None, 0, :2] - x[..., None] * maps[:, None, 2, :2]) / w[..., None]
            dy = (maps[:, None, 1, :2] - y[..., None] * maps[:, None, 2, :2]) / w[..., None]
            det = dx[..., 0] * dy[..., 1] - dx[..., 1] * dy[..., 0]
            squares = (dx**2 + dy**2).sum(axis=2)
            # det(I + (J J^T)^-1) = 1 + |J|^2 / det^2 + 1 / det^2
            area = np.where(inside, 2 * np.pi * threshold**2 / np.sqrt(1 + (squares + 1) / det**2), 0.0)
        floor = np.pi * threshold**2 / grid.shape[0]
        return as_probability(np.maximum(area.mean(axis=1), floor) / box_sides(box[:, 2:]).prod(), len(params))

    def positions(self, data: FloatArray) -> FloatArray:
        """Places (m, 2) in the first image, for localised sampling."""
        return data[:, :2]

    def shifts(self, data: FloatArray) -> FloatArray:
        """How far elements moved (m, 2): clutter that moves together must not pass for a plane."""
        return data[:, 2:] - data[:, :2]

    def background_like(self, data: FloatArray, n: int, rng: Seed = None) -> FloatArray:
        """Correspondences (n, 4) with the observed places in both images, matched by chance."""
        return exchanged(data, n, rng)


def _triangle_areas(points: FloatArray) -> FloatArray:
    """Signed double areas (4, k) of the triangles of four points (k, 4, 2), over their squared reach."""
    x, y = np.ascontiguousarray(points.transpose(2, 1, 0))
    x, y = x - x.mean(axis=0), y - y.mean(axis=0)
    areas = [(x[j] - x[i]) * (y[h] - y[i]) - (y[j] - y[i]) * (x[h] - x[i]) for i, j, h in combinations(range(4), 3)]
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.stack(areas) / (x**2 + y**2).max(axis=0), dtype=float)


def _projective_frame(points: FloatArray) -> FloatArray:
    """Maps (k, 3, 3) that take the axes and (1, 1, 1) to four homogeneous points (k, 4, 3)."""
    corners = np.swapaxes(points[:, :3], 1, 2)
    coordinates = adjugate(corners) @ points[:, 3, :, None]
    return np.asarray(corners * coordinates[:, None, :, 0], dtype=float)


def _equations(first: FloatArray, second: FloatArray) -> FloatArray:
    """Linear equations (2 n, 9) of x2 ~ H x1 for homogeneous points (n, 3)."""
    zero = np.zeros_like(first)
    upper = np.hstack([zero, -second[:, 2:] * first, second[:, 1:2] * first])
    lower = np.hstack([second[:, 2:] * first, zero, -second[:, :1] * first])
    return np.vstack([upper, lower])


def _transfer_system(
    matrix: FloatArray, first: FloatArray, second: FloatArray, sizes: tuple[float, float], root: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Weighted transfer errors (4 n,) in pixels, there and back, and their derivatives (4 n, 9) by the entries of H."""
    with np.errstate(all="ignore"):
        back = np.linalg.inv(matrix) if abs(np.linalg.det(matrix)) > 1e-12 else np.full((3, 3), np.nan)
        there, home = first @ matrix.T, second @ back.T
        slopes = [
            _projected_slopes(there, np.einsum("ai,nj->naij", np.eye(3), first)),
            _projected_slopes(home, -np.einsum("ai,nj->naij", back, home)),
        ]
        errors = [there[:, :2] / there[:, 2:] - second[:, :2], home[:, :2] / home[:, 2:] - first[:, :2]]
        scaled = [size * root[:, None] * error for size, error in zip(sizes, errors)]
        steep = [size * root[:, None, None] * slope for size, slope in zip(sizes, slopes)]
    return np.concatenate([part.ravel() for part in scaled]), np.concatenate([part.reshape(-1, 9) for part in steep])


def _projected_slopes(mapped: FloatArray, slopes: FloatArray) -> FloatArray:
    """Derivatives (n, 2, 9) of image points from those (n, 3, 3, 3) of homogeneous points (n, 3)."""
    flat = slopes.reshape(len(mapped), 3, 9)
    image = mapped[:, :2] / mapped[:, 2:]
    return np.asarray((flat[:, :2] - image[:, :, None] * flat[:, 2:]) / mapped[:, 2:, None], dtype=float)


def _pair_errors(maps: FloatArray, data: FloatArray, rows: IntArray, which: IntArray) -> FloatArray:
    """Symmetric transfer errors (n,) of some pairs of an element and a map (k, 3, 3)."""
    with np.errstate(invalid="ignore"):
        back = adjugate(maps) * np.sign(np.linalg.det(maps))[:, None, None]
    first, second = data[rows, :2], data[rows, 2:]
    total = _squared_pair_transfer(maps[which], first, second) + _squared_pair_transfer(back[which], second, first)
    return np.sqrt(total / 2)


def _squared_pair_transfer(maps: FloatArray, source: FloatArray, target: FloatArray) -> FloatArray:
    """Squared distances (n,) of source points, each mapped by its own map, to target points."""
    x, y, w = np.einsum("nij,nj->in", maps, homogeneous(source))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        square = (x / w - target[:, 0]) ** 2 + (y / w - target[:, 1]) ** 2
    return np.asarray(np.where(w > 0, square, np.inf), dtype=float)


def _squared_transfer(maps: FloatArray, source: FloatArray, target: FloatArray) -> FloatArray:
    """Squared distances (m, k) of mapped source points to target points; infinite on the wrong side."""
    points = homogeneous(source)
    # infinite on the wrong side; masks would take longer than all the rest
    near = np.fmax(points @ maps[:, 2].T, 0.0)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
        np.reciprocal(near, out=near)
        dx = points @ maps[:, 0].T
        dx *= near
        dx -= target[:, :1]
        dx *= dx
        dy = points @ maps[:, 1].T
        dy *= near
        dy -= target[:, 1:]
        dy *= dy
        dx += dy
        # zero times infinity is not a number, and is infinite, too
        near *= 1e-200
        return np.asarray(np.fmax(dx, near, out=dx), dtype=float)
