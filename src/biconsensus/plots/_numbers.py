"""The numbers behind the pictures; the drawing is elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import coo_array, csr_array, vstack

from biconsensus.metrics._partitions import nmi_of_counts
from biconsensus.plots._overlaps import Overlaps
from biconsensus.protocols import FloatArray, IntArray

if TYPE_CHECKING:
    from biconsensus.result._consensus import Consensus


@dataclass(frozen=True)
class GroupNumbers:
    """One value for each group, in the order of the labels."""

    sizes: IntArray
    """(T,) elements."""
    candidates: IntArray
    """(T,) candidates behind it."""
    sources: IntArray
    """(T,) distinct sources behind it."""
    gains: FloatArray
    """(T,) gain."""
    backing: FloatArray
    """(T,) mean backing of its elements."""
    stability: FloatArray
    """(T,) how well it is found again in the base results: the best Jaccard overlap, averaged over sources
    (where each candidate is its own source, over those behind the group)."""
    significance: FloatArray
    """(T,) base-10 logarithm of its chance, as `Consensus.significance`."""


def group_numbers(consensus: Consensus) -> GroupNumbers:
    """Sizes, support, gain, backing and stability of each group.

    Parameters
    ----------
    consensus : Consensus
        A result.

    Returns
    -------
    GroupNumbers
        One value for each group.

    Examples
    --------
    >>> import biconsensus as bc
    >>> c = bc.find_consensus([[0] * 8 + [1] * 8] * 4)
    >>> numbers = group_numbers(c)
    >>> numbers.sizes.tolist(), numbers.sources.tolist(), numbers.stability.tolist()
    ([8, 8], [4, 4], [1.0, 1.0])
    """
    overlaps = Overlaps.of(consensus)
    source_of = consensus.pool.source_of
    labels = consensus.labels
    inside = labels >= 0
    summed = np.bincount(labels[inside], consensus.backing[inside], minlength=len(consensus))
    labelled = np.bincount(labels[inside], minlength=len(consensus))
    return GroupNumbers(
        sizes=overlaps.group_sizes,
        candidates=np.array([group.candidates.size for group in consensus.biclusters], np.int64),
        sources=np.array([np.unique(source_of[group.candidates]).size for group in consensus.biclusters], np.int64),
        gains=np.array([group.gain for group in consensus.biclusters], np.float64),
        backing=summed / np.maximum(labelled, 1),
        stability=_stability(consensus, overlaps),
        significance=np.asarray(consensus.significance, np.float64),
    )


def _stability(consensus: Consensus, overlaps: Overlaps) -> FloatArray:
    """(T,) best overlap of each group with the base results; where each candidate is its own, with those behind it."""
    if len(consensus) == 0:
        return np.empty(0)
    pool = consensus.pool
    jaccard = overlaps.jaccard
    if pool.shape[1] == len(pool.sources) > 1:
        columns = jaccard.tocsc()
        return np.array([columns[group.candidates, [k]].mean() for k, group in enumerate(consensus.biclusters)])
    return np.asarray(_best_by_source(jaccard, pool.source_of).mean(axis=0))


def _best_by_source(jaccard: csr_array, source_of: IntArray) -> FloatArray:
    """(c, T) best Jaccard overlap of each group with one candidate of each source."""
    cells = coo_array(jaccard)
    candidate, group = cells.coords
    best = np.zeros((int(source_of.max()) + 1, jaccard.shape[1]))
    np.maximum.at(best, (source_of[candidate], group), cells.data)
    return best[np.unique(source_of)]


def backing_histogram(consensus: Consensus, bins: int = 20) -> tuple[FloatArray, IntArray]:
    """Number of elements by backing, for each group.

    Parameters
    ----------
    consensus : Consensus
        A result.
    bins : int
        Number of bins between 0 and 1.

    Returns
    -------
    edges : (bins + 1,) float array
        Bounds of the bins.
    counts : (T, bins) int array
        Elements of each group in each bin.

    Examples
    --------
    >>> import biconsensus as bc
    >>> c = bc.find_consensus([[0] * 8 + [1] * 8] * 4)
    >>> backing_histogram(c, bins=2)[1].tolist()
    [[0, 8], [0, 8]]
    """
    edges = np.linspace(0.0, 1.0, bins + 1)
    inside = consensus.labels >= 0
    place = np.minimum((consensus.backing[inside] * bins).astype(np.int64), bins - 1)
    cells = consensus.labels[inside] * bins + place
    return edges, np.bincount(cells, minlength=len(consensus) * bins).reshape(len(consensus), bins)


def least_certain(consensus: Consensus, n: int = 20) -> IntArray:
    """Elements of groups with the smallest backing, least certain first.

    Parameters
    ----------
    consensus : Consensus
        A result.
    n : int
        How many, at most.

    Returns
    -------
    (k,) int array
        Indices of elements.

    Examples
    --------
    >>> import biconsensus as bc
    >>> c = bc.find_consensus([[0] * 8 + [1] * 8] * 3 + [[0] * 7 + [1] * 9])
    >>> least_certain(c, 1).tolist()
    [7]
    """
    inside = np.flatnonzero(consensus.labels >= 0)
    backing = consensus.backing[inside]
    if inside.size > n:
        inside = inside[np.sort(np.argpartition(backing, n)[:n])]
        backing = consensus.backing[inside]
    return np.asarray(inside[np.argsort(backing, kind="stable")], np.int64)


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
    rest = overlaps.seen_by_label[overlaps.mask[columns[0]]] - table.sum(axis=0)
    if rest.min() < -1e-9:
        return float("nan")
    return nmi_of_counts(vstack([table, csr_array(np.maximum(rest, 0.0)[None, :])], format="csr"))
