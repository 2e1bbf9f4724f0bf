"""A pool that knows its distinct rows and how many elements each stands for, but not where the elements are."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

import numpy as np

from biconsensus.engines._compressed import Compressed
from biconsensus.errors import InputError
from biconsensus.pool._pool import Pool
from biconsensus.protocols import IntArray


@dataclass(frozen=True)
class CountedPool(Pool):
    """Pool of a table that lies elsewhere: its rows are the distinct rows, each with a number of elements.

    Examples
    --------
    >>> from biconsensus.engines._local import compress_stream
    >>> pool = counted_pool(compress_stream([np.array([[0, 1], [0, 1], [2, 1]])])[0])
    >>> pool.shape, pool.counts
    ((3, 3), array([2, 1]))
    """

    elements: IntArray = field(default_factory=lambda: np.zeros(0, np.int64))
    """(k,) number of elements of each row of the compressed table; `inverse` has their distinct row."""

    @property
    def shape(self) -> tuple[int, int]:
        """Number of elements and of candidates (m, n)."""
        return int(self.elements.sum()), self.rows.shape[1]

    @cached_property
    def counts(self) -> IntArray:
        """(r,) number of elements that share each distinct row."""
        return np.bincount(self.inverse, self.elements, minlength=self.rows.shape[0]).astype(np.int64)

    def select(self, elements: Any = None, candidates: Any = None, sources: Any = None) -> Pool:
        """Pool of some candidates or sources; elements cannot be told apart here."""
        if elements is not None:
            raise InputError("a pool of a distributed table has no single elements to select; call gather() first.")
        return super().select(candidates=candidates, sources=sources)

    def __add__(self, other: Pool) -> Pool:
        """Two tables would have to be read together."""
        raise InputError("pools of distributed tables cannot be added; put all groupings into one table.")

    def join(self, together: Iterable[Iterable[int]]) -> Pool:
        """Elements cannot be told apart here."""
        raise InputError("together= names single elements, which a distributed table does not number; leave it out.")


def counted_pool(found: Compressed, names: Any = None, sources: Any = None) -> CountedPool:
    """The pool of distinct rows; options as in `Pool.from_labels`."""
    pool = Pool.from_labels(found.columns(), names=names or found.names, sources=sources)
    own = {f.name: getattr(pool, f.name) for f in fields(Pool)}
    return CountedPool(**own, elements=found.counts)
