"""Checks of arguments. An error says which argument is meant, what was received, what is allowed, what to do next."""

from __future__ import annotations

import importlib
import os
import sys
import warnings
from collections.abc import Iterable
from fractions import Fraction
from numbers import Integral, Real
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from biconsensus.errors import InputError, InputTypeError, MissingDependencyError, TooLargeError, UnknownNameError
from biconsensus.protocols import FloatArray, IntArray

Settings = TypeVar("Settings")

CONTAINER = (
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current", "/sys/fs/cgroup/memory.stat"),
    (
        "/sys/fs/cgroup/memory/memory.limit_in_bytes",
        "/sys/fs/cgroup/memory/memory.usage_in_bytes",
        "/sys/fs/cgroup/memory/memory.stat",
    ),
)
"""Files with the limit and the use of a control group, and what the use consists of: version 2 and 1."""
LARGEST = 1e70
"""Largest value whose fourth power, summed over any number of elements, is a number; its inverse is the smallest."""
INSTALLED_AS = {"sknetwork": "scikit-network", "cv2": "opencv-python-headless"}
"""Packages that are installed under another name than they are imported."""
FINEST_QUORUM = Fraction(1, 10**9)
"""Smallest step of a quorum: its products with whole votes of up to 2^53 / 10^9 elements are exact."""


def check_choice(what: str, name: object, valid: Iterable[str]) -> str:
    """Name that is one of the valid ones."""
    names = list(valid)
    if name not in names:
        raise UnknownNameError.of(what, name, names)
    return str(name)


def check_count(what: str, value: object, low: int = 1) -> int:
    """Whole number not below `low`."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise InputTypeError(f"{what} must be a whole number, got {value!r:.60} ({type(value).__name__}).")
    if value < low:
        raise InputError(f"{what} must be at least {low}, got {value}.")
    return int(value)


def given_or_default(what: str, given: Any, kind: type[Settings]) -> Settings:
    """An object with settings, or its defaults where none was given."""
    if given is None:
        return kind()
    if not isinstance(given, kind):
        raise InputTypeError(f"{what} must be {what}={kind.__name__}(...) or None, got {given!r}.")
    return given


def no_number_of_groups(given: object) -> str:
    """What to say of a whole number where the base methods are expected: it may be the number of groups."""
    number = isinstance(given, Integral) and not isinstance(given, bool)
    return f" The number of groups is n_groups={given}." if number else ""


def check_quorum(value: object) -> Fraction:
    """Quorum in (0, 1) as an exact fraction, so that 0.29 of 100 is 29."""
    if isinstance(value, bool) or not isinstance(value, (Real, Fraction)):
        raise InputTypeError(f"quorum must be a number in (0, 1) or 'auto', got {value!r}.")
    if not 0 < float(value) < 1:
        raise InputError(f"quorum must lie strictly between 0 and 1, got {value}; 0.5 is a majority.")
    exact = value if isinstance(value, Fraction) else Fraction(repr(float(value)))
    if not FINEST_QUORUM <= exact <= 1 - FINEST_QUORUM:
        raise InputError(
            f"quorum must lie between {float(FINEST_QUORUM):g} and 1 - {float(FINEST_QUORUM):g}, got {value!r}; "
            "nearer to 0 or 1 it cannot be told from them in exact votes."
        )
    return exact.limit_denominator(FINEST_QUORUM.denominator)


def check_limit(value: object) -> int | None:
    """Whole number of bytes above zero, or None for what the machine has."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, Integral) or value <= 0:
        raise InputError(f"memory_limit must be a whole number of bytes above 0, or None; got {value!r}.")
    return int(value)


def as_numbers(values: Any, what: str) -> FloatArray:
    """Flat array of numbers."""
    try:
        return np.asarray(values, dtype=np.float64).ravel()
    except (TypeError, ValueError):
        raise InputTypeError(f"{what} must be numbers, got {values!r}.") from None


