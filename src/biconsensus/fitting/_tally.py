"""Counts of elements and background points that models hold, kept up to date while models are taken."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from biconsensus.fitting._hypotheses import Trial
from biconsensus.protocols import BoolArray, FloatArray, IntArray
from biconsensus.significance._models import log_tightness


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
    squares: csr_array | None = None
    """(m, w) squared distances of the elements that count, in thresholds; None where these do not matter."""
    codimension: float = 1.0
    """Power of the threshold with which the hit probability grows."""

    def reaches(self, index: int) -> tuple[BoolArray, BoolArray]:
        """Elements and background points that the last model of a group hits."""
        last = int(np.flatnonzero(self.owner == index)[-1])
        return self.hits[:, [last]].toarray()[:, 0] > 0, self.beside[:, last]


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
        self._squares = np.zeros(len(panel.owner)) if panel.squares is None else panel.squares.sum(0)

    def lose(self, gone: IntArray, still: IntArray) -> None:
        """Elements and background points that do not count any more."""
        self._held = self._held - self._left.weights[gone] @ self._panel.hits[gone]
        self._beside = self._beside - self._panel.beside[still].sum(0)
        if self._panel.squares is not None:
            self._squares = self._squares - self._panel.squares[gone].sum(0)

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
        nfa = trial.log_nfa(held, chance, n_points, left.live, own)
        if panel.squares is not None:
            # as for a variance: least squares took as many elements' worth of it as are left out
            mean = np.maximum(self._squares, 0.0) / np.maximum(held, 1.0)
            nfa = nfa - np.maximum(held, 0.0) * log_tightness(mean, panel.codimension)
        np.minimum.at(scores, panel.owner, nfa)
        return scores
