"""Run many base algorithms on the same data: in parallel, with a time limit, and without losing what is finished."""

from __future__ import annotations

import logging
import math
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

from biconsensus._checks import available_memory, check_count, check_jobs, check_seed, warn_user
from biconsensus._names import parameters
from biconsensus._words import MOST_NAMES, counted
from biconsensus._work import on_one_thread, shown
from biconsensus.errors import InputError, InputTypeError, PoolWarning, SourceError
from biconsensus.protocols import Progress
from biconsensus.sources._checkpoint import Checkpoint
from biconsensus.sources._workers import LostRun, run_in_processes

MOST_REASONS = 5
"""Different errors of base runs that a message says."""
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


logger = logging.getLogger("biconsensus")


@dataclass(frozen=True)
class NamedSource:
    """A base algorithm with the name and the parameters that the pool will remember."""

    name: str
    run: Callable[[Any, int], Any]
    """Takes the data and a seed; returns (m,) labels, (m, g) memberships, or a `Grouping`."""
    params: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Grouping:
    """Labels together with a fitted object that can predict the labels of new elements."""

    labels: NDArray[Any]
    predictor: Any = None


@dataclass(frozen=True)
class SourceResult:
    """What became of one base run."""

    name: str
    params: Mapping[str, Any]
    seed: int
    labels: NDArray[Any] | None = None
    """(m,) labels (-1: in no group, NaN: not seen) or (m, g) memberships; None where the run failed."""
    seconds: float = 0.0
    error: str | None = None
    warnings: tuple[str, ...] = ()
    predictor: Any = None

    @property
    def ok(self) -> bool:
        """Whether the run gave labels."""
        return self.labels is not None


def child_seeds(random_state: Any, n: int) -> list[int]:
    """Draw one seed for each of n sources, so that answers do not depend on who runs first.

    Parameters
    ----------
    random_state : int, numpy.random.RandomState, numpy.random.Generator or None
        Where the seeds come from.
    n : int
        How many to draw.

    Returns
    -------
    list of int
        Seeds below 2^31 - 1.

    Examples
    --------
    >>> child_seeds(0, 3) == child_seeds(0, 5)[:3]
    True
    """
    random_state = check_seed(random_state)
    if isinstance(random_state, np.random.Generator):
        return [int(s) for s in random_state.integers(2**31 - 1, size=n)]
    # here, because every process of base runs imports this file, and few of them need scikit-learn
    from sklearn.utils import check_random_state

    return [int(s) for s in check_random_state(random_state).randint(2**31 - 1, size=n)]


@parameters(
    "Runs(time_limit=60)",
    random_state="it is a parameter of the estimators",
    n_runs="it is a parameter of the estimators",
)
@dataclass(frozen=True)
class Runs:
    """How base runs are carried out: time limit, checkpoint, progress. The answer does not depend on it.

    Parameters
    ----------
    time_limit : float, optional
        Seconds that one base run may take; one that takes longer is stopped, recorded and skipped. A limit that is
        given puts the runs into processes of their own, which can be stopped whatever they do. The default is an hour,
        which interrupts a run in this process between two steps of Python; inf is no limit.
    checkpoint : path, optional
        Folder where finished base runs are kept, and taken from.
    progress : bool or callable, optional
        Whether to show a progress bar; by default it is shown on a terminal. Or a function that is called with how much
        is done, how much there is, and the name of the step.

    Examples
    --------
    >>> import biconsensus as bc
    >>> bc.ConsensusClustering(runs=bc.Runs(time_limit=60)).runs.time_limit
    60
    """

    time_limit: float | None = None
    checkpoint: str | Path | None = None
    progress: bool | Progress | None = None


def run_sources(
    sources: Sequence[NamedSource],
    data: Any,
    seeds: Sequence[int],
    n_jobs: int | None = None,
    time_limit: float | None = None,
    checkpoint: str | Path | None = None,
    progress: bool | Progress | None = None,
    *,
    n_elements: int | None = None,
    min_results: int = 1,
) -> list[SourceResult]:
    """Run every source once and return their results in the given order.

    A run that raises, dies, takes too long, asks for more memory than is free or returns something that is no grouping
    is recorded with its error and skipped; one warning names all of these.

    Parameters
    ----------
    sources : sequence of NamedSource
        What to run.
    data : object
        Handed to each source unchanged; large arrays reach other processes as a shared, read-only memory map.
    seeds : sequence of int
        One for each source, drawn beforehand (`child_seeds`).
    n_jobs : int or None, default=None
        Processes, in the sense of joblib. The results are the same for any number.
    time_limit : float or None, default=None
        Seconds that one run may take; runs are then in processes of their own, which can be stopped. None is an hour
        (`LONGEST_RUN`), in this process where one is enough; inf is no limit.
    checkpoint : path or None, default=None
        Folder for finished results; a later call on the same data takes them from there.
    progress : bool, callable or None, default=None
        Show a progress bar; None shows it only on a terminal; a function is told what is done and how much there is.
    n_elements : int or None, default=None
        How many labels a result must have; None takes any.
    min_results : int, default=1
        Fewest runs that must succeed.

    Returns
    -------
    list of SourceResult
        One for each source, failed ones included.

    Raises
    ------
    SourceError
        Where fewer than `min_results` runs succeeded.

    Examples
    --------
    >>> import numpy as np
    >>> halves = NamedSource("halves", lambda x, seed: (x > np.median(x)).astype(int))
    >>> [r.labels.tolist() for r in run_sources([halves], np.array([1.0, 2.0, 8.0, 9.0]), seeds=[0])]
    [[0, 0, 1, 1]]
    """
    if len(sources) != len(seeds):
        raise InputError(f"seeds: got {len(seeds)} for {counted(len(sources), 'source')}; give one for each.")
    check_jobs(n_jobs)
    if time_limit is not None and not time_limit > 0:
        raise InputError(f"time_limit: got {time_limit!r}; give seconds above 0, or inf for no limit.")
    store = None if checkpoint is None else Checkpoint(Path(checkpoint), data)
    keys = [(s.name, s.params, seed) for s, seed in zip(sources, seeds)]
    results: dict[int, SourceResult] = {}
    for i, key in enumerate(keys):
        found = None if store is None else store.read(*key)
        if found is not None:
            results[i] = SourceResult(*key, labels=found)
    todo = [i for i in range(len(sources)) if i not in results]
    with shown(progress) as tell:
        tell(len(results), len(sources), "base results")
        for i, outcome in _run_all([(i, sources[i].run, seeds[i]) for i in todo], data, n_jobs, time_limit):
            results[i] = _as_result(keys[i], outcome, n_elements)
            logger.info("base result %s: %.2f s%s", keys[i][0], outcome[1], "" if results[i].ok else ", failed")
            labels = results[i].labels
            if store is not None and labels is not None:
                store.write(*keys[i], labels)
            tell(len(results), len(sources), "base results")
    ordered = [results[i] for i in range(len(sources))]
    _report_failures(ordered, min_results)
    return ordered


