"""Run every property test of the core with 10,000 examples each; arguments go on to pytest."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
FILES = ["tests/core", "tests/test_find.py", "tests/solvers/test_vote.py", "tests/test_io.py"]

if __name__ == "__main__":
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-n",
        "2",
        "--timeout=3600",
        "-m",
        "hypothesis",
        *FILES,
        *sys.argv[1:],
    ]
    sys.exit(
        subprocess.run(command, cwd=ROOT, env={**os.environ, "BICONSENSUS_PROFILE": "fuzz"}, check=False).returncode
    )
