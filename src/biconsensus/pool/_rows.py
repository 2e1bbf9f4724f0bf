"""Distinct rows: numbers for those of tables of integers, in one pass, as the rows come, and of sparse matrices.

A row is a few 64-bit words. Its hash chooses a slot of an open-addressing table; all rows of a block look up theirs in
a handful of NumPy calls, and those that find the slot taken by another row try again elsewhere. Every row is compared
with the stored row of its number, so that equal hashes of different rows cannot change an answer. Nothing is sorted,
and the memory is that of the distinct rows.

`Cells` are the rows of a table, `Layout` says how they lie in words, `RowIndex` numbers them, and `Numbering` does so
for chunk after chunk, in threads. `group_rows` tells the distinct rows of a sparse matrix apart.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from biconsensus.errors import InputError
from biconsensus.protocols import BoolArray, FloatArray, IntArray

Words = NDArray[np.uint64]
Numbers = NDArray[np.int32]

FACTOR = np.uint64(0x9E3779B97F4A7C15)
HALF = np.uint64(32)
SEED = 0x243F6A8885A308D3
LOAD = 4
"""Slots for each distinct row, at least."""
GROWTH = 2
"""Binary digits by which the number of slots grows: by more of them, it would leave the cache earlier."""
BLOCK_BYTES = 1 << 21
"""Rows that are hashed together: two megabytes, so that every pass over them stays in the cache."""
FIRST = 1 << 12
"""Rows of the first block, which are all new; the blocks after it grow."""
SEGMENT = 1 << 19
"""Rows that one thread takes at a time."""
DIRECT = 1
"""Combinations of values, for each row, up to which each of them has a slot of its own."""
REPEATED = 8
"""Rows for each distinct one from which threads have an index each: where fewer rows are alike, every index would hold
most of the distinct rows, and uniting them takes longer than the threads save (measured at 4 and at 15)."""


def n_threads(n_jobs: int) -> int:
    """Number of threads, negative ones counted from all cores."""
    if n_jobs == 1:
        return 1
    from joblib import effective_n_jobs  # a sixth of a second of processes and sockets, which small tables never need

    return int(effective_n_jobs(n_jobs))


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
    direct = _one_slot_each(columns)
    if direct is not None:
        return direct
    numbering = Numbering(columns[0].size, n_jobs)
    numbering.add(Cells(_as_table(columns)))
    _, first, groups = numbering.finish()
    return first, groups


def _one_slot_each(columns: Sequence[NDArray[Any]]) -> tuple[IntArray, Numbers] | None:
    """As `group_columns`, without hashes: a slot for every combination of values; None where these are too many."""
    n_rows = columns[0].size
    if n_rows == 0:
        return None
    # a look at all of a large table takes long, and its first rows mostly tell that there are too many
    if n_rows > SEGMENT and _ranges([column[:SEGMENT] for column in columns], DIRECT * n_rows) is None:
        return None
    ranges = _ranges(columns, DIRECT * n_rows)
    if ranges is None:
        return None
    steps, size = ranges

    def slots(rows: slice) -> IntArray:
        """Slot of each of some rows."""
        found = np.zeros(rows.stop - rows.start, np.int64)
        for column, (low, width) in zip(columns, steps):
            found *= width
            found += column[rows].astype(np.int64, copy=False)
            found -= low
        return found

    # slots that no row has are never looked at
    first_at, groups = np.empty(size, np.int32), np.empty(n_rows, np.int32)
    parts = [slice(start, min(start + SEGMENT, n_rows)) for start in range(0, n_rows, SEGMENT)]
    for rows in reversed(parts):
        # assignments are in order, so that the last one stays: backwards, the first row does
        first_at[slots(rows)[::-1]] = np.arange(rows.stop - 1, rows.start - 1, -1, dtype=np.int32)
    for rows in parts:
        groups[rows] = np.take(first_at, slots(rows))
    return _in_order(groups)


def _ranges(columns: Sequence[NDArray[Any]], most: int) -> tuple[list[tuple[int, int]], int] | None:
    """Smallest value and number of values of each column, and of their combinations; None where these are too many."""
    found: list[tuple[int, int]] = []
    size = 1
    for column in columns:
        low, high = int(column.min()), int(column.max())
        found.append((low, high - low + 1))
        size *= high - low + 1
        if size > most or max(-low, high) >= 2**62:
            return None
    return found, size


def refine_groups(groups: NDArray[Any], finer: NDArray[Any]) -> tuple[IntArray, Numbers]:
    """Group rows by two numbers, of which the second splits few of the groups of the first.

    Parameters
    ----------
    groups, finer : (m,) int arrays
        Group of each row, from 0; what tells rows of one group apart.

    Returns
    -------
    first : (r,) int array
        The first row of each group, in order of appearance.
    refined : (m,) int32 array
        The group of each row.

    Examples
    --------
    >>> refine_groups(np.array([0, 0, 1, 0]), np.array([5, 6, 5, 5]))
    (array([0, 1, 2]), array([0, 1, 2, 0], dtype=int32))
    """
    first_of = np.empty(int(groups.max(initial=-1)) + 1, np.int32)
    first_of[groups[::-1]] = np.arange(groups.size - 1, -1, -1, dtype=np.int32)
    opens = np.take(first_of, groups)
    # most rows are like the first one of their group; only the others have to be numbered
    others = np.flatnonzero(np.take(finer, opens) != finer)
    if others.size:
        first, number = group_columns([groups[others], finer[others]])
        opens[others] = others[first][number]
    return _in_order(opens)


def _in_order(opens: Numbers) -> tuple[IntArray, Numbers]:
    """First row of each group in order of appearance, and the group of each row, from the first row of its group."""
    first = np.flatnonzero(opens == np.arange(opens.size, dtype=np.int32))
    rank = np.empty(opens.size, np.int32)
    rank[first] = np.arange(first.size, dtype=np.int32)
    return first, np.take(rank, opens)


def distinct_cells(columns: Sequence[NDArray[Any]]) -> tuple[NDArray[Any], Numbers]:
    """Distinct rows of a table of integer columns, in order of appearance, and the distinct row of each row.

    Parameters
    ----------
    columns
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
    direct = _one_slot_each(columns)
    if direct is not None:
        first, groups = direct
        return np.column_stack([column[first] for column in columns]), groups
    numbering = Numbering(columns[0].size, None)
    numbering.add(Cells(_as_table(columns)))
    cells, _, groups = numbering.finish()
    return np.asarray(cells.values), groups


