"""Least squares for a group of hypotheses: from its elements and from its best hypothesis, to a fixed point."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from biconsensus.fitting._hypotheses import Trial
from biconsensus.protocols import BoolArray, FloatArray, Model
from biconsensus.significance._models import log_binomial_tail

_REFITS = 10
_SHARPENINGS = 3
_RING = -2.0


def refine(data: FloatArray, trial: Trial, elements: BoolArray, witness: FloatArray, threshold: float) -> Fit:
    """Least squares, from the group's elements and from its best hypothesis; the more meaningful end, sharpened."""
    if not hasattr(trial.model, "refit"):
        return Fit(witness, threshold, threshold)
    within = trial.model.residuals(witness[None], data)[:, 0] <= threshold
    ends = [settle(data, trial, start, threshold) for start in (elements, within)]
    options = [end for end in ends if end is not None] or [(witness, threshold)]
    levels = [_best_level(data, trial, *option) for option in options]
    best = min(range(len(options)), key=lambda i: levels[i][0])
    return sharpen(data, trial, *options[best], levels[best][1])


@dataclass(frozen=True)
class Fit:
    """A fitted model."""

    params: FloatArray
    threshold: float
    """Reach of its members."""
    core: float
    """Distance at which elements cease to pull."""


def sharpen(data: FloatArray, trial: Trial, params: FloatArray, threshold: float, level: float) -> Fit:
    """Refit with weights that end at twice the distance at which the model is most meaningful: outliers pull less."""
    core = min(threshold, 2 * level)
    for _ in range(_SHARPENINGS):
        params = reweighted(trial.model, data, params, core)
    return Fit(params, threshold, core)


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


def settle(data: FloatArray, trial: Trial, inside: BoolArray, threshold: float) -> tuple[FloatArray, float] | None:
    """Refit on what is within the threshold until that does not change."""
    end, weights = None, np.ones(len(data))
    for _ in range(_REFITS):
        if inside.sum() <= trial.model.sample_size:
            break
        params = np.asarray(trial.model.refit(data[inside], weights[inside]), np.float64)  # type: ignore[attr-defined]
        if not np.isfinite(params).all():
            break
        residuals = trial.model.residuals(params[None], data)
        threshold = _best_threshold(residuals, trial, params, threshold)
        end, before, inside = (params, threshold), inside, residuals[:, 0] <= threshold
        weights = biweight(residuals[:, 0], threshold)
        if np.array_equal(inside, before):
            break
    return end


def _best_threshold(residuals: FloatArray, trial: Trial, params: FloatArray, threshold: float) -> float:
    """The threshold, among those that count as tests, at which the model is most meaningful."""
    if trial.reach is not None:
        return threshold
    scores = [_nfa(residuals, trial, params, float(t)) for t in trial.thresholds]
    return _widened(residuals, trial, params, int(np.argmin(scores)))


def _widened(residuals: FloatArray, trial: Trial, params: FloatArray, index: int) -> float:
    """The band is most meaningful where it is narrow; it ends where chance alone explains the next ring."""
    repeated = np.repeat(params[None], len(trial.thresholds), axis=0)
    chance = trial.chance.probability(trial.model, repeated, trial.thresholds)
    counts = (residuals <= trial.thresholds).sum(0)
    while index + 1 < len(trial.thresholds):
        outside, ring = len(residuals) - counts[index], counts[index + 1] - counts[index]
        share = (chance[index + 1] - chance[index]) / max(1 - chance[index], 1e-12)
        if not log_binomial_tail(outside, ring, share) < _RING:
            break
        index += 1
    return float(trial.thresholds[index])


def _best_level(data: FloatArray, trial: Trial, params: FloatArray, threshold: float) -> tuple[float, float]:
    """Smallest log-10 NFA of one fitted model at the thresholds up to its own, and where it is."""
    residuals = trial.model.residuals(params[None], data)
    levels = [*trial.thresholds[trial.thresholds < threshold], threshold]
    return min((_nfa(residuals, trial, params, float(level)), float(level)) for level in levels)


def _nfa(residuals: FloatArray, trial: Trial, params: FloatArray, threshold: float) -> float:
    """Log-10 NFA of one fitted model from its residuals (m, 1)."""
    chance = trial.chance.probability(trial.model, params[None], np.array([threshold]))
    return float(trial.log_nfa(trial.held(residuals <= threshold, None), chance, trial.chance.size)[0])
