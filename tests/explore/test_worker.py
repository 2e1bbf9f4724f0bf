"""The process that works: values, errors, progress, and ends that leave nothing behind."""

from __future__ import annotations

import operator
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from biconsensus.explore._worker import StoppedError, Worker, WorkFailedError
from tests.explore.conftest import children


def count(steps: int, pause: float, progress: Callable[[int, int, str], None]) -> int:
    """Work that tells how far it is."""
    for k in range(steps):
        progress(k, steps, "steps")
        time.sleep(pause)
    return steps


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    one = Worker()
    yield one
    one.close()


def test_values_errors_and_progress_come_back(worker: Worker, capfd: pytest.CaptureFixture[str]) -> None:
    assert worker.run(operator.add, 2, 3) == 5
    assert worker.run(print, "between the answers") is None
    with pytest.raises(WorkFailedError, match="ZeroDivisionError: division by zero"):
        worker.run(operator.truediv, 1, 0)
    told: list[tuple[int, int, str]] = []
    assert worker.run(count, 3, 0.06, progress=lambda *step: told.append(step)) == 3
    assert told[-1] == (2, 3, "steps")


def stopped(worker: Worker, *call: object, **options: object) -> float:
    """Seconds from the request to stop to the end."""
    ended: list[BaseException] = []

    def run() -> None:
        try:
            worker.run(*call, **options)  # type: ignore[arg-type]
        except BaseException as error:
            ended.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    time.sleep(0.3)
    start = time.monotonic()
    worker.stop()
    thread.join(20)
    assert [type(error) for error in ended] == [StoppedError]
    return time.monotonic() - start


def test_work_stops_at_its_next_step_and_the_process_lives(worker: Worker) -> None:
    before = worker.run(os.getpid)
    assert stopped(worker, count, 1000, 0.02, progress=lambda *_: None) < 5
    assert worker.run(os.getpid) == before


def test_work_without_steps_is_ended_with_its_process(worker: Worker) -> None:
    before = worker.run(os.getpid)
    assert stopped(worker, time.sleep, 60) < 5
    assert not os.path.exists(f"/proc/{before}/cmdline") or before not in children()
    assert worker.run(operator.add, 1, 1) == 2


def test_a_process_that_dies_is_said_and_replaced(worker: Worker) -> None:
    with pytest.raises(WorkFailedError, match="has died"):
        worker.run(os._exit, 3)
    assert worker.run(operator.add, 1, 1) == 2


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks at /proc")
def test_the_process_goes_with_the_one_that_started_it() -> None:
    program = (
        "import os, time; from biconsensus.explore._worker import Worker\n"
        "worker = Worker(); print(worker.run(os.getpid), flush=True); worker.run(time.sleep, 60)"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout is not None
        child = int(owner.stdout.readline())
        os.kill(owner.pid, signal.SIGKILL)
        owner.wait()
    until = time.monotonic() + 10
    while os.path.exists(f"/proc/{child}") and time.monotonic() < until:
        time.sleep(0.02)
    assert not os.path.exists(f"/proc/{child}")
