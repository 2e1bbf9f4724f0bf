"""Sets of columns, and what a way to count their votes gives: `_dense` and `_sparse` are two of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from biconsensus.protocols import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class Sets:
    """The k-th set is ``items[bounds[k] : bounds[k + 1]]``.

    Examples
    --------
    >>> sets = Sets.from_masks(np.array([[True, False, True], [False, False, False]]))
    >>> [set_of(key).tolist() for key in sets.keys()]
    [[0, 2], []]
    """

    items: NDArray[np.int32]
    bounds: IntArray

    def __len__(self) -> int:
        """Number of sets."""
        return self.bounds.size - 1

    @classmethod
    def from_pairs(cls, which: IntArray, items: NDArray[Any], size: int) -> Sets:
        """Sets from pairs of a set and an item, in the order of both."""
        bounds = np.concatenate([[0], np.cumsum(np.bincount(which, minlength=size))])
        return cls(items.astype(np.int32, copy=False), bounds)

    @classmethod
    def from_masks(cls, masks: BoolArray) -> Sets:
        """Sets from masks (S, q)."""
        which, items = np.nonzero(masks)
        return cls.from_pairs(which, items, masks.shape[0])

    @classmethod
    def from_keys(cls, keys: Sequence[bytes]) -> Sets:
        """Sets from their keys."""
        return cls(set_of(b"".join(keys)), np.cumsum([0, *(len(key) // 4 for key in keys)]))

    def keys(self) -> list[bytes]:
        """One name for each set, equal for equal sets; they sort like the sets: by the first column, the second ..."""
        content = self.items.astype(">i4").tobytes()
        return [content[4 * start : 4 * stop] for start, stop in pairwise(self.bounds.tolist())]

    def which(self) -> IntArray:
        """The set of each item."""
        return np.repeat(np.arange(len(self)), np.diff(self.bounds))

    def matrix(self, values: NDArray[Any]) -> csr_array:
        """(S, q) the values of the columns of each set."""
        return csr_array((values[self.items], self.items, self.bounds), shape=(len(self), values.size))


def set_of(key: bytes) -> NDArray[np.int32]:
    """The columns that a key stands for."""
    return np.frombuffer(key, ">i4").astype(np.int32)


@dataclass(frozen=True)
class Count:
    """The rows that joined S sets of columns, and the columns that join those rows."""

    rows: Callable[[int], IntArray]
    """Rows that joined the k-th set, in order."""
    n_elements: FloatArray
    """(S,) elements, with multiplicity, that joined."""
    which: IntArray
    """(p,) sets, in order, of ..."""
    columns: NDArray[Any]
    """(p,) the columns that join them, in order, ..."""
    held: FloatArray
    """(p,) with so many elements in them, ..."""
    seen: FloatArray
    """(p,) of so many that they saw."""


class Counting(Protocol):
    """A way to count votes."""

    def of_sets(self, sets: Sets, live_rows: BoolArray, live_columns: BoolArray) -> Count:
        """Rows that join each set, then the columns that join those rows."""

    def of_candidates(self, starts: IntArray, live_rows: BoolArray, live_columns: BoolArray) -> Sets:
        """The columns that join the rows of each candidate."""
