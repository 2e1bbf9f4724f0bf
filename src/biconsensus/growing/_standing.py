"""One more source where there are very many elements: the groups stand, and only what the new votes move is moved.

With so many elements a search looks at a sample of the rows, another one with every source that comes, and its answer
differs from the last one by about as much as a few new sources change. So where these move few elements, the quorum and
the groups of the old candidates stay. New candidates choose the group that gains most with them, and elements the group
that their candidates now hold most.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.sparse import csr_array

from biconsensus.matrix._coverage import first_in_rows, held_weight
from biconsensus.pool._pool import Pool
from biconsensus.protocols import FloatArray, IntArray
from biconsensus.result._consensus import Consensus

FEW_ELEMENTS = 0.01
"""Share of the elements that may move without another search: about as many as two samples of the rows differ by."""
FEW_SOURCES = 0.1
"""Share of new among all sources, since the last search, from which it is done again whatever they say."""
MANY_ROWS = 20_000
"""Distinct rows from which this is worth while: with fewer a search takes little longer."""


def standing(before: Consensus, pool: Pool, added: Pool) -> Consensus | None:
    """The consensus of a pool with new sources, which are its last ones, if the groups stand; None if they do not.

    Parameters
    ----------
    before : Consensus
        Of the pool without the new sources.
    pool : Pool
        With them.
    added : Pool
        The new sources alone.

    Returns
    -------
    Consensus or None
    """
    searched = int(before.extraction.get("sources_searched", len(before.pool.sources)))
    fresh = len(pool.sources) - searched
    if not _applies(before, pool) or fresh > FEW_SOURCES * len(pool.sources):
        return None
    quorum, n_old, n_groups = float(before.settings["quorum"]), before.pool.shape[1], len(before)
    weights, counts = _weights(before, pool), pool.counts.astype(np.float64)
    first = np.empty(pool.rows.shape[0], np.int64)
    first[pool.inverse[::-1]] = np.arange(pool.inverse.size)[::-1]
    # for every distinct row of the grown pool: the row that it was, its label, and its group as found
    parent, labels = before.pool.inverse[first], before.labels[first]
    found = first_in_rows(before.members)[parent]
    new = csr_array(added.rows[added.inverse[first]], dtype=np.float64)
    groups = _columns(labels, counts, n_groups)
    gain = weights[n_old:, None] * ((new.T @ groups).toarray() - quorum * np.asarray(groups.sum(axis=0)))
    backs = np.where(gain.max(axis=1) > 0, gain.argmax(axis=1), -1)
    behind = _columns(backs, weights[n_old:], n_groups)
    # a row can only move if some new candidate that holds it is not behind its group, or none holds it
    lengths = np.diff(new.indptr)
    other = np.bincount(np.repeat(np.arange(labels.size), lengths), backs[new.indices] != np.repeat(labels, lengths))
    doubtful = np.flatnonzero((labels >= 0) & ((other > 0) | (lengths < len(added.sources))))
    held_before = held_weight(csr_array(before.pool.rows[parent[doubtful]]), before.behind).toarray()
    held = held_before + (new[doubtful] @ behind).toarray()
    asked = quorum * np.asarray(before.behind.sum(axis=0)).ravel()
    score = held - asked - quorum * np.asarray(behind.sum(axis=0)).ravel()
    best = score.argmax(axis=1)
    # a row that was not where its votes are best, as in Algorithm 1, stays
    goes = (best != labels[doubtful]) & ((held_before - asked).argmax(axis=1) == labels[doubtful])
    moved = doubtful[goes]
    if counts[moved].sum() > FEW_ELEMENTS * pool.shape[0]:
        return None
    # gains: those of the old candidates, of the new ones on the groups as they were, and what the moved rows change
    as_found = _columns(found, counts, n_groups)
    of_new = weights[n_old:, None] * ((new.T @ as_found).toarray() - quorum * np.asarray(as_found.sum(axis=0)))
    gains = before.gains.copy()
    np.add.at(gains, backs[backs >= 0], of_new[backs >= 0, backs[backs >= 0]])
    left = found[moved] >= 0
    np.subtract.at(gains, found[moved][left], (counts[moved] * score[goes, found[moved]])[left])
    found[moved] = np.where(score[goes, best[goes]] > 0, best[goes], -1)
    came = found[moved] >= 0
    np.add.at(gains, found[moved][came], (counts[moved] * score[goes, best[goes]])[came])
    return _assembled(before, pool, weights, backs, found, gains, float(weights[n_old:] @ (counts @ new)))


def _columns(group: IntArray, amounts: FloatArray, n_groups: int) -> csr_array:
    """(k, T) the amount of each line in the column of its group; lines in no group are empty."""
    own = np.flatnonzero(group >= 0)
    return csr_array((amounts[own], (own, group[own])), shape=(group.size, n_groups))


def _applies(before: Consensus, pool: Pool) -> bool:
    """Whether this is a plain consensus of a pool that is large enough."""
    plain = not (before.settings.get("overlap") or before.answers or before.asked.get("together"))
    whole = pool.unseen is None and pool.binary and before.placed is None and len(before) > 0
    same_rows = (
        before.row_of.shape == before.pool.inverse.shape and before.members.shape[0] == before.pool.rows.shape[0]
    )
    return plain and whole and same_rows and before.pool.rows.shape[0] >= MANY_ROWS


def _weights(before: Consensus, pool: Pool) -> FloatArray:
    """(n,) weights in the search; a new candidate gets what a typical old one has of its weight."""
    old = before.pool.weights
    used = old if before.weights is None else before.weights
    voting = (used > 0) & (old > 0)
    typical = float(np.median(used[voting] / old[voting])) if voting.any() else 1.0
    return np.concatenate([used, typical * pool.weights[old.size :]])


def _assembled(
    before: Consensus,
    pool: Pool,
    weights: FloatArray,
    backs: IntArray,
    found: IntArray,
    gains: FloatArray,
    more: float,
) -> Consensus:
    """The consensus with new candidates behind the groups, from the group of every row as found.

    `more` is what the new candidates add to the norm of the matrix.
    """
    n_old, n_groups = before.pool.shape[1], len(before)
    order = np.argsort(-gains, kind="stable")
    place = np.empty(n_groups, np.int64)
    place[order] = np.arange(n_groups)
    own = [np.concatenate([before.candidates[t], n_old + np.flatnonzero(backs == t)]) for t in order]
    scale = 2.0 * (1.0 - float(before.settings["quorum"]))
    norm = (before.objective + 2.0 * float(before.gains.sum())) / scale + more
    searched = before.extraction.get("sources_searched", len(before.pool.sources))
    return replace(
        before,
        pool=pool,
        row_of=pool.inverse,
        members=_columns(np.where(found >= 0, place[found], -1), np.ones(found.size, bool), n_groups),
        candidates=tuple(own),
        gains=gains[order],
        objective=scale * norm - 2.0 * float(gains.sum()),
        weights=weights,
        extraction={**before.extraction, "sources_searched": searched},
        evidence=None,
        trace=None,
    )
