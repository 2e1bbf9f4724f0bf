"""How a Pool is made: from what people have, from parts of a pool, from two pools."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack, issparse, vstack

from biconsensus._checks import (
    as_numbers,
    check_count,
    check_indices,
    check_matrix_entries,
    check_not_empty,
    check_weights,
)
from biconsensus._words import counted, listed
from biconsensus.errors import InputError, InputTypeError, UnknownNameError
from biconsensus.pool._labels import UNSEEN, Column, LabelVectors, code_cells, encode, exact_array
from biconsensus.pool._rows import distinct_cells, group_columns, group_rows, refine_groups
from biconsensus.pool.io._doubts import AS_POINTS, content_doubts, shape_doubts
from biconsensus.pool.io._roles import LABELS, MEASURES, TRUTH_NAMES, VECTORS, Raw, Reading, roles_of, warn_of
from biconsensus.protocols import FloatArray, IntArray

if TYPE_CHECKING:
    from biconsensus.pool._pool import Pool


@dataclass(frozen=True)
class Provenance:
    """Where candidates come from: one run of one algorithm.

    Examples
    --------
    >>> import biconsensus as bc
    >>> run = bc.Provenance("k-means", {"n_clusters": 2}, seed=0)
    >>> bc.Pool.from_labels([[0, 0, 1, 1]], sources=[run]).sources[0].params
    {'n_clusters': 2}
    """

    name: str
    params: dict[str, Any] = field(default_factory=dict)
    seed: int | None = None


def from_labels(
    labels: Any,
    weights: Any,
    names: Sequence[str] | None,
    missing: int | None,
    ids: Any,
    sources: Sequence[Provenance] | None,
    columns: Sequence[str | int] | None,
) -> dict[str, Any]:
    """Fields of the pool of a label table."""
    table = LabelVectors.of(labels)
    # somebody has said which columns are groupings, or described each of them
    described = table.chosen or names is not None or sources is not None or np.size(weights) == len(table.vectors)
    plain = not table.named and all(_is_numbers(vector) for vector in table.vectors)
    if columns is not None or not (described or plain or len(table.vectors) < 2):
        table = _groupings(table, columns, ids is not None)
    fields = _from_columns(*encode(table, missing), weights, names, ids, sources)
    if columns is None and not described and missing is None:
        _warn_of_doubts(table, two_ways=hasattr(labels, "shape"))
    return fields


def _warn_of_doubts(table: LabelVectors, two_ways: bool) -> None:
    """Warn where a table in memory looks like something else; `two_ways` is whether it may be the other way round."""
    cells = _Values(table)
    doubts = content_doubts(cells, table.ids) + (shape_doubts(cells) if two_ways else [])
    if len(table.vectors) > 2 and all(str(getattr(vector, "dtype", "")).startswith("bool") for vector in table.vectors):
        doubts.append(
            "all columns are True or False, and each is read as a grouping into two groups; if True means that the "
            "element is in the group of the column, use Pool.from_matrix"
        )
    points = "ConsensusClustering finds groups in a table of numbers; columns=[...] says which columns vote"
    warn_of([doubt.replace(AS_POINTS, points) for doubt in doubts], "labels", "")


def _is_numbers(vector: Any) -> bool:
    """Whether a label vector holds numbers of NumPy."""
    return isinstance(vector, np.ndarray) and vector.dtype.kind in "biuf"


def _groupings(table: LabelVectors, columns: Sequence[str | int] | None, has_ids: bool) -> LabelVectors:
    """The columns that vote, by the rules of files; one that tells the elements apart may become their ids."""
    kind = LABELS if table.named else VECTORS
    raw = Raw("labels", _Values(table), has_ids=has_ids or table.ids is not None)
    roles = roles_of(raw, kind, Reading(columns=columns))
    if columns is None:
        warn_of(roles.notes, "labels", "Pool.from_labels(labels, columns=[...]) decides")
    own = table.ids if roles.ids is None else exact_array(table.values(roles.ids))
    return replace(table.select(roles.used), ids=own)


class _Values(Mapping[str, NDArray[Any]]):
    """Labels of each column, made when somebody looks at them."""

    def __init__(self, table: LabelVectors) -> None:
        self.table = table

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self.table.values(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.table.names)

    def __len__(self) -> int:
        return len(self.table.names)


def labels_by_sources(labels: Any, pool: Pool) -> LabelVectors:
    """Labels of new elements by the sources of a pool: columns by their names where they have them, else in order.

    The ids are those of the table, or its only other column, where the pool has ids.
    """
    table, wanted = LabelVectors.of(labels), [source.name for source in pool.sources]
    others = [name for name in table.names if name not in wanted]
    if table.named and len(set(wanted)) == len(wanted) and len(others) < len(table.names):
        lost = [name for name in wanted if name not in table.names]
        if lost:
            raise UnknownNameError(
                f"labels has no column for {listed(lost)} of the pool; its columns are {', '.join(table.names)}."
            )
        ids = [name for name in others if name.lower() not in TRUTH_NAMES | MEASURES]
        if table.ids is None and len(ids) == 1:
            table = replace(table, ids=exact_array(table.values(ids[0])))
        table = table.select(wanted)
    return replace(table, chosen=True, ids=None if pool.ids is None else table.ids)


def _from_columns(
    columns: list[Column],
    given: list[str],
    index: Any,
    weights: Any,
    names: Sequence[str] | None,
    ids: Any,
    sources: Sequence[Provenance] | None,
) -> dict[str, Any]:
    """Fields of the pool of encoded groupings."""
    names = _check_names(names, len(columns), "names") or [s.name for s in sources or ()] or given
    check_not_empty(columns[0].cells.size, 1)
    distinct, inverse = distinct_cells([column.cells for column in columns])
    codes, coded = code_cells(columns, distinct)
    del distinct
    if not any(coded):  # every grouping put everything in no group: a candidate without elements stands for each
        coded = [["no group"] for _ in coded]
    widths = [len(groups) for groups in coded]
    source_of = np.repeat(np.arange(len(columns)), widths)
    masks = _masks(csr_array(codes == UNSEEN), source_of) if codes.min() == UNSEEN else {}
    return {
        "rows": _memberships(codes, source_of.size),
        "inverse": inverse,
        "source_of": source_of,
        "sources": tuple(sources) if sources else tuple(Provenance(name) for name in names),
        "weights": _label_weights(weights, source_of, len(columns)),
        "names": tuple(f"{name}: {group}" for name, groups in zip(names, coded) for group in groups),
        "ids": _check_ids(index if ids is None else ids, inverse.size),
        **masks,
    }


def _memberships(groups: NDArray[np.int32], n_groups: int) -> csr_array:
    """(r, n) ones where row i is in group j, from the groups (r, c) of each row; negative ones are none."""
    n_rows, n_sources = groups.shape
    if groups.min() >= 0:
        indices, indptr = groups.ravel(), np.arange(0, groups.size + 1, n_sources)
    else:
        inside = groups >= 0
        indices, indptr = groups[inside], np.concatenate([[0], np.cumsum(inside.sum(axis=1))])
    # in one type with the indices, which SciPy would copy otherwise
    indptr = indptr.astype(np.int32 if indices.size < 2**31 else np.int64)
    ones = np.ones(indices.size, np.uint8)
    return csr_array((ones, indices, indptr), shape=(n_rows, n_groups))


def _label_weights(weights: Any, source_of: IntArray, n_sources: int) -> FloatArray:
    """Weights of candidates, given for each grouping or for each candidate."""
    if weights is None:
        return np.ones(source_of.size)
    values = as_numbers(weights, "weights")
    if values.size == n_sources:
        return check_weights(values, n_sources)[source_of]
    if values.size != source_of.size:
        raise InputError(
            f"weights has {counted(values.size, 'value')}; give {n_sources}, one for each grouping, or "
            f"{source_of.size}, one for each of their groups."
        )
    return check_weights(values, source_of.size)


def _masks(unseen: csr_array, source_of: IntArray) -> dict[str, Any]:
    """Fields for what was not seen; nothing where everything was."""
    if unseen.nnz == 0:
        return {}
    return {"unseen": csr_array(unseen.astype(bool)), "mask_of": source_of}


def from_groups(
    groups: Iterable[Iterable[int]],
    n_elements: int,
    weights: Any,
    names: Sequence[str] | None,
    sources: Any,
    seen: Any,
    ids: Any,
) -> dict[str, Any]:
    """Fields of the pool of sets of elements."""
    m = check_count("n_elements", n_elements, low=0)
    members = [np.unique(check_indices(f"group {j}", list(group), m)) for j, group in enumerate(groups)]
    check_not_empty(m, len(members))
    columns = np.repeat(np.arange(len(members)), [group.size for group in members])
    cells = np.ones(columns.size, np.uint8)
    matrix = csr_array((cells, (np.concatenate(members), columns)), shape=(m, len(members)))
    return from_matrix(matrix, weights, names, sources, seen, ids)


def from_matrix(A: Any, weights: Any, names: Sequence[str] | None, sources: Any, seen: Any, ids: Any) -> dict[str, Any]:
    """Fields of the pool of a membership matrix."""
    matrix = _canonical(A)
    m, n = matrix.shape
    check_not_empty(m, n)
    source_of, provenance = _sources(sources, n)
    unseen, mask_of = _unseen(seen, m, n, source_of, len(provenance))
    mask = None if unseen is None else group_rows(unseen.astype(np.uint8))[1]
    first, inverse = group_rows(matrix, mask)
    return {
        "rows": csr_array(matrix[first]),
        "inverse": inverse,
        "source_of": source_of,
        "sources": provenance,
        "weights": np.ones(n) if weights is None else check_weights(weights, n),
        "names": tuple(_check_names(names, n, "names") or [f"candidate {j}" for j in range(n)]),
        "unseen": None if unseen is None else csr_array(unseen[first]),
        "mask_of": None if unseen is None else mask_of,
        "ids": _check_ids(ids, m),
    }


def _canonical(A: Any) -> csr_array:
    """Own CSR copy: sorted, summed, no stored zeros; ones as uint8, real values as float64."""
    if not issparse(A):
        A = np.asarray(A)
        if A.ndim != 2:
            raise InputError(f"A must have 2 dimensions (elements, candidates), got {A.ndim}.")
    if A.dtype.kind not in "biuf":
        raise InputTypeError(f"A must be bool or real, got values of type {A.dtype}.")
    matrix = csr_array(A, dtype=np.float64, copy=True)
    check_matrix_entries(matrix.data, matrix.indices)
    matrix.sum_duplicates()
    if A.dtype == bool:
        matrix.data = np.minimum(matrix.data, 1.0)
    matrix.eliminate_zeros()
    check_matrix_entries(matrix.data, matrix.indices)
    return csr_array(matrix.astype(np.uint8)) if (matrix.data == 1).all() else matrix


def _sources(sources: Any, n: int) -> tuple[IntArray, tuple[Provenance, ...]]:
    """Source number of each candidate and the sources, in order of appearance."""
    if sources is None:
        return np.arange(n), tuple(Provenance(f"candidate {j}") for j in range(n))
    given = list(sources)
    if len(given) != n:
        raise InputError(
            f"sources has {counted(len(given), 'value')} for {counted(n, 'candidate')}; give one for each."
        )
    number: dict[Any, int] = {}
    source_of = np.array([number.setdefault(_source_key(source), len(number)) for source in given])
    distinct = {_source_key(source): source for source in given}
    return source_of, tuple(s if isinstance(s, Provenance) else Provenance(str(s)) for s in distinct.values())


def _source_key(source: Any) -> Any:
    """What makes two sources one: equal values, or equal provenance."""
    return (source.name, repr(source.params), source.seed) if isinstance(source, Provenance) else source


def _unseen(seen: Any, m: int, n: int, source_of: IntArray, n_sources: int) -> tuple[csr_array | None, IntArray]:
    """(m, v) what each mask did not see, and the mask of each candidate."""
    if seen is None:
        return None, source_of
    # nested lists are lists of elements, unless they are the rows of a mask
    if isinstance(seen, (list, tuple)) and not (
        len(seen) == m and np.asarray(seen[0]).dtype == bool and len(seen[0]) in (n, n_sources)
    ):
        mask = np.zeros((m, len(seen)), bool)
        for k, elements in enumerate(seen):
            mask[check_indices(f"seen[{k}]", list(elements), m), k] = True
    else:
        mask = seen.toarray() if issparse(seen) else np.asarray(seen)
    mask = np.asarray(mask, dtype=bool)
    if mask.shape == (m, n_sources):
        mask_of = source_of
    elif mask.shape == (m, n):
        mask_of = np.arange(n)
    else:
        raise InputError(
            f"seen has shape {mask.shape}; allowed are {(m, n_sources)} (sources) and {(m, n)} (candidates)."
        )
    return (None if mask.all() else csr_array(~mask)), mask_of


def _check_names(names: Sequence[str] | None, size: int, what: str) -> list[str]:
    """As many names as there are things to name."""
    if names is None:
        return []
    if len(names) != size:
        raise InputError(f"{what} has {counted(len(names), 'value')}; the pool needs {size:,}.")
    return [str(name) for name in names]


def _check_ids(ids: Any, m: int) -> NDArray[Any] | None:
    """One identifier for each element."""
    if ids is None:
        return None
    if isinstance(ids, str):
        raise InputTypeError(f"ids must be one for each element, got {ids!r}; give the column itself: table[{ids!r}].")
    values = exact_array(ids)
    if values.shape != (m,):
        raise InputError(f"ids has shape {values.shape}; it must be ({m},), one for each element.")
    return values


def joined_sets(together: Iterable[Iterable[int]], m: int) -> list[IntArray]:
    """Disjoint sets of elements: lists that share an element are joined."""
    sets: list[set[int]] = []
    for k, given in enumerate(together):
        if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
            raise InputTypeError(
                f"together[{k}] is {given!r}; give lists of elements that must share a group, as in [[0, 1], [4, 7]]."
            )
        new = set(check_indices(f"together[{k}]", list(given), m).tolist())
        for old in [s for s in sets if s & new]:
            sets.remove(old)
            new |= old
        sets.append(new)
    return [np.array(sorted(s), dtype=np.int64) for s in sets if len(s) > 1]


logger = logging.getLogger("biconsensus")

ROWS_AT_ONCE = 8_192
"""Rows that are copied together, so that they stay in the cache."""


def select(pool: Pool, elements: Any, candidates: Any, sources: Any) -> Pool:
    """Pool of some elements, candidates and sources."""
    n_elements = pool.shape[0]
    if sources is not None:
        pool = _of_sources(pool, check_indices("sources", sources, len(pool.sources)))
    if candidates is not None:
        pool = _of_candidates(pool, check_indices("candidates", candidates, pool.shape[1]))
    if elements is not None:
        pool = _of_elements(pool, check_indices("elements", elements, n_elements))
    return pool


def clean(pool: Pool, trivial_share: float) -> Pool:
    """Pool without the candidates that are empty or hold at least this share of what their source saw."""
    sizes, seen = pool.sizes, pool.seen_sizes
    drop = (sizes >= trivial_share * seen) | (sizes == 0)
    reasons = tuple(
        (pool.names[j], "empty" if sizes[j] == 0 else f"trivial: holds {sizes[j]} of {seen[j]}")
        for j in np.flatnonzero(drop)
    )
    if drop.all():
        raise InputError(f"nothing is left of the pool: all {drop.size} candidates are empty or trivial.")
    for name, reason in reasons:
        logger.info("left out candidate %r: %s", name, reason)
    return replace(_of_candidates(pool, np.flatnonzero(~drop)), left_out=pool.left_out + reasons) if reasons else pool


def _of_sources(pool: Pool, kept: IntArray) -> Pool:
    """Candidates of the given sources, which are renumbered."""
    part = _of_candidates(pool, np.flatnonzero(np.isin(pool.source_of, kept)))
    number = np.full(len(pool.sources), -1, np.int64)
    number[kept] = np.arange(kept.size)
    return replace(part, source_of=number[part.source_of], sources=tuple(pool.sources[k] for k in kept))


def _of_candidates(pool: Pool, kept: IntArray) -> Pool:
    """The given candidates."""
    part = replace(
        pool,
        rows=csr_array(pool.rows[:, kept]),
        source_of=pool.source_of[kept],
        weights=pool.weights[kept],
        names=tuple(pool.names[j] for j in kept),
        **_views_of(pool, kept),
    )
    return regrouped(part)


def _views_of(pool: Pool, kept: IntArray) -> dict[str, Any]:
    """Fields for the masks that the given candidates still need."""
    if pool.unseen is None or pool.mask_of is None:
        return {}
    used, mask_of = np.unique(pool.mask_of[kept], return_inverse=True)
    unseen = csr_array(pool.unseen[:, used])
    return {"unseen": unseen, "mask_of": mask_of} if unseen.nnz else {"unseen": None, "mask_of": None}


def merged_masks(pool: Pool) -> tuple[IntArray, csr_array | None]:
    """Mask of each candidate and what each mask did not see, identical masks merged."""
    if pool.unseen is None or pool.mask_of is None:
        return np.zeros(pool.shape[1], np.int64), None
    # what a source without candidates saw changes nothing
    used, mask_of = np.unique(pool.mask_of, return_inverse=True)
    unseen = csr_array(pool.unseen[:, used])
    first, merged = group_rows(csr_array(unseen.T))
    return merged[mask_of].astype(np.int64), csr_array(unseen[:, first])


def _of_elements(pool: Pool, kept: IntArray) -> Pool:
    """The given elements."""
    ids = None if pool.ids is None else pool.ids[kept]
    return regrouped(replace(pool, inverse=pool.inverse[kept], ids=ids))


def regrouped(pool: Pool) -> Pool:
    """Merge rows that have become equal and drop those without elements, in order of appearance."""
    mask = None
    if pool.unseen is not None:
        mask = group_rows(csr_array(pool.unseen.astype(np.uint8)))[1].astype(np.int64)
    merged = group_rows(pool.rows, mask)[1]
    first, inverse = group_columns([merged[pool.inverse]])
    kept = pool.inverse[first]
    unseen = None if pool.unseen is None else csr_array(pool.unseen[kept])
    return replace(pool, rows=csr_array(pool.rows[kept]), inverse=inverse, unseen=unseen)


def add(*pools: Pool) -> Pool:
    """Candidates of all pools over the same elements; the rows of many pools are told apart in one pass."""
    first_pool, *others = pools
    known = next((pool.ids for pool in pools if pool.ids is not None), None)
    for pool in others:
        if first_pool.shape[0] != pool.shape[0]:
            raise InputError(f"pools must have the same elements; they have {first_pool.shape[0]} and {pool.shape[0]}.")
        if known is not None and pool.ids is not None and not np.array_equal(known, pool.ids):
            raise InputError("pools must have the same elements in the same order; their ids differ.")
    places = [pool.inverse for pool in pools]
    first, inverse = refine_groups(*places) if len(pools) == 2 else group_columns(places)
    parts = [(pool, pool.inverse[first]) for pool in pools]
    unseen, mask_of = _side_by_side(parts)
    shifts = np.cumsum([0, *(len(pool.sources) for pool in pools)])
    return replace(
        first_pool,
        rows=_rows_beside(parts),
        inverse=inverse,
        source_of=np.concatenate([pool.source_of + shift for pool, shift in zip(pools, shifts)]),
        sources=tuple(source for pool in pools for source in pool.sources),
        weights=np.concatenate([pool.weights for pool in pools]),
        names=tuple(name for pool in pools for name in pool.names),
        unseen=unseen,
        mask_of=mask_of,
        ids=known,
        left_out=tuple(left for pool in pools for left in pool.left_out),
    )


def _rows_beside(parts: list[tuple[Pool, IntArray]]) -> csr_array:
    """Some rows of each pool, next to each other."""
    tables = [table for pool, _ in parts if pool.binary and (table := _as_table(pool.rows)) is not None]
    if len(tables) < len(parts):
        return csr_array(hstack([pool.rows[rows] for pool, rows in parts], format="csr"))
    # every row holds as many candidates, as in partitions: a table of numbers, many times as fast as a sparse matrix
    shift, start, size = 0, 0, parts[0][1].size
    joined = np.empty((size, sum(table.shape[1] for table in tables)), np.int32)
    for (pool, rows), table in zip(parts, tables):
        stop = start + table.shape[1]
        for first in range(0, size, ROWS_AT_ONCE):
            some = slice(first, first + ROWS_AT_ONCE)
            np.add(np.take(table, rows[some], axis=0), np.int32(shift), out=joined[some, start:stop])
        shift, start = shift + pool.shape[1], stop
    # in one type with the indices, which SciPy would copy otherwise
    indptr = np.arange(0, joined.size + 1, start, dtype=np.int32 if joined.size < 2**31 else np.int64)
    return csr_array((np.ones(joined.size, np.uint8), joined.ravel(), indptr), shape=(size, shift))


def _as_table(rows: csr_array) -> NDArray[np.int32] | None:
    """(r, c) the stored columns of each row, where all rows have as many and numbers are small; None otherwise."""
    lengths = np.diff(rows.indptr)
    if lengths.size == 0 or lengths.min() != lengths.max() or rows.shape[1] >= 2**31:
        return None
    table: NDArray[np.int32] = rows.indices.astype(np.int32, copy=False).reshape(lengths.size, int(lengths[0]))
    return table


def _side_by_side(parts: list[tuple[Pool, IntArray]]) -> tuple[csr_array | None, IntArray | None]:
    """Masks of pools next to each other; a pool that saw everything has one mask with nothing unseen."""
    if all(pool.unseen is None for pool, _ in parts):
        return None, None
    hidden, masks, shift = [], [], 0
    for pool, rows in parts:
        blank = csr_array((rows.size, 1), dtype=bool)
        hidden.append(blank if pool.unseen is None else pool.unseen[rows])
        own = np.zeros(pool.shape[1], np.int64) if pool.mask_of is None else pool.mask_of
        masks.append(own + shift)
        shift += hidden[-1].shape[1]
    return csr_array(hstack(hidden, format="csr")), np.concatenate(masks)


def join(pool: Pool, together: Iterable[Iterable[int]]) -> Pool:
    """Give elements that must share a group the disjunction (maximum) of their rows."""
    inverse = pool.inverse.astype(np.int64)
    rows, unseen = [pool.rows], [pool.unseen]
    for elements in joined_sets(together, pool.shape[0]):
        distinct = np.unique(pool.inverse[elements])
        inverse[elements] = sum(part.shape[0] for part in rows)
        rows.append(csr_array(pool.rows[distinct].max(axis=0).reshape(1, -1)).astype(pool.rows.dtype))
        if pool.unseen is not None:
            hidden = pool.unseen[distinct].astype(np.int64).sum(axis=0) == distinct.size
            unseen.append(csr_array(hidden.reshape(1, -1)))
    stacked = None if pool.unseen is None else csr_array(vstack(unseen, format="csr"))
    return regrouped(replace(pool, rows=csr_array(vstack(rows, format="csr")), inverse=inverse, unseen=stacked))
