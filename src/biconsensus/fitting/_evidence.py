"""How well a set of models explains the elements, each model at a scale of its own: is one model better than two?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from biconsensus.protocols import BoolArray, FloatArray, IntArray

_TAIL = 4.0
"""Degrees of freedom of Student's law of distances: matches of features and scans have longer tails than Gauss's."""
_STEPS = 6
"""Alternations between the elements of each model and its scale; most sets settle within four."""
_FIRST_SCALE = 0.4
"""Scale that a model starts with, in thresholds: a threshold of 2.5 scales holds nearly all elements of a model."""
_SCALES = (0.05, 1.0)
"""Smallest and largest scale of a model in thresholds: repeated matches have no noise, and would have a scale of 0."""


@dataclass(frozen=True)
class Column:
    """One model as the comparison sees it."""

    distances: FloatArray
    """(m,) distances of the elements."""
    threshold: float
    reach: float
    """Largest distance of an element of the model."""
    codimension: int
    used: float
    """Elements that determine the parameters, and so say nothing for the model."""
    chance: float
    """Part of the background within the reach."""


@dataclass(frozen=True)
class Explained:
    """Elements divided among models and clutter."""

    evidence: float
    """Logarithm of the likelihood against clutter alone, less what the models cost."""
    labels: IntArray
    """(m,) model of each element, -1 for clutter."""
    scales: FloatArray
    """(t,) scale of each model."""


def explained(columns: list[Column], log_tests: float) -> Explained:
    """Divide the elements among models and clutter, so that they are as likely as possible.

    Distances to a model follow Student's law at its own scale, those of clutter are as the background's. A model pays
    for the elements that determine it, for the number of hypotheses it was chosen from, and each element for the name
    of its model: a structure that is cut in two gains by smaller scales less than that, if it is one.
    """
    n = len(columns[0].distances) if columns else 0
    labels, scales = np.full(n, -1), np.array([_FIRST_SCALE * one.threshold for one in columns])
    shares = np.full(len(columns) + 1, 1 / (len(columns) + 1))
    gains = np.empty((n, len(columns)))
    for _ in range(_STEPS if columns else 0):
        for t, one in enumerate(columns):
            gains[:, t] = _gain(one, float(scales[t])) + np.log(shares[t] / shares[-1])
        best = gains.argmax(axis=1)
        labels = np.where(gains[np.arange(n), best] > 0, best, -1)
        scales = np.array([_scale(one, labels == t, scales[t]) for t, one in enumerate(columns)])
        shares = (np.bincount(labels % (len(columns) + 1), minlength=len(columns) + 1) + 1) / (n + len(columns) + 1)
    total = float(n * np.log(shares[-1])) if columns else 0.0
    for t, one in enumerate(columns):
        own = gains[labels == t, t]
        total += float(own.sum() - one.used * max(own.mean(), 0.0) if len(own) else 0.0) - log_tests
    return Explained(total, labels, scales)


def _gain(one: Column, scale: float) -> FloatArray:
    """(m,) logarithm of the density of each element by a model over that of clutter; -inf out of its reach."""
    c = one.codimension
    square = (one.distances / scale) ** 2
    student = gammaln((_TAIL + c) / 2) - gammaln(_TAIL / 2) - c / 2 * np.log(_TAIL * np.pi) - c * np.log(scale)
    student = student - (_TAIL + c) / 2 * np.log1p(square / _TAIL)
    ball = c / 2 * np.log(np.pi) - gammaln(c / 2 + 1) + c * np.log(one.reach)
    return np.where(one.distances <= one.reach, student - np.log(one.chance) + ball, -np.inf)


def _scale(one: Column, own: BoolArray, before: float) -> float:
    """Scale of Student's law of the elements of a model, one step of the usual iteration."""
    distances = one.distances[own]
    if len(distances) <= one.used:
        return before
    weights = (_TAIL + one.codimension) / (_TAIL + (distances / before) ** 2)
    square = float((weights * distances**2).sum() / (len(distances) - one.used) / one.codimension)
    return float(np.clip(np.sqrt(square), *(one.threshold * np.array(_SCALES))))
