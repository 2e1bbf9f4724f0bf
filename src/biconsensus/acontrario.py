"""A-contrario tests: how many models as good as this one would chance alone give?

A model is meaningful when its number of false alarms, the number of tests times the probability that chance puts as
many elements within the threshold, is below epsilon. All probabilities are handled as base-10 logarithms.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc, betaln, gammaln

from biconsensus.errors import InputError
from biconsensus.models.background import uniform_background
from biconsensus.protocols import BoolArray, FloatArray, Model

_TINY = 1e-200
_BLOCK = 1 << 21


def log_binomial_tail(n: ArrayLike, k: ArrayLike, p: ArrayLike) -> FloatArray:
    """Base-10 logarithm of the probability of at least k successes in n trials of probability p.

    Parameters
    ----------
    n, k : int array, shape (...)
        Trials, and successes seen.
    p : float array, shape (...)
        Probability of a success.

    Returns
    -------
    float array, shape (...)
        Finite wherever the probability is not zero, however small it is.

    Notes
    -----
    The tail is the regularised incomplete beta function ``I_p(k, n - k + 1)``. Where that underflows, k is far above
    the mean, and the series of ratios of successive terms converges quickly.

    Examples
    --------
    >>> round(float(log_binomial_tail(10, 10, 0.1)), 6)
    -10.0
    >>> round(float(log_binomial_tail(100_000, 60_000, 0.01)))
    -90949
    """
    trials, hits, chance = np.broadcast_arrays(
        np.asarray(n, np.float64), np.asarray(k, np.float64), np.clip(np.asarray(p, np.float64), 0.0, 1.0)
    )
    certain, impossible = hits <= 0, (hits > trials) | ((chance == 0) & (hits > 0))
    inside = ~(certain | impossible)
    a, b, x = np.where(inside, hits, 1.0), np.where(inside, trials - hits + 1, 1.0), np.where(inside, chance, 0.5)
    tail = betainc(a, b, x)
    result = np.asarray(np.log10(np.maximum(tail, _TINY)))
    far = inside & (tail <= _TINY)
    if far.any():
        result[far] = _log_far_tail(trials[far], hits[far], chance[far])
    return np.asarray(np.where(certain, 0.0, np.where(impossible, -np.inf, result)), np.float64)


def _log_far_tail(n: FloatArray, k: FloatArray, p: FloatArray) -> FloatArray:
    """Log-10 tail far above the mean: the first term times a geometric-like series of ratios."""
    first = k * np.log(p) + (n - k) * np.log1p(-p) - np.log(k) - betaln(k, n - k + 1)
    odds, term, total = p / (1 - p), np.ones_like(p), np.ones_like(p)
    for step in range(100_000):
        term = term * odds * (n - k - step) / (k + step + 1)
        total += term
        if not (term > 1e-12 * total).any():
            break
    return np.asarray((first + np.log(total)) / np.log(10), np.float64)


def log_weighted_tail(weights: FloatArray, held: ArrayLike, p: ArrayLike) -> FloatArray:
    """Base-10 logarithm of a bound on the probability that elements hit by chance weigh at least as much as `held`.

    Parameters
    ----------
    weights : float array, shape (m,)
        Weight of each element, for instance the length of a segment.
    held : float array, shape (k,)
        Total weight of the elements that were hit.
    p : float array, shape (k,)
        Probability that an element is hit.

    Returns
    -------
    float array, shape (k,)

    Notes
    -----
    Chernoff: ``P(sum of w_i H_i >= s) <= exp(-t s) prod(1 + p (exp(t w_i) - 1))`` for every t > 0; the best of a grid
    of t is taken, and p is rounded up to a grid, so that the bound stays a bound.

    Examples
    --------
    >>> bound = log_weighted_tail(np.ones(100), [30.0], [0.1])
    >>> bool(log_binomial_tail(100, 30, 0.1) <= bound[0] < -6)
    True
    """
    heaviest = float(weights.max())
    unit = weights / heaviest
    share, chance = np.atleast_1d(np.asarray(held, np.float64)) / heaviest, np.atleast_1d(np.asarray(p, np.float64))
    tilt = np.concatenate([[0.0], np.geomspace(1e-2, 20.0, 48)])
    grid = np.unique(np.append(np.geomspace(max(chance.min(), 1e-12), max(chance.max(), 2e-12), 64), chance.max()))
    growth = np.expm1(np.outer(tilt, unit))
    moments = np.stack([np.log1p(level * growth).sum(1) for level in grid])
    level_of = np.minimum(np.searchsorted(grid, chance), grid.size - 1)
    bound = (moments[level_of] - np.outer(share, tilt)).min(1)
    return np.asarray(bound / np.log(10), np.float64)


def log_tests(
    n_elements: int, sample_size: int, n_hypotheses: int, n_thresholds: int = 1, rule: str = "sampled"
) -> float:
    """Base-10 logarithm of the number of tests.

    Parameters
    ----------
    n_elements, sample_size : int
        Elements, and elements in a minimal sample.
    n_hypotheses : int
        Hypotheses that were looked at.
    n_thresholds : int, default 1
        Thresholds tried on each hypothesis.
    rule : {"sampled", "combinatorial"}
        Count the hypotheses, or every minimal sample there is (the paper).

    Returns
    -------
    float

    Examples
    --------
    >>> round(10 ** log_tests(100, 2, 50, n_thresholds=4))
    200
    >>> round(10 ** log_tests(100, 2, 50, rule="combinatorial"))
    4950
    """
    if rule not in ("sampled", "combinatorial"):
        raise InputError(f"rule must be 'sampled' or 'combinatorial', got {rule!r}.")
    log_count = np.log(max(n_hypotheses, 1))
    if rule == "combinatorial":
        log_count = gammaln(n_elements + 1) - gammaln(sample_size + 1) - gammaln(n_elements - sample_size + 1)
    return float((log_count + np.log(n_thresholds)) / np.log(10))


@dataclass(frozen=True)
class Background:
    """What chance does: points of the background, and how often a model would be hit by them."""

    points: FloatArray
    """(q, d) quasi-random elements under the background."""
    box: FloatArray
    """(2, d) lower and upper corner of the data."""
    rule: str = "background"
    """Where hit probabilities come from: background points, the paper's closed forms, or the matrix itself."""
    density: float = 1.0
    """Share of ones in the preference matrix, for the rule "empirical"."""

    @classmethod
    def of(cls, model: Model, data: FloatArray, n_points: int, rng: np.random.Generator, rule: str) -> Background:
        """Background of the data: as the model says, or uniform in the bounding box."""
        box = np.stack([data.min(0), data.max(0)])
        if hasattr(model, "background_like"):
            points = model.background_like(data, n_points, rng)
        elif hasattr(model, "background"):
            points = model.background(box, n_points, rng)
        else:
            points = uniform_background(box, n_points, rng)
        return cls(np.asarray(points, np.float64), box, rule)

    def outside(self, hits: BoolArray) -> Background:
        """The background where nothing has been found yet."""
        return replace(self, points=self.points[~hits])

    def hits(self, model: Model, params: FloatArray, thresholds: FloatArray) -> BoolArray:
        """(q, k) which background points fall within the threshold of each of k models."""
        return np.asarray(model.residuals(params, self.points) <= thresholds, bool)

    def probability(self, model: Model, params: FloatArray, thresholds: FloatArray) -> FloatArray:
        """(k,) probability that chance puts an element within the threshold of each of k models."""
        return HIT_RULES[self.rule](self, model, params, thresholds)


def _measured(chance: Background, model: Model, params: FloatArray, thresholds: FloatArray) -> FloatArray:
    """Share of background points within the threshold; one more than counted, so that it is never zero."""
    n_points, step = len(chance.points), max(1, _BLOCK // len(chance.points))
    counts = [
        chance.hits(model, params[i : i + step], thresholds[i : i + step]).sum(0) for i in range(0, len(params), step)
    ]
    return np.asarray((np.concatenate([np.empty(0), *counts]) + 1) / (n_points + 1), np.float64)


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
    return np.full(len(params), chance.density)


HitRule = Callable[[Background, Model, FloatArray, FloatArray], FloatArray]
HIT_RULES: dict[str, HitRule] = {"background": _measured, "paper": _closed_form, "empirical": _density}
