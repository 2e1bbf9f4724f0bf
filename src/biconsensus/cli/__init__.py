"""The command line `biconsensus`: the three fronts for people who do not write Python.

Exit codes: 0 done, 2 wrong usage or input, 130 interrupted.
"""

from __future__ import annotations

from biconsensus.cli._main import main, run

__all__ = ["main", "run"]
__dir__ = __all__.copy  # what dir() shows
