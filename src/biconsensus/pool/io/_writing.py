"""Writers: whole files only, the user's ids kept."""

from __future__ import annotations

import contextlib
import csv
import importlib.util
import json
import os
import secrets
import shutil
import signal
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biconsensus._checks import need
from biconsensus.errors import InputError, MissingDependencyError, UnknownNameError


@contextlib.contextmanager
def atomic_path(path: str | Path) -> Iterator[Path]:
    """A new file beside `path` that takes its place when the block ends well, and vanishes when it does not.

    A link is followed, so that the file it points to is replaced and not the link. What is no file (a device, a pipe)
    cannot be replaced: the new file is made among the temporary files and copied into it at the end.

    Parameters
    ----------
    path : str or Path
        The file to write. Its folder must exist.

    Yields
    ------
    Path
        An empty file in the same folder with the same ending.

    Examples
    --------
    >>> target = Path(tempfile.mkdtemp()) / "labels.txt"
    >>> with atomic_path(target) as new:
    ...     _ = new.write_text("0 1 1")
    >>> target.read_text()
    '0 1 1'
    """
    target = check_target(path)
    through = is_stream(target)
    new = _new_file(Path(tempfile.gettempdir()) if through else target.parent, target)
    try:
        with _removed_on_termination(new):
            yield new
            if through:
                with new.open("rb") as source, target.open("wb") as sink:
                    shutil.copyfileobj(source, sink)
                return
            with new.open("rb+") as file:
                os.fsync(file.fileno())
            if target.exists():
                new.chmod(target.stat().st_mode & 0o777)
            new.replace(target)
    finally:
        new.unlink(missing_ok=True)


def is_stream(path: Path) -> bool:
    """Whether a path is neither file nor folder but a device, a pipe or a socket, which can only be written through."""
    return path.exists() and not path.is_file() and not path.is_dir()


def check_target(path: str | Path) -> Path:
    """The file, device or pipe that writing to `path` will change, links followed; an error where none can be written.

    Parameters
    ----------
    path : str or Path
        Where something is to be written.

    Returns
    -------
    Path
        The path with every link followed; the path of a device or pipe is not changed.

    Raises
    ------
    FileNotFoundError
        Where the folder does not exist.
    IsADirectoryError
        Where the path is a folder.
    PermissionError
        Where the folder or the file cannot be written.

    Examples
    --------
    >>> check_target(tempfile.gettempdir())
    Traceback (most recent call last):
    ...
    IsADirectoryError: ... is a folder; give the name of a file in it.
    """
    path = Path(path)
    # the links of open pipes, as /dev/stdout, lead to names that are not there
    target = path if is_stream(path) else Path(os.path.realpath(path))
    if target.is_dir():
        raise IsADirectoryError(f"{path} is a folder; give the name of a file in it.")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {path.parent} to write {path.name} in; create it first.")
    if is_stream(target):
        if not os.access(target, os.W_OK):
            raise PermissionError(f"{path} cannot be written; choose another target.")
    elif not os.access(target.parent, os.W_OK | os.X_OK):
        raise PermissionError(f"the folder of {path} cannot be written; choose another one.")
    elif target.exists() and not target.stat().st_mode & 0o222:  # a new file would take its place without asking
        raise PermissionError(f"{path} is read-only; choose another name, or make it writable.")
    return target


def _new_file(folder: Path, target: Path) -> Path:
    """An empty hidden file with the mode of new files: the system applies the mask of the user, nobody asks for it."""
    while True:
        name = f".{target.stem[:100]}-{secrets.token_hex(8)}{target.suffix}"
        try:
            handle = os.open(folder / name, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0), 0o666)
        except FileExistsError:
            continue
        os.close(handle)
        return folder / name


@contextlib.contextmanager
def _removed_on_termination(new: Path) -> Iterator[None]:
    """Remove a half-written file when the process is told to end, and end as it would have ended."""
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGTERM) != signal.SIG_DFL:
        yield  # the program has its own way to end, or this thread may not choose one
        return

    def end(number: int, frame: object) -> None:
        new.unlink(missing_ok=True)
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def write_table(
    path: str | Path, columns: Mapping[str, ArrayLike], ids: ArrayLike | None = None, *, escape: bool = False
) -> None:
    """Write columns of one length as CSV, TSV, Parquet, JSON, NPY or NPZ, told by the ending.

    Parameters
    ----------
    path : str or Path
        Where to; an existing file is replaced as a whole.
    columns : mapping of str to (m,) array
        Name and values of each column. NPY takes one only.
    ids : (m,) array, optional
        The user's own names of the elements: the first column, "id". Not in NPY.
    escape : bool
        Put an apostrophe before text that a spreadsheet would take for a formula: text that starts with =, +, -, @, a
        tab or a line break. For CSV and TSV; the file then no longer holds the texts as they were.

    Examples
    --------
    >>> target = Path(tempfile.mkdtemp()) / "labels.csv"
    >>> write_table(target, {"label": [0, -1]}, ids=["a", "b"])
    >>> target.read_text().splitlines()
    ['id,label', 'a,0', 'b,-1']
    """
    path = Path(path)
    ending = check_ending(path)
    table = {} if ids is None else {"id": _vector("id", ids)}
    for name, values in columns.items():
        table[name if name not in table else f"{name} (2)"] = _vector(name, values)
    sizes = {name: values.size for name, values in table.items()}
    if len(set(sizes.values())) > 1:
        raise InputError(f"columns must have one length; they have {sizes}.")
    if escape and ending in (".csv", ".tsv"):
        table = {_escaped(name): _escaped_column(values) for name, values in table.items()}
    with atomic_path(path) as new:
        WRITERS[ending](new, table)


