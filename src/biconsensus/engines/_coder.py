"""Chunks of labels of any type as rows of small integers, the same label always as the same integer."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from biconsensus.errors import InputError
from biconsensus.pool._labels import Column, encode
from biconsensus.pool._rows import Cells
from biconsensus.pool.io._arrays import arrow_column
from biconsensus.protocols import BoolArray

TEXT = -(2**31)
"""Number of the first label of a column that is no whole number."""


class Coder:
    """Turns chunks of labels of any type into cells, the same label always into the same cell.

    Whole numbers stand for themselves; all other labels are numbered from `TEXT` on, in the order in which they come.
    """

    def __init__(self, missing: int | None = None) -> None:
        self.missing = missing
        self.names: list[str] = []
        self.texts: list[dict[Any, int]] = []

    def cells(self, chunk: Any) -> Cells:
        """Cells of a chunk: anything that `Pool.from_labels` takes."""
        if isinstance(chunk, np.ndarray) and chunk.ndim == 2 and chunk.dtype.kind in "iu" and self.missing is None:
            self.expect([f"source {k}" for k in range(chunk.shape[1])])
            return Cells(_signed(chunk))
        _check_is_table(chunk)
        columns, names, _ = encode(as_columns(chunk), self.missing)
        self.expect(names)
        values, masks = [], []
        for texts, column in zip(self.texts, columns):
            absent = None if column.missing is None else column.cells == column.missing
            values.append(_numbered(texts, column, absent))
            masks.append(np.zeros(column.cells.size, bool) if absent is None else absent)
        absent = np.stack(masks, axis=1)
        return Cells(values, absent if absent.any() else None)

    def expect(self, names: list[str]) -> None:
        """Take the columns of the first chunk as the columns of all chunks."""
        if not self.names:
            self.names, self.texts = names, [{} for _ in names]
        if names != self.names:
            raise InputError(f"all chunks must have the columns {self.names}; one has {names}.")


def _check_is_table(chunk: Any) -> None:
    """A chunk holds rows of all groupings; a single vector would be taken for more elements of one grouping."""
    shape = getattr(chunk, "shape", None)
    flat = len(shape) == 1 if shape is not None else isinstance(chunk, (list, tuple)) and not _holds_vectors(chunk)
    if flat:
        raise InputError(
            "labels: an iterator is read as chunks of one table, (rows, groupings) each; received a vector. "
            "Give a list of label vectors, list(...), or chunks of two dimensions."
        )


def _holds_vectors(chunk: Any) -> bool:
    """Whether a list holds lists."""
    return len(chunk) > 0 and hasattr(chunk[0], "__len__") and not isinstance(chunk[0], (str, bytes))


def as_columns(chunk: Any) -> Any:
    """Arrow and polars chunks as NumPy columns, numbers with gaps masked; others unchanged."""
    if hasattr(chunk, "to_arrow"):
        chunk = chunk.to_arrow()
    if hasattr(chunk, "column_names") and hasattr(chunk, "schema"):
        return {name: arrow_column(chunk.column(name)) for name in chunk.column_names}
    if hasattr(chunk, "schema") and hasattr(chunk, "column"):
        return {name: arrow_column(chunk.column(name)) for name in chunk.schema.names}
    return chunk


def _numbered(texts: dict[Any, int], column: Column, absent: BoolArray | None) -> NDArray[Any]:
    """One column as whole numbers, 0 where it was not seen."""
    if column.labels is None:
        values = _signed(column.cells)
    else:
        codes = [label if _is_whole(label) else TEXT + texts.setdefault(label, len(texts)) for label in column.labels]
        if any(code >= 2**63 for code in codes):
            raise InputError(f"labels must be below 2**63; found {max(codes)}.")
        numbers = np.array([*codes, 0], dtype=np.int64)
        values = numbers.astype(np.result_type(*map(np.min_scalar_type, (numbers.min(), numbers.max()))))[column.cells]
    if texts and values.size and values.min() < TEXT + len(texts) and _clash(values, column, len(texts)):
        raise InputError(f"labels from {TEXT} to {TEXT + len(texts)} are reserved where a column holds text too.")
    if absent is not None and absent.any():
        values = np.where(absent, values.dtype.type(0), values)
    return values


def _is_whole(label: Any) -> bool:
    """Whether a label is a whole number, which stands for itself."""
    return isinstance(label, (int, np.integer)) and not isinstance(label, bool)


def _clash(values: NDArray[Any], column: Column, n_texts: int) -> bool:
    """Whether a label that is a number lies where text is numbered."""
    numbers = values if column.labels is None else [label for label in column.labels if _is_whole(label)]
    return any(TEXT <= number < TEXT + n_texts for number in np.unique(np.asarray(numbers, dtype=np.int64)).tolist())


def _signed(cells: NDArray[Any]) -> NDArray[Any]:
    """Integers that can be promoted together: 64 unsigned bits have no common type with signed ones."""
    if cells.dtype != np.uint64:
        return cells
    if cells.size and int(cells.max()) >= 2**63:
        raise InputError(f"labels must be below 2**63; found {cells.max()}.")
    return cells.astype(np.int64)
