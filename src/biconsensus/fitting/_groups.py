"""From groups of hypotheses to models: groups are merged, fitted by least squares, and taken one after the other."""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.spatial import cKDTree

from biconsensus.fitting._hypotheses import Screened, improved
from biconsensus.fitting._settings import Family
from biconsensus.protocols import BoolArray, FloatArray, IntArray, Model
from biconsensus.significance._models import NfaTest, count_hits, log_tests, log_tightness

_REFITS = 10
"""Most refits on the way to a fixed point; nearly all arrive within five."""
_SHARPENINGS = 3
"""Refits with the narrower weights."""
_STARTS = 2
"""Hypotheses of a group from which a model with batched improvement starts."""
SAME = 0.8
"""Two groups are one if they share this part (Jaccard) of their elements."""
_WITNESSES = 12
"""Sampled hypotheses that may testify for a group: the best ones; more change nothing measurable."""
_OTHERS = 8
"""Groups that were not taken, each of which is tried as the first."""
SPREAD = -2.0
"""A model must be more than chance, at one per cent, without the spots that determine it."""
_MARGIN = 1.0
"""Decades by which another set of models must be more meaningful to replace the one at hand."""


@dataclass(frozen=True)
class Fit:
    """A fitted model."""

    params: FloatArray
    threshold: float
    """Reach of its members."""
    core: float
    """Distance at which elements cease to pull."""


def merged_by_votes(screened: Screened, groups: list[IntArray]) -> tuple[list[IntArray], list[BoolArray]]:
    """Groups whose hypotheses vote for nearly the same elements become one: hypotheses, best first, and elements."""
    kept, elements = list[IntArray](), list[BoolArray]()
    ordered = [columns[np.argsort(screened.log_nfa[columns], kind="stable")] for columns in groups]
    for columns in sorted(ordered, key=lambda one: screened.log_nfa[one[0]]):
        votes = np.asarray((screened.matrix[:, columns] != 0).sum(1)).ravel()
        inside = votes > len(columns) / 2
        same = first_alike(inside, elements)
        if same is None:
            kept, elements = [*kept, columns], [*elements, inside]
        else:
            kept[same] = merged(screened, kept[same], columns)
    return kept, elements


def merged(screened: Screened, first: IntArray, second: IntArray) -> IntArray:
    """Hypotheses of two groups, the most meaningful first."""
    both = np.concatenate([first, second])
    return both[np.argsort(screened.log_nfa[both], kind="stable")]


def first_alike(inside: BoolArray, others: list[BoolArray]) -> int | None:
    """The first of the others that holds nearly the same elements."""
    if not others:
        return None
    table = np.array(others)
    alike = (table & inside).sum(1) >= SAME * np.maximum((table | inside).sum(1), 1)
    return int(np.argmax(alike)) if alike.any() else None


