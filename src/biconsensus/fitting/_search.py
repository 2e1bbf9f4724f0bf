"""The search for many models, round by round; which elements are whose; and what the user gets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array, vstack
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from biconsensus.fitting._evidence import Column, Neighbours
from biconsensus.fitting._exchange import Exchange, Explanation
from biconsensus.fitting._groups import (
    SPREAD,
    Candidates,
    Exclusion,
    Found,
    ModelHits,
    Unexplained,
    in_simpler_family,
    log_spread,
    reweighted,
    sharpen,
    spot_radius,
    within_bounds,
)
from biconsensus.fitting._hypotheses import Hypotheses, Screened, group, propose, screen
from biconsensus.fitting._paper import confirm_as_paper
from biconsensus.fitting._settings import FRACTIONS, VOTE, Family, Settings, positions
from biconsensus.fitting._threshold import N_SCALES, scale_of
from biconsensus.pool._pool import Pool
from biconsensus.protocols import BoolArray, FloatArray, IntArray
from biconsensus.result._assemble import assemble_groups
from biconsensus.result._consensus import Consensus
from biconsensus.significance._models import (
    Background,
    NfaTest,
    clumping,
    count_within,
    log_binomial_tail,
    log_tests,
)
from biconsensus.sources._sampling import LocalTable, samples_needed, share_in_reach

_FLANK = 2.0
"""Clutter around a model is measured from where labels end at most to this many times as far."""
_STEPS = 8
"""Widths of labels that are tried."""
_NARROW = 0.3
"""The narrowest of them, in thresholds: the smallest at which models are tested."""
_SCALE = 0.95
"""Part of a model's own elements that its own scale holds."""
_MAJORITY = 0.5
"""A model of which more than this part lies within the own scale of others is no structure of its own."""
_CLEARLY = 1.0
"""Natural logarithms by which the elements of a model must be likelier with it than without it, on average, where they
lie within the bands of others: one plane that is uneven and cut in two gains less (halves of napiera 0.2 to 1)."""
_POLISH = 8
"""Refits of the final models to the elements that are nearest to each."""
_ROUNDS = 20
"""Most rounds, unless the user or the order of the search says otherwise: most searches end before, without a find."""
_FEWEST = 2000
"""Fewest hypotheses that are planned for a round, unless the user wants fewer."""
_BATCH, _BATCHES = 1000, 16
"""Hypotheses that are drawn at a time: this part of those that are planned, at least this number."""
_RAW = 4
"""Most samples drawn for each hypothesis of the plan: one of a single model's elements is hardly ever degenerate."""
_PILOT = 64
"""Hypotheses that are drawn to learn about the data."""
_PILOTS_OF_CHANCE = 256
"""Hypotheses through background points on which clumps are measured: their variance is known to a tenth."""
_ENOUGH = 128
"""A round stops drawing hypotheses when this number has passed the screening: the next round looks for the rest."""
_USED_UP = 0.1
"""A batch that gives less than this part of the hypotheses it should is the last: distinct samples are used up."""
_BACKGROUND = 4096
"""Fewest background points."""
_EACH, _EACH_PAIR = 16, 4
"""Background points for each element, and for each correspondence, whose distances cost more. The error of a chance
measured on them adds this part, one sixteenth or one quarter, to the variance of the hits."""
_BLOCK = 1 << 21
"""Residuals held at a time: 16 MB."""
_SUPPORT = 1 << 23
"""Entries of the preference matrix of the hypotheses behind the models, at most."""
SETTINGS = {
    "method": "greedy",
    "min_elements": 2,
    "min_candidates": 4,
    "chosen_by": "models",
    "evidence": "models",
}
"""What a consensus of models says of itself: a majority of the hypotheses, judged by the number of false alarms."""
BESIDE = 5.0
"""Thresholds from another model within which a piece of the same structure lies: where the threshold is a tenth of what
it should be, two pieces are four thresholds apart in the median (Gaussian noise)."""


