"""How well groups fit a pool, and by which score the point of a path is chosen."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array

from biconsensus.matrix._matrix import PreferenceMatrix
from biconsensus.pool._pool import TRIVIAL_SHARE
from biconsensus.protocols import BoolArray, FloatArray, IntArray
from biconsensus.quorum._measures import contrast, relation, retention
from biconsensus.quorum._overlaps import Overlaps

CLEAR = 0.9
"""Retention above which the coarse groups are clear, so that sources which differ only differ in how finely they cut
them; 0.85 to 0.9 are a plateau (benchmarks/tuning/choice.py)."""
WEIGHT_BITS = 20
"""Binary digits of certain weights: with 14 digits of a quorum and 20 of a million elements they fill a double."""


@dataclass(frozen=True)
class ScoreWeights:
    """How much each measure of a fit counts in a score."""

    recall: float = 0.0
    precision: float = 0.0
    difference: float = 0.0
    silhouette: float = 0.0
    retention: float = 0.0


@dataclass(frozen=True)
class FitMeasures:
    """How well a grouping fits a pool, measured in five ways."""

    recall: float = 0.0
    """P(same group | same candidate), above chance."""
    precision: float = 0.0
    """P(same candidate | same group), above chance."""
    difference: float = 0.0
    """Co-occurrence with the own group less that with the nearest other one."""
    silhouette: float = 0.0
    """The same over one minus the smaller: the silhouette for the distance 1 - co-occurrence."""
    retention: float = 0.0
    """Share of a random walk that stays in its group: 0 where it does not see the groups, 1 if it never leaves them."""

    def score(self, weights: ScoreWeights) -> float:
        """Sum of the five measures, weighted."""
        return (
            self.recall * weights.recall
            + self.precision * weights.precision
            + self.difference * weights.difference
            + self.silhouette * weights.silhouette
            + self.retention * weights.retention
        )


COARSE = ScoreWeights(recall=0.5, precision=0.5, difference=-1.0, silhouette=1.0, retention=3.0)
"""Finds the groups that sources of different granularity share (benchmarks/tuning/choice.py)."""
FINE = ScoreWeights(silhouette=1.0)
"""Where no coarse groups are clear, the contrast between groups decides alone (benchmarks/tuning/choice.py)."""


def score_weights(measures: Iterable[FitMeasures]) -> ScoreWeights:
    """Which score chooses among the points of a path: the coarse one if its choice is clear, else the fine one.

    Parameters
    ----------
    measures : iterable of FitMeasures
        Measures of the points, at least one.

    Returns
    -------
    ScoreWeights

    Examples
    --------
    >>> fine = FitMeasures(silhouette=0.6, retention=0.5)
    >>> score_weights([FitMeasures(silhouette=0.4, retention=0.95), fine]) == COARSE
    True
    >>> score_weights([FitMeasures(silhouette=0.4, retention=0.8), fine]) == FINE
    True
    """
    coarse = max(measures, key=lambda fit: fit.score(COARSE))
    return COARSE if coarse.retention > CLEAR else FINE


@dataclass(frozen=True)
class PathScorer:
    """Measures how groupings of the rows of one pool fit it."""

    problem: PreferenceMatrix
    """The pool, candidates weighted by certainty, trivial ones by zero."""
    plain: FloatArray
    """(q,) weights of the columns without certainty."""
    overlaps: Overlaps
    """What all rows say of the columns, ..."""
    columns: IntArray | None = None
    """(q,) and which column there each column here is; None where they are the same."""

    @classmethod
    def of(cls, problem: PreferenceMatrix) -> PathScorer:
        """Scorer for a pool: trivial candidates do not count, others by their certainty."""
        used = np.where(useful(problem), problem.weights, 0.0)
        overlaps = Overlaps.of(problem)
        return cls(problem.with_weights(exact_sums(used * overlaps.certainty())), used, overlaps)

    def on(self, part: PreferenceMatrix, columns: IntArray) -> PathScorer:
        """The same weights for some of the rows, whose columns are the given columns here."""
        return replace(
            self,
            problem=part.with_weights(self.problem.weights[columns]),
            plain=self.plain[columns],
            columns=columns,
        )

    def normalised(self) -> PreferenceMatrix:
        """The pool with the weights that serve a given number of groups (benchmarks/tuning/given_number.py)."""
        certainty = self.overlaps.normalised_certainty()
        return self.problem.with_weights(self.plain * (certainty if self.columns is None else certainty[self.columns]))

    def measure(self, labels: IntArray) -> FitMeasures:
        """Fit of a grouping of the rows; nothing for fewer than two groups."""
        n_groups = int(labels.max(initial=-1)) + 1
        if n_groups < 2:
            return FitMeasures()
        held = self.problem.shared_with_groups(labels, n_groups)
        kept = (retention(self.problem, labels, held) - 1.0) / (n_groups - 1.0)
        fit = relation(self.problem, labels, held)
        return FitMeasures(*fit, *contrast(self.problem, labels, self.plain, held), kept)


def exact_sums(weights: FloatArray) -> FloatArray:
    """Weights rounded to millionths of the largest, so that sums of them are the same in any order."""
    top = np.frexp(weights.max(initial=0.0))[1]
    rounded = np.ldexp(np.rint(np.ldexp(weights, WEIGHT_BITS - top)), top - WEIGHT_BITS)
    # weights that differ by orders of magnitude are not rounded: the small ones would vanish
    small = weights[weights > 0].min(initial=np.inf)
    return np.asarray(rounded if small >= np.ldexp(1.0, top - WEIGHT_BITS // 2) else weights)


def useful(problem: PreferenceMatrix) -> BoolArray:
    """(q,) columns that are neither empty nor hold nearly all that their source saw, unless most sources agree on it.

    Examples
    --------
    >>> import biconsensus as bc
    >>> pool = bc.Pool.from_labels([[0] * 19 + [1]] * 3 + [[0] * 20])
    >>> problem = bc.PreferenceMatrix.from_pool(pool)
    >>> dict(zip((problem.counts @ problem.entries).tolist(), useful(problem).tolist()))
    {19: True, 1: True, 20: False}
    """
    sizes = problem.sizes
    seen = np.full(sizes.size, float(problem.counts.sum()))
    if problem.unseen is not None and problem.mask is not None:
        seen -= (problem.counts @ problem.unseen.astype(np.float64))[problem.mask]
    found: BoolArray = (sizes > 0) & (sizes < TRIVIAL_SHARE * seen)
    large = np.flatnonzero((sizes > 0) & ~found)
    found[large] = _agreed(problem, large)
    return found


def _agreed(problem: PreferenceMatrix, columns: IntArray) -> BoolArray:
    """(k,) columns for which more than half of the sources leave the same few elements out, by more than half."""
    held = problem.entries[:, columns].toarray() > 0
    if problem.unseen is not None and problem.mask is not None:
        held |= problem.unseen[:, problem.mask[columns]].toarray() > 0
    outside = csr_array(~held, dtype=np.float64)
    shared = (outside.T @ (outside * problem.counts[:, None])).toarray()
    size = shared.diagonal()
    alike = 2 * shared > np.maximum(size[:, None] + size[None, :] - shared, 1e-300)
    sources = (alike.astype(np.float64) @ problem.backers[columns].astype(np.float64)) > 0
    agreed: BoolArray = 2 * sources.sum(axis=1) > problem.backers.shape[1]
    return agreed