def refine_groups(
    data: FloatArray, test: NfaTest, screened: Screened, groups: list[IntArray], elements: list[BoolArray]
) -> list[Fit]:
    """Fits of all groups: to fixed points of reweighted least squares, the more meaningful end of each, sharpened.

    Models of uneven surfaces have a second fit, to what is within the reach of votes: at the whole threshold a plane
    can run into its neighbour. Both compete. The fits of all groups at one reach come first.
    """
    model, threshold = test.model, test.threshold
    if not groups or not (hasattr(model, "refit") or hasattr(model, "improve")):
        return [Fit(screened.improved[columns[0]], threshold, threshold) for columns in groups]
    if hasattr(model, "improve"):
        starts = [screened.improved[columns[: min(_STARTS, len(columns))]] for columns in groups]
        owner = np.repeat(np.arange(len(groups)), [len(one) for one in starts])
        uneven = float(getattr(model, "label_reach", 1.0)) > 1
        reaches = (threshold, min(test.vote_radius, threshold))[: 2 if uneven else 1]
        several = [improved(data, np.concatenate(starts), reach, model, _REFITS // 2) for reach in reaches]
    else:
        owner, ends = _settled(data, test, screened, groups, elements)
        several = [ends]
    fits = list[Fit]()
    for ends in several:
        scores, levels = best_levels(data, test, ends)
        best = [int(np.flatnonzero(owner == i)[np.argmin(scores[owner == i])]) for i in range(len(groups))]
        fits += sharpen(data, model, ends[best], threshold, levels[best])
    return fits


def _settled(
    data: FloatArray, test: NfaTest, screened: Screened, groups: list[IntArray], elements: list[BoolArray]
) -> tuple[IntArray, FloatArray]:
    """Ends of least squares from the elements of each group, and from what is near its best hypothesis."""
    owner, ends = list[int](), list[FloatArray]()
    for index, (columns, inside) in enumerate(zip(groups, elements)):
        witness = screened.improved[columns[0]]
        within = test.model.residuals(witness[None], data)[:, 0] <= test.threshold
        found = [settle(data, test.model, start, test.threshold) for start in (inside, within)]
        own = [end for end in found if end is not None] or [witness]
        owner += [index] * len(own)
        ends += own
    return np.array(owner), np.array(ends)


def settle(data: FloatArray, model: Model, inside: BoolArray, threshold: float) -> FloatArray | None:
    """Refit on what is within the threshold until that does not change."""
    end, weights = None, np.ones(len(data))
    for _ in range(_REFITS):
        if inside.sum() <= model.sample_size:
            break
        params = np.asarray(model.refit(data[inside], weights[inside]), np.float64)  # type: ignore[attr-defined]
        if not np.isfinite(params).all():
            break
        residuals = model.residuals(params[None], data)[:, 0]
        end, before, inside = params, inside, residuals <= threshold
        weights = biweight(residuals, threshold)
        if np.array_equal(inside, before):
            break
    return end


def best_levels(data: FloatArray, test: NfaTest, params: FloatArray) -> tuple[FloatArray, FloatArray]:
    """(k,) smallest log-10 NFA of fitted models over the thresholds, and where it is."""
    residuals = test.model.residuals(params, data)
    chance = test.chance.probabilities(test.model, params, test.thresholds)
    held = np.array([test.held(residuals <= level, None) for level in test.thresholds])
    levels = np.repeat(test.thresholds, len(params))
    scores = test.log_nfa(held.ravel(), chance.ravel(), test.chance.size, levels=levels).reshape(held.shape)
    return scores.min(0), test.thresholds[scores.argmin(0)]


def sharpen(data: FloatArray, model: Model, params: FloatArray, threshold: float, levels: FloatArray) -> list[Fit]:
    """Refit with weights that end at twice the distance at which each model is most meaningful: outliers pull less."""
    cores, params = np.minimum(threshold, 2 * levels), np.array(params)
    if hasattr(model, "improve"):
        for core in np.unique(cores):
            params[cores == core] = improved(data, params[cores == core], float(core), model, _SHARPENINGS)
    else:
        for index, core in enumerate(cores):
            for _ in range(_SHARPENINGS):
                params[index] = reweighted(model, data, params[index], float(core))
    return [Fit(one, threshold, float(core)) for one, core in zip(params, cores)]


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


@dataclass(frozen=True)
class Found:
    """A model that passed the test."""

    family: Family
    fit: Fit
    log_nfa: float
    """By which it was accepted: that of its best witness or of the fit among all bands there are."""
    fitted_log_nfa: float
    """That of the fitted model itself, tightness included, by which groups are compared."""
    support: FloatArray
    """(h, p) parameters of the hypotheses behind it."""
    support_thresholds: FloatArray
    """(h,) their thresholds."""
    log_penalty: float = 0.0
    """Log-10 of the factor by which the rounds before this one made its test stricter."""
    elements: BoolArray | None = None
    """(m,) the rows of its bi-cluster, where these are the members (the literal method)."""


@dataclass(frozen=True)
class Candidates:
    """Groups of hypotheses of one family, with their fits."""

    family: Family
    test: NfaTest
    screened: Screened
    groups: list[IntArray]
    fits: list[Fit]

    @classmethod
    def of(
        cls, family: Family, data: FloatArray, test: NfaTest, screened: Screened, groups: list[IntArray]
    ) -> Candidates:
        """Merge groups by their votes, fit them, and merge those that least squares takes to the same elements."""
        together, elements = merged_by_votes(screened, groups)
        fits = refine_groups(data, test, screened, together, elements)
        kept, chosen, insides = list[IntArray](), list[Fit](), list[BoolArray]()
        if fits:
            near = test.model.residuals(np.array([fit.params for fit in fits]), data) <= test.threshold
        for index, fit in enumerate(fits):
            columns = together[index % len(together)]
            same = first_alike(near[:, index], insides)
            if same is None:
                kept, chosen, insides = [*kept, columns], [*chosen, fit], [*insides, near[:, index]]
            else:
                kept[same] = merged(screened, kept[same], columns)
        return cls(family, test, screened, kept, chosen)


@dataclass(frozen=True)
class ModelHits:
    """Fitted models of one family, each at all thresholds up to its own, and what they hit.

    How near their elements lie counts too: that tells two models from one that nearly fits both.
    """

    test: NfaTest
    hits: FloatArray
    """(m, w) ones where an element counts."""
    squares: FloatArray
    """(m, w) squared distances of these, in thresholds."""
    beside: BoolArray
    """(q, w) background points that each hits."""
    chance: FloatArray
    """(w,) hit probability over the whole background."""
    levels: FloatArray
    """(w,) thresholds of the columns."""
    n_levels: int
    codimension: float
    """Power of the threshold with which the hit probability grows."""
    nearer: FloatArray
    """(w,) how much smaller the squared distances of chance are, on average, than that power says; at least 1."""

    @property
    def within(self) -> BoolArray:
        """(m, g) elements within the threshold of each model."""
        return np.asarray(self.hits[:, -(self.hits.shape[1] // self.n_levels) :] > 0, bool)

    @property
    def beside_within(self) -> BoolArray:
        """(q, g) background points within the threshold of each model."""
        return self.beside[:, -(self.beside.shape[1] // self.n_levels) :]

    @classmethod
    def of(cls, data: FloatArray, test: NfaTest, fits: list[Fit]) -> ModelHits:
        """Hits of fitted models, level by level: columns i, i + g, i + 2 g belong to model i."""
        levels = test.thresholds
        params = np.array([fit.params for fit in fits])
        near = test.model.residuals(params, data)
        scaled = np.hstack([near / level for level in levels])
        hits = scaled <= 1
        beside = test.model.residuals(params, test.chance.points)
        repeated, widths = np.tile(params, (len(levels), 1)), np.repeat(levels, len(fits))
        chance = test.chance.probability(test.model, repeated, widths) if test.chance.rule != "background" else None
        background = np.hstack([beside <= level for level in levels])
        measured = count_hits(background) / max(len(background), 1) if chance is None else chance
        power = float(getattr(test.model, "codimension", 0)) or _codimension(measured.reshape(len(levels), -1), levels)
        squares = np.hstack([np.where(beside <= level, beside / level, 0.0) ** 2 for level in levels]).sum(axis=0)
        n_hit = np.maximum(count_hits(background), 1)
        expected, fourth = power / (power + 2), power / (power + 4)
        # one standard error above what is measured, so that the error alone says little
        most = squares / n_hit + np.sqrt((fourth - expected**2) / n_hit)
        return cls(
            test,
            hits.astype(np.float64),
            np.where(hits, scaled, 0.0) ** 2,
            background,
            measured,
            widths,
            len(levels),
            power,
            np.maximum(expected / most, 1.0),
        )


def _codimension(chance: FloatArray, levels: FloatArray) -> float:
    """The power of the threshold with which hit probabilities grow, over the two largest thresholds.

    It is a number of coordinates, so it is rounded; few background points near a model make it uncertain.
    """
    if len(levels) < 2 or not chance[-2].sum() > 0:
        return 1.0
    growth = np.log(chance[-1].sum() / chance[-2].sum())
    return float(max(1, round(growth / np.log(levels[-1] / levels[-2]))))


def _parameters(model: Model) -> int:
    """Free parameters of a model."""
    return int(getattr(model, "degrees_of_freedom", model.sample_size))


class Unexplained:
    """What is left of elements and background after some models were taken, and how much of it each model holds."""

    def __init__(self, models: list[ModelHits], weights: FloatArray, n_points: int) -> None:
        self._models, self._weights = models, weights
        self._fewest = min(_parameters(one.test.model) for one in models)
        self.live, self.quiet = np.ones(len(weights), bool), np.ones(n_points, bool)
        self._held = [weights @ one.hits for one in models]
        self._squares = [one.squares.sum(0) for one in models]
        self._beside = [count_hits(one.beside) for one in models]

    def without(self, inside: BoolArray, beside: BoolArray) -> Unexplained:
        """What is left when what a model explains counts no more."""
        gone, still = np.flatnonzero(inside & self.live), np.flatnonzero(beside & self.quiet)
        less = copy(self)
        less.__dict__.pop("scores", None)
        less.live, less.quiet = self.live & ~inside, self.quiet & ~beside
        less._held = [held - self._weights[gone] @ one.hits[gone] for held, one in zip(self._held, self._models)]
        less._squares = [all_ - one.squares[gone].sum(0) for all_, one in zip(self._squares, self._models)]
        less._beside = [all_ - count_hits(one.beside[still]) for all_, one in zip(self._beside, self._models)]
        return less

    @cached_property
    def scores(self) -> FloatArray:
        """(g,) log-10 NFA of each fitted model among what is left, at its best threshold, with its tightness."""
        parts = [self._score(index) for index in range(len(self._models))]
        return np.concatenate([np.empty(0), *parts])

    def log_nfa(self, index: int, number: int) -> float:
        """The same of one model of a family, without its tightness."""
        columns = slice(number, None, self._held[index].size // self._models[index].n_levels)
        return float(self._level_log_nfa(index, columns, self._models[index].test.left_out).min())

    def _score(self, index: int) -> FloatArray:
        """(g,) the scores of one family."""
        one, test = self._models[index], self._models[index].test
        used = test.left_out
        if used and len(self._models) > 1:
            # families are compared alike: least squares uses up as many elements as determine the parameters
            used = max(used, -(-_parameters(test.model) // int(getattr(test.model, "codimension", 1))))
        nfa = self._level_log_nfa(index, slice(None), used)
        if test.weights is None:
            held = self._held[index] - used
            mean = np.maximum(self._squares[index], 0.0) / np.maximum(held, 1.0)
            if len(self._models) > 1:
                # both sides of a flat ellipse lie near each other, and chance as near to one of them as elements do
                mean = mean * one.nearer
            nfa = nfa - np.maximum(held, 0.0) * log_tightness(mean, one.codimension) / test.clumps(one.levels)
            # a plane is no cylinder of a hundred metres: each parameter that another family does without costs what
            # it takes to tell, half a logarithm of the number of elements
            nfa = nfa + (_parameters(test.model) - self._fewest) / 2 * np.log10(np.maximum(held, 1.0))
        return np.asarray(nfa.reshape(one.n_levels, -1).min(0), np.float64)

    def _level_log_nfa(self, index: int, columns: slice, left_out: int) -> FloatArray:
        """Log-10 NFA of some models of one family at each threshold, without a number of their elements."""
        one, test = self._models[index], self._models[index].test
        held = self._held[index][columns] - left_out * self._weights.mean()
        n_points, chance = np.inf, one.chance[columns]
        if test.chance.rule == "background":
            n_points = float(self.quiet.sum())
            chance = self._beside[index][columns] / max(n_points, 1.0)
        return test.log_nfa(held, chance, n_points, self.live, levels=one.levels[columns])


class Exclusion:
    """Greedy exclusion: take the most meaningful group, set its elements aside, look at the others again.

    A group is accepted by a witness, one of its sampled hypotheses, whose test is exact whatever the refit does; or by
    the fit itself, counted among all bands that differ in their elements. The fits decide which group is the most
    meaningful. A group that crosses several true models can be that, and spoil them; so each model that was taken is
    tried without, and dropped if the others together are then more meaningful.
    """

    def __init__(self, data: FloatArray, candidates: list[Candidates]) -> None:
        self.data, self._all = data, candidates
        self.candidates = [one for one in candidates if one.fits]
        self._place = [(f, i) for f, one in enumerate(self.candidates) for i in range(len(one.fits))]
        self._hits = [ModelHits.of(one.family.view(data), one.test, one.fits) for one in self.candidates]
        self._witnesses = dict[int, tuple[BoolArray, BoolArray, FloatArray, IntArray]]()
        # what is left depends on which models were taken, not on their order, and searches share their beginnings
        self._left = dict[frozenset[int], Unexplained]()
        self._judged = dict[tuple[frozenset[int], int], float | None]()

    @cached_property
    def _same(self) -> list[list[int]]:
        """Groups that share hypotheses with each: of two fits of one group only one is taken, as it has one witness."""
        owners = dict[tuple[int, int], list[int]]()
        for index, (family, number) in enumerate(self._place):
            for column in self.candidates[family].groups[number]:
                owners.setdefault((family, int(column)), []).append(index)
        return [
            sorted({other for column in self.candidates[f].groups[i] for other in owners[f, int(column)]})
            for f, i in self._place
        ]

    def run(self, epsilon: float, log_penalty: float) -> list[Found]:
        """Models in the order in which they are taken; the penalty makes every test of this round stricter."""
        if not self._place:
            return []
        limit = np.log10(epsilon) - log_penalty
        banned: frozenset[int] = frozenset()
        best = self._greedy(limit, log_penalty, banned)
        total, tried = _total(best.values()), set[int]()
        while rest := [index for index in best if index not in tried]:
            tried.add(rest[0])
            other = self._greedy(limit, log_penalty, banned | {rest[0]})
            if _total(other.values()) < total - _MARGIN:
                best, total, banned = other, _total(other.values()), banned | {rest[0]}
        return list(self._with_another_first(limit, log_penalty, best).values())

    def _with_another_first(self, limit: float, log_penalty: float, best: dict[int, Found]) -> dict[int, Found]:
        """The same search from some of the groups that were not taken, each as the first: the best answer of all."""
        if not best:
            return best
        scores = self._after(frozenset()).scores
        others = [int(index) for index in np.argsort(scores, kind="stable") if index not in best][:_OTHERS]
        for first in others:
            if not scores[first] < limit:
                break
            other = self._greedy(limit, log_penalty, frozenset(), first)
            if _total(other.values()) < _total(best.values()) - _MARGIN:
                best = other
        return best

    def _after(self, taken: frozenset[int], before: frozenset[int] | None = None, new: int = -1) -> Unexplained:
        """What some models leave: everything where none was taken, else what is left by those before the new one."""
        if taken not in self._left:
            if before is None:
                test = self.candidates[0].test
                weights = np.ones(len(self.data)) if test.weights is None else test.weights
                self._left[taken] = Unexplained(self._hits, weights, len(test.chance.points))
            else:
                self._left[taken] = self._left[before].without(*self._explained(new))
        return self._left[taken]

    def _greedy(
        self, limit: float, log_penalty: float, banned: frozenset[int], first: int | None = None
    ) -> dict[int, Found]:
        """Groups that are taken, in order, where some may not be, or one must come first."""
        taken, found = frozenset[int](), dict[int, Found]()
        left = self._after(taken)
        waiting = np.ones(len(self._place), bool)
        waiting[list(banned)] = False
        refused = np.zeros(len(self._place), bool)
        while (waiting & ~refused).any():
            open_ = np.where(waiting & ~refused, left.scores, np.inf)
            index, first = (int(np.argmin(open_)) if first is None else first), None
            if not open_[index] < limit:
                break
            if (taken, index) not in self._judged:
                self._judged[taken, index] = self._accepted(index, left, limit)
            log_nfa = self._judged[taken, index]
            if log_nfa is None:  # it may pass when others have been set aside
                refused[index] = True
                continue
            waiting[self._same[index]] = False
            score = float(left.scores[index]) + log_penalty
            found[index] = self._found(index, log_nfa + log_penalty, score, log_penalty)
            before, taken = taken, taken | {index}
            left = self._after(taken, before, index)
            refused[:] = False
        return found

    def _found(self, index: int, log_nfa: float, fitted: float, log_penalty: float) -> Found:
        """A group that was taken."""
        family, number = self._place[index]
        one = self.candidates[family]
        columns = one.groups[number]
        thresholds = np.full(len(columns), one.test.threshold)
        return Found(
            one.family, one.fits[number], log_nfa, fitted, one.screened.params[columns], thresholds, log_penalty
        )

    def _explained(self, index: int) -> tuple[BoolArray, BoolArray]:
        """Elements and background points within the threshold of a fitted model."""
        family, number = self._place[index]
        hits = self._hits[family]
        return hits.within[:, number], hits.beside_within[:, number]

    def _accepted(self, index: int, left: Unexplained, limit: float) -> float | None:
        """Log-10 NFA by which a group is accepted among what is left; None where it is not."""
        log_nfa = min(self._witness_log_nfa(index, left), self._band_log_nfa(index, left))
        if not log_nfa < limit:
            return None
        family, number = self._place[index]
        one = self.candidates[family]
        # a flat piece taken as round becomes a model of the simpler family, if there is one, before this is asked
        simplest = _parameters(one.test.model) == min(_parameters(each.test.model) for each in self._all)
        if one.family.dispersion and simplest and not self._spread(index, left) < SPREAD:
            return None
        inside = self._explained(index)[0] & left.live
        return log_nfa if within_bounds(one.family, one.fits[number], self.data[inside]) else None

    def _witness_log_nfa(self, index: int, left: Unexplained) -> float:
        """Log-10 NFA of the best sampled hypothesis of a group, without its own elements, among what is left."""
        family, number = self._place[index]
        one = self.candidates[family]
        test, columns = one.test, one.groups[number][:_WITNESSES]
        if index not in self._witnesses:
            params, levels = one.screened.params[columns], one.screened.thresholds[columns]
            hits = np.asarray(test.model.residuals(params, one.family.view(self.data)) <= levels, bool)
            samples = one.screened.samples[columns]
            if test.left_out:
                hits[samples.T, np.arange(len(columns))] = False
            beside = test.chance.hits(test.model, params, levels)
            measured = test.chance.rule == "background"
            chance = np.empty(0) if measured else test.chance.probability(test.model, params, levels)
            self._witnesses[index] = hits, np.ascontiguousarray(beside.T), chance, samples
        hits, beside, chance, samples = self._witnesses[index]
        levels = one.screened.thresholds[columns]
        weights = np.ones(len(self.data)) if test.weights is None else test.weights
        held = (weights * left.live) @ hits
        own = left.live[samples].sum(1) if test.left_out else 0
        n_points = np.inf
        if test.chance.rule == "background":
            n_points = float(left.quiet.sum())
            chance = count_hits((beside & left.quiet).T) / max(n_points, 1.0)
        return float(test.log_nfa(held, chance, n_points, left.live, own, levels).min())

    def _band_log_nfa(self, index: int, left: Unexplained) -> float:
        """Log-10 NFA of the fit among all bands that differ in their elements: 2^b for each minimal sample.

        A band can be moved until b elements lie on its edges, each on one of two, without losing an element. This is
        the smaller number where samples are not exact and elements are many.
        """
        family, number = self._place[index]
        test = self.candidates[family].test
        if not test.left_out or test.weights is not None:
            return float(np.inf)
        size, n_levels = test.model.sample_size, len(test.thresholds)
        bands = log_tests(len(self.data), size, 1, n_levels, "combinatorial") + size * np.log10(2)
        # half of epsilon is for this kind of test, half for witnesses
        penalty = max(bands - test.log_n_tests, 0.0) + np.log10(2)
        return float(left.log_nfa(family, number) + penalty)

    def _spread(self, index: int, left: Unexplained) -> float:
        """Log-10 probability that chance gives a fitted model what it holds of the rest, without its spots."""
        family, number = self._place[index]
        one, (inside, beside) = self.candidates[family], self._explained(index)
        own, near, test = inside & left.live, beside & left.quiet, one.test
        weights = None if test.weights is None else test.weights[own]
        among = None if test.weights is None else test.weights[left.live]
        test, points = replace(test, n_elements=int(left.live.sum()), weights=among), test.chance.points[near]
        n_points = int(left.quiet.sum())
        return log_spread(one.family, one.fits[number], test, self.data[own], weights, points, n_points)


def log_spread(
    family: Family,
    fit: Fit,
    test: NfaTest,
    data: FloatArray,
    weights: FloatArray | None,
    points: FloatArray,
    n_points: int,
) -> float:
    """Log-10 probability that chance gives a model what it holds outside of the spots that determine it.

    A flat piece of a curve or surface in d dimensions determines d numbers, a place and a direction, however many
    elements it has. So a circle, which has three, can be laid along two pieces of any edge; its other elements must be
    more than chance. `data` and `weights` are elements within the threshold, `points` are those of `n_points` of the
    background.
    """
    model = test.model
    data, points = family.view(data), family.view(points)
    places = int(getattr(model, "n_places", 0)) or data.shape[1]
    n_spots = -(-_parameters(model) // places)
    own, near = (model.residuals(fit.params[None], x)[:, 0] if len(x) else np.empty(0) for x in (data, points))
    held = np.ones(len(data)) if weights is None else weights
    best = 0.0
    for level in test.thresholds[::-1]:
        hits, beside = own <= level, near <= level
        radius = spot_radius(family, fit, float(level))
        kept, still = outside_spots(data[hits, :places], points[beside, :places], radius, n_spots)
        among, chance = float(n_points), np.array([np.count_nonzero(still) / max(n_points, 1)])
        if test.chance.rule != "background":
            among, chance = np.inf, test.chance.probability(model, fit.params[None], np.array([level]))
        total = np.array([held[hits][kept].sum()])
        value = test.log_nfa(total, chance, among, own=0, levels=np.array([level]))
        best = min(best, float(value[0]) - test.log_n_tests)
        if best < SPREAD:  # more is not asked
            break
    return best


def spot_radius(family: Family, fit: Fit, level: float) -> float:
    """Radius of a spot: as the family says, or where a round model cannot be told from its tangent.

    A straight line can stay within a distance t of a circle of radius r for 2 sqrt(r t) to both sides.
    """
    smallest = family.dispersion * fit.threshold
    if "radius" not in getattr(family.model, "measures", ()):
        return smallest
    radius = float(family.model.measure("radius", fit.params[None])[0])  # type: ignore[attr-defined]
    return max(smallest, 2 * float(np.sqrt(radius * level)))


def outside_spots(data: FloatArray, points: FloatArray, radius: float, n_spots: int) -> tuple[BoolArray, BoolArray]:
    """Elements (m,) and points (q,) outside of the densest balls around an element, taken one after the other."""
    kept, still = np.ones(len(data), bool), np.ones(len(points), bool)
    for _ in range(n_spots):
        rest = data[kept]
        if not len(rest):
            break
        around = cKDTree(rest).query_ball_point(rest, radius, return_length=True)
        centre = rest[int(np.argmax(around))]
        kept &= ((data - centre) ** 2).sum(1) > radius**2
        still &= ((points - centre) ** 2).sum(1) > radius**2
    return kept, still


def within_bounds(family: Family, fit: Fit, members: FloatArray) -> bool:
    """Whether the elements of a model cover as much of it as the user asks."""
    covered = getattr(family.model, "covered", None)
    return covered is None or bool(covered(fit.params, family.view(members)))


def in_simpler_family(one: Found, data: FloatArray, candidates: list[Candidates], limit: float) -> Found:
    """The model, or that of a family with fewer parameters which explains nearly the same elements as well.

    A plane that had few hypotheses of its own in this round can be taken as a cylinder of a hundred metres.
    """
    own = next(each for each in candidates if each.family.name == one.family.name)
    simpler = [each for each in candidates if _parameters(each.test.model) < _parameters(own.test.model)]
    for other in sorted(simpler, key=lambda each: _parameters(each.test.model)):
        if not hasattr(other.test.model, "refit"):
            continue
        inside = one.family.residuals(one.fit.params[None], data)[:, 0] <= one.fit.threshold
        view = other.family.view(data)
        params = settle(view, other.test.model, inside, one.fit.threshold)
        if params is None:
            continue
        fit = sharpen(view, other.test.model, params[None], one.fit.threshold, np.array([one.fit.core / 2]))[0]
        pair = [replace(own, fits=[one.fit]), replace(other, fits=[fit])]
        both = Exclusion(data, pair)
        left = both._after(frozenset())
        log_nfa = both._band_log_nfa(1, left)
        same = first_alike(both._explained(1)[0], [both._explained(0)[0]]) is not None
        if same and left.scores[1] <= left.scores[0] and log_nfa < limit:
            support, width = fit.params[None], np.array([one.fit.threshold])
            score = float(left.scores[1]) + one.log_penalty
            return replace(
                one,
                family=other.family,
                fit=fit,
                log_nfa=log_nfa + one.log_penalty,
                fitted_log_nfa=score,
                support=support,
                support_thresholds=width,
            )
    return one


def _total(found: Iterable[Found]) -> float:
    """Sum of the log-10 NFA of fitted models, each among what those before it left."""
    return sum(one.fitted_log_nfa for one in found)
