"""Readers of tables of labels and of points."""

from __future__ import annotations

import re
import sys
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from io import BytesIO
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from biconsensus._checks import warn_user
from biconsensus._names import parameters
from biconsensus.errors import FileFormatError, PoolWarning
from biconsensus.pool.io._arrays import (
    PACKED,
    read_array,
    read_columns,
    read_feather,
    read_parquet,
    read_sheet,
    unpacked,
)
from biconsensus.pool.io._columns import parse_labels, parse_numbers
from biconsensus.pool.io._roles import (
    COORDINATES,
    FEATURES,
    LABELS,
    Raw,
    Reading,
    Roles,
    check_no_title,
    decided,
    first_of,
    is_text,
    looks_like_header,
    roles_of,
)
from biconsensus.pool.io._text import SEPARATORS, Cells, text_cells
from biconsensus.protocols import FloatArray


@dataclass(frozen=True)
class LabelTable:
    """Groupings of the same elements, ready for ``Pool.from_labels(table)``."""

    columns: dict[str, NDArray[Any]]
    """Name and (m,) labels of each grouping; masked, NaN or None where not seen."""
    ids: NDArray[Any] | None
    """(m,) the user's own names of the elements."""
    truth: NDArray[Any] | None = None
    """(m,) true groups, for scores only."""
    decided: str = ""
    """One line: what was taken as what."""
    notes: tuple[str, ...] = ()
    """What deserves a look among the decisions."""
    roles: dict[str, str] = field(default_factory=dict)
    """What each column of the file was taken as: used, id, truth or left out."""
    measured: tuple[str, ...] = ()
    """Columns that were left out because they hold measurements."""


@dataclass(frozen=True)
class PointTable:
    """Points with the names of their coordinates."""

    X: FloatArray
    """(m, d) finite numbers."""
    names: list[str]
    """(d,) names of the columns."""
    ids: NDArray[Any] | None
    """(m,) the user's own names of the elements."""
    truth: NDArray[Any] | None = None
    """(m,) true groups, for scores only."""
    decided: str = ""
    """One line: what was taken as what."""
    notes: tuple[str, ...] = ()
    """What deserves a look among the decisions."""
    roles: dict[str, str] = field(default_factory=dict)
    """What each column of the file was taken as: used, id, truth or left out."""


Table = TypeVar("Table", LabelTable, PointTable)


@parameters()
def read_labels(
    path: str | Path,
    id_column: str | int | None = None,
    separator: str | None = None,
    header: bool | None = None,
    key: str | None = None,
    *,
    columns: Sequence[str | int] | None = None,
    drop: Sequence[str | int] = (),
    truth: str | int | None = None,
) -> LabelTable:
    """Read a table of labels: one row an element, one column a grouping.

    What is not given is decided by the rules of the page on file formats; `decided` of the table says how.

    Parameters
    ----------
    path : str or Path
        A file that ends in .csv, .tsv, .txt (or .xyz, .asc, .dat), .parquet, .feather, .npy, .npz or .xlsx, also
        packed (.csv.gz, .zip); "-" is the standard input.
    id_column : str or int, optional
        Column with the names of the elements. Otherwise a first column without a name or named "id", or the first
        column in which no value comes twice.
    separator : str, optional
        Of a text file; by default a tab in .tsv and else what fits the first lines.
    header : bool, optional
        Whether the first line of a text file or sheet names the columns.
    key : str, optional
        Array of an NPZ file. Without it, the array called "labels", or the only one, or all, if each is one column.
    columns : list of str or int, optional
        The groupings; by default all columns but the ids, the truth, and columns in which no value comes twice.
    drop : list of str or int, optional
        Columns to leave out.
    truth : str or int, optional
        Column of true groups, which never votes.

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
    reading = Reading(header, id_column, columns, drop, truth, separator, key or "labels")
    return _warned(label_table(path, reading))


def label_table(path: str | Path, reading: Reading) -> LabelTable:
    """Table of labels without warnings; what deserves a look is in its notes."""
    raw, roles = columns_and_roles(path, LABELS, reading)
    if raw.lines is not None:
        _check_separator(raw, reading.separator)
    found = {name: _labels(raw, name) for name in roles.used}
    ids = None if roles.ids is None else raw.columns[roles.ids]
    true = None if roles.truth is None else _labels(raw, roles.truth)
    notes = (*raw.notes, *roles.notes)
    said = decided(raw, roles, LABELS)
    return LabelTable(found, ids, true, said, notes, roles.by_column(raw), tuple(roles.measured))


def _labels(raw: Raw, name: str) -> NDArray[Any]:
    """One column of labels, as text or unchanged."""
    values = raw.columns[name]
    return values if raw.lines is None else parse_labels(values.tolist())


@parameters()
def read_points(
    path: str | Path,
    id_column: str | int | None = None,
    separator: str | None = None,
    header: bool | None = None,
    key: str | None = None,
    *,
    columns: Sequence[str | int] | None = None,
    drop: Sequence[str | int] = (),
    truth: str | int | None = None,
    kind: str = FEATURES,
) -> PointTable:
    """Read a table of points: one row an element, one column a coordinate, every cell a finite number.

    Parameters
    ----------
    path, id_column, separator, header, columns, drop, truth
        As in `read_labels`; the column of truth may hold text.
    key : str, optional
        As in `read_labels`, but the array is called "X".
    kind : {"features", "coordinates"}
        Among features, whole numbers that rise from row to row are taken for ids; among coordinates they stay.

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
    return _warned(point_table(path, Reading(header, id_column, columns, drop, truth, separator, key or "X"), kind))


