"""A block that neither vote changes, and the order in which such blocks are preferred."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from biconsensus.protocols import BoolArray, IntArray, comparable
from biconsensus.solvers.vote._sets import set_of


class Preference(NamedTuple):
    """What orders fixed points, the best first: the documented rule for ties."""

    loss: float
    """Gain, negative, without the digits that only rounding makes."""
    elements: int
    """Number of them, negative."""
    sources: int
    """Number of them, negative."""
    first_row: int
    key: bytes
    """Of the columns; sorts like them."""


@dataclass(frozen=True)
class FixedPoint:
    """A block that neither vote changes."""

    rows: NDArray[Any]
    """Indices (int32), or bits where those are shorter (uint8)."""
    columns: NDArray[np.int32]
    gain: float
    preference: Preference

    @classmethod
    def of(cls, key: bytes, rows: IntArray, n_rows: int, gain: float, n_elements: int, n_sources: int) -> FixedPoint:
        """The fixed point of a set of columns and the rows that join it, in order."""
        preference = Preference(-comparable(gain), -n_elements, -n_sources, int(rows[0]), key)
        if 32 * rows.size < n_rows:
            return cls(rows.astype(np.int32), set_of(key), gain, preference)
        return cls(np.packbits(mask_of(rows, n_rows)), set_of(key), gain, preference)

    def inside(self, n_rows: int) -> BoolArray:
        """(r,) mask of the rows."""
        if self.rows.dtype == np.uint8:
            return np.unpackbits(self.rows, count=n_rows).astype(bool)
        return mask_of(self.rows, n_rows)

    def has_any(self, rows: BoolArray) -> bool:
        """Whether it holds any of these rows."""
        if self.rows.dtype == np.uint8:
            return bool((np.packbits(rows) & self.rows).any())
        return bool(rows[self.rows].any())


def mask_of(items: NDArray[Any], size: int) -> BoolArray:
    """(size,) mask of some items."""
    mask = np.zeros(size, bool)
    mask[items] = True
    return mask
