"""Separated text as cells that know their lines: encodings, separators, headers, ragged lines."""

from __future__ import annotations

import codecs
import csv
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from biconsensus.errors import FileFormatError

SEPARATORS = {",": "comma", "\t": "tab", ";": "semicolon", "|": "bar", " ": "blank"}
MARKS = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
SAMPLE = 50
"""Lines that decide which separator a text file has."""


@dataclass(frozen=True)
class Cells:
    """Cells of a text file, all rows of one length."""

    rows: list[list[str]]
    lines: list[int]
    """Line of the file at which each row ends, from 1."""
    names: list[str] | None
    """Header, where there is one."""


def read_cells(path: Path, separator: str | None = None, header: bool | None = None) -> Cells:
    """Read a text table; what is wrong with it is an error with file, line and column."""
    text = _decoded(path)
    separator = separator or ("\t" if path.suffix.lower() == ".tsv" else sniff(text))
    rows, lines = _split(path, text, separator)
    _check_lengths(path, rows, lines, separator)
    if header if header is not None else _looks_like_header(rows):
        return Cells(rows[1:], lines[1:], [name.strip() for name in rows[0]])
    return Cells(rows, lines, None)


def sniff(text: str) -> str:
    """Separator that gives the first lines one length above one; the first of them in the order of `SEPARATORS`."""
    sample = [line for line in text[:1_000_000].splitlines()[:SAMPLE] if line.strip()]
    best, best_share = ",", 0.0
    for separator in SEPARATORS:
        lengths = Counter(len(row) for row in csv.reader(sample, delimiter=separator) if row)
        length, often = max(lengths.items(), key=lambda item: (item[1], item[0]), default=(1, 0))
        if length > 1 and often / len(sample) > best_share:
            best, best_share = separator, often / len(sample)
    return best


def _decoded(path: Path) -> str:
    """Text of a file: UTF-8 with or without a mark, or UTF-16 with one."""
    data = path.read_bytes()
    if not data.strip():
        raise FileFormatError(f"{path}: the file is empty (0 rows); give a table with at least one line.")
    encoding = MARKS.get(data[:2], "utf-8-sig")
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise FileFormatError(f"{path}: line {line} is not {encoding.upper()} text; save the file as UTF-8.") from None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise FileFormatError(f"{path}: line {line} holds a zero byte; this is not a text table.")
    return text


def _split(path: Path, text: str, separator: str) -> tuple[list[list[str]], list[int]]:
    """Rows and their lines, without blank lines at the end."""
    reader = csv.reader(text.splitlines(keepends=True), delimiter=separator, skipinitialspace=separator != "\t")
    rows, lines = [], []
    try:
        for row in reader:
            rows.append(row)
            lines.append(reader.line_num)
    except csv.Error as error:
        raise FileFormatError(f"{path}: line {reader.line_num} cannot be read: {error}.") from None
    while rows and not rows[-1]:
        rows.pop()
        lines.pop()
    return rows, lines


def _check_lengths(path: Path, rows: list[list[str]], lines: list[int], separator: str) -> None:
    """All rows as long as the first; a blank line is an empty cell of a table with one column only."""
    expected = len(rows[0])
    for k, (row, line) in enumerate(zip(rows, lines)):
        if not row and expected == 1:
            rows[k] = [""]
        elif len(row) != expected:
            what = f"the line has {len(row)} cells" if row else "the line is blank"
            raise FileFormatError(
                f"{path}: line {line}, column {min(len(row), expected) + 1}: {what}, line {lines[0]} has {expected} "
                f"(separator: {SEPARATORS.get(separator, separator)}); make all lines equally long."
            )


def _looks_like_header(rows: list[list[str]]) -> bool:
    """Whether the first row names the columns: no number in it, all different, and something below."""
    first = [cell.strip() for cell in rows[0]]
    named = [cell for cell in first if cell]
    return len(rows) > 1 and bool(named) and len(set(named)) == len(named) and not any(map(is_number, named))


def is_number(cell: str) -> bool:
    """Whether a cell is a number, NaN and infinity included."""
    try:
        float(cell)
    except ValueError:
        return False
    return True
