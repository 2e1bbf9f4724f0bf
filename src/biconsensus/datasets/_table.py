"""The table of files: where each is published, at which commit, how large it is, and its SHA-256."""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
PACKAGED = HERE / "files"
"""Small files whose terms allow it come with the package; `files/README.txt` states the terms."""

SET_OF_FOLDER = {"clustering_data_v1": "benchmark", "ensemble_pools": "ensemble_pool", "networks": "network"}
"""Folders that are not called like the set they hold."""


class File(NamedTuple):
    """One published file."""

    file: str
    """Path below the folder of data sets."""
    repository: str
    """Public GitHub repository, `owner/name`."""
    commit: str
    """Full commit of that repository."""
    path: str
    """Path in the repository."""
    size: int
    """Bytes."""
    sha256: str
    """What the content must hash to."""

    @property
    def dataset(self) -> str:
        """Name of the set that the file belongs to."""
        folder = self.file.partition("/")[0]
        return SET_OF_FOLDER.get(folder, folder)


@cache
def table() -> dict[str, File]:
    """All files by their path below the folder of data sets."""
    commits = {row["repository"]: row["commit"] for row in _rows("repositories.csv")}
    return {
        row["file"]: File(
            row["file"], row["repository"], commits[row["repository"]], row["path"], int(row["bytes"]), row["sha256"]
        )
        for row in _rows("files.csv")
    }


def _rows(name: str) -> list[dict[str, str]]:
    """Rows of a table beside this module."""
    with (HERE / name).open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))
