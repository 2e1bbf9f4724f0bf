"""Least squares for groups of hypotheses: from their best hypothesis and their elements, to a fixed point."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from biconsensus.fitting._hypotheses import Screened, improved
from biconsensus.protocols import BoolArray, FloatArray, IntArray, Model
from biconsensus.significance._models import NfaTest

_REFITS = 10
"""Most refits on the way to a fixed point; nearly all arrive within five."""
_SHARPENINGS = 3
"""Refits with the narrower weights."""
_STARTS = 2
"""Hypotheses of a group from which a model with batched improvement starts."""
SAME = 0.8
"""Two groups are one if they share this part (Jaccard) of their elements."""


@dataclass(frozen=True)
class Fit:
    """A fitted model."""

    params: FloatArray
    threshold: float
    """Reach of its members."""
    core: float
    """Distance at which elements cease to pull."""


def merged_by_votes(screened: Screened, groups: list[IntArray]) -> tuple[list[IntArray], list[BoolArray]]:
    """Groups whose hypotheses vote for nearly the same elements become one: hypotheses, best first, and elements."""
    kept, elements = list[IntArray](), list[BoolArray]()
    ordered = [columns[np.argsort(screened.log_nfa[columns], kind="stable")] for columns in groups]
    for columns in sorted(ordered, key=lambda one: screened.log_nfa[one[0]]):
        votes = np.asarray((screened.matrix[:, columns] != 0).sum(1)).ravel()
        inside = votes > len(columns) / 2
        same = first_alike(inside, elements)
        if same is None:
            kept, elements = [*kept, columns], [*elements, inside]
        else:
            kept[same] = merged(screened, kept[same], columns)
    return kept, elements


def merged(screened: Screened, first: IntArray, second: IntArray) -> IntArray:
    """Hypotheses of two groups, the most meaningful first."""
    both = np.concatenate([first, second])
    return both[np.argsort(screened.log_nfa[both], kind="stable")]


def first_alike(inside: BoolArray, others: list[BoolArray]) -> int | None:
    """The first of the others that holds nearly the same elements."""
    if not others:
        return None
    table = np.array(others)
    alike = (table & inside).sum(1) >= SAME * np.maximum((table | inside).sum(1), 1)
    return int(np.argmax(alike)) if alike.any() else None


def refine_groups(
    data: FloatArray, test: NfaTest, screened: Screened, groups: list[IntArray], elements: list[BoolArray]
) -> list[Fit]:
    """Fits of all groups: to fixed points of reweighted least squares, the more meaningful end of each, sharpened."""
    model, threshold = test.model, test.threshold
    if not groups or not (hasattr(model, "refit") or hasattr(model, "improve")):
        return [Fit(screened.improved[columns[0]], threshold, threshold) for columns in groups]
    if hasattr(model, "improve"):
        starts = [screened.improved[columns[: min(_STARTS, len(columns))]] for columns in groups]
        owner = np.repeat(np.arange(len(groups)), [len(one) for one in starts])
        ends = improved(data, np.concatenate(starts), threshold, model, _REFITS // 2)
    else:
        owner, ends = _settled(data, test, screened, groups, elements)
    scores, levels = best_levels(data, test, ends)
    best = [int(np.flatnonzero(owner == i)[np.argmin(scores[owner == i])]) for i in range(len(groups))]
    return sharpen(data, model, ends[best], threshold, levels[best])


def _settled(
    data: FloatArray, test: NfaTest, screened: Screened, groups: list[IntArray], elements: list[BoolArray]
) -> tuple[IntArray, FloatArray]:
    """Ends of least squares from the elements of each group, and from what is near its best hypothesis."""
    owner, ends = list[int](), list[FloatArray]()
    for index, (columns, inside) in enumerate(zip(groups, elements)):
        witness = screened.improved[columns[0]]
        within = test.model.residuals(witness[None], data)[:, 0] <= test.threshold
        found = [settle(data, test.model, start, test.threshold) for start in (inside, within)]
        own = [end for end in found if end is not None] or [witness]
        owner += [index] * len(own)
        ends += own
    return np.array(owner), np.array(ends)


def settle(data: FloatArray, model: Model, inside: BoolArray, threshold: float) -> FloatArray | None:
    """Refit on what is within the threshold until that does not change."""
    end, weights = None, np.ones(len(data))
    for _ in range(_REFITS):
        if inside.sum() <= model.sample_size:
            break
        params = np.asarray(model.refit(data[inside], weights[inside]), np.float64)  # type: ignore[attr-defined]
        if not np.isfinite(params).all():
            break
        residuals = model.residuals(params[None], data)[:, 0]
        end, before, inside = params, inside, residuals <= threshold
        weights = biweight(residuals, threshold)
        if np.array_equal(inside, before):
            break
    return end


def best_levels(data: FloatArray, test: NfaTest, params: FloatArray) -> tuple[FloatArray, FloatArray]:
    """(k,) smallest log-10 NFA of fitted models over the thresholds, and where it is."""
    residuals = test.model.residuals(params, data)
    chance = test.chance.probabilities(test.model, params, test.thresholds)
    held = np.array([test.held(residuals <= level, None) for level in test.thresholds])
    scores = test.log_nfa(held.ravel(), chance.ravel(), test.chance.size).reshape(held.shape)
    return scores.min(0), test.thresholds[scores.argmin(0)]


def sharpen(data: FloatArray, model: Model, params: FloatArray, threshold: float, levels: FloatArray) -> list[Fit]:
    """Refit with weights that end at twice the distance at which each model is most meaningful: outliers pull less."""
    cores, params = np.minimum(threshold, 2 * levels), np.array(params)
    if hasattr(model, "improve"):
        for core in np.unique(cores):
            params[cores == core] = improved(data, params[cores == core], float(core), model, _SHARPENINGS)
    else:
        for index, core in enumerate(cores):
            for _ in range(_SHARPENINGS):
                params[index] = reweighted(model, data, params[index], float(core))
    return [Fit(one, threshold, float(core)) for one, core in zip(params, cores)]


def reweighted(model: Model, data: FloatArray, params: FloatArray, core: float) -> FloatArray:
    """One step of weighted least squares; the parameters as they were where too little is near."""
    weights = biweight(model.residuals(params[None], data)[:, 0], core)
    inside = weights > 0
    if inside.sum() <= model.sample_size:
        return params
    fitted = np.asarray(model.refit(data[inside], weights[inside]), np.float64)  # type: ignore[attr-defined]
    return fitted if np.isfinite(fitted).all() else params


def biweight(residuals: FloatArray, threshold: float) -> FloatArray:
    """Tukey's weights: chance spreads elements evenly over the band, so those at its edge should pull least."""
    return np.asarray(np.clip(1 - (residuals / threshold) ** 2, 0.0, None) ** 2, np.float64)
