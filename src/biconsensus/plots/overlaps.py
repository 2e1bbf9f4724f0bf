"""Counts that the pictures share, taken on distinct rows: a million elements cost one pass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import coo_array, csr_array

from biconsensus.protocols import FloatArray, IntArray

if TYPE_CHECKING:
    from biconsensus.core.consensus import Consensus


@dataclass(frozen=True)
class Overlaps:
    """How candidates, sources and groups overlap, in elements."""

    candidate_sizes: FloatArray
    """(n,) elements of each candidate (sum of values where the pool is real-valued)."""
    group_sizes: IntArray
    """(T,) elements of each group."""
    shared: FloatArray
    """(n, T) elements that a candidate shares with a group."""
    seen: FloatArray
    """(n, T) elements of a group that the candidate's source saw."""
    by_label: FloatArray
    """(n, T + 1) elements of a candidate by label; the last column is -1."""
    seen_by_label: FloatArray
    """(n, T + 1) elements that the candidate's source saw, by label."""

    @classmethod
    def of(cls, consensus: Consensus) -> Overlaps:
        """Count everything once."""
        pool = consensus.pool
        by_group = _rows_by(consensus, csr_array(consensus.membership))
        by_label = _rows_by(consensus, _one_hot(consensus.labels, len(consensus)))
        view, unseen = pool.views()
        return cls(
            candidate_sizes=np.asarray(pool.rows.T @ pool.counts.astype(np.float64)),
            group_sizes=np.asarray(by_group.sum(axis=0), np.int64),
            shared=_dense(pool.rows.T @ by_group),
            seen=_seen(by_group, view, unseen),
            by_label=_dense(pool.rows.T @ by_label),
            seen_by_label=_seen(by_label, view, unseen),
        )

    @property
    def jaccard(self) -> FloatArray:
        """(n, T) overlap over union of candidates and groups, among the elements seen."""
        union = self.candidate_sizes[:, None] + self.seen - self.shared
        return np.divide(self.shared, union, out=np.zeros_like(self.shared), where=union > 0)


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


def _seen(by: csr_array, view: IntArray, unseen: csr_array | None) -> FloatArray:
    """(n, k) elements of each column of `by` that each candidate's source saw."""
    total = np.asarray(by.sum(axis=0), np.float64)
    if unseen is None:
        return np.broadcast_to(total, (view.size, total.size)).copy()
    missed = _dense(unseen.astype(np.float64).T @ by)
    return np.asarray(total - missed[view])


def _dense(matrix: csr_array) -> FloatArray:
    """A sparse product as a dense array."""
    return np.asarray(matrix.toarray(), np.float64)
