"""Run one script, as ``python -m`` would, with exit codes of their own where it lacks data.

``python -m scripts.run_script MODULE_OR_FILE``
"""

from __future__ import annotations

import runpy
import sys

from benchmarks.without_data import lacked
from biconsensus.errors import MissingDataError

WITHOUT_DATA = 75
"""Exit code of a script that ended for want of data: EX_TEMPFAIL of sysexits.h, "try again later"."""
WITHOUT_SOME_DATA = 76
"""Exit code of a script that went on without some of its data."""


def main(script: str) -> int:
    """Run it; 0 where all went well, one of the other two where some or all data could not be had."""
    sys.argv = [script]
    try:
        if script.endswith(".py"):
            runpy.run_path(script, run_name="__main__")
        else:
            runpy.run_module(script, run_name="__main__", alter_sys=True)
    except MissingDataError as error:
        print(f"not run to its end: {error}", file=sys.stderr)
        return WITHOUT_DATA
    return WITHOUT_SOME_DATA if lacked() else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