def point_table(path: str | Path, reading: Reading, kind: str = FEATURES) -> PointTable:
    """Table of points without warnings; what deserves a look is in its notes."""
    raw, roles = columns_and_roles(path, kind, reading)
    places = {name: f"column {k + 1} ({name})" for k, name in enumerate(raw.columns)}
    X = [parse_numbers(raw.name, raw.columns[name], raw.lines, places[name]) for name in roles.used]
    ids = None if roles.ids is None else raw.columns[roles.ids]
    true = None if roles.truth is None else _labels(raw, roles.truth)
    said = decided(raw, roles, kind)
    notes = (*raw.notes, *roles.notes)
    return PointTable(np.stack(X, axis=1), roles.used, ids, true, said, notes, roles.by_column(raw))


def text_columns(path: str | Path, reading: Reading) -> list[str]:
    """Columns of a table of features that hold text in most rows, and so cannot be features."""
    raw, roles = columns_and_roles(path, FEATURES, reading)
    return [name for name in roles.used if is_text(raw.columns[name])]


def true_groups(values: Any) -> Any:
    """Numbers of the true groups; a cell without truth is a class of its own."""
    if values is None:
        return None
    if isinstance(values, np.ma.MaskedArray):
        values = np.ma.filled(values.astype(object), None)
    if values.dtype == object:
        values = np.array([str(value) for value in values])
    return np.unique(values, return_inverse=True)[1]


def _warned(table: Table) -> Table:
    """The same table, after a warning for every decision that deserves a look."""
    for note in table.notes:
        said = re.sub(r" \(--[a-z-]+\)", "", note)  # options are for the command line
        warn_user(f"{table.decided.partition(':')[0]}: {said}.", PoolWarning)
    return table


def columns_and_roles(path: str | Path, kind: str, reading: Reading) -> tuple[Raw, Roles]:
    """Columns of a table and what each of them is."""
    raw = _read(Path(path), kind, reading)
    return raw, roles_of(raw, kind, reading)


def _read(path: Path, kind: str, reading: Reading) -> Raw:
    """Columns of a file by its ending; of the standard input or of another stream by its first bytes."""
    if str(path) == "-":
        return _from_stream(sys.stdin.buffer.read(), "standard input", kind, reading)
    ending = path.suffix.lower()
    if path.is_dir() and ending not in READERS:
        raise FileFormatError(f"{path} is a folder; name the file of the table.")
    if ending not in {*READERS, *PACKED} and not (ending == "" and path.exists() and not path.is_file()):
        raise FileFormatError(
            f"{path}: unknown ending {path.suffix!r}; allowed are {', '.join(READERS)}, and tables packed as "
            f"{', '.join(PACKED)}. Save the table as one of these."
        )
    if not path.exists():
        raise FileNotFoundError(f"there is no file {path}; check the path.")
    if ending in PACKED:
        return _from_stream(unpacked(path), str(path), kind, reading)
    if ending not in READERS or not (path.is_file() or path.is_dir()):
        return _from_stream(path.read_bytes(), str(path), kind, reading)
    return READERS[ending](path, str(path), kind, reading)


def _from_stream(data: bytes, name: str, kind: str, reading: Reading) -> Raw:
    """Columns of bytes that have no ending, told by how they begin."""
    source = BytesIO(data)
    if data.startswith(b"PK") and zipfile.is_zipfile(source):
        with zipfile.ZipFile(source) as archive:
            arrays = any(member.endswith(".npy") for member in archive.namelist())
        return (_from_array if arrays else _from_sheet)(source, name, kind, reading)
    if data.startswith(b"\x93NUMPY"):
        return _from_array(source, name, kind, reading)
    if data.startswith(b"PAR1"):
        return _from_parquet(source, name, kind, reading)
    if data.startswith((b"ARROW1", b"FEA1")):
        return _from_feather(source, name, kind, reading)
    return _named(text_cells(data, name, reading.separator), name, kind, reading)


