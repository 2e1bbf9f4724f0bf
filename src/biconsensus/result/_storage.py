"""Save and load a Consensus: one zip of JSON and plain arrays, versioned, no code."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from biconsensus.errors import FileFormatError, InputError, InputTypeError
from biconsensus.pool._build import Provenance
from biconsensus.pool._pool import Pool
from biconsensus.pool.io._arrays import check_archive
from biconsensus.pool.io._writing import atomic_path
from biconsensus.result._consensus import Answered, Consensus
from biconsensus.result._path import ConsensusPath, PathGroups
from biconsensus.result._regrouped import regrouped

FORMAT = "biconsensus"
VERSION = 1
"""Version of saved files; others are refused."""
OTHER_FILES = frozenset({".csv", ".tsv", ".txt", ".xlsx", ".parquet", ".json", ".html", ".htm"})
"""Endings of tables and pages, which a saved result is not."""
MORE = "more."
"""What the names of arrays begin with that are saved beside a result."""


def check_kept(path: Path) -> None:
    """Refuse a name that says that the file is a table or a page."""
    if path.suffix.lower() in OTHER_FILES:
        raise InputError(
            f"{path}: the whole result is kept in a file of its own kind, which only Consensus.load and `biconsensus "
            "inspect` read; give it a name such as result.bic. A table of the groups is to_frame() or --out."
        )


def save(result: Consensus, path: Path, more: Mapping[str, NDArray[Any]] | None = None) -> None:
    """Write a result atomically, with arrays beside it: the old file or the new one, nothing partial."""
    check_kept(path)
    arrays, meta = _pack(result)
    arrays |= {f"{MORE}{name}": array for name, array in (more or {}).items()}
    with atomic_path(path) as new, zipfile.ZipFile(new, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("meta.json", json.dumps(meta))
        for name, array in arrays.items():
            buffer = io.BytesIO()
            np.save(buffer, array, allow_pickle=False)
            archive.writestr(f"{name}.npy", buffer.getvalue())


def _pack(result: Consensus) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Arrays and plain values of a result."""
    pool, before = result.pool, result.unanswered
    arrays = {
        "inverse": pool.inverse,
        "source_of": pool.source_of,
        "weights": pool.weights,
        "row_of": result.row_of,
        "gains": result.gains,
        "candidates": np.concatenate([*result.candidates, np.zeros(0, np.int64)]).astype(np.int64),
        "candidate_counts": np.array([c.size for c in result.candidates], dtype=np.int64),
        **_pack_sparse("rows", pool.rows),
        **_pack_sparse("members", result.members),
    }
    may_be_absent = {
        "used_weights": result.weights,
        "evidence": result.evidence,
        "placed": result.placed,
        "row_labels": result.row_labels,
        "unanswered": None if before is None else before.labels,
    }
    arrays |= {name: array for name, array in may_be_absent.items() if array is not None}
    if result.path is not None:
        arrays |= _pack_path(result.path)
    if pool.unseen is not None and pool.mask_of is not None:
        arrays |= {"view_of": pool.mask_of, **_pack_sparse("unseen", pool.unseen)}
    ids, ids_meta = _pack_ids(pool.ids)
    meta = {
        "format": FORMAT,
        "version": VERSION,
        "objective": result.objective,
        "settings": result.settings,
        "extraction": result.extraction,
        "asked": result.asked,
        "answers": [list(answer) for answer in result.answers],
        "named": result.named,
        "chosen_before": None if before is None else before.settings.get("chosen_by"),
        "names": pool.names,
        "left_out": pool.left_out,
        "sources": [[s.name, _plain(s.params), _plain(s.seed)] for s in pool.sources],
        **ids_meta,
    }
    return arrays | ids, meta


