"""Disjoint blocks side by side: the group of every row and column, so that thousands of groups take little memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np

from biconsensus.protocols import Block, FloatArray, IntArray, comparable


@dataclass(frozen=True, eq=False)
class Blocks(Sequence[Block]):
    """Blocks that share neither rows nor columns.

    A mask of all rows for each of 25,000 groups of a million elements would be 25 GB; the group of each row is 8 MB.
    A single block with its masks is made when it is asked for.

    Examples
    --------
    >>> blocks = Blocks(np.array([1, -1, 0]), np.array([0, 1]), np.array([2.0, 3.0]))
    >>> len(blocks), blocks[0].rows.tolist()
    (2, [False, False, True])
    >>> blocks.in_order().rows.tolist()
    [0, -1, 1]
    """

    rows: IntArray
    """(r,) the block of each row, -1 for none."""
    columns: IntArray
    """(q,) the block of each column, -1 for none."""
    gains: FloatArray
    """(T,) what each block gains."""

    def __len__(self) -> int:
        """Number of blocks."""
        return self.gains.size

    @overload
    def __getitem__(self, number: int) -> Block: ...

    @overload
    def __getitem__(self, number: slice) -> list[Block]: ...

    def __getitem__(self, number: int | slice) -> Block | list[Block]:
        """One block, or some."""
        if isinstance(number, slice):
            return [self._block(k) for k in range(len(self))[number]]
        return self._block(range(len(self))[number])

    def __iter__(self) -> Iterator[Block]:
        """All blocks, one after the other."""
        return map(self._block, range(len(self)))

    def _block(self, number: int) -> Block:
        """The masks of one block."""
        return Block(self.rows == number, self.columns == number, float(self.gains[number]))

    def in_order(self) -> Blocks:
        """Largest gain first; ties by the first row."""
        first = np.zeros(len(self), np.int64)
        present, where = np.unique(self.rows, return_index=True)
        first[present[present >= 0]] = where[present >= 0]
        falling = np.array([-comparable(gain) for gain in self.gains.tolist()])
        return self.picked(np.lexsort((first, falling)))

    def picked(self, order: IntArray) -> Blocks:
        """Some of the blocks, in this order."""
        number = np.full(len(self) + 1, -1)  # the last place is that of rows and columns in no block
        number[order] = np.arange(order.size)
        return Blocks(number[self.rows], number[self.columns], self.gains[order])
