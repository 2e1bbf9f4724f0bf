"""Run every property test of the core with 10,000 examples each, those named in the list of guarantees first.

``python -m tests.fuzz.properties [words] [--examples N] [--jobs N]``. Each property runs in a process of its own and
says how many examples passed; words choose the properties whose names hold one of them.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
FILES = [
    "tests/pool",
    "tests/matrix",
    "tests/result",
    "tests/whole/test_properties.py",
    "tests/test_find.py",
    "tests/methods",
    "tests/solvers",
    "tests/engines/test_local.py",
    "tests/engines/test_rows.py",
    "tests/cli/test_properties.py",
]
FIRST = [
    "test_permutations",  # order of elements and sources
    "test_repeating",  # duplication
    "test_a_pool_split",  # splitting and joining
    "test_sum_of_pools",
    "test_parts_of_a_pool",
    "test_scaling",  # weights
    "test_the_gain_never_falls",  # monotone objective
    "test_the_objective_falls",
    "alike_on_binary",  # vote, quantile, exact
    "test_admm",
    "test_one_machine_and_dask",
    "test_save_and_load",
    "test_every_line",  # command line
]


def all_properties() -> list[str]:
    """Every property test, those of FIRST in front."""
    command = [sys.executable, "-m", "pytest", "-q", "--collect-only", "-m", "hypothesis", *FILES]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    found = [line for line in said.splitlines() if "::" in line]
    rank = {name: next((k for k, part in enumerate(FIRST) if part in name), len(FIRST)) for name in found}
    return sorted(found, key=lambda name: rank[name])


def run(name: str, examples: int) -> tuple[bool, str]:
    """Whether a property held, and a line that says so."""
    environment = {**os.environ, "BICONSENSUS_PROFILE": "fuzz", "BICONSENSUS_EXAMPLES": str(examples)}
    options = ["-q", "--timeout=0", "-p", "no:cacheprovider", "--hypothesis-show-statistics"]
    begin = time.perf_counter()
    command = [sys.executable, "-m", "pytest", *options, name]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    passed = sum(int(number) for number in re.findall(r"(\d+) passing", done.stdout))
    line = f"{name}: {passed} examples, {'no fault' if done.returncode == 0 else 'FAILED'}"
    tail = "" if done.returncode == 0 else "\n" + done.stdout[-4000:]
    return done.returncode == 0, f"{line} ({time.perf_counter() - begin:.0f} s){tail}"


def main() -> int:
    """Number of properties that failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("words", nargs="*", default=[""])
    parser.add_argument("--examples", type=int, default=10_000)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    chosen = [name for name in all_properties() if any(word in name for word in options.words)]
    failed = 0
    with ThreadPoolExecutor(options.jobs) as pool:
        for held, line in pool.map(lambda name: run(name, options.examples), chosen):
            failed += not held
            print(line, flush=True)
    print(f"{len(chosen)} properties, {failed} failed")
    return failed


if __name__ == "__main__":
    sys.exit(main())
