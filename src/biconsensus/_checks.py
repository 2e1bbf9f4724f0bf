"""The only checks of input: which argument, what was received, what is allowed, what to do next."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biconsensus.errors import InputError, InputTypeError, TooLargeError, UnknownNameError
from biconsensus.protocols import FloatArray, IntArray


def check_choice(what: str, name: object, valid: Iterable[str]) -> str:
    """Name that is one of the valid ones."""
    names = list(valid)
    if name not in names:
        raise UnknownNameError.of(what, name, names)
    return str(name)


def check_count(what: str, value: object, low: int = 1) -> int:
    """Whole number not below `low`."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise InputTypeError(f"{what} must be a whole number, got {value!r} ({type(value).__name__}).")
    if value < low:
        raise InputError(f"{what} must be at least {low}, got {value}.")
    return int(value)


def check_quorum(value: object) -> Fraction:
    """Quorum in (0, 1) as an exact fraction, so that 0.29 of 100 is 29."""
    if isinstance(value, bool) or not isinstance(value, (Real, Fraction)):
        raise InputTypeError(f"quorum must be a number in (0, 1) or 'auto', got {value!r}.")
    if not 0 < float(value) < 1:
        raise InputError(f"quorum must lie strictly between 0 and 1, got {value}; 0.5 is a majority.")
    if isinstance(value, Fraction):
        return value.limit_denominator(10**9)
    return Fraction(repr(float(value))).limit_denominator(10**9)


def check_weights(values: Any, size: int, what: str = "weights") -> FloatArray:
    """`size` finite weights that are not negative, one or more of them positive."""
    weights = np.asarray(values, dtype=np.float64).ravel()
    if weights.size != size:
        raise InputError(f"{what} has {weights.size} values for {size} candidates; give one for each.")
    _check_entries(weights, what, "candidate")
    with np.errstate(over="ignore"):
        total = weights.sum()
    if total == np.inf:
        raise InputError(f"the sum of {what} overflows; divide them all by {weights.max():.3g}.")
    return weights


def _check_entries(values: FloatArray, what: str, axis: str) -> None:
    """Finite and not negative, or an error that names the first offender."""
    bad = np.flatnonzero(~(np.isfinite(values) & (values >= 0)))
    if bad.size:
        place = int(bad[0])
        raise InputError(
            f"{what} must be finite and not negative; {axis} {place} has {values[place]} ({bad.size} such in all)."
        )


def check_matrix_entries(values: NDArray[Any], columns: IntArray, what: str = "A") -> None:
    """Stored entries of a matrix are finite and not negative; the error names the candidate."""
    bad = np.flatnonzero(~(np.isfinite(values) & (values >= 0)))
    if bad.size:
        place = int(bad[0])
        raise InputError(
            f"{what} must hold no NaN, infinite or negative value; candidate {int(columns[place])} has "
            f"{values[place]} ({bad.size} such entries in all)."
        )


def check_finite(X: FloatArray, what: str = "X") -> FloatArray:
    """Array without NaN or infinity; the error has the count and the first position."""
    bad = np.argwhere(~np.isfinite(X))
    if bad.size:
        place = tuple(int(i) for i in bad[0])
        raise InputError(
            f"{what} must be finite; it contains {len(bad)} NaN or infinite values, the first at {place}. "
            "Impute or drop them first."
        )
    return X


def check_not_empty(n_elements: int, n_candidates: int) -> None:
    """At least one element and one candidate."""
    if n_elements == 0:
        raise InputError("the pool has 0 elements (axis 0); at least one is needed.")
    if n_candidates == 0:
        raise InputError("the pool has 0 candidates (axis 1); at least one group is needed.")


def check_indices(what: str, values: Any, size: int) -> IntArray:
    """Indices in [0, size), or a mask of that length, as integers."""
    indices = np.asarray(values if hasattr(values, "__len__") else list(values))
    if indices.size == 0:
        return np.zeros(0, np.int64)
    if indices.dtype == bool:
        if indices.size != size:
            raise InputError(f"{what} is a mask of length {indices.size}; it must have length {size}.")
        return np.flatnonzero(indices)
    if indices.dtype.kind not in "iu":
        raise InputTypeError(f"{what} must be whole numbers or a mask, got values of type {indices.dtype}.")
    if indices.min() < 0 or indices.max() >= size:
        wrong = indices[(indices < 0) | (indices >= size)].flat[0]
        raise InputError(f"{what} contains {wrong}; allowed are 0 to {size - 1}.")
    return indices.astype(np.int64).ravel()


def check_memory(what: str, needed: int, limit: int | None) -> None:
    """Raise before allocating where the estimate exceeds the limit (bytes); None is no limit."""
    if limit is not None and needed > limit:
        raise TooLargeError(
            f"{what} would need about {needed / 2**20:,.0f} MB, above the limit of {limit / 2**20:,.0f} MB; "
            "raise memory_limit or use less data."
        )
