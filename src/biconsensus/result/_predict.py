"""Groups of new elements from their base labels alone."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array, vstack

from biconsensus._checks import check_quorum
from biconsensus._words import counted
from biconsensus.errors import InputError
from biconsensus.matrix._groups import summed
from biconsensus.pool._build import labels_by_sources
from biconsensus.pool._pool import Pool, label_in_source
from biconsensus.protocols import GUARD, FloatArray, IntArray
from biconsensus.result._consensus import Consensus


def predict(result: Consensus, labels: Any, missing: int | None = None) -> IntArray:
    """(k,) group whose candidates hold each new element most, -1 where none passes the quorum."""
    new = Pool.from_labels(labels_by_sources(labels, result.pool), missing=missing)
    if len(new.sources) != len(result.pool.sources):
        raise InputError(
            f"labels has {counted(len(new.sources), 'grouping')}; the pool has {len(result.pool.sources)}."
        )
    if len(result) == 0:
        return np.full(new.shape[0], -1, np.int64)
    held, asked = (new.rows.astype(np.float64) @ _known(result, new)).toarray(), _asked(result, new)
    # a power of two out of both, so that products with the terms of the quorum stay finite and keep every digit
    held, asked = (np.ldexp(part, -int(np.frexp(asked.max())[1])) for part in (held, asked))
    nearest = result.settings.get("unassigned") == "nearest"
    share, whole = (0, 1) if nearest else check_quorum(result.settings.get("quorum", 0.5)).as_integer_ratio()
    # products of whole numbers are exact; the guard keeps ties of real weights from being decided by rounding
    excess = np.where(held * whole > share * asked * (1 + GUARD), held - share * asked / whole, -np.inf)
    best = np.where(np.isfinite(excess.max(axis=1)), excess.argmax(axis=1), -1)
    return np.asarray(best[new.inverse])


def _known(result: Consensus, new: Pool) -> csr_array:
    """(n', T) weights behind the groups of the candidates that both pools have; 0 for labels the old one lacks."""
    pool = result.pool
    place = {(pool.source_of[j], label_in_source(pool, j)): j for j in range(pool.shape[1])}
    behind = vstack([result.behind, csr_array((1, len(result)))], format="csr")
    return behind[[place.get((new.source_of[j], label_in_source(new, j)), -1) for j in range(new.shape[1])]]


def _asked(result: Consensus, new: Pool) -> FloatArray:
    """(r, T) weight of the candidates of each group whose source saw each distinct new row."""
    by_source = summed(result.behind, result.pool.source_of, len(result.pool.sources)).toarray()
    seen = np.ones((new.rows.shape[0], len(new.sources)))
    if new.unseen is not None:
        seen -= new.unseen.astype(np.float64).toarray()
    return np.asarray(seen @ by_source)
