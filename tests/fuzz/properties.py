"""Run every property test of the core with 10,000 examples each (``--examples N``); the rest goes on to pytest."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
FILES = [
    "tests/core",
    "tests/test_core_properties.py",
    "tests/test_find.py",
    "tests/test_joint.py",
    "tests/test_io.py",
    "tests/solvers",
    "tests/engines/test_local.py",
    "tests/engines/test_rows.py",
    "tests/cli/test_cli_properties.py",
]


def main() -> int:
    """Exit code of pytest."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=int, default=10_000)
    options, rest = parser.parse_known_args()
    environment = {**os.environ, "BICONSENSUS_PROFILE": "fuzz", "BICONSENSUS_EXAMPLES": str(options.examples)}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "--timeout=3600",
        "-m",
        "hypothesis",
        *FILES,
        *(rest or ["-n", "2"]),
    ]
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
