"""Writers: whole files only, the user's ids kept."""

from __future__ import annotations

import contextlib
import csv
import json
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biconsensus.errors import InputError, MissingDependencyError, UnknownNameError


@contextlib.contextmanager
def atomic_path(path: str | Path) -> Iterator[Path]:
    """A new file beside `path` that takes its place when the block ends well, and vanishes when it does not.

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
    path = Path(path)
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {path.parent} to write {path.name} in; create it first.")
    handle, name = tempfile.mkstemp(prefix=f".{path.stem}-", suffix=path.suffix, dir=path.parent)
    os.close(handle)
    new = Path(name)
    try:
        yield new
        with new.open("rb+") as file:
            os.fsync(file.fileno())
        new.chmod(path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~_umask())
        new.replace(path)
    finally:
        new.unlink(missing_ok=True)


def write_table(path: str | Path, columns: Mapping[str, ArrayLike], ids: ArrayLike | None = None) -> None:
    """Write columns of one length as CSV, TSV, Parquet, JSON, NPY or NPZ, told by the ending.

    Parameters
    ----------
    path : str or Path
        Where to; an existing file is replaced as a whole.
    columns : mapping of str to (m,) array
        Name and values of each column. NPY takes one only.
    ids : (m,) array, optional
        The user's own names of the elements: the first column, "id". Not in NPY.

    Examples
    --------
    >>> target = Path(tempfile.mkdtemp()) / "labels.csv"
    >>> write_table(target, {"label": [0, -1]}, ids=["a", "b"])
    >>> target.read_text().splitlines()
    ['id,label', 'a,0', 'b,-1']
    """
    path = Path(path)
    if path.suffix.lower() not in WRITERS:
        raise UnknownNameError.of("ending", path.suffix, WRITERS)
    table = {} if ids is None else {"id": _vector("id", ids)}
    for name, values in columns.items():
        table[name if name not in table else f"{name} (2)"] = _vector(name, values)
    sizes = {name: values.size for name, values in table.items()}
    if len(set(sizes.values())) > 1:
        raise InputError(f"columns must have one length; they have {sizes}.")
    with atomic_path(path) as new:
        WRITERS[path.suffix.lower()](new, table)


def _umask() -> int:
    """The mode bits that new files must not have."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


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
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise MissingDependencyError.of("pyarrow", "tables") from None
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