def check_ending(path: Path) -> str:
    """Ending of a table that can be written; a device or pipe without one takes CSV."""
    ending = path.suffix.lower()
    if ending == "" and is_stream(path):
        return ".csv"
    if ending not in WRITERS:
        raise UnknownNameError.of("ending", path.suffix, WRITERS)
    return ending


def check_table_target(path: Path) -> None:
    """A table of several columns can be written there, by its ending and by what is installed."""
    ending = check_ending(path)
    if ending == ".npy":
        raise InputError(f"{path}: an NPY file holds one column; use .npz, .csv, .tsv, .parquet or .json.")
    if ending == ".parquet" and importlib.util.find_spec("pyarrow") is None:
        raise MissingDependencyError.of("pyarrow", "tables")


FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
"""How text begins that spreadsheets take for a formula."""


def _escaped(text: str) -> str:
    """Text that no spreadsheet takes for a formula."""
    return f"'{text}" if text.startswith(FORMULA) else text


def _escaped_column(values: NDArray[Any]) -> NDArray[Any]:
    """The same column with texts escaped; numbers stay numbers."""
    if values.dtype.kind not in "OUS":
        return values
    plain = [_escaped(value) if isinstance(value, str) else value for value in values.tolist()]
    return np.array([*plain, None], dtype=object)[:-1]


def _vector(name: str, values: ArrayLike) -> NDArray[Any]:
    """One column."""
    array = values if isinstance(values, np.ma.MaskedArray) else np.asarray(values)
    if array.ndim != 1:
        raise InputError(f"column {name!r} must have one dimension; received shape {array.shape}.")
    return array


def _plain(values: NDArray[Any]) -> list[Any]:
    """Python values, None where something is missing."""
    return [None if value is None or value != value else value for value in values.tolist()]


def _separated(separator: str) -> Callable[[Path, dict[str, NDArray[Any]]], None]:
    """Writer of text with a separator; a missing value is an empty cell."""

    def write(path: Path, table: dict[str, NDArray[Any]]) -> None:
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, delimiter=separator, lineterminator="\n")
            writer.writerow(table)
            writer.writerows(zip(*map(_plain, table.values())))

    return write


def _json(path: Path, table: dict[str, NDArray[Any]]) -> None:
    """A list of records; a missing value is null."""
    rows = [dict(zip(table, row)) for row in zip(*map(_plain, table.values()))]
    with path.open("w", encoding="utf-8") as file:
        json.dump(rows, file, ensure_ascii=False, allow_nan=False, indent=0, default=str)


def _parquet(path: Path, table: dict[str, NDArray[Any]]) -> None:
    """Parquet; types are kept, a missing value is null."""
    pa, parquet = need("pyarrow", "tables"), need("pyarrow.parquet", "tables")
    arrays = {name: pa.array(np.ma.getdata(v), mask=_mask(v)) for name, v in table.items()}
    parquet.write_table(pa.table(arrays), path)


def _mask(values: NDArray[Any]) -> NDArray[np.bool_] | None:
    """Mask of a masked array, in full."""
    return np.ma.getmaskarray(values) if isinstance(values, np.ma.MaskedArray) else None


def _npy(path: Path, table: dict[str, NDArray[Any]]) -> None:
    """One array without names."""
    kept = [name for name in table if name != "id"]
    if len(kept) != 1:
        raise InputError(f"an NPY file holds one column; received {kept}. Use .npz or .parquet.")
    _save(np.save, path, table[kept[0]])


def _npz(path: Path, table: dict[str, NDArray[Any]]) -> None:
    """One array for each column."""
    with path.open("wb") as file:
        np.savez_compressed(file, **{name: _typed(name, values) for name, values in table.items()})  # type: ignore[arg-type]


def _save(save: Callable[..., None], path: Path, values: NDArray[Any]) -> None:
    """Save through an open file, so that NumPy adds no ending."""
    with path.open("wb") as file:
        save(file, _typed(path.stem, values), allow_pickle=False)


def _typed(name: str, values: NDArray[Any]) -> NDArray[Any]:
    """Values as an array without objects or gaps, which NumPy files cannot hold without a pickle."""
    if isinstance(values, np.ma.MaskedArray):
        values = np.ma.filled(values.astype(np.float64), np.nan) if np.ma.getmaskarray(values).any() else values.data
    if values.dtype == object:
        if any(value is None for value in values):
            raise InputError(f"column {name!r} has missing text, which NumPy files cannot hold; use .csv or .parquet.")
        values = values.astype(str)
    return values


WRITERS: dict[str, Callable[[Path, dict[str, NDArray[Any]]], None]] = {
    ".csv": _separated(","),
    ".tsv": _separated("\t"),
    ".json": _json,
    ".parquet": _parquet,
    ".npy": _npy,
    ".npz": _npz,
}
"""Writer of each ending."""
