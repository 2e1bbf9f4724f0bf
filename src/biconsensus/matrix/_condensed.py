"""What a search works on: the matrix in an order of its own, a sample of its rows where there are very many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array

from biconsensus.matrix._canonical import canonical_columns, canonical_order, reordered
from biconsensus.matrix._matrix import PreferenceMatrix
from biconsensus.matrix._sample import draw_rows
from biconsensus.pool._distinct import group_rows
from biconsensus.protocols import Block, IntArray


@dataclass(frozen=True)
class Condensed:
    """A preference matrix, condensed for a search, and the way back.

    Examples
    --------
    >>> import biconsensus as bc
    >>> problem = bc.PreferenceMatrix.from_pool(bc.Pool.from_labels([[0, 0, 1, 1, 1, 1]] * 3))
    >>> condensed = Condensed.of(problem, divide=True)
    >>> condensed.part.counts, condensed.part.weights, condensed.units
    (array([2, 1]), array([1., 1.]), (2, 3))
    """

    given: PreferenceMatrix
    """The matrix in the order of the pool."""
    whole: PreferenceMatrix
    """All rows, in the given order where only some are searched; columns in canonical order."""
    part: PreferenceMatrix
    """The rows that are searched, rows and columns in canonical order; `whole` itself where that is all rows."""
    rows: IntArray
    """(k,) the given row of each row that is searched."""
    columns: IntArray
    """(q,) the given column of each column."""
    sources: IntArray
    """(c,) the given source of each source."""
    units: tuple[int, int]
    """Elements and sources that count as one: the greatest common divisors of all multiplicities."""

    @classmethod
    def of(cls, problem: PreferenceMatrix, *, sample: bool = False, divide: bool = False) -> Condensed:
        """Put a matrix into canonical order.

        Parameters
        ----------
        problem : PreferenceMatrix
            The matrix in the order of the pool.
        sample : bool
            Whether some rows are to stand for very many.
        divide : bool
            Whether multiplicities of elements and sources are divided by what they have in common.
        """
        simple, sources, units = _divided(problem) if divide else (problem, np.arange(problem.backers.shape[1]), (1, 1))
        drawn = draw_rows(simple) if sample else None
        if drawn is None:
            rows, columns, order = canonical_order(simple)
            whole = reordered(simple, rows, columns, order)
            return cls(problem, whole, whole, rows, columns, sources[order], units)
        columns, order = canonical_columns(simple, drawn.colours)
        whole = reordered(simple, np.arange(simple.shape[0]), columns, order)
        some = replace(
            whole,
            entries=csr_array(whole.entries[drawn.rows]),
            counts=drawn.counts,
            unseen=None if whole.unseen is None else csr_array(whole.unseen[drawn.rows]),
        )
        rows = canonical_order(some)[0]
        part = reordered(some, rows, np.arange(columns.size), np.arange(order.size))
        return cls(problem, whole, part, drawn.rows[rows], columns, sources[order], units)

    @property
    def sampled(self) -> bool:
        """Whether only some of the rows are searched."""
        return self.part is not self.whole

    def smallest(self, min_elements: int, min_candidates: int) -> tuple[int, int]:
        """Minimum sizes in the units of what is searched."""
        return -(-min_elements // self.units[0]), -(-min_candidates // self.units[1])

    def given_blocks(self, blocks: Sequence[Block]) -> list[Block]:
        """Blocks of `whole` as blocks of the given matrix."""
        return [replace(self._given_block(block), gain=block.gain * self.units[0] * self.units[1]) for block in blocks]

    def _given_block(self, block: Block) -> Block:
        """The same block in the order of the pool."""
        rows, columns = block.rows, np.zeros(self.given.shape[1], bool)
        if not self.sampled:
            rows = np.zeros(self.given.shape[0], bool)
            rows[self.rows[block.rows]] = True
        columns[self.columns[block.columns]] = True
        return Block(rows, columns, block.gain)


def _divided(problem: PreferenceMatrix) -> tuple[PreferenceMatrix, IntArray, tuple[int, int]]:
    """The matrix of the same pool with as few copies of every element and source as their shares allow."""
    elements = int(np.gcd.reduce(problem.counts)) or 1
    alike = group_rows(csr_array(problem.backers.T.astype(np.uint8)))[1].astype(np.int64)
    copies = np.bincount(alike)
    sources = int(np.gcd.reduce(copies)) or 1
    if elements == 1 and sources == 1:
        return problem, np.arange(alike.size), (1, 1)
    # of the sources that say the same, as many as their share asks for
    order = np.argsort(alike, kind="stable")
    rank = np.arange(alike.size) - (np.cumsum(copies) - copies)[alike[order]]
    kept = np.sort(order[rank < (copies // sources)[alike[order]]])
    simple = replace(
        problem,
        counts=problem.counts // elements,
        weights=problem.weights / sources,
        backers=csr_array(problem.backers[:, kept]),
    )
    return simple, kept, (elements, sources)