def _pack_ids(ids: NDArray[Any] | None) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Ids as an array, or, if they are text or objects, as plain values."""
    if ids is None:
        return {}, {"ids": None}
    if ids.dtype.kind in "OU":
        kept = [_packed_id(value) for value in ids.tolist()]
        return {}, {"ids": kept, "ids_type": "text" if ids.dtype.kind == "U" else "objects"}
    if ids.dtype.hasobject:
        raise InputTypeError(f"ids of type {ids.dtype} hold objects, which a file cannot keep; give text.")
    return {"ids": ids}, {"ids": None}


ID_TYPES: dict[str, tuple[type, Callable[[Any], Any], Callable[[Any], Any]]] = {
    "tuple": (tuple, lambda v: [_packed_id(item) for item in v], lambda v: tuple(_unpacked_id(item) for item in v)),
    "bytes": (bytes, bytes.hex, bytes.fromhex),
    "decimal": (Decimal, str, Decimal),
    "datetime": (datetime, datetime.isoformat, datetime.fromisoformat),
    "date": (date, date.isoformat, date.fromisoformat),
    "uuid": (UUID, str, UUID),
}
"""Ids that JSON does not have: their type, how they are written and how they are read."""


def _packed_id(value: Any) -> Any:
    """An id as JSON; an id that could not be read back unchanged is refused."""
    if isinstance(value, np.generic):
        value = value.item()
    if type(value) in (type(None), bool, int, float, str):
        return value
    for name, (kind, pack, _) in ID_TYPES.items():
        if type(value) is kind:
            return {name: pack(value)}
    if type(value).__name__ == "Timestamp":  # of pandas, with a time zone: without one the index is no object
        return {"timestamp": [value.isoformat(), None if value.tz is None else str(value.tz)]}
    raise InputTypeError(
        f"the id {value!r} ({type(value).__name__}) could not be read back from a file; give text or numbers as ids."
    )


def _unpacked_id(value: Any) -> Any:
    """An id from JSON."""
    if not isinstance(value, dict):
        return value
    ((name, content),) = value.items()
    if name == "timestamp":
        import pandas as pd

        moment = pd.Timestamp(content[0])
        return moment if content[1] is None else moment.tz_convert(content[1])
    return ID_TYPES[name][2](content)


def _unpack_ids(meta: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> NDArray[Any] | None:
    """Ids as they were saved; files of the first release have no type of their ids."""
    if meta["ids"] is None:
        return arrays.get("ids")
    if meta.get("ids_type") == "objects":
        values = np.empty(len(meta["ids"]), dtype=object)
        for k, value in enumerate(meta["ids"]):
            values[k] = _unpacked_id(value)
        return values
    return np.array(meta["ids"], dtype=str if meta.get("ids_type") == "text" else None)


PATH_NUMBERS = ("quorum", "score", "evidence", "objective")
"""Numbers of each point of a path, in the order of the columns of the saved table."""
NOT_PLACED = -2
"""Saved in place of the groups of the elements at a point where the data placed none."""


def _pack_path(path: ConsensusPath) -> dict[str, NDArray[Any]]:
    """Arrays of a path: one row a point, and the values of all groups one after the other."""
    points = path.points
    gains = np.concatenate([np.zeros(0), *(point.gains for point in points)])
    told = [np.full(len(point), np.nan) if point.significance is None else point.significance for point in points]
    placed = [np.full(0, -1) if point.placed is None else point.placed for point in points]
    size = max((own.size for own in placed), default=0)
    # a point that does not tell where left-overs belong leaves them in no group
    near = [point.rows if point.row_labels is None else point.row_labels for point in points]
    return {
        "path.placed": np.stack([own if own.size else np.full(size, NOT_PLACED) for own in placed]).astype(np.int32),
        "path.numbers": np.array([[getattr(point, name) for name in PATH_NUMBERS] for point in points]),
        "path.counts": np.array([len(point) for point in points], np.int64),
        "path.rows": np.stack([point.rows for point in points]),
        **({"path.row_labels": np.stack(near)} if any(point.row_labels is not None for point in points) else {}),
        "path.columns": np.stack([point.columns for point in points]),
        "path.groups": np.column_stack([gains, np.concatenate([np.zeros(0), *told])]),
        "path.weights": path.weights,
    }


def _unpack_path(arrays: dict[str, NDArray[Any]], n_rows: int, n_candidates: int) -> ConsensusPath | None:
    """A path of its arrays, checked; None in files without one."""
    if "path.numbers" not in arrays:
        return None
    _check_path(arrays, n_rows, n_candidates)
    counts, groups, near = arrays["path.counts"], arrays["path.groups"], arrays.get("path.row_labels")
    points = []
    for k, own in enumerate(np.split(groups, np.cumsum(counts)[:-1]) if counts.size else []):
        gains, significance = own.T
        placed = arrays["path.placed"][k]
        points.append(
            PathGroups(
                **{name: float(value) for name, value in zip(PATH_NUMBERS, arrays["path.numbers"][k])},
                rows=arrays["path.rows"][k].astype(np.int32),
                columns=arrays["path.columns"][k].astype(np.int32),
                gains=gains,
                significance=None if np.isnan(significance).any() else significance,
                placed=placed.astype(np.int32) if (placed > NOT_PLACED).any() else None,
                row_labels=None if near is None else near[k].astype(np.int32),
            )
        )
    return ConsensusPath(tuple(points), arrays["path.weights"])


def _check_path(arrays: dict[str, NDArray[Any]], n_rows: int, n_candidates: int) -> None:
    """Every array of a path has its size, and the groups of every point are among its own."""
    counts, placed = arrays["path.counts"], arrays["path.placed"]
    n_points = arrays["path.numbers"].shape[0]
    _check_indices("path.counts", counts, n_points, n_rows + 1)
    _check_numbers("path.numbers", arrays["path.numbers"], (n_points, len(PATH_NUMBERS)))
    _check_numbers("path.groups", arrays["path.groups"], (int(counts.sum()), 2))
    _check_numbers("path.weights", arrays["path.weights"], (n_candidates,))
    sizes = {"path.rows": n_rows, "path.row_labels": n_rows, "path.columns": n_candidates}
    for name in sizes.keys() & arrays.keys():
        if arrays[name].shape != (n_points, sizes[name]):
            raise FileFormatError(f"saved {name} has shape {arrays[name].shape}; expected {(n_points, sizes[name])}.")
        for k, values in enumerate(arrays[name]):
            _check_indices(name, values + 1, sizes[name], int(counts[k]) + 1)
    if placed.ndim != 2 or placed.shape[0] != n_points or placed.shape[1] not in (0, arrays["inverse"].size):
        raise FileFormatError(f"saved path.placed has shape {placed.shape}, which fits neither points nor elements.")
    for k, values in enumerate(placed):
        _check_indices("path.placed", values - NOT_PLACED, values.size, int(counts[k]) - NOT_PLACED)


def _check_numbers(name: str, values: NDArray[Any], shape: tuple[int, ...]) -> None:
    """Real numbers in a given shape; NaN stands for what was not asked."""
    if values.shape != shape or values.dtype.kind != "f":
        raise FileFormatError(f"saved {name} has shape {values.shape} and type {values.dtype}; expected {shape}.")


def _plain(value: Any) -> Any:
    """The value as JSON can hold it; anything else becomes text."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, np.generic):
        return _plain(value.item())
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def _pack_sparse(name: str, matrix: csr_array) -> dict[str, NDArray[Any]]:
    """Parts of a sparse matrix."""
    return {
        f"{name}.data": matrix.data,
        f"{name}.indices": matrix.indices,
        f"{name}.indptr": matrix.indptr,
        f"{name}.shape": np.array(matrix.shape),
    }


