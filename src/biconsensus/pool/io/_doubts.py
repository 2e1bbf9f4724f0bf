"""Sentences about tables of labels that can be read, but may not be what their owner thinks they are."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biconsensus._words import counted, listed
from biconsensus.pool._labels import absent
from biconsensus.protocols import FloatArray, IntArray

LOOKED_AT = 10_000
"""Rows that are looked at: enough to tell a measurement from a label, and quick for any table."""
FEWEST_ROWS = 10
"""Rows from which on the number of different values says something about a column."""
MOST_CLASSES = 10
"""Different fractions that may be the names of classes, such as doses; more of them are measurements."""
PLACEHOLDERS = frozenset(
    {"?", "-", "--", ".", "n/a", "n.a.", "na", "#n/a", "none", "missing", "no answer", "not seen", "unknown"}
)
"""Words that people write where they have no label; cells that are read as empty are not among them."""
CODES = (-9, -99, -999, -9999)
"""Numbers that people write where they have no label; other negative numbers are labels, and -1 is in no group."""
DATE = re.compile(r"\d{4}-\d{1,2}-\d{1,2}([ T].*)?|\d{1,2}([./])\d{1,2}\2\d{2,4}")
"""A day as people and programs write it."""
DECIMAL = re.compile(r"[-+]?(\d+[.,]?\d*|\.\d+)(e[-+]?\d+)?", re.IGNORECASE)
"""A number as text, as cells with more digits than a float has are kept; the fraction may begin with a comma."""
AS_POINTS = "`biconsensus cluster` finds groups in a table of numbers; --drop leaves columns out"
"""What to do with measurements."""


def label_doubts(columns: Mapping[str, NDArray[Any]], ids: NDArray[Any] | None = None) -> list[str]:
    """What in a table of groupings looks like something else.

    Parameters
    ----------
    columns : mapping of str to ndarray of shape (m,)
        The groupings, by name.
    ids : ndarray of shape (m,), optional
        Names of the elements.

    Returns
    -------
    list of str
        One sentence for each doubt.

    Examples
    --------
    >>> label_doubts({"run": np.arange(20) % 3})
    ['there is only one grouping: the answer can only repeat it']
    """
    found = ["there is only one grouping: the answer can only repeat it"] if len(columns) == 1 else []
    return [*found, *content_doubts(columns, ids), *shape_doubts(columns)]


def content_doubts(columns: Mapping[str, NDArray[Any]], ids: NDArray[Any] | None = None) -> list[str]:
    """Doubts about the cells: measurements, ids that repeat, one row for each answer, words and codes for nothing."""
    first = {name: _present(values[:LOOKED_AT]) for name, values in columns.items()}
    found = []
    measured = [name for name, values in first.items() if _is_measurement(values)]
    if measured:
        found.append(
            f"columns that look like measurements, not like groupings: {listed(measured)}; every different value is a "
            f"group there. {AS_POINTS}"
        )
    if ids is not None and (repeated := _first_repeated(ids)) is not None:
        found.append(
            f"the id {repeated!r} comes more than once, but every row is read as an element of its own. If a row is "
            "the answer of one source on one element, make one row for each element and one column for each source "
            "(in pandas: pivot)"
        )
    if _is_long(columns):
        item, source, label = columns
        found.append(
            f"the table seems to have one row for each pair of {item!r} and {source!r}, but every row is read as an "
            f"element and every column as a grouping. Make one row for each {item!r} and one column for each "
            f"{source!r} (in pandas: table.pivot(index={item!r}, columns={source!r}, values={label!r}))"
        )
    texts = {name: {one for one in values.tolist() if isinstance(one, str)} for name, values in first.items()}
    if days := [name for name, some in texts.items() if len(some) > 1 and all(map(DATE.fullmatch, some))]:
        found.append(
            f"columns that look like dates, not like groupings: {listed(days)}; leave them out if they are none"
        )
    alike = [pair for some in texts.values() if (pair := _alike(some))]
    if alike:
        found.append(
            f"labels that differ only in capitals are different groups: {' and '.join(map(repr, alike[0]))}; write "
            "them alike if they mean the same"
        )
    return [*found, *_placeholders(first)]


def _alike(texts: set[str]) -> list[str]:
    """Two words among labels that differ only in capitals; single letters are codes."""
    seen: dict[str, str] = {}
    for text in sorted(texts):
        other = seen.setdefault(text.casefold(), text)
        if other != text and len(text) > 1:
            return [other, text]
    return []


def shape_doubts(columns: Mapping[str, NDArray[Any]]) -> list[str]:
    """A doubt where a table has far more groupings than elements: it may be the other way round."""
    m = len(next(iter(columns.values())))
    if len(columns) <= max(2 * m, FEWEST_ROWS):
        return []
    return [
        f"the table has {counted(m, 'row')} and {counted(len(columns), 'grouping')}: each row is an "
        "element and each column a grouping; "
        "if yours is the other way round, transpose it"
    ]


def fractions_in(columns: Mapping[str, NDArray[Any]]) -> list[str]:
    """Names of the columns that hold numbers with fractions: labels are no fractions."""
    return [name for name, values in columns.items() if _has_fractions(_present(values))]


def _present(values: NDArray[Any]) -> NDArray[Any]:
    """Values of a column that are there."""
    plain = values.compressed() if isinstance(values, np.ma.MaskedArray) else values
    return plain if plain.dtype.kind in "biu" else plain[~absent(plain)]


def _numbers(values: NDArray[Any]) -> FloatArray:
    """The finite numbers of a column; none where a value is something else, such as text."""
    if values.dtype.kind not in "biufO" or any(isinstance(value, str | bytes) for value in values[:1].tolist()):
        return np.empty(0)
    try:
        numbers = values.astype(np.float64)
    except (TypeError, ValueError):
        return np.empty(0)
    return np.asarray(numbers[np.isfinite(numbers)])


def _has_fractions(values: NDArray[Any]) -> bool:
    """Whether all values are numbers, and some are not whole."""
    if values.dtype.kind in "biu":
        return False
    numbers = _numbers(values)
    return bool((numbers != np.round(numbers)).any())


def _is_measurement(values: NDArray[Any]) -> bool:
    """Whether a column holds fractions, with a point or a comma, and more of them than classes have."""
    if len(values) < FEWEST_ROWS or values.dtype.kind in "biu":
        return False
    cells = values.tolist()
    texts = all(isinstance(one, str) and DECIMAL.fullmatch(one) for one in cells)
    fractions = any("." in one or "," in one for one in cells) if texts else _has_fractions(values)
    return fractions and len(set(cells)) > MOST_CLASSES


def _first_repeated(ids: NDArray[Any]) -> Any:
    """The first id that comes again; None where all are different."""
    seen = set()
    for one in ids[:LOOKED_AT].tolist():
        if one in seen:
            return one
        seen.add(one)
    return None


def _is_long(columns: Mapping[str, NDArray[Any]]) -> bool:
    """Whether three columns are element, source and label: no pair of the first two comes twice, and most are there."""
    m = len(next(iter(columns.values())))
    if len(columns) != 3 or not FEWEST_ROWS <= m < LOOKED_AT:
        return False
    whole = [_codes(values) for values in columns.values()]
    sizes = [int(codes.max(initial=-1)) + 1 for codes in whole]
    if min(sizes[:2]) < 2 or max(sizes) == m:
        return False
    pairs = np.unique(whole[0] * sizes[1] + whole[1]).size
    # few labels: of two true groupings the pairs repeat as well
    return pairs == m and 2 * m > sizes[0] * sizes[1] and sizes[2] < sizes[0]


def _codes(values: NDArray[Any]) -> IntArray:
    """A number for every value of a column; what is missing is a value like others."""
    plain = isinstance(values, np.ma.MaskedArray) or values.dtype.kind not in "biu"
    labels = np.array([str(value) for value in values.tolist()]) if plain else values
    return np.asarray(np.unique(labels, return_inverse=True)[1], dtype=np.int64)


def _placeholders(columns: Mapping[str, NDArray[Any]]) -> list[str]:
    """Labels that may stand for "no label": words, and codes such as -99."""
    texts = [set(values.tolist()) for values in columns.values() if values.dtype.kind in "OUT"]
    words = sorted({v for found in texts for v in found if isinstance(v, str) and _is_placeholder(v)})
    codes = sorted({int(v) for values in columns.values() for v in _codes_for_nothing(values)})
    found = []
    if words:
        found.append(
            f"the label {listed(words)} is read as a group; if it means that there is no label, leave the cells empty"
        )
    if codes:
        found.append(
            f"the label {listed(map(str, codes))} is read as a group: only -1 means 'in no group', and an empty cell "
            "'not seen'"
        )
    return found


def _is_placeholder(value: str) -> bool:
    """Whether a label is a word for nothing."""
    return value.strip().lower() in PLACEHOLDERS


def _codes_for_nothing(values: NDArray[Any]) -> FloatArray:
    """Numbers of a column that people write where they have no label."""
    numbers = np.empty(0) if values.dtype.kind in "bu" else _numbers(values)
    return np.unique(numbers[np.isin(numbers, CODES)])
