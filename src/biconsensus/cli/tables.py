"""Input of the commands: tables, with the column of truth and the ids taken out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from biconsensus.errors import UnknownNameError


def label_table(path: Path, id_column: str | None, truth: str | None) -> tuple[dict[str, Any], Any, Any]:
    """Columns of base labels, the true groups, the ids."""
    from biconsensus.io import read_labels

    table = read_labels(path, id_column=id_column)
    columns = dict(table.columns)
    true = None if truth is None else _take(columns, truth)
    return columns, true, table.ids


def point_table(path: Path, id_column: str | None, truth: str | None) -> tuple[Any, Any, Any]:
    """Points, the true groups, the ids; the column of truth may hold text."""
    from biconsensus.io import read_points

    if truth is None:
        table = read_points(path, id_column=id_column)
        return table.X, None, table.ids
    import numpy as np

    from biconsensus.io import read_labels

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
