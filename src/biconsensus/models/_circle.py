"""Circles in the plane."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from biconsensus.models._background import as_probability, box_sides
from biconsensus.models._round import round_distances, round_refit, round_through
from biconsensus.protocols import FloatArray


@dataclass(frozen=True)
class CircleModel:
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
    measures: ClassVar[tuple[str, ...]] = ("radius",)
    dispersion: ClassVar[float] = 3.0
    """A dense spot of this radius, in thresholds, is no such model (the paper's Fig. 17)."""

    def fit(self, samples: FloatArray) -> FloatArray:
        """Circles (k, 3) through triples of points (k, 3, 2)."""
        return round_through(samples)

    def residuals(self, params: FloatArray, data: FloatArray) -> FloatArray:
        """Distances (m, k) of points (m, 2) to circles (k, 3)."""
        return round_distances(params, data)

    def measure(self, name: str, params: FloatArray) -> FloatArray:
        """The radius (k,), which can be bounded."""
        return np.asarray(params[:, -1], dtype=float)

    def refit(self, data: FloatArray, weights: FloatArray) -> FloatArray:
        """Geometric least squares (3,)."""
        return round_refit(data, weights)

    def hit_probability(self, params: FloatArray, threshold: float, box: FloatArray) -> FloatArray:
        """Area (k,) of the ring over that of the box, at most 1."""
        radius = params[:, 2]
        ring = np.pi * ((radius + threshold) ** 2 - np.maximum(radius - threshold, 0.0) ** 2)
        return as_probability(ring / box_sides(box).prod(), params.shape[0])

    def project(self, params: FloatArray, data: FloatArray) -> FloatArray:
        """Arc lengths (m, k) from the point right of the centre, in [0, 2 pi r)."""
        spokes = data[:, None] - params[:, :2]
        return np.asarray((np.arctan2(spokes[..., 1], spokes[..., 0]) % (2 * np.pi)) * params[:, 2], dtype=float)

    def draw(self, params: FloatArray, box: FloatArray) -> FloatArray:
        """One circle as a closed polyline (181, 2)."""
        angle = np.linspace(0, 2 * np.pi, 181)
        return np.asarray(params[:2] + params[2] * np.column_stack([np.cos(angle), np.sin(angle)]), dtype=float)
