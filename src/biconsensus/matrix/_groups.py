"""Groups of rows and columns of a matrix: blocks side by side, and how far the candidates behind them hold each row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from biconsensus.protocols import Block, FloatArray, IntArray, comparable

if TYPE_CHECKING:
    from biconsensus.pool._pool import Pool


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
    row_labels: IntArray | None = None
    """(r,) the same as `rows`, and the block near which each other row is; None where nobody has looked at that."""

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
        first = np.zeros(len(self) + 1, np.int64)  # the last place is that of rows in no block
        # assignments are in order, so that the last one stays: backwards, the first row does
        first[self.rows[::-1]] = np.arange(self.rows.size - 1, -1, -1)
        falling = np.array([-comparable(gain) for gain in self.gains.tolist()])
        return self.picked(np.lexsort((first[:-1], falling)))

    def picked(self, order: IntArray) -> Blocks:
        """Some of the blocks, in this order."""
        number = np.full(len(self) + 1, -1)  # the last place is that of rows and columns in no block
        number[order] = np.arange(order.size)
        near = None if self.row_labels is None else number[self.row_labels]
        return Blocks(number[self.rows], number[self.columns], self.gains[order], near)


def weights_behind(candidates: Sequence[IntArray], weights: FloatArray) -> csr_array:
    """(n, T) weight of each candidate in the group that it backs, from the candidates of each group."""
    behind = np.concatenate([*candidates, np.zeros(0, np.int64)])
    group = np.repeat(np.arange(len(candidates)), [part.size for part in candidates])
    return csr_array((weights[behind], (behind, group)), shape=(weights.size, len(candidates)))


def held_weight(rows: csr_array, behind: csr_array) -> csr_array:
    """(r, T) weight of the candidates behind each group that hold each distinct row (r, n)."""
    held = csr_array(rows.astype(np.float64) @ behind)
    held.eliminate_zeros()
    return held


def held_share(pool: Pool, behind: csr_array) -> csr_array:
    """(r, T) of the candidates behind each group that saw a distinct row, the share of weight that holds it."""
    held = held_weight(pool.rows, behind)
    asked = behind.sum(axis=0)[held.indices]
    if pool.unseen is not None and pool.mask_of is not None:
        by_mask = summed(behind, pool.mask_of, pool.unseen.shape[1])
        asked = asked - values_at(pool.unseen.astype(np.float64) @ by_mask, stored_rows(held), held.indices)
    # real values are degrees of membership; above 1 they are taken relative to the largest one
    top = 1.0 if pool.binary else float(pool.rows.data.max(initial=1.0))
    held.data = np.divide(held.data / top, asked, out=np.zeros(asked.size), where=asked > 0)
    return held


def summed(behind: csr_array, part_of: IntArray, n_parts: int) -> csr_array:
    """(n_parts, T) sums over the candidates of each part: a mask, or a source."""
    n = part_of.size
    parts = csr_array((np.ones(n), (part_of, np.arange(n))), shape=(n_parts, n))
    return csr_array(parts @ behind)


def sums_by(places: NDArray[Any], amounts: NDArray[Any], size: int) -> FloatArray:
    """(size,) sum of the amounts at each place."""
    return np.asarray(np.bincount(places, amounts, minlength=size), np.float64)


def in_groups(groups: IntArray, values: FloatArray, n_groups: int = 0) -> csr_array:
    """(k, T) the value of each item in its group, -1 for none."""
    inside = groups >= 0
    ends = np.concatenate([[0], np.cumsum(inside)])
    shape = (groups.size, max(int(groups.max(initial=-1)) + 1, n_groups))
    return csr_array((values[inside], groups[inside], ends), shape=shape)


def values_at(matrix: csr_array, rows: IntArray, columns: IntArray) -> FloatArray:
    """(k,) values at pairs of a row and a column, 0 where nothing is stored."""
    if rows.size == 0:  # for which SciPy gives a matrix
        return np.zeros(0)
    matrix.sort_indices()
    return np.asarray(matrix[rows, columns])


def stored_rows(matrix: csr_array) -> IntArray:
    """(nnz,) the row of each stored value."""
    return np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))


def first_in_rows(matrix: csr_array) -> IntArray:
    """(r,) column of the first stored value of each row, -1 where nothing is stored."""
    found = np.full(matrix.shape[0], -1, np.int64)
    filled = np.diff(matrix.indptr) > 0
    found[filled] = matrix.indices[matrix.indptr[:-1][filled]]
    return found


def largest_in_rows(matrix: csr_array) -> IntArray:
    """(r,) column of the largest stored value of each row, the first of equal ones; -1 where nothing is stored."""
    return top_in_rows(matrix)[0]


def top_in_rows(matrix: csr_array) -> tuple[IntArray, FloatArray]:
    """(r,) and (r,) column of the largest stored value of each row, the first of equal ones, and that value.

    Where nothing is stored, they are -1 and minus infinity.
    """
    column, top = np.full(matrix.shape[0], -1, np.int64), np.full(matrix.shape[0], -np.inf)
    stored = np.diff(matrix.indptr)
    filled = np.flatnonzero(stored)
    if filled.size:
        begin = matrix.indptr[filled]
        top[filled] = np.maximum.reduceat(matrix.data, begin)
        # of the columns at the top, the first; the others are put behind all of them
        others = matrix.data < np.repeat(top[filled], stored[filled])
        column[filled] = np.minimum.reduceat(matrix.indices + others * np.int64(matrix.shape[1]), begin)
    return column, top
