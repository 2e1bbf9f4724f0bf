"""Sentences about tables and networks that can be read, but may not be what their owner thinks they are."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from biconsensus.graphs._files import HEADERS
from biconsensus.pool.io._text import is_number
from biconsensus.protocols import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from biconsensus.graphs import Graph

LOOKED_AT = 10_000
"""Rows that are looked at: enough to tell a measurement from a label, and quick for any table."""
FEWEST_ROWS = 10
"""Rows from which on the number of different values says something about a column."""
PLACEHOLDERS = frozenset(
    {"?", "-", "--", ".", "n/a", "n.a.", "na", "#n/a", "none", "missing", "no answer", "not seen", "unknown"}
)
"""Words that people write where they have no label; cells that are read as empty are not among them."""
DECIMAL_COMMA = re.compile(r"[-+]?\d+,\d+")
MOST_EDGE_COLUMNS = 5
"""Columns of an edge list: two ends, a weight, and at most a kind or a time and an id."""
SHOWN = 3
"""Names in one sentence."""


def label_doubts(columns: Mapping[str, NDArray[Any]]) -> list[str]:
    """What in a table of groupings looks like something else.

    Parameters
    ----------
    columns : mapping of str to ndarray of shape (m,)
        The groupings, by name.

    Returns
    -------
    list of str
        One sentence for each doubt.

    Examples
    --------
    >>> label_doubts({"run": np.arange(20) % 3})
    ['there is only one grouping: the answer can only repeat it']
    """
    first = {name: _present(values[:LOOKED_AT]) for name, values in columns.items()}
    m, found = len(next(iter(columns.values()))), []
    if len(columns) == 1:
        found.append("there is only one grouping: the answer can only repeat it")
    measured = [name for name, values in first.items() if _is_measurement(values)]
    if measured:
        found.append(
            f"columns that look like measurements, not like groupings: {listed(measured)}; every different value is a "
            "group there. `biconsensus cluster` finds groups in a table of numbers; --drop leaves columns out"
        )
    if len(columns) > max(m, FEWEST_ROWS):
        found.append(
            f"the table has {m} rows and {len(columns)} groupings: each row is an element and each column a grouping; "
            "if yours is the other way round, transpose it"
        )
    if _is_long(columns):
        item, source, label = columns
        found.append(
            f"the table seems to have one row for each pair of {item!r} and {source!r}, but every row is read as an "
            f"element and every column as a grouping. Make one row for each {item!r} and one column for each "
            f"{source!r} (in pandas: table.pivot(index={item!r}, columns={source!r}, values={label!r}))"
        )
    return [*found, *_placeholders(first)]


def fractions_in(columns: Mapping[str, NDArray[Any]]) -> list[str]:
    """Names of the columns that hold numbers with fractions: labels are no fractions."""
    return [name for name, values in columns.items() if _has_fractions(_present(values))]


def unit_doubt(X: FloatArray, names: Sequence[str]) -> str | None:
    """A sentence where columns were not standardised, and one of them outweighs the others.

    Parameters
    ----------
    X : (m, d) array
        The points.
    names : sequence of d str
        Names of their columns.

    Returns
    -------
    str or None
        None where all columns count alike, or are standardised.

    Examples
    --------
    >>> X = np.random.default_rng(0).random((50, 5)) * [1, 1, 1, 1, 90]
    >>> print(unit_doubt(X, ["q1", "q2", "q3", "q4", "age"]))
    the range of column 'age' is ... times that of the typical column, ...
    """
    from biconsensus.sources._default_pool import outweighing  # with scikit-learn, which tables of labels do not need

    found = outweighing(X)
    if found is None:
        return None
    return (
        f"the range of column {names[found[0]]!r} is {found[1]:.0f} times that of the typical column, and the columns"
        " were not standardised, because most ranges are alike. So this column decides nearly everything. If its unit"
        " is another one, standardise the columns (--standardise)"
    )


def network_line(name: str, graph: Graph) -> str:
    """What a network file holds, in one line.

    Parameters
    ----------
    name : str
        Name of the file.
    graph : Graph
        What was read from it.

    Returns
    -------
    str

    Examples
    --------
    >>> from biconsensus.graphs import read_graph
    >>> network_line("club.csv", read_graph([("a", "b", 2), ("b", "c", 1)]))
    'club.csv: 3 nodes, 2 links, weights from 1 to 2.'
    """
    parts = [f"{graph.n_nodes:,} nodes", f"{graph.n_edges:,} links"]
    weights = graph.adjacency.data
    if weights.size and weights.min() < weights.max():
        parts.append(f"weights from {weights.min():.4g} to {weights.max():.4g}")
    alone = int(graph.isolated.sum())
    parts += [f"{alone:,} nodes without a link"] if alone else []
    return f"{name}: {', '.join(parts)}."


def network_doubt(graph: Graph) -> str | None:
    """A sentence where an edge list looks like something else, or where its first line seems to name the columns.

    Parameters
    ----------
    graph : Graph
        The network, its nodes in the order of the file.

    Returns
    -------
    str or None
        None where nothing is strange.

    Examples
    --------
    >>> from biconsensus.graphs import read_graph
    >>> print(network_doubt(read_graph([("boss", "worker"), *((str(a), str(a // 2)) for a in range(1, 20))])))
    line 1 (boss, worker) was read as a link between two nodes that have no other link; ...
    """
    names, starts = graph.names, graph.adjacency.indptr
    if graph.n_nodes >= FEWEST_ROWS and graph.n_nodes == 2 * graph.n_edges:
        return (
            "no two links have a node in common; is this a list of links? `biconsensus cluster` takes tables of numbers"
        )
    words = all(isinstance(name, str) and not is_number(name) for name in names[:2])
    if graph.n_nodes < FEWEST_ROWS or not words or starts[2] != 2 or graph.adjacency.indices[0] != 1:
        return None
    return (
        f"line 1 ({names[0]}, {names[1]}) was read as a link between two nodes that have no other link; if it names "
        "the columns, delete it, or call them source and target"
    )


def named_ends(path: Path) -> list[str]:
    """Names of the first two columns of a text file, where they are those that edge lists have.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    list of str
        Empty where the file is something else.
    """
    if path.suffix.lower() not in (".csv", ".tsv", ".txt"):
        return []
    with path.open("rb") as file:
        line = file.readline(1000).decode("utf-8-sig", "replace").strip()
    cells = [cell.strip("\"' ") for cell in re.split(r"[,;\t]", line)]
    known = 2 <= len(cells) <= MOST_EDGE_COLUMNS and all(cell.lower() in HEADERS for cell in cells[:2])
    return cells[:2] if known else []


def listed(names: Iterable[str]) -> str:
    """Some names for a sentence, and how many more there are."""
    every = [repr(name) for name in names]
    more = len(every) - SHOWN
    return ", ".join(every[:SHOWN]) + (f" (and {more} more)" if more > 0 else "")


def _present(values: NDArray[Any]) -> list[Any]:
    """Values of a column that are there."""
    plain = values.compressed() if isinstance(values, np.ma.MaskedArray) else values
    return [value for value in plain.tolist() if value is not None and value == value]


def _has_fractions(values: list[Any]) -> bool:
    """Whether all values are numbers, and some are not whole."""
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        return False
    numbers = numbers[np.isfinite(numbers)]
    return bool(numbers.size) and bool((numbers != np.round(numbers)).any())


def _is_measurement(values: list[Any]) -> bool:
    """Whether a column holds fractions, with a point or a comma, that differ in most rows."""
    if len(values) < FEWEST_ROWS or 2 * len(set(map(str, values))) <= len(values):
        return False
    return _has_fractions(values) or all(isinstance(one, str) and DECIMAL_COMMA.fullmatch(one) for one in values)


def _is_long(columns: Mapping[str, NDArray[Any]]) -> bool:
    """Whether three columns are element, source and label: no pair of the first two comes twice, and most are there."""
    if len(columns) != 3:
        return False
    whole = [_codes(values[:LOOKED_AT]) for values in columns.values()]
    sizes = [int(codes.max(initial=-1)) + 1 for codes in whole]
    m = len(whole[0])
    if m < FEWEST_ROWS or m > LOOKED_AT - 1 or min(sizes[:2]) < 2 or max(sizes) == m:
        return False
    pairs = np.unique(whole[0] * sizes[1] + whole[1]).size
    # few labels: of two true groupings the pairs repeat as well
    return pairs == m and 2 * m > sizes[0] * sizes[1] and sizes[2] < sizes[0]


def _codes(values: NDArray[Any]) -> IntArray:
    """A number for every value of a column; what is missing is a value like others."""
    texts = np.array([str(value) for value in values.tolist()])
    return np.asarray(np.unique(texts, return_inverse=True)[1], dtype=np.int64)


def _placeholders(columns: Mapping[str, list[Any]]) -> list[str]:
    """Labels that may stand for "no label", and negative numbers other than -1."""
    words = sorted({v for values in columns.values() for v in values if isinstance(v, str) and _is_placeholder(v)})
    codes = sorted({int(v) for values in columns.values() for v in np.unique(_whole_numbers(values)) if v < -1})
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


def _whole_numbers(values: list[Any]) -> NDArray[np.float64]:
    """A column of whole numbers; nothing where it holds anything else."""
    if any(isinstance(value, str) for value in values):
        return np.empty(0)
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        return np.empty(0)
    whole: BoolArray = np.isfinite(numbers) & (numbers == np.round(numbers))
    return numbers[whole] if whole.all() else np.empty(0)
