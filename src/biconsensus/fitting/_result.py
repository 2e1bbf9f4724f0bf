"""From the models that were found to parameters, memberships, labels and a consensus."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.sparse import csr_array, vstack

from biconsensus.fitting._refit import reweighted
from biconsensus.fitting._rounds import Found
from biconsensus.pool._pool import Pool
from biconsensus.protocols import FloatArray, IntArray, Model
from biconsensus.result._consensus import Consensus

_BLOCK = 1 << 21
_POLISH = 2
_SUPPORT = 1 << 23


def blocks(data: FloatArray, n_models: int) -> Iterator[FloatArray]:
    """The data in pieces, such that residuals of all models to one piece have bounded size."""
    step = max(1, _BLOCK // max(n_models, 1))
    return (data[start : start + step] for start in range(0, len(data), step))


def members_of(model: Model, data: FloatArray, params: FloatArray, found: list[Found]) -> csr_array:
    """(m, t) members of each model: what is within its threshold, or (literal method) its bi-cluster."""
    literal = [one.elements for one in found if one.elements is not None]
    if literal:
        return csr_array(np.stack(literal, axis=1))
    return memberships(model, data, params, np.array([one.fit.threshold for one in found]))


def memberships(model: Model, data: FloatArray, params: FloatArray, thresholds: FloatArray) -> csr_array:
    """(m, t) elements within the threshold of each model."""
    if not len(params):
        return csr_array((len(data), 0), dtype=bool)
    parts = [csr_array(model.residuals(params, piece) <= thresholds) for piece in blocks(data, len(params))]
    return csr_array(vstack(parts, format="csr"), dtype=bool)


def nearest(model: Model, data: FloatArray, params: FloatArray, thresholds: FloatArray, width: float = 1.0) -> IntArray:
    """(m,) nearest model of each element, in thresholds; -1 where none is within so many of its own."""
    if not len(params):
        return np.full(len(data), -1, np.int64)
    labels = []
    for piece in blocks(data, len(params)):
        distance = model.residuals(params, piece) / thresholds
        best = distance.argmin(1)
        labels.append(np.where(distance[np.arange(len(piece)), best] <= width, best, -1))
    return np.concatenate(labels).astype(np.int64)


def polish(model: Model, data: FloatArray, found: list[Found]) -> FloatArray:
    """(t, p) parameters, refitted to the elements that are nearest to each model."""
    if not found:
        return np.empty((0, 0))
    params = np.array([one.fit.params for one in found], np.float64)
    if not hasattr(model, "refit") or any(one.elements is not None for one in found):
        return params
    thresholds, cores = (np.array([getattr(one.fit, name) for one in found]) for name in ("threshold", "core"))
    for _ in range(_POLISH):
        labels = nearest(model, data, params, thresholds)
        params = np.array([reweighted(model, data[labels == t], params[t], cores[t]) for t in range(len(found))])
    return params


def consensus_of(
    model: Model, data: FloatArray, found: list[Found], membership: csr_array
) -> tuple[Pool, list[IntArray], Consensus]:
    """The hypotheses behind the models as a pool, and the models as its bi-clusters."""
    most = max(1, _SUPPORT // len(data))
    sizes = [min(len(one.support), most) for one in found]
    if not found:
        pool, support = Pool.from_groups([[]], len(data)), list[IntArray]()
    else:
        params = np.concatenate([one.support[:size] for one, size in zip(found, sizes)])
        reach = np.concatenate([one.reach[:size] for one, size in zip(found, sizes)])
        pool = Pool.from_matrix(memberships(model, data, params, reach), names=_names(sizes))
        support = list(np.split(np.arange(len(params)), np.cumsum(sizes)[:-1]))
    gains = np.array([_gain(pool, membership[:, [t]], columns) for t, columns in enumerate(support)], np.float64)
    consensus = Consensus(
        pool=pool,
        row_of=np.arange(len(data)),
        members=membership,
        candidates=tuple(support),
        gains=gains,
        objective=float(pool.sizes.sum() - 2 * gains.sum()),
        settings={"overlap": True, "quorum": 0.5, "min_elements": 2},
    )
    return pool, support, consensus


def _names(sizes: list[int]) -> list[str]:
    """Names of the hypotheses behind each model."""
    return [f"model {t}: hypothesis {i}" for t, size in enumerate(sizes) for i in range(size)]


def _gain(pool: Pool, members: csr_array, columns: IntArray) -> float:
    """Votes for, less half of all votes, of a model's hypotheses on its elements."""
    inside = np.bincount(pool.inverse, np.asarray(members.todense()).ravel(), minlength=pool.rows.shape[0])
    return float((inside @ pool.rows[:, columns]).sum() - inside.sum() * len(columns) / 2)
