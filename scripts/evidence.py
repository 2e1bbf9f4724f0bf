"""Measure everything that the pages quote: all benchmarks with a result file, and the reproduction of the paper.

``python -m scripts.evidence [--list] [--again] [--jobs N] [NAME ...]``

What the present code has measured already is left alone, so that a run that was stopped goes on; ``--again`` measures
it all the same. The code of a part is its script and the modules that it loads, so that a change measures only the
parts that it can concern. A NAME is the start of a benchmark's or experiment's name. The time that each part took when
it was last measured is told beforehand. Parts that lack data, or an optional package, are named, and the others run.
With ``--jobs`` several parts run at once, the longest first, each on one thread: threads that wait for each other on a
busy machine count as work in its processor time. Parts that measure time run alone, after the others, on all cores.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.results import PUBLISHED, ROOT, is_current, module
from experiments import reproduce
from scripts.bench import run
from scripts.run_script import WITHOUT_DATA, WITHOUT_SOME_DATA

PARTS = ROOT / "docs" / "reproduction" / "parts"
ALONE = ("beyond", "explore", "scale", "scale_networks", "solvers")
"""Parts whose figures are times: nothing else may run beside them."""
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
"""Variables that say how many threads the numerical libraries of a process start."""


@dataclass(frozen=True)
class Part:
    """One script and the file that it writes."""

    name: str
    script: Path
    file: Path

    @property
    def states(self) -> list[dict[str, object]]:
        """When and how long it was measured; nothing where it was not."""
        if not self.file.exists():
            return []
        found: list[dict[str, object]] = json.loads(self.file.read_text(encoding="utf-8")).get("measured", [])
        return found

    @property
    def done(self) -> bool:
        """Whether the present code has measured all of it."""
        last = self.states[-1] if self.states else {}
        return bool(last.get("done")) and is_current(last, self.script)

    @property
    def seconds(self) -> float | None:
        """How long it took, if that is known."""
        return sum(float(str(state["seconds"])) for state in self.states) or None

    def measure(self) -> int:
        """Run it as a process of its own; its exit code."""
        if self.script.parent.name == "benchmarks":
            return run(self.script)
        command = [sys.executable, "-m", "experiments.reproduce", "--only", self.name, "--strict"]
        return subprocess.run(command, cwd=ROOT, check=False).returncode


def main(arguments: list[str] | None = None) -> int:
    """Say what is to be done and how long it takes, and do it; the exit code is the number of parts that failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="the start of a name; everything without it")
    parser.add_argument("--list", action="store_true", help="say what there is to do, and end")
    parser.add_argument("--again", action="store_true", help="measure also what the present code has measured")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="parts that run at once")
    options = parser.parse_args(arguments)
    chosen = [part for part in parts() if not options.names or part.name.startswith(tuple(options.names))]
    if not chosen:
        parser.error(f"nothing has such a name; there are: {', '.join(part.name for part in parts())}")
    waiting = [part for part in chosen if options.again or not part.done]
    print(plan(chosen, waiting), flush=True)
    if options.list:
        return 0
    if options.again:
        os.environ.pop("BENCH", None)
        for part in waiting:
            if part.script.parent.name == "benchmarks":
                part.file.unlink(missing_ok=True)
    codes = measured(waiting, options.jobs)
    lacking = [name for name, code in codes.items() if code in (WITHOUT_DATA, WITHOUT_SOME_DATA)]
    failed = [name for name, code in codes.items() if code not in (0, WITHOUT_DATA, WITHOUT_SOME_DATA)]
    for said, names in (("without some of their data", lacking), ("failed, or without their data", failed)):
        if names:
            print(f"{said}: {', '.join(names)}", file=sys.stderr)
    return len(failed)


def measured(waiting: list[Part], jobs: int) -> dict[str, int]:
    """Measure parts, several at once except where time is measured; their exit codes by name."""
    alone = waiting if jobs == 1 else [part for part in waiting if part.name in ALONE]
    together = [part for part in waiting if part not in alone]
    together.sort(key=lambda part: -(part.seconds or float("inf")))
    with one_thread_each(), ThreadPoolExecutor(jobs) as pool:
        codes = dict(zip((part.name for part in together), pool.map(Part.measure, together), strict=True))
    return codes | {part.name: part.measure() for part in alone}


@contextmanager
def one_thread_each() -> Iterator[None]:
    """Processes that are started meanwhile calculate on one thread, unless the user has said on how many."""
    given = {name for name in THREADS if name in os.environ}
    for name in THREADS:
        os.environ.setdefault(name, "1")
    try:
        yield
    finally:
        for name in set(THREADS) - given:
            del os.environ[name]


def parts() -> list[Part]:
    """All benchmarks that keep their results, and all experiments."""
    published = {module(path.stem): path for path in PUBLISHED.glob("*.json")}
    found = [
        Part(path.stem, path, published.get(path.stem, PUBLISHED / f"{path.stem}.json"))
        for path in sorted((ROOT / "benchmarks").glob("*.py"))
        if path.stem != "results" and "Results.open(" in path.read_text(encoding="utf-8")
    ]
    experiments = ROOT / "experiments"
    return found + [Part(name, experiments / f"{name}.py", PARTS / f"{name}.json") for name in reproduce.scripts()]


def plan(chosen: list[Part], waiting: list[Part]) -> str:
    """What is to be done, and how long that took the last time."""
    lines = []
    for part in chosen:
        state = "to measure" if part in waiting else "done"
        time = "time unknown" if part.seconds is None else f"{part.seconds / 60:.1f} minutes"
        lines.append(f"  {state:<11} {part.name:<40} {time}")
    known = [part.seconds for part in waiting if part.seconds is not None]
    unknown = len(waiting) - len(known)
    total = f"{len(waiting)} of {len(chosen)} parts to measure: about {sum(known) / 60:.0f} minutes"
    return "\n".join([*lines, total + (f", and {unknown} whose time is not known yet" if unknown else "") + "."])


if __name__ == "__main__":
    sys.exit(main())
