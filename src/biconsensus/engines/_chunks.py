"""Chunks of label tables that need not fit into memory: Parquet, NPY, Arrow, polars, or any iterable of tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biconsensus._checks import need
from biconsensus.errors import FileFormatError, InputError, InputTypeError
from biconsensus.pool._labels import all_different
from biconsensus.pool.io import read_labels
from biconsensus.pool.io._arrays import arrow_column, read_array
from biconsensus.pool.io._roles import FIRST_ROWS, LABELS, Raw, Reading, roles_of, warn_of

ROWS = 1 << 20
"""Elements in a chunk."""


@dataclass(frozen=True)
class Chunks:
    """A label table that is read piece by piece, as often as needed."""

    read: Callable[[], Iterator[Any]]
    """Starts a pass over the labels."""
    n_rows: int | None = None
    read_ids: Callable[[], Iterator[NDArray[Any]]] | None = None
    """Starts a pass over the identifiers."""

    def __iter__(self) -> Iterator[Any]:
        """Chunks of labels."""
        return self.read()

    def ids(self) -> NDArray[Any] | None:
        """All identifiers at once."""
        return None if self.read_ids is None else np.concatenate(list(self.read_ids()))


def is_streamed(source: Any) -> bool:
    """Whether a table is of a kind that is read in chunks: a path, a table of Arrow, polars or DuckDB, an iterator.

    Examples
    --------
    >>> is_streamed("labels.parquet"), is_streamed(iter([])), is_streamed([[0, 1]])
    (True, True, False)
    """
    # a single column of Polars or Arrow is a label vector
    column = hasattr(source, "dtype") or (hasattr(source, "to_pylist") and not hasattr(source, "schema"))
    return isinstance(source, (str, Path, Chunks, Iterator)) or (_module(source) in OPENERS and not column)


def open_chunks(source: Any, id_column: str | None = None) -> Chunks:
    """Chunks of anything that is read in chunks.

    Parameters
    ----------
    source : str, Path, Arrow table, batch reader or dataset, polars frame, NPY memory map, or iterable of tables
        One row an element, one column a grouping. A folder holds Parquet files, read in the order of their names.
    id_column : str, optional
        Column of identifiers, which are no labels. By default a first column named "id", or an index that pandas wrote.

    Examples
    --------
    >>> [chunk.shape for chunk in open_chunks(np.zeros((5, 2), np.int8))]
    [(5, 2)]
    """
    if isinstance(source, Chunks):
        return source
    if isinstance(source, (str, Path)):
        return _open_path(Path(source), id_column)
    if isinstance(source, np.ndarray):
        return Chunks(lambda: _slices(source), len(source))
    if _module(source) in OPENERS:
        return OPENERS[_module(source)](source, id_column)
    if isinstance(source, Iterable):
        return Chunks(lambda: iter(source))
    raise InputTypeError(f"labels cannot be read in chunks from {type(source).__name__}; give a path or an iterable.")


def _module(source: Any) -> str:
    """The package that a value comes from."""
    return type(source).__module__.partition(".")[0]


def _slices(table: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """Rows of an array, some at a time."""
    for start in range(0, len(table), ROWS):
        yield table[start : start + ROWS]


def _open_path(path: Path, id_column: str | None) -> Chunks:
    """A file by its ending, or a folder of Parquet files."""
    if not path.exists():
        raise FileNotFoundError(f"there is no file {path}; check the path.")
    if path.suffix.lower() == ".npy":
        table = read_array(path, "labels")
        return Chunks(lambda: _slices(table), len(table))
    if path.is_dir() or path.suffix.lower() in (".parquet", ".pq"):
        table = _dataset(path)
        return _batches_of(table, *_groupings(table, str(path), id_column))
    read = read_labels(path, id_column)
    ids = read.ids
    return Chunks(lambda: iter([read.columns]), None, None if ids is None else lambda: iter([ids]))


def _dataset(path: Path) -> Any:
    """Arrow dataset of a file or folder."""
    pa, dataset = need("pyarrow", "tables"), need("pyarrow.dataset", "tables")
    files: Any = path
    if path.is_dir():
        files = [str(file) for file in sorted(path.glob("*.parquet"))]
        if not files:
            raise FileFormatError(f"{path}: the folder holds no file that ends in .parquet.")
    try:
        return dataset.dataset(files, format="parquet")
    except (pa.ArrowException, OSError) as error:
        raise FileFormatError(f"{path}: cannot be read as Parquet: {error}") from None


def _open_dataset(table: Any, id_column: str | None) -> Chunks:
    """An Arrow dataset."""
    return _batches_of(table, *_groupings(table, "labels", id_column))


def _batches_of(table: Any, labels: list[str], key: str | None) -> Chunks:
    """Batches of an Arrow dataset, in the order of its rows."""

    def batches(columns: list[str]) -> Iterator[Any]:
        scanner = table.scanner(columns=columns, batch_size=ROWS, batch_readahead=2, fragment_readahead=1)
        return (batch for batch in scanner.to_batches() if batch.num_rows)

    ids = None if key is None else lambda: (arrow_column(batch.column(0)) for batch in batches([key]))
    return Chunks(lambda: batches(labels), table.count_rows(), ids)


def _open_arrow(table: Any, id_column: str | None) -> Chunks:
    """An Arrow table, dataset or reader of batches."""
    if hasattr(table, "scanner"):
        return _open_dataset(table, id_column)
    if hasattr(table, "read_next_batch"):
        first = next(iter(table), None)
        if first is None:
            raise InputError("labels: the reader has no batch; give at least one row.")
        labels, _ = _groupings(first, "labels", id_column)
        return Chunks(lambda: (batch.select(labels) for batch in chain([first], table) if batch.num_rows))
    if len(set(table.schema.names)) < len(table.schema.names):
        table = table.rename_columns(all_different(table.schema.names))
    labels, key = _groupings(table, "labels", id_column)
    ids = None if key is None else lambda: iter([arrow_column(table.column(key))])
    picked = table.select(labels)
    return Chunks(lambda: iter(_batches(picked)), table.num_rows, ids)


def _batches(table: Any) -> list[Any]:
    """Batches of a table; a batch is its own."""
    return list(table.to_batches(max_chunksize=ROWS)) if hasattr(table, "to_batches") else [table]


def _open_polars(frame: Any, id_column: str | None) -> Chunks:
    """A polars frame; a lazy one is collected by its streaming engine."""
    if hasattr(frame, "collect"):
        frame = frame.collect(engine="streaming")
    labels, key = _groupings(frame.head(FIRST_ROWS).to_arrow(), "labels", id_column)
    ids = None if key is None else lambda: iter([frame[key].to_numpy()])
    return Chunks(lambda: frame.select(labels).iter_slices(ROWS), frame.height, ids)


def _open_duckdb(relation: Any, id_column: str | None) -> Chunks:
    """A relation of DuckDB, as the Arrow table that it hands over."""
    if not hasattr(relation, "to_arrow_table"):
        raise InputTypeError(
            f"labels: got a {type(relation).__name__} of DuckDB; give the relation that sql() returns."
        )
    return _open_arrow(relation.to_arrow_table(), id_column)


def _groupings(table: Any, name: str, id_column: str | None) -> tuple[list[str], str | None]:
    """Names of the columns that vote, and that of the identifiers, by the rules of files on the first rows."""
    first = table.slice(0, FIRST_ROWS) if hasattr(table, "slice") else table.head(FIRST_ROWS)
    columns = {name: arrow_column(first.column(k)) for k, name in enumerate(first.schema.names)}
    if id_column is None and "__index_level_0__" in columns:
        id_column = "__index_level_0__"
    roles = roles_of(Raw(name, columns), LABELS, Reading(id_column=id_column))
    warn_of(roles.notes, name, "give only the columns that vote")
    return roles.used, roles.ids


OPENERS: dict[str, Callable[[Any, str | None], Chunks]] = {
    "pyarrow": _open_arrow,
    "polars": _open_polars,
    "duckdb": _open_duckdb,
    "_duckdb": _open_duckdb,
}
"""How the tables of other packages are opened."""
