"""Work in a process of its own, which tells how far it is and can be stopped at any time.

The process is started as a program, not forked: nothing of the caller is imported again, and it runs the same on every
system. It ends by itself when the one that started it is gone.
"""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable
from typing import Any, BinaryIO

from biconsensus.errors import BiconsensusError
from biconsensus.protocols import Progress

GRACE = 0.5
"""Seconds in which work may stop at its next step, before its process is ended; steps take less than this."""
EVERY = 0.05
"""Seconds between two messages on progress: more often nobody can see it."""
START = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from biconsensus.explore._worker import main; main()"
"""The program of the process, with the places where packages are found."""


class StoppedError(Exception):
    """The work was stopped because somebody asked for it."""


class WorkFailedError(BiconsensusError):
    """The work ended with an error; its message is for people."""


class Worker:
    """One process that does one thing at a time.

    Examples
    --------
    >>> worker = Worker()
    >>> worker.run(divmod, 17, 5)
    (3, 2)
    >>> worker.close()
    """

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._one = threading.Lock()
        """Held while work runs."""
        self._writing = threading.Lock()
        self._stopped = threading.Event()
        self._done = threading.Event()
        self._closed = False

    def run(self, call: Callable[..., Any], *arguments: Any, progress: Progress | None = None) -> Any:
        """Call a function in the process and return its value; waits for work that runs there.

        Parameters
        ----------
        call : callable
            A function of a module. With `progress` it gets the keyword ``progress``.
        *arguments
            What it is called with.
        progress : callable, optional
            Told how far the work is.

        Raises
        ------
        StoppedError
            Where `stop` was called meanwhile.
        WorkFailedError
            With the words of the error that the function raised.
        """
        with self._one:
            if self._closed:
                raise StoppedError
            self._stopped.clear()
            self._done.clear()
            try:
                return self._run(call, arguments, progress)
            except (EOFError, OSError, pickle.UnpicklingError) as error:
                self._end()
                if self._stopped.is_set():
                    raise StoppedError from error
                raise WorkFailedError(
                    "the process that did the work has died; there may not be enough memory."
                ) from error
            finally:
                self._done.set()

    def _run(self, call: Callable[..., Any], arguments: tuple[Any, ...], progress: Progress | None) -> Any:
        """Send the call and listen."""
        process = self._started()
        assert process.stdin is not None
        assert process.stdout is not None
        with self._writing:
            pickle.dump((call, arguments, progress is not None), process.stdin, pickle.HIGHEST_PROTOCOL)
            process.stdin.flush()
        while True:
            kind, value = pickle.load(process.stdout)
            if kind == "progress" and progress is not None:
                progress(*value)
            elif kind == "value":
                if self._stopped.is_set():
                    raise StoppedError
                return value
            elif kind == "stopped":
                raise StoppedError
            elif kind == "error":
                raise WorkFailedError(value)

    def stop(self) -> None:
        """Stop what runs: at its next step, or by ending the process."""
        if not self._one.locked() or self._done.is_set():
            return
        self._stopped.set()
        process = self._process
        if process is not None and process.stdin is not None:
            with contextlib.suppress(OSError, ValueError), self._writing:
                pickle.dump("stop", process.stdin)
                process.stdin.flush()
        if not self._done.wait(GRACE):
            self._kill()

    def close(self) -> None:
        """End the process and the work in it."""
        self._closed = True
        self._stopped.set()
        self._kill()
        with self._one:
            self._end()

    def _started(self) -> subprocess.Popen[bytes]:
        """The process, a new one where there is none that lives."""
        if self._process is None or self._process.poll() is not None:
            self._end()
            self._process = subprocess.Popen(
                [sys.executable, "-c", START, json.dumps(sys.path)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                start_new_session=True,
            )
        return self._process

    def _kill(self) -> None:
        """Kill the process and whatever it has started; who listens to it sees that it has ended."""
        process = self._process
        if process is None or process.returncode is not None:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if hasattr(os, "killpg"):
                os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()

    def _end(self) -> None:
        """End the process and close the ways to it; only where nobody listens any more."""
        self._kill()
        process, self._process = self._process, None
        if process is None:
            return
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()


def main() -> None:
    """The loop of the process: take a call, answer, until nobody is there any more."""
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints must not come between the answers
    calls: queue.Queue[Any] = queue.Queue()
    stop = threading.Event()
    threading.Thread(target=_listen, args=(sys.stdin.buffer, calls, stop), daemon=True).start()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt is for the one who started it
    while True:
        call, arguments, told = calls.get()
        stop.clear()
        answer = _answer(call, arguments, _teller(out, stop) if told else None)
        try:
            pickle.dump(answer, out, pickle.HIGHEST_PROTOCOL)
            out.flush()
        except OSError:  # nobody reads any more; the thread still holds the input, so nothing is to be tidied up
            os._exit(0)


def _listen(source: BinaryIO, calls: queue.Queue[Any], stop: threading.Event) -> None:
    """Take calls and requests to stop; end everything when the other side is gone."""
    try:
        while True:
            message = pickle.load(source)
            if message == "stop":
                stop.set()
            else:
                calls.put(message)
    except Exception:
        if hasattr(os, "killpg") and os.getpgrp() == os.getpid():
            os.killpg(os.getpgrp(), signal.SIGKILL)  # also what base runs have started
        os._exit(0)


def _teller(out: BinaryIO, stop: threading.Event) -> Progress:
    """Progress that goes to the other side, and ends the work where that is wanted."""
    last = 0.0

    def tell(done: int, total: int, step: str) -> None:
        nonlocal last
        if stop.is_set():
            raise StoppedError
        now = time.monotonic()
        if now - last >= EVERY:
            last = now
            pickle.dump(("progress", (done, total, step)), out)
            out.flush()

    return tell


def _answer(call: Callable[..., Any], arguments: tuple[Any, ...], tell: Progress | None) -> tuple[str, Any]:
    """Value of a call, or what to say instead."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return "value", call(*arguments, **({} if tell is None else {"progress": tell}))
        except StoppedError:
            return "stopped", None
        except MemoryError as error:
            return "error", str(error) or "there is not enough memory for this."
        except Exception as error:
            expected = isinstance(error, BiconsensusError | OSError | UnicodeError)
            return "error", str(error) if expected else f"{type(error).__name__}: {error}"
