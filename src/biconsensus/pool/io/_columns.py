"""Columns of text cells as labels or as numbers."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biconsensus.errors import FileFormatError
from biconsensus.pool._labels import IN_NO_GROUP
from biconsensus.pool.io._text import SEPARATORS
from biconsensus.protocols import FloatArray

ABSENT = frozenset({"", "NA", "N/A", "#N/A", "NaN", "nan", "NULL", "null", "None", "<NA>"})
"""Cells of a text table of labels that mean "not seen"."""


WHOLE = re.compile(r"(0|-?[1-9][0-9]{0,18})(\.0*)?")
"""A whole number as programs write it, "3.0" included: no leading zero, no plus, no underscore."""
DECIMAL = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]*)?([eE][-+]?[0-9]+)?")
"""A decimal number as programs write it."""
DIGITS = 17
"""Digits that tell every 64-bit float from its neighbours; more would be rounded."""


def parse_labels(cells: list[str]) -> NDArray[Any]:
    """One column of labels: whole numbers, numbers, or text, the first that keeps all different cells apart."""
    # labels repeat: each different cell is looked at once
    number_of = {cell: number for number, cell in enumerate(dict.fromkeys(cells))}
    numbers = np.fromiter(map(number_of.__getitem__, cells), np.int64, len(cells))
    different = [cell.strip(" \t") for cell in number_of]
    absent = np.array([cell in ABSENT for cell in different], dtype=bool)
    present = [cell for cell in different if cell not in ABSENT]
    values = _whole(present)
    if values is None:
        values = _decimal(present)
    return _with_gaps(_text(present) if values is None else values, absent)[numbers]


def _with_gaps(values: NDArray[Any], absent: NDArray[np.bool_]) -> NDArray[Any]:
    """Values at the cells that are there; masked (numbers) or None (text) elsewhere."""
    if not absent.any():
        return values
    whole = np.zeros(absent.size, values.dtype)
    if values.dtype == object:
        whole[absent] = None
    whole[~absent] = values
    return whole if values.dtype == object else np.ma.MaskedArray(whole, absent)


def _whole(cells: list[str]) -> NDArray[Any] | None:
    """Cells as whole numbers of 64 bits, where all are written as such; 3.0 is one, 007 is none."""
    found = [WHOLE.fullmatch(cell) for cell in cells]
    numbers = [int(match[1]) for match in found if match is not None]
    if len(numbers) < len(cells) or any(not -(2**63) <= number < 2**63 for number in numbers):
        return None
    return np.array(numbers, dtype=np.int64)


def _decimal(cells: list[str]) -> NDArray[Any] | None:
    """Cells as decimal numbers, where all are written as such and none coincide that are written differently."""
    found = [DECIMAL.fullmatch(cell) for cell in cells]
    if any(match is None or len(match[1] + (match[2] or "")) > DIGITS + 1 for match in found):
        return None
    numbers = np.array([float(cell) for cell in cells])
    apart = np.isfinite(numbers).all() and np.unique(numbers).size == len(set(cells))
    return numbers if apart else None


def _text(cells: list[str]) -> NDArray[Any]:
    """Cells as text, but -1 as the number: it means "in no group" there too."""
    return np.array([-1 if cell in IN_NO_GROUP else cell for cell in cells] + [None], dtype=object)[:-1]


def parse_numbers(name: str, values: NDArray[Any], lines: list[int] | None, column: str) -> FloatArray:
    """One column as finite numbers, or an error with the place of the first cell that is none."""
    try:
        numbers = np.ma.filled(np.ma.asarray(values).astype(np.float64), np.nan)
    except (ValueError, TypeError):
        numbers = np.array([_number(value) for value in values])
    bad = np.flatnonzero(~np.isfinite(numbers))
    if bad.size:
        place = f"row {bad[0]}" if lines is None else f"line {lines[bad[0]]}"
        raise FileFormatError(f"{name}: {place}, {column}: {_complaint(values[bad[0]])}")
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
