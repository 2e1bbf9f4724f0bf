"""Label tables, whatever their form, as integer columns that know their labels and what was not seen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biconsensus._words import counted
from biconsensus.errors import InputError, InputTypeError
from biconsensus.pool._rows import CACHED
from biconsensus.protocols import IntArray

NONE = -1
"""Code of an element that a source saw and put in no group."""
UNSEEN = -2
"""Code of an element that a source did not see."""
EXACT = 2**53
"""Whole numbers up to this one are all different as 64-bit floats."""
LONGEST = 256
"""Longest text, in characters, that is kept in arrays of fixed width: a kilobyte each."""
IN_NO_GROUP = frozenset({"-1", "-1.0", b"-1", b"-1.0"})
"""Texts that say "in no group", in files and in memory."""


@dataclass(frozen=True)
class Column:
    """One grouping of all elements: a cell for each element, and how to read the cells."""

    cells: NDArray[Any]
    """(m,) integers."""
    labels: list[Any] | None = None
    """Label of each cell value; None where the cells are the labels themselves."""
    missing: int | None = None
    """Cell value that means "not seen"."""

    def read(self, values: IntArray) -> tuple[NDArray[np.int32], list[Any]]:
        """Codes of distinct cells in order: 0, 1, ... for groups (NONE, UNSEEN apart); and the labels of the groups."""
        unseen = np.zeros(values.size, bool) if self.missing is None else values == self.missing
        if self.labels is None:
            inside = ~unseen & (values != -1)
        else:
            inside = ~unseen & ~np.isin(values, [k for k, label in enumerate(self.labels) if _is_none(label)])
        codes = np.where(inside, np.cumsum(inside) - 1, np.where(unseen, UNSEEN, NONE)).astype(np.int32)
        return codes, [int(v) if self.labels is None else self.labels[v] for v in values[inside]]


def code_cells(columns: Sequence[Column], cells: NDArray[Any]) -> tuple[NDArray[np.int32], list[list[Any]]]:
    """Groups of cells (r, c), numbered through all columns (NONE, UNSEEN apart), and the labels of each column.

    Every column has a range of one long table, so that cells of all columns are looked up together, some rows at a
    time, in the order in which they lie in memory.
    """
    low, high = cells.min(axis=0).astype(np.int64), cells.max(axis=0).astype(np.int64)
    spans = [int(last) - int(first) + 1 for first, last in zip(low, high, strict=True)]
    ranked = {n: np.unique(cells[:, n]) for n, span in enumerate(spans) if span > 4 * cells.shape[0] + 1000}
    if ranked:  # cells in a wide range are sorted, others are counted
        cells = cells.astype(np.int64)
        for n, values in ranked.items():
            cells[:, n], low[n], spans[n] = np.searchsorted(values, cells[:, n]), 0, values.size
    span = np.array(spans)
    begin = np.cumsum(span) - span
    step = max(1, CACHED // cells.shape[1]) * cells.shape[1]
    flat, shift = cells.reshape(-1), np.tile(begin - low, step // cells.shape[1])
    parts = [slice(start, min(start + step, flat.size)) for start in range(0, flat.size, step)]
    present = np.zeros(int(span.sum()), bool)
    for part in parts:
        present[flat[part] + shift[: part.stop - part.start]] = True
    code_at, coded, n_groups = np.empty(present.size, np.int32), [], 0
    for k, column in enumerate(columns):
        spots = np.flatnonzero(present[begin[k] : begin[k] + span[k]])
        codes, labels = column.read(ranked[k].astype(np.int64)[spots] if k in ranked else spots + low[k])
        code_at[begin[k] + spots] = np.where(codes >= 0, codes + n_groups, codes)
        coded.append(labels)
        n_groups += len(labels)
    numbers = np.empty(flat.size, np.int32)
    for part in parts:
        np.take(code_at, flat[part] + shift[: part.stop - part.start], out=numbers[part], mode="clip")
    return numbers.reshape(cells.shape), coded


def _is_none(label: Any) -> bool:
    """Whether a label says "in no group": the number -1 of any type, or its text."""
    if isinstance(label, (str, bytes)):
        return label.strip() in IN_NO_GROUP
    minus_one: Any = -1
    return isinstance(label, Number) and not isinstance(label, bool) and bool(label == minus_one)


@dataclass(frozen=True)
class LabelVectors:
    """A label table of any form as one vector of labels for each grouping."""

    vectors: list[Any]
    """Each of m labels: an array, or a column of pandas or polars."""
    names: list[str]
    """All different."""
    ids: NDArray[Any] | None = None
    """(m,) identifiers of the elements, where the table has some."""
    named: bool = False
    """Whether the columns came with names of their own."""
    chosen: bool = False
    """Whether somebody has decided already which columns are groupings."""

    @classmethod
    def of(cls, labels: Any) -> LabelVectors:
        """Split a table, frame, mapping or sequence into its label vectors."""
        if isinstance(labels, LabelVectors):
            return labels
        if hasattr(labels, "tocsr"):
            raise InputTypeError(
                "labels is a sparse matrix; label tables are dense. Use Pool.from_matrix for memberships."
            )
        if isinstance(columns := getattr(labels, "columns", None), Mapping):  # what `read_labels` returns
            return cls(list(columns.values()), list(columns), labels.ids, named=True, chosen=True)
        if columns is not None and not isinstance(labels, np.ndarray):
            return _from_frame(labels)
        if isinstance(labels, np.ndarray) and labels.dtype.names:  # a structured array, as `DataFrame.to_records` makes
            labels = {name: labels[name] for name in labels.dtype.names}
        if isinstance(labels, Mapping):
            vectors, names = [_as_array(vector) for vector in labels.values()], [str(key) for key in labels]
            return cls(vectors, all_different(names), _common_index(vectors, names), named=True)
        vectors = _without_names(labels)
        names = [f"source {k}" for k in range(len(vectors))]
        return cls(vectors, names, _common_index(vectors, names))

    def select(self, names: Sequence[str]) -> LabelVectors:
        """Only the groupings of these names, in this order."""
        return replace(self, vectors=[self.by_name[name] for name in names], names=list(names), chosen=True)

    @cached_property
    def by_name(self) -> dict[str, Any]:
        """The vector of each name."""
        return dict(zip(self.names, self.vectors))

    def values(self, name: str) -> NDArray[Any]:
        """(m,) the labels of one grouping, masked where they are missing; numbers where those tell as much."""
        vector = self.by_name[name]
        if _is_categorical(vector) and 2 * len(vector.cat.categories) < len(vector):
            return np.asarray(vector.cat.codes)  # which repeat as the labels do
        values, mask = _values(vector, name)
        return values if mask is None else np.ma.MaskedArray(values, mask)


def encode(labels: Any, missing: int | None = None) -> tuple[list[Column], list[str], NDArray[Any] | None]:
    """Columns, their names and the identifiers of the elements of any label table."""
    table = LabelVectors.of(labels)
    if not table.vectors:
        raise InputError("labels holds 0 groupings (axis 1); give at least one label vector.")
    names = table.names
    columns = [_column(vector, missing, name) for vector, name in zip(table.vectors, names)]
    for column, name in zip(columns, names):
        if column.cells.size != columns[0].cells.size:
            raise InputError(
                f"label vectors must have one length: {names[0]!r} has {counted(columns[0].cells.size, 'label')}, "
                f"{name!r} has {column.cells.size:,}."
            )
    return columns, names, table.ids


def _without_names(labels: Any) -> list[Any]:
    """Label vectors of an array or a sequence."""
    if isinstance(labels, np.ndarray) and labels.ndim != 1:
        if labels.ndim != 2:
            raise InputError(f"labels must have 1 or 2 dimensions, got {labels.ndim}.")
        labels = labels if isinstance(labels, np.ma.MaskedArray) else np.asarray(labels)  # columns of a matrix have two
        return [labels[:, k] for k in range(labels.shape[1])]
    if isinstance(labels, np.ndarray):
        return [labels]
    if hasattr(labels, "number_of_nodes") or hasattr(labels, "vcount"):
        raise InputTypeError(
            f"labels is a network ({type(labels).__name__}); ConsensusCommunities finds its communities."
        )
    if isinstance(labels, (str, bytes, Set)) or not hasattr(labels, "__iter__"):
        raise InputTypeError(
            f"labels must be an (m, c) table, a list of c label vectors or a data frame, got {type(labels).__name__}."
        )
    # the cells of a column of Arrow are objects of its own
    vectors = labels.to_pylist() if hasattr(labels, "to_pylist") else list(labels)
    if vectors and hasattr(vectors[0], "fit"):
        raise InputTypeError(f"labels holds {vectors[0]!r:.80}; give the labels that it found: [model.labels_, ...].")
    if vectors and not isinstance(vectors[0], Iterator):
        one = isinstance(vectors[0], (str, bytes)) or not hasattr(vectors[0], "__len__")
        vectors = [labels if hasattr(labels, "dtype") else vectors] if one else vectors
    return [_as_array(vector) for vector in vectors]


def _as_array(vector: Any) -> Any:
    """A label vector that can be read more than once: arrays and columns of frames as they are."""
    if isinstance(vector, (str, bytes, Set, Mapping)) or not hasattr(vector, "__iter__"):
        raise InputTypeError(
            f"labels holds {vector!r:.80} where a label vector is needed; give one label for each element, in order."
        )
    if hasattr(vector, "dtype"):
        return vector
    return exact_array(vector.to_pylist() if hasattr(vector, "to_pylist") else vector)


def _from_frame(frame: Any) -> LabelVectors:
    """Vectors, names and index of a pandas, polars or Arrow frame."""
    if hasattr(frame, "column_names"):
        vectors = [exact_array(column.to_pylist()) for column in frame.columns]
        return LabelVectors(vectors, all_different(frame.column_names), named=True)
    # by place: two columns of pandas may have one name
    places = range(len(frame.columns))
    vectors = [frame.iloc[:, k] if hasattr(frame, "iloc") else frame[frame.columns[k]] for k in places]
    names = all_different([str(name) for name in frame.columns])
    return LabelVectors(vectors, names, _ids_of(getattr(frame, "index", None)), named=True)


def all_different(names: Sequence[str]) -> list[str]:
    """Names of columns, the number of the column added where a name comes again."""
    found: dict[str, None] = {}
    for k, name in enumerate(names):
        found[name if name not in found else f"{name} ({k + 1})"] = None
    return list(found)


def _ids_of(index: Any) -> NDArray[Any] | None:
    """Identifiers that an index of pandas holds; none where it only counts the rows."""
    # newer pandas makes a range of any whole numbers in steps
    plain = index is None or (type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1)
    return None if plain else exact_array(index)


def _common_index(vectors: list[Any], names: list[str]) -> NDArray[Any] | None:
    """Identifiers of the elements of columns of pandas; where these differ, rows do not belong together."""
    found = [(vector.index, name) for vector, name in zip(vectors, names) if hasattr(vector, "iloc")]
    for index, name in found[1:]:
        if len(index) == len(found[0][0]) and not index.equals(found[0][0]):
            raise InputError(
                f"label vectors {found[0][1]!r} and {name!r} have different indices: their rows do not belong "
                "together. Align them (pandas.concat(..., axis=1)), or give to_numpy() of each if their order is right."
            )
    return _ids_of(found[0][0]) if found else None


def _is_categorical(vector: Any) -> bool:
    """Whether a vector is a categorical column of pandas."""
    return hasattr(vector, "cat") and hasattr(vector.dtype, "categories") and hasattr(vector.cat, "codes")


def _column(vector: Any, missing: int | None, name: str) -> Column:
    """Encode one label vector."""
    if _is_categorical(vector):
        labels, cells = list(vector.cat.categories), np.asarray(vector.cat.codes)
        absent = np.isin(cells, [k for k, label in enumerate(labels) if missing is not None and label == missing])
        return Column(np.where(absent, -1, cells), labels, missing=-1)
    values, mask = _values(vector, name)
    if values.dtype.kind in "iub" and mask is None and not _beyond_int64(values):
        return Column(_as_signed(values), missing=missing)
    return _factorise(values, mask, missing, name)


def _values(vector: Any, name: str) -> tuple[NDArray[Any], NDArray[np.bool_] | None]:
    """One-dimensional array of a label vector with every label exact, and a mask where cells are missing."""
    mask = None
    if isinstance(vector, np.ma.MaskedArray):
        values, mask = np.ma.getdata(vector).ravel(), np.ma.getmaskarray(vector).ravel()
    elif _is_nullable(vector):
        values, mask = _without_nulls(vector)
    elif hasattr(vector, "to_numpy"):
        values = np.asarray(vector.to_numpy())
    elif isinstance(vector, np.ndarray):
        values = vector
    else:
        values = exact_array(vector)
    if values.ndim != 1:
        raise InputError(f"label vector {name!r} must have 1 dimension, got {values.ndim}.")
    return values, mask


def _beyond_int64(values: NDArray[Any]) -> bool:
    """Whether labels reach beyond 63 bits, where signed and unsigned numbers have no common type."""
    return values.dtype == np.uint64 and values.size > 0 and int(values.max()) >= 2**63


def _as_signed(values: NDArray[Any]) -> NDArray[Any]:
    """Integers of a type that promotes with every other without rounding; no copy."""
    if values.dtype == bool:
        return values.view(np.uint8)
    return values.view(np.int64) if values.dtype == np.uint64 else values


def exact_array(items: Any) -> NDArray[Any]:
    """(m,) array in which everything stays what it is: objects where one NumPy type would round or make text of it."""
    if hasattr(items, "to_flat_index") or hasattr(items, "dtype"):
        return np.asarray(items)
    items = list(items)
    whole = [item for item in items if isinstance(item, (int, np.integer)) and not isinstance(item, bool)]
    numbers = all(isinstance(item, (int, float, np.integer, np.floating, np.bool_)) for item in items)
    # NumPy drops zero characters at the end of text and gives every text the room of the longest
    text = all(isinstance(item, str) and len(item) <= LONGEST and not item.endswith("\0") for item in items)
    if numbers or text:
        values = np.array(items)
        if values.ndim == 1 and not (values.dtype.kind in "fO" and any(abs(int(item)) > EXACT for item in whole)):
            return values
    values = np.empty(len(items), dtype=object)
    for k, item in enumerate(items):
        values[k] = item
    return values


def _is_nullable(vector: Any) -> bool:
    """Whether a pandas or polars column holds whole numbers beside gaps, which NumPy would turn into floats."""
    kind: Any = getattr(vector, "dtype", None)
    if hasattr(kind, "is_integer") and hasattr(vector, "null_count"):
        return bool(kind.is_integer() and vector.null_count())
    return not isinstance(kind, np.dtype) and getattr(kind, "kind", "") in ("i", "u") and hasattr(vector, "isna")


def _without_nulls(vector: Any) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Whole numbers of a column with gaps, 0 in the gaps, and where the gaps are."""
    if hasattr(vector, "null_count"):
        return np.asarray(vector.fill_null(0).to_numpy()), np.asarray(vector.is_null().to_numpy())
    absent = np.asarray(vector.isna().to_numpy(), dtype=bool)
    return np.asarray(vector.fillna(0).to_numpy(dtype=vector.dtype.numpy_dtype)), absent