def load(path: Path) -> Consensus:
    """Read a result; refuses anything that `save` did not write."""
    return load_more(path)[0]


def load_more(path: Path) -> tuple[Consensus, dict[str, NDArray[Any]]]:
    """Read a result and the arrays that were saved beside it."""
    try:
        with zipfile.ZipFile(path) as archive:
            _check_archive(archive, path)
            meta = json.loads(archive.read("meta.json"))
            _check_meta(meta, path)
            names = [name for name in archive.namelist() if name.endswith(".npy")]
            arrays = {name[:-4]: np.load(io.BytesIO(archive.read(name)), allow_pickle=False) for name in names}
        return _unpack(arrays, meta), {name[len(MORE) :]: arrays[name] for name in arrays if name.startswith(MORE)}
    except (FileFormatError, OSError):
        raise
    except Exception as error:
        # damaged parts make zipfile, json and NumPy raise anything, from KeyError to tokenize.TokenError
        what = f"missing part {error}" if isinstance(error, KeyError) else str(error)
        raise FileFormatError(f"{path} is not a saved consensus or is damaged: {what}.") from error


def _check_archive(archive: zipfile.ZipFile, path: Path) -> None:
    """Only plain names, and sizes that the file can hold and the machine can read."""
    for entry in archive.infolist():
        if "/" in entry.filename or "\\" in entry.filename or not entry.filename.endswith((".npy", ".json")):
            raise FileFormatError(f"{path} holds a part that does not belong there: {entry.filename!r}.")
    check_archive(archive, str(path))


def _check_meta(meta: Any, path: Path) -> None:
    """The right format in a version that this release can read."""
    if not isinstance(meta, dict) or meta.get("format") != FORMAT:
        raise FileFormatError(f"{path} is not a saved consensus.")
    if meta.get("version") != VERSION:
        raise FileFormatError(f"{path} has version {meta.get('version')!r}; this release reads version {VERSION}.")


