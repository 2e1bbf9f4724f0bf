"""Baselines take what `find_consensus` takes: a pool, or a table of labels."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, cast

from biconsensus._names import parameters
from biconsensus.pool._pool import Pool
from biconsensus.protocols import IntArray

P = ParamSpec("P")


def takes_tables(method: Callable[Concatenate[Pool, P], IntArray]) -> Callable[Concatenate[Any, P], IntArray]:
    """The same baseline for a pool or for anything that `Pool.from_labels` takes."""

    @parameters()
    @wraps(method)
    def of_any(pool: Any, *args: P.args, **own: P.kwargs) -> IntArray:
        return method(pool if isinstance(pool, Pool) else Pool.from_labels(pool), *args, **own)

    # functools knows the first argument by its name, Concatenate does not
    return cast("Callable[Concatenate[Any, P], IntArray]", of_any)
