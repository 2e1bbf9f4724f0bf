"""More sources for very many elements: the groups stay, and only those rows move that the new votes move.

In very large pools, a search works on a sample of the rows. Every new source changes the sample, and with it the
answer, by about as much as a few new sources do. So if the new sources move few elements, the quorum and the groups of
the old candidates stay. Each new candidate joins the group that gains most by it, and each element goes to the group
that its candidates now hold most.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from biconsensus.matrix._groups import first_in_rows, held_weight
from biconsensus.pool._pool import Pool
from biconsensus.protocols import FloatArray, IntArray
from biconsensus.result._consensus import Consensus

FEW_SOURCES = 0.1
"""If more than this share of all sources came after the last search, it is done again, whatever they say."""
ROWS_AT_ONCE = 8_192
"""Rows whose votes are counted together: bounds memory, not the answer."""
MANY_ROWS = 20_000
"""Distinct rows from which this is worth its while: with fewer rows, a search takes little longer."""


def standing(before: Consensus, pool: Pool, added: Pool) -> Consensus | None:
    """The consensus of a pool whose last sources are new, if they change the groups little; None otherwise.

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
    n_said = added.rows.shape[0]
    if n_said * (n_groups + 1) > pool.rows.shape[0]:  # the tables below would be larger than the pool
        return None
    weights, counts = _weights(before, pool), pool.counts.astype(np.float64)
    first = np.empty(pool.rows.shape[0], np.int64)
    first[pool.inverse[::-1]] = np.arange(pool.inverse.size)[::-1]
    # for every distinct row of the grown pool: the row that it was, what the new sources say, label, group as found
    parent, said = before.pool.inverse[first], added.inverse[first]
    labels, found = before.labels[first], np.take(first_in_rows(before.members), parent)
    new = csr_array(added.rows, dtype=np.float64)
    gain = _gains(new, _together(said, labels, counts, (n_said, n_groups)), quorum, weights[n_old:])
    backs = np.where(gain.max(axis=1) > 0, gain.argmax(axis=1), -1)
    behind = _columns(backs, weights[n_old:], n_groups)
    # a row can only move if some new candidate that holds it is not behind its group, or none holds it
    agree = (new @ csr_array(behind > 0, dtype=np.float64)).toarray() == len(added.sources)
    doubtful = np.flatnonzero((labels >= 0) & ~agree[said, labels])
    votes = _Votes(before, csr_array(behind), (new @ behind).toarray(), quorum)
    moved, goes_to, comes, leaves = votes.moves(doubtful, parent, said, labels, found)
    # new sources that move a larger share of the elements than they are of the sources say something new
    if counts[moved].sum() > pool.shape[0] * fresh / len(pool.sources):
        return None
    # the gains add up three parts: old candidates, new candidates on the old groups, and what moved rows change
    of_new = _gains(new, _together(said, found, counts, (n_said, n_groups)), quorum, weights[n_old:])
    gains = before.gains.copy()
    np.add.at(gains, backs[backs >= 0], of_new[backs >= 0, backs[backs >= 0]])
    left, came = found[moved] >= 0, comes > 0
    np.subtract.at(gains, found[moved][left], (counts[moved] * leaves)[left])
    np.add.at(gains, goes_to[came], (counts[moved] * comes)[came])
    found[moved], labels[moved] = np.where(came, goes_to, -1), goes_to
    more = float(weights[n_old:] @ (np.bincount(said, counts, minlength=n_said) @ new))
    return _assembled(before, pool, weights, backs, found, gains, more, labels)


@dataclass(frozen=True, eq=False)
class _Votes:
    """What each row gains in each group, with the new candidates."""

    before: Consensus
    behind: csr_array
    """(n, T) weight of each new candidate in the group that it backs."""
    added: FloatArray
    """(R, T) weight of the new candidates behind each group that hold each distinct row of the new sources."""
    quorum: float

    def moves(
        self, rows: IntArray, parent: IntArray, said: IntArray, labels: IntArray, found: IntArray
    ) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
        """The rows that move, where each goes, what it gains there, and what it gained where it was.

        Parameters
        ----------
        rows : (k,) int array
            Rows of the grown pool that may move.
        parent, said : (r,) int arrays
            For every row of the grown pool, its row in the old pool, and its row in the new sources.
        labels, found : (r,) int arrays
            Its label, and the group in which it was found (-1 for none).
        """
        behind = self.before.behind
        old = self.quorum * np.asarray(behind.sum(axis=0)).ravel()
        asked = old + self.quorum * np.asarray(self.behind.sum(axis=0)).ravel()
        parts = []
        for start in range(0, rows.size, ROWS_AT_ONCE):
            some = rows[start : start + ROWS_AT_ONCE]
            held = held_weight(csr_array(self.before.pool.rows[parent[some]]), behind).toarray()
            # a row that was not where its votes are best, as in Algorithm 1, stays
            stays = (held - old).argmax(axis=1) != labels[some]
            score = held + self.added[said[some]] - asked
            best = score.argmax(axis=1)
            goes = np.flatnonzero((best != labels[some]) & ~stays)
            here, there = some[goes], best[goes]
            parts.append((here, there, score[goes, there], score[goes, found[here]]))
        if not parts:
            return np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0), np.zeros(0)
        one, two, three, four = (np.concatenate(part) for part in zip(*parts))
        return one, two, three, four


def _together(said: IntArray, group: IntArray, counts: FloatArray, shape: tuple[int, int]) -> FloatArray:
    """(R, T) elements of each group that have each distinct row of the new sources, from the numbers of each row."""
    n_said, n_groups = shape
    places = said * np.int64(n_groups + 1) + group + 1
    cells = np.bincount(places, counts, minlength=n_said * (n_groups + 1))
    return np.asarray(cells.reshape(n_said, n_groups + 1)[:, 1:], np.float64)


def _gains(new: csr_array, cells: FloatArray, quorum: float, weights: FloatArray) -> FloatArray:
    """(n, T) what each new candidate gains in each group."""
    return np.asarray(weights[:, None] * (new.T @ cells - quorum * cells.sum(axis=0)))


def _columns(group: IntArray, amounts: NDArray[Any], n_groups: int) -> csr_array:
    """(k, T) the amount of each line in the column of its group; lines in no group are empty."""
    inside = group >= 0
    indptr = np.concatenate([[0], np.cumsum(inside)]).astype(np.int32)
    return csr_array((amounts[inside], group[inside].astype(np.int32), indptr), shape=(group.size, n_groups))


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
    labels: IntArray,
) -> Consensus:
    """The consensus with new candidates behind the groups, from the group of every row as found.

    `more` is what the new candidates add to the norm of the matrix, `labels` are the groups with left-overs.
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
        row_labels=None if before.row_labels is None else np.append(place, -1)[labels].astype(np.int32),
        extraction={**before.extraction, "sources_searched": searched},
        evidence=None,
        trace=None,
    )
