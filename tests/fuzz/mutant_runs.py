"""Run mutants: the tests that reach a changed line, quickest first, each mutant in a forked process.

All tests are collected once. A mutant inside a function is put into the running module as the new code of that
function, so that a fork and the tests themselves are all it costs; one of a module or class body is loaded in a process
that has not imported the package yet, and the tests are collected again there.
"""

from __future__ import annotations

import ast
import contextlib
import gc
import json
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.fuzz.mutant_code import Loader, put_in
from tests.fuzz.mutations import PACKAGE, ROOT, Mutant

OPTIONS = ["-q", "--no-header", "--assert=plain", "-o", "addopts=", "-p", "no:cacheprovider", "--timeout=0"]
SLOW = 3.0
"""Tests that take longer (seconds of CPU) are run only for lines that no quicker test reaches."""
LEAST_SECONDS, TIMES = 5, 1
"""A mutant may take so many seconds of CPU, and so many times what its tests take while their lines are watched."""
WALL_SECONDS = 900
"""A mutant that waits for something that never comes is stopped then."""


@dataclass
class Baseline:
    """What the tests do without a mutant."""

    seconds: dict[str, float] = field(default_factory=dict)
    """CPU time of every test that passed."""
    failed: list[str] = field(default_factory=list)
    reached: dict[str, dict[int, list[str]]] = field(default_factory=dict)
    """Module, line, tests that ran it."""

    @classmethod
    def read(cls, path: Path) -> Baseline:
        """What was measured in another process."""
        found = cls(**json.loads(path.read_text()))
        found.reached = {
            module: {int(line): tests for line, tests in lines.items()} for module, lines in found.reached.items()
        }
        return found

    def tests(self, mutant: Mutant, inside: bool) -> list[str]:
        """Tests to run, quickest first: those that reach the statement, or the module where it is not in a function."""
        lines = self.reached.get(mutant.module, {})
        first, last = mutant.lines
        wanted = {test for line, tests in lines.items() if not inside or first <= line <= last for test in tests}
        found = sorted((test for test in wanted if test in self.seconds), key=lambda test: (self.seconds[test], test))
        return [test for test in found if self.seconds[test] <= SLOW] or found

    def limit(self, tests: list[str]) -> int:
        """Seconds of CPU that a mutant may take."""
        return LEAST_SECONDS + int(TIMES * sum(self.seconds[test] for test in tests))


def in_a_fork(task: Callable[[], int], folder: Path, cpu_seconds: int = 0) -> int:
    """Process id of a silent child that runs the task and exits with its result."""
    process = os.fork()
    if process:
        return process
    code = 1
    try:
        os.environ["PYTEST_DEBUG_TEMPROOT"] = tempfile.mkdtemp(dir=folder)
        with open(os.devnull, "w") as nowhere:
            os.dup2(nowhere.fileno(), 1)
            os.dup2(nowhere.fileno(), 2)
        if cpu_seconds:
            resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds))
            resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
            signal.alarm(WALL_SECONDS)
        code = task()
    finally:
        os._exit(code)


class Runner:
    """A plugin of pytest that takes the place of its loop over the tests: baseline first, then mutants."""

    def __init__(
        self,
        chosen: list[tuple[Mutant, ast.Module]],
        jobs: int,
        done: Callable[[Mutant, int], None],
        baseline: Path,
    ) -> None:
        self.chosen, self.jobs, self.done, self.path = chosen, jobs, done, baseline
        self.modules = list(dict.fromkeys(mutant.module for mutant, _ in chosen))
        self.baseline = Baseline()
        self._failed = self._passed = False

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note the outcome of a test."""
        self._failed |= report.failed
        self._passed |= report.passed and report.when == "call"

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Baseline and mutants."""
        if session.testsfailed:
            raise session.Interrupted(f"{session.testsfailed} errors during collection")
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            os.waitpid(in_a_fork(lambda: self._measure(session.items), folder), 0)
            self.baseline = Baseline.read(self.path)
            items = {item.nodeid: item for item in session.items}
            gc.collect()
            gc.freeze()  # what the children share with this process is not copied by their collections
            tasks = ((mutant, *self._task(mutant, tree, items)) for mutant, tree in self.chosen)
            in_parallel(tasks, folder, self.jobs, self._note)
        return True

    def _note(self, mutant: Mutant, status: int) -> None:
        """Pass an outcome on, unless the mutant could not be put in."""
        if status != 2 << 8:
            self.done(mutant, status)

    def _measure(self, items: list[pytest.Item]) -> int:
        """Time of every test, and the lines that it reaches."""
        import coverage

        files = [str(PACKAGE / module) for module in self.modules]
        watch = coverage.Coverage(data_file=None, config_file=False, include=files)
        baseline = Baseline()
        watch.start()
        for item, following in zip(items, [*items[1:], None]):
            watch.switch_context(item.nodeid)
            begin = time.process_time()
            self._failed = self._passed = False
            item.ihook.pytest_runtest_protocol(item=item, nextitem=following)
            if self._passed and not self._failed:
                baseline.seconds[item.nodeid] = time.process_time() - begin
            elif self._failed:
                baseline.failed.append(item.nodeid)
        watch.stop()
        for module, path in zip(self.modules, files):
            lines = watch.get_data().contexts_by_lineno(path)
            baseline.reached[module] = {line: [test for test in tests if test] for line, tests in lines.items()}
        self.path.write_text(json.dumps(vars(baseline)))
        return 0

    def _task(self, mutant: Mutant, tree: ast.Module, items: dict[str, pytest.Item]) -> tuple[Callable[[], int], int]:
        """What a child does: 0 where the mutant survives, 1 where it is killed, 2 where it cannot be put in."""
        tests = self.baseline.tests(mutant, inside=True)

        def run() -> int:
            if not put_in(mutant, tree):
                return 2
            chosen = [items[test] for test in tests]
            for item, following in zip(chosen, [*chosen[1:], None]):
                item.ihook.pytest_runtest_protocol(item=item, nextitem=following)
                if self._failed:
                    return 1
            return 0

        return run, self.baseline.limit(tests)


def collect_and_run(runner: Runner, arguments: list[str]) -> int:
    """Exit code of pytest with the runner in place of its loop."""
    return int(pytest.main([*OPTIONS, *arguments], plugins=[runner]))


def in_parallel(
    tasks: Iterable[tuple[Mutant, Callable[[], int], int]],
    folder: Path,
    jobs: int,
    note: Callable[[Mutant, int], None],
) -> None:
    """Fork a child for each task, so many at a time, and note how each ended."""
    running: dict[int, tuple[Mutant, Path]] = {}

    def one_less() -> None:
        process, status = os.waitpid(-1, 0)
        mutant, own = running.pop(process)
        shutil.rmtree(own, ignore_errors=True)
        note(mutant, status)

    for k, (mutant, task, limit) in enumerate(tasks):
        while len(running) >= jobs:
            one_less()
        own = folder / f"mutant-{k}"
        own.mkdir()
        running[in_a_fork(task, own, limit)] = (mutant, own)
    while running:
        one_less()


def run_loaded(mutant: Mutant, tree: ast.Module, tests: list[str]) -> int:
    """0 where the tests pass with the mutant in place of its module; for a process without the package."""
    sys.meta_path.insert(0, Loader(mutant.module, tree))
    with contextlib.chdir(ROOT):
        return int(pytest.main([*OPTIONS, "-x", *tests]))
