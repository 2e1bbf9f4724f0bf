"""The search for many models, round by round: what is found is set aside, what is left is searched again."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from biconsensus.fitting._confirm import Confirmation
from biconsensus.fitting._hypotheses import Hypotheses, Screened, Trial, propose, screen
from biconsensus.fitting._paper import confirm_as_paper
from biconsensus.fitting._refit import sharpen
from biconsensus.fitting._rounds import Found, group
from biconsensus.fitting._settings import VOTE, Settings, positions, thresholds_of
from biconsensus.protocols import BoolArray, FloatArray, IntArray, Model
from biconsensus.significance._background import Background
from biconsensus.significance._models import log_binomial_tail, log_tests
from biconsensus.sources._sampling import samples_needed

_FEWEST, _MOST = 1000, 100_000
_PILOT = 256
_BACKGROUND = 4096


class Search:
    """State of a search: which elements no model explains yet, and how many looks were taken."""

    def __init__(
        self,
        model: Model,
        data: FloatArray,
        threshold: float | str | None,
        settings: Settings,
        rng: np.random.Generator,
    ) -> None:
        self.model, self.data, self.settings, self.rng = model, data, settings, rng
        self.thresholds, self.reach = thresholds_of(threshold, model, data, settings.mode)
        self.core = None if self.reach is None else VOTE * self.reach
        self.n_tested = self.n_kept = self.n_rounds = 0
        self._live, self._attempt = np.ones(len(data), bool), 1
        rule = "paper" if settings.mode == "paper" else settings.hits
        n_points = settings.n_background or max(_BACKGROUND, 4 * min(len(data), settings.max_elements))
        self._chance = Background.of(model, data, n_points, rng, rule)

    def run(self) -> list[Found]:
        """All models, in the order in which they are taken."""
        found = list[Found]()
        while self.n_rounds < self.settings.max_rounds and self._live.sum() > self.model.sample_size:
            new = self._round()
            self.n_rounds += 1
            found += new
            if not new or self.settings.mode == "paper":
                break
        return found

    def _round(self) -> list[Found]:
        """Search a subset of what is left; verify on all of it."""
        chosen = np.flatnonzero(self._live)
        if len(chosen) > self.settings.max_elements:
            chosen = np.sort(self.rng.choice(chosen, self.settings.max_elements, replace=False))
        data = self.data[chosen]
        hypotheses = self._propose(data)
        if not len(hypotheses.params):
            return []
        trial = self._trial(chosen, hypotheses)
        relaxed = max(self.settings.screen_epsilon, self.settings.epsilon)
        screened = screen(data, hypotheses, trial, relaxed, self.settings.n_jobs)
        if not self.n_rounds:
            self.n_tested, self.n_kept = screened.n_tested, len(screened.params)
        literal = self.settings.mode == "paper"
        rng = None if literal else self.rng
        groups = group(screened, self.settings.min_elements, self.settings.min_candidates, rng)
        if literal:
            return confirm_as_paper(data, trial, screened, groups, self.settings.epsilon)
        return self._confirmed(data, trial, screened, [columns for _, columns in groups])

    def _confirmed(self, data: FloatArray, trial: Trial, screened: Screened, groups: list[IntArray]) -> list[Found]:
        """Models of this round; their elements are set aside."""
        settings = self.settings
        confirmation = Confirmation(data, trial, screened, groups, settings.dispersion)
        found = confirmation.run(settings.epsilon, self._attempt)
        self._attempt += len(found) + 1
        if self._live.sum() > len(data):
            found = [verified for one in found if (verified := self._verified(one, trial)) is not None]
        else:
            for one in found:
                self._set_aside(one)
        return found

    def _verified(self, one: Found, trial: Trial) -> Found | None:
        """A model of a subset, refitted to all elements that are left and tested on them."""
        left = self.data[self._live]
        trial = replace(trial, n_elements=len(left), chance=self._chance, weights=self._weights(self._live))
        fit = one.fit
        if hasattr(self.model, "refit"):
            fit = sharpen(left, trial, fit.params, fit.threshold, fit.core / 2)
        witness, reach = one.support[:1], one.reach[:1]
        hits = self.model.residuals(witness, left) <= reach
        chance = self._chance.probability(self.model, witness, reach)
        nfa = float(trial.log_nfa(trial.held(hits, None), chance, self._chance.size)[0])
        if not nfa + one.toll < np.log10(self.settings.epsilon):
            return None
        verified = replace(one, fit=fit, log_nfa=nfa + one.toll)
        self._set_aside(verified)
        return verified

    def _set_aside(self, one: Found) -> None:
        """What a model explains is searched no more, neither among the elements nor in the background."""
        fit = one.fit
        self._live &= ~(self.model.residuals(fit.params[None], self.data)[:, 0] <= fit.threshold)
        beside = self._chance.hits(self.model, fit.params[None], np.array([fit.threshold]))[:, 0]
        self._chance = self._chance.outside(beside)

    def _weights(self, chosen: BoolArray | IntArray) -> FloatArray | None:
        """Lengths of segments, where elements count with them."""
        if not self.settings.lengths:
            return None
        segments = self.data[chosen]
        return np.asarray(np.hypot(*(segments[:, 2:] - segments[:, :2]).T), np.float64)

    def _propose(self, data: FloatArray) -> Hypotheses:
        """Hypotheses of this round."""
        law, places = self.settings.law(self.model, self.data), positions(self.model, data)
        return propose(self.model, data, self._n_samples(data), law, self.rng, places)

    def _n_samples(self, data: FloatArray) -> int:
        """Samples of this round: a model of given size has the same chance in later rounds as in the first."""
        n_samples = self.settings.n_samples
        if isinstance(n_samples, str):
            return self._enough(data)
        share = min(1.0, len(data) / min(len(self.data), self.settings.max_elements))
        return max(int(np.ceil(n_samples * share**self.model.sample_size)), min(n_samples, _FEWEST))

    def _enough(self, data: FloatArray) -> int:
        """Samples that find the smallest model which would be meaningful, if its elements were drawn uniformly."""
        size, law = self.model.sample_size, self.settings.law(self.model, self.data)
        pilot = propose(self.model, data, _PILOT, law, self.rng, positions(self.model, data)).params
        middle = np.full(len(pilot), self.reach or np.median(self.thresholds))
        chance = float(np.median(self._chance.probability(self.model, pilot, middle))) if len(pilot) else 1.0
        counts = np.arange(1, len(data) - size + 1)
        nfa = log_tests(len(data), size, _MOST, len(self.thresholds)) + log_binomial_tail(
            len(data) - size, counts, chance
        )
        smallest = size + int(np.searchsorted(-nfa, -np.log10(self.settings.epsilon))) + 1
        sample_chance = min(1.0, (smallest / len(data)) ** size)
        if self.settings.min_candidates / sample_chance > _MOST:
            return _MOST
        needed = samples_needed(sample_chance, self.settings.min_candidates, self.settings.detection)
        return int(np.clip(needed, _FEWEST, _MOST))

    def _trial(self, chosen: IntArray, hypotheses: Hypotheses) -> Trial:
        """The test of this round."""
        data, settings, size = self.data[chosen], self.settings, self.model.sample_size
        literal = settings.mode == "paper"
        rule = "combinatorial" if literal else settings.tests
        number = log_tests(len(data), size, len(hypotheses.params), len(self.thresholds), rule)
        chance = self._chance
        if chance.rule == "empirical":
            pilot = self.model.residuals(hypotheses.params[:_PILOT], data)
            densities = np.array([(pilot <= threshold).mean() for threshold in self.thresholds])
            chance = replace(chance, levels=self.thresholds, densities=densities)
        soft = settings.preference == "soft"
        left_out = 0 if literal else size
        weights = self._weights(chosen)
        return Trial(
            self.model,
            len(data),
            self.thresholds,
            chance,
            number,
            left_out,
            weights,
            soft,
            self.reach,
            settings.improve,
            None if soft or literal else self.core,
        )
