"""From minimal samples to groups of hypotheses, in blocks: no matrix of m x n residuals is ever held."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from joblib import Parallel, delayed
from scipy.sparse import csc_array

from biconsensus.errors import NoConsensusWarning
from biconsensus.find import Search, solve
from biconsensus.fitting._settings import Family, positions
from biconsensus.pool._pool import Pool
from biconsensus.protocols import FloatArray, IntArray, Model
from biconsensus.significance._models import NfaTest
from biconsensus.solvers import get_solver
from biconsensus.sources._sampling import LocalTable, draw_samples, new_rows

_BLOCK = 1 << 20
"""Residuals held at a time: 8 MB."""
_TRIES, _OVERSAMPLE = 3, 4
"""Attempts to replace degenerate samples, and the most that one of them draws for each that is wanted."""
_COARSE = ((192, 0.5), (1024, 0.75), (4096, 0.9))
"""Background points of coarse looks, and the share of the chance measured there that is surely not too large."""
_VOTES, _COLUMNS = 1 << 17, (128, 1024)
"""Ones of the preference matrix that a round looks at, about, and the least and most hypotheses."""
_SOFT = 96
"""Hypotheses with soft votes: quantiles cost far more than votes."""


@dataclass(frozen=True)
class Hypotheses:
    """Models through minimal samples."""

    params: FloatArray
    """(n, p) parameters."""
    samples: IntArray
    """(n, b) the elements that each goes through."""
    n_drawn: int
    """Samples that were drawn for them, degenerate ones included."""


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
    improved: FloatArray
    """(k, p) parameters after local improvement: they give the preferences, while `params` gives the tests."""
    n_tested: int
    """Hypotheses that were looked at."""


def propose(
    family: Family, data: FloatArray, n_samples: int, rng: np.random.Generator, table: LocalTable | None = None
) -> Hypotheses:
    """Hypotheses through distinct minimal samples; degenerate samples are replaced, with bounded tries."""
    model, law, places = family.model, family.law, positions(family.model, data)
    samples, fitted = np.empty((0, model.sample_size), np.int64), list[FloatArray]()
    wanted = more = n_samples
    for _ in range(_TRIES):
        drawn = draw_samples(places, model.sample_size, more, rng, law, table)
        drawn = drawn[new_rows(drawn, samples, len(data))]
        samples = np.concatenate([samples, drawn])
        fitted.append(model.fit(data[drawn]))
        wanted -= int(np.isfinite(fitted[-1]).all(1).sum())
        if wanted <= 0 or law.name == "exhaustive" or not drawn.size:
            break
        more = int(np.ceil(wanted * min(_OVERSAMPLE, len(samples) / max(n_samples - wanted, 1))))
    params = np.concatenate(fitted)
    valid = np.flatnonzero(np.isfinite(params).all(1))[: None if law.name == "exhaustive" else n_samples]
    return Hypotheses(params[valid], samples[valid], len(samples))


def screen(
    data: FloatArray, hypotheses: Hypotheses, test: NfaTest, epsilon: float, n_jobs: int | None = None
) -> Screened:
    """Keep the hypotheses with an NFA below epsilon, and their preferences."""
    params, samples = hypotheses.params, hypotheses.samples
    pieces = [(data, params[part], samples[part], test, epsilon) for part in _blocks(len(params), len(data))]
    if n_jobs in (None, 1) or len(pieces) == 1:
        parts = [_screen_block(*piece) for piece in pieces]
    else:
        parts = Parallel(n_jobs=n_jobs, prefer="threads")(delayed(_screen_block)(*piece) for piece in pieces)
    empty = (np.empty(0, np.int64), np.empty(0), np.empty(0), np.empty(0, np.int64), np.empty(0), np.empty(0, np.int64))
    improved = np.concatenate([params[:0], *[part[6] for part in parts]])
    starts = [part.start for part in _blocks(len(params), len(data))]
    picked = np.concatenate([empty[0], *[part[0] + start for part, start in zip(parts, starts)]])
    nfa, used, rows, values, sizes = (np.concatenate([empty[i], *[part[i] for part in parts]]) for i in range(1, 6))
    pointers = np.concatenate([[0], np.cumsum(sizes)])
    entries = values if test.soft else np.ones(len(rows), np.uint8)
    matrix = csc_array((entries, rows, pointers), shape=(len(data), len(picked)))
    return Screened(params[picked], samples[picked], matrix, nfa, used, improved, len(params))


def _blocks(n_models: int, n_elements: int) -> Iterator[slice]:
    """Slices of models such that a block of residuals has bounded size."""
    step = max(1, _BLOCK // max(n_elements, 1))
    return (slice(i, min(i + step, n_models)) for i in range(0, n_models, step))


_Part = tuple[IntArray, FloatArray, FloatArray, IntArray, FloatArray, IntArray, FloatArray]


def _screen_block(data: FloatArray, params: FloatArray, samples: IntArray, test: NfaTest, epsilon: float) -> _Part:
    """Which of a block pass, their NFA and threshold, and their preferences column by column."""
    residuals = test.model.residuals(params, data)
    held = np.array([test.held(residuals <= threshold, samples) for threshold in test.thresholds])
    scores = _scores(held, params, test, np.log10(epsilon))
    nfa, used = scores.min(0), test.thresholds[scores.argmin(0)]
    picked = np.flatnonzero(nfa < np.log10(epsilon))
    reach = min(test.vote_radius, test.threshold)
    better = improved(data, params[picked], reach, test.model, test.steps)
    near = (test.model.residuals(better, data) if test.steps else residuals[:, picked]).T
    columns, rows = np.nonzero(near <= reach)
    values = np.exp(-5 * near[columns, rows] / reach) if test.soft else np.empty(0)
    sizes = np.bincount(columns, minlength=len(picked)).astype(np.int64)
    return picked, nfa[picked], used[picked], rows, values, sizes, better


def improved(data: FloatArray, params: FloatArray, threshold: float, model: Model, steps: int) -> FloatArray:
    """(k, p) hypotheses after some steps of weighted least squares on what is within the threshold."""
    improve = getattr(model, "improve", None)
    if not steps or improve is None or not len(params):
        return params
    better = improve(params, data, threshold, steps)
    return np.where(np.isfinite(better).all(1, keepdims=True), better, params)


def _scores(held: FloatArray, params: FloatArray, test: NfaTest, limit: float) -> FloatArray:
    """(t, k) log-10 NFA where it can be below the limit; coarse looks at the background spare most exact ones."""
    scores, hopeful, chance = np.full(held.shape, np.inf), np.arange(len(params)), test.chance
    for n_points, share in _COARSE:
        if chance.rule != "background" or n_points >= len(chance.points):
            break
        shares = chance.shares(test.model, params[hopeful], test.thresholds, n_points)
        # a hit probability that is too small rather than too large
        least = np.maximum(share * shares, 0.5 / len(chance.points))
        hopeful = hopeful[(_each(test, held[:, hopeful], least, np.inf) < limit).any(0)]
    exact = chance.probabilities(test.model, params[hopeful], test.thresholds)
    scores[:, hopeful] = _each(test, held[:, hopeful], exact, chance.size)
    return scores


def _each(test: NfaTest, held: FloatArray, probability: FloatArray, n_background: float) -> FloatArray:
    """(t, k) log-10 NFA at each threshold."""
    levels = np.repeat(test.thresholds, held.shape[1])
    return test.log_nfa(held.ravel(), probability.ravel(), n_background, levels=levels).reshape(held.shape)


def group(
    screened: Screened, min_elements: int, min_candidates: int, rng: np.random.Generator | None
) -> list[tuple[IntArray, IntArray]]:
    """Bi-clusters of the cleansed matrix, which may share elements: elements and hypotheses of each.

    With a source of randomness, a part of the hypotheses where there are very many.
    """
    if screened.matrix.shape[1] < min_candidates:
        return []
    soft = screened.matrix.dtype != np.uint8
    chosen = subsample(screened, rng, soft)
    pool = Pool.from_matrix(screened.matrix[:, chosen])
    solver = get_solver("quantile", max_iter=8, row_starts=8) if soft else get_solver("vote")
    search = Search(
        Fraction(1, 2),
        method="greedy",
        overlap=True,
        unassigned="leave",
        min_elements=min_elements,
        min_candidates=min_candidates,
        solver=solver,
    )
    with warnings.catch_warnings():  # no group in a round is how every search ends
        warnings.simplefilter("ignore", NoConsensusWarning)
        found = solve(pool, search)
    return [(one.elements, chosen[one.candidates]) for one in found.biclusters]


def subsample(screened: Screened, rng: np.random.Generator | None, soft: bool) -> IntArray:
    """The hypotheses that a round looks at: all, or as many as bound its time; the next round looks at the rest.

    Where nearly all hypotheses pass, as on clouds of points that chance would not make, there are thousands of columns
    and no end of bi-clusters among them. A random part keeps the share of every model.
    """
    n_columns = screened.matrix.shape[1]
    if soft:
        return np.sort(np.argsort(screened.log_nfa, kind="stable")[:_SOFT])
    most = int(np.clip(_VOTES * n_columns // max(screened.matrix.nnz, 1), *_COLUMNS))
    if rng is None or n_columns <= most:
        return np.arange(n_columns)
    return np.sort(rng.choice(n_columns, most, replace=False))
