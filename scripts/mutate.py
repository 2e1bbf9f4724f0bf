"""Mutation testing with mutmut, and the survivors that no reason explains.

``python -m scripts.mutate [--jobs N] [--report] [PART ...]``. Settings are in `pyproject.toml`; a part is the start of
a module, such as ``quorum`` or ``methods._joint``. What was run is kept in `mutants/`, so that a run can be taken up
again; ``--report`` only reads it. Survivors that no result can tell from the original are in
`tests/equivalent_mutants.toml`, with the reason.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
REASONS = ROOT / "tests" / "equivalent_mutants.toml"
MUTMUT = str(Path(sys.executable).with_name("mutmut"))
OPEN = ("survived", "no tests", "suspicious")


def main(arguments: list[str] | None = None) -> int:
    """Run the mutants that were asked for; exits 1 where one is open."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*")
    parser.add_argument("--jobs", default="2")
    parser.add_argument("--report", action="store_true", help="run nothing, read what was kept")
    options = parser.parse_args(arguments)
    if not options.report:
        patterns = [f"biconsensus.{part}*" for part in options.parts]
        environment = {**os.environ, "BICONSENSUS_PROFILE": "mutate", "OMP_NUM_THREADS": "1"}
        subprocess.run(
            [MUTMUT, "run", "--max-children", options.jobs, *patterns], cwd=ROOT, env=environment, check=True
        )
    found = outcomes(mutmut("results", "--all", "true"))
    known = explained()
    for change in sorted(gone(known)):
        print(f"explained, but there is no such line any more: {change}")
    unexplained, counts = [], Counter[tuple[str, str]]()
    for name, outcome in found.items():
        change = change_of(mutmut("show", name)) if outcome in OPEN else ""
        kind = "explained" if change in known else outcome
        counts[module_of(name), kind] += 1
        if kind in OPEN:
            unexplained.append(f"{name}, {kind}: {change}")
    print("\n".join([*table(counts), *unexplained]))
    return int(bool(unexplained))


def mutmut(*arguments: str) -> str:
    """What mutmut says."""
    return subprocess.run([MUTMUT, *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout


def outcomes(text: str) -> dict[str, str]:
    """Outcome of each mutant that was run, by name."""
    pairs = re.findall(r"^\s*(biconsensus\.\S+): (.+)$", text, re.MULTILINE)
    return {name: outcome for name, outcome in pairs if outcome != "not checked"}


def change_of(diff: str) -> str:
    """A diff as file, line before and line after, which stays when lines move."""
    file = re.findall(r"^--- (?:src/biconsensus/)?(\S+)", diff, re.MULTILINE)[0]
    before = [line.strip() for line in re.findall(r"^-(?!--)(.*)$", diff, re.MULTILINE)]
    after = [line.strip() for line in re.findall(r"^\+(?!\+\+)(.*)$", diff, re.MULTILINE)]
    return f"{file}: {' '.join(before)} -> {' '.join(after)}"


def explained() -> dict[str, str]:
    """Why each change that is listed cannot be told from the original."""
    listed = tomllib.loads(REASONS.read_text(encoding="utf-8"))
    return {change: why for why, changes in listed.items() for change in changes}


def gone(known: dict[str, str]) -> list[str]:
    """Changes that are listed for lines that are not there any more."""
    missing = []
    for change in known:
        file, _, rest = change.partition(": ")
        path = ROOT / "src" / "biconsensus" / file
        lines = {line.strip() for line in path.read_text(encoding="utf-8").splitlines()} if path.exists() else set()
        if not any(rest.startswith(f"{line} -> ") for line in lines if line):
            missing.append(change)
    return missing


def module_of(name: str) -> str:
    """Module of a mutant, without the package."""
    return name.rpartition(".")[0].removeprefix("biconsensus.")


def table(counts: Counter[tuple[str, str]]) -> list[str]:
    """One line for each module and one for all."""
    kinds = ["killed", "timeout", "explained", *OPEN]
    modules = sorted({module for module, _ in counts})
    rows = [[module, *(str(counts[module, kind]) for kind in kinds)] for module in modules]
    rows.append(["all", *(str(sum(counts[module, kind] for module in modules)) for kind in kinds)])
    return [" | ".join(row) for row in [["module", *kinds], *rows]]


if __name__ == "__main__":
    sys.exit(main())
