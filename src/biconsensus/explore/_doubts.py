"""Sentences about tables of numbers and networks that can be read, but may not be what their owner thinks they are."""

from __future__ import annotations

import re
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from biconsensus._words import counted
from biconsensus.graphs._files import names_an_end
from biconsensus.pool.io._arrays import PACKED, unpacked
from biconsensus.pool.io._doubts import FEWEST_ROWS, MOST_CLASSES
from biconsensus.pool.io._text import is_number
from biconsensus.protocols import FloatArray

if TYPE_CHECKING:
    from biconsensus.graphs import Graph

MOST_EDGE_COLUMNS = 5
"""Columns of an edge list: two ends, a weight, and at most a kind or a time and an id."""


def grouping_doubt(X: FloatArray) -> str | None:
    """A sentence where a table of numbers looks like a table of groupings.

    Parameters
    ----------
    X : (m, d) array
        The points.

    Returns
    -------
    str or None
        None where a column holds anything but 0, 1, ... up to a small number (-1 among them), or where all columns are
        answers yes and no.

    Examples
    --------
    >>> print(grouping_doubt(np.c_[np.arange(30) % 3, np.arange(30) % 5]))
    every column holds the numbers 0, 1, ..., as labels do; ...
    """
    small = X.shape[1] > 1 and bool((X.max(axis=0) < min(MOST_CLASSES, len(X) / 2)).all()) and X.max() > 1
    if not small or (np.round(X) != X).any() or (X < -1).any():
        return None
    if any(np.setdiff1d(np.arange(column.max()), column).size for column in X.T):
        return None
    return (
        "every column holds the numbers 0, 1, ..., as labels do; if the columns are groupings, `biconsensus merge`"
        " finds the groups that they agree on"
    )


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
    from biconsensus.sources._features import outweighing  # with scikit-learn, which tables of labels do not need

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
    parts = [counted(graph.n_nodes, "node"), counted(graph.n_edges, "link")]
    weights = graph.adjacency.data
    if weights.size and weights.min() < weights.max():
        parts.append(f"weights from {weights.min():.4g} to {weights.max():.4g}")
    parts += ["directions left out"] if graph.directed else []
    alone = int(graph.isolated.sum())
    parts += [f"{counted(alone, 'node')} without a link"] if alone else []
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
    if graph.n_nodes >= FEWEST_ROWS and all(_is_fraction(name) for name in names[:FEWEST_ROWS]):
        return "the nodes are numbers with decimals; is this a list of links? `biconsensus cluster` takes such tables"
    words = all(isinstance(name, str) and not is_number(name) for name in names[:2])
    if graph.n_nodes < FEWEST_ROWS or not words or starts[2] != 2 or graph.adjacency.indices[0] != 1:
        return None
    return (
        f"line 1 ({names[0]}, {names[1]}) was read as a link between two nodes that have no other link; if it names "
        "the columns, delete it, or call them source and target"
    )


def _is_fraction(name: object) -> bool:
    """Whether the name of a node is a number with decimals."""
    text = str(name)
    return "." in text and is_number(text)


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
    packed = path.suffix.lower() in PACKED
    if (Path(path.stem) if packed else path).suffix.lower() not in (".csv", ".tsv", ".txt"):
        return []
    with BytesIO(unpacked(path)) if packed else path.open("rb") as file:
        line = file.readline(1000).decode("utf-8-sig", "replace").strip()
    cells = [cell.strip("\"' ") for cell in re.split(r"[,;\t]", line)]
    known = 2 <= len(cells) <= MOST_EDGE_COLUMNS and all(map(names_an_end, cells[:2]))
    return cells[:2] if known else []
