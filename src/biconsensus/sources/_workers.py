"""Processes that can be stopped: each task is done, lost with a reason, or over its time."""

from __future__ import annotations

import signal
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import resource_tracker
from pathlib import Path
from queue import Empty
from typing import Any

import joblib
import numpy as np
from joblib.externals.loky.backend import resource_tracker as loky_tracker
from joblib.externals.loky.process_executor import ProcessPoolExecutor

SHARE_FROM = 1 << 20
"""Bytes from which an array goes to the workers as a memory map."""

LONGEST_IMPORT = 60
"""Seconds that imports of base runs may take before they count against the time limit; heavy packages take ten."""


@dataclass(frozen=True)
class LostRun:
    """A task that was stopped or whose process died."""

    reason: str
    seconds: float


def run_in_processes(
    call: Callable[..., Any], tasks: list[Any], data: Any, n_workers: int, time_limit: float | None
) -> Iterator[tuple[int, Any]]:
    """Yield (number, ``call(run, data, seed)``) for tasks (number, run, seed) as they finish.

    A task over its time limit is stopped and yields a `LostRun`. If a process dies, everything that was in it or beside
    it is run once more, alone; a task that dies again is lost. No more tasks are sent than there are workers, so the
    clock of a task starts when it does.
    """
    waiting, suspects = deque(tasks), deque[Any]()
    flying: dict[Future[Any], tuple[Any, float]] = {}
    n_workers = max(1, min(n_workers, len(tasks)))
    with tempfile.TemporaryDirectory() as folder:
        data = _shared(data, Path(folder))
        pool = _ready_pool(n_workers, call, tasks)
        try:
            while waiting or suspects or flying:
                alone = not waiting and bool(suspects) and not flying
                while waiting and len(flying) < n_workers:
                    _send(pool, flying, call, waiting.popleft(), data)
                if alone:
                    _send(pool, flying, call, suspects.popleft(), data)
                done, _ = wait(flying, timeout=_next_deadline(flying, time_limit), return_when=FIRST_COMPLETED)
                died = False
                for future in done:
                    task, start = flying.pop(future)
                    if isinstance(future.exception(), BrokenExecutor):
                        died = True
                        if alone:
                            yield task[0], LostRun("its process died twice", time.monotonic() - start)
                        else:
                            suspects.append(task)
                    elif future.exception() is not None:
                        reason = f"its result could not be sent: {future.exception()!r}"
                        yield task[0], LostRun(reason, time.monotonic() - start)
                    else:
                        yield task[0], future.result()
                late = [] if died else _overdue(flying, time_limit)
                for future in late:
                    task, start = flying.pop(future)
                    reason = f"stopped after the time limit of {time_limit:g} s"
                    yield task[0], LostRun(reason, time.monotonic() - start)
                if died or late:
                    (suspects if died else waiting).extendleft(task for task, _ in flying.values())
                    flying.clear()
                    _stop(pool)
                    if waiting or suspects:
                        pool = _ready_pool(min(n_workers, max(1, len(waiting))), call, tasks)
        finally:
            _stop(pool)


def _ready_pool(n_workers: int, call: Callable[..., Any], tasks: list[Any]) -> Any:
    """Processes that have imported what the runs need: a limit of seconds is for the work, not for the imports."""
    pool = _started_pool(n_workers, call)
    received = [pool.submit(_warm_up, [run for _, run, _ in tasks], 0.05) for _ in range(n_workers)]
    wait(received, timeout=LONGEST_IMPORT)
    if any(future.done() and future.exception() for future in received):
        # one that cannot be sent, or that ends its process on arrival, is told when its turn comes
        _stop(pool)
        return _started_pool(n_workers, call)
    return pool


def _started_pool(n_workers: int, call: Callable[..., Any]) -> Any:
    """Processes that have done their imports, which do not count against the time limit."""
    with _interrupts_held():
        pool = ProcessPoolExecutor(max_workers=n_workers)
        started = [pool.submit(_warm_up, call, 0.05) for _ in range(n_workers)]
    wait(started)
    return pool


def _stop(pool: Any) -> None:
    """End the processes at once, with whatever they are doing.

    A task that is still on its way to a process would be looked up by the pool's own thread after it was dropped, and
    the traceback of that thread would be all that the user sees of an interrupt. So such tasks are taken back first.
    """
    with suppress(Empty):
        while True:
            pool._work_ids.get_nowait()
    pool.shutdown(kill_workers=True)


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Hold Ctrl-C back; processes and threads started meanwhile never see it.

    The terminal sends an interrupt to every process of the command. Only the one that the user started answers: it
    stops the workers itself, so that they print no traceback of their own, however early the interrupt comes.
    """
    if sys.platform == "win32":
        yield
        return
    for tracker in (resource_tracker, loky_tracker):
        tracker.ensure_running()  # starting it later would let interrupts through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _warm_up(work: Any, pause: float) -> None:
    """Receiving the work has imported what it needs; the pause lets the other processes take their share."""
    time.sleep(pause)


def _send(pool: Any, flying: dict[Future[Any], tuple[Any, float]], call: Any, task: Any, data: Any) -> None:
    """Hand a task to the pool and start its clock."""
    _, run, seed = task
    flying[pool.submit(_call, call, run, data, seed)] = task, time.monotonic()


def _call(call: Callable[..., Any], run: Any, data: Any, seed: int) -> Any:
    """Run in the worker: open shared data first."""
    if isinstance(data, _Mapped):
        data = joblib.load(data.path, mmap_mode="r")
    return call(run, data, seed)


@dataclass(frozen=True)
class _Mapped:
    path: str


def _shared(data: Any, folder: Path) -> Any:
    """Large arrays as a file that workers map."""
    if not isinstance(data, np.ndarray) or data.nbytes < SHARE_FROM or data.dtype.hasobject:
        return data
    path = folder / "data.joblib"
    joblib.dump(data, path)
    return _Mapped(str(path))


def _next_deadline(flying: dict[Future[Any], tuple[Any, float]], time_limit: float | None) -> float | None:
    """Seconds until the first task in flight is over its time."""
    if time_limit is None:
        return None
    return max(0.0, min(start for _, start in flying.values()) + time_limit - time.monotonic())


def _overdue(flying: dict[Future[Any], tuple[Any, float]], time_limit: float | None) -> list[Future[Any]]:
    """Tasks in flight that are over their time."""
    if time_limit is None:
        return []
    now = time.monotonic()
    return [f for f, (_, start) in flying.items() if not f.done() and now - start >= time_limit]
