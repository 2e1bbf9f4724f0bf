"""How much each source was used, and how alike it is to the consensus."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array, vstack

from biconsensus.metrics._partitions import nmi_of_counts
from biconsensus.plots._overlaps import Overlaps
from biconsensus.protocols import FloatArray, IntArray

if TYPE_CHECKING:
    from biconsensus.result._consensus import Consensus


@dataclass(frozen=True)
class SourceNumbers:
    """One value for each source of the pool."""

    candidates: IntArray
    """(c,) candidates it gave."""
    used: IntArray
    """(c,) of them, those behind a group."""
    nmi: FloatArray
    """(c,) normalised mutual information with the consensus; NaN where its candidates overlap."""


def source_numbers(consensus: Consensus, overlaps: Overlaps | None = None) -> SourceNumbers:
    """How much each source was used, and how alike it is to the consensus.

    Elements in no group count as one class on either side; those a source did not see do not count.

    Parameters
    ----------
    consensus : Consensus
        A result.
    overlaps : Overlaps, optional
        Counts that were already made.

    Returns
    -------
    SourceNumbers
        One value for each source.

    Examples
    --------
    >>> import biconsensus as bc
    >>> c = bc.find_consensus([[0] * 8 + [1] * 8] * 4 + [[0, 1] * 8])
    >>> numbers = source_numbers(c)
    >>> numbers.used.tolist(), numbers.nmi.round(3).tolist()
    ([2, 2, 2, 2, 0], [1.0, 1.0, 1.0, 1.0, 0.0])
    """
    overlaps = overlaps or Overlaps.of(consensus)
    pool = consensus.pool
    n_sources = len(pool.sources)
    used = np.zeros(pool.shape[1], bool)
    for group in consensus.biclusters:
        used[group.candidates] = True
    order = np.argsort(pool.source_of, kind="stable")
    bounds = np.searchsorted(pool.source_of[order], np.arange(n_sources + 1))
    columns = [order[start:stop] for start, stop in pairwise(bounds)]
    return SourceNumbers(
        candidates=np.diff(bounds),
        used=np.bincount(pool.source_of, used, minlength=n_sources).astype(np.int64),
        nmi=np.array([_nmi_of_source(overlaps, own) for own in columns], np.float64),
    )


def _nmi_of_source(overlaps: Overlaps, columns: IntArray) -> float:
    """NMI of one source's candidates (and its rest) with the labels."""
    if columns.size == 0:
        return float("nan")
    table = overlaps.by_label[columns]
    rest = overlaps.seen_by_label[overlaps.view[columns[0]]] - table.sum(axis=0)
    if rest.min() < -1e-9:
        return float("nan")
    return nmi_of_counts(vstack([table, csr_array(np.maximum(rest, 0.0)[None, :])], format="csr"))
