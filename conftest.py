"""For tests and doctests alike: one thread a process; pictures need no screen, and do not pile up."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

import pytest

os.environ.setdefault("MPLBACKEND", "Agg")
# Set before any library is loaded. Several processes run tests at once, and threads that wait for a core which another
# process has use up more time than the work itself; tests of threads ask for two of them.
os.environ.setdefault("OMP_NUM_THREADS", "1")


@pytest.fixture(autouse=True)
def _close_figures() -> Iterator[None]:
    """Close what a test has drawn."""
    yield
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is not None:
        pyplot.close("all")
