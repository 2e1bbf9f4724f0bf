"""A folder of finished base results: written whole, read back only if nothing has changed."""

from __future__ import annotations

import hashlib
import io
import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray

from biconsensus.errors import FileFormatError

FORMAT = 1
"""Version of the files; others are refused."""


class Checkpoint:
    """Finished results of runs on one data set.

    Each result is a ``.npy`` file next to a ``.json`` file with its SHA-256; ``data.json`` holds the hash of the data
    that all of them were made from. Nothing is ever unpickled.

    Parameters
    ----------
    folder : Path
        Made if it is not there.
    data : object
        What the sources run on.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = Checkpoint(Path(folder), np.arange(3))
    ...     store.write("twos", {"k": 2}, 0, np.array([0, 0, 1]))
    ...     print(store.read("twos", {"k": 2}, 0), store.read("twos", {"k": 3}, 0))
    [0 0 1] None
    """

    def __init__(self, folder: Path, data: Any) -> None:
        self.folder = folder
        if folder.exists() and not folder.is_dir():
            raise NotADirectoryError(
                f"{folder} is a file; finished runs are kept in a folder, so give the name of one."
            )
        folder.mkdir(parents=True, exist_ok=True)
        header = {"format": FORMAT, "data": joblib.hash(data, hash_name="sha1")}
        path = folder / "data.json"
        if not path.exists():
            _write(path, json.dumps(header).encode())
        elif _read_json(path) != header:
            raise FileFormatError(
                f"checkpoint {folder}: it was made from other data or by another version; "
                "give an empty folder, or delete this one to start afresh."
            )

    def read(self, name: str, params: Mapping[str, Any], seed: int) -> NDArray[Any] | None:
        """Labels of a finished run, or None where there is no such run."""
        path = self.folder / f"{_key(name, params, seed)}.npy"
        note = path.with_suffix(".json")
        if not note.exists():
            return None
        content = path.read_bytes() if path.exists() else b""
        if hashlib.sha256(content).hexdigest() != _read_json(note).get("sha256"):
            raise FileFormatError(
                f"checkpoint {path}: the result of {name!r} is truncated or was changed (its hash differs); "
                "delete this file and its .json to run it again."
            )
        labels: NDArray[Any] = np.load(io.BytesIO(content), allow_pickle=False)
        return labels

    def write(self, name: str, params: Mapping[str, Any], seed: int, labels: NDArray[Any]) -> None:
        """Keep a finished run; the note comes last, so that a half-written result is never found."""
        buffer = io.BytesIO()
        np.save(buffer, labels, allow_pickle=False)
        content = buffer.getvalue()
        path = self.folder / f"{_key(name, params, seed)}.npy"
        note = {"name": name, "params": _plain(params), "seed": seed, "sha256": hashlib.sha256(content).hexdigest()}
        _write(path, content)
        _write(path.with_suffix(".json"), json.dumps(note).encode())


def _key(name: str, params: Mapping[str, Any], seed: int) -> str:
    """Short hash of what identifies a run."""
    return hashlib.sha256(json.dumps([name, _plain(params), seed]).encode()).hexdigest()[:24]


def _plain(params: Mapping[str, Any]) -> list[list[str]]:
    """Parameters as sorted text."""
    return sorted([str(k), repr(v)] for k, v in params.items())


def _read_json(path: Path) -> dict[str, Any]:
    """A JSON object from a file."""
    try:
        note = json.loads(path.read_bytes())
    except ValueError as error:
        raise FileFormatError(f"checkpoint {path}: no valid JSON ({error}); delete it to run again.") from error
    return note if isinstance(note, dict) else {}


def _write(path: Path, content: bytes) -> None:
    """Write whole or not at all."""
    handle, name = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
