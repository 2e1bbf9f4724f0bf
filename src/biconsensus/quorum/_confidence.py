"""Confidence: how probable it is that a freshly drawn pool groups an element in the same way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import coo_array, csr_array

from biconsensus._words import counted
from biconsensus.errors import InputError
from biconsensus.matrix._groups import values_at
from biconsensus.pool._rows import gather
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
    """Estimated probabilities that a freshly drawn pool groups things in the same way."""

    elements: FloatArray
    """(m,) for each element; 0 for those in no group."""
    groups: FloatArray
    """(T,) for each group: the mean over its elements."""

    def __repr__(self) -> str:
        """One line: the mean over the elements, and each group."""
        mean = float(self.elements.mean()) if self.elements.size else 0.0
        groups = ", ".join(f"{value:.2f}" for value in self.groups[:10]) + (", ..." if self.groups.size > 10 else "")
        return f"Confidence({counted(self.elements.size, 'element')}, mean {mean:.2f}; groups {groups or 'none'})"


def confidence(consensus: Consensus) -> Confidence:
    """Estimate how probable it is that a freshly drawn pool groups each element in the same way.

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
    check_disjoint(consensus)
    return confidence_of(consensus.pool, consensus.labels, len(consensus))


def check_disjoint(consensus: Consensus) -> None:
    """Refuse groups that may overlap."""
    if consensus.settings.get("overlap"):
        raise InputError("consensus: its groups may overlap; confidence is defined for disjoint groups.")


def confidence_of(pool: Pool, labels: IntArray, n_groups: int, counts: IntArray | None = None) -> Confidence:
    """The same of a grouping of the elements of a pool, each of which may stand for several (`counts`)."""
    elements = np.zeros(labels.size)
    if n_groups == 0:
        return Confidence(elements, np.zeros(0))
    places = Places.of(pool, labels, counts)
    sure = calibrated(Likeness.at(pool, places, n_groups).share_in(places.rows, places.groups))
    elements[places.inside] = gather(sure, places.place)
    totals = np.bincount(places.groups, sure * places.counts, minlength=n_groups)
    sizes = np.bincount(places.groups, places.counts, minlength=n_groups)
    return Confidence(elements, totals / np.maximum(sizes, 1))


def calibrated(share: FloatArray) -> FloatArray:
    """The probability of being grouped in the same way, from the share of `Likeness`."""
    return np.clip(CALIBRATION[0] + CALIBRATION[1] * share, 0.0, 1.0)


@dataclass(frozen=True)
class Places:
    """The distinct pairs of a row of the pool and a group, of which there are far fewer than elements."""

    rows: IntArray
    groups: IntArray
    counts: IntArray
    """(p,) elements at each pair."""
    inside: IntArray
    """(k,) the elements that are in a group."""
    place: IntArray
    """(k,) the pair of each of them."""

    @classmethod
    def of(cls, pool: Pool, labels: IntArray, counts: IntArray | None = None) -> Places:
        """Pairs of a grouping; `counts` says how many elements each label stands for."""
        inside = np.flatnonzero(labels >= 0)
        rows, groups = pool.inverse[inside], labels[inside]
        group_of = np.full(pool.rows.shape[0], -1)
        group_of[rows] = groups
        if np.array_equal(gather(group_of, rows), groups):  # as where no seeds and no data told equal rows apart
            used = np.flatnonzero(group_of >= 0)
            number = np.zeros(group_of.size, np.int64)
            number[used] = np.arange(used.size)
            rows, groups, place = used, group_of[used], gather(number, rows)
        else:
            n_groups = int(groups.max()) + 1
            pairs, place = np.unique(rows * np.int64(n_groups) + groups, return_inverse=True)
            rows, groups = np.divmod(pairs, n_groups)
        amounts = None if counts is None else counts[inside]
        return cls(rows, groups, np.bincount(place, amounts, minlength=rows.size).astype(np.int64), inside, place)


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
        return cls.at(pool, Places.of(pool, labels), n_groups)

    @classmethod
    def at(cls, pool: Pool, places: Places, n_groups: int) -> Likeness:
        """The same from the pairs of rows and groups."""
        shape = pool.rows.shape[0], n_groups
        members = csr_array((places.counts.astype(np.float64), (places.rows, places.groups)), shape=shape)
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
        held = self.pool.rows[rows]
        stored = np.repeat(np.arange(rows.size), np.diff(held.indptr))
        likeness = values_at(self.jaccard, held.indices, groups[stored]) * (held.data != 0)
        found = np.asarray(np.bincount(stored, likeness, minlength=rows.size), np.float64)
        return self._over_possible(found, rows, groups)

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
    group, count = np.zeros(members.shape[0], np.int64), np.zeros(members.shape[0])
    filled = np.diff(members.indptr) > 0
    group[filled], count[filled] = members.indices, members.data
    lengths = np.diff(pool.rows.indptr)
    places = pool.rows.indices * np.int64(n_groups) + np.repeat(group, lengths)
    amounts = np.repeat(count, lengths) * (pool.rows.data != 0)
    return coo_array(np.bincount(places, amounts, minlength=n * n_groups).reshape(n, n_groups))


def matched(labels: IntArray, again: IntArray, n_groups: int) -> IntArray:
    """(m,) the groups of another result under the names of this one, matched one to one; -1 where they match none."""
    from scipy.optimize import linear_sum_assignment  # half a second that tables of confidences need not wait for

    both = (labels >= 0) & (again >= 0)
    n_again = int(again.max(initial=-1)) + 1
    shared = np.zeros((n_again, n_groups))
    np.add.at(shared, (again[both], labels[both]), 1.0)
    theirs, ours = linear_sum_assignment(shared, maximize=True)
    names = np.full(n_again + 1, -1)
    names[theirs] = np.where(shared[theirs, ours] > 0, ours, -1)
    return names[again]
