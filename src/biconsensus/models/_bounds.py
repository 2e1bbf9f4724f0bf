"""Bounds on what a model may look like: its radius, its length, its elongation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from biconsensus.errors import InputError
from biconsensus.protocols import FloatArray, Model


def check_bounds(bounds: Mapping[str, tuple[float, float]], models: Iterable[Model]) -> None:
    """Bounds are pairs of numbers, on measures that at least one of the models has."""
    known = sorted({name for model in models for name in measures_of(model)})
    for name, pair in bounds.items():
        if name not in known:
            raise InputError(f"bounds names {name!r}, which none of the models has; known: {known}.")
        low, high = (np.nan, np.nan) if np.shape(pair) != (2,) else (float(pair[0]), float(pair[1]))
        if not low <= high:
            raise InputError(f"bounds[{name!r}] must be a pair (lowest, highest), got {pair!r}.")


def measures_of(model: Any) -> tuple[str, ...]:
    """Names of what can be bounded."""
    return tuple(getattr(model, "measures", ()))


@dataclass(frozen=True)
class Bounded:
    """A model whose fits outside of the bounds are degenerate; everything else is asked of the model itself."""

    model: Any
    bounds: tuple[tuple[str, float, float], ...]

    @classmethod
    def of(cls, model: Any, bounds: Mapping[str, tuple[float, float]]) -> Any:
        """The model with the bounds that concern it; the model itself where there are none."""
        own = tuple(
            (name, float(bounds[name][0]), float(bounds[name][1])) for name in measures_of(model) if name in bounds
        )
        return cls(model, own) if own else model

    def __getattr__(self, name: str) -> Any:
        """Whatever else the model offers."""
        if name.startswith("__") or name == "model":
            raise AttributeError(name)
        return getattr(self.model, name)

    def fit(self, samples: FloatArray) -> FloatArray:
        """Parameters of minimal samples; NaN outside of the bounds."""
        return self.within(self.model.fit(samples))

    def within(self, params: FloatArray) -> FloatArray:
        """Parameters (k, p), NaN where a bound is not kept."""
        kept = np.ones(len(params), bool)
        for name, low, high in self.bounds:
            value = self.model.measure(name, params)
            with np.errstate(invalid="ignore"):
                kept &= (value >= low) & (value <= high)
        return np.where(kept[:, None], params, np.nan)

    def residuals(self, params: FloatArray, data: FloatArray) -> FloatArray:
        """Distances (m, k) of the model."""
        return np.asarray(self.model.residuals(params, data), np.float64)

    def refit(self, data: FloatArray, weights: FloatArray) -> FloatArray:
        """Least squares; NaN where the result is outside of the bounds."""
        from biconsensus.models._least_squares import refit

        return np.asarray(self.within(refit(self.model, data, weights)[None])[0], np.float64)
