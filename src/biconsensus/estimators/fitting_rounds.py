"""What follows the cleansed matrix in each round of the search: bi-cluster, refit, confirm."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy.sparse import csc_array, csr_array
from scipy.spatial import cKDTree

from biconsensus.biclustering import bicluster
from biconsensus.core.pool import Pool
from biconsensus.core.preference import PreferenceMatrix
from biconsensus.estimators.fitting_hypotheses import Screened, Trial
from biconsensus.protocols import BoolArray, FloatArray, IntArray
from biconsensus.solvers import get_solver

_WITNESSES = 32
_REFITS = 10


@dataclass(frozen=True)
class Found:
    """A model that passed the test."""

    params: FloatArray
    """(p,)"""
    threshold: float
    log_nfa: float
    support: FloatArray
    """(h, p) parameters of the hypotheses behind it."""
    reach: FloatArray
    """(h,) their thresholds."""
    toll: float = 0.0
    """Log-10 of the factor by which the looks before this one made its test stricter."""
    elements: BoolArray | None = None
    """(m,) the rows of its bi-cluster, where these are the members (the literal method)."""


def group(screened: Screened, min_elements: int, min_candidates: int) -> list[tuple[IntArray, IntArray]]:
    """Bi-clusters of the cleansed matrix, which may share elements: elements and hypotheses of each."""
    if screened.matrix.shape[1] < min_candidates:
        return []
    pool = Pool.from_matrix(screened.matrix)
    problem = PreferenceMatrix.from_pool(pool)
    solver = get_solver("vote" if pool.binary else "quantile")
    solver.load(problem, Fraction(1, 2))
    found = bicluster(problem, solver, min_elements=min_elements, min_candidates=min_candidates, overlap=True)
    return [
        (np.flatnonzero(block.rows[pool.inverse]), np.flatnonzero(block.columns[problem.members]))
        for block in found.blocks
    ]


@dataclass
class Confirmation:
    """Greedy exclusion: take the most meaningful group, set its elements aside, look at the others again."""

    data: FloatArray
    """(m, d) elements of this round."""
    trial: Trial
    screened: Screened
    groups: list[IntArray]
    epsilon: float
    attempt: int
    """Looks taken so far, over all rounds; the a-th may spend epsilon / (a (a + 1))."""
    spot: float | None = None
    """Radius, in thresholds, of a spot that alone is no model."""

    def run(self) -> list[Found]:
        """Models in the order in which they are taken."""
        self._prepare()
        found = list[Found]()
        open_ = np.ones(len(self.groups), bool)
        while open_.any():
            scores = np.where(open_, self._witness_scores(), np.inf)
            best = int(np.argmin(scores))
            if not scores[best] + self._toll() < np.log10(self.epsilon):
                break
            open_[best] = False
            model = self._examine(best, float(scores[best]))
            if model is not None:
                found.append(model)
        self.attempt += 1
        return found

    def _prepare(self) -> None:
        """The best hypotheses of each group stand witness for it: sampled ones, whose test is exact."""
        nfa = self.screened.log_nfa
        witnesses = [columns[np.argsort(nfa[columns], kind="stable")[:_WITNESSES]] for columns in self.groups]
        self._columns = np.concatenate([np.empty(0, np.int64), *witnesses])
        self._owner = np.repeat(np.arange(len(witnesses)), [len(columns) for columns in witnesses])
        self._samples = self.screened.samples[self._columns]
        self._params, self._reach = self.screened.params[self._columns], self.screened.thresholds[self._columns]
        self._hits = _without_samples(self.screened.matrix[:, self._columns], self._samples, self.trial.left_out)
        self._chance = self.trial.chance.hits(self.trial.model, self._params, self._reach)
        self._fixed = self.trial.chance.probability(self.trial.model, self._params, self._reach)
        self._live, self._quiet = np.ones(len(self.data), bool), np.ones(len(self.trial.chance.points), bool)

    def _toll(self) -> float:
        """Log-10 of a (a + 1): the shares 1 / (a (a + 1)) of epsilon add up to one."""
        return float(np.log10(self.attempt * (self.attempt + 1)))

    def _witness_scores(self) -> FloatArray:
        """(g,) log-10 NFA of the best witness of each group among the elements that are left."""
        weights = np.where(self._live, 1.0 if self.trial.weights is None else self.trial.weights, 0.0)
        own = self._live[self._samples].sum(1) if self.trial.left_out else 0
        chance = self._fixed
        if self.trial.chance.rule == "background":
            chance = (self._quiet.astype(np.float64) @ self._chance + 1) / (self._quiet.sum() + 1)
        nfa = self.trial.log_nfa(weights @ self._hits, chance, self._live, own)
        scores = np.full(len(self.groups), np.inf)
        np.minimum.at(scores, self._owner, nfa)
        return scores

    def _examine(self, index: int, score: float) -> Found | None:
        """Refit a group; take it if what was fitted is meaningful among the elements that are left."""
        columns = self.groups[index]
        columns = columns[np.argsort(self.screened.log_nfa[columns], kind="stable")]
        first = columns[0]
        votes = np.asarray((self.screened.matrix[:, columns] != 0).sum(1)).ravel()
        params, threshold = refine(
            self.data,
            self.trial,
            votes > len(columns) / 2,
            self.screened.params[first],
            self.screened.thresholds[first],
        )
        inside = self.trial.model.residuals(params[None], self.data)[:, 0] <= threshold
        beside = self.trial.chance.hits(self.trial.model, params[None], np.array([threshold]))[:, 0]
        fitted = self._fitted_score(params, threshold, inside, beside)
        if not max(score, fitted) + self._toll() < np.log10(self.epsilon):
            return None
        toll, support, reach = self._toll(), self.screened.params[columns], self.screened.thresholds[columns]
        self._live &= ~inside
        self._quiet &= ~beside
        self.attempt += 1
        return Found(params, threshold, score + toll, support, reach, toll)

    def _fitted_score(self, params: FloatArray, threshold: float, inside: BoolArray, beside: BoolArray) -> float:
        """Log-10 NFA of the fitted model among the elements that are left, without its densest spot if so asked."""
        chance = self.trial.chance.probability(self.trial.model, params[None], np.array([threshold]))
        if self.trial.chance.rule == "background":
            chance = np.array([((beside & self._quiet).sum() + 1) / (self._quiet.sum() + 1)])
        counted, among = inside & self._live, self._live
        if self.spot is not None and counted.any():
            dense = densest_spot(self.data, counted, self.spot * threshold)
            counted, among = counted & ~dense, among & ~dense
        weights = np.ones(len(self.data)) if self.trial.weights is None else self.trial.weights
        left_out = self.trial.left_out
        held = np.array([weights[counted].sum() - left_out * weights.mean()])
        return float(self.trial.log_nfa(held, chance, among, left_out)[0])


def densest_spot(data: FloatArray, inside: BoolArray, radius: float) -> BoolArray:
    """(m,) the elements within the radius of the one, among those inside, that has most of them around it."""
    tree = cKDTree(data[inside])
    around = tree.query_ball_point(data[inside], radius, return_length=True)
    centre = data[inside][int(np.argmax(around))]
    spot = inside.copy()
    spot[inside] = np.sqrt(((data[inside] - centre) ** 2).sum(1)) <= radius
    return spot


def _without_samples(matrix: csc_array, samples: IntArray, left_out: int) -> csr_array:
    """Membership as ones, without the elements that determine each column."""
    hits = csc_array(matrix != 0).astype(np.float64)
    if left_out:
        columns = np.repeat(np.arange(matrix.shape[1]), samples.shape[1])
        own = csc_array((np.ones(samples.size), (samples.ravel(), columns)), shape=matrix.shape)
        hits = csc_array(hits - hits.multiply(own))
    return csr_array(hits)


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
    return float(trial.thresholds[int(np.argmin(scores))])


def _score(data: FloatArray, trial: Trial, params: FloatArray, threshold: float) -> float:
    """Log-10 NFA of one fitted model, less as many elements as determine it."""
    return _nfa(trial.model.residuals(params[None], data), trial, params, threshold)


def _nfa(residuals: FloatArray, trial: Trial, params: FloatArray, threshold: float) -> float:
    """Log-10 NFA of one fitted model from its residuals (m, 1)."""
    chance = trial.chance.probability(trial.model, params[None], np.array([threshold]))
    return float(trial.log_nfa(trial.held(residuals <= threshold, None), chance)[0])
