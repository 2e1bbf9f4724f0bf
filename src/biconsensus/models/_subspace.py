"""Affine subspaces of a given dimension, such as the motions of rigid bodies among point trajectories."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import gammaln

from biconsensus.models._background import as_probability, box_sides
from biconsensus.models._least_squares import principal_axes
from biconsensus.protocols import FloatArray


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
