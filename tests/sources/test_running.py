"""The runner of base results: order, failures, limits, checkpoints."""

from __future__ import annotations

import math
import os
import resource
import signal
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from biconsensus.errors import FileFormatError, InputError, PoolWarning, SourceError
from biconsensus.sources import _running, _workers
from biconsensus.sources._running import Grouping, NamedSource, TimeUp, bounded, child_seeds, run_sources
from biconsensus.sources._workers import SHARE_FROM
from tests.helpers.ready_workers import ready_workers

DATA = np.arange(20.0)


def draw(data, seed):
    return np.random.default_rng(seed).integers(3, size=len(data))


def fail(data, seed):
    raise RuntimeError("no luck")


def fail_otherwise(data, seed):
    raise ValueError("as one did")


def hang(data, seed):
    time.sleep(60)


def die(data, seed):
    os.kill(os.getpid(), signal.SIGKILL)


class DiesOnArrival:
    """A base algorithm whose process does not survive reading it."""

    def __call__(self, data, seed):
        return draw(data, seed)

    def __reduce__(self):
        return os._exit, (1,)


def named(*functions):
    return [NamedSource(f"{f.__name__}{i}", f, {"i": i}) for i, f in enumerate(functions)]


def positive(data, seed):
    return (data > 0).astype(int)


def test_results_do_not_depend_on_the_number_of_processes_and_large_data_reaches_them_unchanged():
    data = np.random.default_rng(0).normal(size=200_000)
    assert data.nbytes > SHARE_FROM  # so that it goes there as a file
    sources, seeds = named(*[draw] * 3, *[positive] * 2), child_seeds(3, 5)
    alone = run_sources(sources, data, seeds, 1)
    with ready_workers():
        both = run_sources(sources, data, seeds, 2)
    for a, b, seed, function in zip(alone, both, seeds, [draw] * 3 + [positive] * 2):
        np.testing.assert_array_equal(a.labels, function(data, seed))
        np.testing.assert_array_equal(a.labels, b.labels)
        assert (a.name, a.seed) == (b.name, b.seed)


def test_a_failed_run_is_recorded_and_skipped():
    with pytest.warns(PoolWarning, match="1 of 3 base runs skipped: fail1: RuntimeError: no luck"):
        results = run_sources(named(draw, fail, draw), DATA, [1, 2, 3])
    assert [r.ok for r in results] == [True, False, True]
    assert results[1].error == "RuntimeError: no luck"


def test_one_reason_of_many_runs_is_said_once():
    with pytest.warns(PoolWarning) as caught:
        run_sources([*named(draw), *[NamedSource("bad", fail)] * 7, NamedSource("odd", fail_otherwise)], DATA, range(9))
    assert str(caught[0].message) == (
        "8 of 9 base runs skipped: bad (7 runs): RuntimeError: no luck; odd: ValueError: as one did"
    )
    with pytest.warns(PoolWarning, match=r"skipped: fail0, fail1, fail2, \.\.\. \(4 runs\): RuntimeError: no luck"):
        run_sources(named(fail, fail, fail, fail, draw), DATA, range(5))


def test_too_few_results_is_an_error_that_lists_the_reasons():
    with pytest.raises(SourceError, match=r"1 of 2 base runs gave a result, at least 2 must\. fail1: RuntimeError"):
        run_sources(named(draw, fail), DATA, [1, 2], min_results=2)


def test_slow_and_dying_runs_are_stopped_and_the_others_kept():
    with pytest.warns(PoolWarning, match="2 of 4"):
        results = run_sources(named(draw, hang, draw, die), DATA, [1, 2, 3, 4], n_jobs=2, time_limit=2)
    assert [r.ok for r in results] == [True, False, True, False]
    assert results[1].error == "stopped after the time limit of 2 s"
    assert results[3].error == "its process died twice"
    np.testing.assert_array_equal(results[2].labels, draw(DATA, 3))


def held_signals(data, seed):
    return [int(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ()))] * len(data)


def test_workers_do_not_see_an_interrupt_and_the_caller_does():
    results = run_sources(named(held_signals, held_signals), DATA, [1, 2], n_jobs=2)
    for result in results:
        np.testing.assert_array_equal(result.labels, np.ones(len(DATA)))
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())


def test_processes_are_stopped_without_a_traceback_while_tasks_are_on_their_way(monkeypatch):
    said: list[object] = []
    monkeypatch.setattr(threading, "excepthook", lambda told: said.append(told.exc_value))
    for _ in range(3):
        pool = _workers._started_pool(1, time.sleep)
        futures = [pool.submit(time.sleep, 60) for _ in range(6)]
        _workers._stop(pool)
        assert not any(future.done() and future.exception() is None for future in futures)
    assert said == []


