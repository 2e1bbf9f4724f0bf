"""Worker processes that start at once, for tests that look at what is done in them and not at how they start."""

from __future__ import annotations

import functools
import multiprocessing
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from biconsensus.sources import _workers

START_METHOD = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
"""How processes are started that need not start as those of users do."""


def import_before_forks(*modules: str) -> None:
    """Name what the one process imports from which the others are forked; what is missing, each imports itself.

    That process is started with the first of them and kept until the tests end.
    """
    if START_METHOD == "forkserver":
        named = ["biconsensus.sources._running", "sklearn.cluster", *modules]
        multiprocessing.get_context(START_METHOD).set_forkserver_preload(named)


@contextmanager
def ready_workers() -> Iterator[None]:
    """Fork them from one process that has done its imports, which take longer than most work of a test.

    `tests/sources/test_running.py::test_slow_and_dying_runs_are_stopped_and_the_others_kept` and the program in
    `tests/cli/test_process.py` start theirs as users do.
    """
    with pytest.MonkeyPatch.context() as patch:
        if START_METHOD == "forkserver":
            import_before_forks()
            server = multiprocessing.get_context(START_METHOD)
            forked = functools.partial(_workers.ProcessPoolExecutor, context=server)
            patch.setattr(_workers, "ProcessPoolExecutor", forked)
        yield
