"""Mutation testing with mutmut, and the survivors that no reason explains.

``python -m scripts.mutate [--jobs N] [--sample N] [--report] [PART ...]``. Settings are in `pyproject.toml`; a part is
the start of a module, such as ``quorum`` or ``methods._joint``. What was run is kept in `mutants/`, so that a run can
be taken up again; ``--report`` only reads it. ``--sample 150`` takes 150 mutants of each part at random, always the
same ones, and leaves out those that were run before. Survivors that no result can tell from the original are in
`tests/equivalent_mutants.toml`, with the reason.
"""

from __future__ import annotations

import argparse
import hashlib
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
    parser.add_argument("--sample", type=int, help="how many mutants of each part, drawn at random")
    parser.add_argument("--report", action="store_true", help="run nothing, read what was kept")
    options = parser.parse_args(arguments)
    patterns = [f"biconsensus.{part}*" for part in options.parts]
    if not options.report and options.sample:
        if not listed(mutmut("results", "--all", "true")):
            run(options.jobs, ["none"])  # makes the mutants, and sees which tests call what
        known = listed(mutmut("results", "--all", "true"))
        drawn = [name for part in options.parts or [""] for name in sample(known, part, options.sample)]
        patterns = [name for name in drawn if known[name] == "not checked"]
        print(f"{len(patterns)} of {len(drawn)} mutants are still to be run", flush=True)
    if not options.report and (patterns or not options.sample):
        run(options.jobs, patterns)
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
    print("\n".join([*table(counts), *scores(counts, options.parts), *unexplained]))
    return int(bool(unexplained))


def run(jobs: str, patterns: list[str]) -> None:
    """Run the mutants of these names or patterns."""
    environment = {**os.environ, "BICONSENSUS_PROFILE": "mutate", "OMP_NUM_THREADS": "1"}
    command = [MUTMUT, "run", "--max-children", jobs, *patterns]
    subprocess.run(command, cwd=ROOT, env=environment, check=patterns != ["none"])


def sample(known: dict[str, str], part: str, number: int) -> list[str]:
    """The first `number` mutants of a part, in an order that depends on nothing but their names."""
    names = sorted(name for name in known if name.startswith(f"biconsensus.{part}"))
    return sorted(names, key=lambda name: hashlib.sha256(name.encode()).digest())[:number]


def mutmut(*arguments: str) -> str:
    """What mutmut says."""
    return subprocess.run([MUTMUT, *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout


def listed(text: str) -> dict[str, str]:
    """Outcome of each mutant, by name."""
    return dict(re.findall(r"^\s*(biconsensus\.\S+): (.+)$", text, re.MULTILINE))


def outcomes(text: str) -> dict[str, str]:
    """Outcome of each mutant that was run, by name."""
    return {name: outcome for name, outcome in listed(text).items() if outcome != "not checked"}


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


def scores(counts: Counter[tuple[str, str]], parts: list[str]) -> list[str]:
    """For each part, the share of its mutants that were noticed, of those that can be, with its 95% interval."""
    lines = []
    for part in parts:
        own = Counter[str]()
        for (module, kind), number in counts.items():
            own[kind] += number if module.startswith(part) else 0
        tried = own.total() - own["explained"]
        if tried:
            noticed = own["killed"] + own["timeout"]
            low, high = (100 * bound for bound in wilson(noticed, tried))
            share = f"{100 * noticed / tried:.1f}% ({low:.0f} to {high:.0f})"
            lines.append(f"{part}: {noticed} of {tried} noticed, {share}")
    return lines


def wilson(hits: int, tries: int, z: float = 1.96) -> tuple[float, float]:
    """Wilson's interval of a share, which never leaves 0 to 1."""
    share, width = hits / tries, z * z / tries
    centre = (share + width / 2) / (1 + width)
    half = z * (share * (1 - share) / tries + width / (4 * tries)) ** 0.5 / (1 + width)
    return centre - half, centre + half


if __name__ == "__main__":
    sys.exit(main())
