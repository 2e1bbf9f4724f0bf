"""Bounds of one base run in this process: how long it may take, and how much memory it may ask for."""

from __future__ import annotations

import math
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from biconsensus._checks import available_memory

LONGEST_RUN = 3600.0
"""Seconds after which a run is stopped where no limit is given: many times what a run on a million points takes."""


class TimeUp(BaseException):
    """A run is over its time; not an ordinary exception, so that a run that catches those does not go on."""


@contextmanager
def bounded(seconds: float, share: int = 1) -> Iterator[None]:
    """Raise where the code inside takes longer than `seconds`, or asks for more than its share of the free memory.

    Parameters
    ----------
    seconds : float
        Time after which `TimeUp` is raised, between two steps of Python; inf for none. It needs the main thread, and
        a timer of the system that nobody else uses; without them there is no limit.
    share : int
        How many runs go on at the same time. Each may ask for its part of what is free, more is a `MemoryError`.
        Systems other than Linux have no such limit.

    Examples
    --------
    >>> with bounded(60):
    ...     total = sum(range(10))
    >>> total
    45
    """
    with _memory_bound.held(share), _alarm(seconds):
        yield


@contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    """Raise `TimeUp` after some time."""
    free = (
        math.isfinite(seconds)
        and hasattr(signal, "setitimer")
        and threading.current_thread() is threading.main_thread()
        and signal.getitimer(signal.ITIMER_REAL)[0] == 0
    )
    if not free:
        yield
        return
    before = signal.signal(signal.SIGALRM, _time_up)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _time_up(number: int, frame: Any) -> None:
    """What the timer calls."""
    raise TimeUp


class _MemoryBound:
    """The limit of the process on its own memory; threads that run at the same time share the first one's."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._before: tuple[int, int] | None = None

    @contextmanager
    def held(self, share: int) -> Iterator[None]:
        """Bound what may be allocated while the code inside runs."""
        with self._lock:
            self._inside += 1
            if self._inside == 1:
                self._set(share)
        try:
            yield
        finally:
            with self._lock:
                self._inside -= 1
                if self._inside == 0:
                    self._restore()

    def _set(self, share: int) -> None:
        """What the process holds now and its share of what is free, unless the limit is lower already."""
        used, free = _private_memory(), available_memory()
        if used is None or free is None:
            return
        import resource

        # memory that is written to: address space alone, which some libraries reserve without limit, is not counted
        soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
        wanted = used + free // max(1, share)
        if all(limit == resource.RLIM_INFINITY or wanted < limit for limit in (soft, hard)):
            resource.setrlimit(resource.RLIMIT_DATA, (wanted, hard))
            self._before = soft, hard

    def _restore(self) -> None:
        """The limit as it was."""
        if self._before is not None:
            import resource

            resource.setrlimit(resource.RLIMIT_DATA, self._before)
            self._before = None


_memory_bound = _MemoryBound()


def _private_memory() -> int | None:
    """Bytes that count against the limit, where the system tells."""
    try:
        lines = Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return None
    return next((1024 * int(line.split()[1]) for line in lines if line.startswith("VmData:")), None)
