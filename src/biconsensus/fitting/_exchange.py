"""Models of uneven surfaces are added, joined and dropped while the evidence of all of them together grows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from biconsensus.fitting._evidence import Column, Explained, Neighbours, explained, gain, student_weights
from biconsensus.fitting._groups import SAME, Fit, Found
from biconsensus.fitting._hypotheses import improved, propose
from biconsensus.fitting._settings import MOST_SAMPLES, VOTE, Family
from biconsensus.protocols import BoolArray, FloatArray
from biconsensus.sources._sampling import LocalTable

_CHOICES = float(np.log(MOST_SAMPLES))
"""What a model pays, in natural logarithms, for the hypotheses that it was chosen from: about as many as are drawn."""
_DRAWN = 1000
"""Hypotheses that are drawn within each model, within clutter, and within all elements."""
_NEAREST = 200
"""Those of them that are improved: with most elements within the threshold."""
_WIDTHS = (1.0, VOTE, 0.25)
"""Widths of the weights in thresholds, one after the other: with wide ones a rough hypothesis finds its elements, with
narrow ones it leaves those of another model."""
_IMPROVED = 3
"""Steps of weighted least squares at each width."""
_KEPT = 12
"""Distinct hypotheses of each such place and width that are looked at: more than a model is ever divided into."""
_SCALES = (0.1, 0.2, 0.4)
"""Scales in thresholds, an octave apart, at which it is estimated what a hypothesis would explain."""
_TRIED = 12
"""Hypotheses that are tried together with all models: those that explain most beyond what is explained."""
_SETTLED = 3
"""Sets of models, the best ones, that are tried with all models refitted."""
_STEPS = 2
"""Alternations between labels and refits in a trial."""
_CHANGES = 12
"""Most changes of the set of models; most searches end after two or three."""


@dataclass(frozen=True)
class Explanation:
    """Models, and how they explain the elements together."""

    found: list[Found]
    columns: list[Column]
    how: Explained

    @property
    def evidence(self) -> float:
        """Of the set."""
        return self.how.evidence


class Exchange:
    """A search over sets of models, of which the evidence of the whole set decides."""

    def __init__(
        self,
        data: FloatArray,
        near: Neighbours,
        columns: Callable[[list[Found]], list[Column]],
        rng: np.random.Generator,
    ) -> None:
        self.data, self._near, self._columns, self._rng = data, near, columns, rng

    def explain(self, found: list[Found], columns: list[Column] | None = None) -> Explanation:
        """How some models explain the elements."""
        columns = self._columns(found) if columns is None else columns
        return Explanation(found, columns, explained(columns, _CHOICES, self._near))

    def run(self, found: list[Found], others: Sequence[Found] = ()) -> Explanation:
        """Improve a set of models by single changes; `others` may be added to it, beside models that are drawn.

        On the way a loose model may hold two structures until each has its own. In the end clutter makes such models.
        """
        return self._without_loose(self._changed(self._settled(self.explain(found)), others))

    def _without_loose(self, state: Explanation) -> Explanation:
        """The set without its loose models; as it was where all are, because then the threshold is too small."""
        tight = state
        while tight.how.loose.any() and len(tight.found) > 1:
            tight = self.without(tight, int(np.argmax(tight.how.loose)))
        return state if tight.how.loose.any() else tight

    def _changed(self, state: Explanation, others: Sequence[Found]) -> Explanation:
        """The set after single changes, as long as they help."""
        for _ in range(_CHANGES):
            changed = self.fewer(state) or self._more(state, others)
            if changed is None:
                break
            state = changed
        return state

    def fewer(self, state: Explanation) -> Explanation | None:
        """One model less, dropped or joined with another, if that is better."""
        trials = list[Explanation]()
        for t in range(len(state.found)) if len(state.found) > 1 else ():
            trials.append(self._with(state, [], {t}))
            trials += [other for s in range(t) if (other := self._joined(state, s, t)) is not None]
        best = self._best(trials)
        return best if best is not None and best.evidence > state.evidence else None

    def without(self, state: Explanation, t: int) -> Explanation:
        """The best set with one certain model less, dropped or joined with another."""
        others = [s for s in range(len(state.found)) if s != t]
        joined = [other for s in others if (other := self._joined(state, min(s, t), max(s, t))) is not None]
        return self._best([self._with(state, [], {t}), *joined]) or state

    def _more(self, state: Explanation, others: Sequence[Found]) -> Explanation | None:
        """One model more, if that is better: drawn within one of the others, within clutter or within all elements."""
        places = [state.how.labels == t for t in range(-1, len(state.found))]
        new = [*others, *self._drawn(state.found, self.data)]
        new += [one for place in places for one in self._drawn(state.found, self.data[place])]
        columns = self._columns(new)
        worth = [max(_beyond(column, scale, state.how.gains) for scale in _SCALES) for column in columns]
        first = np.argsort(-np.array(worth), kind="stable")[:_TRIED]
        best = self._best([self._with(state, [(new[i], columns[i])]) for i in first])
        return best if best is not None and best.evidence > state.evidence else None

    def _best(self, trials: list[Explanation]) -> Explanation | None:
        """The best of the trials, with all models refitted."""
        first = sorted(trials, key=lambda one: -one.evidence)[:_SETTLED]
        return max((self._settled(one) for one in first), key=lambda one: one.evidence, default=None)

    def _with(
        self, state: Explanation, new: list[tuple[Found, Column]], without: set[int] | None = None
    ) -> Explanation:
        """The same models with some more, without some."""
        kept = [index for index in range(len(state.found)) if index not in (without or ())]
        found = [*(state.found[index] for index in kept), *(one for one, _ in new)]
        return self.explain(found, [*(state.columns[index] for index in kept), *(column for _, column in new)])

    def _settled(self, state: Explanation) -> Explanation:
        """Each model refitted to its elements, at its own scale, while the evidence grows."""
        for _ in range(_STEPS):
            other = self.explain([self._refitted(state, t) for t in range(len(state.found))])
            if not other.evidence > state.evidence:
                break
            state = other
        return state

    def _refitted(self, state: Explanation, t: int) -> Found:
        """A model after weighted least squares on its elements."""
        column = state.columns[t]
        weights = student_weights(column.distances, column.codimension, float(state.how.scales[t]))
        return self._fitted(state.found[t], state.how.labels == t, weights)

    def _fitted(self, one: Found, own: BoolArray, weights: FloatArray) -> Found:
        """A model fitted to some elements; as it was where they are too few."""
        model = one.family.model
        if own.sum() <= model.sample_size or not hasattr(model, "refit"):
            return one
        params = np.asarray(model.refit(one.family.view(self.data[own]), weights[own]), np.float64)
        return replace(one, fit=replace(one.fit, params=params)) if np.isfinite(params).all() else one

    def _joined(self, state: Explanation, s: int, t: int) -> Explanation | None:
        """One model in place of two that lie near each other."""
        one, other = state.found[s], state.found[t]
        distances = state.columns[s].distances[state.how.labels == t]
        if one.family.name != other.family.name or not len(distances):
            return None
        if not np.median(distances) <= 2 * state.columns[s].reach:
            return None
        own = (state.how.labels == s) | (state.how.labels == t)
        joint = self._fitted(one, own, np.ones(len(self.data)))
        start = self._with(state, [(joint, self._columns([joint])[0])], {s, t})
        joint = self._refitted(start, len(start.found) - 1)
        return self._with(state, [(joint, self._columns([joint])[0])], {s, t})

    def _drawn(self, found: list[Found], data: FloatArray) -> list[Found]:
        """Distinct hypotheses within some elements, of all families that were found."""
        new = list[Found]()
        for one in {one.family.name: one for one in found}.values():
            family, threshold, view = one.family, one.fit.threshold, one.family.view(data)
            if len(view) <= 2 * family.model.sample_size:
                continue
            # matches of one thing are near each other in both pictures
            better = propose(family, view, _DRAWN, self._rng, LocalTable.of(view, family.law)).params
            sizes = np.count_nonzero(family.model.residuals(better, view) <= threshold, axis=0)
            better = better[np.argsort(-sizes, kind="stable")[:_NEAREST]]
            for reach in threshold * np.array(_WIDTHS):
                better = improved(view, better, reach, family.model, _IMPROVED)
                for params in distinct_hypotheses(better, family, view, reach):
                    fit = Fit(params, threshold, threshold)
                    # not tested yet
                    new.append(Found(family, fit, np.inf, np.inf, params[None], np.array([threshold])))
        return new


def _beyond(one: Column, scale: float, explained: FloatArray) -> float:
    """What a model at some scale, in thresholds, explains beyond what is explained."""
    return float(np.maximum(gain(one, scale * one.threshold) - explained, 0.0).sum())


def distinct_hypotheses(params: FloatArray, family: Family, data: FloatArray, reach: float) -> FloatArray:
    """The hypotheses with most elements, without those that hold nearly the same elements as one before."""
    near = (family.model.residuals(params, data) <= reach).T
    sizes, kept = near.sum(axis=1), list[int]()
    for index in np.argsort(-sizes, kind="stable"):
        if sizes[index] <= family.model.sample_size or len(kept) == _KEPT:
            break
        table = near[kept]
        alike = (table & near[index]).sum(1) >= SAME * (table | near[index]).sum(1)
        if not alike.any():
            kept.append(int(index))
    return params[kept]
