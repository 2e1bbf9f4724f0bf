"""Counts of label pairs, from which partitions are compared."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import coo_array, csr_array

from biconsensus._words import counted
from biconsensus.errors import InputError, InputTypeError
from biconsensus.protocols import BoolArray, IntArray


def contingency(truth: ArrayLike, labels: ArrayLike) -> tuple[coo_array, BoolArray, BoolArray]:
    """(classes, groups) counts of label pairs, and which of the classes and groups are not -1."""
    (a, rows), (b, columns) = _both_codes(truth, labels)
    pair = rows * max(b.size, 1) + columns
    if a.size * b.size <= max(10_000, 4 * rows.size):
        counts = np.bincount(pair, minlength=a.size * b.size)
        cells = np.flatnonzero(counts)
        counts = counts[cells]
    else:
        cells, counts = np.unique(pair, return_counts=True)
    where = np.divmod(cells, max(b.size, 1))
    return coo_array((counts.astype(np.int64), where), (a.size, b.size)), _kept(a), _kept(b)


def label_codes(truth: ArrayLike, labels: ArrayLike) -> tuple[IntArray, IntArray]:
    """Both labellings (m,) as numbers from 0, whatever the labels were."""
    (_, rows), (_, columns) = _both_codes(truth, labels)
    return rows, columns


def _both_codes(truth: ArrayLike, labels: ArrayLike) -> list[tuple[NDArray[Any], IntArray]]:
    """Distinct values and the position of each label among them, for two labellings of one length."""
    found = [_codes(truth, "truth"), _codes(labels, "labels")]
    lengths = [codes.size for _, codes in found]
    if lengths[0] != lengths[1]:
        raise InputError(
            f"truth has {counted(lengths[0], 'label')} and labels has {lengths[1]}; they must be of one length."
        )
    return found


def best_matching(table: csr_array) -> tuple[IntArray, IntArray]:
    """Columns matched to rows so that the sum is largest, and the matched values."""
    from scipy.optimize import linear_sum_assignment

    dense = table.toarray()
    rows, columns = linear_sum_assignment(dense, maximize=True)
    return columns, dense[rows, columns]


def _codes(labels: ArrayLike, name: str) -> tuple[NDArray[Any], IntArray]:
    """Distinct values in order, and the position of each label among them."""
    if hasattr(labels, "labels"):
        raise InputTypeError(f"{name} is a {type(labels).__name__}; give its labels, as in consensus.labels.")
    values = np.asarray(labels)
    if values.ndim != 1:
        raise InputError(f"{name} must have one dimension; received shape {values.shape}.")
    if values.dtype.kind in "iu" and values.size and int(values.max()) - int(values.min()) < max(1000, values.size):
        # narrow integers need no sort: count them, then number those that occur
        low = int(values.min())
        shifted = values.astype(np.int64) - low
        found = np.flatnonzero(np.bincount(shifted))
        number = np.zeros(found[-1] + 1, dtype=np.int64)
        number[found] = np.arange(found.size)
        return found + low, number[shifted]
    try:
        distinct, inverse = np.unique(values, return_inverse=True)
    except TypeError as error:
        raise InputTypeError(
            f"{name} holds labels that have no order ({error}); give numbers or text, and leave out elements that have "
            "no label."
        ) from None
    return distinct, inverse


def _kept(distinct: NDArray[Any]) -> BoolArray:
    """Which of the distinct labels are groups: all but -1."""
    return np.ones(distinct.size, bool) if distinct.dtype.kind not in "iuf" else distinct != -1
