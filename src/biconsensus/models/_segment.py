"""Line segments as models of points: a line that ends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from biconsensus.models._background import as_probability, box_sides
from biconsensus.models._flat import principal_axes
from biconsensus.protocols import FloatArray, IntArray

_ENDS = 256
"""Elements along a segment among which its two ends are looked for."""


@dataclass(frozen=True)
class SegmentModel:
    """Segment between two points; parameters x1, y1, x2, y2.

    A minimal sample spans only part of a longer segment; the refit reaches from the first to the last of its elements,
    and each hypothesis finds its ends before it votes.

    Examples
    --------
    >>> model = SegmentModel()
    >>> theta = model.fit(np.array([[[0.0, 0.0], [2.0, 0.0]]]))
    >>> model.residuals(theta, np.array([[1.0, 1.0], [5.0, 4.0]]))
    array([[1.],
           [5.]])
    """

    sample_size: ClassVar[int] = 2
    n_features: ClassVar[int] = 2
    degrees_of_freedom: ClassVar[int] = 2
    """Those of its line: the ends are its extent, which the chance of a hit takes into account."""
    measures: ClassVar[tuple[str, ...]] = ("length",)
    n_improve: ClassVar[int] = 3

    def fit(self, samples: FloatArray) -> FloatArray:
        """Segments (k, 4) between pairs of points (k, 2, 2)."""
        params = samples.reshape(-1, 4).copy()
        length = np.hypot(params[:, 2] - params[:, 0], params[:, 3] - params[:, 1])
        params[length <= 1e-13 * np.abs(params).max(axis=1, initial=0.0)] = np.nan
        return params

    def residuals(self, params: FloatArray, data: FloatArray) -> FloatArray:
        """Distances (m, k) of points (m, 2) to segments (k, 4)."""
        direction, length = _directions(params)
        beyond = np.abs(self.project(params, data) - length / 2)
        beyond -= length / 2
        np.maximum(beyond, 0.0, out=beyond)
        normal = np.stack([-direction[:, 1], direction[:, 0]])
        across = data @ normal
        across -= np.einsum("kd,dk->k", params[:, :2], normal)
        return np.hypot(across, beyond, out=across)

    def measure(self, name: str, params: FloatArray) -> FloatArray:
        """The length (k,), which can be bounded."""
        return np.asarray(np.hypot(params[:, 2] - params[:, 0], params[:, 3] - params[:, 1]), dtype=float)

    def refit(self, data: FloatArray, weights: FloatArray) -> FloatArray:
        """Total least squares, ending at the first and last projection (4,)."""
        mean, axes = principal_axes(data, weights)
        along = (data - mean)[weights > 0] @ axes[:, 0]
        return np.concatenate([mean + along.min() * axes[:, 0], mean + along.max() * axes[:, 0]])

    def improve(self, params: FloatArray, data: FloatArray, threshold: float, steps: int = 3) -> FloatArray:
        """Segments (k, 4) moved to the most meaningful part of their line, and refitted to it, some times."""
        density = 2 * threshold * len(data) / max(float(np.ptp(data, axis=0).prod()), np.finfo(float).tiny)
        better = np.array(params)
        for theta in better:
            for _ in range(steps):
                inside = _densest_part(theta, data, threshold, density)
                if len(inside) <= self.sample_size:
                    break
                theta[:] = self.refit(data[inside], np.ones(len(inside)))
        return better

    def hit_probability(self, params: FloatArray, threshold: float, box: FloatArray) -> FloatArray:
        """Area (k,) of the band with round ends over that of the box."""
        length = np.hypot(params[:, 2] - params[:, 0], params[:, 3] - params[:, 1])
        band = 2 * threshold * length + np.pi * threshold**2
        return as_probability(band / box_sides(box).prod(), params.shape[0])

    def project(self, params: FloatArray, data: FloatArray) -> FloatArray:
        """Positions (m, k) of points along the segments, from their first ends."""
        direction, _ = _directions(params)
        along = data @ direction.T
        along -= np.einsum("kd,kd->k", params[:, :2], direction)
        return np.asarray(along, dtype=float)

    def draw(self, params: FloatArray, box: FloatArray) -> FloatArray:
        """Both ends of one segment (2, 2)."""
        return np.asarray(params, dtype=float).reshape(2, 2)


def _densest_part(theta: FloatArray, data: FloatArray, threshold: float, density: float) -> IntArray:
    """Elements near the line of one segment, from the first to the last of its most meaningful part.

    A part of length L holds k elements where chance puts `density` L: the likelihood ratio of both Poisson laws.
    """
    direction = _directions(theta[None])[0][0]
    gap = data - theta[:2]
    near = np.flatnonzero(np.abs(gap @ np.array([-direction[1], direction[0]])) <= threshold)
    order = near[np.argsort(gap[near] @ direction, kind="stable")]
    ends = np.unique(np.linspace(0, max(len(order) - 1, 0), min(len(order), _ENDS)).astype(np.int64))
    places = gap[order[ends]] @ direction
    chance = density * np.maximum(places[None] - places[:, None], 2 * threshold)
    count = np.maximum(ends[None] - ends[:, None] + 1, 1)
    score = np.where(count > chance, count * np.log(count / chance) - count + chance, 0.0)
    first, last = np.unravel_index(int(np.argmax(np.triu(score, 1))), score.shape) if ends.size else (0, -1)
    return np.asarray(order[ends[first] : ends[last] + 1] if ends.size else order, np.int64)


def _directions(params: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Unit directions (k, 2) and lengths (k,)."""
    along = params[:, 2:] - params[:, :2]
    length = np.hypot(along[:, 0], along[:, 1])
    return along / np.maximum(length, np.finfo(float).tiny)[:, None], length
