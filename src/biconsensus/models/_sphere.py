"""Spheres in space."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from biconsensus.models._background import as_probability, box_sides
from biconsensus.models._round import round_distances, round_refit, round_through
from biconsensus.protocols import FloatArray


@dataclass(frozen=True)
class SphereModel:
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
    measures: ClassVar[tuple[str, ...]] = ("radius",)
    dispersion: ClassVar[float] = 3.0
    """A dense spot of this radius, in thresholds, is no such model (the paper's Fig. 17)."""

    def fit(self, samples: FloatArray) -> FloatArray:
        """Spheres (k, 4) through four points each (k, 4, 3)."""
        return round_through(samples)

    def residuals(self, params: FloatArray, data: FloatArray) -> FloatArray:
        """Distances (m, k) of points (m, 3) to spheres (k, 4)."""
        return round_distances(params, data)

    def measure(self, name: str, params: FloatArray) -> FloatArray:
        """The radius (k,), which can be bounded."""
        return np.asarray(params[:, -1], dtype=float)

    def refit(self, data: FloatArray, weights: FloatArray) -> FloatArray:
        """Geometric least squares (4,)."""
        return round_refit(data, weights)

    def hit_probability(self, params: FloatArray, threshold: float, box: FloatArray) -> FloatArray:
        """Volume (k,) of the shell over that of the box, at most 1."""
        radius = params[:, 3]
        shell = 4 / 3 * np.pi * ((radius + threshold) ** 3 - np.maximum(radius - threshold, 0.0) ** 3)
        return as_probability(shell / box_sides(box).prod(), params.shape[0])
