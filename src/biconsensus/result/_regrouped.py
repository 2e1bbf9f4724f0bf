"""Other groups for a pool that was searched, as a person or another result asks for them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.sparse import csr_array

from biconsensus.pool._pool import Pool
from biconsensus.pool._rows import group_columns
from biconsensus.protocols import FloatArray, IntArray
from biconsensus.result._consensus import Consensus


def regrouped(base: Consensus, labels: IntArray, chosen_by: str) -> Consensus:
    """A consensus with other groups, each with the candidates that back it at the quorum of the result.

    Parameters
    ----------
    base : Consensus
        With disjoint groups.
    labels : (m,) array of int
        The groups, -1 for none.
    chosen_by : str
        What decided them.

    Returns
    -------
    Consensus
        Groups in the order of their gains.

    Examples
    --------
    >>> import biconsensus as bc
    >>> c = bc.find_consensus([[0] * 4 + [1] * 4] * 3, quorum=0.5)
    >>> regrouped(c, np.repeat([5, -1, 2], [4, 1, 3]), "given").labels
    array([ 0,  0,  0,  0, -1,  1,  1,  1])
    """
    pool, quorum = base.pool, float(base.settings.get("quorum", 0.5))
    weights = pool.weights if base.weights is None else base.weights
    found, labels = np.unique(labels, return_inverse=True)
    labels = labels - int(found[0] < 0)
    n_groups = int(labels.max(initial=-1)) + 1
    held, seen = _held_and_seen(pool, labels, n_groups)
    gain = weights[:, None] * (held - quorum * seen)
    backs = np.where(gain.max(axis=1) > 0, gain.argmax(axis=1), -1)
    gains = np.array([gain[backs == t, t].sum() for t in range(n_groups)])
    order = np.argsort(-gains, kind="stable")
    labels = np.append(np.argsort(order), -1)[labels]
    first, row_of = group_columns([pool.inverse, labels])
    grouped = np.flatnonzero(labels[first] >= 0)
    members = csr_array((np.ones(grouped.size, bool), (grouped, labels[first][grouped])), shape=(first.size, n_groups))
    norm = float(pool.counts @ (pool.rows.astype(np.float64) @ weights))
    return replace(
        base,
        row_of=row_of,
        members=members,
        candidates=tuple(np.flatnonzero(backs == t) for t in order),
        gains=gains[order],
        objective=2 * (1 - quorum) * norm - 2 * float(gains.sum()),
        settings={
            **{k: v for k, v in base.settings.items() if k != "evidence"},
            "chosen_by": chosen_by,
            "unassigned": "leave",
        },
        evidence=None,
        placed=None,
        row_labels=None,
        trace=None,
    )


def _held_and_seen(pool: Pool, labels: IntArray, n_groups: int) -> tuple[FloatArray, FloatArray]:
    """(n, T) elements of each group that each candidate holds, and that its source saw."""
    inside = labels >= 0
    amounts = csr_array(
        (np.ones(int(inside.sum())), (pool.inverse[inside], labels[inside])), shape=(pool.rows.shape[0], n_groups)
    )
    held = np.asarray((pool.rows.astype(np.float64).T @ amounts).toarray())
    seen = np.tile(np.asarray(amounts.sum(axis=0)).ravel(), (pool.shape[1], 1))
    if pool.unseen is not None and pool.mask_of is not None:
        seen = seen - (pool.unseen.astype(np.float64).T @ amounts).toarray()[pool.mask_of]
    return held, seen
