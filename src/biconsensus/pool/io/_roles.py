"""What the columns of a table are: header, ids, truth, and what is used; docs/file_formats.md has the rules."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biconsensus._checks import warn_user
from biconsensus.errors import FileFormatError, PoolWarning, UnknownNameError
from biconsensus.pool._labels import absent
from biconsensus.pool.io._columns import ABSENT
from biconsensus.pool.io._text import is_number

LABELS, FEATURES, COORDINATES = "groupings", "features", "coordinates"
"""Kinds of tables. Coordinates are features that are all used: whole numbers that rise may be the time."""
VECTORS = "label vectors"
"""Labels in memory without names: whole numbers among them are labels, also where all of them are different."""
ID_NAMES = frozenset({"", "id", "index", "unnamed: 0"})
"""Names of a first column that holds ids: the index that pandas wrote, with its own name or that of its reader."""
TRUTH_NAMES = frozenset({"truth", "ground_truth", "ground truth", "true_label", "true_labels"})
CLASS_NAMES = TRUTH_NAMES | {"class", "target", "label", "labels"}
"""Names of a column of true groups, in a table of labels and beside numbers."""
MEASURES = frozenset({"confidence", "backing", "log10_nfa"})
"""Names of the columns that the library writes beside groups: they say how sure a group is, and group nothing."""
FEWEST_ROWS = 5
"""Rows from which on a column of different values is no grouping: in fewer, each element may well stand alone."""
FEWEST_COLUMNS = 3
"""Columns from which on a first line 0, 1, 2, ... is the header of pandas: one or two such labels are often data."""
AS_HEADER = "header=True (--header) makes it the header"
AS_DATA = "header=False (--no-header) makes it the first row"
AS_USED = "columns=[...] (--columns) chooses otherwise"
AS_DROPPED = "drop (--drop) leaves them out"
"""How to overrule a decision."""
FRACTION = re.compile(
    r"[-+]?[$€£]?(\d*[.,]\d+([eE][-+]?\d+)?|\d{1,3}([,.' ]\d{3})+([.,]\d+)?)( ?[^\W\d_]{1,3}| ?[%°€$£])?"
)
"""A decimal number as people write it: with a point or a comma, marks between thousands, a currency or a short unit."""
MOST_NAMED = 6
"""Columns that one sentence names."""
FIRST_ROWS = 10_000
"""Rows that decide what the columns of a table are that is not whole in memory."""
GLANCE = 1000
"""Rows that are looked at first, because most columns repeat a value among them."""


@dataclass(frozen=True)
class Reading:
    """What was said about a table; what was not is decided by the rules."""

    header: bool | None = None
    id_column: str | int | None = None
    columns: Sequence[str | int] | None = None
    drop: Sequence[str | int] = ()
    truth: str | int | None = None
    separator: str | None = None
    key: str | None = None


@dataclass(frozen=True)
class Raw:
    """Columns as stored in a file or in memory, and the line of each row where it is text."""

    name: str
    columns: Mapping[str, NDArray[Any]]
    lines: list[int] | None = None
    header: str = ""
    """What was decided about the header, in words."""
    notes: tuple[str, ...] = ()
    has_ids: bool = False
    """Whether the elements have ids that are no column."""


@dataclass
class Roles:
    """Which column is what, and the words that say so."""

    used: list[str]
    ids: str | None = None
    truth: str | None = None
    left_out: list[str] = field(default_factory=list)
    measured: list[str] = field(default_factory=list)
    """Those left out among groupings that hold measurements."""
    notes: list[str] = field(default_factory=list)

    def by_column(self, raw: Raw) -> dict[str, str]:
        """What each column of the file was taken as: used, id, truth or left out."""
        known = dict.fromkeys(self.used, "used") | {self.ids: "id", self.truth: "truth"}
        return {name: known.get(name, "left out") for name in raw.columns}


def check_no_title(rows: list[list[str]], name: str) -> None:
    """Refuse a title above the names of three columns or more: it would be the header, and the names would be data."""
    if len(rows) < 2 or len(rows[0]) < FEWEST_COLUMNS:
        return
    filled = (row for row in rows[1:] if any(row))  # a sheet may have an empty line below the title
    above, below = ([cell.strip() for cell in row] for row in (rows[0], next(filled, rows[1])))
    titles = [cell for cell in above if cell]
    names = all(cell and not is_number(cell) and cell not in ABSENT for cell in below) and len(set(below)) == len(below)
    if len(titles) == 1 and not is_number(titles[0]) and names:
        raise FileFormatError(
            f"{name}: line 1 has one cell ({titles[0]!r}) above what look like the names of the columns; delete the "
            f"lines above the table. If it is no title, {AS_DATA}."
        )


def looks_like_header(rows: list[list[str]], kind: str) -> tuple[bool, str | None]:
    """Whether the first row of a text table names its columns, and a note where that is not certain."""
    first = [cell.strip() for cell in rows[0]]
    named = [cell for cell in first if cell]
    if len(rows) < 2:
        names = len(first) > 1 and not any(is_number(cell) or cell in ABSENT for cell in first)
        return False, f"the only line ({_shown(first)}) was read as data" if names else None

    def below(k: int) -> list[str]:
        return [row[k].strip() for row in rows[1:]]

    if not named:
        return False, None
    words = [k for k, cell in enumerate(first) if cell and not is_number(cell) and cell not in ABSENT]
    if any(_all_numbers(below(k)) for k in words):
        return True, None
    if first[0].lower() in ("", "unnamed: 0") and len(first) > 1 and _all_different(below(0)):
        return True, None
    shown = _shown(first)
    if first == [str(k) for k in range(len(first))]:
        return _running_numbers([below(k) for k in range(len(first))], kind, shown)
    if len(words) < len(named):
        return False, None
    # names that stand twice, as pandas allows, may be labels as well: those come again in any column
    twice = len(set(named)) < len(named)
    labels = {cell for k in words for cell in below(k)} if twice else set()
    if any(first[k] in (labels or below(k)) for k in words):
        return False, f"line 1 ({shown}) was read as data, because its values come again; {AS_HEADER}"
    return True, f"line 1 ({shown}) was read as the header; {AS_DATA}"


def _shown(cells: list[str]) -> str:
    """The first cells of a line for a sentence."""
    return ", ".join(cells[:5]) + (", ..." if len(cells) > 5 else "")


def _running_numbers(below: list[list[str]], kind: str, shown: str) -> tuple[bool, str | None]:
    """A first row 0, 1, 2, ...: the columns of pandas that have no names, or data."""
    whole = kind != LABELS and all(is_number(cell) and float(cell).is_integer() for column in below for cell in column)
    if len(below) >= FEWEST_COLUMNS and not whole:
        return True, f"line 1 ({shown}) was read as the header; header=False (--no-header) makes it the first row"
    if kind == LABELS and len(below) < FEWEST_COLUMNS:
        return False, f"line 1 ({shown}) was read as data; header=True (--header) makes it the header" if len(
            below
        ) > 1 else None
    return False, None


def _all_numbers(cells: list[str]) -> bool:
    """Whether there are cells, all of them numbers or empty."""
    present = [cell for cell in cells if cell not in ABSENT]
    return bool(present) and all(map(is_number, present))


def _all_different(cells: Sequence[Any]) -> bool:
    """Whether no cell is empty and none comes twice."""
    return all(cell not in ABSENT for cell in cells) and len(set(cells)) == len(cells)


def roles_of(raw: Raw, kind: str, reading: Reading) -> Roles:
    """Decide which column holds ids, which the truth, and which are used."""
    names = list(raw.columns)
    asked = (
        None if reading.columns is None else [find_column(names, c, "column") for c in _listed(names, reading.columns)]
    )
    dropped = {find_column(names, column, "column") for column in _listed(names, reading.drop)}
    chosen = set(asked or ()) | dropped
    free = [name for name in names if name not in chosen]
    roles = Roles([])
    if reading.id_column is not None:
        roles.ids = find_column(names, reading.id_column, "id column")
    elif free and free[0] == names[0] and names[0].lower() in ID_NAMES:
        roles.ids = names[0]
    elif "" in free:
        roles.ids = ""
    if reading.truth is not None:
        roles.truth = find_column(names, reading.truth, "column")
    else:
        _guess_truth(roles, free, kind)
    taken = {roles.ids, roles.truth} | dropped
    roles.used = [name for name in (names if asked is None else asked) if name not in taken]
    if raw.has_ids and reading.id_column is None and roles.ids is not None:
        roles.left_out.append(roles.ids)
        roles.notes.append(f"left out because the elements have ids already: {roles.ids!r}; {AS_USED}")
        roles.ids = None
    if asked is None:
        if kind == LABELS:  # a point needs all of its numbers
            _leave_out_empty(roles, raw)
        _leave_out_measures(roles, kind)
        _leave_out_ids(roles, raw, kind)
    if not roles.used:
        what = (
            "labels beside the id column; give at least one grouping"
            if kind == LABELS
            else "numbers beside the id column; give at least one"
        )
        raise FileFormatError(f"{raw.name}: there is no column of {what}.")
    if roles.truth is not None:
        _point_out_leaks(roles, raw, kind)
    return roles


def _listed(names: list[str], given: Sequence[str | int]) -> list[str | int]:
    """Columns as given, or divided at commas where no column has such a name."""
    parts: list[str | int] = []
    for column in [given] if isinstance(given, str | int) else given:
        if isinstance(column, str) and column not in names and "," in column:
            parts += [part.strip() for part in column.split(",") if part.strip()]
        else:
            parts.append(column)
    return parts


def find_column(names: list[str], wanted: str | int, what: str) -> str:
    """Name of a column that was given by name or by number."""
    if str(wanted) in names:
        return str(wanted)
    number = int(wanted) if str(wanted).removeprefix("-").isdecimal() else None
    if number is None:
        raise UnknownNameError.of(what, wanted, names)
    if not -len(names) <= number < len(names):
        raise UnknownNameError(f"{what} is {number}; the table has columns 0 to {len(names) - 1}.")
    return names[number]


def _guess_truth(roles: Roles, free: Iterable[str], kind: str) -> None:
    """Take a column that is called truth as the truth: it is used for scores, never for the search."""
    known = TRUTH_NAMES if kind == LABELS else CLASS_NAMES
    found = [name for name in free if name.lower() in known and name != roles.ids]
    if found:
        roles.truth = found[0]
        roles.notes.append(f"column {found[0]!r} was taken as the truth, for scores only; {AS_USED}")


def _leave_out_empty(roles: Roles, raw: Raw) -> None:
    """Leave out columns without a value, unless there is no other: they say nothing of any element."""
    found = [name for name in roles.used if not any(map(_present, (raw.columns[name][:GLANCE], raw.columns[name])))]
    if 0 < len(found) < len(roles.used):
        roles.used = [name for name in roles.used if name not in found]
        roles.left_out += found
        roles.notes.append(f"left out because they are empty: {first_of([repr(name) for name in found])}; {AS_USED}")


def _leave_out_measures(roles: Roles, kind: str) -> None:
    """Leave out confidence and backing, which an earlier result wrote, unless there is no other column."""
    found = [name for name in roles.used if name.lower() in MEASURES]
    if kind == LABELS and 0 < len(found) < len(roles.used):
        roles.used = [name for name in roles.used if name not in found]
        roles.left_out += found
        listed = first_of([repr(name) for name in found])
        roles.notes.append(f"left out because they say how sure a grouping is, and group nothing: {listed}; {AS_USED}")


def _leave_out_ids(roles: Roles, raw: Raw, kind: str) -> None:
    """Columns that tell elements apart instead of grouping them: the first becomes the ids, others are left out."""
    found = [name for name in roles.used if _tells_apart(raw.columns[name], kind)]
    if kind in (COORDINATES, VECTORS):  # there, running numbers may be meant; text that is always different is not
        found = [name for name in found if not _is_counter(raw.columns[name])]
    if kind == LABELS and not found and _first_names_few(raw, roles.used):
        found = roles.used[:1]
    if len(found) == len(roles.used):
        found = []
    left_out = []
    for name in found:
        roles.used.remove(name)
        if kind == LABELS and _are_fractions(raw.columns[name]):
            roles.measured.append(name)
        elif roles.ids is None and not raw.has_ids and not np.ma.is_masked(raw.columns[name]):
            roles.ids = name
            why = (
                "counts the rows" if kind != LABELS and _is_counter(raw.columns[name]) else "is different in every row"
            )
            roles.notes.append(f"column {name!r} {why} and was taken as the ids; {AS_USED}")
        else:
            left_out.append(name)
    roles.left_out += [*roles.measured, *left_out]
    if roles.measured:
        listed = first_of([repr(name) for name in roles.measured])
        roles.notes.append(
            f"left out because they hold measurements, which group nothing: {listed}; `biconsensus cluster` "
            f"(ConsensusClustering) finds groups in them; {AS_USED}"
        )
    if left_out:
        listed = first_of([repr(name) for name in left_out])
        roles.notes.append(f"left out because every row has a value of its own, as ids have: {listed}; {AS_USED}")
    if kind == FEATURES:
        doubtful = [name for name in roles.used if _whole_and_different(raw.columns[name])]
        if doubtful:
            listed = first_of([repr(name) for name in doubtful])
            roles.notes.append(
                f"features with another whole number in every row: {listed}; for ids use id_column (--id)"
            )


def _first_names_few(raw: Raw, used: list[str]) -> bool:
    """Whether, in a file of text with a few rows, the first column is a different word in each, beside numbers."""
    if raw.lines is None or len(used) < 2 or not 1 < raw.columns[used[0]].size < FEWEST_ROWS:
        return False
    first, *others = (_present(raw.columns[name]) for name in used)
    words = all(isinstance(value, str) and not is_number(value) for value in first)
    different = len(set(first)) == len(first) == raw.columns[used[0]].size
    return words and different and all(_all_numbers([str(value) for value in column]) for column in others)


def _tells_apart(values: NDArray[Any], kind: str) -> bool:
    """Whether a column is one of ids: different values; beside numbers, those that count the rows, or text.

    Text that is mostly decimal numbers as people write them is none: one cell that is no number must not hide the rest.
    """
    if not _different(values):
        return False
    if kind == LABELS:
        return True
    cells = [str(value).strip() for value in _present(values[:GLANCE])]
    if _all_numbers(cells):
        return _is_counter(values)
    return 2 * sum(FRACTION.fullmatch(cell) is not None for cell in cells) <= len(cells)


def is_text(values: NDArray[Any]) -> bool:
    """Whether most cells of a column are neither numbers nor decimal numbers as people write them."""
    cells = [str(value).strip() for value in _present(values)]
    return 2 * sum(not is_number(cell) and not FRACTION.fullmatch(cell) for cell in cells) > values.size


def _different(values: NDArray[Any]) -> bool:
    """Whether no value comes twice, in enough rows, of which more than half are there."""
    if values.size < FEWEST_ROWS:
        return False
    for some in (values[:GLANCE], values):
        seen = _present(some)
        try:
            apart = len(set(seen)) == len(seen)
        except TypeError:  # in memory there may be anything; what is no label is refused later
            return False
        if not apart or 2 * len(seen) <= some.size:
            return False
    return len(seen) >= FEWEST_ROWS


def _present(values: NDArray[Any]) -> list[Any]:
    """Values that are there."""
    plain = values.compressed() if isinstance(values, np.ma.MaskedArray) else values
    there = plain[~absent(plain)]
    return [v for v in there.tolist() if not (isinstance(v, str) and v.strip() in ABSENT)]


def _are_fractions(values: NDArray[Any]) -> bool:
    """Whether the first values of a column are numbers, some of them not whole, which no id is."""
    cells = [str(value) for value in _present(values[:GLANCE])]
    return _all_numbers(cells) and any(not float(cell).is_integer() for cell in cells)


def _whole_and_different(values: NDArray[Any]) -> bool:
    """Whether a column has another whole number in every row."""
    return _different(values) and _whole_numbers(values) is not None


def counts_rows(values: NDArray[Any]) -> bool:
    """Whether a column holds whole numbers that rise, or fall, from every row to the next, in enough rows."""
    return values.size >= FEWEST_ROWS and values.dtype.kind in "iuf" and _is_counter(values)


def _is_counter(values: NDArray[Any]) -> bool:
    """Whether whole numbers rise, or fall, from every row to the next."""
    numbers = _whole_numbers(values)
    steps = None if numbers is None else np.diff(numbers)
    return steps is not None and bool((steps > 0).all() or (steps < 0).all())


def _whole_numbers(values: NDArray[Any]) -> NDArray[np.float64] | None:
    """A column as whole numbers, where it is one without gaps."""
    if np.ma.is_masked(values):
        return None
    try:
        numbers = np.ma.getdata(values).astype(np.float64)
    except (TypeError, ValueError):
        return None
    return numbers if np.isfinite(numbers).all() and (numbers == np.round(numbers)).all() else None


def _point_out_leaks(roles: Roles, raw: Raw, kind: str) -> None:
    """Say which columns say exactly what the truth says."""
    assert roles.truth is not None
    truth = raw.columns[roles.truth]
    same = [name for name in roles.used if _same_groups(raw.columns[name], truth)]
    if same:
        listed = first_of([repr(name) for name in same])
        roles.notes.append(f"{kind} that say exactly what the truth says: {listed}; {AS_DROPPED}")


def _same_groups(values: NDArray[Any], truth: NDArray[Any]) -> bool:
    """Whether two columns divide the rows alike into two groups or more."""
    for rows in (slice(GLANCE), slice(None)):
        ours, theirs = (np.ma.filled(np.ma.asarray(v[rows]).astype(object), None).tolist() for v in (values, truth))
        try:
            sizes = {len(set(ours)), len(set(theirs)), len(set(zip(ours, theirs)))}
        except TypeError:
            return False
        if len(sizes) > 1:
            return False
    return sizes != {1}


def warn_of(notes: Iterable[str], what: str, how: str) -> None:
    """A warning, at the line of the user, for each note on a table in Python; `how` is what decides there."""
    for note in notes:
        said = note.replace(AS_USED, how).replace(AS_DROPPED, how)
        warn_user(f"{what}: {said}.", PoolWarning)


def first_of(names: Sequence[str]) -> str:
    """The first names of a list for a sentence, and the last, because columns that people add stand there."""
    if len(names) <= MOST_NAMED:
        return ", ".join(names)
    return ", ".join([*names[: MOST_NAMED - 1], "...", names[-1]])


def decided(raw: Raw, roles: Roles, kind: str) -> str:
    """One line that says what was taken as what."""
    kind = kind if len(roles.used) > 1 else kind.removesuffix("s")
    parts = [raw.header, f"{len(roles.used)} {kind} ({first_of(roles.used)})"]
    parts.append("no ids" if roles.ids is None else f"ids from {roles.ids!r}" if roles.ids else "ids from the index")
    parts.append("" if roles.truth is None else f"truth from {roles.truth!r}")
    parts.append("" if not roles.left_out else f"left out: {first_of(roles.left_out)}")
    return f"{raw.name}: " + "; ".join(part for part in parts if part) + "."
