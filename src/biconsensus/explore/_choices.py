"""What a user has chosen, and the search that follows from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from math import isfinite
from typing import Any

import numpy as np

from biconsensus._checks import check_choice, check_count, check_quorum
from biconsensus.errors import InputError
from biconsensus.find import UNASSIGNED, Search
from biconsensus.pool._pool import Pool
from biconsensus.protocols import IntArray

GIVEN, AUTO, QUORUM, NUMBER = "given", "auto", "quorum", "n_groups"
"""How the groups are cut: as they were handed over, by choice of the library, at a quorum, into a number of groups."""
MOST_WEIGHT = 1000.0
"""Largest weight of a source on the page; with more, it alone would decide."""


@dataclass(frozen=True)
class Choices:
    """Everything that a user can change, as plain values."""

    mode: str = AUTO
    quorum: float = 0.5
    n_groups: int = 2
    min_elements: int | None = None
    min_candidates: int | None = None
    unassigned: str = "nearest"
    off: tuple[int, ...] = ()
    """Sources that do not vote."""
    weights: tuple[tuple[int, float], ...] = ()
    """Sources with a weight other than 1."""
    together: tuple[tuple[int, ...], ...] = ()
    """Elements that must share a group."""
    answers: tuple[tuple[int, int, bool], ...] = ()
    """What was said of pairs of elements: whether they belong together."""
    skipped: tuple[tuple[int, int], ...] = ()
    """Pairs of which nobody knows."""

    def changed(self, patch: Mapping[str, Any], pool: Pool) -> Choices:
        """The same with some values changed; what is wrong with them is an InputError."""
        known = {field.name for field in fields(self)}
        if unknown := set(patch) - known:
            raise InputError(f"unknown settings: {', '.join(sorted(map(str, unknown)))}.")
        m, c = pool.shape[0], len(pool.sources)
        checked: dict[str, Any] = {}
        for name, value in patch.items():
            if name == "mode":
                checked[name] = check_choice("mode", value, (GIVEN, AUTO, QUORUM, NUMBER))
            elif name == "quorum":
                checked[name] = float(check_quorum(value))
            elif name == "n_groups":
                checked[name] = min(check_count(name, value), m)
            elif name in ("min_elements", "min_candidates"):
                checked[name] = None if value is None else check_count(name, value)
            elif name == "unassigned":
                checked[name] = check_choice(name, value, UNASSIGNED)
            elif name == "off":
                checked[name] = tuple(sorted({_place("off", one, c) for one in _listed(name, value)}))
            elif name == "weights":
                pairs = {_place("weights", one, c): _weight(weight) for one, weight in map(_pair, _listed(name, value))}
                checked[name] = tuple(sorted((one, weight) for one, weight in pairs.items() if weight != 1.0))
            elif name == "together":
                sets = [tuple(sorted({_place(name, e, m) for e in _listed(name, one)})) for one in _listed(name, value)]
                checked[name] = tuple(one for one in sets if len(one) > 1)
            elif name in ("answers", "skipped"):
                checked[name] = tuple(_pair_of_elements(name, one, m) for one in _listed(name, value))
        found = replace(self, **checked)
        if len(found.voting(pool)) == 0:
            raise InputError("no source is left to vote; switch at least one on, with a weight above 0.")
        return found

    def voting(self, pool: Pool) -> IntArray:
        """Sources that vote: switched on, and with a weight above zero."""
        silent = set(self.off) | {one for one, weight in self.weights if weight == 0}
        return np.array([k for k in range(len(pool.sources)) if k not in silent], dtype=np.int64)

    def factors(self, pool: Pool) -> np.ndarray[Any, np.dtype[np.float64]]:
        """(c,) weight of each source, 0 for those that do not vote."""
        found = np.ones(len(pool.sources))
        for one, weight in self.weights:
            found[one] = weight
        found[list(self.off)] = 0.0
        return found

    def pool(self, whole: Pool) -> Pool:
        """The pool of the sources that vote, with their weights."""
        factors, voting = self.factors(whole), self.voting(whole)
        weighed = replace(whole, weights=whole.weights * factors[whole.source_of]) if self.weights else whole
        return weighed if voting.size == len(whole.sources) else weighed.select(sources=voting)

    def candidates(self, whole: Pool) -> IntArray:
        """Candidates of the sources that vote, in the order of the whole pool."""
        return np.flatnonzero(np.isin(whole.source_of, self.voting(whole)))

    def search(self, settings: Mapping[str, Any]) -> Search:
        """The search whose path has all answers for these choices."""
        given = {"min_elements": self.min_elements, "min_candidates": self.min_candidates}
        sizes = {name: value for name, value in given.items() if value is not None}
        return Search(**{**settings, **sizes}, unassigned=self.unassigned, together=self.together or None)

    @property
    def key(self) -> tuple[Any, ...]:
        """What the path depends on: everything but where it is cut."""
        return self.min_elements, self.min_candidates, self.unassigned, self.off, self.weights, self.together

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


def _listed(name: str, value: Any) -> list[Any]:
    """A list."""
    if not isinstance(value, list | tuple):
        raise InputError(f"{name} must be a list, got {value!r:.80}.")
    return list(value)


def _pair(value: Any) -> tuple[Any, Any]:
    """A source and its weight."""
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise InputError(f"weights must be pairs of a source and a number, got {value!r:.80}.")
    return value[0], value[1]


def _pair_of_elements(name: str, value: Any, size: int) -> tuple[Any, ...]:
    """Two elements, and for an answer whether they belong together."""
    parts = _listed(name, value)
    said = name == "answers"
    if len(parts) != 2 + said or (said and not isinstance(parts[2], bool)):
        raise InputError(f"{name} must be two elements{' and true or false' if said else ''}, got {value!r:.80}.")
    return (_place(name, parts[0], size), _place(name, parts[1], size), *parts[2:])


def _place(name: str, value: Any, size: int) -> int:
    """Number of a source or an element."""
    if check_count(name, value, 0) >= size:
        raise InputError(f"{name}: {value} is none of 0 to {size - 1}.")
    return int(value)


def _weight(value: Any) -> float:
    """Weight of a source."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        raise InputError(f"a weight must be a number from 0 to {MOST_WEIGHT:g}, got {value!r:.80}.")
    if not 0 <= value <= MOST_WEIGHT:
        raise InputError(f"a weight must be a number from 0 to {MOST_WEIGHT:g}, got {value!r:.80}.")
    return float(value)