@dataclass(frozen=True)
class Structures:
    """Models side by side: which elements are whose, and how far each reaches."""

    found: list[Found]
    residuals: FloatArray
    """(m, t) distances."""
    thresholds: FloatArray
    """(t,) thresholds of members."""
    bands: FloatArray
    """(t,) distances up to which elements get a label."""
    scales: FloatArray
    """(t,) distances that hold nearly all elements of each."""
    labels: IntArray
    """(m,) nearest model, in bands, -1 for none."""

    @classmethod
    def of(cls, found: list[Found], data: FloatArray, codimensions: list[float], width: float | None) -> Structures:
        """Labels, bands and scales of models, all at once."""
        residuals = residuals_of(found, data)
        thresholds = np.array([one.fit.threshold for one in found])
        reaches = np.array([reach_of(one.family) for one in found])
        nearest = nearest_of(residuals, reaches * thresholds)
        free = ~(residuals <= thresholds).any(1)
        bands = np.array(
            [
                threshold * width
                if width is not None
                else _band(
                    residuals[:, t], nearest == t, free & (nearest == -1), threshold, codimensions[t], reaches[t]
                )
                for t, threshold in enumerate(thresholds)
            ]
        )
        labels = nearest_of(residuals, bands)
        scales = np.array([_scale(residuals[labels == t, t], bands[t]) for t in range(len(found))])
        return cls(found, residuals, thresholds, bands, scales, labels)

    @property
    def explained(self) -> BoolArray:
        """(m,) elements within the band of any model."""
        return np.asarray((self.residuals <= self.bands).any(1), bool)

    def n_beside_another(self) -> int:
        """Models that lie so near to another one that the two may be pieces of one structure."""
        beside = 0
        for t, threshold in enumerate(self.thresholds):
            own = np.delete(self.residuals[self.labels == t], t, axis=1)
            beside += bool(own.size) and bool(np.median(own, axis=0).min() <= BESIDE * threshold)
        return beside

    def covered(self) -> int | None:
        """The model that lies most within the own scale of others, if more than half of it does."""
        if len(self.found) < 2:
            return None
        shares = np.zeros(len(self.found))
        for t in range(len(self.found)):
            own = self.residuals[self.labels == t] <= self.scales
            own[:, t] = False
            shares[t] = own.any(1).mean() if len(own) else 1.0
        worst = int(np.argmax(shares))
        return worst if shares[worst] > _MAJORITY else None


def residuals_of(found: list[Found], data: FloatArray) -> FloatArray:
    """(m, t) distances of all elements to models that may be of several families."""
    if not found:
        return np.empty((len(data), 0))
    columns = [one.family.residuals(one.fit.params[None], data) for one in found]
    return np.hstack(columns)


def nearest_of(residuals: FloatArray, bands: FloatArray, width: float = 1.0) -> IntArray:
    """(m,) nearest model, in bands, of each element; -1 where none is within this number of its own bands."""
    if not residuals.shape[1]:
        return np.full(len(residuals), -1, np.int64)
    distance = residuals / bands
    best = distance.argmin(1)
    return np.where(distance[np.arange(len(distance)), best] <= width, best, -1).astype(np.int64)


def _band(
    distance: FloatArray, own: BoolArray, free: BoolArray, threshold: float, codimension: float, reach: float
) -> float:
    """The width up to which labels are most often right: at most one threshold, or from one to the family's reach.

    Of n elements within r about E are clutter, as dense as around the model: n - 2 E is right less wrong labels.
    """
    far = reach * threshold
    around = np.count_nonzero(free & (distance > far) & (distance <= _FLANK * far)) + 0.5
    density = around / ((_FLANK * reach) ** codimension - reach**codimension)
    widths = np.linspace(1.0 if reach > 1 else _NARROW, reach, _STEPS)
    counts = np.count_nonzero(distance[own, None] <= widths * threshold, axis=0)
    return float(threshold * widths[int(np.argmax(counts - 2 * density * widths**codimension))])


def _scale(own: FloatArray, band: float) -> float:
    """Distance that holds nearly all elements of a model."""
    return float(np.quantile(own, _SCALE)) if len(own) else band


def polished(found: list[Found], data: FloatArray) -> list[Found]:
    """The models, refitted to the elements that are nearest to each."""
    if any(one.elements is not None for one in found):
        return found
    for _ in range(_POLISH):
        labels = nearest_of(residuals_of(found, data), np.array([one.fit.threshold for one in found]))
        found = [_refitted(one, one.family.view(data[labels == t])) for t, one in enumerate(found)]
    return found


def _refitted(one: Found, own: FloatArray) -> Found:
    """One model after one step of weighted least squares on elements of its own."""
    if not hasattr(one.family.model, "refit"):
        return one
    params = reweighted(one.family.model, own, one.fit.params, one.fit.core) if len(own) else one.fit.params
    return replace(one, fit=replace(one.fit, params=params))


def _median(values: FloatArray) -> float:
    """The median; infinity where there is none."""
    return float(np.median(values)) if len(values) else float(np.inf)


def _fitted_to(one: Found, own: FloatArray) -> Found:
    """A model fitted to some elements, with weights as wide as its threshold."""
    model, view = one.family.model, one.family.view(own)
    params = np.asarray(model.refit(view, np.ones(len(view))), np.float64)  # type: ignore[attr-defined]
    if not np.isfinite(params).all():
        return one
    for _ in range(_POLISH):
        params = reweighted(model, view, params, one.fit.threshold)
    return replace(one, fit=replace(one.fit, params=params, core=one.fit.threshold))


