"""Where a file is: in the folder that the user names, in the package, or in the cache."""

from __future__ import annotations

import os
from fnmatch import fnmatchcase
from pathlib import Path

from biconsensus.datasets._fetch import cache_dir, fetch_files
from biconsensus.datasets._table import PACKAGED, table
from biconsensus.errors import MissingDataError

VARIABLE = "BICONSENSUS_DATA"
"""Environment variable: a folder with the data sets, in place of the cache; nothing is fetched then."""


def data_dir() -> Path:
    """Folder of the data sets.

    Returns
    -------
    pathlib.Path
        What the environment variable ``BICONSENSUS_DATA`` names, else the cache that files are fetched into.

    Raises
    ------
    MissingDataError
        Where the variable names something that is no folder.

    Examples
    --------
    >>> import tempfile
    >>> from unittest import mock
    >>> with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ, {"BICONSENSUS_DATA": folder}):
    ...     data_dir() == Path(folder)
    True
    """
    return local_folder() or cache_dir()


def local_folder() -> Path | None:
    """The folder that the user names; None where none is named."""
    named = os.environ.get(VARIABLE)
    if not named:
        return None
    if not Path(named).is_dir():
        raise MissingDataError(
            f"there is no folder of data sets at {named}; set the environment variable {VARIABLE} to a folder that "
            f"holds jlinkage/, uci/, networks/ and the others, or unset it to have them fetched."
        )
    return Path(named)


def matching(pattern: str) -> list[str]:
    """Files below the folder of data sets that match a pattern: of the user's folder, else of the table."""
    folder = local_folder()
    if folder is not None:
        return sorted(path.relative_to(folder).as_posix() for path in folder.glob(pattern))
    depth = pattern.count("/")
    return sorted(file for file in table() if file.count("/") == depth and fnmatchcase(file, pattern))


def paths_of(files: list[str]) -> list[Path]:
    """The files as paths, fetched where they are not here."""
    folder = local_folder()
    if folder is not None:
        return [_existing(folder, file) for file in files]
    away = [file for file in files if not (PACKAGED / file).exists()]
    fetched = dict(zip(away, fetch_files([table()[file] for file in away]) if away else [], strict=True))
    return [fetched.get(file, PACKAGED / file) for file in files]


def path_of(file: str) -> Path:
    """One file as a path, fetched where it is not here."""
    return paths_of([file])[0]


def here(file: str) -> bool:
    """Whether a file can be read without being fetched."""
    return (local_folder() is None and (PACKAGED / file).exists()) or (data_dir() / file).exists()


def _existing(folder: Path, file: str) -> Path:
    """A file of the user's folder, or an error that says what is missing."""
    path = folder / file
    if not path.exists():
        dataset = table()[file].dataset if file in table() else None
        raise MissingDataError(
            f"{path} is missing; set {VARIABLE} to a folder of data sets that has it, or unset it to have it fetched.",
            dataset,
        )
    return path
