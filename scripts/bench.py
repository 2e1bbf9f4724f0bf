"""Run every script of a folder (benchmarks/ by default) whose name starts with what was asked for, one after the other.

``python -m scripts.bench [--folder benchmarks] [--strict] [NAME ...]``; BENCH reaches the scripts unchanged.

Data sets are fetched when a script first uses them. What cannot be had is named, and the rest runs. Exit code: the
number of scripts that failed; those that ran without some of their data, or not at all for want of it, count only with
``--strict``, or where no script could run.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path

from scripts.run_script import WITHOUT_DATA, WITHOUT_SOME_DATA

ROOT = Path(__file__).resolve().parent.parent


def main(arguments: list[str] | None = None) -> int:
    """Run the scripts; the exit code is the number of those that failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="the start of a script's name; all scripts without it")
    parser.add_argument("--strict", action="store_true", help="scripts that lack data count as failed")
    parser.add_argument("--folder", type=Path, default=ROOT / "benchmarks")
    options = parser.parse_args(arguments)
    found = runnable(options.folder)
    chosen = [path for path in found if not options.names or matches(path, options.names)]
    if not chosen:
        parser.error(f"nothing to run; there are: {', '.join(path.stem for path in found) or 'no scripts'}")
    codes = {path.stem: run(path) for path in chosen}
    failed = [name for name, code in codes.items() if code not in (0, WITHOUT_DATA, WITHOUT_SOME_DATA)]
    lacking = [name for name, code in codes.items() if code in (WITHOUT_DATA, WITHOUT_SOME_DATA)]
    nothing_ran = all(code == WITHOUT_DATA for code in codes.values())
    if lacking:
        print(f"without some or all of their data, as said above: {', '.join(lacking)}", file=sys.stderr)
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return len(failed) + (len(lacking) if options.strict or nothing_ran else 0)


def runnable(folder: Path) -> list[Path]:
    """Scripts of a folder that can be run by themselves."""
    return sorted(path for path in folder.glob("*.py") if "__main__" in path.read_text(encoding="utf-8"))


def matches(path: Path, names: list[str]) -> bool:
    """Whether a script's name, with or without `bench_` before it, starts with one of the names."""
    return any(path.stem.removeprefix("bench_").startswith(name) or path.stem.startswith(name) for name in names)


def command(path: Path) -> list[str]:
    """A script of this repository runs as a module of its package, any other as a file."""
    path = path.resolve()
    inside = path.is_relative_to(ROOT)
    script = ".".join(path.relative_to(ROOT).with_suffix("").parts) if inside else str(path)
    return [sys.executable, "-m", "scripts.run_script", script]


def run(path: Path) -> int:
    """Run one script as a process of its own, so that its memory is its own."""
    print(f"== {path.stem}", flush=True)
    started = time.perf_counter()
    code = subprocess.run(command(path), cwd=ROOT, check=False).returncode
    print(f"== {path.stem}: exit code {code}, {time.perf_counter() - started:.0f} s", flush=True)
    return code


if __name__ == "__main__":
    sys.exit(main())
