"""Lines in the plane."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from biconsensus.models._background import as_probability, box_sides
from biconsensus.models._least_squares import principal_axes
from biconsensus.protocols import FloatArray


@dataclass(frozen=True)
class LineModel:
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
    dispersion: ClassVar[float] = 3.0
    """A dense spot of this radius, in thresholds, is no such model (the paper's Fig. 17)."""

    def fit(self, samples: FloatArray) -> FloatArray:
        """Lines (k, 3) through pairs of points (k, 2, 2)."""
        direction = samples[:, 1] - samples[:, 0]
        length = np.hypot(direction[:, 0], direction[:, 1])
        scale = np.abs(samples).max(axis=(1, 2), initial=0.0)
        normal = np.column_stack([-direction[:, 1], direction[:, 0]])
        with np.errstate(invalid="ignore", divide="ignore"):
            normal = np.where((length > 1e-13 * scale)[:, None], normal / length[:, None], np.nan)
        return np.column_stack([normal, -np.einsum("kd,kd->k", normal, samples.mean(axis=1))])

    def residuals(self, params: FloatArray, data: FloatArray) -> FloatArray:
        """Distances (m, k) of points (m, 2) to lines (k, 3)."""
        distance = data @ params[:, :2].T
        distance += params[:, 2]
        return np.abs(distance, out=distance)

    def refit(self, data: FloatArray, weights: FloatArray) -> FloatArray:
        """Total least squares (3,)."""
        mean, axes = principal_axes(data, weights)
        return np.append(axes[:, -1], -axes[:, -1] @ mean)

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
