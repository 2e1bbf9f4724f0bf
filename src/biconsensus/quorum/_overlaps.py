"""What the overlaps of the candidates say: how certain the pool is of each."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from biconsensus.matrix._groups import sums_by
from biconsensus.matrix._matrix import PreferenceMatrix
from biconsensus.pool._rows import row_parts
from biconsensus.protocols import FloatArray, IntArray

TABLE = 8
"""Cells of a table for each row counted into it, up to which tables beat sparse products; estimated, for speed."""
CELLS = 1 << 18
"""Cells of a table of three sources: two megabytes, so that it stays in the cache."""
ROWS = 1 << 14
"""Rows that are counted together: what is made of them stays in the cache."""
CERTAINTY_SCALE = 0.4
"""Scale of the certainty of candidates, as published for locally weighted ensembles."""
NORMALISED_SCALE = 0.05
"""The same where the entropy is normalised: its authors publish 0.02 to 0.18 for twelve data sets; 0.05 to 0.07 are a
plateau (benchmarks/tuning/given_number.py)."""


@dataclass(frozen=True)
class Overlaps:
    """The elements that each two columns of a pool share.

    Examples
    --------
    >>> import biconsensus as bc
    >>> pool = bc.Pool.from_labels([[0, 0, 1, 1], [0, 0, 0, 1]])
    >>> overlaps = Overlaps.of(bc.PreferenceMatrix.from_pool(pool))
    >>> sorted(overlaps.certainty().round(3).tolist())
    [0.287, 0.317, 1.0, 1.0]
    """

    problem: PreferenceMatrix
    shared: csr_array
    """(q, q) elements that two columns share; sparse, because most of many columns share none."""

    @classmethod
    def of(cls, problem: PreferenceMatrix) -> Overlaps:
        """Count them on the distinct rows."""
        by_source = _places_by_source(problem)
        if by_source is not None:
            return cls(problem, _shared_by_sources(problem, *by_source))
        entries = problem.entries.astype(np.float64)
        return cls(problem, csr_array(entries.T @ (entries * problem.counts[:, None])))

    @cached_property
    def _left(self) -> FloatArray:
        """(q, c) elements of each column that each source saw and put in no candidate."""
        left = self.problem.sizes[:, None] - self.shared @ self._backers
        if self.problem.unseen is not None:
            members = self.problem.entries.astype(np.float64) * self.problem.counts[:, None]
            left = left - self.problem.unseen_by_source(members).T
        return np.asarray(np.maximum(left, 0.0))

    @cached_property
    def _backers(self) -> FloatArray:
        """(q, c) sources behind each column."""
        return np.asarray(self.problem.backers.astype(np.float64).toarray())

    def certainty(self, scale: float = CERTAINTY_SCALE) -> FloatArray:
        """How certain the pool is of each column.

        Parameters
        ----------
        scale : float
            Small values punish uncertain candidates more.

        Returns
        -------
        (q,) array
            In (0, 1]: 1 for a column that no source cuts.

        Notes
        -----
        ``exp(-H_j / (scale c))`` with H_j the entropy (bits) of column j over the candidates of each source that saw
        it, summed over the c sources; what a source saw and put in no candidate is one more class.
        """
        return np.asarray(np.exp(-self._mean_bits / scale))

    def normalised_certainty(self, scale: float = NORMALISED_SCALE) -> FloatArray:
        """How certain the pool is of each column, relative to how many columns its source has.

        Parameters
        ----------
        scale : float
            Small values punish uncertain candidates more.

        Returns
        -------
        (q,) array
            In (0, 1]: 1 for a column that no source cuts.

        Notes
        -----
        As `certainty`, with the entropy divided by log2 of the number of columns of the column's own source, after the
        first stage of SDGCA (2025): what is certain is not the same for sources that see few groups and many.
        """
        number = self._backers.sum(axis=0)
        own = self._backers @ number / np.maximum(self._backers.sum(axis=1), 1.0)
        return np.asarray(np.exp(-self._mean_bits / np.log2(np.maximum(own, 2.0)) / scale))

    @cached_property
    def _mean_bits(self) -> FloatArray:
        """(q,) entropy of each column over the candidates of a source, in bits, mean over the sources."""
        parts = self.shared.copy()
        parts.data = _xlogx(parts.data)
        # entropy of parts x of a whole n: sum of -(x/n) log(x/n) = (n log n - sum of x log x) / n
        whole = np.maximum(self.shared @ self._backers + self._left, 1e-12)
        bits = np.maximum(_xlogx(whole) - parts @ self._backers - _xlogx(self._left), 0.0) / whole
        return np.asarray(bits @ self._votes)

    @cached_property
    def _votes(self) -> FloatArray:
        """(c,) share of each source in the judgement of the others' columns: the mean weight of its own columns.

        A source without a weighted column, such as one that sees everything as one group, counts as others do.
        """
        weighted = self._backers * (self.problem.weights > 0)[:, None]
        number = weighted.sum(axis=0)
        # candidates that are the same are one column, which has the weight of all of them
        each = self.problem.weights / np.maximum(self._backers.sum(axis=1), 1.0)
        mean = weighted.T @ each / np.maximum(number, 1.0)
        votes = np.where(number > 0, mean, mean[number > 0].mean() if number.any() else 1.0)
        return np.asarray(votes / votes.sum())


def _places_by_source(problem: PreferenceMatrix) -> tuple[list[IntArray], NDArray[Any]] | None:
    """The columns of each source, and (c, r) the place among them of the one that holds each row, behind all for none.

    A column that several sources made is that of the first of them. None where sources overlap themselves.
    """
    backers, entries = problem.backers, problem.entries
    n_sources, n_rows = backers.shape[1], problem.shape[0]
    if not problem.binary or n_sources * n_rows > TABLE * entries.nnz:
        return None
    source = backers.indices[backers.indptr[:-1]]
    own = [np.flatnonzero(source == k) for k in range(n_sources)]
    n_own = np.array([columns.size for columns in own])
    place = np.empty(source.size, np.int16 if n_own.max() < 2**15 else np.int32)
    for columns in own:
        place[columns] = np.arange(columns.size)
    held = np.empty((n_sources, n_rows), place.dtype)
    held[:] = n_own[:, None]
    for rows, stored, lengths in row_parts(entries):
        indices = entries.indices[stored]
        owner, places = np.take(source, indices), np.take(place, indices)
        if (lengths == n_sources).all() and (owner.reshape(-1, n_sources) == np.arange(n_sources)).all():
            held[:, rows] = places.reshape(-1, n_sources).T  # each row has a column of every source, in order
        else:
            held[owner, np.repeat(np.arange(rows.start, rows.stop), lengths)] = places
    n_held = sum(np.count_nonzero(places < columns.size) for columns, places in zip(own, held, strict=True))
    return (own, held) if n_held == entries.nnz else None


def _shared_by_sources(problem: PreferenceMatrix, own: list[IntArray], held: NDArray[Any]) -> csr_array:
    """(q, q) elements that two columns share, counted for two sources at a time; each source's own do not meet."""
    counts, n_columns = problem.counts.astype(np.float64), problem.shape[1]
    used = [k for k, columns in enumerate(own) if columns.size]
    found: list[tuple[IntArray, IntArray, FloatArray]] = [(np.arange(n_columns), np.arange(n_columns), problem.sizes)]
    for a, b, left, right, amounts in _met([held[k] for k in used], counts, [own[k].size + 1 for k in used]):
        first, second = own[used[a]], own[used[b]]
        inside = (left < first.size) & (right < second.size)
        i, j, amounts = first[left[inside]], second[right[inside]], amounts[inside]
        found += [(i, j, amounts), (j, i, amounts)]
    rows, columns, amounts = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return csr_array((amounts, (rows, columns)), shape=(n_columns, n_columns))


