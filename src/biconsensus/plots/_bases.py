"""The base results of a pool as label vectors, and their scores against a truth."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from biconsensus.protocols import FloatArray, IntArray

if TYPE_CHECKING:
    from biconsensus.pool._pool import Pool


def source_labels(pool: Pool, source: int) -> IntArray:
    """Labels of the elements in one base result: -1 in no candidate; where candidates overlap, the last counts.

    Parameters
    ----------
    pool : Pool
        Candidates with their sources.
    source : int
        Which source.

    Returns
    -------
    (m,) int array
        Number of the candidate within its source, or -1.

    Examples
    --------
    >>> import biconsensus as bc
    >>> source_labels(bc.Pool.from_labels([[0, 0, 1, -1], [0, 1, 1, 1]]), 0).tolist()
    [0, 0, 1, -1]
    """
    columns = pool.rows[:, np.flatnonzero(pool.source_of == source)].tocoo()
    labels = np.full(pool.rows.shape[0], -1, np.int64)
    row, candidate = columns.coords
    labels[row] = candidate
    return np.asarray(labels[pool.inverse], np.int64)


def source_seen(pool: Pool, source: int) -> Any:
    """(m,) mask of the elements that a source saw, or None where it saw all."""
    mask, unseen = pool.masks()
    own = np.flatnonzero(pool.source_of == source)
    if unseen is None or own.size == 0:
        return None
    missed = unseen[:, [int(mask[own[0]])]].toarray()[:, 0].astype(bool)
    return ~missed[pool.inverse]


def base_scores(pool: Pool, truth: Any, score: Callable[[Any, Any], float]) -> FloatArray:
    """Score of every base result against the truth, among the elements that it saw.

    Parameters
    ----------
    pool : Pool
        Candidates with their sources.
    truth : (m,) array of labels
        The true groups.
    score : callable
        ``score(truth, labels)``.

    Returns
    -------
    (c,) float array
        One score for each source.

    Examples
    --------
    >>> import biconsensus as bc
    >>> pool = bc.Pool.from_labels([[0, 0, 1, 1], [0, 1, 0, 1]])
    >>> base_scores(pool, [0, 0, 1, 1], bc.metrics.ari).round(3).tolist()
    [1.0, -0.5]
    """
    truth = np.asarray(truth)
    values = []
    for source in range(len(pool.sources)):
        labels, seen = source_labels(pool, source), source_seen(pool, source)
        kept = slice(None) if seen is None else seen
        values.append(float(score(truth[kept], labels[kept])))
    return np.array(values, np.float64)
