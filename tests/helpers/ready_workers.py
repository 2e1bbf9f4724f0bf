"""Worker processes that start at once, for tests that look at what is done in them and not at how they start."""

from __future__ import annotations

import functools
import multiprocessing
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from biconsensus.sources import _workers


@contextmanager
def ready_workers() -> Iterator[None]:
    """Fork them from one process that has done its imports, which take longer than most work of a test.

    `tests/sources/test_running.py::test_slow_and_dying_runs_are_stopped_and_the_others_kept` and the program in
    `tests/cli/test_process.py` start theirs as users do.
    """
    with pytest.MonkeyPatch.context() as patch:
        if "forkserver" in multiprocessing.get_all_start_methods():
            server = multiprocessing.get_context("forkserver")
            server.set_forkserver_preload(["biconsensus.sources._running", "sklearn.cluster"])
            forked = functools.partial(_workers.ProcessPoolExecutor, context=server)
            patch.setattr(_workers, "ProcessPoolExecutor", forked)
        yield