class Numbering:
    """Numbers the rows of chunks as they come, in threads that each have an index of their own."""

    def __init__(self, n_rows: int | None, n_jobs: int | None) -> None:
        one_segment = n_rows is not None and n_rows <= SEGMENT
        self._n_jobs = 1 if one_segment else n_threads(-1 if n_jobs is None else n_jobs)
        # one thread for each index, so that an index meets its segments in order and knows where a row came first
        self._threads = [ThreadPoolExecutor(1) for _ in range(self._n_jobs)] if self._n_jobs > 1 else []
        self._indexes: list[dict[Layout, RowIndex]] = [{} for _ in range(self._n_jobs)]
        self._rows = np.empty(n_rows or 0, np.int32)
        self._size = 0
        self._parts: list[tuple[slice, Layout, int]] = []
        self._running: deque[Future[None]] = deque()
        # whether all indexes are used; the first segment tells
        self._in_turn: bool | None = None

    def add(self, cells: Cells) -> None:
        """Number the rows of one more chunk."""
        n, layout = cells.shape[0], cells.layout
        self._reserve(self._size + n)
        for start in range(0, n, SEGMENT):
            stop = min(start + SEGMENT, n)
            where = slice(self._size + start, self._size + stop)
            k = self._next_index(where.start)
            self._parts.append((where, layout, k))
            self._do(k, self._number, k, cells.part(start, stop), layout, where)
        self._size += n
        self._wait()

    def _next_index(self, n_before: int) -> int:
        """The index that numbers the next segment: each in its turn, or always the first."""
        if self._in_turn is None and n_before >= SEGMENT and self._threads:
            self._wait(0)
            self._in_turn = n_before >= REPEATED * sum(index.size for index in self._indexes[0].values())
        return len(self._parts) % self._n_jobs if self._in_turn else 0

    def _do(self, k: int, task: Callable[..., None], *given: Any) -> None:
        """Let thread k do something, or do it here where there are no threads."""
        if self._threads:
            self._running.append(self._threads[k].submit(task, *given))
        else:
            task(*given)

    def _reserve(self, size: int) -> None:
        """Room for the numbers of the given number of rows."""
        if size > self._rows.size:
            self._wait(0)
            self._rows = _with_room(self._rows, self._size, max(size, 2 * self._size))

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
        for n, (where, old, k) in enumerate(self._parts):
            self._do(n % self._n_jobs, self._renumber, where, final[k, old])
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


