"""All rows of the table of faults, seen from outside: the public API and the command line, no test suite.

``python -m tests.outside.faults [rows]`` prints one line a row and ends with 1 if a row does not behave as written.
Rows 77 and 96 speak of the versions it runs on: `make test-matrix` runs it on the lowest ones and on every Python.
"""

from __future__ import annotations

import os
import sys
import tempfile
import warnings

import numpy as np
import scipy
import sklearn

from tests.outside import rows_1_to_42, rows_43_to_96
from tests.outside.checks import CHECKS

__all__ = ["main", "rows_1_to_42", "rows_43_to_96"]


def main(rows: list[int]) -> int:
    """Run the checks, one line each; the number of rows that do not behave."""
    versions = {"NumPy": np, "SciPy": scipy, "scikit-learn": sklearn}
    said = ", ".join(f"{name} {module.__version__}" for name, module in versions.items())
    print(f"Python {sys.version.split()[0]}, {said}")
    warnings.simplefilter("ignore")  # those that a row asks for are caught by it
    wrong = 0
    for number in rows or sorted(CHECKS):
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                good, why = all(check() for check in CHECKS[number]), ""
            except Exception as error:
                good, why = False, f" ({type(error).__name__}: {error})"
            os.chdir("/")
        wrong += not good
        print(f"row {number}: {'as written' if good else 'NOT as written'}{why}", flush=True)
    print(f"{len(rows or CHECKS) - wrong} of {len(rows or CHECKS)} rows as written")
    return min(wrong, 1)


if __name__ == "__main__":
    sys.exit(main([int(word) for word in sys.argv[1:]]))
