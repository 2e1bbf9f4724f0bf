"""Planes in space."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from biconsensus.models._background import as_probability, box_sides
from biconsensus.models._least_squares import principal_axes
from biconsensus.protocols import FloatArray


@dataclass(frozen=True)
class PlaneModel:
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
    dispersion: ClassVar[float] = 3.0
    """A dense spot of this radius, in thresholds, is no such model (the paper's Fig. 17)."""

    def fit(self, samples: FloatArray) -> FloatArray:
        """Planes (k, 4) through triples of points (k, 3, 3)."""
        u, v = samples[:, 1] - samples[:, 0], samples[:, 2] - samples[:, 0]
        normal = np.cross(u, v)
        length = np.sqrt(np.einsum("kd,kd->k", normal, normal))
        reach = np.maximum(np.einsum("kd,kd->k", u, u), np.einsum("kd,kd->k", v, v))
        with np.errstate(invalid="ignore", divide="ignore"):
            normal = np.where((length > 1e-9 * reach)[:, None], normal / length[:, None], np.nan)
        return np.column_stack([normal, -np.einsum("kd,kd->k", normal, samples.mean(axis=1))])

    def residuals(self, params: FloatArray, data: FloatArray) -> FloatArray:
        """Distances (m, k) of points (m, 3) to planes (k, 4)."""
        distance = data @ params[:, :3].T
        distance += params[:, 3]
        return np.abs(distance, out=distance)

    def refit(self, data: FloatArray, weights: FloatArray) -> FloatArray:
        """Total least squares (4,)."""
        mean, axes = principal_axes(data, weights)
        return np.append(axes[:, -1], -axes[:, -1] @ mean)

    def hit_probability(self, params: FloatArray, threshold: float, box: FloatArray) -> FloatArray:
        """Slab through a ball around the box over the ball (k,), at most 1."""
        radius = np.linalg.norm(box_sides(box)) / 2
        return as_probability(np.asarray(1.5 * threshold / radius), params.shape[0])
