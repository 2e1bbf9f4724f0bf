"""Ellipses from points and from line segments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from biconsensus.models._background import Seed, as_probability, box_sides, like_observed
from biconsensus.models._conics import direct_fit, ellipse_distances, foot_angles, through_five
from biconsensus.models._least_squares import refine
from biconsensus.protocols import FloatArray


@dataclass(frozen=True)
class EllipseModel:
    """Ellipse through five points; parameters: centre x, y, longer and shorter half-axis, angle of the longer one.

    Parameters
    ----------
    max_elongation : float
        Samples whose axes have a larger ratio are degenerate.

    Notes
    -----
    Distances are exact (see `conics.ellipse_distances`). Hit probability
    pi [(a + delta)(b + delta) - (a - delta)(b - delta)] / area with the inner half-axes not below 0, at most 1.

    Examples
    --------
    >>> t = np.array([0.0, 1, 2, 3, 4])
    >>> theta = EllipseModel().fit(np.column_stack([2 * np.cos(t), np.sin(t)])[None])
    >>> EllipseModel().residuals(theta, np.array([[0.0, 0.0]])).round(6)
    array([[1.]])
    """

    max_elongation: float = 10.0
    sample_size: ClassVar[int] = 5
    n_features: ClassVar[int] = 2
    degrees_of_freedom: ClassVar[int] = 5

    def fit(self, samples: FloatArray) -> FloatArray:
        """Ellipses (k, 5) through five points each (k, 5, 2)."""
        return _not_elongated(through_five(samples), self.max_elongation)

    def residuals(self, params: FloatArray, data: FloatArray) -> FloatArray:
        """Distances (m, k) of points (m, 2) to ellipses (k, 5)."""
        return ellipse_distances(params, data)

    def refit(self, data: FloatArray, weights: FloatArray) -> FloatArray:
        """Geometric least squares (5,)."""
        return refit_ellipse(data, weights)

    def hit_probability(self, params: FloatArray, threshold: float, box: FloatArray) -> FloatArray:
        """Area (k,) of the band over that of the box, at most 1."""
        return as_probability(_band(params, threshold) / box_sides(box).prod(), params.shape[0])

    def project(self, params: FloatArray, data: FloatArray) -> FloatArray:
        """Positions (m, k) along the ellipses: arc lengths from the end of the long axis."""
        return np.stack([_arc_lengths(theta, foot_angles(theta, data)) for theta in params], axis=1)

    def around(self, params: FloatArray, data: FloatArray) -> FloatArray:
        """Places (m, k) on the ellipses, as shares of their lengths."""
        return places_around(params, data)

    def draw(self, params: FloatArray, box: FloatArray) -> FloatArray:
        """One ellipse as a closed polyline (181, 2)."""
        return ellipse_points(params, np.linspace(0, 2 * np.pi, 181))


@dataclass(frozen=True)
class EllipseFromSegments:
    """Ellipse through three line segments; elements are segments x1, y1, x2, y2.

    Parameters
    ----------
    max_elongation : float
        Samples whose axes have a larger ratio are degenerate (the paper leaves its limit unsaid).
    max_radius : float
        Samples with a longer half-axis are degenerate.

    Notes
    -----
    The distance of a segment is the larger of the two distances of its ends, each a minimum over the ellipse; both
    ends must fall into the band, so the chance is that of two independent points. Real segments are short, so their
    ends are not independent: `background_like` keeps the observed lengths.

    Examples
    --------
    >>> t = np.array([0.0, 0.5, 2, 2.5, 4, 4.5])
    >>> ends = np.column_stack([2 * np.cos(t), np.sin(t)]).reshape(1, 3, 4)
    >>> EllipseFromSegments().residuals(EllipseFromSegments().fit(ends), ends[0]).max() < 1e-9
    np.True_
    """

    max_elongation: float = 3.0
    max_radius: float = np.inf
    sample_size: ClassVar[int] = 3
    n_features: ClassVar[int] = 4
    degrees_of_freedom: ClassVar[int] = 5

    def fit(self, samples: FloatArray) -> FloatArray:
        """Ellipses (k, 5) by the direct fit to the six ends of three segments (k, 3, 4)."""
        params = _not_elongated(direct_fit(samples.reshape(-1, 6, 2)), self.max_elongation)
        params[params[:, 2] > self.max_radius] = np.nan
        return params

    def residuals(self, params: FloatArray, data: FloatArray) -> FloatArray:
        """Distances (m, k) of segments (m, 4) to ellipses (k, 5)."""
        first = ellipse_distances(params, data[:, :2])
        return np.maximum(first, ellipse_distances(params, data[:, 2:]), out=first)

    def refit(self, data: FloatArray, weights: FloatArray) -> FloatArray:
        """Geometric least squares on all ends (5,)."""
        return refit_ellipse(data.reshape(-1, 2), np.repeat(weights, 2))

    def hit_probability(self, params: FloatArray, threshold: float, box: FloatArray) -> FloatArray:
        """Chance (k,) that both ends of a random segment fall into the band."""
        sides = box_sides(np.asarray(box)[:, :2]), box_sides(np.asarray(box)[:, 2:])
        first, second = (as_probability(_band(params, threshold) / side.prod(), len(params)) for side in sides)
        return np.asarray(first * second, dtype=float)

    def background_like(self, data: FloatArray, n: int, rng: Seed = None) -> FloatArray:
        """Random segments (n, 4) of the observed lengths, anywhere in the box."""
        rng = np.random.default_rng(rng)
        drawn = like_observed(data, n, rng)
        middle = (drawn[:, :2] + drawn[:, 2:]) / 2
        ends = data.reshape(-1, 2)
        shift = rng.uniform(ends.min(axis=0), ends.max(axis=0), (n, 2)) - middle
        return drawn + np.hstack([shift, shift])

    def positions(self, data: FloatArray) -> FloatArray:
        """Midpoints (m, 2): where elements lie, for localised sampling."""
        return np.asarray((data[:, :2] + data[:, 2:]) / 2, dtype=float)

    def around(self, params: FloatArray, data: FloatArray) -> FloatArray:
        """Places (m, k) of the middles of segments on the ellipses, as shares of their lengths."""
        return places_around(params, self.positions(data))

    def draw(self, params: FloatArray, box: FloatArray) -> FloatArray:
        """One ellipse as a closed polyline (181, 2)."""
        return ellipse_points(params, np.linspace(0, 2 * np.pi, 181))


def places_around(params: FloatArray, points: FloatArray) -> FloatArray:
    """Places (m, k) of points on ellipses, as shares of their lengths."""
    whole = [_arc_lengths(theta, np.array([np.nextafter(2 * np.pi, 0)]))[0] for theta in params]
    arcs = np.stack([_arc_lengths(theta, foot_angles(theta, points)) for theta in params], axis=1)
    return np.asarray(arcs / np.array(whole), np.float64)


def ellipse_points(ellipse: FloatArray, angles: FloatArray) -> FloatArray:
    """Points (n, 2) of one ellipse (5,) at parameter angles (n,)."""
    cos, sin = np.cos(ellipse[4]), np.sin(ellipse[4])
    u, v = ellipse[2] * np.cos(angles), ellipse[3] * np.sin(angles)
    return np.column_stack([ellipse[0] + u * cos - v * sin, ellipse[1] + u * sin + v * cos])


def refit_ellipse(points: FloatArray, weights: FloatArray) -> FloatArray:
    """Geometric least squares (5,) from the direct fit; NaN where that fails."""
    start = direct_fit(points[None], weights[None])[0]
    if not np.isfinite(start).all():
        return np.asarray(start, dtype=float)

    def errors(theta: FloatArray) -> FloatArray:
        return _signed(theta, points)[0]

    best = refine(errors, start, weights, lambda theta: _signed(theta, points)[1])
    best[2:4] = np.abs(best[2:4])
    if best[3] > best[2]:
        best[2], best[3], best[4] = best[3], best[2], best[4] + np.pi / 2
    best[4] %= np.pi
    return best


def _signed(theta: FloatArray, points: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Signed distances (m,), positive outside, and their derivatives (m, 5)."""
    flipped = abs(theta[3]) > abs(theta[2])
    axes = np.abs(theta[[3, 2]] if flipped else theta[2:4])
    own = np.array([theta[0], theta[1], *axes, theta[4] + (np.pi / 2 if flipped else 0.0)])
    angle = foot_angles(own, points)
    foot = ellipse_points(own, angle)
    cos, sin = np.cos(own[4]), np.sin(own[4])
    normal = np.column_stack([np.cos(angle) * own[3], np.sin(angle) * own[2]])
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    nx, ny = normal[:, 0] * cos - normal[:, 1] * sin, normal[:, 0] * sin + normal[:, 1] * cos
    distance = (points[:, 0] - foot[:, 0]) * nx + (points[:, 1] - foot[:, 1]) * ny
    da, db = -np.cos(angle) * normal[:, 0], -np.sin(angle) * normal[:, 1]
    turn = (foot[:, 1] - own[1]) * nx - (foot[:, 0] - own[0]) * ny
    first, second = (db, da) if flipped else (da, db)
    return distance, np.column_stack([-nx, -ny, first * np.sign(theta[2]), second * np.sign(theta[3]), turn])


def _arc_lengths(ellipse: FloatArray, angles: FloatArray) -> FloatArray:
    """Arc lengths at parameter angles, by summing a fine polyline."""
    grid = np.linspace(0, 2 * np.pi, 721)
    steps = np.linalg.norm(np.diff(ellipse_points(ellipse, grid), axis=0), axis=1)
    return np.asarray(np.interp(angles % (2 * np.pi), grid, np.append(0.0, np.cumsum(steps))), dtype=float)


def _band(params: FloatArray, threshold: float) -> FloatArray:
    """Area of the band around ellipses, the inner half-axes not below zero."""
    outer = (params[:, 2] + threshold) * (params[:, 3] + threshold)
    inner = np.maximum(params[:, 2] - threshold, 0.0) * np.maximum(params[:, 3] - threshold, 0.0)
    return np.asarray(np.pi * (outer - inner), dtype=float)


def _not_elongated(params: FloatArray, limit: float) -> FloatArray:
    """Make elongated ellipses NaN."""
    params[~(params[:, 2] <= limit * params[:, 3])] = np.nan
    return params
