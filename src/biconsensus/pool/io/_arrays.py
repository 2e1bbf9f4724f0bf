"""Readers of binary tables: NPY, NPZ, Parquet, Feather and Excel; and text that is packed."""

from __future__ import annotations

import bz2
import gzip
import lzma
import zipfile
import zlib
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
from numpy.typing import NDArray

from biconsensus._checks import available_memory, need
from biconsensus._words import counted
from biconsensus.errors import FileFormatError

MAX_RATIO = 1200
"""Largest ratio of unpacked to packed size; deflate cannot do more, so more is a forged entry."""
UNPACKED_AT_ONCE = 1 << 24
"""Bytes that are unpacked before their sum is compared with the free memory."""


def check_archive(archive: zipfile.ZipFile, name: str) -> None:
    """Sizes that the file can hold and the machine can read, before anything is unpacked."""
    for entry in archive.infolist():
        if entry.file_size > MAX_RATIO * max(entry.compress_size, 1):
            raise FileFormatError(f"{name} would unpack {entry.filename!r} to {entry.file_size} bytes; refused.")
    total, limit = sum(entry.file_size for entry in archive.infolist()), available_memory()
    if limit is not None and total > limit:
        raise FileFormatError(f"{name} would unpack to {total} bytes, but only {limit} are free; refused.")


def read_array(source: Path | BytesIO, key: str, name: str | None = None) -> NDArray[Any]:
    """(m, c) array of an NPY file (mapped, not read) or of an NPZ file; never a pickle."""
    name = name or str(source)
    found = _loaded(source, key, name)
    if len(found) > 1 and key not in found:
        raise FileFormatError(
            f"{name} holds the arrays {', '.join(found)}; call the table {key!r}, or save columns of equal length."
        )
    array = found.get(key, next(iter(found.values())))
    if array.ndim not in (1, 2) or array.dtype.kind not in "biufUS":
        raise FileFormatError(
            f"{name}: the array has shape {array.shape} and type {array.dtype}; give one or two dimensions of "
            "numbers or text."
        )
    if array.shape[0] == 0:
        raise FileFormatError(f"{name}: the array has 0 rows; give at least one.")
    table: NDArray[Any] = array.reshape(array.shape[0], -1)
    return table


def read_columns(source: Path | BytesIO, key: str, name: str) -> dict[str, NDArray[Any]] | None:
    """Columns of an NPZ file whose arrays are one column each, all of one length; None for other files."""
    if not zipfile.is_zipfile(source):
        return None
    found = _loaded(source, key, name)
    lengths = {array.shape for array in found.values()}
    columns = len(found) > 1 and key not in found and len(lengths) == 1 and len(lengths.pop()) == 1
    return found if columns and all(array.size and array.dtype.kind in "biufUS" for array in found.values()) else None


