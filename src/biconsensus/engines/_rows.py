"""Numbers for distinct rows, in one pass, as the rows come.

A row is a few 64-bit words. Its hash chooses a slot of an open-addressing table; all rows of a block look up theirs in
a handful of NumPy calls, and those that find the slot taken by another row try again elsewhere. Every row is compared
with the stored row of its number, so that equal hashes of different rows cannot change an answer. Nothing is sorted,
and the memory is that of the distinct rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from biconsensus.protocols import BoolArray, IntArray

Words = NDArray[np.uint64]
Numbers = NDArray[np.int32]

FACTOR = np.uint64(0x9E3779B97F4A7C15)
HALF = np.uint64(32)
SEED = 0x243F6A8885A308D3
LOAD = 4
"""Slots for each distinct row, at least."""


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
            wanted = hashes[left[todo]]
            slots = self._slots(wanted, attempt)
            free = self._number_at[slots] < 0
            if places is not None:
                self._settle(wanted, slots, np.flatnonzero(free), words, left[todo], places)
            there = self._number_at[slots]
            mine = self._have(there, wanted)
            numbers[todo[mine]] = there[mine]
            # an empty slot ends the search of a row that is not to be learnt
            todo = todo[~(mine | free)] if places is None else todo[~mine]
            attempt += 1
            if places is not None and LOAD * self.size > self._number_at.size:
                self._set_slots(self._bits + 3)
                attempt = 0
        return numbers

    def _settle(
        self, hashes: Words, slots: IntArray, free: IntArray, words: Words, rows: IntArray, places: IntArray | int
    ) -> None:
        """Give free slots to the rows that want them: the first row of a slot, if several do."""
        # assignments are in order, so that the last one stays: backwards, the first row does
        backwards = free[::-1]
        self._number_at[slots[backwards]] = -2 - backwards
        winners = free[self._number_at[slots[free]] == -2 - free]
        added = rows[winners]
        self._number_at[slots[winners]] = self._append(words[added], hashes[winners], _at(places, added))

    def _append(self, rows: Words, hashes: Words, first: IntArray) -> Numbers:
        """Store new distinct rows; their numbers."""
        size = self.size + len(rows)
        if size > len(self._rows):
            room = max(size, 4 * len(self._rows)) - len(self._rows)
            self._rows = np.concatenate([self._rows, np.empty((room, self._rows.shape[1]), np.uint64)])
            self._hashes = np.concatenate([self._hashes, np.empty(room, np.uint64)])
            self._first = np.concatenate([self._first, np.empty(room, np.int64)])
        new = slice(self.size, size)
        self._rows[new], self._hashes[new], self._first[new] = rows, hashes, first
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
        """Compare all rows with those of their numbers; one that differs goes by its content, in place."""
        if len(self._room) < len(words):
            self._room = np.empty(words.shape, np.uint64)
        known = np.take(self._rows, numbers, axis=0, mode="clip", out=self._room[: len(words)])
        if np.array_equal(known, words):
            return
        for k in np.flatnonzero((known != words).any(axis=1) & (numbers >= 0)):
            content = words[k].tobytes()
            if content not in self._strays and places is not None:
                row = words[k : k + 1]
                self._strays[content] = int(self._append(row, hash_words(row), _at(places, np.array([k])))[0])
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


def inverse(order: NDArray[Any]) -> Numbers:
    """The permutation that undoes another one."""
    undone = np.empty(order.size, np.int32)
    undone[order] = np.arange(order.size, dtype=np.int32)
    return undone


def _at(places: IntArray | int, rows: IntArray) -> IntArray:
    """Where some of the rows stand."""
    return places + rows if isinstance(places, int) else places[rows]