def _unpack(arrays: dict[str, NDArray[Any]], meta: dict[str, Any]) -> Consensus:
    """Result of checked arrays and plain values."""
    rows, members = _unpack_sparse("rows", arrays), _unpack_sparse("members", arrays)
    pool = Pool(
        rows=rows,
        inverse=arrays["inverse"],
        source_of=arrays["source_of"],
        sources=tuple(Provenance(str(name), dict(params), seed) for name, params, seed in meta["sources"]),
        weights=arrays["weights"],
        names=tuple(str(name) for name in meta["names"]),
        unseen=_unpack_sparse("unseen", arrays) if "unseen.data" in arrays else None,
        mask_of=arrays.get("view_of"),
        ids=_unpack_ids(meta, arrays),
        left_out=tuple((name, reason) for name, reason in meta["left_out"]),
    )
    _check_sizes(pool, members, arrays)
    counts = arrays["candidate_counts"]
    found = Consensus(
        pool=pool,
        row_of=arrays["row_of"],
        members=members,
        candidates=tuple(np.split(arrays["candidates"], np.cumsum(counts)[:-1])) if counts.size else (),
        gains=arrays["gains"],
        objective=float(meta["objective"]),
        settings=dict(meta["settings"]),
        extraction=dict(meta["extraction"]),
        asked=dict(meta.get("asked", {})),
        weights=arrays.get("used_weights"),
        evidence=arrays.get("evidence"),
        placed=arrays.get("placed"),
        row_labels=arrays.get("row_labels"),
        trace=_unpack_path(arrays, members.shape[0], pool.shape[1]),
        named=None if meta.get("named") is None else tuple(int(name) for name in meta["named"]),
        answers=tuple(Answered(int(i), int(j), bool(together)) for i, j, together in meta.get("answers", ())),
    )
    if not found.answers:
        return found
    before = arrays["unanswered"]
    _check_indices("unanswered", before + 1, pool.shape[0], pool.shape[0] + 1)
    kept = replace(found, answers=())
    return replace(found, unanswered=regrouped(kept, before.astype(np.int64), str(meta["chosen_before"])))


def _unpack_sparse(name: str, arrays: dict[str, NDArray[Any]]) -> csr_array:
    """Sparse matrix of its parts; SciPy trusts them, so they are checked here, before it sees them."""
    data, indices, indptr = (arrays[f"{name}.{part}"] for part in ("data", "indices", "indptr"))
    n_rows, n_columns = (int(size) for size in arrays[f"{name}.shape"])
    _check_indices(f"{name}.indices", indices, data.size, n_columns)
    _check_indices(f"{name}.indptr", indptr, n_rows + 1, data.size + 1)
    if indptr[0] != 0 or indptr[-1] != data.size or (np.diff(indptr.astype(np.int64)) < 0).any():
        raise FileFormatError(f"saved {name} has row borders that do not fit its entries.")
    if data.dtype.kind not in "bu" and not (data.dtype.kind == "f" and np.isfinite(data).all()):
        raise FileFormatError(f"saved {name} must hold finite numbers, got {data.dtype}.")
    return csr_array((data, indices, indptr), shape=(n_rows, n_columns))


def _check_sizes(pool: Pool, members: csr_array, arrays: dict[str, NDArray[Any]]) -> None:
    """Every array has its size, and indices stay inside what they point to."""
    (r, n), m, groups = pool.rows.shape, arrays["inverse"].size, members.shape[1]
    _check_indices("inverse", arrays["inverse"], m, r)
    _check_indices("row_of", arrays["row_of"], m, members.shape[0])
    _check_indices("source_of", arrays["source_of"], n, len(pool.sources))
    _check_indices("candidates", arrays["candidates"], arrays["candidates"].size, n)
    _check_indices("candidate_counts", arrays["candidate_counts"], groups, arrays["candidates"].size + 1)
    if pool.unseen is not None:
        _check_indices("view_of", arrays["view_of"], n, pool.unseen.shape[1])
    if "placed" in arrays:
        _check_indices("placed", arrays["placed"] + 1, m, groups + 1)
    if "row_labels" in arrays:
        _check_indices("row_labels", arrays["row_labels"] + 1, members.shape[0], groups + 1)
    sizes = {"weights": n, "gains": groups, "used_weights": n, "evidence": groups}
    for name, size in sizes.items():
        if name not in arrays and name in ("used_weights", "evidence"):
            continue
        values = arrays[name]
        # evidence may be minus infinity: a chance of zero
        if values.shape != (size,) or values.dtype.kind != "f" or np.isnan(values).any() or (values == np.inf).any():
            raise FileFormatError(f"saved {name} must be {size} finite numbers.")
        if name != "evidence" and not np.isfinite(values).all():
            raise FileFormatError(f"saved {name} must be {size} finite numbers.")
    if len(pool.names) != n or (pool.ids is not None and pool.ids.shape != (m,)):
        raise FileFormatError("saved names or ids do not fit the number of elements and candidates.")
    if pool.unseen is not None and (pool.unseen.shape[0] != r or pool.unseen.shape[1] > n + len(pool.sources)):
        raise FileFormatError(f"saved masks have shape {pool.unseen.shape}, which fits neither rows nor sources.")
    if int(arrays["candidate_counts"].sum()) != arrays["candidates"].size:
        raise FileFormatError("saved candidates do not fit their counts.")


def _check_indices(name: str, values: NDArray[Any], size: int, bound: int) -> None:
    """The given number of whole numbers, from 0 to below the bound."""
    if values.shape != (size,) or values.dtype.kind not in "iu":
        raise FileFormatError(
            f"saved {name} has shape {values.shape} and type {values.dtype}; expected {size} indices."
        )
    if size and (values.min() < 0 or values.max() >= bound):
        raise FileFormatError(f"saved {name} points outside of the data.")
