"""Pool: the candidate groups, held as distinct rows with multiplicities."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from biconsensus._checks import check_not_empty
from biconsensus._names import parameters
from biconsensus._words import counted
from biconsensus.errors import InputTypeError
from biconsensus.pool import _build as build
from biconsensus.pool._rows import column_sums, count_numbers
from biconsensus.protocols import BoolArray, FloatArray, IntArray

TRIVIAL_SHARE = 0.9
"""A candidate with this share or more of the elements that its source saw holds nearly everything, and says nothing."""

PARTS = ("rows", "inverse", "source_of", "sources", "weights", "names")
"""Parts that every pool has."""
IN_SEARCH = {
    name: f"give it to find_consensus(pool, {name}=...)" for name in ("n_groups", "quorum", "min_elements", "together")
}
"""What to do about a setting of the search where a pool is made."""


@dataclass(frozen=True, eq=False, repr=False)
class Pool:
    """The candidate groups of m elements: n candidates, and for each of them where it came from.

    Made by `from_labels`, `from_groups` or `from_matrix`; two pools of the same elements add up.

    Examples
    --------
    >>> import biconsensus as bc
    >>> pool = bc.Pool.from_labels([[0, 0, 1, 1], ["a", "a", "b", None]])
    >>> pool.shape
    (4, 4)
    >>> pool.names
    ('source 0: 0', 'source 0: 1', 'source 1: a', 'source 1: b')
    """

    rows: csr_array
    """(r, n) distinct rows: ones (uint8) or real values (float64)."""
    inverse: NDArray[Any]
    """(m,) the distinct row of each element."""
    source_of: IntArray
    """(n,) the source of each candidate."""
    sources: tuple[build.Provenance, ...]
    weights: FloatArray
    """(n,) weight of each candidate."""
    names: tuple[str, ...]
    """(n,) name of each candidate."""
    unseen: csr_array | None = None
    """(r, v) bool: the distinct rows that each mask did not see; None where everything was seen."""
    mask_of: IntArray | None = None
    """(n,) the mask of each candidate."""
    ids: NDArray[Any] | None = None
    """(m,) the user's own identifiers of the elements."""
    left_out: tuple[tuple[str, str], ...] = ()
    """Name and reason of the candidates that `clean` left out."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """Make the object; data that is no part of a pool yet is an error that names what makes one of it."""
        if 0 < len(args) + len(kwargs) < len(PARTS):
            raise InputTypeError(
                f"Pool(...) takes the parts of a pool ({', '.join(PARTS)}); from data, use Pool.from_labels, "
                "Pool.from_groups or Pool.from_matrix."
            )
        return super().__new__(cls)

    def __post_init__(self) -> None:
        check_not_empty(self.inverse.size, self.rows.shape[1])

    @classmethod
    @parameters("Pool.from_labels([a, b, c])", **IN_SEARCH)
    def from_labels(
        cls,
        labels: Any,
        weights: Any = None,
        names: Sequence[str] | None = None,
        *,
        missing: int | None = None,
        ids: Any = None,
        sources: Sequence[build.Provenance] | None = None,
        columns: Sequence[str | int] | None = None,
    ) -> Pool:
        """Pool of several groupings, each given by one label per element.

        Parameters
        ----------
        labels : (m, c) array, list of c vectors of length m, mapping, data frame, or what `read_labels` returns
            Base labels of any type. The label -1 means "seen, and in no group"; NaN, None or a masked cell means
            "not seen": that source does not vote on the element.
        weights : (c,) or (n,) array, optional
            Weight of each grouping, or of each of its n groups.
        names : sequence of c str, optional
            Names of the groupings.
        missing : int, optional
            Code that means "not seen" in integer tables.
        ids : (m,) array, optional
            Identifiers of the elements; by default the index of a data frame.
        sources : sequence of c Provenance, optional
            Algorithm, parameters and seed behind each grouping.
        columns : sequence of str or int, optional
            The columns that vote, by name or by number. By default all, except those that the rules for files do not
            take for groupings: ids, the truth, and columns that are different in every row (in arrays and lists only
            where they are text). A `PoolWarning` says what was left out. With `names` or `sources`, or a weight for
            each column, all columns vote.

        Examples
        --------
        >>> import biconsensus as bc
        >>> bc.Pool.from_labels([[0, 0, 1], [5, 5, -1]]).to_matrix().toarray()
        array([[1., 0., 1.],
               [1., 0., 1.],
               [0., 1., 0.]])
        """
        return cls(**build.from_labels(labels, weights, names, missing, ids, sources, columns))

    @classmethod
    @parameters(**IN_SEARCH)
    def from_groups(
        cls,
        groups: Iterable[Iterable[int]],
        n_elements: int,
        weights: Any = None,
        names: Sequence[str] | None = None,
        sources: Any = None,
        seen: Any = None,
        *,
        ids: Any = None,
    ) -> Pool:
        """Pool of any sets of elements: they may overlap and need not cover everything.

        Parameters
        ----------
        groups : iterable of n iterables of int
            The elements of each candidate.
        n_elements : int
            Number of elements (m).
        weights : (n,) array, optional
            Weight of each candidate.
        names : sequence of n str, optional
            Name of each candidate.
        sources : (n,) sequence, optional
            Source of each candidate, any hashable value; by default each candidate is its own source.
        seen : (m, c) or (m, n) bool array or sparse matrix, or list of c iterables of int, optional
            What each source (or each candidate) saw; everything by default.
        ids : (m,) array, optional
            Identifiers of the elements.

        Examples
        --------
        >>> import biconsensus as bc
        >>> bc.Pool.from_groups([[0, 1], [1, 2]], n_elements=4).shape
        (4, 2)
        """
        return cls(**build.from_groups(groups, n_elements, weights, names, sources, seen, ids))

    @classmethod
    @parameters(**IN_SEARCH)
    def from_matrix(
        cls,
        A: Any,
        weights: Any = None,
        names: Sequence[str] | None = None,
        sources: Any = None,
        seen: Any = None,
        *,
        ids: Any = None,
    ) -> Pool:
        """Pool of a membership matrix, binary or real.

        Parameters
        ----------
        A : (m, n) array or sparse matrix
            Memberships: bool, or real values that are not negative. A matrix of zeros and ones is binary.
        weights, names, sources, seen, ids
            As in `from_groups`.

        Examples
        --------
        >>> import biconsensus as bc
        >>> bc.Pool.from_matrix([[1, 0], [1, 0], [0, 1]]).counts
        array([2, 1])
        """
        return cls(**build.from_matrix(A, weights, names, sources, seen, ids))

    def __repr__(self) -> str:
        """One line: elements, candidates, sources."""
        m, (r, n) = self.inverse.size, self.rows.shape
        return (
            f"Pool({counted(m, 'element')} in {counted(r, 'distinct row')}, {counted(n, 'candidate')} "
            f"of {counted(len(self.sources), 'source')})"
        )

    @property
    def shape(self) -> tuple[int, int]:
        """Number of elements and of candidates (m, n)."""
        return self.inverse.size, self.rows.shape[1]

    @cached_property
    def counts(self) -> IntArray:
        """(r,) number of elements that share each distinct row."""
        return count_numbers(self.inverse, self.rows.shape[0])

    @property
    def binary(self) -> bool:
        """Whether candidates are sets (true) or have real-valued members."""
        return bool(self.rows.dtype == np.uint8)

    @cached_property
    def sizes(self) -> IntArray:
        """(n,) number of elements in each candidate."""
        return column_sums(self.rows, self.counts).astype(np.int64)

    @property
    def seen_sizes(self) -> IntArray:
        """(n,) number of elements that the source of each candidate saw."""
        m, n = self.shape
        if self.unseen is None or self.mask_of is None:
            return np.full(n, m, np.int64)
        return np.asarray(m - (self.counts @ self.unseen.astype(np.int64))[self.mask_of])

    @cached_property
    def mask_of_source(self) -> IntArray:
        """(c,) the mask of each source; a source without candidates gets the first mask."""
        masks = np.zeros(len(self.sources), np.int64)
        if self.mask_of is not None:
            masks[self.source_of] = self.mask_of
        return masks

    def masks(self) -> tuple[IntArray, csr_array | None]:
        """Mask of each candidate and what each mask did not see, identical masks merged.

        Examples
        --------
        >>> import biconsensus as bc
        >>> mask, unseen = bc.Pool.from_labels([[0, 0, None], [1, 1, None], [0, 0, 0]]).masks()
        >>> mask, unseen.shape
        (array([0, 0, 1]), (2, 2))
        """
        return build.merged_masks(self)

    def to_matrix(self) -> csr_array:
        """Memberships of all elements as an (m, n) sparse matrix; weights are not applied.

        Examples
        --------
        >>> import biconsensus as bc
        >>> bc.Pool.from_groups([[0, 1], [1, 2]], n_elements=3).to_matrix().toarray()
        array([[1., 0.],
               [1., 1.],
               [0., 1.]])
        """
        return csr_array(self.rows[self.inverse], dtype=np.float64)

    def clean(self) -> Pool:
        """Leave out candidates that are empty or hold 90% or more of the elements that their source saw.

        What was left out is listed in `left_out` and logged.

        Examples
        --------
        >>> import biconsensus as bc
        >>> pool = bc.Pool.from_labels([[0, 0, 0, 0], [0, 0, 1, 1]], names=["lump", "halves"]).clean()
        >>> pool.names, pool.left_out
        (('halves: 0', 'halves: 1'), (('lump: 0', 'trivial: holds 4 of 4'),))
        """
        return build.clean(self, TRIVIAL_SHARE)

    def select(self, elements: Any = None, candidates: Any = None, sources: Any = None) -> Pool:
        """Pool of some elements, candidates or sources, by index or mask.

        Examples
        --------
        >>> import biconsensus as bc
        >>> pool = bc.Pool.from_labels([[0, 0, 1], [0, 1, 1]])
        >>> pool.select(sources=[1]).shape, pool.select(elements=[0, 2]).shape
        ((3, 2), (2, 4))
        """
        return build.select(self, elements, candidates, sources)

    def __add__(self, other: Pool) -> Pool:
        """Candidates of both pools over the same elements."""
        return build.add(self, other) if isinstance(other, Pool) else NotImplemented

    def join(self, together: Iterable[Iterable[int]]) -> Pool:
        """Seeds: elements that must share a group get the disjunction (maximum) of their rows.

        Lists that share an element are joined. A joined row is seen where any of its elements was seen, and every
        element keeps its own multiplicity.

        Examples
        --------
        >>> import biconsensus as bc
        >>> bc.Pool.from_labels([[0, 0, 1, 1]]).join([[1, 2]]).to_matrix().toarray()[1]
        array([1., 1.])
        """
        return build.join(self, together)


def tells_apart(pool: Pool) -> BoolArray:
    """(n,) whether a candidate tells elements apart: it holds some, and not nearly all that its source saw."""
    return np.asarray((pool.sizes > 0) & (pool.sizes < TRIVIAL_SHARE * pool.seen_sizes))


def without_trivial(pool: Pool) -> Pool:
    """The pool without candidates that hold nearly everything, unless there are no others."""
    return pool.clean() if tells_apart(pool).any() else pool


def seen_by_sources(pool: Pool, rows: IntArray | slice = slice(None)) -> BoolArray:
    """(k, c) which sources saw some of the distinct rows, all of them by default."""
    if pool.unseen is None:
        return np.ones((np.arange(pool.rows.shape[0])[rows].size, len(pool.sources)), bool)
    return np.asarray(~pool.unseen[rows].toarray()[:, pool.mask_of_source])


def first_of_rows(pool: Pool) -> IntArray:
    """(r,) the first element of each distinct row."""
    first = np.empty(pool.rows.shape[0], np.int64)
    first[pool.inverse[::-1]] = np.arange(pool.inverse.size)[::-1]
    return first


def label_in_source(pool: Pool, candidate: int) -> str:
    """Label of a candidate within its source: its name without that of the source."""
    return pool.names[candidate].removeprefix(f"{pool.sources[pool.source_of[candidate]].name}: ")