def check_jobs(value: object) -> int | None:
    """Number of threads or processes: a whole number other than 0, negative ones counted from all cores; or None."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise InputTypeError(f"n_jobs must be a whole number or None, got {value!r} ({type(value).__name__}).")
    if value == 0:
        raise InputError("n_jobs must not be 0; give 1 for one process, -1 for all cores, or None for the default.")
    return int(value)


def check_seed(value: Any) -> Any:
    """What random numbers can start from: None, a whole number, a RandomState or a Generator."""
    if value is None or isinstance(value, (np.random.RandomState, np.random.Generator)):
        return value
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise InputTypeError(
            f"random_state must be None, a whole number, a RandomState or a Generator, got {value!r} "
            f"({type(value).__name__})."
        )
    if not 0 <= int(value) < 2**32:
        raise InputError(f"random_state must be from 0 to 2**32 - 1, got {value}.")
    return int(value)


def check_weights(values: Any, size: int, what: str = "weights") -> FloatArray:
    """`size` finite weights that are not negative, one or more of them positive."""
    weights = as_numbers(values, what)
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


def check_matrix_entries(values: NDArray[Any], columns: IntArray) -> None:
    """Stored entries of a matrix are finite and not negative; the error names the candidate."""
    bad = np.flatnonzero(~(np.isfinite(values) & (values >= 0)))
    if bad.size:
        place = int(bad[0])
        raise InputError(
            f"A must hold no NaN, infinite or negative value; candidate {int(columns[place])} has "
            f"{values[place]} ({bad.size} such entries in all)."
        )


def check_finite(X: FloatArray) -> FloatArray:
    """Array without NaN or infinity; the error has the count and the first position."""
    bad = np.argwhere(~np.isfinite(X))
    if bad.size:
        place, many = tuple(int(i) for i in bad[0]), "value" if len(bad) == 1 else "values"
        raise InputError(
            f"X must be finite; it contains {len(bad)} NaN or infinite {many}, the first at {place}. "
            "Impute or drop them first."
        )
    return X


def check_squares(X: FloatArray) -> FloatArray:
    """Array of values whose fourth powers are numbers, so that squared distances can be squared again."""
    largest = float(np.abs(X).max(initial=0.0))
    if largest and not 1 / LARGEST <= largest <= LARGEST:
        raise InputError(
            f"X has values up to {largest:.3g}, whose squared distances overflow or vanish; "
            f"multiply it by {1 / largest:.0e} first, and every length with it."
        )
    return X


def check_is_plain(X: Any) -> None:
    """Refuse masked cells, whose values are arbitrary, and dates, which NumPy would take as counts."""
    if np.ma.is_masked(X):
        masked = int(np.ma.getmaskarray(X).sum())
        raise InputError(f"X has {masked} masked values. Fill them in, or leave their rows or columns out.")
    frame = hasattr(X, "iloc") and hasattr(X, "columns")
    kinds = zip(X.columns, X.dtypes) if frame else [("", X.dtype)] if isinstance(X, np.ndarray) else []
    for name, kind in kinds:
        if getattr(kind, "kind", "") in ("m", "M"):
            where = f"column {name!r} holds" if frame else "it holds"
            raise InputError(f"X: {where} dates or durations ({kind}). Make them numbers of the unit that counts.")


def check_columns_are_numbers(X: Any) -> None:
    """Columns of a data frame that can all be made numbers; the error names the first one that cannot."""
    if not hasattr(X, "iloc"):
        return
    for number, name in enumerate(X.columns):
        column = X.iloc[:, number]  # two columns may have one name
        try:
            np.asarray(column, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise InputError(
                f"X: column {name!r} does not hold numbers ({column.dtype}, the first is {column.iloc[0]!r}). "
                "Leave it out, or encode it as numbers first."
            ) from error


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


def check_memory(what: str, needed: int, limit: int | None = None) -> None:
    """Raise before allocating where the estimate exceeds the limit (bytes), or what can still be had without one."""
    limit = available_memory() if limit is None else limit
    if limit is not None and needed > limit:
        raise TooLargeError(
            f"{what} would need about {needed / 2**20:,.0f} MB, above the limit of {limit / 2**20:,.0f} MB; "
            "raise memory_limit or use less data."
        )


def available_memory() -> int | None:
    """Free memory in bytes; None where the system does not tell."""
    figures = [figure for figure in (_machine(), _container(), _process()) if figure is not None]
    return max(min(figures), 0) if figures else None


def _machine() -> int | None:
    """What the machine can give without swapping; caches count as free where the system says how much they hold."""
    for line in _small_file("/proc/meminfo").splitlines():
        if line.startswith("MemAvailable:"):
            return 1024 * int(line.split()[1])
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError, AttributeError):
        return None


def _container() -> int | None:
    """What the control group of the process leaves, old pages of files counted as free; none where it sets no limit."""
    for paths in CONTAINER:
        limit, used, parts = (_small_file(path).strip() for path in paths)
        if limit.isdigit() and used.isdigit():
            cached = [int(line.split()[1]) for line in parts.splitlines() if line.startswith("inactive_file ")]
            return int(limit) - int(used) + sum(cached)
    return None


def _process() -> int | None:
    """What the limit on the address space (`ulimit -v`) leaves; none where there is no limit."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    limit, pages = resource.getrlimit(resource.RLIMIT_AS)[0], _small_file("/proc/self/statm").split()
    if limit == resource.RLIM_INFINITY or not pages:
        return None
    return int(limit) - int(pages[0]) * os.sysconf("SC_PAGE_SIZE")


def _small_file(path: str) -> str:
    """Content of a small file, nothing where it cannot be read."""
    try:
        return Path(path).read_text(encoding="ascii")
    except (OSError, UnicodeError):
        return ""


def warn_user(message: str, kind: type[Warning]) -> None:
    """Warn at the line of the user, which is the first one outside the library."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "biconsensus":
        frame, level = frame.f_back, level + 1
    warnings.warn(message, kind, stacklevel=level)


def need(package: str, extra: str) -> Any:
    """Import an optional package, or say how to get it."""
    try:
        return importlib.import_module(package)
    except ImportError:
        top = package.partition(".")[0]
        raise MissingDependencyError.of(INSTALLED_AS.get(top, top), extra) from None
