"""Numbers for the rows of a table that comes in chunks, in threads."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np
from joblib import effective_n_jobs

from biconsensus.engines._cells import Cells, Layout
from biconsensus.engines._rows import Numbers, RowIndex, inverse
from biconsensus.errors import InputError
from biconsensus.protocols import IntArray

BLOCK_BYTES = 1 << 21
"""Rows that are hashed together: two megabytes, so that every pass over them stays in the cache."""
FIRST = 1 << 12
"""Rows of the first block, which are all new; the blocks after it grow."""
SEGMENT = 1 << 19
"""Rows that one thread takes at a time."""


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
            self._parts.append((where, layout, k))
            self._do(k, self._number, k, cells.part(start, stop), layout, where)
        self._size += n
        self._wait()

    def _do(self, k: int, task: Callable[..., None], *given: Any) -> None:
        """Let thread k do something, or do it here where there are no threads."""
        if self._threads:
            self._running.append(self._threads[k].submit(task, *given))
        else:
            task(*given)

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
        largest = max(1, BLOCK_BYTES // (8 * layout.n_words))
        start, step = 0, largest if index.size else min(FIRST, largest)
        while start < cells.shape[0]:
            stop = min(start + step, cells.shape[0])
            rows = slice(where.start + start, where.start + stop)
            self._rows[rows] = index.number(cells.part(start, stop).words(layout), rows.start)
            start, step = stop, min(2 * step, largest)

    def finish(self) -> tuple[Cells, IntArray, Numbers]:
        """Distinct rows in the order of first appearance, where that was, and the number of each row."""
        self._wait(0)
        if not self._size:
            raise InputError("the pool has 0 elements (axis 0); at least one is needed.")
        whole, layout, renumbered = self._united()
        ranks = whole.ranks()
        final = {key: ranks if numbers is None else ranks[numbers] for key, numbers in renumbered.items()}
        for where, old, k in self._parts:
            self._do(k, self._renumber, where, final[k, old])
        self._wait(0)
        for thread in self._threads:
            thread.shutdown()
        order = inverse(ranks)
        cells = Cells.from_words(np.take(whole.rows, order, axis=0), layout)
        return cells, whole.first[order], self._rows[: self._size]

    def _renumber(self, where: slice, final: Numbers) -> None:
        """Give the rows of one segment their final numbers."""
        self._rows[where] = np.take(final, self._rows[where])

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
