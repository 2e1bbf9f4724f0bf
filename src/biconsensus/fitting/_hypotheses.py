"""From minimal samples to a cleansed preference matrix, in blocks: no matrix of m x n residuals is ever held."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed
from scipy.sparse import csc_array

from biconsensus.protocols import BoolArray, FloatArray, IntArray, Model
from biconsensus.significance._background import Background
from biconsensus.significance._models import log_binomial_tail, log_excess_tail, log_weighted_tail
from biconsensus.sources._sampling import SamplingLaw, draw_samples

_BLOCK = 1 << 20
_TRIES = 10
_OVERSAMPLE = 10
_COARSE = ((192, 0.5), (1024, 0.75), (4096, 0.9))


@dataclass(frozen=True)
class Hypotheses:
    """Models through minimal samples."""

    params: FloatArray
    """(n, p) parameters."""
    samples: IntArray
    """(n, b) the elements that each goes through."""


@dataclass(frozen=True)
class Screened:
    """The hypotheses that chance does not explain, as columns of a preference matrix."""

    params: FloatArray
    """(k, p) parameters."""
    samples: IntArray
    """(k, b) the elements that each goes through."""
    matrix: csc_array
    """(m, k) preferences: ones (uint8), or values in (0, 1] where they are soft."""
    log_nfa: FloatArray
    """(k,) base-10 number of false alarms, at the best threshold."""
    thresholds: FloatArray
    """(k,) the threshold at which each is most meaningful."""
    reach: FloatArray
    """(k,) the threshold of its members."""
    n_tested: int
    """Hypotheses that were looked at."""
    improved: FloatArray
    """(k, p) parameters after local improvement; the preferences are theirs, the tests those of `params`."""


@dataclass(frozen=True)
class Trial:
    """How a hypothesis is tested: against which chance, at which thresholds, for how many tests."""

    model: Model
    n_elements: int
    thresholds: FloatArray
    """(t,) thresholds tried on each model; they count as tests."""
    chance: Background
    log_n_tests: float
    left_out: int
    """Elements of its own that a model may not count: b, or 0 for the paper's literal test."""
    weights: FloatArray | None = None
    """(m,) weights of the elements, where not each counts one."""
    soft: bool = False
    reach: float | None = None
    """Threshold of members; None where each model has its own."""
    steps: int = 0
    """Steps of local improvement of the hypotheses that pass."""
    core: float | None = None
    """Distance up to which hypotheses vote, where that is less than the threshold of members."""

    def log_nfa(
        self,
        held: FloatArray,
        probability: FloatArray,
        n_background: float,
        live: BoolArray | None = None,
        own: IntArray | int | None = None,
    ) -> FloatArray:
        """(k,) base-10 NFA of k models that hold this much, beyond `own` elements, of the m or of the live ones.

        The hit probabilities were measured on `n_background` points; infinity where they are known.
        """
        if self.weights is not None:
            among = self.weights if live is None else self.weights[live]
            # the bound needs a probability that is not too small: two standard errors above the measured one
            n_background = max(n_background, 1.0)
            above = 2 * np.sqrt(probability / n_background) + 1 / n_background
            return self.log_n_tests + log_weighted_tail(among, held, np.minimum(probability + above, 1.0))
        n_elements = self.n_elements if live is None else int(live.sum())
        n_trials = n_elements - (self.left_out if own is None else own)
        if np.isinf(n_background):
            return self.log_n_tests + log_binomial_tail(n_trials, held, probability)
        return self.log_n_tests + log_excess_tail(n_trials, held, n_background, np.rint(probability * n_background))

    def held(self, hits: BoolArray, samples: IntArray | None) -> FloatArray:
        """(k,) elements, or their weight, within the threshold, less those of the sample."""
        weights = np.ones(len(hits)) if self.weights is None else self.weights
        total = np.asarray(hits.sum(0) if self.weights is None else weights @ hits, np.float64)
        if not self.left_out:
            return total
        if samples is None:
            return np.asarray(total - self.left_out * weights.mean(), np.float64)
        own = np.take_along_axis(hits, samples.T, axis=0) * weights[samples.T]
        return np.asarray(total - own.sum(0), np.float64)


def propose(
    model: Model, data: FloatArray, n_samples: int, law: SamplingLaw, rng: np.random.Generator, places: FloatArray
) -> Hypotheses:
    """Hypotheses through distinct minimal samples; degenerate samples are replaced, with bounded tries."""
    samples, params, wanted = np.empty((0, model.sample_size), np.int64), list[FloatArray](), n_samples
    kept = list[IntArray]()
    for _ in range(_TRIES):
        more = int(np.ceil(wanted * min(_OVERSAMPLE, max(len(samples), 1) / max(n_samples - wanted, 1))))
        drawn = draw_samples(places, model.sample_size, more + len(samples), rng, law)
        drawn = _new_rows(drawn, samples)
        fitted = model.fit(data[drawn])
        valid = np.isfinite(fitted).all(1)
        samples = np.concatenate([samples, drawn])
        kept.append(drawn[valid])
        params.append(fitted[valid])
        wanted -= int(valid.sum())
        if wanted <= 0 or law.name == "exhaustive" or not drawn.size:
            break
    most = None if law.name == "exhaustive" else n_samples
    return Hypotheses(np.concatenate(params)[:most], np.concatenate(kept)[:most])


