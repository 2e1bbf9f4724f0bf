"""Distinct rows with their numbers of elements: what a chunk, a partition or a whole table comes down to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biconsensus.engines._coder import TEXT, Coder
from biconsensus.errors import InputError
from biconsensus.pool._pool import Pool
from biconsensus.pool._rows import Cells, Layout, Numbers, RowIndex
from biconsensus.protocols import IntArray


@dataclass(frozen=True)
class Compressed:
    """The distinct rows of a label table, in the order of their first appearance.

    Examples
    --------
    >>> from biconsensus.engines._local import compress_stream
    >>> found, rows = compress_stream([np.array([[0, 1], [0, 1]]), np.array([[2, 1], [0, 1]])])
    >>> found.counts, rows
    (array([3, 1]), array([0, 0, 1, 0], dtype=int32))
    """

    cells: Cells
    """(r, c) the rows."""
    counts: IntArray
    """(r,) elements of each row."""
    names: list[str]
    """(c,) names of the groupings."""
    texts: list[list[Any]]
    """For each grouping its labels that are no whole numbers."""
    missing: int | None = None
    """Whole number that meant "not seen"."""

    @property
    def n_elements(self) -> int:
        """Number of elements, m."""
        return int(self.counts.sum())

    def columns(self) -> dict[str, NDArray[Any]]:
        """The rows as labels again, for `Pool.from_labels`: masked or None where not seen."""
        return {name: self._column(k) for k, name in enumerate(self.names)}

    def _column(self, k: int) -> NDArray[Any]:
        """One grouping of the rows as labels."""
        values = np.asarray(self.cells.values)[:, k]
        absent = None if self.cells.absent is None else self.cells.absent[:, k]
        if self.texts[k]:
            labels = values.astype(object)
            is_text = (values >= TEXT) & (values < TEXT + len(self.texts[k]))
            labels[is_text] = np.array([*self.texts[k], None], dtype=object)[values[is_text].astype(np.int64) - TEXT]
            if absent is not None:
                labels[absent] = None
            return labels
        return values if absent is None or not absent.any() else np.ma.MaskedArray(values, absent)

    def pool(self, rows: Numbers, **options: Any) -> Pool:
        """The pool of all elements, given the row of each; takes the options of `Pool.from_labels`."""
        ids = options.pop("ids", None)
        options.setdefault("names", self.names)
        distinct = Pool.from_labels(self.columns(), **options)
        if not np.array_equal(distinct.inverse, np.arange(self.counts.size)):
            rows = distinct.inverse[rows]
        return replace(distinct, inverse=rows, ids=None if ids is None else np.asarray(ids))

    def places_of(self, part: Compressed) -> Numbers:
        """(r,) where the rows of a part of the table are among those here, -1 where there is none like it."""
        coder = Coder(self.missing)
        coder.names, coder.texts = self.names, [{label: k for k, label in enumerate(t)} for t in self.texts]
        cells = _recoded(part, coder)
        layout = self.cells.layout.joined(cells.layout)
        index = self._index if layout == self.cells.layout else index_of(self.cells, layout)
        return index.number(cells.words(layout))

    @cached_property
    def _index(self) -> RowIndex:
        """Numbers of the rows by content."""
        return index_of(self.cells, self.cells.layout)

    def __getstate__(self) -> dict[str, Any]:
        """What is sent to other processes: not the index, which is quick to make and larger."""
        return {name: value for name, value in self.__dict__.items() if name != "_index"}


def index_of(cells: Cells, layout: Layout) -> RowIndex:
    """Index that numbers distinct rows as they stand."""
    index = RowIndex(layout.n_words)
    index.number(cells.words(layout), 0)
    index.renumber(index.ranks())
    return index


def merge_compressed(parts: Iterable[Compressed]) -> Compressed:
    """Add up the distinct rows of several parts of a table; the parts in order give the rows in order.

    Parameters
    ----------
    parts : iterable of Compressed
        Parts with the same groupings, in the order of the table.

    Examples
    --------
    >>> from biconsensus.engines._local import compress_stream
    >>> halves = [compress_stream([np.array(rows)])[0] for rows in ([[0, 1], [2, 1]], [[2, 1], [0, 0]])]
    >>> merge_compressed(halves).counts
    array([1, 2, 1])
    """
    parts = list(parts)
    if not parts:
        raise InputError("there are 0 parts to merge; at least one is needed.")
    coder = Coder(parts[0].missing)
    cells = [_recoded(part, coder) for part in parts]
    layout = cells[0].layout
    for other in cells[1:]:
        layout = layout.joined(other.layout)
    index, starts = RowIndex(layout.n_words), np.cumsum([0, *(part.shape[0] for part in cells)])
    numbers = [index.number(part.words(layout), int(start)) for part, start in zip(cells, starts)]
    ranks = index.ranks()
    counts = np.zeros(index.size, np.int64)
    for part, number in zip(parts, numbers):
        np.add.at(counts, ranks[number], part.counts)
    rows = Cells.from_words(index.rows[np.argsort(ranks)], layout)
    return Compressed(rows, counts, coder.names, [list(texts) for texts in coder.texts], parts[0].missing)


def _recoded(part: Compressed, coder: Coder) -> Cells:
    """The rows of a part in the numbers of a common coder."""
    coder.expect(part.names)
    values = np.asarray(part.cells.values)
    for k, (texts, common) in enumerate(zip(part.texts, coder.texts)):
        numbers = np.array([common.setdefault(label, len(common)) for label in texts], dtype=np.int64)
        if texts and not np.array_equal(numbers, np.arange(numbers.size)):
            is_text = (values[:, k] >= TEXT) & (values[:, k] < TEXT + numbers.size)
            values = values.copy()
            values[is_text, k] = TEXT + numbers[values[is_text, k].astype(np.int64) - TEXT]
    return Cells(values, part.cells.absent)
