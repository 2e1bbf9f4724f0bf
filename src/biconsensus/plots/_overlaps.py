"""Counts that the pictures share, taken on distinct rows: a million elements cost one pass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import coo_array, csr_array

from biconsensus.protocols import FloatArray, IntArray

if TYPE_CHECKING:
    from biconsensus.result._consensus import Consensus


@dataclass(frozen=True)
class Overlaps:
    """How candidates, sources and groups overlap, in elements; sparse, for thousands of either."""

    candidate_sizes: FloatArray
    """(n,) elements of each candidate (sum of values where the pool is real-valued)."""
    group_sizes: IntArray
    """(T,) elements of each group."""
    shared: csr_array
    """(n, T) elements that a candidate shares with a group."""
    by_label: csr_array
    """(n, T + 1) elements of a candidate by label; the last column is -1."""
    mask: IntArray
    """(n,) the mask of each candidate: what its source saw."""
    seen: FloatArray
    """(v, T) elements of a group that a mask has."""
    seen_by_label: FloatArray
    """(v, T + 1) elements that a mask has, by label."""

    @classmethod
    def of(cls, consensus: Consensus) -> Overlaps:
        """Count everything once."""
        pool = consensus.pool
        by_group = _rows_by(consensus, csr_array(consensus.membership))
        by_label = _rows_by(consensus, _one_hot(consensus.labels, len(consensus)))
        mask, unseen = pool.masks()
        columns = csr_array(pool.rows.T, dtype=np.float64)
        return cls(
            candidate_sizes=np.asarray(columns @ pool.counts.astype(np.float64)),
            group_sizes=np.asarray(by_group.sum(axis=0), np.int64),
            shared=csr_array(columns @ by_group),
            by_label=csr_array(columns @ by_label),
            mask=mask,
            seen=_seen(by_group, unseen),
            seen_by_label=_seen(by_label, unseen),
        )

    @property
    def jaccard(self) -> csr_array:
        """(n, T) overlap over union of candidates and groups, among the elements seen."""
        cells = coo_array(self.shared)
        candidate, group = cells.coords
        union = self.candidate_sizes[candidate] + self.seen[self.mask[candidate], group] - cells.data
        return csr_array((cells.data / np.maximum(union, 1e-300), (candidate, group)), shape=self.shared.shape)


def _one_hot(labels: IntArray, n_groups: int) -> csr_array:
    """(m, T + 1) indicator of the labels, -1 in the last column."""
    columns = np.where(labels < 0, n_groups, labels)
    ones = np.ones(labels.size)
    return csr_array((ones, columns, np.arange(labels.size + 1)), shape=(labels.size, n_groups + 1))


def _rows_by(consensus: Consensus, indicator: csr_array) -> csr_array:
    """(r, k) number of elements of each distinct row in each column of an (m, k) indicator."""
    entries = coo_array(indicator)
    element, column = entries.coords
    cells = (consensus.pool.inverse[element], column)
    shape = (consensus.pool.rows.shape[0], indicator.shape[1])
    return csr_array(coo_array((np.ones(element.size), cells), shape=shape))


def _seen(by: csr_array, unseen: csr_array | None) -> FloatArray:
    """(v, k) elements of each column of `by` that each mask has."""
    total = np.asarray(by.sum(axis=0), np.float64)
    if unseen is None:
        return total[None, :]
    return np.asarray(total - (unseen.astype(np.float64).T @ by).toarray())