def _new_rows(drawn: IntArray, seen: IntArray) -> IntArray:
    """Rows of `drawn` that are not among `seen`."""
    if not len(seen):
        return drawn
    _, first = np.unique(np.concatenate([seen, drawn]), axis=0, return_index=True)
    return drawn[np.sort(first[first >= len(seen)]) - len(seen)]


def screen(
    data: FloatArray, hypotheses: Hypotheses, trial: Trial, epsilon: float, n_jobs: int | None = None
) -> Screened:
    """Keep the hypotheses with an NFA below epsilon, and their preferences."""
    params, samples = hypotheses.params, hypotheses.samples
    parts = Parallel(n_jobs=n_jobs, prefer="threads")(
        delayed(_screen_block)(data, params[part], samples[part], trial, epsilon)
        for part in _blocks(len(params), len(data))
    )
    empty = (np.empty(0, np.int64), np.empty(0), np.empty(0), np.empty(0, np.int64), np.empty(0), np.empty(0, np.int64))
    improved = np.concatenate([params[:0], *[part[6] for part in parts]])
    starts = [part.start for part in _blocks(len(params), len(data))]
    picked = np.concatenate([empty[0], *[part[0] + start for part, start in zip(parts, starts)]])
    nfa, used, rows, values, sizes = (np.concatenate([empty[i], *[part[i] for part in parts]]) for i in range(1, 6))
    pointers = np.concatenate([[0], np.cumsum(sizes)])
    entries = values if trial.soft else np.ones(len(rows), np.uint8)
    matrix = csc_array((entries, rows, pointers), shape=(len(data), len(picked)))
    reach = used if trial.reach is None else np.full(len(used), trial.reach)
    return Screened(params[picked], samples[picked], matrix, nfa, used, reach, len(params), improved)


def _blocks(n_models: int, n_elements: int) -> Iterator[slice]:
    """Slices of models such that a block of residuals has bounded size."""
    step = max(1, _BLOCK // max(n_elements, 1))
    return (slice(i, min(i + step, n_models)) for i in range(0, n_models, step))


_Part = tuple[IntArray, FloatArray, FloatArray, IntArray, FloatArray, IntArray, FloatArray]


def _screen_block(data: FloatArray, params: FloatArray, samples: IntArray, trial: Trial, epsilon: float) -> _Part:
    """Which of a block pass, their NFA and threshold, and their preferences column by column."""
    residuals = trial.model.residuals(params, data)
    held = np.array([trial.held(residuals <= threshold, samples) for threshold in trial.thresholds])
    scores = _scores(held, params, trial, np.log10(epsilon))
    nfa, used = scores.min(0), trial.thresholds[scores.argmin(0)]
    picked = np.flatnonzero(nfa < np.log10(epsilon))
    reach = used[picked] if trial.reach is None else np.full(len(picked), trial.core or trial.reach)
    improved = _improve(data, params[picked], reach, trial)
    near = (trial.model.residuals(improved, data) if trial.steps else residuals[:, picked]).T
    columns, rows = np.nonzero(near <= reach[:, None])
    values = np.exp(-5 * near[columns, rows] / reach[columns]) if trial.soft else np.empty(0)
    sizes = np.bincount(columns, minlength=len(picked)).astype(np.int64)
    return picked, nfa[picked], used[picked], rows, values, sizes, improved


def _improve(data: FloatArray, params: FloatArray, thresholds: FloatArray, trial: Trial) -> FloatArray:
    """(k, p) hypotheses after some steps of weighted least squares on what is within their thresholds."""
    improve = getattr(trial.model, "improve", None)
    if not trial.steps or improve is None:
        return params
    better = params.copy()
    for threshold in np.unique(thresholds):
        chosen = thresholds == threshold
        better[chosen] = improve(params[chosen], data, float(threshold), trial.steps)
    return np.where(np.isfinite(better).all(1, keepdims=True), better, params)


def _scores(held: FloatArray, params: FloatArray, trial: Trial, limit: float) -> FloatArray:
    """(t, k) log-10 NFA where it can be below the limit; coarse looks at the background spare most exact ones."""
    scores, hopeful, chance = np.full(held.shape, np.inf), np.arange(len(params)), trial.chance
    for n_points, share in _COARSE:
        if chance.rule != "background" or n_points >= len(chance.points):
            break
        shares = chance.shares(trial.model, params[hopeful], trial.thresholds, n_points)
        # a hit probability that is too small rather than too large
        least = np.maximum(share * shares, 0.5 / len(chance.points))
        hopeful = hopeful[(_each(trial, held[:, hopeful], least, np.inf) < limit).any(0)]
    exact = chance.probabilities(trial.model, params[hopeful], trial.thresholds)
    scores[:, hopeful] = _each(trial, held[:, hopeful], exact, chance.size)
    return scores


def _each(trial: Trial, held: FloatArray, probability: FloatArray, n_background: float) -> FloatArray:
    """(t, k) log-10 NFA at each threshold."""
    return trial.log_nfa(held.ravel(), probability.ravel(), n_background).reshape(held.shape)