def in_touching_runs(one: Found, data: FloatArray) -> BoolArray:
    """(m,) elements of the runs that a round model can be laid along, beyond its spots: one for each further parameter.

    A circle that touches three edges always exists, whatever the edges are: it can slide along each, and has three
    parameters. Elements of an edge hang together, each within a threshold of the next, so each piece of an edge is one
    event. Elements that are independent make short runs, which hardly count. A piece ends where the model bends away
    from its tangent. Lines and planes cannot slide along a piece that they follow.
    """
    family, model = one.family, one.family.model
    if "radius" not in getattr(model, "measures", ()):
        return np.zeros(len(data), bool)
    places = family.view(data)[:, : int(getattr(model, "n_places", 0)) or None]
    n_parameters = int(getattr(model, "degrees_of_freedom", model.sample_size))
    radius, gone = spot_radius(family, one.fit, one.fit.threshold), np.zeros(len(data), bool)
    for _ in range(n_parameters - -(-n_parameters // places.shape[1])):
        rest = np.flatnonzero(~gone)
        if not len(rest):
            break
        tree = cKDTree(places[rest])
        centre = int(np.argmax(tree.query_ball_point(places[rest], radius, return_length=True)))
        piece = rest[tree.query_ball_point(places[rest[centre]], radius)]
        touching = cKDTree(places[piece]).sparse_distance_matrix(cKDTree(places[piece]), one.fit.threshold)
        runs = connected_components(touching, directed=False)[1]
        gone[piece[runs == np.argmax(np.bincount(runs))]] = True
    return gone


def reach_of(family: Family) -> float:
    """How many thresholds labels of a family may reach: more than one where surfaces are not quite even."""
    return float(getattr(family.model, "label_reach", 1.0))


class ModelSearch:
    """State of a search: which elements no model explains yet, and how many rounds were made."""

    def __init__(
        self,
        families: list[Family],
        data: FloatArray,
        threshold: float | None,
        settings: Settings,
        rng: np.random.Generator,
        n_scales: int = 1,
        max_rounds: int = _ROUNDS,
    ) -> None:
        self.families, self.data, self.settings, self.rng = families, data, settings, rng
        self._n_scales, self.uneven = n_scales, all(reach_of(one) > 1 for one in families)
        given = settings.sampling.max_rounds
        self.max_rounds = max_rounds if given is None else given
        self.threshold, self.auto = threshold, threshold is None
        self.n_tested = self.n_kept = self.n_rounds = 0
        self.found = list[Found]()
        self._live = np.ones(len(data), bool)
        self._least = max(family.model.sample_size for family in families)

    def run(self) -> list[Found]:
        """All models, each a structure of its own."""
        while self.n_rounds < self.max_rounds and self._live.sum() > self._least:
            new = self._round()
            self.n_rounds += 1
            if not new or self.settings.test.literal:
                self.found += new
                break
            before = len(self.found)
            self.found = self._one_each(polished(self.found + new, self.data))
            self._live = ~self.structures().explained
            if len(self.found) <= before:  # nothing new was said
                break
        return self.found

    def widen(self, threshold: float) -> None:
        """Go on with the threshold of the user, where the rounds were made at a part of it."""
        self.threshold = threshold
        self.found = [replace(one, fit=replace(one.fit, threshold=threshold)) for one in self.found]

    def structures(self) -> Structures:
        """The models that were found, side by side."""
        codimensions = [float(getattr(one.family.model, "codimension", 1)) for one in self.found]
        return Structures.of(self.found, self.data, codimensions, self.settings.label_width)

    def order(self) -> IntArray:
        """The models, the most meaningful first, each by what those before it leave.

        The numbers by which they were accepted cannot be compared: they are those of the best of a few random
        hypotheses, and later rounds have fewer elements and know the size of clumps.
        """
        accepted = np.argsort([one.log_nfa for one in self.found], kind="stable").astype(np.int64)
        if len(self.found) < 2 or self._whole.rule != "background":
            return accepted
        chosen = self._looked_at(np.arange(len(self.data)))
        data, weights = self.data[chosen], self._weights(chosen)
        places, hits = list[int](), list[ModelHits]()
        for name in dict.fromkeys(one.family.name for one in self.found):
            own = [t for t in accepted if self.found[t].family.name == name]
            family, fits = self.found[own[0]].family, [self.found[t].fit for t in own]
            test = self._test(family, chosen, self._planned[name], self._whole, fits[0].threshold)
            places, hits = [*places, *own], [*hits, ModelHits.of(family.view(data), test, fits)]
        within = np.hstack([one.within for one in hits])
        beside = np.hstack([one.beside_within for one in hits])
        left = Unexplained(hits, np.ones(len(data)) if weights is None else weights, len(beside))
        taken = list[int]()
        while len(taken) < len(places):
            scores = left.scores.copy()
            scores[taken] = np.inf
            taken.append(int(np.argmin(scores)))
            left = left.without(within[:, taken[-1]], beside[:, taken[-1]])
        return np.array(places, np.int64)[taken]

    def _one_each(self, found: list[Found]) -> list[Found]:
        """Drop models outside of the bounds, those that others explain better, and what means nothing by itself."""
        while True:
            self.found = found
            structures = self.structures()
            simpler = self._fewer() if self.uneven else self._joined(structures)
            if simpler is not None:
                found = polished(simpler, self.data)
                continue
            out = self._out_of_bounds(structures)
            if out is None and not self.uneven:
                out = structures.covered()
            if out is None:
                out = self._meaningless(structures) if self.uneven else self._unspread(structures)
            if out is None:
                return found
            found = polished([one for index, one in enumerate(found) if index != out], self.data)

    @cached_property
    def exchange(self) -> Exchange:
        """The comparison of sets of models by their evidence."""
        model, view = self.families[0].model, self.families[0].view(self.data)
        moved = getattr(model, "shifts", None)
        near = Neighbours.of(positions(model, view), None if moved is None else moved(view))
        return Exchange(self.data, near, self._columns, self.rng)

    @cached_property
    def _among_rounds(self) -> Exchange:
        """The same for a round: planes that are not found yet are no clutter, although they move together."""
        near = Neighbours.of(positions(self.families[0].model, self.families[0].view(self.data)))
        return Exchange(self.data, near, self._columns, self.rng)

    def evidence(self, found: list[Found]) -> float:
        """How well some models explain the elements."""
        return self.exchange.explain(found).evidence

    def exchanged(self, others: list[Found]) -> None:
        """Change the models that were found while the evidence grows; each must be meaningful beside the others."""
        state = self.exchange.run(self.found, others)
        while True:
            self.found = state.found
            values, smaller = self._beside_others(state)
            if smaller is None:
                break
            state = smaller
        self.found = [
            replace(one, log_nfa=float(value)) if np.isinf(one.log_nfa) else one
            for one, value in zip(self.found, values)
        ]

    def _beside_others(self, state: Explanation) -> tuple[FloatArray, Explanation | None]:
        """(t,) log-10 NFA of each model beside the others, and the set without the weakest, if that means nothing.

        Near another plane, few elements of a model are outside of the band of the other. So the evidence may speak for
        it: without it all of its elements must be clearly less likely. By chance a likelihood ratio of r has a
        probability of 1 / r at most, and the evidence has paid for the number of hypotheses.
        """
        structures = self.structures()
        values = np.array([self._own_log_nfa(t, structures, self._whole) for t in range(len(self.found))])
        for t in np.argsort(-values, kind="stable") if len(values) > 1 else ():
            if values[t] < np.log10(self.settings.epsilon):
                break
            without = self.exchange.without(state, int(t))
            gain = state.evidence - without.evidence
            if gain <= _CLEARLY * np.count_nonzero(state.how.labels == t):
                return values, without
            values[t] = min(values[t], -gain / np.log(10))
        return values, None

    def _columns(self, found: list[Found]) -> list[Column]:
        """Models as the comparison of sets of models sees them; those of one family and threshold at once."""
        kinds = list(dict.fromkeys((one.family.name, one.fit.threshold) for one in found))
        columns = dict[int, Column]()
        for kind in kinds:
            places = [i for i, one in enumerate(found) if (one.family.name, one.fit.threshold) == kind]
            family, params = found[places[0]].family, np.array([found[i].fit.params for i in places])
            model, threshold, points = family.model, found[places[0]].fit.threshold, family.view(self._whole.points)
            reach, codimension = threshold * reach_of(family), int(getattr(model, "codimension", 1))
            distances = np.ascontiguousarray(family.residuals(params, self.data).T)
            near = count_within(model, params, points, np.array([reach]))[0]
            used = int(getattr(model, "degrees_of_freedom", model.sample_size)) / codimension
            for i, own, hits in zip(places, distances, near):
                chance = (int(hits) + 0.5) / (len(points) + 1)
                columns[i] = Column(own, threshold, reach, codimension, used, chance)
        return [columns[i] for i in range(len(found))]

    def _joined(self, structures: Structures) -> list[Found] | None:
        """The models with one in place of two, where one model holds the elements of both as well as it holds its own.

        What one model leaves at its edges can make a second one beside it; then each takes the half that is nearest.
        """
        for t, weak in reversed(list(enumerate(self.found))):
            for s, strong in enumerate(self.found):
                if s == t or strong.family.name != weak.family.name or not hasattr(strong.family.model, "refit"):
                    continue
                if not _median(structures.residuals[structures.labels == t, s]) <= 2 * structures.bands[s]:
                    continue
                own = self.data[(structures.labels == s) | (structures.labels == t)]
                one = _fitted_to(strong, own)
                near = one.family.residuals(one.fit.params[None], own)[:, 0] <= structures.bands[s]
                if near.mean() >= _SCALE:
                    rest = [each for index, each in enumerate(self.found) if index not in (s, t)]
                    return [one, *rest]
        return None

    def _fewer(self) -> list[Found] | None:
        """One model less, dropped or joined with another, where that explains the elements better; None if none."""
        if len(self.found) < 2:
            return None
        better = self._among_rounds.fewer(self._among_rounds.explain(self.found))
        return None if better is None else better.found

    def _out_of_bounds(self, structures: Structures) -> int | None:
        """The first model whose elements do not cover as much of it as they must."""
        for t, one in enumerate(self.found):
            inside = structures.residuals[:, t] <= structures.thresholds[t]
            if not within_bounds(one.family, one.fit, self.data[inside]):
                return t
        return None

    def _meaningless(self, structures: Structures) -> int | None:
        """The weakest model that is not meaningful by the elements that no other model explains."""
        worst, index = np.log10(self.settings.epsilon), None
        if len(self.found) < 2:
            return None
        for t in range(len(self.found)):
            if structures.bands[t] <= structures.thresholds[t]:
                continue  # no ring around the others that could have made it
            value = self._own_log_nfa(t, structures, self._chance)
            if not value < worst:
                worst, index = value, t
        return index

    def _unspread(self, structures: Structures) -> int | None:
        """The model that chance explains best without its spots, by the elements that no other model explains."""
        worst, index, chance = SPREAD, None, self._whole
        if self.settings.test.literal:
            return None
        beside = residuals_of(self.found, chance.points)
        explained, covered = structures.residuals <= structures.bands, beside <= structures.bands
        n_explaining, n_covering = explained.sum(1), covered.sum(1)
        for t, one in enumerate(self.found):
            if not one.family.dispersion:
                continue
            rest, quiet = n_explaining == explained[:, t], n_covering == covered[:, t]
            own = rest & (structures.residuals[:, t] <= one.fit.threshold)
            near = quiet & (beside[:, t] <= one.fit.threshold)
            test = self._test(one.family, np.flatnonzero(rest), 1, chance, one.fit.threshold)
            own[np.flatnonzero(own)[in_touching_runs(one, self.data[own])]] = False
            weights, points = self._weights(own), chance.points[near]
            value = log_spread(one.family, one.fit, test, self.data[own], weights, points, int(quiet.sum()))
            if value > worst:
                worst, index = value, t
        return index

    def _own_log_nfa(self, t: int, structures: Structures, chance: Background) -> float:
        """Log-10 NFA of a model by the elements that no other model explains."""
        one = self.found[t]
        others = np.delete(structures.residuals <= structures.bands, t, axis=1).any(1)
        beside = np.zeros(len(chance.points), bool)
        for j, other in enumerate(self.found):
            if j != t:
                beside |= other.family.residuals(other.fit.params[None], chance.points)[:, 0] <= structures.bands[j]
        test = self._test(
            one.family,
            np.flatnonzero(~others),
            self._planned[one.family.name],
            chance.outside(beside),
            one.fit.threshold,
        )
        held = test.held(structures.residuals[~others, t][:, None] <= test.thresholds, None)
        p = test.chance.probabilities(test.model, one.fit.params[None], test.thresholds)[:, 0]
        return float(test.log_nfa(held, p, test.chance.size, levels=test.thresholds).min())

    def _round(self) -> list[Found]:
        """Search a subset of what is left; verify on all of it."""
        chosen = self._looked_at(np.flatnonzero(self._live))
        data = self.data[chosen]
        if self.threshold is None:
            self.threshold = scale_of(self.families, data, self.rng)
        if self.threshold is None:
            return []
        threshold = self.threshold
        self._chance = self._background(data, threshold)
        if not self.found:
            self._whole = self._chance
        self._planned: dict[str, int] = {}
        self._clumps = {family.name: self._clumping(family, data, threshold) for family in self.families}
        candidates = []
        for family in self.families:
            view, test, screened = self._screened(family, chosen, data, threshold)
            rng = None if self.settings.test.literal else self.rng
            sampling = self.settings.sampling
            groups = group(screened, sampling.min_elements, sampling.min_candidates, rng)
            if self.settings.test.literal:
                return confirm_as_paper(family, view, test, screened, groups, self.settings.epsilon)
            candidates.append(Candidates.of(family, view, test, screened, [columns for _, columns in groups]))
        return self._confirmed(data, candidates)

    def _looked_at(self, elements: IntArray) -> IntArray:
        """The elements, or a random subset of them where they are more than a round looks at."""
        most = self.settings.sampling.max_elements
        return elements if len(elements) <= most else np.sort(self.rng.choice(elements, most, replace=False))

    def _clumping(self, family: Family, data: FloatArray, threshold: float) -> FloatArray:
        """Size of the clumps in which elements come, as models of chance meet them; 1 while nothing is found.

        Before the first model is found all models are among the elements, and would count as clumps themselves.
        """
        chance = self._viewed(family)
        measured = chance.rule == "background" and self.settings.test.density == "data"
        if not self.found or not measured or len(chance.points) <= 2 * family.model.sample_size:
            return np.ones(len(FRACTIONS))
        points = chance.points[: min(len(data), len(chance.points))]
        rng = np.random.default_rng(0)  # of chance already: which of its points are chosen hardly matters
        params = propose(family, points, _PILOTS_OF_CHANCE, rng).params
        return clumping(family.model, params, family.view(data), chance, threshold * FRACTIONS)

    def _background(self, data: FloatArray, threshold: float) -> Background:
        """What chance does with the elements that are left, outside of what was found."""
        test = self.settings.test
        n_points = test.n_background or max(_BACKGROUND, (_EACH_PAIR if self.uneven else _EACH) * len(data))
        rule = "paper" if test.literal else test.hits
        width = threshold if test.density == "data" else None
        model = max((family.model for family in self.families), key=lambda one: getattr(one, "n_features", 0) or 0)
        chance = Background.of(model, data, n_points, self.rng, rule, width)
        if not self.found:
            return chance
        structures = self.structures()
        near = residuals_of(self.found, chance.points) <= structures.bands
        return chance.outside(np.asarray(near.any(axis=1)))

    def _screened(
        self, family: Family, chosen: IntArray, data: FloatArray, threshold: float
    ) -> tuple[FloatArray, NfaTest, Screened]:
        """Hypotheses of one family that chance does not explain: as many as planned, or until enough have passed."""
        settings, view = self.settings, family.view(data)
        planned = self._n_samples(family, view, threshold)
        self._planned[family.name] = planned
        test = self._test(family, chosen, planned, self._chance, threshold)
        relaxed = max(settings.test.screen_epsilon, settings.epsilon)
        automatic = settings.n_samples == "auto" and family.law.name != "exhaustive"
        batch = min(planned, max(_BATCH, planned // _BATCHES)) if automatic else planned
        table = LocalTable.of(positions(family.model, view), family.law)
        parts = list[Screened]()
        made = drawn = 0
        while made < planned and drawn < _RAW * planned:
            wanted = min(batch, planned - made)
            hypotheses = propose(family, view, wanted, self.rng, table)
            if not len(hypotheses.params):
                break
            if test.chance.rule == "empirical":
                test = _with_density(test, view, hypotheses)
            if family.law.name == "exhaustive":
                test = self._test(family, chosen, len(hypotheses.params), self._chance, threshold)
            parts.append(screen(view, hypotheses, test, relaxed, settings.n_jobs))
            made += len(hypotheses.params)
            drawn += hypotheses.n_drawn
            used_up = len(hypotheses.params) < _USED_UP * wanted or family.law.name == "exhaustive"
            if used_up or not automatic or sum(len(p.params) for p in parts) >= _ENOUGH:
                break
        screened = _together(parts, view, family)
        if not self.n_rounds:
            self.n_tested += screened.n_tested
            self.n_kept += len(screened.params)
        return view, test, screened

    def _confirmed(self, data: FloatArray, candidates: list[Candidates]) -> list[Found]:
        """Models of this round; their elements are set aside."""
        settings = self.settings
        # a round may spend a = epsilon / (1 + epsilon) and takes place only if the one before found a model: on
        # background alone that has a probability of a at most, and a + a^2 + a^3 + ... = epsilon
        log_penalty = float(np.log10(1 + settings.epsilon))
        found = Exclusion(data, candidates).run(settings.epsilon, log_penalty)
        if len(candidates) > 1:
            limit = float(np.log10(settings.epsilon)) - log_penalty
            found = [in_simpler_family(one, data, candidates, limit) for one in found]
        if self._live.sum() > len(data):
            tests = {one.family.name: one.test for one in candidates}
            found = [new for one in found if (new := self._verified(one, tests[one.family.name])) is not None]
        return found

    def _verified(self, one: Found, test: NfaTest) -> Found | None:
        """A model of a subset, refitted to all elements that are left and tested on them."""
        chosen = np.flatnonzero(self._live)
        left, family = one.family.view(self.data[chosen]), one.family
        test = replace(test, n_elements=len(left), weights=self._weights(chosen))
        fit = one.fit
        if hasattr(family.model, "refit"):
            fit = sharpen(left, family.model, fit.params[None], fit.threshold, np.array([fit.core / 2]))[0]
        witness, reach = one.support[:1], one.support_thresholds[:1]
        hits = family.model.residuals(witness, left) <= reach
        chance = test.chance.probability(family.model, witness, reach)
        nfa = float(test.log_nfa(test.held(hits, None), chance, test.chance.size)[0])
        if not nfa + one.log_penalty < np.log10(self.settings.epsilon):
            return None
        return replace(one, fit=fit, log_nfa=nfa + one.log_penalty)

    def _weights(self, chosen: BoolArray | IntArray) -> FloatArray | None:
        """Lengths of segments, where elements count with them."""
        if not self.settings.test.lengths:
            return None
        segments = self.data[chosen]
        return np.asarray(np.hypot(*(segments[:, 2:] - segments[:, :2]).T), np.float64)

    def _n_samples(self, family: Family, data: FloatArray, threshold: float) -> int:
        """Hypotheses planned for this round: a model of given size has the same chance in every round."""
        n_samples = self.settings.n_samples
        if isinstance(n_samples, str):
            return self._enough(family, data, threshold)
        share = min(1.0, len(data) / min(len(self.data), self.settings.sampling.max_elements))
        return max(int(np.ceil(n_samples * share**family.model.sample_size)), min(n_samples, _FEWEST))

    def _enough(self, family: Family, data: FloatArray, threshold: float) -> int:
        """Hypotheses that find the smallest model which would be meaningful, if its elements were drawn uniformly.

        Of the elements that it needs within the threshold chance puts some there: only the others are its own.
        """
        size, sampling = family.model.sample_size, self.settings.sampling
        pilot = propose(family, data, _PILOT, self.rng).params
        chance = self._viewed(family)
        counts = np.arange(1, len(data) - size + 1)
        tests = log_tests(len(data), size, family.most, len(FRACTIONS))
        own = len(data)
        shares = chance.probabilities(family.model, pilot, threshold * FRACTIONS)
        for p, clumps in zip(np.median(shares, axis=1) if len(pilot) else [1.0], self._clumps[family.name]):
            nfa = tests + log_binomial_tail(len(data) - size, counts, p) / clumps
            smallest = size + int(np.searchsorted(-nfa, -np.log10(self.settings.epsilon))) + 1
            own = min(own, max(smallest - round(p * len(data)), size))
        sample_chance = min(1.0, (own / len(data)) ** size * _local_gain(family, data))
        if sampling.min_candidates / sample_chance > family.most:
            return family.most
        needed = samples_needed(sample_chance, sampling.min_candidates, sampling.detection)
        return int(np.clip(needed, min(_FEWEST, family.most), family.most))

    def _viewed(self, family: Family, chance: Background | None = None) -> Background:
        """The background as one family sees it."""
        chance = self._chance if chance is None else chance
        return replace(chance, points=family.view(chance.points), box=chance.box[:, : family.columns])

    def _test(
        self, family: Family, chosen: IntArray, n_hypotheses: int, chance: Background, threshold: float
    ) -> NfaTest:
        """The test of one family in this round."""
        settings, size = self.settings, family.model.sample_size
        literal = settings.test.literal
        rule = "combinatorial" if literal else settings.test.tests
        thresholds = threshold * (np.ones(1) if literal else FRACTIONS)
        kinds = len(self.families) * (N_SCALES if self.auto else self._n_scales)
        number = log_tests(len(chosen), size, n_hypotheses, kinds * len(thresholds), rule)
        soft = settings.sampling.preference == "soft"
        return NfaTest(
            family.model,
            len(chosen),
            thresholds,
            self._viewed(family, chance),
            number,
            0 if literal else size,
            self._weights(chosen),
            soft,
            threshold if soft or literal else VOTE * threshold,
            family.steps,
            1.0 if literal else self._clumps[family.name],
        )


def searched(
    families: list[Family], data: FloatArray, threshold: float | None, settings: Settings, rng: np.random.Generator
) -> ModelSearch:
    """The whole search of a fit: rounds, at one threshold or two, and for uneven surfaces a search over sets of models.

    Models that are as thin as the noise (points on lines, planes, circles) are searched in rounds at the threshold,
    and that is all. Matches of real surfaces get labels beyond the threshold, so their threshold is a bound rather than
    the noise. Where the noise is much smaller, one model within the threshold takes two structures for one; within half
    of it, it does not. So their rounds are made at both, in one of two orders:

    * Motions: all rounds at the threshold, then all rounds at half of it. The answer with more evidence is the start of
      the search over sets of models; the models of the other are offered to it.
    * Models that say `tight_first` (planes): one round at half the threshold, and one at the threshold only if the
      first finds nothing. What they find is the start of the search over sets of models, which finds the rest.

    Where the threshold is "auto" (None), all rounds are at the one that is found, and the search over sets follows. A
    number of rounds that the user gives holds in either order.
    """
    uneven = all(reach_of(one) > 1 for one in families) and not settings.test.literal
    tight_first = all(getattr(one.model, "tight_first", False) for one in families)
    parts: tuple[float, ...] = (1.0,)
    rounds = _ROUNDS
    if uneven and threshold is not None:
        parts, rounds = ((0.5, 1.0), 1) if tight_first else ((1.0, 0.5), _ROUNDS)
    searches = list[ModelSearch]()
    for part in parts:
        within = None if threshold is None else part * threshold
        search = ModelSearch(families, data, within, settings, rng, len(parts), rounds)
        search.run()
        if threshold is not None:
            search.widen(threshold)
        searches.append(search)
        if tight_first and search.found:
            break
    starts = [one for one in searches if one.found]
    if not uneven or not starts:
        return searches[0]
    best = max(starts, key=lambda one: starts[0].evidence(one.found))
    best.exchanged([model for one in starts if one is not best for model in one.found])
    return best


def _local_gain(family: Family, data: FloatArray) -> float:
    """How many times as often local samples are of one model alone, for a model that is as large as the data.

    They are drawn within the share f of the data. A model of dimension d - c among points in d dimensions has a share
    f^((d - c) / d) of its elements there, so each partner is f^(-c / d) times as likely one of them.
    """
    if hasattr(family.model, "positions"):
        return 1.0  # images of surfaces fill their part of the plane
    power = float(getattr(family.model, "codimension", 1)) / data.shape[1] * (family.model.sample_size - 1)
    return float(share_in_reach(data, family.law) ** -power)


def _with_density(test: NfaTest, data: FloatArray, hypotheses: Hypotheses) -> NfaTest:
    """The test with the density of the preference matrix as its chance."""
    pilot = test.model.residuals(hypotheses.params[:_PILOT], data)
    densities = np.array([(pilot <= threshold).mean() for threshold in test.thresholds])
    return replace(test, chance=replace(test.chance, levels=test.thresholds, densities=densities))


def _together(parts: list[Screened], data: FloatArray, family: Family) -> Screened:
    """Batches of hypotheses as one."""
    from scipy.sparse import csc_array, hstack

    if len(parts) == 1:
        return parts[0]
    if not parts:
        none = np.empty((0, 0))
        empty = np.empty(0)
        samples = np.empty((0, family.model.sample_size), np.int64)
        return Screened(none, samples, csc_array((len(data), 0), dtype=np.uint8), empty, empty, none, 0)
    names = ("params", "samples", "log_nfa", "thresholds", "improved")
    joined = {name: np.concatenate([getattr(one, name) for one in parts]) for name in names}
    matrix = csc_array(hstack([one.matrix for one in parts], format="csc"))
    return Screened(matrix=matrix, n_tested=sum(one.n_tested for one in parts), **joined)


def blocks(data: FloatArray, n_models: int) -> Iterator[FloatArray]:
    """The data in pieces, such that residuals of all models to one piece have bounded size."""
    step = max(1, _BLOCK // max(n_models, 1))
    return (data[start : start + step] for start in range(0, len(data), step))


def members_of(found: list[Found], data: FloatArray) -> csr_array:
    """(m, t) members of each model: what is within its threshold, or (literal method) its bi-cluster."""
    literal = [one.elements for one in found if one.elements is not None]
    if literal:
        return csr_array(np.stack(literal, axis=1))
    if not found:
        return csr_array((len(data), 0), dtype=bool)
    thresholds = np.array([one.fit.threshold for one in found])
    parts = [csr_array(residuals_of(found, piece) <= thresholds) for piece in blocks(data, len(found))]
    return csr_array(vstack(parts, format="csr"), dtype=bool)


def labels_of(found: list[Found], bands: FloatArray, data: FloatArray) -> IntArray:
    """(m,) nearest model, in bands, of each element; -1 where none is near enough."""
    parts = [nearest_of(residuals_of(found, piece), bands) for piece in blocks(data, len(found))]
    return np.concatenate([np.empty(0, np.int64), *parts])


def fitted_labels(search: ModelSearch, found: list[Found], bands: FloatArray, data: FloatArray) -> IntArray:
    """(m,) model of each element that was fitted: the nearest one, or as the evidence divides them.

    The data may repeat the elements that were searched.
    """
    if not (search.uneven and found) or search.settings.label_width is not None or search.settings.test.literal:
        return labels_of(found, bands, data)
    labels = search.exchange.explain(found).how.labels
    if len(data) == len(search.data):
        return labels
    return np.asarray(labels[np.unique(data, axis=0, return_inverse=True)[1].ravel()], np.int64)


def consensus_of(found: list[Found], data: FloatArray, membership: csr_array, labels: IntArray) -> Consensus:
    """The hypotheses behind the models as a pool, and the models as its bi-clusters."""
    most = max(1, _SUPPORT // len(data))
    sizes = [min(len(one.support), most) for one in found]
    if found:
        votes = [_votes(one, size, data) for one, size in zip(found, sizes)]
        pool = Pool.from_matrix(csr_array(np.hstack(votes)), names=_names(found, sizes))
    else:
        pool = Pool.from_groups([[]], len(data))
    support = np.split(np.arange(sum(sizes)), np.cumsum(sizes)[:-1]) if found else []
    evidence = np.array([one.log_nfa for one in found], np.float64)
    return assemble_groups(pool, membership, labels, support, evidence, SETTINGS)


def _votes(one: Found, size: int, data: FloatArray) -> FloatArray:
    """(m, h) which elements each of the hypotheses behind a model holds."""
    near = one.family.residuals(one.support[:size], data) <= one.support_thresholds[:size]
    return np.asarray(near, np.uint8)


def _names(found: list[Found], sizes: list[int]) -> list[str]:
    """Names of the hypotheses behind each model."""
    return [f"model {t}: hypothesis {i}" for t, size in enumerate(sizes) for i in range(size)]
