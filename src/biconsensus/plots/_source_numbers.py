"""How much each source was used, and how alike it is to the consensus."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array, vstack

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
    return nmi_of_table(vstack([table, csr_array(np.maximum(rest, 0.0)[None, :])], format="csr"))


def nmi_of_table(table: FloatArray | csr_array) -> float:
    """Normalised mutual information of a table of counts, with the arithmetic mean of the entropies.

    Parameters
    ----------
    table : (k, l) float array or sparse array
        How many elements have each pair of labels.

    Returns
    -------
    float
        Between 0 and 1; 1 where both sides are one class.

    Examples
    --------
    >>> import numpy as np
    >>> nmi_of_table(np.array([[5.0, 0.0], [0.0, 5.0]]))
    1.0
    """
    joint = csr_array(table, dtype=np.float64)
    joint = joint / max(float(joint.sum()), 1e-300)
    rows, columns = _entropy(joint.sum(axis=1)), _entropy(joint.sum(axis=0))
    mean = (rows + columns) / 2
    return 1.0 if mean <= 0 else float(np.clip((rows + columns - _entropy(joint.data)) / mean, 0.0, 1.0))


def _entropy(shares: FloatArray) -> float:
    """Entropy in nats."""
    positive = shares[shares > 0]
    return float(-(positive * np.log(positive)).sum())
