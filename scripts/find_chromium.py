"""Print the path of a Chromium for the browser tests; exit 1 where there is none."""

from __future__ import annotations

import os
import shutil
import sys

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find_chromium() -> str | None:
    """Path of a Chromium: the variable BICONSENSUS_CHROMIUM, or the first known name on the path."""
    given = os.environ.get("BICONSENSUS_CHROMIUM")
    return given or next(filter(None, map(shutil.which, NAMES)), None)


if __name__ == "__main__":
    path = find_chromium()
    print(path or "")
    sys.exit(0 if path else 1)
