"""Confidence: how probable it is that an element would be grouped so again with a freshly drawn pool."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import coo_array, csr_array

from biconsensus.errors import InputError
from biconsensus.matrix._groups import values_at
from biconsensus.protocols import FloatArray, IntArray

if TYPE_CHECKING:
    from biconsensus.pool._pool import Pool
    from biconsensus.result._consensus import Consensus

CALIBRATION = 0.1, 0.84
"""Intercept and slope from that share to the share of freshly drawn pools (benchmarks/tuning/confidence.py)."""

COUNTED = 20_000_000
"""Cells of candidates and groups up to which they are counted in one dense table of 160 MB; for speed alone."""


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
    likeness = Likeness.of(pool, labels, n_groups)
    elements = np.zeros(labels.size)
    elements[inside] = calibrated(likeness.share_in(pool.inverse[inside], labels[inside]))
    totals = np.bincount(labels[inside], elements[inside], minlength=n_groups)
    return Confidence(elements, totals / np.maximum(np.bincount(labels[inside], minlength=n_groups), 1))


def calibrated(share: FloatArray) -> FloatArray:
    """The probability of being grouped so again, from the share of `Likeness`."""
    return np.clip(CALIBRATION[0] + CALIBRATION[1] * share, 0.0, 1.0)


@dataclass(frozen=True)
class Likeness:
    """How alike the candidates of a pool are to the groups of a grouping."""

    pool: Pool
    jaccard: csr_array
    """(n, T) Jaccard index of each candidate with each group, over what its source saw."""
    possible: FloatArray
    """(T,) the same of the best candidate of each source, summed over the sources."""
    unseen: csr_array | None
    """(r, T) what sources that did not see a row would have added to it."""

    @classmethod
    def of(cls, pool: Pool, labels: IntArray, n_groups: int) -> Likeness:
        """Compare every candidate with every group."""
        inside = np.flatnonzero(labels >= 0)
        members = csr_array(
            (np.ones(inside.size), (pool.inverse[inside], labels[inside])), shape=(pool.rows.shape[0], n_groups)
        )
        likeness = _jaccard(pool, members)
        best = np.zeros((len(pool.sources), n_groups))
        np.maximum.at(best, (pool.source_of[likeness.row], likeness.col), likeness.data)
        unseen = None
        if pool.unseen is not None and pool.mask_of is not None:
            of_mask = np.zeros((pool.unseen.shape[1], n_groups))
            np.add.at(of_mask, pool.mask_of_source, best)
            unseen = csr_array(pool.unseen.astype(np.float64) @ csr_array(of_mask))
        return cls(pool, csr_array(likeness), best.sum(axis=0), unseen)

    def shares(self, rows: IntArray) -> csr_array:
        """(k, T) how alike to each group are the candidates that hold some rows, over the most that is possible."""
        share = csr_array(self.pool.rows[rows].astype(bool).astype(np.float64) @ self.jaccard)
        share.data = self._over_possible(share.data, np.repeat(rows, np.diff(share.indptr)), share.indices)
        return share

    def share_in(self, rows: IntArray, groups: IntArray) -> FloatArray:
        """(k,) the same for one group of each row, without the other groups."""
        n_groups = self.possible.size
        pairs, place = np.unique(rows * np.int64(n_groups) + groups, return_inverse=True)
        rows, groups = np.divmod(pairs, n_groups)
        held = self.pool.rows[rows]
        stored = np.repeat(np.arange(rows.size), np.diff(held.indptr))
        likeness = values_at(self.jaccard, held.indices, groups[stored]) * (held.data != 0)
        found = np.asarray(np.bincount(stored, likeness, minlength=rows.size), np.float64)
        return self._over_possible(found, rows, groups)[place]

    def _over_possible(self, values: FloatArray, rows: IntArray, groups: IntArray) -> FloatArray:
        """Values of pairs of a row and a group over the most that is possible there."""
        possible = self.possible[groups]
        if self.unseen is not None:
            possible = possible - values_at(self.unseen, rows, groups)
        return np.divide(values, possible, out=np.zeros(values.size), where=possible > 1e-12)


def _jaccard(pool: Pool, members: csr_array) -> coo_array:
    """(n, T) Jaccard index of each candidate with each group, over what its source saw."""
    shared = _shared(pool, members)
    sizes = np.asarray(members.sum(axis=0)).ravel()[shared.col]
    if pool.unseen is not None and pool.mask_of is not None:
        sizes = sizes - (pool.unseen.astype(np.float64).T @ members).toarray()[pool.mask_of[shared.row], shared.col]
    union = pool.sizes[shared.row] + sizes - shared.data
    return coo_array((shared.data / np.maximum(union, 1e-300), (shared.row, shared.col)), shape=shared.shape)


def _shared(pool: Pool, members: csr_array) -> coo_array:
    """(n, T) elements that each candidate shares with each group."""
    n, n_groups = pool.rows.shape[1], members.shape[1]
    if np.diff(members.indptr).max(initial=0) > 1 or n * n_groups > COUNTED:
        return (pool.rows.astype(bool).astype(np.float64).T @ members).tocoo()
    # every row is in one group at most, so that counting takes the place of a sparse product
    group, count = np.full(members.shape[0], -1), np.zeros(members.shape[0])
    filled = np.diff(members.indptr) > 0
    group[filled], count[filled] = members.indices, members.data
    row_of = np.repeat(np.arange(members.shape[0]), np.diff(pool.rows.indptr))
    kept = np.flatnonzero((group[row_of] >= 0) & (pool.rows.data != 0))
    places = pool.rows.indices[kept] * np.int64(n_groups) + group[row_of[kept]]
    counts = np.bincount(places, count[row_of[kept]], minlength=n * n_groups).reshape(n, n_groups)
    return coo_array(counts)


def matched(labels: IntArray, again: IntArray, n_groups: int) -> IntArray:
    """(m,) the groups of another result under the names of this one, matched one to one; -1 where they match none."""
    from scipy.optimize import linear_sum_assignment  # here, because it is slow to import and only the explorer asks

    both = (labels >= 0) & (again >= 0)
    n_again = int(again.max(initial=-1)) + 1
    shared = np.zeros((n_again, n_groups))
    np.add.at(shared, (again[both], labels[both]), 1.0)
    theirs, ours = linear_sum_assignment(shared, maximize=True)
    names = np.full(n_again + 1, -1)
    names[theirs] = np.where(shared[theirs, ours] > 0, ours, -1)
    return names[again]