Task = tuple[int, Callable[[Any, int], Any], int]
Outcome = tuple[Any, float, str | None, tuple[str, ...]]


def _run_all(
    tasks: list[Task], data: Any, n_jobs: int | None, time_limit: float | None
) -> Iterator[tuple[int, Outcome]]:
    """Yield each outcome as it is finished."""
    n_workers = min(effective_n_jobs(n_jobs), max(1, len(tasks)))
    longest = LONGEST_RUN if time_limit is None else time_limit
    if time_limit in (None, math.inf) and n_workers == 1:
        for i, run, seed in tasks:
            yield i, _attempt(run, data, seed, longest)
        return
    call = partial(_attempt, share=n_workers)
    for i, outcome in run_in_processes(call, tasks, data, n_workers, longest if math.isfinite(longest) else None):
        yield i, (None, outcome.seconds, outcome.reason, ()) if isinstance(outcome, LostRun) else outcome


def _attempt(
    run: Callable[[Any, int], Any], data: Any, seed: int, seconds: float = math.inf, share: int = 1
) -> Outcome:
    """Run one source within its bounds; an exception becomes its message."""
    start = time.perf_counter()
    # One thread: sums in another order could move a point that lies on a border.
    with warnings.catch_warnings(record=True) as caught, on_one_thread():
        warnings.simplefilter("always")
        value, error = None, None
        try:
            with bounded(seconds, share):
                value = run(data, seed)
        except TimeUp:
            error = f"stopped after the time limit of {seconds:g} s; Runs(time_limit=...) sets another"
        except MemoryError as exception:
            error = f"MemoryError: {exception or 'it asked for more than is free'}"
        except Exception as exception:
            error = f"{type(exception).__name__}: {exception}"
    said = tuple(dict.fromkeys(str(w.message) for w in caught))
    return value, time.perf_counter() - start, error, said


def _as_result(key: tuple[str, Mapping[str, Any], int], outcome: Outcome, n_elements: int | None) -> SourceResult:
    """Turn an outcome into a result, after a look at the labels."""
    value, seconds, error, said = outcome
    labels, predictor = (value.labels, value.predictor) if isinstance(value, Grouping) else (value, None)
    if error is None:
        try:
            labels = _checked_labels(labels, n_elements)
        except (InputError, InputTypeError) as exception:
            labels, error = None, str(exception)
    return SourceResult(*key, labels, seconds, error, said, predictor if error is None else None)


def _checked_labels(value: Any, n_elements: int | None) -> NDArray[Any]:
    """Labels or memberships as a plain array: masked becomes NaN."""
    if isinstance(value, np.ma.MaskedArray):
        value = np.ma.filled(value.astype(float), np.nan)
    labels: NDArray[Any] = np.asarray(value.toarray() if hasattr(value, "toarray") else value)
    if labels.dtype.kind not in "biufU":
        raise InputTypeError(f"result: dtype {labels.dtype}; a source must return numbers or strings.")
    if labels.ndim not in (1, 2):
        raise InputError(f"result: shape {labels.shape}; a source must return (m,) labels or (m, g) memberships.")
    if n_elements is not None and labels.shape[0] != n_elements:
        raise InputError(f"result: {counted(labels.shape[0], 'label')} for {counted(n_elements, 'element')}.")
    return labels


def _report_failures(results: Sequence[SourceResult], min_results: int) -> None:
    """Warn of skipped runs, or raise if too few are left."""
    failed = [r for r in results if not r.ok]
    names_of: dict[str | None, list[str]] = {}
    for result in failed:
        names_of.setdefault(result.error, []).append(result.name)
    said = [f"{_and_how_many(names)}: {error}" for error, names in names_of.items()]
    listed = "; ".join(said[:MOST_REASONS]) + ("; ..." if len(said) > MOST_REASONS else "")
    left = len(results) - len(failed)
    if left < min_results:
        raise SourceError(f"{left} of {len(results)} base runs gave a result, at least {min_results} must. {listed}")
    if failed:
        warn_user(f"{len(failed)} of {len(results)} base runs skipped: {listed}", PoolWarning)


def _and_how_many(names: list[str]) -> str:
    """The names of failed runs, each once, and how many runs there are where it is not one for each name."""
    different = list(dict.fromkeys(names))
    said = ", ".join(different[:MOST_NAMES]) + (", ..." if len(different) > MOST_NAMES else "")
    return said if len(names) == len(different) <= MOST_NAMES else f"{said} ({counted(len(names), 'run')})"


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
