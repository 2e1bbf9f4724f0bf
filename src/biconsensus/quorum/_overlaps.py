"""What the overlaps of the candidates say: how certain the pool is of each."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from biconsensus.matrix._coverage import sums_by
from biconsensus.matrix._matrix import PreferenceMatrix
from biconsensus.pool._distinct import row_parts
from biconsensus.protocols import FloatArray, IntArray
from biconsensus.quorum._measures import unseen_by_source

TABLE = 8
"""Cells of a table for each row counted into it, up to which tables beat sparse products; estimated, for speed."""
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
        held = _held_by_source(problem)
        if held is not None:
            return cls(problem, _shared_by_sources(problem, held))
        entries = problem.entries.astype(np.float64)
        return cls(problem, csr_array(entries.T @ (entries * problem.counts[:, None])))

    @cached_property
    def _left(self) -> FloatArray:
        """(q, c) elements of each column that each source saw and put in no candidate."""
        left = self.problem.sizes[:, None] - self.shared @ self._backers
        if self.problem.unseen is not None:
            members = self.problem.entries.astype(np.float64) * self.problem.counts[:, None]
            left = left - unseen_by_source(self.problem, members).T
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


def _held_by_source(problem: PreferenceMatrix) -> NDArray[np.int32] | None:
    """(c, r) the column of each source that holds each row, -1 for none; None where sources overlap themselves.

    A column that several sources made is that of the first of them.
    """
    backers, entries = problem.backers, problem.entries
    if not problem.binary or backers.shape[1] * problem.shape[0] > TABLE * entries.nnz:
        return None
    source = backers.indices[backers.indptr[:-1]]
    n_sources = backers.shape[1]
    held = np.full((n_sources, problem.shape[0]), -1, np.int32)
    for rows, stored, lengths in row_parts(entries):
        indices = entries.indices[stored]
        owner = np.take(source, indices)
        if (lengths == n_sources).all() and (owner.reshape(-1, n_sources) == np.arange(n_sources)).all():
            held[:, rows] = indices.reshape(-1, n_sources).T  # each row has a column of every source, in order
        else:
            held[owner, np.repeat(np.arange(rows.start, rows.stop), lengths)] = indices
    return held if np.count_nonzero(held >= 0) == entries.nnz else None


def _shared_by_sources(problem: PreferenceMatrix, held: NDArray[np.int32]) -> csr_array:
    """(q, q) elements that two columns share, counted for two sources at a time; each source's own do not meet."""
    counts, n_columns = problem.counts.astype(np.float64), problem.shape[1]
    source = problem.backers.indices[problem.backers.indptr[:-1]]
    own = [np.flatnonzero(source == k) for k in range(held.shape[0])]
    used = [k for k, columns in enumerate(own) if columns.size]
    # columns of one source by their place in it; the last place is for rows in none
    place = np.zeros(n_columns + 1, np.int32)
    for k in used:
        place[own[k]] = np.arange(own[k].size)
        place[-1] = own[k].size
        np.take(place, held[k], out=held[k], mode="wrap")
    found: list[tuple[IntArray, IntArray, FloatArray]] = [(np.arange(n_columns), np.arange(n_columns), problem.sizes)]
    for a, b in combinations(used, 2):
        width = own[b].size + 1
        met, amounts = _met(held[a], held[b], counts, (own[a].size + 1, width))
        left, right = np.divmod(met, width)
        inside = (left < own[a].size) & (right < own[b].size)
        i, j, amounts = own[a][left[inside]], own[b][right[inside]], amounts[inside]
        found += [(i, j, amounts), (j, i, amounts)]
    rows, columns, amounts = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return csr_array((amounts, (rows, columns)), shape=(n_columns, n_columns))


def _met(
    left: NDArray[np.int32], right: NDArray[np.int32], counts: FloatArray, shape: tuple[int, int]
) -> tuple[IntArray, FloatArray]:
    """Cells of a table of two codes (r,) and (r,) that have elements, and how many each has."""
    cells, width = shape[0] * shape[1], np.int64(shape[1])
    if cells > TABLE * left.size:
        met, which = np.unique(left * width + right, return_inverse=True)
        return met, sums_by(which, counts, met.size)
    table = np.zeros(cells)
    step = max(ROWS, cells)
    for start in range(0, left.size, step):
        part = slice(start, start + step)
        table += np.bincount(left[part] * width + right[part], counts[part], minlength=cells)
    met = np.flatnonzero(table)
    return met, table[met]


def _xlogx(x: FloatArray) -> FloatArray:
    """x log2 x, 0 at 0."""
    return x * np.log2(np.where(x > 0, x, 1.0))
