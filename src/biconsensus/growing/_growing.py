"""`update` and `extend`: the consensus after more sources, or more elements, groups under the names they had.

The distinct rows of the pool are kept: new labels split them further (`Pool.__add__`), new elements are added below.
Then the grown pool is searched from scratch. So the labels are those of `find_consensus`, and the order in which the
sources came does not matter. In very large pools there is no search if the new sources move little (`_standing`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array, vstack

from biconsensus._words import counted
from biconsensus.errors import InputError
from biconsensus.find import Search, solve
from biconsensus.growing._standing import standing
from biconsensus.pool._build import labels_by_sources
from biconsensus.pool._build import regrouped as regrouped_pool
from biconsensus.pool._pool import Pool, label_in_source, seen_by_sources
from biconsensus.protocols import IntArray
from biconsensus.questions._questions import with_answers
from biconsensus.quorum._path import SAME_GROUP
from biconsensus.result._consensus import Consensus


def update(consensus: Consensus, more: Any) -> Consensus:
    """The consensus of the pool with more sources over the same elements."""
    _check(consensus)
    new = more if isinstance(more, Pool) else Pool.from_labels(more)
    if not isinstance(more, Pool):
        new = _numbered_on(consensus.pool, new)
    pool = consensus.pool + new
    found = standing(consensus, pool, new)
    return _searched(consensus, pool) if found is None else replace(found, named=_names(consensus, found))


def extend(consensus: Consensus, labels: Any, ids: Any = None, missing: int | None = None) -> Consensus:
    """The consensus of the pool with more elements, labelled by the same sources."""
    _check(consensus)
    if not isinstance(labels, Pool):
        labels = Pool.from_labels(labels_by_sources(labels, consensus.pool), ids=ids, missing=missing)
    return _searched(consensus, longer(consensus.pool, labels))


def _check(consensus: Consensus) -> None:
    """Refuse what was decided by data that a result does not keep."""
    kind = consensus.settings.get("evidence")
    if kind is not None:
        raise InputError(
            f"consensus: its groups were decided with the {kind}, which a result does not keep; fit the estimator "
            "again with more runs or rows, or start from find_consensus(pool)."
        )


def _searched(consensus: Consensus, pool: Pool) -> Consensus:
    """The consensus of a grown pool, with the same settings and answers; groups keep their names."""
    found = solve(pool, Search.of_record(consensus.asked))
    found = with_answers(found, consensus.answers) if consensus.answers else found
    return replace(found, named=_names(consensus, found))


def _names(before: Consensus, after: Consensus) -> tuple[int, ...]:
    """(T,) names of the groups: a group that was there before keeps its name, any other gets a new one.

    Groups are matched one to one. Two are the same if they share more than three quarters of the elements that are in
    either of them, among the elements that both results have.
    """
    old = before.labels
    new = after.labels[: old.size]
    # a first line and a first column for elements in no group
    width = len(after) + 1
    cells = np.bincount((old + 1) * width + (new + 1), minlength=(len(before) + 1) * width).reshape(-1, width)
    shared = cells[1:, 1:].astype(float)
    sizes = cells.sum(axis=1)[1:], cells.sum(axis=0)[1:]
    likeness = shared / np.maximum(sizes[0][:, None] + sizes[1] - shared, 1.0)
    names, known = np.full(len(after), -1), before.group_names
    for ours, theirs in zip(*linear_sum_assignment(likeness, maximize=True)):
        if likeness[ours, theirs] > SAME_GROUP:
            names[theirs] = known[ours]
    fresh = max([-1, *known, *(before.named or ())]) + 1
    unnamed = np.flatnonzero(names < 0)
    names[unnamed] = fresh + np.arange(unnamed.size)
    return tuple(int(name) for name in names)


def _numbered_on(pool: Pool, new: Pool) -> Pool:
    """New sources; if they have no names of their own, their numbers go on from those of the pool."""
    start = len(pool.sources)
    if any(source.name != f"source {k}" for k, source in enumerate(new.sources)):
        return new
    sources = tuple(replace(source, name=f"source {start + k}") for k, source in enumerate(new.sources))
    own = [name.removeprefix(f"source {s}: ") for name, s in zip(new.names, new.source_of)]
    names = tuple(f"source {start + s}: {name}" for name, s in zip(own, new.source_of))
    return replace(new, sources=sources, names=names)


def longer(pool: Pool, new: Pool) -> Pool:
    """A pool with the elements of another one below its own; sources in the same order, labels by their names.

    Parameters
    ----------
    pool, new : Pool
        Of the same sources, in the same order. Labels that only the new elements have become new candidates.

    Returns
    -------
    Pool
    """
    _check_same_sources(pool, new)
    place = {(int(s), label_in_source(pool, j)): j for j, s in enumerate(pool.source_of)}
    labels = [(int(s), label_in_source(new, j)) for j, s in enumerate(new.source_of)]
    added = [j for j, label in enumerate(labels) if label not in place]
    place |= {labels[j]: pool.shape[1] + k for k, j in enumerate(added)}
    source_of = np.concatenate([pool.source_of, new.source_of[added]]).astype(np.int64)
    weights = np.concatenate([pool.weights, [_weight(pool, labels[j][0]) for j in added]])
    names = [*pool.names, *(f"{pool.sources[labels[j][0]].name}: {labels[j][1]}" for j in added)]
    # candidates of one source stand side by side, as in a pool that was made at once
    order = np.argsort(source_of, kind="stable")
    column = np.argsort(order)
    above = _in_columns(pool.rows, column[: pool.shape[1]], order.size)
    below = _in_columns(new.rows, column[[place[label] for label in labels]], order.size)
    return regrouped_pool(
        replace(
            pool,
            rows=csr_array(vstack([above, below], format="csr")),
            inverse=np.concatenate([pool.inverse, new.inverse.astype(np.int64) + pool.rows.shape[0]]),
            source_of=source_of[order],
            weights=weights[order],
            names=tuple(names[j] for j in order),
            ids=None if pool.ids is None else np.concatenate([pool.ids, np.asarray(new.ids)]),
            **_unseen(pool, new, source_of[order]),
        )
    )


def _check_same_sources(pool: Pool, new: Pool) -> None:
    """Refuse elements that other sources labelled, or whose labels cannot be matched."""
    if len(new.sources) != len(pool.sources):
        raise InputError(
            f"labels: they are of {counted(len(new.sources), 'source')}; the pool has {len(pool.sources)}."
        )
    if pool.left_out:
        raise InputError(
            "pool: `clean` left candidates out of it, and new labels may belong to those; extend the pool first."
        )
    if (pool.ids is None) != (new.ids is None):
        raise InputError("ids: give them for the old and the new elements, or for neither.")


def _in_columns(rows: csr_array, columns: IntArray, width: int) -> csr_array:
    """The same rows in a wider matrix, each column at its new place."""
    found = csr_array((rows.data, columns[rows.indices], rows.indptr), shape=(rows.shape[0], width))
    found.sort_indices()
    return found


def _unseen(pool: Pool, new: Pool, source_of: IntArray) -> dict[str, Any]:
    """What was not seen, one mask for each source."""
    if pool.unseen is None and new.unseen is None:
        return {}
    hidden = [csr_array(~seen_by_sources(part)) for part in (pool, new)]
    return {"unseen": csr_array(vstack(hidden, format="csr")), "mask_of": source_of}


def _weight(pool: Pool, source: int) -> float:
    """Weight of a new candidate: the mean weight of the candidates of its source, or 1."""
    own = pool.weights[pool.source_of == source]
    return float(own.mean()) if own.size else 1.0
