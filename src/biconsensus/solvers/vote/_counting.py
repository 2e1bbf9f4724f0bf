"""What a way to count votes gives: `dense_votes` and `sparse_votes` are two of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from numpy.typing import NDArray

from biconsensus.protocols import BoolArray, FloatArray, IntArray
from biconsensus.solvers.vote._sets import Sets


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
