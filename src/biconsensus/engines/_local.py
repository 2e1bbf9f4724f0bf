"""One machine: label tables larger than memory in, labels out, chunk by chunk and in threads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biconsensus.engines._cells import Cells, Coder
from biconsensus.engines._chunks import open_chunks
from biconsensus.engines._compressed import Compressed
from biconsensus.engines._numbering import Numbering
from biconsensus.engines._rows import Numbers
from biconsensus.pool._distinct import count_numbers
from biconsensus.pool._pool import Pool
from biconsensus.protocols import IntArray


def compress_stream(
    chunks: Iterable[Any], *, missing: int | None = None, n_rows: int | None = None, n_jobs: int | None = None
) -> tuple[Compressed, Numbers]:
    """Distinct rows of a label table that comes in chunks, and the row of each element.

    Parameters
    ----------
    chunks : iterable of label tables
        Each is anything that `Pool.from_labels` takes, or an Arrow table or batch; all with the same groupings.
    missing : int, optional
        Code that means "not seen" in integer tables.
    n_rows : int, optional
        Number of elements in all, if it is known.
    n_jobs : int, optional
        Threads; the answer does not depend on it.

    Returns
    -------
    compressed : Compressed
        Rows in the order of their first appearance, with counts.
    rows : (m,) int32 array
        The row of each element.

    Examples
    --------
    >>> found, rows = compress_stream(np.array([[[0, 5]], [[1, 5]], [[0, 5]]]))
    >>> rows
    array([0, 1, 0], dtype=int32)
    """
    coder, numbering = Coder(missing), Numbering(n_rows, n_jobs)
    for chunk in chunks:
        numbering.add(coder.cells(chunk))
    cells, first, rows = numbering.finish()
    counts = count_numbers(rows, first.size)
    texts = [list(texts) for texts in coder.texts]
    return Compressed(cells, counts, coder.names, texts, missing), rows


def group_columns(columns: Sequence[NDArray[Any]], n_jobs: int | None = None) -> tuple[IntArray, Numbers]:
    """Group the rows of a table of integer columns exactly, in one pass without a sort.

    Parameters
    ----------
    columns : sequence of c (m,) int arrays
        The table; columns that are slices of one array are read in place.
    n_jobs : int, optional
        Threads; the answer does not depend on it.

    Returns
    -------
    first : (r,) int array
        The first row of each group, in order of appearance.
    groups : (m,) int32 array
        The group of each row.

    Examples
    --------
    >>> group_columns([np.array([7, 7, 3, 7]), np.array([0, 1, 0, 0])])
    (array([0, 1, 2]), array([0, 1, 2, 0], dtype=int32))
    """
    numbering = Numbering(columns[0].size, n_jobs)
    numbering.add(Cells(_as_table(columns)))
    _, first, groups = numbering.finish()
    return first, groups


def distinct_cells(columns: Sequence[NDArray[Any]], n_jobs: int | None = None) -> tuple[NDArray[Any], Numbers]:
    """Distinct rows of a table of integer columns, in order of appearance, and the distinct row of each row.

    Parameters
    ----------
    columns, n_jobs
        As in `group_columns`.

    Returns
    -------
    cells : (r, c) int array
        The distinct rows, in the smallest type that all columns share.
    groups : (m,) int32 array
        The distinct row of each row.

    Examples
    --------
    >>> cells, groups = distinct_cells([np.array([7, 7, 3, 7]), np.array([0, 1, 0, 0])])
    >>> cells.tolist(), groups.tolist()
    ([[7, 0], [7, 1], [3, 0]], [0, 1, 2, 0])
    """
    numbering = Numbering(columns[0].size, n_jobs)
    numbering.add(Cells(_as_table(columns)))
    cells, _, groups = numbering.finish()
    return np.asarray(cells.values), groups


def pool_from_stream(
    source: Any,
    weights: Any = None,
    names: Sequence[str] | None = None,
    *,
    missing: int | None = None,
    id_column: str | None = None,
    n_jobs: int | None = None,
) -> Pool:
    """Pool of a label table that need not fit into memory.

    Parameters
    ----------
    source : path of a Parquet file or folder or of an NPY file, Arrow or polars table, or iterable of chunks
        One row an element, one column a grouping.
    weights, names, missing
        As in `Pool.from_labels`.
    id_column : str, optional
        Column that holds no labels but the identifiers of the elements; it becomes ``pool.ids``. By default a first
        column named "id", or an index that pandas wrote.
    n_jobs : int, optional
        Threads; the answer does not depend on it.

    Examples
    --------
    >>> pool_from_stream(iter([np.array([[0, 1], [0, 1]]), np.array([[2, 1]])])).shape
    (3, 3)
    """
    opened = open_chunks(source, id_column)
    found, rows = compress_stream(opened, missing=missing, n_rows=opened.n_rows, n_jobs=n_jobs)
    return found.pool(rows, weights=weights, names=names or found.names, ids=opened.ids())


def _as_table(columns: Sequence[NDArray[Any]]) -> NDArray[Any] | list[NDArray[Any]]:
    """The (m, c) table that columns are slices of, not copied; else the columns."""
    first = columns[0]
    size, step = first.dtype.itemsize, len(columns) * first.dtype.itemsize
    start = first.__array_interface__["data"][0]
    for k, column in enumerate(columns):
        same = column.dtype == first.dtype and column.strides == (step,)
        if not same or column.__array_interface__["data"][0] != start + k * size:
            return list(columns)
    return np.lib.stride_tricks.as_strided(first, (first.size, len(columns)), (step, size), writeable=False)
