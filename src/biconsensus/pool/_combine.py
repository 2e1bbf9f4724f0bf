"""Pools from pools: parts of one, sums of two, elements tied together."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack, vstack

from biconsensus._checks import check_indices
from biconsensus.errors import InputError
from biconsensus.pool._build import joined_sets
from biconsensus.pool._rows import group_columns, group_rows, refine_groups
from biconsensus.protocols import IntArray

if TYPE_CHECKING:
    from biconsensus.pool._pool import Pool

logger = logging.getLogger("biconsensus")

ROWS_AT_ONCE = 8_192
"""Rows that are copied together, so that they stay in the cache."""


def select(pool: Pool, elements: Any, candidates: Any, sources: Any) -> Pool:
    """Pool of some elements, candidates and sources."""
    n_elements = pool.shape[0]
    if sources is not None:
        pool = _of_sources(pool, check_indices("sources", sources, len(pool.sources)))
    if candidates is not None:
        pool = _of_candidates(pool, check_indices("candidates", candidates, pool.shape[1]))
    if elements is not None:
        pool = _of_elements(pool, check_indices("elements", elements, n_elements))
    return pool


def clean(pool: Pool, trivial_share: float) -> Pool:
    """Pool without the candidates that are empty or hold at least this share of what their source saw."""
    sizes, seen = pool.sizes, pool.seen_sizes
    drop = (sizes >= trivial_share * seen) | (sizes == 0)
    reasons = tuple(
        (pool.names[j], "empty" if sizes[j] == 0 else f"trivial: holds {sizes[j]} of {seen[j]}")
        for j in np.flatnonzero(drop)
    )
    if drop.all():
        raise InputError(f"nothing is left of the pool: all {drop.size} candidates are empty or trivial.")
    for name, reason in reasons:
        logger.info("left out candidate %r: %s", name, reason)
    return replace(_of_candidates(pool, np.flatnonzero(~drop)), left_out=pool.left_out + reasons) if reasons else pool


def _of_sources(pool: Pool, kept: IntArray) -> Pool:
    """Candidates of the given sources, which are renumbered."""
    part = _of_candidates(pool, np.flatnonzero(np.isin(pool.source_of, kept)))
    number = np.full(len(pool.sources), -1, np.int64)
    number[kept] = np.arange(kept.size)
    return replace(part, source_of=number[part.source_of], sources=tuple(pool.sources[k] for k in kept))


def _of_candidates(pool: Pool, kept: IntArray) -> Pool:
    """The given candidates."""
    part = replace(
        pool,
        rows=csr_array(pool.rows[:, kept]),
        source_of=pool.source_of[kept],
        weights=pool.weights[kept],
        names=tuple(pool.names[j] for j in kept),
        **_views_of(pool, kept),
    )
    return regrouped(part)


def _views_of(pool: Pool, kept: IntArray) -> dict[str, Any]:
    """Fields for the masks that the given candidates still need."""
    if pool.unseen is None or pool.mask_of is None:
        return {}
    used, mask_of = np.unique(pool.mask_of[kept], return_inverse=True)
    unseen = csr_array(pool.unseen[:, used])
    return {"unseen": unseen, "mask_of": mask_of} if unseen.nnz else {"unseen": None, "mask_of": None}


def merged_masks(pool: Pool) -> tuple[IntArray, csr_array | None]:
    """Mask of each candidate and what each mask did not see, identical masks merged."""
    if pool.unseen is None or pool.mask_of is None:
        return np.zeros(pool.shape[1], np.int64), None
    # what a source without candidates saw changes nothing
    used, mask_of = np.unique(pool.mask_of, return_inverse=True)
    unseen = csr_array(pool.unseen[:, used])
    first, merged = group_rows(csr_array(unseen.T))
    return merged[mask_of].astype(np.int64), csr_array(unseen[:, first])


def _of_elements(pool: Pool, kept: IntArray) -> Pool:
    """The given elements."""
    ids = None if pool.ids is None else pool.ids[kept]
    return regrouped(replace(pool, inverse=pool.inverse[kept], ids=ids))


def regrouped(pool: Pool) -> Pool:
    """Merge rows that have become equal and drop those without elements, in order of appearance."""
    mask = None
    if pool.unseen is not None:
        mask = group_rows(csr_array(pool.unseen.astype(np.uint8)))[1].astype(np.int64)
    merged = group_rows(pool.rows, mask)[1]
    first, inverse = group_columns([merged[pool.inverse]])
    kept = pool.inverse[first]
    unseen = None if pool.unseen is None else csr_array(pool.unseen[kept])
    return replace(pool, rows=csr_array(pool.rows[kept]), inverse=inverse, unseen=unseen)


def add(*pools: Pool) -> Pool:
    """Candidates of all pools over the same elements; the rows of many pools are told apart in one pass."""
    first_pool, *others = pools
    known = next((pool.ids for pool in pools if pool.ids is not None), None)
    for pool in others:
        if first_pool.shape[0] != pool.shape[0]:
            raise InputError(f"pools must have the same elements; they have {first_pool.shape[0]} and {pool.shape[0]}.")
        if known is not None and pool.ids is not None and not np.array_equal(known, pool.ids):
            raise InputError("pools must have the same elements in the same order; their ids differ.")
    places = [pool.inverse for pool in pools]
    first, inverse = refine_groups(*places) if len(pools) == 2 else group_columns(places)
    parts = [(pool, pool.inverse[first]) for pool in pools]
    unseen, mask_of = _side_by_side(parts)
    shifts = np.cumsum([0, *(len(pool.sources) for pool in pools)])
    return replace(
        first_pool,
        rows=_rows_beside(parts),
        inverse=inverse,
        source_of=np.concatenate([pool.source_of + shift for pool, shift in zip(pools, shifts)]),
        sources=tuple(source for pool in pools for source in pool.sources),
        weights=np.concatenate([pool.weights for pool in pools]),
        names=tuple(name for pool in pools for name in pool.names),
        unseen=unseen,
        mask_of=mask_of,
        ids=known,
        left_out=tuple(left for pool in pools for left in pool.left_out),
    )


def _rows_beside(parts: list[tuple[Pool, IntArray]]) -> csr_array:
    """Some rows of each pool, next to each other."""
    tables = [table for pool, _ in parts if pool.binary and (table := _as_table(pool.rows)) is not None]
    if len(tables) < len(parts):
        return csr_array(hstack([pool.rows[rows] for pool, rows in parts], format="csr"))
    # every row holds as many candidates, as in partitions: a table of numbers, many times as fast as a sparse matrix
    shift, start, size = 0, 0, parts[0][1].size
    joined = np.empty((size, sum(table.shape[1] for table in tables)), np.int32)
    for (pool, rows), table in zip(parts, tables):
        stop = start + table.shape[1]
        for first in range(0, size, ROWS_AT_ONCE):
            some = slice(first, first + ROWS_AT_ONCE)
            np.add(np.take(table, rows[some], axis=0), np.int32(shift), out=joined[some, start:stop])
        shift, start = shift + pool.shape[1], stop
    # in one type with the indices, which SciPy would copy otherwise
    indptr = np.arange(0, joined.size + 1, start, dtype=np.int32 if joined.size < 2**31 else np.int64)
    return csr_array((np.ones(joined.size, np.uint8), joined.ravel(), indptr), shape=(size, shift))


def _as_table(rows: csr_array) -> NDArray[np.int32] | None:
    """(r, c) the stored columns of each row, where all rows have as many and numbers are small; None otherwise."""
    lengths = np.diff(rows.indptr)
    if lengths.size == 0 or lengths.min() != lengths.max() or rows.shape[1] >= 2**31:
        return None
    table: NDArray[np.int32] = rows.indices.astype(np.int32, copy=False).reshape(lengths.size, int(lengths[0]))
    return table


def _side_by_side(parts: list[tuple[Pool, IntArray]]) -> tuple[csr_array | None, IntArray | None]:
    """Masks of pools next to each other; a pool that saw everything has one mask with nothing unseen."""
    if all(pool.unseen is None for pool, _ in parts):
        return None, None
    hidden, masks, shift = [], [], 0
    for pool, rows in parts:
        blank = csr_array((rows.size, 1), dtype=bool)
        hidden.append(blank if pool.unseen is None else pool.unseen[rows])
        own = np.zeros(pool.shape[1], np.int64) if pool.mask_of is None else pool.mask_of
        masks.append(own + shift)
        shift += hidden[-1].shape[1]
    return csr_array(hstack(hidden, format="csr")), np.concatenate(masks)


def join(pool: Pool, together: Iterable[Iterable[int]]) -> Pool:
    """Give elements that must share a group the disjunction (maximum) of their rows."""
    inverse = pool.inverse.astype(np.int64)
    rows, unseen = [pool.rows], [pool.unseen]
    for elements in joined_sets(together, pool.shape[0]):
        distinct = np.unique(pool.inverse[elements])
        inverse[elements] = sum(part.shape[0] for part in rows)
        rows.append(csr_array(pool.rows[distinct].max(axis=0).reshape(1, -1)).astype(pool.rows.dtype))
        if pool.unseen is not None:
            hidden = pool.unseen[distinct].astype(np.int64).sum(axis=0) == distinct.size
            unseen.append(csr_array(hidden.reshape(1, -1)))
    stacked = None if pool.unseen is None else csr_array(vstack(unseen, format="csr"))
    return regrouped(replace(pool, rows=csr_array(vstack(rows, format="csr")), inverse=inverse, unseen=stacked))
