"""Models against chance: the background of the data, and how many models as good as this one it would give.

A model is meaningful when its number of false alarms, the number of tests times the probability that chance puts as
many elements within the threshold, is below epsilon. All probabilities are handled as base-10 logarithms.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial import cKDTree
from scipy.special import betainc, betaln, gammainc, gammaln

from biconsensus.errors import InputError
from biconsensus.models._background import uniform_background
from biconsensus.protocols import BoolArray, FloatArray, IntArray, Model

_BLOCK = 1 << 21
"""Residuals held at a time: 16 MB."""
_NARROW = 32
"""Widest table whose hits are counted column by column: up to there that is faster than row by row."""
_NEIGHBOURS, _SHARE = 10, 0.1
"""The density around an element is measured on its neighbours: this share of all elements, at least this number."""
_SMOOTHING = 2.0
"""Smallest width, in thresholds, over which the density is smoothed: what is narrower than that is a structure."""
_TINY = 1e-200
"""Tail below which the incomplete beta function may underflow, so that a series takes over."""
_TERMS = 32
"""Terms of the hypergeometric series that are added at a time: most tails need no more."""
_TILTS = np.geomspace(1e-2, 1e5, 128)
"""Tilts at which Chernoff's bound is tried, an eighth of an e-fold apart, which loses at most 0.001 decades a hit."""
_ONE_SIGMA = 0.6827
"""Part of all numbers that a normal law has within one standard deviation."""
_CLUMPED = 64
"""Models of chance that must be hit once or more, on average, before clumps are measured on them."""


def bounding_box(data: FloatArray) -> FloatArray:
    """(2, d) lower and upper corner; a constant column, which is no noise but a structure, gets the longest side."""
    low, high = data.min(0), data.max(0)
    longest = float((high - low).max())
    flat = high - low <= 1e-9 * longest
    return np.stack([np.where(flat, low - longest / 2, low), np.where(flat, high + longest / 2, high)])


def smoothed(
    data: FloatArray, n: int, threshold: float, rng: np.random.Generator, width: int | None = None
) -> FloatArray:
    """(n, d) points with the local density of the data, blurred over a width that hides thin structures.

    Each is an element moved by a Gaussian step as wide as the ball of its neighbours, at least two thresholds: crowds
    stay crowds, lines and surfaces are blurred. Steps out of the bounding box are reflected. Only the first
    `width` columns are places; the others, such as normals, are kept.
    """
    places = data[:, :width]
    near = min(max(_NEIGHBOURS, round(_SHARE * len(places))), len(places) - 1)
    spread = cKDTree(places).query(places, [near + 1])[0][:, 0] if near else np.zeros(len(places))
    chosen = rng.permutation(np.arange(n) % len(places))
    # a ball of that radius has this standard deviation along every axis
    step = np.maximum(spread / np.sqrt(places.shape[1] + 2), _SMOOTHING * threshold)[chosen, None]
    points = places[chosen] + step * rng.normal(size=(n, places.shape[1]))
    low, high = bounding_box(places)
    side = np.maximum(high - low, np.finfo(float).tiny)
    folded = np.mod(points - low, 2 * side)
    return np.hstack([low + np.minimum(folded, 2 * side - folded), data[chosen, places.shape[1] :]])


def count_hits(hits: BoolArray) -> IntArray:
    """(k,) number of ones in each column of a table (m, k)."""
    if hits.shape[1] <= _NARROW:
        return np.array([np.count_nonzero(column) for column in hits.T], np.int64)
    counts = np.zeros(hits.shape[1], np.int64)
    # bytes add up fastest, and 255 of them cannot overflow
    for start in range(0, len(hits), 255):
        counts += np.add.reduce(hits[start : start + 255].view(np.uint8), axis=0, dtype=np.uint8)
    return counts


def count_within(model: Model, params: FloatArray, data: FloatArray, levels: FloatArray) -> IntArray:
    """(t, k) elements within each of t distances of k models."""
    if hasattr(model, "close"):
        _, which, distances = model.close(params, data, float(levels.max()))
        return np.array([np.bincount(which[distances <= level], minlength=len(params)) for level in levels])
    residuals = model.residuals(params, data)
    return np.array([count_hits(residuals <= level) for level in levels])


