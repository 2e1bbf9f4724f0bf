"""Maximum-weight clique of mutually consistent groups: pick from the pool, do not mix."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array, vstack

from biconsensus._checks import check_weights
from biconsensus.baselines._pools import check_square, takes_tables, to_elements
from biconsensus.errors import InputError, SourceError
from biconsensus.pool._pool import Pool
from biconsensus.protocols import FloatArray, IntArray


@takes_tables
def clique(
    pool: Pool,
    n_groups: int | None = None,
    *,
    random_state: int | None = None,
    quality: Any = None,
    time_limit: float = 60.0,
) -> IntArray:
    """Pick the disjoint candidates of the largest total quality.

    Parameters
    ----------
    pool : Pool, or anything that `Pool.from_labels` takes
        The candidates.
    n_groups : int or None
        At most this many are picked; None does not limit their number.
    random_state : ignored
        The answer is deterministic.
    quality : (n,) array or None
        Quality of each candidate; by default its size times its mean best Jaccard similarity in the other sources.
    time_limit : float, default=60.0
        Seconds for the search; the best found until then is returned.

    Returns
    -------
    (m,) array of int
        Labels from 0; -1 for elements that no picked candidate holds.

    Notes
    -----
    Candidates are consistent where they share no element; a clique of the graph of consistency is a set of disjoint
    candidates, so the maximum-weight clique is the integer program max sum_j q_j z_j with sum_{j holds i} z_j <= 1 for
    each distinct row i.

    Examples
    --------
    >>> import biconsensus as bc
    >>> clique(bc.Pool.from_labels([[0, 0, 1, 1], [0, 0, 1, 1], [0, 1, 1, 1]]))
    array([0, 0, 1, 1])
    """
    held = csr_array(pool.rows != 0).astype(np.float64)
    q = stability_quality(pool) if quality is None else check_weights(quality, pool.shape[1], "quality")
    limits = [held] if n_groups is None else [held, csr_array(np.ones((1, pool.shape[1])))]
    top = np.ones(held.shape[0]) if n_groups is None else np.append(np.ones(held.shape[0]), n_groups)
    if n_groups is not None and n_groups < 1:
        raise InputError(f"n_groups: got {n_groups}; give 1 or more, or None.")
    matrix = csr_array(vstack(limits, format="csr"))
    # HiGHS of SciPy before 1.15 takes 32-bit indices only
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32)
    found = milp(
        -q,
        integrality=np.ones(q.size),
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(matrix, -np.inf, top),
        options={"time_limit": time_limit},
    )
    if found.x is None:
        raise SourceError(f"clique: nothing was found within time_limit={time_limit:g} s; give more.")
    picked = np.flatnonzero(found.x > 0.5)
    inside = csr_array(held[:, picked])
    rows = np.flatnonzero(np.diff(inside.indptr) > 0)
    return to_elements(pool, rows, inside.indices[inside.indptr[rows]])


def stability_quality(pool: Pool) -> FloatArray:
    """Size of each candidate times its mean best Jaccard similarity among the candidates of each other source."""
    check_square("the overlaps of the candidates", pool.shape[1])
    held = csr_array(pool.rows != 0).astype(np.float64)
    both = np.asarray((csr_array(held.T * pool.counts[None, :]) @ held).toarray())
    sizes = both.diagonal()
    similar = both / np.maximum(sizes[:, None] + sizes[None, :] - both, 1.0)
    order = np.argsort(pool.source_of, kind="stable")
    names, starts = np.unique(pool.source_of[order], return_index=True)
    best = np.maximum.reduceat(similar[:, order], starts, axis=1)
    own = np.searchsorted(names, pool.source_of)
    others = best.sum(axis=1) - best[np.arange(sizes.size), own]
    quality: FloatArray = sizes * others / max(1, names.size - 1)
    return quality
