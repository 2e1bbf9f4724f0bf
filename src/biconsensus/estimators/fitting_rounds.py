"""What follows the cleansed matrix in each round of the search: bi-cluster, refit, confirm."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy.sparse import csc_array, csr_array
from scipy.spatial import cKDTree

from biconsensus.biclustering import bicluster
from biconsensus.core.pool import Pool
from biconsensus.core.preference import PreferenceMatrix
from biconsensus.estimators.fitting_hypotheses import Screened, Trial
from biconsensus.estimators.fitting_refit import refine
from biconsensus.protocols import BoolArray, FloatArray, IntArray
from biconsensus.solvers import get_solver

_WITNESSES = 12
_SOFT = 96


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
    soft = screened.matrix.dtype != np.uint8
    # quantiles cost far more than votes: a round looks at the best hypotheses only, the next one at the rest
    chosen = np.sort(np.argsort(screened.log_nfa, kind="stable")[: _SOFT if soft else None])
    pool = Pool.from_matrix(screened.matrix[:, chosen])
    problem = PreferenceMatrix.from_pool(pool)
    solver = get_solver("quantile", max_iter=8, row_starts=8) if soft else get_solver("vote")
    solver.load(problem, Fraction(1, 2))
    found = bicluster(problem, solver, min_elements=min_elements, min_candidates=min_candidates, overlap=True)
    return [
        (np.flatnonzero(block.rows[pool.inverse]), chosen[block.columns[problem.members]]) for block in found.blocks
    ]


@dataclass(frozen=True)
class Candidate:
    """A group after its refit."""

    params: FloatArray
    threshold: float
    inside: BoolArray
    """(m,) elements within the threshold."""
    beside: BoolArray
    """(q,) background points within the threshold."""


class Confirmation:
    """Greedy exclusion: take the most meaningful group, set its elements aside, look at the others again.

    A group that crosses several true models can be the most meaningful of all and spoil them. So each model that was
    taken is tried without: if the others together become more meaningful, it is dropped.
    """

    def __init__(
        self, data: FloatArray, trial: Trial, screened: Screened, groups: list[IntArray], spot: float | None = None
    ) -> None:
        self.data, self.trial, self.screened, self.spot = data, trial, screened, spot
        order = [columns[np.argsort(screened.log_nfa[columns], kind="stable")] for columns in groups]
        self.groups, self._refits = order, dict[int, Candidate]()
        self._witnesses = Witnesses(data, trial, screened, [columns[:_WITNESSES] for columns in order])

    def run(self, epsilon: float, attempt: int) -> list[Found]:
        """Models in the order in which they are taken; the a-th look may spend epsilon / (a (a + 1))."""
        banned: frozenset[int] = frozenset()
        best = self._greedy(epsilon, attempt, banned)
        worth, tried = _worth(best.values()), set[int]()
        while rest := [index for index in best if index not in tried]:
            tried.add(rest[0])
            other = self._greedy(epsilon, attempt, banned | {rest[0]})
            if _worth(other.values()) < worth:
                best, worth, banned = other, _worth(other.values()), banned | {rest[0]}
        return list(best.values())

    def _greedy(self, epsilon: float, attempt: int, banned: frozenset[int]) -> dict[int, Found]:
        """Groups that are taken, in order, where some may not be."""
        left, found = Remainder(self.trial, len(self.data), self._witnesses), dict[int, Found]()
        open_ = np.ones(len(self.groups), bool)
        open_[list(banned)] = False
        while open_.any():
            toll = float(np.log10(attempt * (attempt + 1)))
            scores = np.where(open_, left.scores(), np.inf)
            index = int(np.argmin(scores))
            if not scores[index] + toll < np.log10(epsilon):
                break
            open_[index] = False
            candidate = self._refitted(index)
            if not self._fitted_score(candidate, left) + toll < np.log10(epsilon):
                continue
            columns = self.groups[index]
            support, reach = self.screened.params[columns], self.screened.thresholds[columns]
            found[index] = Found(
                candidate.params, candidate.threshold, float(scores[index]) + toll, support, reach, toll
            )
            left.set_aside(candidate)
            attempt += 1
        return found

    def _refitted(self, index: int) -> Candidate:
        """Least squares for a group, once."""
        if index not in self._refits:
            columns, model = self.groups[index], self.trial.model
            votes = np.asarray((self.screened.matrix[:, columns] != 0).sum(1)).ravel()
            first, reach = self.screened.improved[columns[0]], float(self.screened.thresholds[columns[0]])
            params, threshold = refine(self.data, self.trial, votes > len(columns) / 2, first, reach)
            inside = model.residuals(params[None], self.data)[:, 0] <= threshold
            beside = self.trial.chance.hits(model, params[None], np.array([threshold]))[:, 0]
            self._refits[index] = Candidate(params, threshold, inside, beside)
        return self._refits[index]

    def _fitted_score(self, candidate: Candidate, left: Remainder) -> float:
        """Log-10 NFA of the fitted model among the elements that are left, without its densest spot if so asked."""
        chance = self.trial.chance.probability(
            self.trial.model, candidate.params[None], np.array([candidate.threshold])
        )
        if self.trial.chance.rule == "background":
            chance = np.array([(candidate.beside & left.quiet).sum() / max(left.quiet.sum(), 1)])
        counted, among = candidate.inside & left.live, left.live
        if self.spot is not None and counted.any():
            dense = densest_spot(self.data, counted, self.spot * candidate.threshold)
            counted, among = counted & ~dense, among & ~dense
        weights = np.ones(len(self.data)) if self.trial.weights is None else self.trial.weights
        held = np.array([weights[counted].sum() - self.trial.left_out * weights.mean()])
        return float(self.trial.log_nfa(held, chance, left.size, among, self.trial.left_out)[0])


def _worth(found: Iterable[Found]) -> float:
    """Sum of the log-10 NFA of models, each among what those before it left."""
    return sum(one.log_nfa for one in found)


class Witnesses:
    """The best hypotheses of each group: sampled ones, so that their test is exact whatever the refit does."""

    def __init__(self, data: FloatArray, trial: Trial, screened: Screened, groups: list[IntArray]) -> None:
        columns = np.concatenate([np.empty(0, np.int64), *groups])
        params, reach = screened.params[columns], screened.thresholds[columns]
        self.n_groups = len(groups)
        self.owner = np.repeat(np.arange(len(groups)), [len(columns) for columns in groups])
        self.samples = screened.samples[columns]
        hits = screened.matrix[:, columns] != 0
        if trial.steps:
            hits = csc_array(trial.model.residuals(params, data) <= reach)
        self.hits = _without_samples(hits, self.samples, trial.left_out)
        self.beside = trial.chance.hits(trial.model, params, reach)
        self.chance = trial.chance.probability(trial.model, params, reach)


class Remainder:
    """What is left of elements and background after some models were taken."""

    def __init__(self, trial: Trial, n_elements: int, witnesses: Witnesses) -> None:
        self._trial, self._witnesses = trial, witnesses
        self._weights = np.ones(n_elements) if trial.weights is None else trial.weights
        self.live, self.quiet = np.ones(n_elements, bool), np.ones(len(trial.chance.points), bool)
        self._held = np.asarray(self._weights @ witnesses.hits, np.float64)
        self._beside = witnesses.beside.sum(0)

    @property
    def size(self) -> float:
        """Background points that are left; infinite where hit probabilities are not measured."""
        return float(self.quiet.sum()) if self._trial.chance.rule == "background" else np.inf

    def set_aside(self, taken: Candidate) -> None:
        """Count no more what a model explains."""
        gone, still = np.flatnonzero(taken.inside & self.live), np.flatnonzero(taken.beside & self.quiet)
        self._held = self._held - self._weights[gone] @ self._witnesses.hits[gone]
        self._beside = self._beside - self._witnesses.beside[still].sum(0)
        self.live[gone], self.quiet[still] = False, False

    def scores(self) -> FloatArray:
        """(g,) log-10 NFA of the best witness of each group among what is left."""
        own = self.live[self._witnesses.samples].sum(1) if self._trial.left_out else 0
        chance = self._witnesses.chance
        if self._trial.chance.rule == "background":
            chance = self._beside / max(self.quiet.sum(), 1)
        nfa = self._trial.log_nfa(self._held, chance, self.size, self.live, own)
        scores = np.full(self._witnesses.n_groups, np.inf)
        np.minimum.at(scores, self._witnesses.owner, nfa)
        return scores


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
