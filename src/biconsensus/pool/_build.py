"""From what people have to the fields of a Pool."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from biconsensus._checks import (
    as_numbers,
    check_count,
    check_indices,
    check_matrix_entries,
    check_not_empty,
    check_weights,
)
from biconsensus.errors import InputError, InputTypeError
from biconsensus.pool._labels import UNSEEN, code_cells, encode, exact_array
from biconsensus.pool._rows import distinct_cells, group_rows
from biconsensus.protocols import FloatArray, IntArray


@dataclass(frozen=True)
class Provenance:
    """Where candidates come from: one run of one algorithm."""

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
) -> dict[str, Any]:
    """Fields of the pool of a label table."""
    columns, given, index = encode(labels, missing)
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
        raise InputError(f"sources has {len(given)} values for {n} candidates; give one for each.")
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
        raise InputError(f"{what} has {len(names)} values; {size} are needed.")
    return [str(name) for name in names]


def _check_ids(ids: Any, m: int) -> NDArray[Any] | None:
    """One identifier for each element."""
    if ids is None:
        return None
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
