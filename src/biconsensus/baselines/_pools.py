"""What baselines share: they take a pool or a table of labels, work on its distinct rows, and label its elements."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, cast

import numpy as np

from biconsensus._checks import available_memory, check_memory
from biconsensus._names import parameters
from biconsensus.errors import InputError
from biconsensus.pool._pool import Pool
from biconsensus.protocols import IntArray

P = ParamSpec("P")
MEMORY_LIMIT = 4 << 30
"""Bytes that a square matrix of rows may take unless told otherwise: enough for 13,000 rows with its copies."""


def takes_tables(method: Callable[Concatenate[Pool, P], IntArray]) -> Callable[Concatenate[Any, P], IntArray]:
    """The same baseline for a pool or for anything that `Pool.from_labels` takes."""

    @parameters()
    @wraps(method)
    def of_any(pool: Any, *args: P.args, **own: P.kwargs) -> IntArray:
        return method(pool if isinstance(pool, Pool) else Pool.from_labels(pool), *args, **own)

    # functools knows the first argument by its name, Concatenate does not
    return cast("Callable[Concatenate[Any, P], IntArray]", of_any)


def label_table(pool: Pool) -> IntArray:
    """(m, c) the candidate that holds each element in each source of a pool of partitions; -1 where none does."""
    table = np.full((pool.rows.shape[0], len(pool.sources)), -1, dtype=np.int64)
    entries = pool.rows.tocoo()
    table[entries.row, pool.source_of[entries.col]] = entries.col
    return np.asarray(table[pool.inverse])


def grouped_rows(pool: Pool) -> IntArray:
    """Distinct rows that are in some candidate."""
    return np.asarray(np.flatnonzero(np.diff(pool.rows.indptr) > 0))


def to_elements(pool: Pool, rows: IntArray, found: Any) -> IntArray:
    """Labels of the elements from those of some distinct rows: consecutive from 0, first seen first; other rows -1."""
    row_labels = np.full(pool.rows.shape[0], -1, np.int64)
    row_labels[rows] = found
    labels = row_labels[pool.inverse]
    inside = labels >= 0
    _, first, codes = np.unique(labels[inside], return_index=True, return_inverse=True)
    rank = np.empty(first.size, np.int64)
    rank[np.argsort(first)] = np.arange(first.size)
    result = np.full(labels.size, -1, np.int64)
    result[inside] = rank[codes]
    return result


def check_n_groups(n_groups: int | None, n_rows: int, name: str, needed: bool = True) -> None:
    """n_groups is given where it is needed, and not above the number of distinct rows."""
    if n_groups is None and needed:
        raise InputError(f"n_groups: {name} cannot find the number of groups; give it.")
    if n_groups is not None and not 1 <= n_groups <= n_rows:
        raise InputError(f"n_groups: got {n_groups}; give 1 to {n_rows}, the number of distinct rows.")


def check_square(what: str, size: int, memory_limit: int | None = MEMORY_LIMIT) -> None:
    """A dense square matrix of that size, with its temporary copies, fits into the limit and into what is free."""
    figures = [figure for figure in (memory_limit, available_memory()) if figure is not None]
    check_memory(f"{what} ({size} x {size})", 3 * 8 * size * size, min(figures, default=None))
