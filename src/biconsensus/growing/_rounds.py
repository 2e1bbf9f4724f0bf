"""Numbers of runs to try, where as many are wanted as it takes."""

from __future__ import annotations

from typing import Any

from biconsensus._checks import check_count
from biconsensus.errors import InputError


def rounds_of(n_runs: Any, auto: tuple[int, ...]) -> tuple[int, ...]:
    """The numbers of runs after which to look at the answer; one number where it is given.

    Examples
    --------
    >>> rounds_of(10, (5, 10, 20)), rounds_of("auto", (5, 10, 20))
    ((10,), (5, 10, 20))
    """
    if isinstance(n_runs, str):
        if n_runs != "auto":
            raise InputError(f"n_runs: received {n_runs!r}; allowed are a whole number above 0 and 'auto'.")
        return auto
    return (check_count("n_runs", n_runs),)
