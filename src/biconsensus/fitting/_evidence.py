"""How well a set of models explains the elements, each model at a scale of its own: is one model better than two?"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.spatial import cKDTree
from scipy.special import fdtri, gammaln

from biconsensus.protocols import BoolArray, FloatArray, IntArray

_TAIL = 4.0
"""Degrees of freedom of Student's law of distances: matches of features and scans have longer tails than Gauss's."""
_STEPS = 6
"""Alternations between the elements of each model and its scale; most sets settle within four."""
_FIRST_SCALE = 0.4
"""Scale that a model starts with, in thresholds: a threshold of 2.5 scales holds nearly all elements of a model."""
_SMALLEST_SCALE = 0.05
"""Smallest scale of a model in thresholds: repeated matches have no noise, and would have a scale of 0."""
_WITHIN = 2 / 3
"""Part of a model's elements within the threshold at its largest scale: looser models are made of clutter."""
_NEIGHBOURS = 12
"""Neighbours that say which model an element belongs to: six on average come before it, as in a triangulation."""


@dataclass(frozen=True)
class Neighbours:
    """Which elements lie near each other: a surface is in one place, so an element mostly belongs where they belong."""

    around: IntArray
    """(m, k) nearest elements of each."""
    before: IntArray
    """(m, k) neighbours that come before the element in some order, -1 for the others: its label depends on theirs."""
    shifts: FloatArray | None = None
    """(m, d) how far each element moved, for models that say where an element moves: clutter can move together, too."""

    @classmethod
    def of(cls, places: FloatArray, shifts: FloatArray | None = None) -> Neighbours:
        """Neighbours of elements at places (m, d), told in a random order that is always the same."""
        m, k = len(places), min(_NEIGHBOURS, len(places) - 1)
        around = cKDTree(places).query(places, k + 1)[1].reshape(m, k + 1)[:, 1:]
        rank = np.random.default_rng(0).permutation(m)
        return cls(around, np.where(rank[around] < rank[:, None], around, -1), shifts)


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

    @cached_property
    def near(self) -> IntArray:
        """Elements within the reach, the only ones that can be of the model."""
        return np.flatnonzero(self.distances <= self.reach)

    @cached_property
    def largest_scale(self) -> float:
        """The largest scale that the model may have."""
        # squared distances over c and the squared scale follow the law F of c and the degrees of freedom of Student's
        widest = 1 / np.sqrt(self.codimension * fdtri(self.codimension, _TAIL, _WITHIN))
        return float(widest * self.threshold)


@dataclass(frozen=True)
class Explained:
    """Elements divided among models and clutter."""

    evidence: float
    """Logarithm of the likelihood against clutter alone, less what the models cost."""
    labels: IntArray
    """(m,) model of each element, -1 for clutter."""
    scales: FloatArray
    """(t,) scale of each model."""
    gains: FloatArray
    """(m,) logarithm of the density of each element by its model over that of clutter; 0 for clutter."""
    loose: BoolArray
    """(t,) models whose likeliest scale is larger than they may have, so that they got the largest."""


def explained(columns: list[Column], log_tests: float, near: Neighbours | None = None) -> Explained:
    """Divide the elements among models and clutter, so that they are as likely as possible.

    Distances to a model follow Student's law at its own scale, those of clutter are as the background's. A model pays
    for the elements that determine it, for the number of hypotheses it was chosen from, and each element for the name
    of its model: a structure that is cut in two gains by smaller scales less than that, if it is one. A name costs
    little where the neighbours have it. Where it is known how far elements moved, a model is compared with clutter that
    moves as its neighbours do.
    """
    n, k = len(columns[0].distances) if columns else 0, len(columns)
    if not columns:
        return Explained(0.0, np.empty(0, np.int64), np.empty(0), np.empty(0), np.empty(0, bool))
    scales = np.array([_FIRST_SCALE * one.threshold for one in columns])
    names, gains = np.full((n, k + 1), -np.log(k + 1)), np.zeros((n, k + 1))
    for _ in range(_STEPS):
        for t, one in enumerate(columns):
            gains[:, t] = gain(one, float(scales[t]))
        labels = (gains + names).argmax(axis=1)
        scales = np.array([_scale(one, labels == t, scales[t]) for t, one in enumerate(columns)])
        shares = (np.bincount(labels, minlength=k + 1) + 1) / (n + k + 1)
        names = _log_names(labels, shares, None if near is None else near.around)
    labels = (gains + names).argmax(axis=1)
    cost = _log_names(labels, shares, None if near is None else near.before)
    chosen = np.take_along_axis(gains, labels[:, None], axis=1)[:, 0]
    total = float(chosen.sum() + np.take_along_axis(cost, labels[:, None], axis=1).sum())
    for t, one in enumerate(columns):
        own = chosen[labels == t]
        total -= (one.used * max(float(own.mean()), 0.0) if len(own) else 0.0) + log_tests
        if near is not None and near.shifts is not None and len(own) > one.used:
            # the elements that determine a model say nothing against it, either
            total -= (1 - one.used / len(own)) * _moved_together(one, labels == t, near, near.shifts)
    loose = scales == [one.largest_scale for one in columns]
    return Explained(total, np.where(labels == k, -1, labels), scales, chosen, loose)


