"""One machine: label tables larger than memory in, labels out, chunk by chunk and in threads."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

from biconsensus.core.pool import Pool
from biconsensus.engines.cells import Cells, Coder, Layout
from biconsensus.engines.chunks import open_chunks
from biconsensus.engines.compressed import Compressed
from biconsensus.engines.rows import Numbers, RowIndex
from biconsensus.errors import InputError
from biconsensus.protocols import IntArray

BLOCK_BYTES = 1 << 22
"""Rows that are hashed together: a few megabytes, so that every pass over them stays in the cache."""
SEGMENT = 1 << 19
"""Rows that one thread takes at a time."""


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
    index, layout, rows = numbering.finish()
    counts = np.bincount(rows, minlength=index.size)
    texts = [list(texts) for texts in coder.texts]
    return Compressed(Cells.from_words(index.rows, layout), counts, coder.names, texts, missing), rows


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
    index, _, groups = numbering.finish()
    return index.first.copy(), groups


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
    index, layout, groups = numbering.finish()
    return np.asarray(Cells.from_words(index.rows, layout).values), groups


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


class Numbering:
    """Numbers the rows of chunks as they come, in threads that each have an index of their own."""

    def __init__(self, n_rows: int | None, n_jobs: int | None) -> None:
        one_segment = n_rows is not None and n_rows <= SEGMENT
        self._n_jobs = 1 if one_segment else effective_n_jobs(-1 if n_jobs is None else n_jobs)
        # one thread for each index, so that an index meets its segments in order and knows where a row came first
        self._threads = [ThreadPoolExecutor(1) for _ in range(self._n_jobs)] if self._n_jobs > 1 else []
        self._indexes: list[dict[Layout, RowIndex]] = [{} for _ in range(self._n_jobs)]
        self._rows = np.empty(n_rows or 0, np.int32)
        self._size = 0
        self._parts: list[tuple[slice, Layout, int]] = []
        self._running: deque[Future[None]] = deque()

    def add(self, cells: Cells) -> None:
        """Number the rows of one more chunk."""
        n, layout = cells.shape[0], cells.layout
        self._reserve(self._size + n)
        for start in range(0, n, SEGMENT):
            stop = min(start + SEGMENT, n)
            where = slice(self._size + start, self._size + stop)
            k = len(self._parts) % self._n_jobs
            task = (k, cells.part(start, stop), layout, where)
            self._parts.append((where, layout, k))
            if self._threads:
                self._running.append(self._threads[k].submit(self._number, *task))
            else:
                self._number(*task)
        self._size += n
        self._wait()

    def _reserve(self, size: int) -> None:
        """Room for the numbers of so many rows."""
        if size > self._rows.size:
            self._wait(0)
            self._rows = np.concatenate([self._rows, np.empty(max(size, 2 * self._size) - self._rows.size, np.int32)])

    def _wait(self, backlog: int = 16) -> None:
        """Let the threads catch up, so that no more than a few segments of the table are in memory."""
        while len(self._running) > backlog:
            self._running.popleft().result()

    def _number(self, k: int, cells: Cells, layout: Layout, where: slice) -> None:
        """Number one segment with index k."""
        if layout not in self._indexes[k]:
            self._indexes[k][layout] = RowIndex(layout.n_words)
        index = self._indexes[k][layout]
        step = max(1, BLOCK_BYTES // (8 * layout.n_words))
        for start in range(0, cells.shape[0], step):
            stop = min(start + step, cells.shape[0])
            rows = slice(where.start + start, where.start + stop)
            self._rows[rows] = index.number(cells.part(start, stop).words(layout), rows.start)

    def finish(self) -> tuple[RowIndex, Layout, Numbers]:
        """One index of all rows in the order of first appearance, its layout, and the number of each row."""
        self._wait(0)
        for thread in self._threads:
            thread.shutdown()
        if not self._size:
            raise InputError("the pool has 0 elements (axis 0); at least one is needed.")
        whole, layout, renumbered = self._united()
        ranks = whole.ranks()
        final = {key: ranks if numbers is None else ranks[numbers] for key, numbers in renumbered.items()}
        for where, old, k in self._parts:
            self._rows[where] = np.take(final[k, old], self._rows[where])
        whole.renumber(ranks)
        return whole, layout, self._rows[: self._size]

    def _united(self) -> tuple[RowIndex, Layout, dict[tuple[int, Layout], Numbers | None]]:
        """The largest index with the rows of all others, and where those went."""
        found = [(k, layout, index) for k, own in enumerate(self._indexes) for layout, index in own.items()]
        common = found[0][1]
        for _, layout, _ in found:
            common = common.joined(layout)
        fitting = [index for _, layout, index in found if layout == common]
        whole = max(fitting, key=lambda index: index.size) if fitting else RowIndex(common.n_words)
        went: dict[tuple[int, Layout], Numbers | None] = {}
        for k, layout, index in found:
            if index is whole:
                went[k, layout] = None
            else:
                words = index.rows if layout == common else Cells.from_words(index.rows, layout).words(common)
                went[k, layout] = whole.absorb(words, index.first)
        return whole, common, went


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
