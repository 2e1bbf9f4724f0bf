"""One structure, one model: the own scale of each model, and which models are parts of others."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from biconsensus.fitting._exclusion import Found
from biconsensus.fitting._refit import reweighted
from biconsensus.protocols import BoolArray, FloatArray, IntArray

_FLANK = 2.0
"""Clutter around a model is measured from where labels end at most to this many times as far."""
_STEPS = 7
"""Widths of labels that are tried."""
_SCALE = 0.95
"""Part of a model's own elements that its own scale holds."""
_MAJORITY = 0.5
"""A model of which more than this part lies within the own scale of others is no structure of its own."""
_POLISH = 8
"""Refits of the final models to the elements that are nearest to each."""


@dataclass(frozen=True)
class Structures:
    """Models side by side: which elements are whose, and how far each reaches."""

    found: list[Found]
    residuals: FloatArray
    """(m, t) distances."""
    thresholds: FloatArray
    """(t,) thresholds of members."""
    bands: FloatArray
    """(t,) distances up to which elements get a label."""
    scales: FloatArray
    """(t,) distances that hold nearly all elements of each."""
    labels: IntArray
    """(m,) nearest model, in bands, -1 for none."""

    @classmethod
    def of(cls, found: list[Found], data: FloatArray, codimensions: list[float], width: float | None) -> Structures:
        """Labels, bands and scales of models, all at once."""
        residuals = residuals_of(found, data)
        thresholds = np.array([one.fit.threshold for one in found])
        reaches = np.array([float(getattr(one.family.model, "label_reach", 1.0)) for one in found])
        nearest = nearest_of(residuals, reaches * thresholds)
        free = ~(residuals <= thresholds).any(1)
        bands = np.array(
            [
                threshold * width
                if width is not None
                else _band(
                    residuals[:, t], nearest == t, free & (nearest == -1), threshold, codimensions[t], reaches[t]
                )
                for t, threshold in enumerate(thresholds)
            ]
        )
        labels = nearest_of(residuals, bands)
        scales = np.array([_scale(residuals[labels == t, t], bands[t]) for t in range(len(found))])
        return cls(found, residuals, thresholds, bands, scales, labels)

    @property
    def explained(self) -> BoolArray:
        """(m,) elements within the band of any model."""
        return np.asarray((self.residuals <= self.bands).any(1), bool)

    def covered(self) -> int | None:
        """The model that lies most within the own scale of others, if more than half of it does."""
        if len(self.found) < 2:
            return None
        shares = np.zeros(len(self.found))
        for t in range(len(self.found)):
            own = self.residuals[self.labels == t] <= self.scales
            own[:, t] = False
            shares[t] = own.any(1).mean() if len(own) else 1.0
        worst = int(np.argmax(shares))
        return worst if shares[worst] > _MAJORITY else None


def residuals_of(found: list[Found], data: FloatArray) -> FloatArray:
    """(m, t) distances of all elements to models that may be of several families."""
    if not found:
        return np.empty((len(data), 0))
    columns = [one.family.residuals(one.fit.params[None], data) for one in found]
    return np.hstack(columns)


def nearest_of(residuals: FloatArray, bands: FloatArray, width: float = 1.0) -> IntArray:
    """(m,) nearest model, in bands, of each element; -1 where none is within this number of its own bands."""
    if not residuals.shape[1]:
        return np.full(len(residuals), -1, np.int64)
    distance = residuals / bands
    best = distance.argmin(1)
    return np.where(distance[np.arange(len(distance)), best] <= width, best, -1).astype(np.int64)


def _band(
    distance: FloatArray, own: BoolArray, free: BoolArray, threshold: float, codimension: float, reach: float
) -> float:
    """The width, from one threshold to as many as the family reaches, up to which labels are most often right.

    Of n elements within r about E are clutter, as dense as around the model: n - 2 E is right less wrong labels.
    """
    if reach <= 1:
        return threshold
    far = reach * threshold
    around = np.count_nonzero(free & (distance > far) & (distance <= _FLANK * far)) + 0.5
    density = around / ((_FLANK * reach) ** codimension - reach**codimension)
    widths = np.linspace(1.0, reach, _STEPS)
    counts = np.count_nonzero(distance[own, None] <= widths * threshold, axis=0)
    return float(threshold * widths[int(np.argmax(counts - 2 * density * widths**codimension))])


def _scale(own: FloatArray, band: float) -> float:
    """Distance that holds nearly all elements of a model."""
    return float(np.quantile(own, _SCALE)) if len(own) else band


def polished(found: list[Found], data: FloatArray) -> list[Found]:
    """The models, refitted to the elements that are nearest to each."""
    if any(one.elements is not None for one in found):
        return found
    for _ in range(_POLISH):
        labels = nearest_of(residuals_of(found, data), np.array([one.fit.threshold for one in found]))
        found = [_refitted(one, one.family.view(data[labels == t])) for t, one in enumerate(found)]
    return found


def _refitted(one: Found, own: FloatArray) -> Found:
    """One model after one step of weighted least squares on elements of its own."""
    if not hasattr(one.family.model, "refit"):
        return one
    params = reweighted(one.family.model, own, one.fit.params, one.fit.core) if len(own) else one.fit.params
    return replace(one, fit=replace(one.fit, params=params))
