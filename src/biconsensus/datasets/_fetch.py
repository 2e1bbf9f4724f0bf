"""Files from their public repositories, once, into the user's cache; pooch does the work."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from biconsensus._checks import need
from biconsensus.datasets._table import File
from biconsensus.errors import InputError, MissingDataError

CACHE = "BICONSENSUS_CACHE"
"""Environment variable: the folder of the cache, in place of the usual one of the system."""
ADDRESS = "BICONSENSUS_DATA_URL"
"""Environment variable: address of a mirror that has `owner/name/commit/path` below it."""
PUBLIC = "https://raw.githubusercontent.com"
"""Where GitHub serves `owner/name/commit/path`."""

RETRIES = 1
"""A second try mends a broken transfer; more would only delay the message where there is no connection."""
TIMEOUT = (5.0, 30.0)
"""Seconds to wait for a connection, and for the next bytes: longer than any mirror of use to a person takes."""
CHUNK = 1 << 16
"""Bytes written at a time."""
CONNECTIONS = 4
"""Files fetched at a time: most are small, so that waiting for answers takes the time."""


def cache_dir() -> Path:
    """Folder that fetched files are kept in."""
    named = os.environ.get(CACHE)
    return Path(named) if named else Path(need("pooch", "datasets").os_cache("biconsensus")) / "datasets"


def address_of(file: File) -> str:
    """Where a file is fetched from."""
    base = os.environ.get(ADDRESS) or PUBLIC
    if not base.startswith(("https://", "http://")):
        raise InputError(f"{ADDRESS} must start with https:// or http://, but is {base!r}; unset it to use {PUBLIC}.")
    return f"{base.rstrip('/')}/{file.repository}/{file.commit}/{file.path}"


def fetch_files(files: Sequence[File]) -> list[Path]:
    """Paths of the files in the cache; those that are not there, or are damaged, are fetched.

    Every file is checked by its SHA-256 each time. A transfer goes to a temporary file beside the final one and takes
    its name only when the content is right, so that other processes never see a part of a file.
    """
    pooch, folder = need("pooch", "datasets"), cache_dir()
    missing = [file for file in files if not (folder / file.file).exists()]
    with _quiet(pooch), _progress(missing) as done, ThreadPoolExecutor(CONNECTIONS) as threads:
        waiting = [threads.submit(_fetch, file, pooch, folder, done) for file in files]
        try:
            return [future.result() for future in waiting]
        finally:  # after one failure the others are not begun
            for future in waiting:
                future.cancel()


def _fetch(file: File, pooch: Any, folder: Path, done: Callable[[File], None]) -> Path:
    """One file, or an error that says what is missing and how to get it."""
    address, path = address_of(file), folder / file.file
    known = {file.file: f"sha256:{file.sha256}"}
    keeper = pooch.create(folder, base_url="", registry=known, urls={file.file: address}, retry_if_failed=RETRIES)
    download = pooch.HTTPDownloader(chunk_size=CHUNK, timeout=TIMEOUT, hooks={"response": _close_refusal})
    try:
        # pooch does not expect another process to make the folder at the same moment
        path.parent.mkdir(parents=True, exist_ok=True)
        keeper.fetch(file.file, downloader=download)
    except (OSError, ValueError) as error:  # the errors of requests are OSErrors
        raise MissingDataError.of(file.dataset, file.file, folder, address, _reason(error)) from error
    done(file)
    return path


def _close_refusal(response: Any, *_: Any, **__: Any) -> None:
    """Close the connection of an answer that is no file, which nobody reads to its end."""
    if not response.ok:
        response.close()


def _reason(error: Exception) -> str:
    """Why a file could not be fetched, in a few words."""
    if isinstance(error, ValueError):
        return "what came has another SHA-256 than it should and was not kept"
    response = getattr(error, "response", None)
    if response is not None:
        return f"the server answered {response.status_code}"
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename or 'the cache'}: {error.strerror}"
    return "no answer in time" if "Timeout" in type(error).__name__ else "the connection failed"


@contextmanager
def _quiet(pooch: Any) -> Iterator[None]:
    """No line of pooch for every file."""
    logger: logging.Logger = pooch.get_logger()
    level = logger.level
    logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        logger.setLevel(level)


@contextmanager
def _progress(missing: Sequence[File]) -> Iterator[Callable[[File], None]]:
    """What to call for each file that is there: moves a bar on a terminal, does nothing elsewhere."""
    if not missing or not sys.stderr.isatty():
        yield lambda file: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

    columns = TextColumn("{task.description}"), BarColumn(), DownloadColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(f"fetching {missing[0].dataset}", total=sum(file.size for file in missing))
        wanted = set(missing)
        yield lambda file: bar.advance(task, file.size if file in wanted else 0)
