"""Confidence: how probable it is that an element would be grouped so again with a freshly drawn pool."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import linear_sum_assignment

from biconsensus._checks import check_count
from biconsensus.errors import InputError
from biconsensus.matrix._matrix import PreferenceMatrix
from biconsensus.pool._pool import Pool
from biconsensus.protocols import FloatArray, IntArray
from biconsensus.quorum._path import QuorumPath

if TYPE_CHECKING:
    from biconsensus.result._consensus import Consensus

CALIBRATION = 0.05, 0.87
"""Intercept and slope from the share of resamples to that of freshly drawn pools, fitted on five sets of pools."""


@dataclass(frozen=True)
class Confidence:
    """Estimated probabilities of being grouped so again."""

    elements: FloatArray
    """(m,) for each element; 0 for those in no group."""
    groups: FloatArray
    """(T,) for each group: the mean over its elements."""


def confidence(consensus: Consensus, n_resamples: int = 20, random_state: int | None = 0) -> Confidence:
    """Estimate, by resampling the sources, how probable it is that each element would be grouped so again.

    Parameters
    ----------
    consensus : Consensus
        The result in question; its groups must be disjoint.
    n_resamples : int
        Pools drawn.
    random_state : int or None
        Seed of the draws.

    Returns
    -------
    Confidence

    Notes
    -----
    Each resample draws as many sources as there are, with replacement, and groups the elements again by the joint
    method at the quorum of the consensus. Its groups are matched to those of the consensus one to one, so that as many
    elements as possible are shared; an element is confirmed where its group is matched to the one it is in now. The
    share ``(confirmed + 1) / (n_resamples + 2)`` is a little too high, since resamples share sources; a straight line
    fitted on pools that could be drawn afresh corrects it.

    Examples
    --------
    >>> import biconsensus as bc
    >>> found = bc.find_consensus([[0] * 8 + [1] * 8] * 5)
    >>> confidence(found, 8).elements[0].round(2)
    np.float64(0.83)
    """
    check_count("n_resamples", n_resamples)
    if consensus.settings.get("overlap"):
        raise InputError("consensus: its groups may overlap; confidence is defined for disjoint groups.")
    labels, pool = consensus.labels, consensus.pool
    if len(consensus) == 0:
        return Confidence(np.zeros(labels.size), np.zeros(0))
    rng = np.random.default_rng(random_state)
    present = np.unique(pool.source_of)
    confirmed = np.zeros(labels.size)
    for _ in range(n_resamples):
        drawn = np.bincount(rng.choice(present, present.size), minlength=len(pool.sources))
        again = _grouped(consensus, pool, drawn)
        confirmed += (_matched(labels, again, len(consensus)) == labels) & (labels >= 0)
    share = (confirmed + 1.0) / (n_resamples + 2.0)
    shares = np.where(labels >= 0, CALIBRATION[0] + CALIBRATION[1] * share, 0.0)
    groups = np.array([shares[labels == t].mean() if (labels == t).any() else 0.0 for t in range(len(consensus))])
    return Confidence(shares, groups)


def _grouped(consensus: Consensus, pool: Pool, drawn: IntArray) -> IntArray:
    """(m,) groups by the joint method when each source counts as often as it was drawn."""
    weights = pool.weights if consensus.weights is None else consensus.weights
    problem = PreferenceMatrix.from_pool(pool, weights * drawn[pool.source_of])
    quorum = Fraction(consensus.settings["quorum"]).limit_denominator(10_000)
    # only distinct sources count for the minimum, and a resample has about two thirds of them
    fewest = max(1, round(consensus.settings["min_candidates"] * 0.63))
    # the weights are those of the search already, and nothing is chosen here
    path = QuorumPath.at_one(problem, quorum, consensus.settings["min_elements"], fewest)
    return np.asarray(path.labels(path.points[0])[pool.inverse])


def _matched(labels: IntArray, again: IntArray, n_groups: int) -> IntArray:
    """(m,) the groups of a resample under the names of the consensus, -1 where they match none."""
    both = (labels >= 0) & (again >= 0)
    n_again = int(again.max(initial=-1)) + 1
    shared = np.zeros((n_again, n_groups))
    np.add.at(shared, (again[both], labels[both]), 1.0)
    theirs, ours = linear_sum_assignment(shared, maximize=True)
    names = np.full(n_again + 1, -1)
    names[theirs] = np.where(shared[theirs, ours] > 0, ours, -1)
    return names[again]