def _moved_together(one: Column, own: BoolArray, near: Neighbours, shifts: FloatArray) -> float:
    """Logarithm of the likelihood of a model's elements as clutter that moves together, against that of chance.

    An element follows one of its neighbours in the model that come before it, by Student's law at the scale of the
    reach of the model, or none of them, with equal probability.
    """
    chosen = np.flatnonzero(own)
    before = near.before[chosen]
    theirs = (before >= 0) & own[before]
    squares = ((shifts[chosen, None] - shifts[before]) ** 2).sum(axis=2)
    density = np.where(theirs, np.exp(_log_student(squares / one.reach**2, one.codimension, one.reach)), 0.0)
    ratio = density.sum(axis=1) / np.maximum(theirs.sum(axis=1), 1) * np.exp(-_log_clutter(one))
    followed = theirs.any(axis=1)
    return max(float(np.log((1 + ratio[followed]) / 2).sum()), 0.0)


def _log_names(labels: IntArray, shares: FloatArray, near: IntArray | None) -> FloatArray:
    """(m, t + 1) logarithm of the share of each model, the last being clutter: of all elements, or around each.

    Neighbours are counted together with one element more that is divided as all elements are.
    """
    if near is None:
        return np.tile(np.log(shares), (len(labels), 1))
    m, width = len(labels), len(shares) + 1
    # the last column counts what is no neighbour, which -1 points to
    cells = np.append(labels, width - 1)[near] + width * np.arange(m)[:, None]
    counts = np.bincount(cells.ravel(), minlength=m * width).reshape(m, width)[:, :-1]
    return np.asarray(np.log((counts + shares) / (counts.sum(axis=1, keepdims=True) + 1)), np.float64)


def student_weights(distances: FloatArray, codimension: int, scale: float) -> FloatArray:
    """(m,) weights with which least squares is the likeliest fit under Student's law."""
    return np.asarray((_TAIL + codimension) / (_TAIL + (distances / scale) ** 2), np.float64)


def gain(one: Column, scale: float) -> FloatArray:
    """(m,) logarithm of the density of each element by a model over that of clutter; -inf out of its reach."""
    gains = np.full(len(one.distances), -np.inf)
    squares = (one.distances[one.near] / scale) ** 2
    gains[one.near] = _log_student(squares, one.codimension, scale) - _log_clutter(one)
    return gains


def _log_student(squares: FloatArray, c: int, scale: float) -> FloatArray:
    """Logarithm of the density of Student's law in c dimensions, at squared distances in scales."""
    peak = gammaln((_TAIL + c) / 2) - gammaln(_TAIL / 2) - c / 2 * np.log(_TAIL * np.pi) - c * np.log(scale)
    return np.asarray(peak - (_TAIL + c) / 2 * np.log1p(squares / _TAIL), np.float64)


def _log_clutter(one: Column) -> float:
    """Logarithm of the density of clutter around a model."""
    c = one.codimension
    ball = c / 2 * np.log(np.pi) - gammaln(c / 2 + 1) + c * np.log(one.reach)
    return float(np.log(one.chance) - ball)


def _scale(one: Column, own: BoolArray, before: float) -> float:
    """Scale of Student's law of the elements of a model, one step of the usual iteration."""
    distances = one.distances[own]
    if len(distances) <= one.used:
        return before
    weights = student_weights(distances, one.codimension, before)
    square = float((weights * distances**2).sum() / (len(distances) - one.used) / one.codimension)
    return float(np.clip(np.sqrt(square), _SMALLEST_SCALE * one.threshold, one.largest_scale))
