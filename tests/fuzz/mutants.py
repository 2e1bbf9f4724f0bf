"""Mutation testing of the core: change one operator or constant at a time, and see whether a test notices.

``python -m tests.fuzz.mutants [modules] [--sample N] [--jobs N] [--out FILE] [--unexplained]``. Every mutant runs the
tests that reach its line, quickest first and with few random examples (the profile "mutate"), until one fails: see
mutant_runs.py. A mutant is killed by a test that fails, or by running for much longer than the tests do. Survivors are
printed with their place; those in equivalents.py cannot be told apart from the original by any result, for the reason
given there.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import json
import os
import random
import sys
import tempfile
from dataclasses import asdict
from functools import partial
from pathlib import Path

from tests.fuzz import mutant_runs
from tests.fuzz.equivalents import EQUIVALENT
from tests.fuzz.mutations import ROOT, Mutant, mutants

MODULES = [
    "core/compress.py",
    "core/combine.py",
    "core/encode.py",
    "core/build.py",
    "core/pool.py",
    "core/preference.py",
    "core/consensus.py",
    "core/shares.py",
    "core/notebook.py",
    "core/predict.py",
    "core/diagnostics.py",
    "core/storage.py",
    "acontrario.py",
    "biclustering.py",
    "search.py",
    "solvers/ballot.py",
    "solvers/dense_votes.py",
    "solvers/sparse_votes.py",
    "solvers/sets.py",
    "solvers/fixed_point.py",
    "solvers/descent.py",
    "solvers/vote.py",
]
TESTS = [
    "tests/core",
    "tests/solvers/test_ballot.py",
    "tests/solvers/test_vote.py",
    "tests/solvers/test_votes_edges.py",
    "tests/solvers/test_vote_starts.py",
    "tests/solvers/test_solver_contract.py",
    "tests/solvers/test_solver_edges.py",
    "tests/test_acontrario.py",
    "tests/test_acontrario_edges.py",
    "tests/test_biclustering.py",
    "tests/test_find.py",
    "tests/test_faults.py",
    "tests/test_limits.py",
    "tests/test_limits_edges.py",
    "tests/test_search_edges.py",
    "tests/test_quorum.py",
    "tests/test_golden.py",
    "tests/test_security.py",
]
SKIP = "not (processes or killed or interrupt or hangs or hard or worker or image or socket or network)"
"""Tests that start processes: what they do there, no mutant reaches."""

Pair = tuple[Mutant, ast.Module]


def preload() -> None:
    """Load what all mutants need, but nothing of the package."""
    for name in ("hypothesis.extra.numpy", "joblib", "networkx", "scipy.linalg", "scipy.stats", "sklearn.cluster"):
        importlib.import_module(name)


def run_inside(chosen: list[Pair], tests: list[str], jobs: int, out: Path, baseline: Path) -> int:
    """Run the mutants that are inside functions, in a process that may import the package."""
    process = os.fork()
    if process:
        return os.waitpid(process, 0)[1]
    code = 1
    try:
        runner = mutant_runs.Runner(chosen, jobs, partial(note, out), baseline)
        code = int(mutant_runs.collect_and_run(runner, [*tests, "-k", SKIP]))
    finally:
        os._exit(code)


def run_outside(chosen: list[Pair], jobs: int, out: Path, baseline: mutant_runs.Baseline) -> None:
    """Run the mutants of module and class bodies, each in a process that imports the package anew."""
    with tempfile.TemporaryDirectory() as name:
        tasks = []
        for mutant, tree in chosen:
            tests = baseline.tests(mutant, inside=False)
            task = partial(mutant_runs.run_loaded, mutant, tree, tests)
            tasks.append((mutant, task, 30 + baseline.limit(tests)))
        mutant_runs.in_parallel(tasks, Path(name), jobs, partial(note, out))


def note(out: Path, mutant: Mutant, status: int) -> None:
    """One line for each mutant, written as it ends, with the status of its process."""
    row = {**asdict(mutant), "name": mutant.name, "survived": status == 0, "status": status}
    with out.open("a") as stream:
        stream.write(json.dumps(row) + "\n")


def outcomes(out: Path) -> dict[str, bool]:
    """Whether each mutant of a file survived, by name."""
    rows = [json.loads(line) for line in out.read_text().splitlines()] if out.exists() else []
    return {row["name"]: row["survived"] for row in rows}


def report(results: list[tuple[Mutant, bool]]) -> int:
    """Print the score of each module and the survivors; the number of unexplained survivors."""
    for module in dict.fromkeys(mutant.module for mutant, _ in results):
        print(f"{module}: {score([pair for pair in results if pair[0].module == module])}")
    unexplained = [mutant for mutant, survived in results if survived and mutant.name not in EQUIVALENT]
    for mutant in unexplained:
        print(f"  survived at line {mutant.lines[0]}: {mutant.name}")
    for mutant, survived in results:
        if not survived and mutant.name in EQUIVALENT:
            print(f"  killed, though listed as equivalent: {mutant.name}")
    print(f"all: {score(results)}")
    return len(unexplained)


def score(results: list[tuple[Mutant, bool]]) -> str:
    """Share of the mutants that were killed, of all and of those that are not equivalent."""
    killed, total = sum(not survived for _, survived in results), len(results)
    equal = sum(survived and mutant.name in EQUIVALENT for mutant, survived in results)
    others = killed / max(total - equal, 1)
    return f"{killed} of {total} killed ({killed / max(total, 1):.1%}); {equal} equivalent; {others:.1%} of the others"


def main() -> int:
    """Mutate the modules that were asked for; exits 1 where a mutant survives without an explanation."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("modules", nargs="*", default=MODULES)
    parser.add_argument("--sample", type=int, help="so many mutants, drawn with a fixed seed")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=Path, help="one line of JSON for each mutant; those in it are not run again")
    parser.add_argument("--tests", nargs="+", default=TESTS, help="other tests than those of the core")
    parser.add_argument("--again", type=Path, help="only the survivors of an earlier file")
    parser.add_argument("--unexplained", action="store_true", help="not those that are explained in equivalents.py")
    parser.add_argument("--list", action="store_true", help="name the mutants, run nothing")
    options = parser.parse_args()
    os.chdir(ROOT)
    os.environ["BICONSENSUS_PROFILE"] = "mutate"
    chosen = [pair for module in options.modules for pair in mutants(module)]
    for name in EQUIVALENT.keys() - {mutant.name for mutant, _ in chosen}:
        if name.split()[0] in options.modules:
            print(f"explained, but there is no such mutant any more: {name}")
    if options.again:
        earlier = outcomes(options.again)
        chosen = [pair for pair in chosen if earlier.get(pair[0].name)]
    if options.unexplained:
        chosen = [pair for pair in chosen if pair[0].name not in EQUIVALENT]
    random.Random(0).shuffle(chosen)  # what is done when time runs out is a fair sample
    chosen = chosen[: options.sample]
    if options.list:
        for mutant, _ in chosen:
            print(f"line {mutant.lines[0]}: {mutant.name}")
        print(len(chosen))
        return 0
    with tempfile.TemporaryDirectory() as name:
        out = options.out or Path(name) / "outcomes.jsonl"
        return run(chosen, options.tests, options.jobs, out, Path(name) / "baseline.json")


def run(chosen: list[Pair], tests: list[str], jobs: int, out: Path, baseline: Path) -> int:
    """Run all, inside and outside of functions, and report; exit code."""
    preload()
    left = [pair for pair in chosen if pair[0].name not in outcomes(out)]
    if left:
        run_inside(left, tests, jobs, out, baseline)
        if not baseline.exists():
            print("The tests could not be collected; nothing can be said about the mutants.")
            return 1
        measured = mutant_runs.Baseline.read(baseline)
        for test in measured.failed:
            print(f"fails without any change, left out: {test}")
        known = outcomes(out)
        run_outside([pair for pair in left if pair[0].name not in known], jobs, out, measured)
    known = outcomes(out)
    order = sorted(chosen, key=lambda pair: (pair[0].module, pair[0].lines))
    return int(report([(mutant, known[mutant.name]) for mutant, _ in order]) > 0)


if __name__ == "__main__":
    sys.exit(main())
