"""How well groups fit a pool, and which kind of fit matters in which kind of pool."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array

from biconsensus.matrix._matrix import PreferenceMatrix
from biconsensus.pool._pool import TRIVIAL_SHARE
from biconsensus.protocols import BoolArray, FloatArray, IntArray
from biconsensus.quorum._measures import contrast, effective_numbers, relation
from biconsensus.quorum._overlaps import Overlaps
from biconsensus.quorum._walk import retention

VARIED = 0.35
"""Spread of the sources' granularity (standard deviation of log effective number of groups) from which it varies."""
MANY = 10.0
"""Effective number of groups, in the median over the sources, above which they see many."""
CLEAR, CLEAR_IF_VARIED = 0.94, 0.85
"""Retention above which groups are so clear that the sources can only differ in how fine they cut them: where they seem
to be of one granularity, and where it varies anyway."""
WEIGHT_BITS = 20
"""Binary digits of certain weights: with those of a quorum (14) and of a million elements (20) they fill a double."""
AGREED = 0.7
"""Agreement between the sources (adjusted Rand index) from which they are met as they are."""


@dataclass(frozen=True)
class Fit:
    """How well a grouping fits a pool, seen in five ways; or how much each of them counts."""

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

    def weighted(self, weights: Fit) -> float:
        """Sum of the five, weighted."""
        return (
            self.recall * weights.recall
            + self.precision * weights.precision
            + self.difference * weights.difference
            + self.silhouette * weights.silhouette
            + self.retention * weights.retention
        )


FEW_SEEN = Fit(recall=2.0, precision=0.5, difference=1.0, retention=0.25)
MANY_SEEN = Fit(silhouette=1.0)
SHARED = Fit(recall=0.5, precision=0.5, difference=-1.0, silhouette=1.0, retention=3.0)
GIVEN_NUMBER = Fit(difference=0.25, retention=1.0)
"""Found by experiment (see the page on the quorum): sources that are met as they are and see few groups, or many;
sources that are met in what they share; groupings of one given number of groups."""


@dataclass(frozen=True)
class PathScorer:
    """Tells how groupings of the rows of one pool fit it, and what counts in such a pool."""

    problem: PreferenceMatrix
    """The pool, candidates weighted by certainty, trivial ones by zero."""
    plain: FloatArray
    """(q,) weights of the columns without certainty."""
    agreement: float = 1.0
    """Of the sources with one another; see `Overlaps`."""

    @classmethod
    def of(cls, problem: PreferenceMatrix) -> PathScorer:
        """PathScorer for a pool: trivial candidates do not count, others by their certainty."""
        used = np.where(useful(problem), problem.weights, 0.0)
        overlaps = Overlaps.of(replace(problem, weights=used))
        certain = exact_sums(used * overlaps.certainty())
        return cls(replace(problem, weights=certain), used, overlaps.agreement())

    def on(self, part: PreferenceMatrix) -> PathScorer:
        """The same weights of the columns, for some of the rows."""
        return replace(self, problem=replace(part, weights=self.problem.weights))

    def weights(self, fits: Sequence[Fit]) -> Fit:
        """How much each part of the fit counts in this kind of pool, seen from the fits of the points on its path.

        Sources that agree, or see no clear groups, can only be met as they are; others in what they share.
        """
        numbers = effective_numbers(self.problem)
        varied = bool(numbers.size) and float(np.std(np.log(numbers))) >= VARIED
        coarse = max(fits, key=lambda fit: fit.weighted(SHARED))
        if self.agreement < AGREED and coarse.retention > (CLEAR_IF_VARIED if varied else CLEAR):
            return SHARED
        return MANY_SEEN if numbers.size and float(np.median(numbers)) > MANY else FEW_SEEN

    def fit(self, labels: IntArray) -> Fit:
        """Fit of a grouping of the rows; nothing for fewer than two groups."""
        n_groups = int(labels.max(initial=-1)) + 1
        if n_groups < 2:
            return Fit()
        kept = (retention(self.problem, labels) - 1.0) / (n_groups - 1.0)
        return Fit(*relation(self.problem, labels), *contrast(self.problem, labels, self.plain), kept)


def exact_sums(weights: FloatArray) -> FloatArray:
    """Weights rounded to millionths of the largest, so that sums of them are the same in any order."""
    top = np.frexp(weights.max(initial=0.0))[1]
    rounded = np.ldexp(np.rint(np.ldexp(weights, WEIGHT_BITS - top)), top - WEIGHT_BITS)
    # weights that differ by orders of magnitude stay as they are: the small ones would vanish
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
    if problem.unseen is not None and problem.view is not None:
        seen -= (problem.counts @ problem.unseen.astype(np.float64))[problem.view]
    found: BoolArray = (sizes > 0) & (sizes < TRIVIAL_SHARE * seen)
    large = np.flatnonzero((sizes > 0) & ~found)
    found[large] = _agreed(problem, large)
    return found


def _agreed(problem: PreferenceMatrix, columns: IntArray) -> BoolArray:
    """(k,) columns for which more than half of the sources leave the same few elements out, by more than half."""
    held = problem.entries[:, columns].toarray() > 0
    if problem.unseen is not None and problem.view is not None:
        held |= problem.unseen[:, problem.view[columns]].toarray() > 0
    outside = csr_array(~held, dtype=np.float64)
    shared = (outside.T @ (outside * problem.counts[:, None])).toarray()
    size = shared.diagonal()
    alike = 2 * shared > np.maximum(size[:, None] + size[None, :] - shared, 1e-300)
    sources = (alike.astype(np.float64) @ problem.backers[columns].astype(np.float64)) > 0
    agreed: BoolArray = 2 * sources.sum(axis=1) > problem.backers.shape[1]
    return agreed
