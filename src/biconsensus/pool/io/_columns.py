"""Columns of text cells as labels or as numbers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biconsensus.errors import FileFormatError
from biconsensus.pool.io._text import SEPARATORS
from biconsensus.protocols import FloatArray

ABSENT = frozenset({"", "NA", "N/A", "NaN", "nan", "NULL", "null", "None", "<NA>"})
"""Cells of a text table of labels that mean "not seen"."""


def parse_labels(cells: list[str]) -> NDArray[Any]:
    """One column of labels: whole numbers, numbers, or text, whichever fits all cells that are there."""
    cells = [cell.strip() for cell in cells]
    absent = np.array([cell in ABSENT for cell in cells], dtype=bool)
    present = [cell for cell in cells if cell not in ABSENT]
    for parse in PARSERS:
        try:
            values = parse(present)
        except (ValueError, OverflowError):
            continue
        return _with_gaps(values, absent)
    raise AssertionError("text always parses")


def _with_gaps(values: NDArray[Any], absent: NDArray[np.bool_]) -> NDArray[Any]:
    """Values at the cells that are there; masked (numbers) or None (text) elsewhere."""
    if not absent.any():
        return values
    whole = np.zeros(absent.size, values.dtype)
    if values.dtype == object:
        whole[absent] = None
    whole[~absent] = values
    return whole if values.dtype == object else np.ma.MaskedArray(whole, absent)


def _whole(cells: list[str]) -> NDArray[Any]:
    """Cells as whole numbers; 3.0 is one."""
    try:
        return np.array([int(cell) for cell in cells], dtype=np.int64)
    except ValueError:
        numbers = np.array([float(cell) for cell in cells])
    if not (np.abs(numbers) < 2**53).all() or (numbers != np.round(numbers)).any():
        raise ValueError("not whole")
    return numbers.astype(np.int64)


def _text(cells: list[str]) -> NDArray[Any]:
    """Cells as text, but -1 as the number: it means "in no group" there too."""
    return np.array([-1 if cell in ("-1", "-1.0") else cell for cell in cells] + [None], dtype=object)[:-1]


PARSERS: list[Callable[[list[str]], NDArray[Any]]] = [_whole, lambda cells: np.array(list(map(float, cells))), _text]
"""Readings of a column of labels, the narrowest first."""


def parse_numbers(path: Path, values: NDArray[Any], lines: list[int] | None, column: str) -> FloatArray:
    """One column as finite numbers, or an error with the place of the first cell that is none."""
    try:
        numbers = np.ma.filled(np.ma.asarray(values).astype(np.float64), np.nan)
    except (ValueError, TypeError):
        numbers = np.array([_number(value) for value in values])
    bad = np.flatnonzero(~np.isfinite(numbers))
    if bad.size:
        place = f"row {bad[0]}" if lines is None else f"line {lines[bad[0]]}"
        raise FileFormatError(f"{path}: {place}, {column}: {_complaint(values[bad[0]])}")
    return np.asarray(numbers, dtype=np.float64)


def _complaint(cell: Any) -> str:
    """What is wrong with a cell that should be a number."""
    if np.ma.is_masked(cell) or str(cell).strip() == "":
        return "the cell is empty; every point needs all of its numbers."
    other = next((name for mark, name in SEPARATORS.items() if mark != " " and mark in str(cell)), None)
    return f"{str(cell)!r} is no finite number" + (f"; is the separator a {other}?" if other else "; give a number.")


def _number(value: Any) -> float:
    """A number, or NaN for what is none."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return float("nan")
