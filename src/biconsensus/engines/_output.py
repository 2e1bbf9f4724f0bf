"""Labels back to disk, some elements at a time, in the order of the rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biconsensus._checks import need
from biconsensus.engines._chunks import ROWS, open_chunks
from biconsensus.errors import InputError, UnknownNameError
from biconsensus.pool.io import atomic_path
from biconsensus.result._consensus import Consensus


def labels_in_chunks(consensus: Consensus, size: int = ROWS) -> Iterator[NDArray[np.int32]]:
    """Labels of a consensus, some elements at a time, without all of them in memory.

    Parameters
    ----------
    consensus : Consensus
        The groups that were found.
    size : int
        Elements in a chunk.

    Yields
    ------
    (size,) int32 array
        What ``consensus.labels`` holds, in the same order.

    Examples
    --------
    >>> import biconsensus as bc
    >>> found = bc.find_consensus([[0, 0, 1, 1, 1]] * 4, min_elements=2)
    >>> [part.tolist() for part in labels_in_chunks(found, 3)]
    [[1, 1, 0], [0, 0]]
    """
    pool = consensus.pool
    if consensus.row_of is not pool.inverse or consensus.placed is not None:
        # seeds join elements that differ, and data tell elements of one row apart: the rows do not tell their labels
        labels = consensus.labels.astype(np.int32)
        yield from (labels[start : start + size] for start in range(0, labels.size, size))
        return
    every = np.arange(pool.rows.shape[0])
    rows = replace(consensus, pool=replace(pool, inverse=every, ids=None), row_of=every).labels.astype(np.int32)
    yield from (np.take(rows, pool.inverse[start : start + size]) for start in range(0, pool.inverse.size, size))


def write_labels(
    consensus: Consensus, path: str | Path, source: Any = None, id_column: str | None = None, name: str = "label"
) -> None:
    """Write the labels of a consensus as Parquet or NPY, chunk by chunk, same order of rows.

    Parameters
    ----------
    consensus : Consensus
        The groups that were found.
    path : str or Path
        Ends in .parquet or .npy. Written whole or not at all.
    source : as in `biconsensus.engines._local.pool_from_stream`, optional
        The table that the labels belong to, read again for its identifiers; by default the pool's ids are used.
    id_column : str, optional
        Column of `source` with identifiers, which becomes the first column of a Parquet file.
    name : str
        Name of the column of labels.

    Examples
    --------
    >>> import tempfile
    >>> import biconsensus as bc
    >>> target = Path(tempfile.mkdtemp()) / "labels.npy"
    >>> write_labels(bc.find_consensus([[0, 0, 1, 1, 1]] * 4, min_elements=2), target)
    >>> np.load(target)
    array([1, 1, 0, 0, 0], dtype=int32)
    """
    path = Path(path)
    if path.suffix.lower() not in WRITERS:
        raise UnknownNameError.of("ending", path.suffix, WRITERS)
    ids = consensus.pool.ids
    pieces: Iterator[NDArray[Any]] | None = (
        None if ids is None else (ids[start : start + ROWS] for start in range(0, ids.size, ROWS))
    )
    if source is not None and id_column is not None:
        opened = open_chunks(source, id_column)
        pieces = None if opened.read_ids is None else opened.read_ids()
    with atomic_path(path) as new:
        WRITERS[path.suffix.lower()](new, consensus, pieces, id_column or "id", name)


def _write_npy(path: Path, consensus: Consensus, ids: Iterator[NDArray[Any]] | None, key: str, name: str) -> None:
    """One array, mapped while it is written."""
    out = np.lib.format.open_memmap(path, mode="w+", dtype=np.int32, shape=(consensus.pool.shape[0],))
    start = 0
    for part in labels_in_chunks(consensus):
        out[start : start + part.size] = part
        start += part.size
    out.flush()


def _write_parquet(path: Path, consensus: Consensus, ids: Iterator[NDArray[Any]] | None, key: str, name: str) -> None:
    """Identifiers and labels, a row group for each chunk of identifiers."""
    pa, parquet = need("pyarrow", "tables"), need("pyarrow.parquet", "tables")
    writer = None
    try:
        for columns in _columns(consensus, ids, key, name):
            table = pa.table(columns)
            writer = writer or parquet.ParquetWriter(path, table.schema)
            writer.write_table(table)
    finally:
        if writer is not None:
            writer.close()


def _columns(
    consensus: Consensus, ids: Iterator[NDArray[Any]] | None, key: str, name: str
) -> Iterator[dict[str, NDArray[Any]]]:
    """Chunks of both columns; the identifiers set the pace."""
    if ids is None:
        yield from ({name: part} for part in labels_in_chunks(consensus))
        return
    parts, waiting = labels_in_chunks(consensus), np.zeros(0, np.int32)
    for piece in ids:
        while waiting.size < piece.size:
            more = next(parts, None)
            if more is None:
                raise InputError(f"there are more identifiers than the {consensus.pool.shape[0]} elements.")
            waiting = np.concatenate([waiting, more])
        yield {key: piece, name: waiting[: piece.size]}
        waiting = waiting[piece.size :]
    if waiting.size or next(parts, None) is not None:
        raise InputError(f"there are fewer identifiers than the {consensus.pool.shape[0]} elements.")


WRITERS: dict[str, Callable[[Path, Consensus, Iterator[NDArray[Any]] | None, str, str], None]] = {
    ".npy": _write_npy,
    ".parquet": _write_parquet,
}
"""Writer of each ending."""
