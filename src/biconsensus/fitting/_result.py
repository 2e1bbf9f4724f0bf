"""From the models that were found to memberships, labels and a consensus."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.sparse import csr_array, vstack

from biconsensus.fitting._exclusion import Found
from biconsensus.fitting._structures import nearest_of, residuals_of
from biconsensus.pool._pool import Pool
from biconsensus.protocols import FloatArray, IntArray
from biconsensus.result._consensus import Consensus

_BLOCK = 1 << 21
"""Residuals held at a time: 16 MB."""
_SUPPORT = 1 << 23
"""Entries of the preference matrix of the hypotheses behind the models, at most."""

SETTINGS = {
    "overlap": True,
    "quorum": 0.5,
    "method": "greedy",
    "min_elements": 2,
    "min_candidates": 4,
    "unassigned": "leave",
    "chosen_by": "models",
    "evidence": "models",
}
"""What a consensus of models says of itself: a majority of the hypotheses, judged by the number of false alarms."""


def blocks(data: FloatArray, n_models: int) -> Iterator[FloatArray]:
    """The data in pieces, such that residuals of all models to one piece have bounded size."""
    step = max(1, _BLOCK // max(n_models, 1))
    return (data[start : start + step] for start in range(0, len(data), step))


def members_of(found: list[Found], data: FloatArray) -> csr_array:
    """(m, t) members of each model: what is within its threshold, or (literal method) its bi-cluster."""
    literal = [one.elements for one in found if one.elements is not None]
    if literal:
        return csr_array(np.stack(literal, axis=1))
    if not found:
        return csr_array((len(data), 0), dtype=bool)
    thresholds = np.array([one.fit.threshold for one in found])
    parts = [csr_array(residuals_of(found, piece) <= thresholds) for piece in blocks(data, len(found))]
    return csr_array(vstack(parts, format="csr"), dtype=bool)


def labels_of(found: list[Found], bands: FloatArray, data: FloatArray) -> IntArray:
    """(m,) nearest model, in bands, of each element; -1 where none is near enough."""
    parts = [nearest_of(residuals_of(found, piece), bands) for piece in blocks(data, len(found))]
    return np.concatenate([np.empty(0, np.int64), *parts])


def consensus_of(found: list[Found], data: FloatArray, membership: csr_array) -> tuple[Pool, list[IntArray], Consensus]:
    """The hypotheses behind the models as a pool, and the models as its bi-clusters."""
    most = max(1, _SUPPORT // len(data))
    sizes = [min(len(one.support), most) for one in found]
    if not found:
        pool, support = Pool.from_groups([[]], len(data)), list[IntArray]()
    else:
        votes = [_votes(one, size, data) for one, size in zip(found, sizes)]
        pool = Pool.from_matrix(csr_array(np.hstack(votes)), names=_names(found, sizes))
        support = list(np.split(np.arange(sum(sizes)), np.cumsum(sizes)[:-1]))
    gains = np.array([_gain(pool, membership[:, [t]], columns) for t, columns in enumerate(support)], np.float64)
    consensus = Consensus(
        pool=pool,
        row_of=np.arange(len(data)),
        members=membership,
        candidates=tuple(support),
        gains=gains,
        objective=float(pool.sizes.sum() - 2 * gains.sum()),
        settings=SETTINGS,
        evidence=np.array([one.log_nfa for one in found], np.float64),
    )
    return pool, support, consensus


def _votes(one: Found, size: int, data: FloatArray) -> FloatArray:
    """(m, h) which elements each of the hypotheses behind a model holds."""
    near = one.family.residuals(one.support[:size], data) <= one.support_thresholds[:size]
    return np.asarray(near, np.uint8)


def _names(found: list[Found], sizes: list[int]) -> list[str]:
    """Names of the hypotheses behind each model."""
    return [f"model {t}: hypothesis {i}" for t, size in enumerate(sizes) for i in range(size)]


def _gain(pool: Pool, members: csr_array, columns: IntArray) -> float:
    """Votes for, less half of all votes, of a model's hypotheses on its elements."""
    inside = np.bincount(pool.inverse, np.asarray(members.todense()).ravel(), minlength=pool.rows.shape[0])
    return float((inside @ pool.rows[:, columns]).sum() - inside.sum() * len(columns) / 2)