def test_imports_of_a_run_do_not_count_against_its_time_limit(tmp_path, monkeypatch):
    (tmp_path / "slow_to_import.py").write_text(
        "import time\ntime.sleep(1.5)\ndef ones(data, seed):\n    return [1] * len(data)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    import slow_to_import

    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]))
    ones = NamedSource("ones", slow_to_import.ones)
    results = run_sources([ones, ones], DATA, [1, 2], n_jobs=2, time_limit=1.4)
    assert [r.error for r in results] == [None, None]


def test_a_run_that_ends_its_process_on_arrival_takes_no_other_with_it():
    with pytest.warns(PoolWarning, match="1 of 2"):
        results = run_sources(
            [*named(draw), NamedSource("bad", DiesOnArrival())], DATA, [1, 2], n_jobs=1, time_limit=30
        )
    assert [r.error for r in results] == [None, "its process died twice"]


def test_warnings_of_a_run_are_kept_with_it():
    def warn(data, seed):
        import warnings

        warnings.warn("odd data", UserWarning, stacklevel=1)
        return np.zeros(len(data), int)

    assert run_sources(named(warn), DATA, [0])[0].warnings == ("odd data",)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (np.zeros(3, int), "3 labels for 20 elements"),
        (np.zeros((20, 2, 2)), "shape"),
        (np.array([None] * 20), "numbers or strings"),
    ],
)
def test_a_result_that_is_no_grouping_is_skipped(value, message):
    odd = NamedSource("odd", lambda data, seed: value)
    with pytest.warns(PoolWarning, match=message):
        results = run_sources([*named(draw), odd], DATA, [0, 1], n_elements=20)
    assert [r.ok for r in results] == [True, False]


def test_masked_labels_become_missing_and_predictors_are_kept():
    masked = np.ma.masked_array(np.zeros(20, int), np.arange(20) < 5)
    result = run_sources([NamedSource("m", lambda data, seed: Grouping(masked, "p"))], DATA, [0])[0]
    assert np.isnan(result.labels).sum() == 5
    assert result.predictor == "p"


def test_finished_results_are_resumed_and_only_the_rest_is_run(tmp_path):
    calls = []

    def counted(data, seed):
        calls.append(seed)
        return draw(data, seed)

    sources = [NamedSource("a", counted, {"k": 1}), NamedSource("b", counted, {"k": 2})]
    first = run_sources(sources, DATA, [1, 2], checkpoint=tmp_path)
    again = run_sources([*sources, NamedSource("c", counted)], DATA, [1, 2, 3], checkpoint=tmp_path)
    assert calls == [1, 2, 3]
    np.testing.assert_array_equal(first[1].labels, again[1].labels)


def test_an_interrupted_run_keeps_what_was_finished(tmp_path):
    def interrupt(data, seed):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_sources(named(draw, interrupt), DATA, [1, 2], checkpoint=tmp_path)
    resumed = run_sources([NamedSource("draw0", fail, {"i": 0})], DATA, [1], checkpoint=tmp_path)
    np.testing.assert_array_equal(resumed[0].labels, draw(DATA, 1))


def test_a_truncated_checkpoint_is_refused(tmp_path):
    run_sources(named(draw), DATA, [1], checkpoint=tmp_path)
    (path,) = tmp_path.glob("*.npy")
    path.write_bytes(path.read_bytes()[:-4])
    with pytest.raises(FileFormatError, match="truncated or was changed"):
        run_sources(named(draw), DATA, [1], checkpoint=tmp_path)


def test_a_checkpoint_of_other_data_is_refused(tmp_path):
    run_sources(named(draw), DATA, [1], checkpoint=tmp_path)
    with pytest.raises(FileFormatError, match="made from other data"):
        run_sources(named(draw), DATA + 1, [1], checkpoint=tmp_path)


def test_bad_arguments_are_named():
    with pytest.raises(InputError, match="seeds: got 1 for 2 sources"):
        run_sources(named(draw, draw), DATA, [1])
    with pytest.raises(InputError, match="time_limit: got 0"):
        run_sources(named(draw), DATA, [1], time_limit=0)


def test_the_bar_goes_to_stderr_when_asked_for(capsys):
    run_sources(named(draw, draw), DATA, [1, 2], progress=True)
    captured = capsys.readouterr()
    assert "base results" in captured.err
    assert captured.out == ""


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
    monkeypatch.setattr(_running, "available_memory", lambda: 1 << 28)


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
    assert signal.getsignal(signal.SIGALRM) is not _running._time_up


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
        used = _running._private_memory()
        assert used is not None
        assert abs(first - used - (1 << 26)) < 1 << 25
    assert resource.getrlimit(resource.RLIMIT_DATA) == before


@linux
@pytest.mark.usefixtures("little_memory")
def test_a_lower_limit_of_the_user_stays() -> None:
    before = resource.getrlimit(resource.RLIMIT_DATA)
    used = _running._private_memory()
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
            patch.setattr(_running, name, lambda: None)
            with bounded(math.inf):
                assert resource.getrlimit(resource.RLIMIT_DATA) == before


def test_the_end_of_the_time_is_no_ordinary_exception() -> None:
    assert not issubclass(TimeUp, Exception)
