"""Confidence: how probable it is that an element would be grouped so again with a freshly drawn pool."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.sparse import coo_array, csr_array

from biconsensus.errors import InputError
from biconsensus.protocols import FloatArray, IntArray

if TYPE_CHECKING:
    from biconsensus.pool._pool import Pool
    from biconsensus.result._consensus import Consensus

CALIBRATION = 0.1, 0.84
"""Intercept and slope from that share to the share of freshly drawn pools (benchmarks/tuning/confidence.py)."""


@dataclass(frozen=True)
class Confidence:
    """Estimated probabilities of being grouped so again."""

    elements: FloatArray
    """(m,) for each element; 0 for those in no group."""
    groups: FloatArray
    """(T,) for each group: the mean over its elements."""


def confidence(consensus: Consensus) -> Confidence:
    """Estimate how probable it is that each element would be grouped so again with a freshly drawn pool.

    Parameters
    ----------
    consensus : Consensus
        The result in question; its groups must be disjoint.

    Returns
    -------
    Confidence

    Notes
    -----
    For every source that saw the element: how alike (Jaccard index) is the candidate that holds the element to its
    group, and how alike is the source's best candidate to that group? The ratio of the two sums is 1 where every source
    puts the element where most of its group is. A straight line, fitted on pools that could be drawn afresh, turns it
    into a probability. Nothing depends on the quorum, so the number means the same for every one.

    Examples
    --------
    >>> import biconsensus as bc
    >>> found = bc.find_consensus([[0] * 8 + [1] * 8] * 7 + [[0] * 7 + [1] * 9])
    >>> sure = confidence(found).elements
    >>> bool(sure[7] < sure[6])
    True
    """
    if consensus.settings.get("overlap"):
        raise InputError("consensus: its groups may overlap; confidence is defined for disjoint groups.")
    labels, pool, n_groups = consensus.labels, consensus.pool, len(consensus)
    if n_groups == 0:
        return Confidence(np.zeros(labels.size), np.zeros(0))
    inside = np.flatnonzero(labels >= 0)
    members = csr_array(
        (np.ones(inside.size), (pool.inverse[inside], labels[inside])), shape=(pool.rows.shape[0], n_groups)
    )
    likeness = _likeness(pool, members)
    # (c, T) how alike the best candidate of each source is to each group
    best = np.zeros((len(pool.sources), n_groups))
    np.maximum.at(best, (pool.source_of[likeness.row], likeness.col), likeness.data)
    own = pool.rows.astype(bool).astype(np.float64) @ csr_array(likeness)
    rows = pool.inverse[inside]
    possible = best.sum(axis=0)[labels[inside]]
    if pool.unseen is not None and pool.view_of is not None:
        of_view = np.zeros((pool.unseen.shape[1], n_groups))
        view_of_source = np.zeros(len(pool.sources), np.int64)
        view_of_source[pool.source_of] = pool.view_of
        np.add.at(of_view, view_of_source, best)
        possible = possible - (pool.unseen.astype(np.float64) @ of_view)[rows, labels[inside]]
    held = np.asarray(own[rows, labels[inside]]).ravel()
    share = np.divide(held, possible, out=np.zeros(inside.size), where=possible > 0)
    elements = np.zeros(labels.size)
    elements[inside] = np.clip(CALIBRATION[0] + CALIBRATION[1] * share, 0.0, 1.0)
    totals = np.bincount(labels[inside], elements[inside], minlength=n_groups)
    return Confidence(elements, totals / np.maximum(np.bincount(labels[inside], minlength=n_groups), 1))


def _likeness(pool: Pool, members: csr_array) -> coo_array:
    """(n, T) Jaccard index of each candidate with each group, over what its source saw."""
    shared = (pool.rows.astype(bool).astype(np.float64).T @ members).tocoo()
    sizes = np.asarray(members.sum(axis=0)).ravel()[shared.col]
    if pool.unseen is not None and pool.view_of is not None:
        sizes = sizes - (pool.unseen.astype(np.float64).T @ members).toarray()[pool.view_of[shared.row], shared.col]
    union = pool.sizes[shared.row] + sizes - shared.data
    return coo_array((shared.data / np.maximum(union, 1e-300), (shared.row, shared.col)), shape=shared.shape)


def matched(labels: IntArray, again: IntArray, n_groups: int) -> IntArray:
    """(m,) the groups of another result under the names of this one, matched one to one; -1 where they match none."""
    both = (labels >= 0) & (again >= 0)
    n_again = int(again.max(initial=-1)) + 1
    shared = np.zeros((n_again, n_groups))
    np.add.at(shared, (again[both], labels[both]), 1.0)
    theirs, ours = linear_sum_assignment(shared, maximize=True)
    names = np.full(n_again + 1, -1)
    names[theirs] = np.where(shared[theirs, ours] > 0, ours, -1)
    return names[again]
