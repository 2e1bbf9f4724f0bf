"""Bounds on what a model may look like: its radius, its length, the part of a closed curve that elements cover."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from biconsensus.errors import InputError
from biconsensus.protocols import FloatArray, Model

_CHANCE = 0.01
"""A gap between neighbours is a true one if chance leaves one as long in less than this part of all curves."""


def check_bounds(bounds: Mapping[str, tuple[float, float]], models: Iterable[Model]) -> None:
    """Bounds are pairs of numbers, on measures that at least one of the models has."""
    known = sorted({name for model in models for name in measures_of(model)})
    for name, pair in bounds.items():
        if name not in known:
            others = f"they have {', '.join(known)}" if known else "no bound applies to them"
            raise InputError(f"bounds names {name!r}, which none of the models has: {others}.")
        low, high = (np.nan, np.nan) if np.shape(pair) != (2,) else (float(pair[0]), float(pair[1]))
        if not low <= high:
            raise InputError(f"bounds[{name!r}] must be a pair (lowest, highest), got {pair!r}.")


def measures_of(model: Any) -> tuple[str, ...]:
    """Names of what can be bounded: measures of the parameters, and the coverage of closed curves."""
    return (*getattr(model, "measures", ()), *(("coverage",) if hasattr(model, "around") else ()))


def coverage(places: FloatArray) -> float:
    """Part of a closed curve that its elements cover, without the gaps that are longer than chance leaves.

    Parameters
    ----------
    places : (n,) array
        Where each element lies on the curve, as a share of its length.

    Returns
    -------
    float
        From 0 to 1.

    Notes
    -----
    Gaps between neighbours of n elements that are spread evenly over a part c of the curve are exponential with mean
    c / n, and the longest exceeds x with a probability of at most n exp(-x n / c). The median gap, c log(2) / n, tells
    c / n, whatever few elements of clutter lie elsewhere.

    Examples
    --------
    >>> coverage(np.linspace(0, 0.5, 40))
    0.5
    >>> coverage(np.append(np.linspace(0, 0.5, 40), 0.75))
    0.5
    >>> coverage(np.linspace(0, 1, 40))
    1.0
    """
    if len(places) < 2:
        return 0.0
    order = np.sort(places % 1.0)
    gaps = np.append(np.diff(order), order[0] + 1.0 - order[-1])
    longest = np.log(len(gaps) / _CHANCE) * np.median(gaps) / np.log(2)
    return float(1.0 - gaps[gaps > longest].sum())


@dataclass(frozen=True)
class Bounded:
    """A model whose fits outside of the bounds are degenerate; everything else is asked of the model itself.

    The coverage is no property of the parameters: `covered` looks at the elements of a model.
    """

    model: Any
    bounds: tuple[tuple[str, float, float], ...]
    """Name, smallest and largest value of what the parameters tell."""
    coverage: tuple[float, float] | None = None
    """Smallest and largest part of a closed curve that elements must cover."""

    @classmethod
    def of(cls, model: Any, bounds: Mapping[str, tuple[float, float]]) -> Any:
        """The model with the bounds that concern it; the model itself where there are none."""
        own = {name: (float(bounds[name][0]), float(bounds[name][1])) for name in measures_of(model) if name in bounds}
        arc = own.pop("coverage", None)
        return cls(model, tuple((name, *pair) for name, pair in own.items()), arc) if own or arc else model

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

    def covered(self, params: FloatArray, members: FloatArray) -> bool:
        """Whether elements cover as much of one model as they must."""
        if self.coverage is None:
            return True
        low, high = self.coverage
        return bool(low <= coverage(self.model.around(params[None], members)[:, 0]) <= high)

    def residuals(self, params: FloatArray, data: FloatArray) -> FloatArray:
        """Distances (m, k) of the model."""
        return np.asarray(self.model.residuals(params, data), np.float64)

    def refit(self, data: FloatArray, weights: FloatArray) -> FloatArray:
        """Least squares; NaN where the result is outside of the bounds."""
        from biconsensus.models._least_squares import refit

        return np.asarray(self.within(refit(self.model, data, weights)[None])[0], np.float64)
