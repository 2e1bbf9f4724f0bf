"""Least squares for a group of hypotheses: from its elements and from its best hypothesis, to a fixed point."""

from __future__ import annotations

import numpy as np

from biconsensus.acontrario import log_binomial_tail
from biconsensus.estimators.fitting_hypotheses import Trial
from biconsensus.protocols import BoolArray, FloatArray

_REFITS = 10
_RING = -2.0


def refine(
    data: FloatArray, trial: Trial, elements: BoolArray, witness: FloatArray, threshold: float
) -> tuple[FloatArray, float]:
    """Parameters and threshold after least squares, from the group's elements and from its best hypothesis."""
    if not hasattr(trial.model, "refit"):
        return witness, threshold
    within = trial.model.residuals(witness[None], data)[:, 0] <= threshold
    ends = [settle(data, trial, start, threshold) for start in (elements, within)]
    options = [end for end in ends if end is not None] or [(witness, threshold)]
    return min(options, key=lambda option: _score(data, trial, *option))


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
    if len(trial.thresholds) == 1:
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


def _score(data: FloatArray, trial: Trial, params: FloatArray, threshold: float) -> float:
    """Log-10 NFA of one fitted model, less as many elements as determine it."""
    return _nfa(trial.model.residuals(params[None], data), trial, params, threshold)


def _nfa(residuals: FloatArray, trial: Trial, params: FloatArray, threshold: float) -> float:
    """Log-10 NFA of one fitted model from its residuals (m, 1)."""
    chance = trial.chance.probability(trial.model, params[None], np.array([threshold]))
    return float(trial.log_nfa(trial.held(residuals <= threshold, None), chance, trial.chance.size)[0])
