"""Data sets that can be had; a benchmark goes on without the others and says so."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from biconsensus.errors import MissingDataError

T = TypeVar("T")
_LACKED: dict[str, str] = {}


def loaded(loaders: Mapping[str, Callable[[], T]]) -> dict[str, T]:
    """What the loaders return, without those whose data cannot be had; one line for each set that is missing."""
    found = {}
    for name, load in loaders.items():
        part = loaded_or_none(load)
        if part is not None:
            found[name] = part
    return found


def loaded_or_none(load: Callable[[], T]) -> T | None:
    """What one loader returns; None, and a line, where its data cannot be had."""
    try:
        return load()
    except MissingDataError as error:
        if error.dataset not in _LACKED:
            print(f"going on without: {error}", file=sys.stderr, flush=True)
            _LACKED[str(error.dataset)] = str(error)
        return None


def by_name(load: Callable[[str], T], names: Iterable[str]) -> dict[str, T]:
    """`loaded` for the names of one set: after the first that cannot be had the others are not tried."""
    found: dict[str, T] = {}
    for name in names:
        part = loaded_or_none(lambda name=name: load(name))  # type: ignore[misc]
        if part is None:
            break
        found[name] = part
    return found


def lacked() -> dict[str, str]:
    """Sets that could not be had in this process, with the reason."""
    return dict(_LACKED)
