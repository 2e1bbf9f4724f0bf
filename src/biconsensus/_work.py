"""Long work: on how many threads it runs, and how far it is, told to a function or shown by a bar on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import lru_cache
from typing import Any

from threadpoolctl import ThreadpoolController

from biconsensus.errors import InputTypeError
from biconsensus.protocols import Progress, silent


def on_one_thread(kind: str | None = None) -> AbstractContextManager[Any]:
    """Let numerical libraries, or only one kind of them ("blas"), run on one thread inside the context."""
    found: AbstractContextManager[Any] = _libraries(len(sys.modules)).limit(limits=1, user_api=kind)
    return found


@lru_cache(maxsize=1)
def _libraries(n_modules: int) -> ThreadpoolController:
    """The loaded libraries; looking for them takes milliseconds, so it is done again only after an import."""
    return ThreadpoolController()


@contextmanager
def shown(progress: bool | Progress | None) -> Iterator[Progress]:
    """The function to call: the one that was given, one that moves a bar, or one that does nothing.

    Parameters
    ----------
    progress : bool, callable or None
        True shows a bar on standard error, None only where that is a terminal, False nothing.

    Yields
    ------
    callable
    """
    if progress is not None and not isinstance(progress, bool):
        if not callable(progress):
            raise InputTypeError(f"progress must be True, False, None or a function of three values, got {progress!r}.")
        yield progress
        return
    if not (sys.stderr.isatty() if progress is None else progress):
        yield silent
        return
    from rich.console import Console
    from rich.progress import Progress as Bars
    from rich.progress import TaskID

    with Bars(console=Console(stderr=True), transient=sys.stderr.isatty()) as bars:
        tasks: dict[str, TaskID] = {}

        def move(done: int, total: int, step: str) -> None:
            if step not in tasks:
                tasks[step] = bars.add_task(step, total=total or None)
            bars.update(tasks[step], completed=done)

        yield move
