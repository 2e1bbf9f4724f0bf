"""Dask: distinct rows of every partition, a tree reduction, one solver, and labels that are mapped back lazily.

All tasks are pure functions of the partitions, so that what a lost worker held is made again from them. Partitions are
added up in their own order, which gives the rows that one machine would find, in the same order: the same answer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from biconsensus._checks import need
from biconsensus.engines._compressed import Compressed, merge_compressed
from biconsensus.engines._counted import counted_pool
from biconsensus.engines._gathering import DaskConsensus
from biconsensus.engines._local import compress_stream
from biconsensus.errors import InputError, InputTypeError
from biconsensus.pool._rows import Numbers
from biconsensus.result._consensus import Consensus

Piece = tuple[Compressed, Numbers]
FAN_IN = 8
"""Parts that one task of the reduction adds up."""


def is_dask(value: Any) -> bool:
    """Whether a value is a Dask array or data frame; Dask itself need not be there.

    Examples
    --------
    >>> is_dask(np.zeros(3))
    False
    """
    # data frames of Dask before 2025 live in a package of their own
    return type(value).__module__.partition(".")[0] in ("dask", "dask_expr") and hasattr(value, "to_delayed")


@dataclass(frozen=True)
class Distributed:
    """A label table in partitions, brought down to its distinct rows."""

    found: Compressed
    """The distinct rows, here."""
    rows: Any
    """(m,) Dask array: the row of each element."""
    parts: list[Any]
    """The partitions, as Dask delayed values."""
    sizes: list[int]
    """Elements in each partition."""


def find_distributed(labels: Any, find: Callable[..., Consensus], client: Any = None) -> DaskConsensus:
    """Consensus of a label table in partitions.

    Parameters
    ----------
    labels : (m, c) Dask array or data frame
        One row an element, one column a grouping; cells as in `Pool.from_labels`.
    find : callable
        Consensus of a pool, called once, with the pool of distinct rows; it must not ask for `together`, because the
        elements have no numbers here.
    client : distributed.Client, optional
        Where to run; by default the current client or scheduler.

    Returns
    -------
    DaskConsensus
        A consensus whose labels are a Dask array.

    Examples
    --------
    >>> import dask.array as da
    >>> from biconsensus.find import find_consensus
    >>> table = da.from_array(np.array([[0] * 4, [0] * 4, [1] * 4, [1] * 4]), chunks=(2, 4))
    >>> find_distributed(table, find_consensus).labels.compute()
    array([0, 0, 1, 1])
    """
    table = compress_distributed(partitions(labels), client)
    return lazy(find(counted_pool(table.found)), table)


def lazy(consensus: Consensus, table: Distributed) -> DaskConsensus:
    """The consensus of distinct rows as that of all elements."""
    own = {field.name: getattr(consensus, field.name) for field in fields(Consensus)}
    return DaskConsensus(**own, rows=table.rows, parts=tuple(table.parts), sizes=tuple(table.sizes))


def compress_distributed(parts: list[Any], client: Any = None, missing: int | None = None) -> Distributed:
    """Distinct rows of all partitions, and where each element went."""
    delayed, arrays = dask_module().delayed, dask_module("array")
    pieces = [delayed(_compress)(part, missing) for part in parts]
    whole = _reduced([delayed(_distinct)(piece) for piece in pieces], delayed)
    # kept where they are made, four bytes an element, so that no partition is read a second time
    whole, *pieces = persisted([whole, *pieces], client)
    found, n_elements = computed([whole, [delayed(_size)(piece) for piece in pieces]], client)
    if found is None:
        raise InputError("the table has 0 elements (axis 0); at least one is needed.")
    rows = [
        arrays.from_delayed(delayed(_locate)(piece, whole), shape=(size,), dtype=np.int32)
        for piece, size in zip(pieces, n_elements)
    ]
    return Distributed(found, arrays.concatenate(rows), parts, n_elements)


def partitions(table: Any) -> list[Any]:
    """The partitions of a Dask array (m, c) or data frame, in order, as delayed values."""
    if not is_dask(table):
        raise InputTypeError(f"a Dask array or data frame is needed; received {type(table).__name__}.")
    if not hasattr(table, "rechunk"):
        return list(table.to_delayed())
    if table.ndim != 2:
        raise InputError(f"the Dask array must have 2 dimensions (elements, columns); received {table.ndim}.")
    return list(table.rechunk({1: -1}).to_delayed().ravel())


def _reduced(pieces: list[Any], delayed: Any) -> Any:
    """One delayed value for the sum of all pieces, by a tree."""
    while len(pieces) > 1:
        pieces = [delayed(_merge)(pieces[k : k + FAN_IN]) for k in range(0, len(pieces), FAN_IN)]
    return pieces[0]


def _compress(part: Any, missing: int | None) -> Piece | None:
    """Distinct rows of one partition, and the row of each element; None where it is empty."""
    # threads are Dask's business here
    return compress_stream([_plain(part)], missing=missing, n_jobs=1) if len(part) else None


def _distinct(piece: Piece | None) -> Compressed | None:
    """What is added up of a piece."""
    return None if piece is None else piece[0]


def _merge(pieces: Sequence[Compressed | None]) -> Compressed | None:
    """Sum of a few pieces."""
    present = [piece for piece in pieces if piece is not None]
    return merge_compressed(present) if present else None


def _size(piece: Piece | None) -> int:
    """Elements of a piece."""
    return 0 if piece is None else piece[1].size


def _locate(piece: Piece | None, whole: Compressed) -> Numbers:
    """Row of the whole table of each element of a piece."""
    return np.zeros(0, np.int32) if piece is None else np.take(whole.places_of(piece[0]), piece[1])


def _plain(part: Any) -> Any:
    """A partition without its index, which is no label."""
    return part.reset_index(drop=True) if hasattr(part, "reset_index") else np.ascontiguousarray(part)


def persisted(values: list[Any], client: Any) -> list[Any]:
    """Start the work and keep its results where they are made."""
    return list(client.persist(values) if client is not None else dask_module().persist(*values))


def computed(values: list[Any], client: Any) -> list[Any]:
    """The values themselves."""
    return list(client.compute(values, sync=True) if client is not None else dask_module().compute(*values))


def dask_module(module: str = "") -> Any:
    """Dask, or an error that says how to get it."""
    return need(f"dask.{module}" if module else "dask", "dask")
