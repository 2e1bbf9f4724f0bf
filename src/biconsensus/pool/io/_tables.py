"""Readers of tables of labels and of points."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biconsensus.errors import FileFormatError, UnknownNameError
from biconsensus.pool.io._arrays import read_array, read_parquet
from biconsensus.pool.io._columns import parse_labels, parse_numbers
from biconsensus.pool.io._text import SEPARATORS, Cells, read_cells
from biconsensus.protocols import FloatArray


@dataclass(frozen=True)
class LabelTable:
    """Groupings of the same elements, ready for ``Pool.from_labels(table.columns, ids=table.ids)``."""

    columns: dict[str, NDArray[Any]]
    """Name and (m,) labels of each grouping; masked, NaN or None where not seen."""
    ids: NDArray[Any] | None
    """(m,) the user's own names of the elements."""


@dataclass(frozen=True)
class PointTable:
    """Points with the names of their coordinates."""

    X: FloatArray
    """(m, d) finite numbers."""
    names: list[str]
    """(d,) names of the columns."""
    ids: NDArray[Any] | None
    """(m,) the user's own names of the elements."""


def read_labels(
    path: str | Path,
    id_column: str | int | None = None,
    separator: str | None = None,
    header: bool | None = None,
    key: str | None = None,
) -> LabelTable:
    """Read a table of labels: one row an element, one column a grouping.

    Parameters
    ----------
    path : str or Path
        A file that ends in .csv, .txt, .tsv, .parquet, .npy or .npz.
    id_column : str or int, optional
        Column with the names of the elements. Otherwise a first column without a name, or named "id", is taken.
    separator : str, optional
        Of a text file; by default a tab in .tsv and else what fits the first lines.
    header : bool, optional
        Whether the first line of a text file names the columns; by default if it has no number and no repetition.
    key : str, optional
        Array of an NPZ file; needed where there are several and none is called "labels".

    Returns
    -------
    LabelTable
        An empty cell (or NA, NaN, null, None) was not seen; -1 was seen and put in no group.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "labels.csv"
    >>> _ = path.write_text("id,k-means,ward\\na,0,x\\nb,,x\\nc,1,y\\n")
    >>> table = read_labels(path)
    >>> table.columns["k-means"].tolist(), table.ids.tolist()
    ([0, None, 1], ['a', 'b', 'c'])
    """
    path = Path(path)
    raw = _read(path, "source ", separator, header, key or "labels")
    ids = _take_ids(raw.columns, id_column)
    if not raw.columns:
        raise FileFormatError(f"{path}: there is no column of labels beside the id column; give at least one grouping.")
    if raw.lines is None:
        return LabelTable(raw.columns, ids)
    _check_separator(path, raw, separator)
    return LabelTable({name: parse_labels(cells.tolist()) for name, cells in raw.columns.items()}, ids)


def read_points(
    path: str | Path,
    id_column: str | int | None = None,
    separator: str | None = None,
    header: bool | None = None,
    key: str | None = None,
) -> PointTable:
    """Read a table of points: one row an element, one column a coordinate, every cell a finite number.

    Parameters
    ----------
    path, id_column, separator, header
        As in `read_labels`.
    key : str, optional
        Array of an NPZ file; needed where there are several and none is called "X".

    Returns
    -------
    PointTable

    Raises
    ------
    FileFormatError
        With line and column, for a cell that is missing or is no number.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "points.tsv"
    >>> _ = path.write_text("1.5\\t2\\n3\\t4\\n")
    >>> read_points(path).X
    array([[1.5, 2. ],
           [3. , 4. ]])
    """
    path = Path(path)
    raw = _read(path, "x", separator, header, key or "X")
    places = {name: f"column {k + 1} ({name})" for k, name in enumerate(raw.columns)}
    ids = _take_ids(raw.columns, id_column)
    if not raw.columns:
        raise FileFormatError(f"{path}: there is no column of numbers beside the id column; give at least one.")
    X = [parse_numbers(path, values, raw.lines, places[name]) for name, values in raw.columns.items()]
    return PointTable(np.stack(X, axis=1), list(raw.columns), ids)


@dataclass(frozen=True)
class _Raw:
    """Columns as they are in a file, and the lines of its rows where it is text."""

    columns: dict[str, NDArray[Any]]
    lines: list[int] | None = None


def _read(path: Path, stem: str, separator: str | None, header: bool | None, key: str) -> _Raw:
    """Columns of a file that must exist, by its ending."""
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        raise FileFormatError(f"{path}: unknown ending {path.suffix!r}; allowed are {', '.join(READERS)}.")
    if not path.exists():
        raise FileNotFoundError(f"there is no file {path}; check the path.")
    return reader(path, stem, separator, header, key)


def _from_text(path: Path, stem: str, separator: str | None, header: bool | None, key: str) -> _Raw:
    """Columns of text cells; made-up names start with `stem`."""
    cells = read_cells(path, separator, header)
    if not cells.rows:
        raise FileFormatError(f"{path}: there is a header and no row below it; give at least one row.")
    columns = np.array(cells.rows, dtype=object).T
    return _Raw(dict(zip(_names(cells, stem), columns)), cells.lines)


def _from_array(path: Path, stem: str, separator: str | None, header: bool | None, key: str) -> _Raw:
    """Columns of a NumPy file."""
    return _Raw({f"{stem}{k}": column for k, column in enumerate(read_array(path, key).T)})


def _from_parquet(path: Path, stem: str, separator: str | None, header: bool | None, key: str) -> _Raw:
    """Columns of a Parquet file or folder."""
    return _Raw(read_parquet(path))


READERS: dict[str, Callable[[Path, str, str | None, bool | None, str], _Raw]] = {
    ".csv": _from_text,
    ".tsv": _from_text,
    ".txt": _from_text,
    ".parquet": _from_parquet,
    ".pq": _from_parquet,
    ".npy": _from_array,
    ".npz": _from_array,
}
"""Reader of each ending."""


def _names(cells: Cells, stem: str) -> list[str]:
    """Distinct names of the columns, made up where there is no header."""
    if cells.names is None:
        return [f"{stem}{k}" for k in range(len(cells.rows[0]))]
    names: list[str] = []
    for k, name in enumerate(cells.names):
        plain = name or ("" if k == 0 else f"column {k + 1}")
        names.append(plain if plain not in names else f"{plain} ({k + 1})")
    return names


def _take_ids(columns: dict[str, NDArray[Any]], id_column: str | int | None) -> NDArray[Any] | None:
    """Remove the column of ids from the table and return it."""
    names = list(columns)
    if id_column is None:
        name = names[0] if names and names[0].lower() in ("", "id") else None
    elif isinstance(id_column, int):
        if not -len(names) <= id_column < len(names):
            raise UnknownNameError(f"id_column is {id_column}; the table has columns 0 to {len(names) - 1}.")
        name = names[id_column]
    else:
        name = id_column
    if name is None:
        return None
    if name not in columns:
        raise UnknownNameError.of("id column", name, names)
    return columns.pop(name)


def _check_separator(path: Path, raw: _Raw, separator: str | None) -> None:
    """A given separator that leaves one column full of another one is wrong."""
    cells = next(iter(raw.columns.values())).tolist()
    if separator is None or len(raw.columns) > 1 or raw.lines is None:
        return
    for other, name in SEPARATORS.items():
        if other not in (separator, " ") and all(other in cell for cell in cells):
            raise FileFormatError(
                f"{path}: line {raw.lines[0]}, column 1: no {separator!r} in {cells[0]!r}; "
                f"the separator seems to be a {name} ({other!r})."
            )
