"""Which groups are models: the greedy exclusion, and the counts that it needs."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from scipy.sparse import csc_array, csr_array
from scipy.spatial import cKDTree

from biconsensus.fitting._hypotheses import Screened, Trial
from biconsensus.fitting._refit import Fit, refine
from biconsensus.fitting._rounds import Found
from biconsensus.fitting._tally import Panel, Remainder
from biconsensus.protocols import BoolArray, FloatArray, IntArray

_WITNESSES = 12
_OTHERS = 8
_MARGIN = 1.0
_SAME = 0.8


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
        self.groups, self._fits = self._merged([self._sorted(columns) for columns in groups])
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
            index = int(np.argmin(scores)) if first is None else first
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

    def _sorted(self, columns: IntArray) -> IntArray:
        """Hypotheses, the most meaningful first."""
        return columns[np.argsort(self.screened.log_nfa[columns], kind="stable")]

    def _merged(self, groups: list[IntArray]) -> tuple[list[IntArray], list[Fit]]:
        """Groups and their fits; those that least squares takes to the same elements are one."""
        kept, fits, insides = list[IntArray](), list[Fit](), list[BoolArray]()
        for columns in sorted(groups, key=lambda one: self.screened.log_nfa[one[0]]):
            fit = self._refitted(columns)
            inside = self.trial.model.residuals(fit.params[None], self.data)[:, 0] <= fit.threshold
            same = [k for k, other in enumerate(insides) if (inside & other).sum() >= _SAME * (inside | other).sum()]
            if same:
                kept[same[0]] = self._sorted(np.concatenate([kept[same[0]], columns]))
            else:
                kept, fits, insides = [*kept, columns], [*fits, fit], [*insides, inside]
        return kept, fits

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


def _worth(found: Iterable[Found]) -> float:
    """Sum of the log-10 NFA of fitted models, each among what those before it left."""
    return sum(one.worth for one in found)


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
    """The fitted models at all thresholds below their own, and at their own, which comes last.

    How near their elements lie counts too: that tells two models from one that nearly fits both.
    """
    pairs = [
        (index, fit.params, float(level))
        for index, fit in enumerate(fits)
        for level in [*trial.thresholds[trial.thresholds < fit.threshold], fit.threshold]
    ]
    if not pairs:
        empty = np.empty(0)
        return Panel(csr_array((len(data), 0)), np.empty((0, 0), bool), empty, empty.astype(np.int64), 0)
    params, thresholds = np.array([one[1] for one in pairs]), np.array([one[2] for one in pairs])
    owner = np.array([one[0] for one in pairs])
    chance = trial.chance.probability(trial.model, params, thresholds)
    near = trial.model.residuals(params, data) / thresholds
    return Panel(
        hits=csr_array((near <= 1).astype(np.float64)),
        beside=trial.chance.hits(trial.model, params, thresholds),
        chance=chance,
        owner=owner,
        n_groups=len(fits),
        squares=csr_array(np.where(near <= 1, near, 0.0) ** 2) if trial.weights is None else None,
        codimension=_codimension(owner, thresholds, chance),
    )


def _codimension(owner: IntArray, thresholds: FloatArray, chance: FloatArray) -> float:
    """The power of the threshold with which hit probabilities grow, over the two largest thresholds of each model.

    It is a number of coordinates, so it is rounded; few background points near a model make it uncertain.
    """
    last = np.flatnonzero((owner[1:] == owner[:-1]) & (np.append(owner[2:], -1) != owner[1:])) + 1
    if not last.size or not chance[last - 1].sum() > 0:
        return 1.0
    growth = np.log(chance[last].sum() / chance[last - 1].sum())
    return float(max(1, round(growth / np.log(thresholds[last] / thresholds[last - 1]).mean())))


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
