"""Input of the commands: tables, with the column of truth and the ids taken out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from biconsensus.errors import UnknownNameError

STREAMED = 64 << 20
"""Files of more bytes than this are read piece by piece."""


def label_pool(path: Path, id_column: str | None, truth: str | None, jobs: int) -> tuple[Any, Any]:
    """Pool of a table of labels, and the true groups; large files are never whole in memory."""
    from biconsensus import Pool

    if truth is None and is_large(path):
        from biconsensus.engines._local import pool_from_stream

        return pool_from_stream(path, id_column=id_column or _first_id(path), n_jobs=jobs), None
    columns, true, ids = label_table(path, id_column, truth)
    return Pool.from_labels(columns, ids=ids), true


def is_large(path: Path) -> bool:
    """Whether a file, or a folder of Parquet files, is to be read piece by piece."""
    if path.is_dir():
        return True
    return path.suffix.lower() in (".parquet", ".pq", ".npy") and path.is_file() and path.stat().st_size > STREAMED


def _first_id(path: Path) -> str | None:
    """Name of the first column of a Parquet file where it is that of the ids, as in smaller files."""
    if path.suffix.lower() == ".npy" or path.is_dir():
        return None
    import pyarrow.parquet

    first: str = pyarrow.parquet.read_schema(path).names[0]
    return first if first.lower() in ("", "id") else None


def label_table(path: Path, id_column: str | None, truth: str | None) -> tuple[dict[str, Any], Any, Any]:
    """Columns of base labels, the true groups, the ids."""
    from biconsensus.pool.io import read_labels

    table = read_labels(path, id_column=id_column)
    columns = dict(table.columns)
    true = None if truth is None else _take(columns, truth)
    return columns, true, table.ids


def point_table(path: Path, id_column: str | None, truth: str | None) -> tuple[Any, Any, Any]:
    """Points, the true groups, the ids; the column of truth may hold text."""
    from biconsensus.pool.io import read_points

    if truth is None:
        table = read_points(path, id_column=id_column)
        return table.X, None, table.ids
    import numpy as np

    from biconsensus.pool.io import read_labels

    labels = read_labels(path, id_column=id_column)
    columns = dict(labels.columns)
    true = _take(columns, truth)
    X = np.column_stack([_numbers(path, name, values) for name, values in columns.items()])
    return X, true, labels.ids


def _take(columns: dict[str, Any], name: str) -> Any:
    """Remove the column of truth; a cell without truth is a class of its own."""
    import numpy as np

    if name not in columns:
        raise UnknownNameError.of("column", name, columns)
    values = columns.pop(name)
    if isinstance(values, np.ma.MaskedArray):
        values = values.filled(-1)
    if values.dtype == object:
        values = np.array([str(value) for value in values])
    return np.unique(values, return_inverse=True)[1]


def _numbers(path: Path, name: str, values: Any) -> Any:
    """One column of finite numbers, or an error that names the place."""
    import numpy as np

    from biconsensus.errors import FileFormatError

    try:
        numbers = np.ma.filled(np.ma.asarray(values).astype(np.float64), np.nan)
    except (TypeError, ValueError):
        numbers = np.full(1, np.nan)
    if not np.isfinite(numbers).all():
        row = int(np.flatnonzero(~np.isfinite(numbers))[0])
        raise FileFormatError(f"{path}: column {name!r}, data row {row + 1}: every cell must be a finite number.")
    return numbers
