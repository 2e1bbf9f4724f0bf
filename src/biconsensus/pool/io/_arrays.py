"""Readers of binary tables: NPY, NPZ and Parquet."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biconsensus.errors import FileFormatError, MissingDependencyError, UnknownNameError


def read_array(path: Path, key: str) -> NDArray[Any]:
    """(m, c) array of an NPY file (mapped, not read) or of an NPZ file; never a pickle."""
    try:
        if path.suffix.lower() == ".npy":
            array = np.load(path, mmap_mode="r", allow_pickle=False)
        else:
            with np.load(path, allow_pickle=False) as archive:
                array = archive[_member(archive.files, key)]
    except UnknownNameError:
        raise
    except Exception as error:
        # a damaged header makes NumPy raise anything, from ValueError to tokenize.TokenError
        raise FileFormatError(f"{path}: cannot be read as a NumPy array: {error}.") from None
    if array.ndim not in (1, 2) or array.dtype.kind not in "biufUS":
        raise FileFormatError(
            f"{path}: the array has shape {array.shape} and type {array.dtype}; give one or two dimensions of "
            "numbers or text."
        )
    if array.shape[0] == 0:
        raise FileFormatError(f"{path}: the array has 0 rows; give at least one.")
    table: NDArray[Any] = array.reshape(array.shape[0], -1)
    return table


def _member(names: list[str], key: str) -> str:
    """The wanted array of an archive; the only one serves under any name."""
    if key in names:
        return key
    if len(names) == 1:
        return names[0]
    raise UnknownNameError.of("array", key, names)


def read_parquet(path: Path) -> dict[str, NDArray[Any]]:
    """Columns of a Parquet file or folder: small integers stay small, missing cells are masked or None."""
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise MissingDependencyError.of("pyarrow", "tables") from None
    try:
        table = parquet.read_table(path)
    except (pa.ArrowException, OSError) as error:
        raise FileFormatError(f"{path}: cannot be read as Parquet: {error}") from None
    if table.num_rows == 0:
        raise FileFormatError(f"{path}: the table has 0 rows; give at least one.")
    return {name.removeprefix("__index_level_0__"): arrow_column(table[name]) for name in table.column_names}


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
