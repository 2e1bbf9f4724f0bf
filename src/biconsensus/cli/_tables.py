"""Input of the commands: tables, with the column of truth and the ids taken out, and words on what was decided."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from math import isfinite
from pathlib import Path
from shlex import quote
from typing import Any

from biconsensus.cli._output import Output
from biconsensus.pool.io._roles import FIRST_ROWS, FRACTION, ID_NAMES, Reading, Roles

STREAMED = 64 << 20
"""Files of more bytes than this are read piece by piece: they are tens of times as large in memory."""
MOST_REDUNDANT = 3
"""Sets of groupings that are named in notes; more of them would hide the other notes."""
PLAIN_NUMBERS = (
    "A number has a decimal point and no other mark or unit (in pandas: read_csv(..., sep=';', decimal=',', "
    "thousands='.'), then to_csv)."
)


def label_pool(path: Path, reading: Reading, jobs: int, output: Output) -> tuple[Any, Any]:
    """Pool of a table of labels, and the true groups; large files are never whole in memory."""
    from biconsensus import Pool
    from biconsensus.pool.io._doubts import label_doubts
    from biconsensus.pool.io._tables import true_groups

    if reading.truth is None and reading.columns is None and not reading.drop and is_large(path):
        roles = None if reading.id_column is not None else _first_roles(path, output)
        if roles is None or roles.truth is None:  # a column of truth must not vote
            return _streamed(path, reading.id_column, roles, jobs), None
    with hints(path, reading):
        table = label_table(path, replace(reading, key="labels"))
    output.decided, output.notes = table.decided, [*output.notes, *table.notes, *label_doubts(table.columns, table.ids)]
    return Pool.from_labels(table), true_groups(table.truth)


def weighed_pool(pool: Any, weights: list[str]) -> Any:
    """The pool with the weights of NAME=X, which multiply those of the candidates of a source."""
    import numpy as np

    from biconsensus.errors import InputError, UnknownNameError

    factors = np.ones(len(pool.sources))
    places = {source.name: k for k, source in enumerate(pool.sources)}
    for one in weights:
        name, equal, number = one.rpartition("=")
        if not equal:
            raise InputError(f"--weight must be NAME=X, such as {one}=2; received {one!r}.")
        if name not in places:
            raise UnknownNameError.of("grouping in --weight", name, places)
        try:
            factors[places[name]] = float(number)
        except ValueError:
            raise InputError(f"--weight {one}: {number!r} is no number; write NAME=2.") from None
    if not (np.isfinite(factors).all() and (factors > 0).all()):
        raise InputError("--weight: weights must be above 0; --drop leaves a grouping out.")
    return replace(pool, weights=pool.weights * factors[pool.source_of]) if weights else pool


def redundancy_notes(pool: Any) -> list[str]:
    """One sentence for each set of groupings that say nearly the same and so outvote others."""
    from biconsensus.pool._agreement import redundant_sources

    # two that agree are what a consensus is about
    sets = [own for own in redundant_sources(pool) if 2 < own.size < len(pool.sources)]
    found = []
    for own in sets[:MOST_REDUNDANT]:
        names = ", ".join(str(pool.sources[k].name) for k in own[:3])
        found.append(
            f"{own.size} of {len(pool.sources)} groupings say nearly the same ({names}, ...): they have {own.size}"
            " votes. --weights shared gives them one vote in all."
        )
    if more := len(sets) - len(found):
        found.append(f"{more} more {'sets' if more > 1 else 'set'} of groupings say nearly the same.")
    return found


def elements_of(pool: Any, text: str) -> list[int]:
    """Numbers of the elements whose ids are listed, divided by commas."""
    from biconsensus.errors import InputError

    m = pool.shape[0]
    ids = {str(value): k for k, value in enumerate(range(m) if pool.ids is None else pool.ids)}
    found = []
    for part in text.split(","):
        if part.strip() not in ids:
            raise InputError(f"--together {text}: there is no element {part.strip()!r}; give ids as in the table.")
        found.append(ids[part.strip()])
    if len(found) < 2:
        raise InputError(f"--together {text} names one element; name two or more, as in --together a,b.")
    return found


def is_large(path: Path) -> bool:
    """Whether a file, or a folder of Parquet files, is to be read piece by piece."""
    if path.is_dir():
        return True
    return path.suffix.lower() in (".parquet", ".pq", ".npy") and path.is_file() and path.stat().st_size > STREAMED


def _streamed(path: Path, id_column: str | int | None, roles: Roles | None, jobs: int) -> Any:
    """Pool of a large file."""
    from biconsensus.engines._local import pool_from_stream
    from biconsensus.errors import PoolWarning

    with warnings.catch_warnings():
        if roles is not None:  # which has a note on everything that is left out
            id_column = roles.ids
            warnings.simplefilter("ignore", PoolWarning)
        return pool_from_stream(path, id_column=None if id_column is None else str(id_column), n_jobs=jobs)


def _first_roles(path: Path, output: Output) -> Roles | None:
    """What the columns of a large Parquet file or folder are, by the rules for smaller ones on its first rows."""
    if path.suffix.lower() == ".npy":
        return None
    import pyarrow.parquet

    from biconsensus.pool.io._arrays import arrow_column
    from biconsensus.pool.io._roles import LABELS, Raw, decided, roles_of

    files = _files_of_one_table(path) if path.is_dir() else [path]
    rows = next(pyarrow.parquet.ParquetFile(files[0]).iter_batches(FIRST_ROWS))
    raw = Raw(str(path), {name: arrow_column(rows.column(k)) for k, name in enumerate(rows.schema.names)})
    roles = roles_of(raw, LABELS, Reading())
    output.decided, output.notes = decided(raw, roles, LABELS), [*output.notes, *roles.notes]
    return roles


def _files_of_one_table(folder: Path) -> list[Path]:
    """The Parquet files of a folder, which are pieces of one table and so have the same columns."""
    from pyarrow import ArrowException, parquet

    from biconsensus.errors import FileFormatError

    files = sorted(folder.glob("*.parquet"))
    if not files:
        raise FileFormatError(f"{folder}: the folder holds no file that ends in .parquet; name the file of your table.")
    first: list[str] = []
    for file in files:
        try:
            names = [str(name) for name in parquet.read_schema(file).names]
        except (ArrowException, OSError) as error:
            raise FileFormatError(f"{file}: cannot be read as Parquet: {error}") from None
        first = first or names
        if set(names) != set(first):
            raise FileFormatError(
                f"{folder} is a folder and is read as one table, but {files[0].name} has the columns "
                f"{', '.join(first)}, and {file.name} has {', '.join(names)}; name one file."
            )
    return files


def label_table(path: Path, reading: Reading) -> Any:
    """Table of labels."""
    from biconsensus.pool.io._tables import label_table as read

    return read(path, reading)


def point_table(path: Path, reading: Reading, kind: str, output: Output) -> tuple[Any, list[str], Any, Any]:
    """Points, the names of their columns, the true groups, the ids; the column of truth may hold text."""
    from biconsensus.pool.io._tables import point_table as read
    from biconsensus.pool.io._tables import true_groups

    with hints(path, reading):
        table = read(path, replace(reading, key="X"), kind)
    output.decided, output.notes = table.decided, [*output.notes, *table.notes]
    return table.X, table.names, true_groups(table.truth), table.ids


@contextmanager
def hints(path: Path, reading: Reading) -> Iterator[None]:
    """Add to an error about a table what its owner can do about it, with the options of the command."""
    from biconsensus.errors import FileFormatError
    from biconsensus.graphs._files import READERS as NETWORKS

    try:
        yield
    except FileFormatError as error:
        said = str(error)
        cell = re.search(r": '(.+?)' is no finite number", said)
        if cell is not None and FRACTION.fullmatch(cell[1]):
            said = re.split("; is the separator|; give a number", said)[0] + "."
            column = re.search(r"column \d+ \((.+?)\): '", said)
            names = "" if column is None else f" If the column holds names, say --id {quote(column[1])}."
            more = f"{PLAIN_NUMBERS}{names}"
        elif "is no finite number; give a number" in said or "the cell is empty" in said:
            more = _unusable_columns(path, reading)
        elif "unknown ending" in said and Path(path.name.removesuffix(".gz")).suffix.lower() in NETWORKS:
            more = "`biconsensus communities` takes networks."
        elif "make all lines equally long" in said:
            more = "Lines above the table, such as a title or comments, must be deleted."
        else:
            raise
        raise FileFormatError(f"{said} {more}") from None


def _unusable_columns(path: Path, reading: Reading) -> str:
    """Which columns of a table have text or gaps, and what to do about them."""
    from biconsensus.pool.io._roles import FEATURES
    from biconsensus.pool.io._tables import columns_and_roles
    from biconsensus.pool.io._text import is_number

    if str(path) == "-":  # which can be read only once
        return "--drop NAMES leaves columns out; --truth NAME uses one for scores."
    raw, roles = columns_and_roles(path, FEATURES, replace(reading, key="X"))
    unused = {name for name, role in roles.by_column(raw).items() if role in ("id", "truth", "left out")}
    columns = {
        name: column for name, column in raw.columns.items() if name not in unused and name.lower() not in ID_NAMES
    }
    text, bad, rows = list[str](), list[str](), set[int]()
    for name, column in columns.items():
        cells = ["" if cell is None or cell != cell else str(cell) for cell in column.tolist()]
        wrong = [k for k, cell in enumerate(cells) if not (is_number(cell) and isfinite(float(cell)))]
        if wrong and all(FRACTION.fullmatch(cells[k]) for k in wrong):
            return f"Column {name!r} holds numbers such as {cells[wrong[0]]!r}. {PLAIN_NUMBERS}"
        if 2 * len(wrong) > len(cells) and any(cells):
            text.append(name)
        elif wrong:
            bad.append(name)
            rows.update(wrong)
    if len(text) == len(columns):
        return "No column holds numbers; `biconsensus merge` takes a table of labels."
    more = []
    if text:
        which = "these columns, which hold text" if len(text) > 1 else "this column, which holds text"
        truth = "--truth NAME uses one" if len(text) > 1 else f"--truth {quote(text[0])} uses it"
        more.append(f"Leave out {which}: --drop {quote(','.join(text))} ({truth} for scores).")
    if bad:
        where = ", ".join(map(repr, bad))
        which = f"{len(rows):,} of {len(cells):,} rows {'have' if len(rows) > 1 else 'has'}"
        more.append(
            f"{which} no number in {where}: correct or delete {'these rows' if len(rows) > 1 else 'this row'}, or "
            f"leave out what has gaps: --drop {quote(','.join(bad))}."
        )
    return " ".join(more)


def input_name(path: Path) -> str:
    """Name of an input for people."""
    return "the standard input" if str(path) == "-" else path.name