@dataclass(frozen=True)
class Layout:
    """How a row of c cells lies in 64-bit words: the cells, one bit for each that was not seen, zeros."""

    n_cells: int
    dtype: np.dtype[Any]
    masked: bool

    @property
    def n_words(self) -> int:
        """Words in a row."""
        return -(-(self.n_cells * self.dtype.itemsize + self.masked * -(-self.n_cells // 8)) // 8)

    def covers(self, other: Layout) -> bool:
        """Whether rows of another layout fit into this one."""
        return np.can_cast(other.dtype, self.dtype) and self.masked >= other.masked

    def joined(self, other: Layout) -> Layout:
        """The smallest layout that covers both."""
        return Layout(self.n_cells, np.promote_types(self.dtype, other.dtype), self.masked or other.masked)


@dataclass(frozen=True)
class Cells:
    """Rows of integer cells."""

    values: NDArray[Any] | Sequence[NDArray[Any]]
    """(n, c) integers, or c columns of n."""
    absent: BoolArray | None = None
    """(n, c) cells that were not seen, whose values are 0; None where all were."""

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and cells in a row."""
        if isinstance(self.values, np.ndarray):
            return self.values.shape[0], self.values.shape[1]
        return self.values[0].size, len(self.values)

    @property
    def layout(self) -> Layout:
        """The smallest layout for these cells, by their types."""
        types = [self.values.dtype] if isinstance(self.values, np.ndarray) else [v.dtype for v in self.values]
        return Layout(self.shape[1], np.result_type(*types), self.absent is not None)

    def part(self, start: int, stop: int) -> Cells:
        """Some of the rows, not copied."""
        values = self.values
        rows = values[start:stop] if isinstance(values, np.ndarray) else [v[start:stop] for v in values]
        return Cells(rows, None if self.absent is None else self.absent[start:stop])

    def words(self, layout: Layout) -> Words:
        """(n, w) the rows as words; not copied where they lie like that already."""
        n, c = self.shape
        values = self.values
        full = not layout.masked and c * layout.dtype.itemsize == 8 * layout.n_words
        if full and isinstance(values, np.ndarray) and values.dtype == layout.dtype and values.flags.c_contiguous:
            return values.view(np.uint64)
        words = np.zeros((n, layout.n_words), np.uint64)
        room = words.view(layout.dtype)
        if isinstance(values, np.ndarray):
            room[:, :c] = values
        else:
            for k, column in enumerate(values):
                room[:, k] = column
        if self.absent is not None:
            bits = np.packbits(self.absent, axis=1)
            words.view(np.uint8)[:, c * layout.dtype.itemsize :][:, : bits.shape[1]] = bits
        return words

    @classmethod
    def from_words(cls, words: Words, layout: Layout) -> Cells:
        """The cells of rows of words."""
        c, size = layout.n_cells, layout.dtype.itemsize
        values = np.ascontiguousarray(words.view(layout.dtype)[:, :c])
        if not layout.masked:
            return cls(values)
        bits = words.view(np.uint8)[:, c * size :][:, : -(-c // 8)]
        return cls(values, np.unpackbits(bits, axis=1, count=c).astype(bool))


def hash_words(words: Words) -> Words:
    """(n,) one hash for each row of words (n, w)."""
    hashes = np.full(words.shape[0], SEED, np.uint64)
    high = np.empty_like(hashes)
    for k in range(words.shape[1]):
        np.bitwise_xor(hashes, words[:, k], out=hashes)
        np.multiply(hashes, FACTOR, out=hashes)
        np.right_shift(hashes, HALF, out=high)
        np.bitwise_xor(hashes, high, out=hashes)
    np.multiply(hashes, FACTOR, out=hashes)
    return hashes


class RowIndex:
    """Distinct rows, numbered as they come.

    Parameters
    ----------
    n_words : int
        Words in a row.
    """

    def __init__(self, n_words: int) -> None:
        self.size = 0
        self._rows = np.empty((1024, n_words), np.uint64)
        self._hashes = np.empty(1024, np.uint64)
        self._first = np.empty(1024, np.int64)
        # room for the rows that others are compared with, kept because new memory is slow
        self._room = np.empty((0, n_words), np.uint64)
        self._strays: dict[bytes, int] = {}
        self._set_slots(15)

    @property
    def rows(self) -> Words:
        """(r, w) the distinct rows."""
        return self._rows[: self.size]

    @property
    def first(self) -> IntArray:
        """(r,) where each of them came first."""
        return self._first[: self.size]

    def number(self, words: Words, places: IntArray | int | None = None) -> Numbers:
        """(n,) numbers of rows (n, w).

        Parameters
        ----------
        words : (n, w) uint64 array
            Rows.
        places : (n,) int array or int, optional
            Where the rows stand in the whole table, rising, or where the first of them stands: new rows are added.
            Without places they get the number -1.
        """
        hashes = hash_words(words)
        slots = self._slots(hashes, 0)
        # np.take is several times faster than an index in brackets
        numbers = np.take(self._number_at, slots)
        found = self._have(numbers, hashes)
        if not found.all():
            left = np.flatnonzero(~found)
            numbers[left] = self._probe(hashes, words, left, places)
        self._check(numbers, words, places)
        return numbers

    def _have(self, numbers: Numbers, hashes: Words) -> BoolArray:
        """Whether these are numbers of rows, and those have the hashes."""
        same = np.take(self._hashes, numbers, mode="clip") == hashes
        return np.asarray(same & (numbers >= 0))

    def _slots(self, hashes: Words, attempt: int) -> IntArray:
        """Slot of each hash at one attempt."""
        return ((hashes * np.uint64(2 * attempt + 1)) >> np.uint64(64 - self._bits)).view(np.int64)

    def _probe(self, hashes: Words, words: Words, left: IntArray, places: IntArray | int | None) -> Numbers:
        """Numbers of the rows `left`, which did not find themselves at the first attempt."""
        numbers = np.full(left.size, -1, np.int32)
        todo, attempt = np.arange(left.size), 0
        while todo.size:
            rows = np.take(left, todo)
            wanted = np.take(hashes, rows)
            slots = self._slots(wanted, attempt)
            free = np.take(self._number_at, slots) < 0
            if places is not None:
                self._settle(wanted, slots, np.flatnonzero(free), words, rows, places)
            there = np.take(self._number_at, slots)
            mine = self._have(there, wanted)
            numbers[todo[mine]] = there[mine]
            # an empty slot ends the search of a row that is not to be learnt
            todo = todo[~(mine | free)] if places is None else todo[~mine]
            attempt += 1
            if places is not None and LOAD * self.size > self._number_at.size:
                self._set_slots(self._bits + GROWTH)
                attempt = 0
        return numbers

    def _settle(
        self, hashes: Words, slots: IntArray, free: IntArray, words: Words, rows: IntArray, places: IntArray | int
    ) -> None:
        """Give free slots to the rows that want them: the first row of a slot, if several do."""
        # assignments are in order, so that the last one stays: backwards, the first row does
        wanted, marks = np.take(slots, free), (-2 - free).astype(np.int32)
        self._number_at[wanted[::-1]] = marks[::-1]
        won = np.flatnonzero(np.take(self._number_at, wanted) == marks)
        winners = np.take(free, won)
        added = np.take(rows, winners)
        self._number_at[np.take(wanted, won)] = self._append(words, added, np.take(hashes, winners), places)

    def _append(self, words: Words, added: IntArray, hashes: Words, places: IntArray | int) -> Numbers:
        """Store some rows as new distinct ones, with their hashes; their numbers."""
        size = self.size + added.size
        if size > len(self._rows):
            room = max(size, 4 * len(self._rows))
            self._rows, self._hashes, self._first = (
                _with_room(stored, self.size, room) for stored in (self._rows, self._hashes, self._first)
            )
        new = slice(self.size, size)
        np.take(words, added, axis=0, out=self._rows[new], mode="clip")
        self._hashes[new], self._first[new] = hashes, _at(places, added)
        self.size = size
        return np.arange(new.start, new.stop, dtype=np.int32)

    def _set_slots(self, bits: int) -> None:
        """New table of slots for the rows that are known."""
        self._bits = bits
        self._number_at = np.full(1 << bits, -1, np.int32)
        # rows that share a hash with an earlier one are found by their content alone
        by_hash = np.ones(self.size, bool)
        by_hash[list(self._strays.values())] = False
        todo, attempt = np.flatnonzero(by_hash), 0
        while todo.size:
            slots = self._slots(self._hashes[todo], attempt)
            free = np.flatnonzero(self._number_at[slots] < 0)
            self._number_at[slots[free]] = todo[free]
            todo, attempt = todo[self._number_at[slots] != todo], attempt + 1

    def _check(self, numbers: Numbers, words: Words, places: IntArray | int | None) -> None:
        """Compare each row with the row its number stands for; one that differs is numbered by content, in place."""
        if len(self._room) < len(words):
            self._room = np.empty(words.shape, np.uint64)
        known = np.take(self._rows, numbers, axis=0, mode="clip", out=self._room[: len(words)])
        if np.array_equal(known, words):
            return
        for k in np.flatnonzero((known != words).any(axis=1) & (numbers >= 0)):
            content = words[k].tobytes()
            if content not in self._strays and places is not None:
                self._strays[content] = int(self._append(words, np.array([k]), hash_words(words[k : k + 1]), places)[0])
            numbers[k] = self._strays.get(content, -1)

    def absorb(self, rows: Words, first: IntArray) -> Numbers:
        """Add distinct rows of another index, in any order of their places; (r,) the numbers that they have here."""
        numbers = self.number(rows, first)
        self._first[numbers] = np.minimum(self._first[numbers], first)
        return numbers

    def ranks(self) -> Numbers:
        """(r,) place of each row in the order of first appearance."""
        # the rows of a block come in order: such stretches are what a stable sort is quick with
        return inverse(np.argsort(self.first, kind="stable"))

    def renumber(self, ranks: Numbers) -> None:
        """Give each row k the number ranks[k], a permutation."""
        order = inverse(ranks)
        for name in ("_rows", "_hashes", "_first"):
            setattr(self, name, np.take(getattr(self, name), order, axis=0))
        self._strays = {content: int(ranks[k]) for content, k in self._strays.items()}
        taken = self._number_at >= 0
        self._number_at[taken] = ranks[self._number_at[taken]]


def _with_room(stored: NDArray[Any], size: int, room: int) -> NDArray[Any]:
    """The first `size` rows in a longer array; what is not used yet is not touched, and so takes no memory."""
    longer = np.empty((room, *stored.shape[1:]), stored.dtype)
    longer[:size] = stored[:size]
    return longer


def inverse(order: NDArray[Any]) -> Numbers:
    """The permutation that undoes another one."""
    undone = np.empty(order.size, np.int32)
    undone[order] = np.arange(order.size, dtype=np.int32)
    return undone


def _at(places: IntArray | int, rows: IntArray) -> IntArray:
    """Where some of the rows stand."""
    return places + rows if isinstance(places, int) else places[rows]


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


UIntArray = NDArray[np.uint64]

MANY = 1 << 20
"""Values that are looked at together."""
CACHED = 1 << 17
"""Stored values of a sparse matrix that are looked at together: all that is made of them stays in the cache."""


def mix(keys: NDArray[Any], salt: int = 0) -> UIntArray:
    """Spread integers over 64 bits (the finaliser of splitmix64)."""
    with np.errstate(over="ignore"):
        z = keys.astype(np.uint64) + np.uint64((0x9E3779B97F4A7C15 * (salt + 1)) % 2**64)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


def group_hashes(hashes: UIntArray) -> tuple[IntArray, IntArray]:
    """First row of each group, in order of appearance, and the group of each row."""
    order = np.argsort(hashes)
    ranked = hashes[order]
    opens = np.empty(ranked.size, bool)
    opens[:1] = True
    np.not_equal(ranked[1:], ranked[:-1], out=opens[1:])
    del ranked
    starts = np.flatnonzero(opens)
    first = np.minimum.reduceat(order, starts) if starts.size else order
    appearance = np.argsort(first)
    rank = np.empty(first.size, np.int64)
    rank[appearance] = np.arange(first.size)
    groups = np.empty(order.size, _smallest_int(first.size))
    groups[order] = np.repeat(rank, np.diff(np.append(starts, order.size)))
    return first[appearance], groups


def _smallest_int(size: int) -> type[np.signedinteger[Any]]:
    """Index type that costs the least memory."""
    return np.int32 if size < 2**31 else np.int64


def count_numbers(numbers: NDArray[Any], size: int) -> IntArray:
    """(size,) how often each number occurs, some at a time: NumPy counts a copy in 64 bits."""
    # of very many numbers more at a time, because what is counted is as long
    step = max(MANY, 4 * size)
    counts = np.bincount(numbers[:step], minlength=size)
    for start in range(step, numbers.size, step):
        counts += np.bincount(numbers[start : start + step], minlength=size)
    return counts


def gather(values: NDArray[Any], numbers: NDArray[Any]) -> NDArray[Any]:
    """(m,) the value of each number, some at a time: NumPy takes a copy of the numbers in 64 bits."""
    taken = np.empty(numbers.size, values.dtype)
    if values.dtype.kind == "i" and values.size:  # small numbers stay in the cache
        values = values.astype(np.result_type(np.min_scalar_type(values.min()), np.min_scalar_type(-values.max() - 1)))
    for start in range(0, numbers.size, MANY):
        taken[start : start + MANY] = np.take(values, numbers[start : start + MANY])
    return taken


def column_sizes(matrix: csr_array) -> IntArray:
    """(q,) stored values in each column."""
    return count_numbers(matrix.indices, matrix.shape[1])


def row_parts(matrix: csr_array, size: int = CACHED) -> Iterator[tuple[slice, slice, IntArray]]:
    """Some rows of a sparse matrix after the other: the rows, their stored values, and how many each of them has."""
    lengths = np.diff(matrix.indptr)
    step = max(1, size * matrix.shape[0] // max(1, matrix.nnz))
    for start in range(0, matrix.shape[0], step):
        rows = slice(start, min(start + step, matrix.shape[0]))
        yield rows, slice(int(matrix.indptr[rows.start]), int(matrix.indptr[rows.stop])), lengths[rows]


def column_sums(matrix: csr_array, amounts: NDArray[Any]) -> FloatArray:
    """(q,) sum of the amounts (r,) of the rows that each column stores, whatever it stores."""
    total = np.zeros(matrix.shape[1])
    # sums of very many columns are as long as what is added to them
    for rows, stored, lengths in row_parts(matrix, max(CACHED, 8 * total.size)):
        total += np.bincount(matrix.indices[stored], np.repeat(amounts[rows], lengths), minlength=total.size)
    return total


def row_hashes(matrix: csr_array, keys: UIntArray) -> UIntArray:
    """(r,) the sum, over the stored values of each row, of the keys (q,) of their columns."""
    hashes = np.empty(matrix.shape[0], np.uint64)
    for rows, stored, _ in row_parts(matrix):
        total = np.zeros(stored.stop - stored.start + 1, np.uint64)
        places = matrix.indptr[rows.start : rows.stop + 1] - stored.start
        with np.errstate(over="ignore"):
            np.cumsum(np.take(keys, matrix.indices[stored]), out=total[1:])
            hashes[rows] = total[places[1:]] - total[places[:-1]]
    return hashes


def group_rows(matrix: csr_array, key: IntArray | None = None) -> tuple[IntArray, IntArray]:
    """Group identical rows of a canonical sparse matrix (sorted, no duplicates, no stored zeros) exactly.

    Parameters
    ----------
    matrix : (r, q) csr_array
        Rows to group.
    key : (r,) int array, optional
        Rows with different keys are different, whatever they hold.
    """
    matrix.sort_indices()
    key = np.zeros(matrix.shape[0], np.int64) if key is None else key
    first, groups = group_hashes(_hash_sparse(matrix, key))
    if _same_sparse(matrix, key, first, groups):
        return first, groups
    seen: dict[tuple[int, bytes, bytes], int] = {}
    exact = np.empty(matrix.shape[0], np.uint64)
    for row, (start, stop) in enumerate(zip(matrix.indptr[:-1], matrix.indptr[1:])):
        content = (int(key[row]), matrix.indices[start:stop].tobytes(), matrix.data[start:stop].tobytes())
        exact[row] = seen.setdefault(content, len(seen))
    return group_hashes(exact)


def _hash_sparse(matrix: csr_array, key: IntArray) -> UIntArray:
    """One hash for each sparse row: the sum over its cells of a mix of column and value."""
    cells = mix(np.arange(matrix.shape[1]))[matrix.indices]
    if matrix.dtype == np.float64:
        cells = mix(cells ^ mix(matrix.data.view(np.uint64), salt=1))
    with np.errstate(over="ignore"):
        total = np.concatenate([np.zeros(1, np.uint64), np.cumsum(cells, dtype=np.uint64)])
        sums = total[matrix.indptr[1:]] - total[matrix.indptr[:-1]]
        hashes: UIntArray = sums + mix(key, salt=2)
    return hashes


def _same_sparse(matrix: csr_array, key: IntArray, first: IntArray, groups: IntArray) -> bool:
    """Whether every sparse row equals the first of its group."""
    lengths = np.diff(matrix.indptr)
    twin = first[groups]
    if not (np.array_equal(lengths, lengths[twin]) and np.array_equal(key, key[twin])):
        return False
    shift = np.repeat(matrix.indptr[twin] - matrix.indptr[:-1], lengths)
    other = np.arange(matrix.nnz) + shift
    same_place = np.array_equal(matrix.indices, matrix.indices[other])
    return same_place and np.array_equal(matrix.data, matrix.data[other])
