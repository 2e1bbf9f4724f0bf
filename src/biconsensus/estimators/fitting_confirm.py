"""Which groups are models: the greedy exclusion, and the counts that it needs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csc_array, csr_array
from scipy.spatial import cKDTree

from biconsensus.estimators.fitting_hypotheses import Screened, Trial
from biconsensus.estimators.fitting_refit import Fit, refine
from biconsensus.estimators.fitting_rounds import Found
from biconsensus.protocols import BoolArray, FloatArray, IntArray

_WITNESSES = 12
_OTHERS = 8
_MARGIN = 1.0


class Confirmation:
    """Greedy exclusion: take the most meaningful group, set its elements aside, look at the others again.

    The best hypotheses of a group stand witness for it: sampled ones, whose test is exact whatever the refit does. The
    fitted models decide which group is the most meaningful. A group that crosses several true models can be that, and
    spoil them; so each model that was taken is tried without, and dropped if the others together are then more
    meaningful.
    """

    def __init__(
        self, data: FloatArray, trial: Trial, screened: Screened, groups: list[IntArray], spot: float | None = None
    ) -> None:
        self.data, self.trial, self.screened, self.spot = data, trial, screened, spot
        self.groups = [columns[np.argsort(screened.log_nfa[columns], kind="stable")] for columns in groups]
        self._fits = [self._refitted(columns) for columns in self.groups]
        self._witnesses = _witnesses(data, trial, screened, [columns[:_WITNESSES] for columns in self.groups])
        self._fitted = _fitted(data, trial, self._fits)

    def run(self, epsilon: float, attempt: int) -> list[Found]:
        """Models in the order in which they are taken; the a-th look may spend epsilon / (a (a + 1))."""
        banned: frozenset[int] = frozenset()
        best = self._greedy(epsilon, attempt, banned)
        worth, tried = _worth(best.values()), set[int]()
        while rest := [index for index in best if index not in tried]:
            tried.add(rest[0])
            other = self._greedy(epsilon, attempt, banned | {rest[0]})
            if _worth(other.values()) < worth - _MARGIN:
                best, worth, banned = other, _worth(other.values()), banned | {rest[0]}
        return list(self._with_another_first(epsilon, attempt, best).values())

    def _with_another_first(self, epsilon: float, attempt: int, best: dict[int, Found]) -> dict[int, Found]:
        """The same search from some of the groups that were not taken, each as the first: the best answer of all."""
        if not best:
            return best
        scores = Remainder(self.trial, len(self.data)).follow(self._fitted).scores()
        others = [int(index) for index in np.argsort(scores, kind="stable") if index not in best][:_OTHERS]
        for first in others:
            other = self._greedy(epsilon, attempt, frozenset(), first)
            if _worth(other.values()) < _worth(best.values()) - _MARGIN:
                best = other
        return best

    def _greedy(
        self, epsilon: float, attempt: int, banned: frozenset[int], first: int | None = None
    ) -> dict[int, Found]:
        """Groups that are taken, in order, where some may not be, or one must come first."""
        left, found = Remainder(self.trial, len(self.data)), dict[int, Found]()
        witnesses, fitted = left.follow(self._witnesses), left.follow(self._fitted)
        open_ = np.ones(len(self.groups), bool)
        open_[list(banned)] = False
        while open_.any():
            toll = float(np.log10(attempt * (attempt + 1)))
            sworn, scores = witnesses.scores(), fitted.scores()
            scores = np.where(open_ & (sworn + toll < np.log10(epsilon)), scores, np.inf)
            index = _choice(scores, sworn) if first is None else first
            first = None
            if not scores[index] + toll < np.log10(epsilon):
                break
            open_[index] = False
            fit = self._fits[index]
            inside, beside = self._fitted.reaches(index)
            if self.spot is not None and not self._spread(fit, inside, left) + toll < np.log10(epsilon):
                continue
            columns = self.groups[index]
            support, reach = self.screened.params[columns], self.screened.reach[columns]
            nfa, worth = float(sworn[index]) + toll, float(scores[index]) + toll
            found[index] = Found(fit, nfa, worth, support, reach, toll)
            left.set_aside(inside, beside)
            attempt += 1
        return found

    def _refitted(self, columns: IntArray) -> Fit:
        """Least squares for a group."""
        votes = np.asarray((self.screened.matrix[:, columns] != 0).sum(1)).ravel()
        first, reach = self.screened.improved[columns[0]], float(self.screened.reach[columns[0]])
        return refine(self.data, self.trial, votes > len(columns) / 2, first, reach)

    def _spread(self, fit: Fit, inside: BoolArray, left: Remainder) -> float:
        """Log-10 NFA of a fitted model among the elements that are left, without its densest spot."""
        dense = densest_spot(self.data, inside & left.live, (self.spot or 0.0) * fit.threshold)
        chance = self.trial.chance.probability(self.trial.model, fit.params[None], np.array([fit.threshold]))
        counted, among = inside & left.live & ~dense, left.live & ~dense
        weights = np.ones(len(self.data)) if self.trial.weights is None else self.trial.weights
        held = np.array([weights[counted].sum() - self.trial.left_out * weights.mean()])
        return float(self.trial.log_nfa(held, chance, self.trial.chance.size, among, self.trial.left_out)[0])


def _choice(scores: FloatArray, sworn: FloatArray) -> int:
    """The most meaningful fit; of fits about as good, which are often the same one, that with the best witness."""
    best = float(scores.min())
    return int(np.argmin(np.where(scores <= best + max(0.5, 0.02 * abs(best)), sworn, np.inf))) if best < 0 else 0


def _worth(found: Iterable[Found]) -> float:
    """Sum of the log-10 NFA of fitted models, each among what those before it left."""
    return sum(one.worth for one in found)


@dataclass(frozen=True)
class Panel:
    """Models, one or more for each group, and what each of them hits."""

    hits: csr_array
    """(m, w) elements that count for each."""
    beside: BoolArray
    """(q, w) background points that each hits."""
    chance: FloatArray
    """(w,) hit probability over the whole background."""
    owner: IntArray
    """(w,) the group of each."""
    n_groups: int
    samples: IntArray | None = None
    """(w, b) the elements that determine each, which are not counted; None where any b are left out."""

    def reaches(self, index: int) -> tuple[BoolArray, BoolArray]:
        """Elements and background points that the last model of a group hits."""
        last = int(np.flatnonzero(self.owner == index)[-1])
        return self.hits[:, [last]].toarray()[:, 0] > 0, self.beside[:, last]


def _witnesses(data: FloatArray, trial: Trial, screened: Screened, groups: list[IntArray]) -> Panel:
    """Some of the sampled hypotheses of each group, each at its best threshold, without their own elements."""
    columns = np.concatenate([np.empty(0, np.int64), *groups])
    params, thresholds, samples = screened.params[columns], screened.thresholds[columns], screened.samples[columns]
    hits = csc_array(trial.model.residuals(params, data) <= thresholds)
    return Panel(
        hits=_without_samples(hits, samples, trial.left_out),
        beside=trial.chance.hits(trial.model, params, thresholds),
        chance=trial.chance.probability(trial.model, params, thresholds),
        owner=np.repeat(np.arange(len(groups)), [len(one) for one in groups]),
        n_groups=len(groups),
        samples=samples if trial.left_out else None,
    )


def _fitted(data: FloatArray, trial: Trial, fits: list[Fit]) -> Panel:
    """The fitted models at all thresholds below their own, and at their own, which comes last."""
    pairs = [
        (index, fit.params, float(level))
        for index, fit in enumerate(fits)
        for level in [*trial.thresholds[trial.thresholds < fit.threshold], fit.threshold]
    ]
    if not pairs:
        empty = np.empty(0)
        return Panel(csr_array((len(data), 0)), np.empty((0, 0), bool), empty, empty.astype(np.int64), 0)
    params, thresholds = np.array([one[1] for one in pairs]), np.array([one[2] for one in pairs])
    return Panel(
        hits=csr_array((trial.model.residuals(params, data) <= thresholds).astype(np.float64)),
        beside=trial.chance.hits(trial.model, params, thresholds),
        chance=trial.chance.probability(trial.model, params, thresholds),
        owner=np.array([one[0] for one in pairs]),
        n_groups=len(fits),
    )


class Remainder:
    """What is left of elements and background after some models were taken."""

    def __init__(self, trial: Trial, n_elements: int) -> None:
        self.trial = trial
        self.weights = np.ones(n_elements) if trial.weights is None else trial.weights
        self.live, self.quiet = np.ones(n_elements, bool), np.ones(len(trial.chance.points), bool)
        self._tallies = list[Tally]()

    def follow(self, panel: Panel) -> Tally:
        """Keep the counts of a panel up to date."""
        self._tallies.append(Tally(panel, self))
        return self._tallies[-1]

    def set_aside(self, inside: BoolArray, beside: BoolArray) -> None:
        """Count no more what a model explains."""
        gone, still = np.flatnonzero(inside & self.live), np.flatnonzero(beside & self.quiet)
        for tally in self._tallies:
            tally.lose(gone, still)
        self.live[gone], self.quiet[still] = False, False


class Tally:
    """How much of what is left each model of a panel holds."""

    def __init__(self, panel: Panel, left: Remainder) -> None:
        self._panel, self._left = panel, left
        self._held = np.asarray(left.weights @ panel.hits, np.float64)
        self._beside = panel.beside.sum(0)

    def lose(self, gone: IntArray, still: IntArray) -> None:
        """Elements and background points that do not count any more."""
        self._held = self._held - self._left.weights[gone] @ self._panel.hits[gone]
        self._beside = self._beside - self._panel.beside[still].sum(0)

    def scores(self) -> FloatArray:
        """(g,) log-10 NFA of the best model of each group among what is left."""
        left, trial, panel = self._left, self._left.trial, self._panel
        held, own, n_points = self._held, trial.left_out, np.inf
        if panel.samples is not None:
            own = left.live[panel.samples].sum(1)
        else:
            held = held - trial.left_out * left.weights.mean()
        chance = panel.chance
        if trial.chance.rule == "background":
            n_points = float(left.quiet.sum())
            chance = self._beside / max(n_points, 1.0)
        scores = np.full(panel.n_groups, np.inf)
        np.minimum.at(scores, panel.owner, trial.log_nfa(held, chance, n_points, left.live, own))
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
    hits = csc_array(matrix).astype(np.float64)
    if left_out:
        columns = np.repeat(np.arange(matrix.shape[1]), samples.shape[1])
        own = csc_array((np.ones(samples.size), (samples.ravel(), columns)), shape=matrix.shape)
        hits = csc_array(hits - hits.multiply(own))
    return csr_array(hits)
