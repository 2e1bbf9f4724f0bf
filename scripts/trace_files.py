"""How many files of the package one small task runs through, beside the goal: ``python -m scripts.trace_files``.

A file counts where one of its functions runs while the task does; what runs while a module is imported does not count.
``--files`` lists them.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

import biconsensus as bc

PACKAGE = Path(bc.__file__).resolve().parent


@dataclass(frozen=True)
class Task:
    """One way through the package, and the number of files that it should not exceed."""

    name: str
    goal: int
    prepare: Callable[[], Callable[[], Any]]


def label_table() -> Any:
    """Sixty elements in three groups, five groupings that are each wrong on a few."""
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], 20)
    wrong = rng.random((60, 5)) < 0.08
    return np.where(wrong, rng.integers(0, 3, (60, 5)), truth[:, None])


def network() -> Any:
    """Two cliques of eight that share one edge."""
    parts = (range(8), range(8, 16))
    return [(a, b) for part in parts for a in part for b in part if a < b] + [(0, 8)]


def points() -> Any:
    """Two lines that cross, and noise."""
    rng = np.random.default_rng(1)
    t = rng.random(40)
    lines = np.column_stack([t, np.where(np.arange(40) % 2, t, 1 - t)]) + rng.normal(0, 0.003, (40, 2))
    return np.vstack([lines, rng.random((20, 2))])


def _at_half() -> Callable[[], Any]:
    table = label_table()
    return lambda: bc.find_consensus(table, quorum=0.5)


def _auto() -> Callable[[], Any]:
    table = label_table()
    return lambda: bc.find_consensus(table, quorum="auto")


def _report() -> Callable[[], Any]:
    found = bc.find_consensus(label_table())
    path = Path(tempfile.mkdtemp()) / "page.html"
    return lambda: found.write_report(path)


def _communities() -> Callable[[], Any]:
    edges = network()
    return lambda: bc.ConsensusCommunities(random_state=0).fit(edges)


def _fitting() -> Callable[[], Any]:
    data = points()
    return lambda: bc.MultiModelFitter("line", 0.02, random_state=0).fit(data)


TASKS = [
    Task("find_consensus, quorum 1/2", 20, _at_half),
    Task('find_consensus, quorum "auto"', 26, _auto),
    Task("write_report", 24, _report),
    Task("ConsensusCommunities.fit", 30, _communities),
    Task("MultiModelFitter.fit", 24, _fitting),
]


HANDING_ON = ("_names.py",)
"""Files that only pass calls on: a reader who wants to understand a task does not need them."""


def files_of(task: Task) -> list[str]:
    """Files of the package in which a function runs during a task, relative to the package."""
    run = task.prepare()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run()  # imports happen here
        seen: set[str] = set()

        def note(frame: FrameType, event: str, _: Any) -> None:
            if event == "call" and frame.f_code.co_name != "<module>":
                seen.add(frame.f_code.co_filename)

        before = sys.getprofile()
        threading.setprofile(note)
        sys.setprofile(note)
        try:
            run()
        finally:
            sys.setprofile(before)
            threading.setprofile(None)
    inside = (Path(name) for name in seen if name.startswith(str(PACKAGE)) and Path(name).name not in HANDING_ON)
    return sorted(str(path.relative_to(PACKAGE)) for path in inside)


def main(arguments: list[str] | None = None) -> int:
    """Print the table; the exit code is the number of goals that are missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", action="store_true", help="list the files too")
    options = parser.parse_args(arguments)
    print(f"{'one small input':32} {'files':>6} {'goal':>6}")
    missed = 0
    for task in TASKS:
        files = files_of(task)
        missed += len(files) > task.goal
        print(f"{task.name:32} {len(files):6} {task.goal:6}{'' if len(files) <= task.goal else '  above'}")
        if options.files:
            print("".join(f"    {file}\n" for file in files), end="")
    return missed


if __name__ == "__main__":
    sys.exit(main())
