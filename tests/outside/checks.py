"""What the checks from outside share: the command line as a process, and who checks which row."""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import biconsensus as bc

PROGRAM = [sys.executable, "-m", "biconsensus"]
TRUTH = np.repeat([0, 1, 2], 20)
RANDOM = np.random.default_rng(1)
TABLE = np.where(RANDOM.random((60, 5)) < 0.1, RANDOM.integers(3, size=(60, 5)), TRUTH[:, None])
CHECKS: dict[int, list[Callable[[], bool]]] = {}


def row(number: int) -> Callable[[Callable[[], bool]], Callable[[], bool]]:
    """Register the check of a row."""

    def register(check: Callable[[], bool]) -> Callable[[], bool]:
        CHECKS.setdefault(number, []).append(check)
        return check

    return register


def cli(*words: Any, stdin: bytes = b"", shell: str = "") -> subprocess.CompletedProcess[bytes]:
    """Run a command in the current folder."""
    command = [*PROGRAM, *map(str, words)]
    line: Any = f"{' '.join(command)} {shell}" if shell else command
    return subprocess.run(line, input=stdin, capture_output=True, shell=bool(shell), timeout=300, check=False)


def answer(*words: Any, **options: Any) -> dict[str, Any]:
    """The summary that a command prints."""
    found: dict[str, Any] = json.loads(cli(*words, "--json", **options).stdout)
    return found


def refused(call: Callable[[], Any], *words: str) -> bool:
    """Whether a call ends in an error of the library that holds these words."""
    try:
        call()
    except bc.errors.BiconsensusError as error:
        return all(word in str(error) for word in words)
    return False


def names(labels: Any) -> list[str]:
    """Labels that became candidates."""
    return [name.partition(": ")[2] for name in bc.Pool.from_labels(labels).names]


def written(head: str, table: Any = TABLE, first: Any = None) -> None:
    """Write t.csv."""
    rows = [",".join(map(str, line)) for line in np.asarray(table).tolist()]
    rows = rows if first is None else [f"{name},{line}" for name, line in zip(first, rows)]
    Path("t.csv").write_text("\n".join([*([head] if head else []), *rows]) + "\n", encoding="utf-8")


def warned(call: Callable[[], Any], *words: str) -> Any:
    """What a call gives, None unless one of its warnings holds these words."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = call()
    return found if any(all(word in str(one.message) for word in words) for one in caught) else None


def same(one: Any, other: Any) -> bool:
    """Whether two labelings are the same up to the numbers of the groups."""
    return bool(bc.metrics.ari(np.asarray(one), np.asarray(other)) == 1.0)


def requirements_are_met() -> bool:
    """Whether every package that is declared, extras included, is here in a version that is allowed."""
    from importlib.metadata import requires, version

    from packaging.requirements import Requirement

    extras = ("", "all", "graph-fast")
    asked = [Requirement(line) for line in requires("biconsensus") or []]
    needed = [one for one in asked if one.marker is None or any(one.marker.evaluate({"extra": e}) for e in extras)]
    return all(one.specifier.contains(version(one.name), prereleases=True) for one in needed)
