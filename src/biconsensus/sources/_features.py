"""What the default clusterings see of a table: its columns in one unit, and of very many columns the components."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biconsensus.protocols import FloatArray
from biconsensus.significance._components import COMPONENTS, principal_axes
from biconsensus.sources._running import Grouping, NamedSource

SAME_UNIT = 4.0
"""Ratio of the outer quartiles of the features' ranges up to which they are taken to share a unit."""
FEW_FEATURES = 4
"""Features up to which the smallest and the largest range are compared: of so few, quartiles lie between ranges."""
SAME_UNIT_OF_FEW = 10.0
"""Ratio of the ranges of few features up to which they share a unit: a map may be several times as wide as it is high,
but an order of magnitude is another unit."""
OUTWEIGHS = 5.0
"""Range of a column, in ranges of the typical one, from which on it has most of every distance."""
ROWS_OF_AXES = 20_000
"""Rows from which components are found; a random part of more, so that the time is bounded."""


def share_a_unit(X: FloatArray) -> bool:
    """Whether the ranges of the features are alike enough to be compared without scaling."""
    ranges = np.ptp(X, axis=0)
    ranges = ranges[ranges > 0]
    if ranges.size == 0:
        return True
    if ranges.size <= FEW_FEATURES:
        return bool(ranges.max() <= SAME_UNIT_OF_FEW * ranges.min())
    low, high = np.percentile(ranges, [25, 75])
    return bool(high <= SAME_UNIT * low)


def outweighing(X: FloatArray) -> tuple[int, float] | None:
    """A column that decides nearly everything because columns were not standardised; its range in typical ranges."""
    ranges = np.ptp(X, axis=0)
    if not ranges.any() or not share_a_unit(X):
        return None
    widest, typical = int(np.argmax(ranges)), float(np.median(ranges[ranges > 0]))
    return (widest, float(ranges[widest] / typical)) if ranges[widest] >= OUTWEIGHS * typical else None


def in_one_unit(X: FloatArray) -> FloatArray:
    """The data with columns that can be compared: standardised unless the features seem to share a unit."""
    if share_a_unit(X):
        return X
    deviation = X.std(axis=0)
    scaled: FloatArray = (X - X.mean(axis=0)) / np.where(deviation > 0, deviation, 1.0)
    return scaled


@dataclass(frozen=True)
class Features:
    """A linear map from the columns of a table to what the default clusterings see.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> Features.of(X).apply(X) is X
    True
    >>> many = np.random.default_rng(0).normal(size=(200, 100))
    >>> Features.of(many).apply(many).shape
    (200, 30)
    """

    centre: FloatArray | None = None
    """(d,) what is subtracted; None where columns are taken as they are."""
    scale: FloatArray | None = None
    """(d,) what columns are divided by; None where they share a unit."""
    axes: FloatArray | None = None
    """(d, n) principal axes; None where there are few columns."""

    @classmethod
    def of(cls, X: FloatArray) -> Features:
        """What suits a table (m, d)."""
        alike, few = share_a_unit(X), X.shape[1] <= COMPONENTS
        if alike and few:
            return cls()
        centre, scale = X.mean(axis=0), None
        if not alike:
            deviation = X.std(axis=0)
            scale = np.where(deviation > 0, deviation, 1.0)
        if few:
            return cls(centre, scale)
        drawn = X
        if len(X) > ROWS_OF_AXES:
            drawn = X[np.sort(np.random.default_rng(0).choice(len(X), ROWS_OF_AXES, replace=False))]
        axes = principal_axes(cls(centre, scale).apply(drawn))
        return cls(centre, scale, axes) if axes.size else cls()

    def apply(self, X: FloatArray) -> FloatArray:
        """(p, n) features of rows (p, d); the rows themselves where nothing changes."""
        seen = X if self.centre is None else X - self.centre
        seen = seen if self.scale is None else seen / self.scale
        return seen if self.axes is None else np.ascontiguousarray(seen @ self.axes)

    def source(self, source: NamedSource) -> NamedSource:
        """The same base clustering on features instead of columns."""
        return source if self.centre is None else replace(source, run=_OnFeatures(source.run, self))


@dataclass(frozen=True)
class _OnFeatures:
    """Runs a base clustering on features; what it predicts of new rows, too."""

    run: Callable[[Any, int], Grouping]
    features: Features

    def __call__(self, data: Any, seed: int) -> Grouping:
        """Labels of the rows of the data (m, d)."""
        found = self.run(self.features.apply(data), seed)
        predictor = None if found.predictor is None else _FeaturePredictor(found.predictor, self.features)
        return Grouping(found.labels, predictor)


@dataclass(frozen=True)
class _FeaturePredictor:
    """A fitted base clustering that sees features of new rows."""

    predictor: Any
    features: Features

    def predict(self, X: FloatArray) -> NDArray[Any]:
        """Labels of new rows (p, d)."""
        return np.asarray(self.predictor.predict(self.features.apply(X)))
