"""Vanishing points of line segments in an image."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from biconsensus.models._background import Seed, like_observed
from biconsensus.models._least_squares import levenberg_marquardt
from biconsensus.protocols import FloatArray

_NO_DIRECTION = 1e-14
"""Distance of a vanishing point of unit length from the middle of a segment below which it is that middle: a few
rounding errors."""


@dataclass(frozen=True)
class VanishingPointModel:
    """Point where the lines of two segments meet, maybe at infinity; elements are segments x1, y1, x2, y2.

    Parameters of a model: homogeneous x, y, w of unit length, w >= 0.

    Notes
    -----
    The residual is the distance, in pixels, of the ends of a segment to the line that joins its middle to the
    vanishing point: half the length times |sin| of the angle between both. A test of their own for vanishing points:
    keep places and lengths of the segments and let directions be of chance. A segment of length L then agrees with
    any vanishing point with probability (2 / pi) arcsin(min(1, 2 delta / L)), wherever the point lies. The number of
    segments that agree is a sum of independent, unequal events; above its mean its tail is at most that of the
    binomial law with the mean of these probabilities (Hoeffding 1956), which is `segment_hit_probability`.
    `background_like` draws from the same law.

    Examples
    --------
    >>> model = VanishingPointModel()
    >>> vp = model.fit(np.array([[[0.0, 0, 1, 1], [4, 0, 3, 1]]]))
    >>> vp[0, :2] / vp[0, 2]
    array([2., 2.])
    """

    sample_size: ClassVar[int] = 2
    n_features: ClassVar[int] = 4
    degrees_of_freedom: ClassVar[int] = 2

    def fit(self, samples: FloatArray) -> FloatArray:
        """Vanishing points (k, 3) of pairs of segments (k, 2, 4); NaN where both lie on one line."""
        middle = samples.reshape(len(samples), 4, 2).mean(axis=1)
        centred = samples - np.tile(middle, 2)[:, None]
        scale = np.abs(centred).max(axis=(1, 2), initial=0.0) + np.finfo(float).tiny
        lines = _lines(centred / scale[:, None, None])
        meeting = np.cross(lines[:, 0], lines[:, 1])
        with np.errstate(invalid="ignore"):
            meeting[~(np.linalg.norm(meeting, axis=1) > 1e-9)] = np.nan
        meeting[:, :2] = meeting[:, :2] * scale[:, None] + middle * meeting[:, 2:]
        return _unit(meeting)

    def residuals(self, params: FloatArray, data: FloatArray) -> FloatArray:
        """Distances (m, k), in pixels, of the ends of segments to the lines from their middles to the points."""
        middle, lines = _halves(data)
        error = np.abs(lines @ params.T)
        dx = params[:, 0] - middle[:, :1] * params[:, 2]
        dy = params[:, 1] - middle[:, 1:] * params[:, 2]
        dx *= dx
        dy *= dy
        dx += dy
        reach = np.sqrt(dx, out=dx)
        length = np.hypot(lines[:, 0], lines[:, 1])[:, None]
        # a vanishing point in the middle of a segment has no direction: as bad as can be
        return np.where(reach > _NO_DIRECTION, error / np.maximum(reach, 1e-300), length)

    def refit(self, data: FloatArray, weights: FloatArray) -> FloatArray:
        """Least squares of the residuals (3,), from the point nearest to all lines."""
        centre = data.reshape(-1, 2).mean(axis=0)
        scale = np.abs(data - np.tile(centre, 2)).max() or 1.0
        middle, lines = _halves((data - np.tile(centre, 2)) / scale)
        root = np.sqrt(weights)
        _, vectors = np.linalg.eigh((weights * lines.T) @ lines)

        def system(point: FloatArray) -> tuple[FloatArray, FloatArray]:
            gap = point[:2] - middle * point[2]
            reach = np.maximum(np.hypot(gap[:, 0], gap[:, 1]), _NO_DIRECTION)[:, None]
            errors = lines @ point[:, None] / reach
            growth = np.column_stack([gap, -(middle * gap).sum(axis=1)]) / reach
            slopes = (lines - errors * growth) / reach
            return root * errors[:, 0], root[:, None] * (slopes @ _tangents(point))

        def move(point: FloatArray, step: FloatArray) -> FloatArray:
            return np.asarray(_unit((point + _tangents(point) @ step)[None])[0], dtype=float)

        best = levenberg_marquardt(system, move, np.asarray(vectors[:, 0], dtype=float))
        best = np.append(best[:2] * scale + centre * best[2], best[2])
        return np.asarray(_unit(best[None])[0], dtype=float)

    def background_like(self, data: FloatArray, n: int, rng: Seed = None) -> FloatArray:
        """Segments (n, 4) with the observed places and lengths and directions of chance."""
        return like_observed(data, n, rng)

    def positions(self, data: FloatArray) -> FloatArray:
        """Midpoints (m, 2): where elements lie, for localised sampling."""
        return np.asarray((data[:, :2] + data[:, 2:]) / 2, dtype=float)


def segment_hit_probability(segments: FloatArray, threshold: float, weights: FloatArray | None = None) -> float:
    """Chance that a segment of random direction agrees with a given vanishing point, on average over the lengths.

    Parameters
    ----------
    segments : (m, 4) array
        Observed segments.
    threshold : float
        Largest residual, in pixels.
    weights : (m,) array or None
        Importance of the segments in the mean.

    Returns
    -------
    float

    Examples
    --------
    >>> round(segment_hit_probability(np.array([[0.0, 0, 4, 0], [0, 0, 1, 0]]), 1.0), 4)
    0.6667
    """
    segments = np.asarray(segments, dtype=float)
    length = np.maximum(np.hypot(*(segments[:, 2:] - segments[:, :2]).T), np.finfo(float).tiny)
    chance = 2 / np.pi * np.arcsin(np.minimum(1.0, 2 * threshold / length))
    return float(np.average(chance, weights=weights))


def _halves(segments: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Middles (m, 2) and homogeneous lines (m, 3) of segments, the normal part half as long as the segment."""
    middle, half = (segments[:, :2] + segments[:, 2:]) / 2, (segments[:, 2:] - segments[:, :2]) / 2
    moment = middle[:, 0] * half[:, 1] - middle[:, 1] * half[:, 0]
    return middle, np.column_stack([half[:, 1], -half[:, 0], -moment])


def _tangents(point: FloatArray) -> FloatArray:
    """Two directions (3, 2) in which a point of unit length can move."""
    return np.asarray(np.linalg.svd(point[None])[2][1:].T, dtype=float)


def _lines(segments: FloatArray) -> FloatArray:
    """Homogeneous lines (..., 3) of segments (..., 4), the normal part of unit length; NaN for points."""
    x1, y1, x2, y2 = np.moveaxis(segments, -1, 0)
    length = np.hypot(x2 - x1, y2 - y1)
    with np.errstate(invalid="ignore", divide="ignore"):
        lines = np.stack([y1 - y2, x2 - x1, x1 * y2 - x2 * y1], axis=-1) / length[..., None]
    lines[length <= 1e-13] = np.nan if segments.ndim > 2 else 0.0
    return np.asarray(lines, dtype=float)


def _unit(points: FloatArray) -> FloatArray:
    """Homogeneous points of unit length and w >= 0."""
    points = points / np.linalg.norm(points, axis=1, keepdims=True)
    return np.where(points[:, 2:] < 0, -points, points)