@dataclass(frozen=True)
class Background:
    """What chance does: points of the background, and how often a model would be hit by them."""

    points: FloatArray
    """(q, d) random elements under the background."""
    box: FloatArray
    """(2, d) lower and upper corner of the data."""
    rule: str = "background"
    """Where hit probabilities come from: background points, the paper's closed forms, or the matrix itself."""
    levels: FloatArray | None = None
    """(t,) thresholds for which the rule "empirical" has a density."""
    densities: FloatArray | None = None
    """(t,) share of ones in the preference matrix at each."""

    @classmethod
    def of(
        cls,
        model: Model,
        data: FloatArray,
        n_points: int,
        rng: np.random.Generator,
        rule: str = "background",
        threshold: float | None = None,
    ) -> Background:
        """Background of the data: as the model says; else their own density; without a threshold uniform in the box."""
        box = bounding_box(data)
        if hasattr(model, "background_like"):
            points = model.background_like(data, n_points, rng)
        elif threshold is not None and rule == "background":
            points = smoothed(data, n_points, threshold, rng, getattr(model, "n_places", None))
        elif hasattr(model, "background"):
            points = model.background(box, n_points, rng)
        else:
            points = uniform_background(box, n_points, rng)
        return cls(np.asarray(points, np.float64), box, rule)

    def outside(self, hits: BoolArray) -> Background:
        """The background where nothing has been found yet."""
        return replace(self, points=self.points[~hits])

    @property
    def size(self) -> float:
        """Background points behind a hit probability; infinite where it is not measured."""
        return len(self.points) if self.rule == "background" else np.inf

    def hits(self, model: Model, params: FloatArray, thresholds: FloatArray) -> BoolArray:
        """(q, k) which background points fall within the threshold of each of k models."""
        return np.asarray(model.residuals(params, self.points) <= thresholds, bool)

    def shares(self, model: Model, params: FloatArray, levels: FloatArray, n_points: int | None = None) -> FloatArray:
        """(t, k) share of the (first) background points within each of t thresholds of k models."""
        points = self.points[:n_points]
        step, counts = max(1, _BLOCK // max(len(points), 1)), np.zeros((len(levels), len(params)))
        for start in range(0, len(params), step):
            counts[:, start : start + step] = count_within(model, params[start : start + step], points, levels)
        return counts / max(len(points), 1)

    def probabilities(self, model: Model, params: FloatArray, levels: FloatArray) -> FloatArray:
        """(t, k) hit probabilities at each of t thresholds of k models."""
        if self.rule == "background":
            return self.shares(model, params, levels)
        return np.array([self.probability(model, params, np.full(len(params), level)) for level in levels])

    def probability(self, model: Model, params: FloatArray, thresholds: FloatArray) -> FloatArray:
        """(k,) probability that chance puts an element within the threshold of each of k models."""
        return HIT_RULES[self.rule](self, model, params, thresholds)


def _measured(chance: Background, model: Model, params: FloatArray, thresholds: FloatArray) -> FloatArray:
    """Share of background points within the threshold."""
    step = max(1, _BLOCK // max(len(chance.points), 1))
    counts = [
        count_hits(chance.hits(model, params[i : i + step], thresholds[i : i + step]))
        for i in range(0, len(params), step)
    ]
    return np.asarray(np.concatenate([np.empty(0), *counts]) / max(len(chance.points), 1), np.float64)


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
    levels, densities = (np.zeros(1) if one is None else one for one in (chance.levels, chance.densities))
    return np.asarray(np.interp(thresholds, levels, densities), np.float64)


HitRule = Callable[[Background, Model, FloatArray, FloatArray], FloatArray]
HIT_RULES: dict[str, HitRule] = {"background": _measured, "paper": _closed_form, "empirical": _density}


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


def log_excess_tail(n: ArrayLike, k: ArrayLike, n_background: ArrayLike, hits: ArrayLike) -> FloatArray:
    """Base-10 logarithm of the probability that chance alone gives the elements as many hits as they have.

    Parameters
    ----------
    n, k : int array, shape (...)
        Elements, and how many of them were hit.
    n_background, hits : int array, shape (...)
        Background points, and how many of them were hit.

    Returns
    -------
    float array, shape (...)
        Zero where the elements have no more than their share.

    Notes
    -----
    If elements and background points are alike, all placings of the k + h hits among the n + q points are equally
    likely, so the number among the elements is hypergeometric. That holds for any number q of background points: the
    error of a measured hit probability is part of the test, and a search for the hypothesis that profits most from it
    is covered. With many background points it is the binomial tail.

    Examples
    --------
    >>> exact = log_binomial_tail(500, 40, 0.03)
    >>> tails = log_excess_tail(500, 40, [1_000, 100_000], [30, 3_000])
    >>> bool(exact < tails[1] < tails[0])
    True
    """
    n, k, q, h = np.broadcast_arrays(*(np.asarray(value, np.float64) for value in (n, k, n_background, hits)))
    above = (k > 0) & (k <= n) & (k * q > h * n)
    result = np.asarray(np.where(k > n, -np.inf, 0.0))
    if above.any():
        result[above] = _log_hypergeometric(n[above], k[above], q[above], h[above])
    return np.asarray(np.minimum(result, 0.0), np.float64)


def _log_hypergeometric(n: FloatArray, k: FloatArray, q: FloatArray, h: FloatArray) -> FloatArray:
    """Log-10 probability of k or more of the k + h hits among n of the n + q points, above the mean."""
    first = _log_choose(n, k) + _log_choose(q, h) - _log_choose(n + q, k + h)
    term, total, open_ = np.ones_like(k), np.ones_like(k), np.arange(k.size)
    for start in range(0, 1_000_000, _TERMS):
        steps = start + np.arange(_TERMS)
        n_, k_, q_, h_ = (one[open_, None] for one in (n, k, q, h))
        ratios = np.maximum((n_ - k_ - steps) * (h_ - steps), 0) / ((k_ + steps + 1) * (q_ - h_ + steps + 1))
        terms = term[open_, None] * np.cumprod(ratios, axis=1)
        total[open_] += terms.sum(axis=1)
        term[open_] = terms[:, -1]
        open_ = open_[term[open_] > 1e-9 * total[open_]]
        if not open_.size:
            break
    return np.asarray((first + np.log(total)) / np.log(10), np.float64)


def _log_choose(n: FloatArray, k: FloatArray) -> FloatArray:
    """Natural logarithm of a binomial coefficient."""
    return np.asarray(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1), np.float64)


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
    total, chance = np.atleast_1d(np.asarray(held, np.float64)), np.atleast_1d(np.asarray(p, np.float64))
    heaviest = float(np.max(weights, initial=0.0))
    if not total.size or not heaviest > 0:
        return np.where(total <= 0, 0.0, -np.inf)
    unit, share = weights / heaviest, total / heaviest
    tilt = np.concatenate([[0.0], np.geomspace(1e-2, 20.0, 48)])
    grid = np.unique(np.append(np.geomspace(max(chance.min(), 1e-12), max(chance.max(), 2e-12), 64), chance.max()))
    growth = np.expm1(np.outer(tilt, unit))
    moments = np.stack([np.log1p(level * growth).sum(1) for level in grid])
    level_of = np.minimum(np.searchsorted(grid, chance), grid.size - 1)
    bound = (moments[level_of] - np.outer(share, tilt)).min(1)
    return np.asarray(bound / np.log(10), np.float64)


def log_tightness(mean_square: ArrayLike, codimension: float = 1.0) -> FloatArray:
    """Decades that each hit adds to the evidence, for hits that lie nearer to the model than chance puts them.

    Parameters
    ----------
    mean_square : float array, shape (k,)
        Mean over the elements within the threshold of the squared distance, in thresholds.
    codimension : float, default 1
        The power of the threshold with which the hit probability grows: 1 for lines and planes, 2 for homographies.

    Returns
    -------
    float array, shape (k,)
        Zero where the elements are no nearer than chance puts them.

    Notes
    -----
    Chance puts the distance r of a hit, in thresholds, below x with probability x^c. Chernoff for n hits:
    ``P(mean of r^2 <= s) <= exp(-n I(s))`` with ``I(s) = max over t of -t s - log E[exp(-t r^2)]`` and
    ``E[exp(-t r^2)] = gamma(c/2 + 1) P(c/2, t) t^(-c/2)``, P being the regularised incomplete gamma function. For
    Gaussian noise of variance sigma^2 and c = 1 that is nearly the likelihood ratio: log10 of 1 / sigma, less 0.32.

    Examples
    --------
    >>> log_tightness([1 / 3, 0.01]).round(2)
    array([0.  , 0.68])
    """
    half = codimension / 2
    log_moments = gammaln(half + 1) + np.log(gammainc(half, _TILTS)) - half * np.log(_TILTS)
    rates = -np.outer(np.asarray(mean_square, np.float64), _TILTS) - log_moments
    return np.asarray(np.maximum(rates.max(axis=1), 0.0) / np.log(10), np.float64)


def clumping(model: Model, params: FloatArray, data: FloatArray, chance: Background, levels: FloatArray) -> FloatArray:
    """How many times as much the hits of models of chance vary as they would if elements were independent.

    Parameters
    ----------
    model : Model
        The family.
    params : float array, shape (k, p)
        Models that the elements have no part in, such as hypotheses through background points.
    data : float array, shape (m, d)
        Elements.
    chance : Background
        What chance does with independent elements.
    levels : float array, shape (t,)
        Thresholds.

    Returns
    -------
    float array, shape (t,)
        The mean square (robust: by a quantile) of the standardised number of hits at each threshold, at least 1. It is
        1 for independent elements, and about the length of a run for elements that come in runs.

    Notes
    -----
    Pixels of an edge are no independent elements: where an edge crosses the band of a model, five of them are hit, or
    none. If hits come in clumps of c, their variance is c times as large and the logarithm of their tail, far out, one
    c-th: the usual correction for overdispersion.

    Examples
    --------
    >>> from biconsensus.models import get_model
    >>> rng = np.random.default_rng(0)
    >>> model, points = get_model("line"), rng.uniform(size=(500, 2))
    >>> chance = Background.of(model, points, 4096, rng)
    >>> lines = model.fit(rng.uniform(size=(256, 2, 2)))
    >>> runs = np.repeat(points[:100], 5, axis=0)  # each element five times
    >>> [int(clumping(model, lines, one, chance, np.array([0.02]))[0].round()) for one in (points, runs)]
    [1, 5]
    """
    n_points, found = len(chance.points), np.ones(len(levels))
    if not n_points or not len(params):
        return found
    shares = chance.shares(model, params, levels)
    residuals = model.residuals(params, data)
    for index, (level, share) in enumerate(zip(levels, shares)):
        wanted = len(data) * share
        usable = (wanted >= 1) & (share < 1)
        if usable.sum() < _CLUMPED:
            continue
        hits = count_hits(residuals[:, usable] <= level)
        # the chance of a hit was measured on a number of points itself
        spread = np.sqrt(wanted * (1 - share) * (1 + len(data) / n_points))[usable]
        found[index] = max(1.0, np.quantile(np.abs(hits - wanted[usable]) / spread, _ONE_SIGMA) ** 2)
    return found


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
class NfaTest:
    """How models are tested: against which chance, at which thresholds, for how many tests."""

    model: Model
    n_elements: int
    thresholds: FloatArray
    """(t,) thresholds tried on each model, the largest being that of members; they count as tests."""
    chance: Background
    log_n_tests: float
    left_out: int
    """Elements of its own that a model may not count: b, or 0 for the paper's literal test."""
    weights: FloatArray | None = None
    """(m,) weights of the elements, where not each counts one."""
    soft: bool = False
    """Whether votes fall with the distance."""
    vote_radius: float = np.inf
    """Distance up to which hypotheses vote."""
    steps: int = 0
    """Steps of local improvement of the hypotheses that pass."""
    clumping: FloatArray | float = 1.0
    """Size, at each threshold, of the clumps in which elements come: so many hits count as one."""

    @property
    def threshold(self) -> float:
        """That of members."""
        return float(self.thresholds[-1])

    def clumps(self, levels: FloatArray | float) -> FloatArray:
        """Sizes of clumps at some thresholds."""
        sizes = np.broadcast_to(self.clumping, self.thresholds.shape)
        return np.asarray(np.interp(levels, self.thresholds, sizes), np.float64)

    def log_nfa(
        self,
        held: FloatArray,
        probability: FloatArray,
        n_background: float,
        live: BoolArray | None = None,
        own: IntArray | int | None = None,
        levels: FloatArray | None = None,
    ) -> FloatArray:
        """(k,) base-10 NFA of k models that hold this much, beyond `own` elements, of the m or of the live ones.

        The hit probabilities were measured on `n_background` points; infinity where they are known. Each model is
        looked at within its own of the `levels`; all within the whole threshold by default.
        """
        clumps = self.clumps(self.threshold if levels is None else levels)
        if self.weights is not None:
            among = self.weights if live is None else self.weights[live]
            # the bound needs a probability that is not too small: two standard errors above the measured one
            n_background = max(n_background, 1.0)
            above = 2 * np.sqrt(probability / n_background) + 1 / n_background
            tail = log_weighted_tail(among, held, np.minimum(probability + above, 1.0))
            return np.asarray(self.log_n_tests + tail / clumps, np.float64)
        n_elements = self.n_elements if live is None else int(live.sum())
        n_trials = n_elements - (self.left_out if own is None else own)
        if np.isinf(n_background):
            tail = log_binomial_tail(n_trials, held, probability)
        else:
            tail = log_excess_tail(n_trials, held, n_background, np.rint(probability * n_background))
        return np.asarray(self.log_n_tests + tail / clumps, np.float64)

    def held(self, hits: BoolArray, samples: IntArray | None) -> FloatArray:
        """(k,) elements, or their weight, within the threshold, without the elements of the sample."""
        weights = np.ones(len(hits)) if self.weights is None else self.weights
        total = np.asarray(count_hits(hits) if self.weights is None else weights @ hits, np.float64)
        if not self.left_out:
            return total
        if samples is None:
            return np.asarray(total - self.left_out * weights.mean(), np.float64)
        own = np.take_along_axis(hits, samples.T, axis=0) * weights[samples.T]
        return np.asarray(total - own.sum(0), np.float64)
