"""Which elements are on the page: all of them, or those in doubt and some that stand for the others."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from biconsensus.pool._pool import Pool
from biconsensus.protocols import BoolArray, IntArray

if TYPE_CHECKING:
    from biconsensus.result._consensus import Consensus

MOST_ELEMENTS = 5000
"""Elements that a page lists: a browser searches them at once."""


@dataclass(frozen=True, eq=False)
class Sample:
    """The elements on the page."""

    elements: IntArray
    """(k,) indices, rising."""
    even: BoolArray
    """(k,) those that stand for all elements; the others are there because they are the least certain."""
    total: int
    whole_pool: Pool

    @classmethod
    def of(cls, consensus: Consensus) -> Sample:
        """All elements, or half of them the least certain and half at even distances."""
        m = consensus.labels.size
        even = even_sample(m, MOST_ELEMENTS if m <= MOST_ELEMENTS else MOST_ELEMENTS // 2)
        chosen = even if m <= MOST_ELEMENTS else np.union1d(first_unsure(consensus, MOST_ELEMENTS // 2), even)
        return cls(chosen, np.isin(chosen, even, assume_unique=True), m, consensus.pool)

    @property
    def whole(self) -> bool:
        """Whether all elements are on the page."""
        return self.elements.size == self.total

    @cached_property
    def pool(self) -> Pool:
        """The pool of the elements on the page."""
        return self.whole_pool if self.whole else self.whole_pool.select(elements=self.elements)

    @cached_property
    def even_pool(self) -> Pool:
        """The pool of the elements that stand for all."""
        return self.whole_pool if self.whole else self.whole_pool.select(elements=self.elements[self.even])


def even_sample(m: int, size: int) -> IntArray:
    """Elements at even distances, all of them where they are few."""
    return np.arange(m) if m <= size else np.unique(np.linspace(0, m - 1, size).astype(np.int64))


def first_unsure(consensus: Consensus, size: int) -> IntArray:
    """Elements in no group, then those of the smallest confidence (of the smallest backing where groups overlap)."""
    labels = consensus.labels
    outside = np.flatnonzero(labels < 0)
    if outside.size >= size:
        return outside[even_sample(outside.size, size)]
    overlap = bool(consensus.settings.get("overlap")) or len(consensus) == 0
    sure = consensus.backing if overlap else consensus.confidence().elements
    inside = np.flatnonzero(labels >= 0)
    wanted = min(size - outside.size, inside.size)
    least = inside[np.argpartition(sure[inside], wanted - 1)[:wanted]] if wanted else inside[:0]
    return np.sort(np.concatenate([outside, least]))