def _loaded(source: Path | BytesIO, key: str, name: str) -> dict[str, NDArray[Any]]:
    """The array of an NPY file, that of an NPZ file with a name, or else all of them."""
    try:
        if zipfile.is_zipfile(source):
            with zipfile.ZipFile(source) as archive:
                check_archive(archive, name)
        if isinstance(source, BytesIO):
            source.seek(0)
        loaded = np.load(source, mmap_mode="r" if isinstance(source, Path) else None, allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            return {key: loaded}
        with loaded as members:
            return {member: members[member] for member in ([key] if key in members.files else members.files)}
    except FileFormatError:
        raise
    except Exception as error:
        # a damaged header makes NumPy raise anything, from ValueError to tokenize.TokenError
        objects = "Python objects" in str(error) or "Object arrays" in str(error)
        why = "it holds Python objects; save numbers or text" if objects else str(error).rstrip(".")
        raise FileFormatError(f"{name}: cannot be read as a NumPy array: {why}.") from None


def read_parquet(source: Path | BytesIO, name: str) -> dict[str, NDArray[Any]]:
    """Columns of a Parquet file or folder: small integers stay small, missing cells are masked or None."""
    return _read_arrow("parquet", "Parquet", source, name)


def read_feather(source: Path | BytesIO, name: str) -> dict[str, NDArray[Any]]:
    """Columns of a Feather file, which is an Arrow file, as those of a Parquet file."""
    return _read_arrow("feather", "a Feather file", source, name)


def _read_arrow(module: str, form: str, source: Path | BytesIO, name: str) -> dict[str, NDArray[Any]]:
    """Columns of a file that a module of pyarrow reads."""
    pa, reader = need("pyarrow", "tables"), need(f"pyarrow.{module}", "tables")
    try:
        table = reader.read_table(source)
    except (pa.ArrowException, OSError) as error:
        raise FileFormatError(f"{name}: cannot be read as {form}: {error}") from None
    return _arrow_columns(table, name)


def _arrow_columns(table: Any, name: str) -> dict[str, NDArray[Any]]:
    """Columns of an Arrow table by name."""
    if table.num_rows == 0:
        raise FileFormatError(f"{name}: the table has 0 rows; give at least one.")
    # two columns may have one name; a dictionary of names alone would lose one of them
    columns: dict[str, NDArray[Any]] = {}
    for k, column_name in enumerate(table.column_names):
        plain = column_name.removeprefix("__index_level_0__")
        columns[plain if plain not in columns else f"{plain} ({k + 1})"] = arrow_column(table.column(k))
    return columns


def unpacked(path: Path) -> bytes:
    """The bytes of a packed file; they must fit twice into the free memory: the parts, and what they make."""
    parts, size, limit = list[bytes](), 0, available_memory()
    try:
        with PACKED[path.suffix.lower()](path) as stream:
            while part := stream.read(UNPACKED_AT_ONCE):
                parts.append(part)
                size += len(part)
                if limit is not None and 2 * size > limit:
                    raise FileFormatError(f"{path}: unpacks to more than half of the {limit} bytes of free memory.")
    except (OSError, EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile, RuntimeError) as error:
        raise FileFormatError(f"{path}: cannot be unpacked: {error}.") from None
    return b"".join(parts)


def _only_member(path: Path) -> IO[bytes]:
    """The only file of a ZIP archive; folders and what macOS adds do not count."""
    archive = zipfile.ZipFile(path)
    check_archive(archive, str(path))
    names = [name for name in archive.namelist() if not name.endswith("/") and not name.startswith("__MACOSX/")]
    if len(names) != 1:
        raise FileFormatError(f"{path} holds {counted(len(names), 'file')}; give an archive of one table.")
    return archive.open(names[0])


PACKED: dict[str, Callable[[Path], IO[bytes]]] = {
    ".gz": lambda path: cast("IO[bytes]", gzip.open(path)),  # noqa: SIM115
    ".bz2": lambda path: cast("IO[bytes]", bz2.open(path)),  # noqa: SIM115
    ".xz": lambda path: cast("IO[bytes]", lzma.open(path)),  # noqa: SIM115
    ".zip": _only_member,
}
"""How a packed file is opened, by its ending."""


def read_sheet(source: Path | BytesIO, name: str) -> tuple[list[list[str]], list[int], list[str]]:
    """Cells of the first sheet of an Excel file as text, their lines, and the names of all sheets."""
    openpyxl = need("openpyxl", "tables")
    try:
        with zipfile.ZipFile(source) as archive:
            check_archive(archive, name)
        book = openpyxl.load_workbook(source, read_only=True, data_only=True)
        rows = [[_cell_text(value) for value in row] for row in book.worksheets[0].iter_rows(values_only=True)]
        sheets = list(book.sheetnames)
        book.close()
    except FileFormatError:
        raise
    except Exception as error:
        # a damaged archive or sheet makes the readers below raise anything
        raise FileFormatError(f"{name}: cannot be read as an Excel file: {error}.") from None
    width = max((k + 1 for row in rows for k, cell in enumerate(row) if cell), default=0)
    while rows and not any(rows[-1]):
        rows.pop()
    if not rows:
        raise FileFormatError(f"{name}: the first sheet is empty (0 rows); give a table with at least one line.")
    filled = [row[:width] + [""] * (width - len(row)) for row in rows]
    return filled, list(range(1, len(filled) + 1)), sheets


def _cell_text(value: Any) -> str:
    """A cell of a sheet as a CSV file would hold it."""
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def arrow_column(column: Any) -> NDArray[Any]:
    """NumPy values of an Arrow column; masked where a number is missing, None where text is."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_floating(column.type) or not (pa.types.is_integer(column.type) or pa.types.is_boolean(column.type)):
        return np.asarray(column.to_numpy(zero_copy_only=False))
    if not column.null_count:
        return np.asarray(column.to_numpy(zero_copy_only=False))
    absent = np.asarray(column.is_null().to_numpy(zero_copy_only=False))
    filled = column.fill_null(False if pa.types.is_boolean(column.type) else 0)
    return np.ma.MaskedArray(filled.to_numpy(zero_copy_only=False), absent)
