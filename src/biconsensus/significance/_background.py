"""The background that models are tested against: what chance does with the data at hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial import cKDTree

from biconsensus.errors import InputError
from biconsensus.models._background import uniform_background
from biconsensus.protocols import BoolArray, FloatArray, IntArray, Model

_BLOCK = 1 << 21
"""Residuals held at a time: 16 MB."""
_NEIGHBOURS, _SHARE = 10, 0.1
"""The density around an element is measured on its neighbours: this share of all elements, at least this number."""
_SMOOTHING = 2.0
"""Smallest width, in thresholds, over which the density is smoothed: what is narrower than that is a structure."""


def bounding_box(data: FloatArray) -> FloatArray:
    """(2, d) lower and upper corner; a constant column, which is no noise but a structure, gets the longest side."""
    low, high = data.min(0), data.max(0)
    longest = float((high - low).max())
    flat = high - low <= 1e-9 * longest
    return np.stack([np.where(flat, low - longest / 2, low), np.where(flat, high + longest / 2, high)])


def smoothed(
    data: FloatArray, n: int, threshold: float, rng: np.random.Generator, width: int | None = None
) -> FloatArray:
    """(n, d) points with the local density of the data, blurred over a width that hides thin structures.

    Each is an element moved by a Gaussian step as wide as the ball of its neighbours, at least two thresholds: crowds
    stay crowds, lines and surfaces are blurred. Steps out of the bounding box are reflected. Only the first
    `width` columns are places; the others, such as normals, are kept.
    """
    places = data[:, :width]
    near = min(max(_NEIGHBOURS, round(_SHARE * len(places))), len(places) - 1)
    spread = cKDTree(places).query(places, near + 1)[0][:, near] if near else np.zeros(len(places))
    chosen = rng.permutation(np.arange(n) % len(places))
    # a ball of that radius has this standard deviation along every axis
    step = np.maximum(spread / np.sqrt(places.shape[1] + 2), _SMOOTHING * threshold)[chosen, None]
    points = places[chosen] + step * rng.normal(size=(n, places.shape[1]))
    low, high = bounding_box(places)
    side = np.maximum(high - low, np.finfo(float).tiny)
    folded = np.mod(points - low, 2 * side)
    return np.hstack([low + np.minimum(folded, 2 * side - folded), data[chosen, places.shape[1] :]])


def count_hits(hits: BoolArray) -> IntArray:
    """(k,) number of ones in each column of a table (m, k)."""
    counts = np.zeros(hits.shape[1], np.int64)
    # bytes add up fastest, and 255 of them cannot overflow
    for start in range(0, len(hits), 255):
        counts += np.add.reduce(hits[start : start + 255].view(np.uint8), axis=0, dtype=np.uint8)
    return counts


@dataclass(frozen=True)
class Background:
    """What chance does: points of the background, and how often a model would be hit by them."""

    points: FloatArray
    """(q, d) random elements under the background."""
    box: FloatArray
    """(2, d) lower and upper corner of the data."""
    rule: str = "background"
    """Where hit probabilities come from: background points, the paper's closed forms, or the matrix itself."""
    levels: FloatArray | None = None
    """(t,) thresholds for which the rule "empirical" has a density."""
    densities: FloatArray | None = None
    """(t,) share of ones in the preference matrix at each."""

    @classmethod
    def of(
        cls,
        model: Model,
        data: FloatArray,
        n_points: int,
        rng: np.random.Generator,
        rule: str = "background",
        threshold: float | None = None,
    ) -> Background:
        """Background of the data: as the model says; else their own density; without a threshold uniform in the box."""
        box = bounding_box(data)
        if hasattr(model, "background_like"):
            points = model.background_like(data, n_points, rng)
        elif threshold is not None and rule == "background":
            points = smoothed(data, n_points, threshold, rng, getattr(model, "n_places", None))
        elif hasattr(model, "background"):
            points = model.background(box, n_points, rng)
        else:
            points = uniform_background(box, n_points, rng)
        return cls(np.asarray(points, np.float64), box, rule)

    def outside(self, hits: BoolArray) -> Background:
        """The background where nothing has been found yet."""
        return replace(self, points=self.points[~hits])

    @property
    def size(self) -> float:
        """Background points behind a hit probability; infinite where it is not measured."""
        return len(self.points) if self.rule == "background" else np.inf

    def hits(self, model: Model, params: FloatArray, thresholds: FloatArray) -> BoolArray:
        """(q, k) which background points fall within the threshold of each of k models."""
        return np.asarray(model.residuals(params, self.points) <= thresholds, bool)

    def shares(self, model: Model, params: FloatArray, levels: FloatArray, n_points: int | None = None) -> FloatArray:
        """(t, k) share of the (first) background points within each of t thresholds of k models."""
        points = self.points[:n_points]
        step, counts = max(1, _BLOCK // max(len(points), 1)), np.zeros((len(levels), len(params)))
        for start in range(0, len(params), step):
            residuals = model.residuals(params[start : start + step], points)
            counts[:, start : start + step] = [count_hits(residuals <= level) for level in levels]
        return counts / max(len(points), 1)

    def probabilities(self, model: Model, params: FloatArray, levels: FloatArray) -> FloatArray:
        """(t, k) hit probabilities at each of t thresholds of k models."""
        if self.rule == "background":
            return self.shares(model, params, levels)
        return np.array([self.probability(model, params, np.full(len(params), level)) for level in levels])

    def probability(self, model: Model, params: FloatArray, thresholds: FloatArray) -> FloatArray:
        """(k,) probability that chance puts an element within the threshold of each of k models."""
        return HIT_RULES[self.rule](self, model, params, thresholds)


def _measured(chance: Background, model: Model, params: FloatArray, thresholds: FloatArray) -> FloatArray:
    """Share of background points within the threshold."""
    step = max(1, _BLOCK // max(len(chance.points), 1))
    counts = [
        chance.hits(model, params[i : i + step], thresholds[i : i + step]).sum(0) for i in range(0, len(params), step)
    ]
    return np.asarray(np.concatenate([np.empty(0), *counts]) / max(len(chance.points), 1), np.float64)


def _closed_form(chance: Background, model: Model, params: FloatArray, thresholds: FloatArray) -> FloatArray:
    """The paper's formula, which the model has to bring."""
    formula = getattr(model, "hit_probability", None)
    if formula is None:
        raise InputError(f"hits='paper' needs a closed form, and {model!r} has none; use hits='background'.")
    chances = np.ones(len(params))
    for threshold in np.unique(thresholds):
        chosen = thresholds == threshold
        chances[chosen] = formula(params[chosen], float(threshold), chance.box)
    return np.clip(chances, 0.0, 1.0)


def _density(chance: Background, model: Model, params: FloatArray, thresholds: FloatArray) -> FloatArray:
    """||A||_0 / (m n), one number for all (the side note of the paper's section 6)."""
    levels, densities = (np.zeros(1) if one is None else one for one in (chance.levels, chance.densities))
    return np.asarray(np.interp(thresholds, levels, densities), np.float64)


HitRule = Callable[[Background, Model, FloatArray, FloatArray], FloatArray]
HIT_RULES: dict[str, HitRule] = {"background": _measured, "paper": _closed_form, "empirical": _density}