def _from_text(source: Path | BytesIO, name: str, kind: str, reading: Reading) -> Raw:
    """Columns of text cells."""
    assert isinstance(source, Path)
    return _named(text_cells(source.read_bytes(), name, reading.separator), name, kind, reading)


def _from_sheet(source: Path | BytesIO, name: str, kind: str, reading: Reading) -> Raw:
    """Columns of the first sheet of an Excel file, by the rules of text."""
    rows, lines, sheets = read_sheet(source, name)
    raw = _named(Cells(rows, lines), name, kind, reading)
    if len(sheets) == 1:
        return raw
    note = f"only the first sheet {sheets[0]!r} was read; for another one ({first_of(sheets[1:])}), save it as a file"
    return replace(raw, notes=(note, *raw.notes))


def _from_array(source: Path | BytesIO, name: str, kind: str, reading: Reading) -> Raw:
    """Columns of a NumPy file."""
    columns = read_columns(source, reading.key or "", name)
    if columns is None:
        table = read_array(source, reading.key or "", name)
        columns = {f"{STEMS[kind]}{k}": column for k, column in enumerate(table.T)}
    return Raw(name, columns)


def _from_parquet(source: Path | BytesIO, name: str, kind: str, reading: Reading) -> Raw:
    """Columns of a Parquet file or folder."""
    return Raw(name, read_parquet(source, name))


def _from_feather(source: Path | BytesIO, name: str, kind: str, reading: Reading) -> Raw:
    """Columns of a Feather or Arrow file."""
    return Raw(name, read_feather(source, name))


STEMS = {LABELS: "source ", FEATURES: "x", COORDINATES: "x"}
"""How made-up names of columns begin."""
READERS: dict[str, Callable[[Path | BytesIO, str, str, Reading], Raw]] = {
    ".csv": _from_text,
    ".tsv": _from_text,
    ".txt": _from_text,
    ".xyz": _from_text,
    ".asc": _from_text,
    ".dat": _from_text,
    ".parquet": _from_parquet,
    ".pq": _from_parquet,
    ".feather": _from_feather,
    ".arrow": _from_feather,
    ".npy": _from_array,
    ".npz": _from_array,
    ".xlsx": _from_sheet,
}
"""Reader of each ending."""


def _named(cells: Cells, name: str, kind: str, reading: Reading) -> Raw:
    """Columns of cells under the names of the header, or made-up names where there is none."""
    cells = _trimmed(cells)
    if reading.header is None:
        check_no_title(cells.rows, name)
    header, note = looks_like_header(cells.rows, kind) if reading.header is None else (reading.header, None)
    rows, lines = (cells.rows[1:], cells.lines[1:]) if header else (cells.rows, cells.lines)
    if not rows:
        raise FileFormatError(f"{name}: there is a header and no row below it; give at least one row.")
    names = _names(cells.rows[0]) if header else [f"{STEMS[kind]}{k}" for k in range(len(rows[0]))]
    said = f"line {cells.lines[0]} is the header" if header else "no header"
    notes = [] if note is None else [note.replace("line 1 ", f"line {cells.lines[0]} ", 1)]
    if cells.comments:
        notes.append(f"lines above the table that begin with # were left out: {cells.comments}")
    return Raw(name, dict(zip(names, np.array(rows, dtype=object).T)), lines, said, tuple(notes))


def _trimmed(cells: Cells) -> Cells:
    """Cells without the empty rows above the table, and without columns that have neither a name nor a value."""
    first = next((k for k, row in enumerate(cells.rows) if any(cell.strip() for cell in row)), 0)
    rows = cells.rows[first:]
    width = len(rows[0]) if rows else 0
    kept = [k for k in range(width) if any(row[k].strip() for row in rows)]
    if width > len(kept) > 0:
        rows = [[row[k] for k in kept] for row in rows]
    return replace(cells, rows=rows, lines=cells.lines[first:])


def _names(header: list[str]) -> list[str]:
    """Distinct names of the columns; only the first may have none."""
    names: list[str] = []
    for k, cell in enumerate(header):
        plain = cell.strip() or ("" if k == 0 else f"column {k + 1}")
        names.append(plain if plain not in names else f"{plain} ({k + 1})")
    return names


def _check_separator(raw: Raw, separator: str | None) -> None:
    """A given separator that leaves one column full of another one is wrong."""
    cells = next(iter(raw.columns.values())).tolist()
    if separator is None or len(raw.columns) > 1 or raw.lines is None:
        return
    for other, name in SEPARATORS.items():
        if other not in (separator, " ") and all(other in cell for cell in cells):
            raise FileFormatError(
                f"{raw.name}: line {raw.lines[0]}, column 1: no {separator!r} in {cells[0]!r}; "
                f"the separator seems to be a {name} ({other!r})."
            )
