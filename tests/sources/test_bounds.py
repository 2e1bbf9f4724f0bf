"""Bounds of one base run: time and memory, in this process and in others, and as they were afterwards."""

from __future__ import annotations

import math
import resource
import signal
import sys
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from biconsensus.errors import PoolWarning
from biconsensus.sources import _bounds, _running
from biconsensus.sources._bounds import TimeUp, bounded
from biconsensus.sources._running import NamedSource, run_sources

LARGE = 1 << 33
"""Bytes of an array that is refused; it is never filled."""
linux = pytest.mark.skipif(sys.platform != "linux", reason="other systems have no limit on private memory")


@pytest.fixture
def timer() -> Iterator[None]:
    """The timer of the system, which pytest-timeout uses otherwise."""
    before = signal.setitimer(signal.ITIMER_REAL, 0)
    yield
    signal.setitimer(signal.ITIMER_REAL, *before)


@pytest.fixture
def little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine with 256 MB free."""
    monkeypatch.setattr(_bounds, "available_memory", lambda: 1 << 28)


def halves(data: Any, seed: int) -> Any:
    return (np.asarray(data) > 1).astype(int)


def endless(data: Any, seed: int) -> Any:
    while True:
        try:
            sum(range(1000))
        except Exception:  # what base algorithms do
            continue


def hungry(data: Any, seed: int) -> Any:
    return np.empty(LARGE, np.uint8)


@pytest.mark.usefixtures("timer")
def test_a_run_in_this_process_is_stopped_at_the_default_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_running, "LONGEST_RUN", 0.05)
    with pytest.warns(PoolWarning, match=r"endless: stopped after the time limit of 0\.05 s"):
        found = run_sources([NamedSource("endless", endless), NamedSource("halves", halves)], [0, 1, 2], [0, 0])
    assert [one.ok for one in found] == [False, True]
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0
    assert signal.getsignal(signal.SIGALRM) is not _bounds._time_up


def test_a_timer_of_somebody_else_is_left_alone() -> None:
    before = signal.setitimer(signal.ITIMER_REAL, 60)
    try:
        with bounded(0.001):
            assert signal.getitimer(signal.ITIMER_REAL)[0] > 50
    finally:
        signal.setitimer(signal.ITIMER_REAL, *before)


@pytest.mark.usefixtures("timer")
def test_other_threads_and_no_limit_use_no_timer() -> None:
    seen = []

    def inside(seconds: float) -> None:
        with bounded(seconds):
            seen.append(signal.getitimer(signal.ITIMER_REAL)[0])

    inside(math.inf)
    thread = threading.Thread(target=inside, args=(60,))
    thread.start()
    thread.join()
    assert seen == [0, 0]
    inside(60)
    assert 0 < seen[-1] <= 60


@linux
@pytest.mark.usefixtures("little_memory")
def test_a_run_that_asks_for_more_than_is_free_is_skipped_and_the_limit_taken_back() -> None:
    before = resource.getrlimit(resource.RLIMIT_DATA)
    with pytest.warns(PoolWarning, match="hungry: .*MemoryError"):
        found = run_sources([NamedSource("hungry", hungry), NamedSource("halves", halves)], [0, 1, 2], [0, 0])
    assert [one.ok for one in found] == [False, True]
    assert resource.getrlimit(resource.RLIMIT_DATA) == before
    assert hungry(None, 0).size == LARGE


@linux
@pytest.mark.usefixtures("little_memory")
def test_runs_at_the_same_time_share_what_is_free_and_the_last_one_takes_the_limit_back() -> None:
    before = resource.getrlimit(resource.RLIMIT_DATA)
    with bounded(math.inf, share=4):
        first = resource.getrlimit(resource.RLIMIT_DATA)[0]
        with bounded(math.inf):
            assert resource.getrlimit(resource.RLIMIT_DATA)[0] == first
        assert resource.getrlimit(resource.RLIMIT_DATA)[0] == first
        used = _bounds._private_memory()
        assert used is not None
        assert abs(first - used - (1 << 26)) < 1 << 25
    assert resource.getrlimit(resource.RLIMIT_DATA) == before


@linux
@pytest.mark.usefixtures("little_memory")
def test_a_lower_limit_of_the_user_stays() -> None:
    before = resource.getrlimit(resource.RLIMIT_DATA)
    used = _bounds._private_memory()
    assert used is not None
    mine = (used + (1 << 27), before[1])
    resource.setrlimit(resource.RLIMIT_DATA, mine)
    try:
        with bounded(math.inf):
            assert resource.getrlimit(resource.RLIMIT_DATA) == mine
        assert resource.getrlimit(resource.RLIMIT_DATA) == mine
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, before)


def test_systems_that_tell_nothing_have_no_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    before = resource.getrlimit(resource.RLIMIT_DATA)
    for name in ("_private_memory", "available_memory"):
        with monkeypatch.context() as patch:
            patch.setattr(_bounds, name, lambda: None)
            with bounded(math.inf):
                assert resource.getrlimit(resource.RLIMIT_DATA) == before


def test_the_end_of_the_time_is_no_ordinary_exception() -> None:
    assert not issubclass(TimeUp, Exception)
