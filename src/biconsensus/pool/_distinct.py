"""Distinct rows: elements that nothing tells apart are kept once, with their number.

Label tables go through `biconsensus.pool._rows`, in one pass without a sort. A sparse row is hashed as the sum of one
random 64-bit number for each of its cells (Zobrist hashing), rows are grouped by hash, and every row is then compared
with the representative of its group. Either way a collision cannot change an answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from biconsensus.protocols import FloatArray, IntArray

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
