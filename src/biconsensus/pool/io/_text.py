"""Separated text as cells that know their lines: encodings, separators, ragged lines."""

from __future__ import annotations

import codecs
import csv
import io
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from biconsensus._words import counted
from biconsensus.errors import FileFormatError

SEPARATORS = {",": "comma", "\t": "tab", ";": "semicolon", "|": "bar", " ": "blank"}
MARKS = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
SAMPLE = 50
"""Lines that are looked at for the separator."""


@dataclass(frozen=True)
class Cells:
    """Cells of a text file, all rows of one length; the header, where there is one, is the first row."""

    rows: list[list[str]]
    lines: list[int]
    """Line of the file at which each row ends, from 1."""
    comments: int = 0
    """Lines above the table that begin with #."""


def text_cells(data: bytes, name: str, separator: str | None = None) -> Cells:
    """Read a text table; what is wrong with it is an error with file, line and column."""
    text = _decoded(data, name)
    tabs = name.lower().endswith(".tsv") and "\t" in text  # a cell of such a file may hold commas
    separator = separator or ("\t" if tabs else sniff(text))
    rows, lines = _split(name, text, separator)
    comments = _take_comments(rows, lines)
    _cut_empty_ends(rows)
    _name_rows(rows)
    _check_lengths(name, rows, lines, separator)
    return Cells(rows, lines, comments)


def sniff(text: str) -> str:
    """Separator that gives the first lines one length above one; the first of them in the order of `SEPARATORS`."""
    sample = [line for line, _ in zip(_lines(text), range(SAMPLE)) if line.strip()]
    best, best_share = ",", 0.0
    for separator in SEPARATORS:
        try:
            lengths = Counter(len(row) for row in csv.reader(sample, delimiter=separator) if row)
        except csv.Error:  # a cell that is too long under this separator need not be under the next
            continue
        length, often = max(lengths.items(), key=lambda item: (item[1], item[0]), default=(1, 0))
        if length > 1 and often / len(sample) > best_share:
            best, best_share = separator, often / len(sample)
    return best


def _lines(text: str) -> Iterator[str]:
    """Lines with their ends: only the line ends of files count, other breaks that Unicode knows belong to the cell."""
    return iter(io.StringIO(text, newline=""))


def _decoded(data: bytes, name: str) -> str:
    """Text of a file: UTF-8 with or without a mark, or UTF-16 with one."""
    if not data.strip():
        raise FileFormatError(f"{name}: the file is empty (0 rows); give a table with at least one line.")
    if data[:2] == b"\x1f\x8b":
        raise FileFormatError(f"{name}: this is packed by gzip; give a file that ends in .gz, or unpack it (zcat).")
    encoding = MARKS.get(data[:2], "utf-8-sig")
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        called = encoding.upper().removesuffix("-SIG")
        raise FileFormatError(
            f"{name}: line {line} is not {called} text; save the file as UTF-8 (in Excel: CSV UTF-8)."
        ) from None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise FileFormatError(f"{name}: line {line} holds a zero byte; this is not a text table.")
    return text


def _split(name: str, text: str, separator: str) -> tuple[list[list[str]], list[int]]:
    """Rows and their lines, without blank lines at the end."""
    reader = csv.reader(_lines(text), delimiter=separator, skipinitialspace=separator != "\t")
    rows, lines = [], []
    try:
        for row in reader:
            rows.append(row)
            lines.append(reader.line_num)
    except csv.Error as error:
        longest = csv.field_size_limit()
        why = f"a cell has more than {longest} characters; is a quote left open?" if "limit" in str(error) else error
        raise FileFormatError(f"{name}: line {reader.line_num} cannot be read: {why}") from None
    while rows and not rows[-1]:
        rows.pop()
        lines.pop()
    return rows, lines


def _take_comments(rows: list[list[str]], lines: list[int]) -> int:
    """Remove lines above the table that begin with #, and say how many; the last may be the header with such a mark."""
    n = next((k for k, row in enumerate(rows) if not (row and row[0].startswith("#"))), 0)
    if n == 0:
        return 0
    width, last = len(rows[n]), rows[n - 1]
    if last[0] == "#" and len(last) == width + 1:  # NumPy writes "# x y"
        del last[0]
    if sum(len(row) == width for row in rows[:n]) > 1:  # names that begin with #, and no comments
        return 0
    if len(last) == width:
        last[0] = last[0].removeprefix("#").lstrip()
        n -= 1
    del rows[:n], lines[:n]
    return n


def _cut_empty_ends(rows: list[list[str]]) -> None:
    """Remove the cells behind the last column in which any line has text: programs end lines with a separator."""
    width = max((len(row) for row in rows), default=0)
    if width < 2 or any(len(row) == width and row[-1].strip() for row in rows):
        return
    width = max(next((k + 1 for k in reversed(range(len(row))) if row[k].strip()), 0) for row in rows)
    for row in rows:
        del row[max(width, 1) :]


def _name_rows(rows: list[list[str]]) -> None:
    """Give a header that is one cell shorter than all lines, as R writes it, an empty name for the first column.

    A title with a comma in it looks the same, but below it are names and no numbers.
    """
    width = len(rows[0]) + 1 if len(rows) > 1 else 0
    if width < 3 or any(len(row) != width for row in rows[1:]) or not any(map(is_number, rows[1][1:])):
        return
    if len({row[0] for row in rows[1:]}) == len(rows) - 1:
        rows[0].insert(0, "")


def _check_lengths(name: str, rows: list[list[str]], lines: list[int], separator: str) -> None:
    """All rows as long as the first; a blank line is an empty cell of a table with one column only."""
    expected = len(rows[0]) if rows else 0
    if expected == 0:
        raise FileFormatError(f"{name}: line 1 is blank; give a table that starts at the first line.")
    for k, (row, line) in enumerate(zip(rows, lines)):
        if not row and expected == 1:
            rows[k] = [""]
        elif len(row) != expected:
            if not row:
                raise FileFormatError(f"{name}: line {line}, column 1: the line is blank; delete it.")
            raise FileFormatError(
                f"{name}: line {line}, column {min(len(row), expected) + 1}: the line has {counted(len(row), 'cell')}, "
                f"line {lines[0]} has {expected} (separator: {SEPARATORS.get(separator, separator)}); make all lines "
                "equally long."
            )


def is_number(cell: str) -> bool:
    """Whether a cell is a number, NaN and infinity included."""
    try:
        float(cell)
    except ValueError:
        return False
    return True