def _met(
    held: list[NDArray[Any]], counts: FloatArray, widths: list[int]
) -> Iterator[tuple[int, int, IntArray, IntArray, FloatArray]]:
    """For every two sources: both, the pairs of their places (r,) that meet, and how many elements have each pair."""
    n = len(widths)
    for a, b in combinations(range(n), 2):
        # every two sources are in one set of three whose numbers add up to a multiple of n, and count with the third
        c = -(a + b) % n
        cells = widths[a] * widths[b] * widths[c]
        if c not in (a, b) and cells <= min(CELLS, counts.size):
            if c > b:
                table = _counted([held[k] for k in (a, b, c)], counts, [widths[k] for k in (a, b, c)])
                for axis, (i, j) in enumerate(((b, c), (a, c), (a, b))):
                    yield i, j, *_stored(table.sum(axis=axis))
        elif widths[a] * widths[b] <= TABLE * counts.size:
            yield a, b, *_stored(_counted([held[a], held[b]], counts, [widths[a], widths[b]]))
        else:
            met, which = np.unique(held[a] * np.int64(widths[b]) + held[b], return_inverse=True)
            yield a, b, *np.divmod(met, widths[b]), sums_by(which, counts, met.size)


def _counted(held: list[NDArray[Any]], counts: FloatArray, shape: list[int]) -> FloatArray:
    """Elements at every combination of the places (r,) in a few sources."""
    table = np.zeros(math.prod(shape))
    step = max(ROWS, table.size)
    for start in range(0, counts.size, step):
        part = slice(start, start + step)
        place = held[0][part]
        for codes, width in zip(held[1:], shape[1:], strict=True):
            place = place * np.int32(width)
            place += codes[part]
        table += np.bincount(place, counts[part], minlength=table.size)
    return table.reshape(shape)


def _stored(table: FloatArray) -> tuple[IntArray, IntArray, FloatArray]:
    """Rows, columns and values of the cells of a table that are not 0."""
    rows, columns = np.nonzero(table)
    return rows, columns, table[rows, columns]


def _xlogx(x: FloatArray) -> FloatArray:
    """x log2 x, 0 at 0."""
    return x * np.log2(np.where(x > 0, x, 1.0))