def _factorise(values: NDArray[Any], mask: NDArray[np.bool_] | None, missing: int | None, name: str) -> Column:
    """Number the distinct labels in sorted order; what is missing gets the number -1."""
    unseen = absent(values) if mask is None else mask | absent(values)
    if missing is not None:
        unseen = unseen | np.asarray(values == missing, dtype=bool)
    kept = values[~unseen]
    if kept.dtype.kind == "f" and np.isinf(kept).any():
        raise InputError(f"label vector {name!r} contains an infinite label; use NaN for not seen.")
    cells = np.full(values.size, -1, np.int64)
    if kept.dtype.kind == "O":
        distinct = _in_order(kept.tolist(), name)
        number = {label: k for k, label in enumerate(distinct)}
        cells[~unseen] = [number[label] for label in kept.tolist()]
        return Column(cells, distinct, missing=-1)
    unique, codes = np.unique(kept, return_inverse=True)
    cells[~unseen] = codes
    # dates and durations in nanoseconds are numbers to NumPy's tolist
    listed = unique.astype(str).tolist() if kept.dtype.kind in "mM" else unique.tolist()
    return Column(cells, [_tidy(label) for label in listed], missing=-1)


def _in_order(labels: list[Any], name: str) -> list[Any]:
    """Distinct labels sorted by type and value."""
    try:
        distinct = dict.fromkeys(labels)
    except TypeError:
        bad = next(label for label in labels if type(label).__hash__ is None or not _is_hashable(label))
        raise InputTypeError(
            f"label vector {name!r} holds {bad!r:.80} ({type(bad).__name__}), which is no label; give numbers, text or "
            "tuples. If it is a group of elements, Pool.from_groups takes such groups."
        ) from None
    try:
        return sorted(distinct, key=lambda label: (type(label).__name__, label))
    except TypeError as error:
        raise InputTypeError(
            f"label vector {name!r} holds labels that have no order ({error}); give numbers or text."
        ) from None


def _is_hashable(label: Any) -> bool:
    """Whether a label has a hash; a tuple of lists has none."""
    try:
        hash(label)
    except TypeError:
        return False
    return True


def _tidy(label: Any) -> Any:
    """Whole floats as integers, so that names read 3 and not 3.0."""
    return int(label) if isinstance(label, float) and label.is_integer() else label


def absent(values: NDArray[Any]) -> NDArray[np.bool_]:
    """NaN, NaT, None and NA cells."""
    if values.dtype.kind == "f":
        return np.asarray(np.isnan(values))
    if values.dtype.kind in "mM":
        return np.asarray(np.isnat(values))
    if values.dtype.kind == "O":
        return np.array([v is None or type(v).__name__ == "NAType" or _is_nan(v) for v in values], dtype=bool)
    return np.zeros(values.size, bool)


def _is_nan(label: Any) -> bool:
    """Whether a label differs from itself, as NaN and NaT do, of Python and of NumPy."""
    unequal = label != label
    return isinstance(unequal, (bool, np.bool_)) and bool(unequal)
