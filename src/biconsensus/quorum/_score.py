"""How well groups fit a pool, measured on distinct rows, and by which score the point of a path is chosen.

Beneath all of it: the elements that each two candidates share, and how certain that makes the pool of each.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from biconsensus.matrix._groups import (
    Blocks,
    held_weight,
    in_groups,
    largest_in_rows,
    stored_rows,
    sums_by,
    top_in_rows,
    weights_behind,
)
from biconsensus.matrix._matrix import SCANNED, PreferenceMatrix
from biconsensus.methods._joint import Votes, peaks, rows_of
from biconsensus.pool._pool import TRIVIAL_SHARE
from biconsensus.pool._rows import column_sums, row_parts
from biconsensus.protocols import Block, BoolArray, FloatArray, IntArray

TABLE = 8
"""Cells of a table for each row counted into it, up to which tables beat sparse products; estimated, for speed."""
FEW_ROWS = 4096
"""Rows up to which one sparse product beats a table for every two sources, of which there may be very many: on 300 to
5,000 rows of 20 to 1,000 sources it took a tenth to all of the time. For speed."""
CELLS = 1 << 18
"""Cells of a table of three sources: two megabytes, so that it stays in the cache."""
ROWS = 1 << 14
"""Rows that are counted together: what is made of them stays in the cache."""
CERTAINTY_SCALE = 0.4
"""Scale of the certainty of candidates, as published for locally weighted ensembles."""
NORMALISED_SCALE = 0.07
"""The same where the entropy is normalised, as its authors publish it for all data sets (SDGCA, 2025)."""
PEAKS_OF_A_GROUP = 8
"""Most frequent rows that a path starts from, for each group that sources usually have. Where rows hardly repeat, they
are as good as drawn: of groups of one size, exp(-8), or 3 in 10,000, then have none."""
LEAST_BITS = 1e-6
"""What a column of all elements tells: next to nothing, but its elements are held by it."""


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
        return cls(problem, shared_amounts(problem, problem.counts.astype(np.float64), problem.sizes))

    @cached_property
    def _left(self) -> FloatArray:
        """(q, c) elements of each column that each source saw and put in no candidate."""
        left = self.problem.sizes[:, None] - self._shared_with_sources
        if self.problem.unseen is not None:
            members = self.problem.entries.astype(np.float64) * self.problem.counts[:, None]
            left = left - self.problem.unseen_by_source(members).T
        return np.asarray(np.maximum(left, 0.0))

    @cached_property
    def _backers(self) -> FloatArray:
        """(q, c) sources behind each column."""
        return np.asarray(self.problem.backers.astype(np.float64).toarray())

    @cached_property
    def _shared_with_sources(self) -> FloatArray:
        """(q, c) elements of each column that the columns of each source hold."""
        return self._by_source(self.shared)

    def _by_source(self, of_columns: csr_array) -> FloatArray:
        """(q, c) sums of (q, q) numbers over the columns of each source, which are few, so that all is sparse."""
        return np.asarray((of_columns @ self.problem.backers.astype(np.float64)).toarray())

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

        Notes
        -----
        As `certainty`, with the entropy divided by log2 of the number of columns of the column's own source, after the
        first stage of SDGCA (2025): what is certain is not the same for sources that see few groups and many.
        """
        number = self._backers.sum(axis=0)
        own = self._backers @ number / np.maximum(self._backers.sum(axis=1), 1.0)
        return np.asarray(np.exp(-self._mean_bits / np.log2(np.maximum(own, 2.0)) / scale))

    def surprise(self) -> FloatArray:
        """(q,) bits that a column tells of its members: -log2 of its share of what its source saw."""
        share = self.problem.sizes / np.maximum(_seen(self.problem), 1.0)
        return np.asarray(np.maximum(-np.log2(np.clip(share, 1e-300, 1.0)), LEAST_BITS))

    @cached_property
    def _mean_bits(self) -> FloatArray:
        """(q,) entropy of each column over the candidates of a source, in bits, mean over the sources."""
        parts = self.shared.copy()
        parts.data = _xlogx(parts.data)
        # entropy of parts x of a whole n: sum of -(x/n) log(x/n) = (n log n - sum of x log x) / n
        whole = np.maximum(self._shared_with_sources + self._left, 1e-12)
        bits = np.maximum(_xlogx(whole) - self._by_source(parts) - _xlogx(self._left), 0.0) / whole
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


def shared_amounts(problem: PreferenceMatrix, amounts: FloatArray, sizes: FloatArray | None = None) -> csr_array:
    """(q, q) sum over the rows that two columns share of an amount (r,) of each row; (q,) `sizes` are its diagonal.

    Examples
    --------
    >>> import biconsensus as bc
    >>> problem = bc.PreferenceMatrix.from_pool(bc.Pool.from_labels([[0, 0, 1], [0, 1, 1]]))
    >>> shared_amounts(problem, np.array([1.0, 2.0, 4.0])).toarray().tolist()
    [[3.0, 0.0, 1.0, 2.0], [0.0, 4.0, 0.0, 4.0], [1.0, 0.0, 1.0, 0.0], [2.0, 4.0, 0.0, 6.0]]
    """
    by_source = None if problem.shape[0] <= FEW_ROWS else _places_by_source(problem)
    if by_source is not None:
        sizes = column_sums(problem.entries, amounts) if sizes is None else sizes
        return _shared_by_sources(amounts, sizes, *by_source)
    entries = problem.entries.astype(np.float64)
    return csr_array(entries.T @ (entries * amounts[:, None]))


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


def _shared_by_sources(counts: FloatArray, sizes: FloatArray, own: list[IntArray], held: NDArray[Any]) -> csr_array:
    """(q, q) elements that two columns share, counted for two sources at a time; each source's own do not meet."""
    n_columns = sizes.size
    used = [k for k, columns in enumerate(own) if columns.size]
    found: list[tuple[IntArray, IntArray, FloatArray]] = [(np.arange(n_columns), np.arange(n_columns), sizes)]
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
            table = csr_array((counts, (held[a], held[b])), shape=(widths[a], widths[b]))
            table.sum_duplicates()
            yield a, b, stored_rows(table), table.indices, table.data


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


def retention(problem: PreferenceMatrix, labels: IntArray, held: csr_array | None = None) -> float:
    """Sum over the groups of the share of a random walk that stays inside.

    Parameters
    ----------
    problem : PreferenceMatrix
        The pool.
    labels : (r,) array of int
        Group of each row, -1 for none.
    held : (q, T) sparse array, optional
        Elements of each group that each column holds (`PreferenceMatrix.shared_with_groups`), if they are known.

    Returns
    -------
    float
        Between 1 (the walk does not see the groups) and the number of groups (it never leaves them).

    Notes
    -----
    The normalised association of the bipartite graph with edges ``w_j B_ij``: the walk goes from an element of the
    group to one of its candidates and from there to an element.

    Examples
    --------
    >>> import biconsensus as bc
    >>> problem = bc.PreferenceMatrix.from_pool(bc.Pool.from_labels([[0, 0, 1, 1]]))
    >>> retention(problem, np.array([0, 1]))
    2.0
    """
    n_groups = int(labels.max(initial=-1)) + 1
    held = problem.shared_with_groups(labels, n_groups) if held is None else held
    column, reach = stored_rows(held), np.maximum(problem.weights * problem.sizes, 1e-300)
    inside = labels >= 0
    volumes = sums_by(labels[inside], (problem.counts * problem.row_weights)[inside], n_groups)
    kept = sums_by(held.indices, (problem.weights[column] * held.data) ** 2 / reach[column], n_groups)
    return float((kept / np.maximum(volumes, 1e-300)).sum())


def walk_coordinates(entries: csr_array, counts: IntArray, weights: FloatArray, n_groups: int) -> FloatArray:
    """Leading coordinates of the rows in the walk, scaled to unit length.

    Parameters
    ----------
    entries : (r, q) sparse array
        Memberships of the distinct rows.
    counts : (r,) array of int
        Elements behind each row.
    weights : (q,) array
        Weight of the edges of each column.
    n_groups : int
        Number of coordinates (k).

    Returns
    -------
    (r, k) array

    Notes
    -----
    The transfer cut of Li et al. (2012): with W the edge weights and D the degrees of the elements, the columns form
    the graph ``W^T D^-1 W``; its eigenvectors carry over to the rows by ``D^-1 W``.

    Examples
    --------
    >>> import biconsensus as bc
    >>> pool = bc.Pool.from_labels([[0, 0, 1, 1], [0, 0, 0, 1]])
    >>> np.abs(walk_coordinates(pool.rows, pool.counts, pool.weights, 1)).round(3).tolist()
    [[1.0], [1.0], [1.0]]
    """
    held = entries.astype(np.float64)
    amounts = counts / np.maximum(held @ weights, 1e-300)
    shared = (held.T @ (held * amounts[:, None])).toarray()
    return unit_rows(held @ walk_vectors(shared, weights, n_groups))


def walk_vectors(shared: FloatArray, weights: FloatArray, n_groups: int) -> FloatArray:
    """(q, k) what each column adds to the coordinates of its rows, before these are scaled to unit length.

    `shared` (q, q) are the elements that two columns share, each over the weight of all columns that hold it.
    """
    graph = weights[:, None] * shared * weights
    scale = 1.0 / np.sqrt(np.maximum(graph.sum(axis=1), 1e-300))
    scale[weights <= 0] = 0.0
    return np.asarray((weights * scale)[:, None] * leading_vectors(scale[:, None] * graph * scale, n_groups))


def unit_rows(vectors: FloatArray) -> FloatArray:
    """(r, k) vectors scaled to unit length, zeros as they are."""
    return np.asarray(vectors / np.maximum(np.sqrt(np.einsum("ik,ik->i", vectors, vectors)), 1e-300)[:, None])


def leading_vectors(matrix: FloatArray, number: int) -> FloatArray:
    """(n, k) eigenvectors of the largest eigenvalues of a symmetric matrix."""
    from scipy.linalg import eigh  # which a consensus without a given number of groups need not wait for

    n = matrix.shape[0]
    number = min(number, n)
    _, vectors = eigh(matrix, subset_by_index=(n - number, n - 1))
    # where more eigenvalues coincide than are asked for, LAPACK may return none of them
    return np.asarray(vectors if vectors.shape[1] == number else eigh(matrix)[1][:, n - number :])


def walk_groups(entries: csr_array, counts: IntArray, weights: FloatArray, n_groups: int, seed: Any = 0) -> IntArray:
    """(r,) groups of the rows by k-means in their `walk_coordinates`; -1 for rows that no weighted column holds."""
    from sklearn.cluster import KMeans

    labels = np.full(entries.shape[0], -1, np.int64)
    held = np.flatnonzero(entries @ weights > 0)
    coordinates = walk_coordinates(entries, counts, weights, n_groups)[held]
    labels[held] = KMeans(n_groups, n_init=10, random_state=seed).fit_predict(coordinates, sample_weight=counts[held])
    return labels


def nearest(problem: PreferenceMatrix, blocks: Sequence[Block]) -> IntArray:
    """(r,) block of each row; left-overs go to the block whose columns hold them most, -1 where none does.

    Where the blocks themselves say near which of them left-overs are, these go there.
    """
    if isinstance(blocks, Blocks) and blocks.row_labels is not None:
        return blocks.row_labels.copy()
    labels = rows_of(blocks, problem.shape[0])
    left = np.flatnonzero(labels < 0)
    if left.size and len(blocks):
        if isinstance(blocks, Blocks):
            behind = in_groups(blocks.columns, problem.weights, len(blocks))
        else:
            behind = weights_behind([np.flatnonzero(block.columns) for block in blocks], problem.weights)
        labels[left] = largest_in_rows(held_weight(problem.entries[left], behind))
    return labels


def relation(problem: PreferenceMatrix, labels: IntArray, held: csr_array | None = None) -> tuple[float, float]:
    """Recall and precision, above chance, of a grouping against the sources.

    Parameters
    ----------
    problem : PreferenceMatrix
        The pool; sources without a column of positive weight are left out.
    labels : (r,) array of int
        Group of each row, -1 for none (each such element alone).
    held : (q, T) sparse array, optional
        Elements of each group that each column holds (`PreferenceMatrix.shared_with_groups`), if they are known.

    Returns
    -------
    recall, precision : float
        P(same group | same candidate) - P(same group), and P(same candidate | same group) - P(same candidate),
        averaged over the sources; 0 where there is no group or only one.

    Examples
    --------
    >>> import biconsensus as bc
    >>> problem = bc.PreferenceMatrix.from_pool(bc.Pool.from_labels([[0, 0, 1, 1]]))
    >>> relation(problem, np.array([0, 1]))
    (0.5, 0.5)
    """
    n_groups = int(labels.max(initial=-1)) + 1
    if n_groups == 0:
        return 0.0, 0.0
    held = problem.shared_with_groups(labels, n_groups) if held is None else held
    used, same = _same_source(problem)
    sizes = np.tile(problem.group_sizes(labels, n_groups), (used.size, 1))
    if problem.unseen is not None:
        sizes -= problem.unseen_by_source(in_groups(labels, problem.counts.astype(np.float64), n_groups))[used]
    total = problem.counts.sum() - problem.unseen_by_source(problem.counts[:, None])[used, 0]
    both = sums_by(stored_rows(held), held.data**2, held.shape[0]) @ problem.used_backers[:, used] / total**2
    grouped = np.maximum((sizes**2).sum(axis=1) / total**2, 1e-12)
    recall = both / np.maximum(same, 1e-12) - grouped
    return float(recall.mean()), float((both / grouped - same).mean())


def contrast(
    problem: PreferenceMatrix, labels: IntArray, weights: FloatArray, held: csr_array | None = None
) -> tuple[float, float]:
    """How much more often elements are together with their own group than with the nearest other one.

    Parameters
    ----------
    problem : PreferenceMatrix
        The pool.
    labels : (r,) array of int
        Group of each row, -1 for none.
    weights : (q,) array
        Weights of the columns in the co-occurrences.
    held : (q, T) sparse array, optional
        Elements of each group that each column holds (`PreferenceMatrix.shared_with_groups`), if they are known.

    Returns
    -------
    difference, silhouette : float
        Means over the elements of a - b and of (a - b) / (1 - min(a, b)), with a the co-occurrence with the others of
        the own group and b the largest with another group; 0 where there are fewer than two groups.

    Notes
    -----
    The second is the silhouette for the distance 1 - co-occurrence, on distinct rows and without any pair of them.

    Examples
    --------
    >>> import biconsensus as bc
    >>> problem = bc.PreferenceMatrix.from_pool(bc.Pool.from_labels([[0, 0, 1, 1], [0, 0, 1, 1]]))
    >>> contrast(problem, np.array([0, 1]), problem.weights)
    (1.0, 1.0)
    """
    n_groups = int(labels.max(initial=-1)) + 1
    if n_groups < 2:
        return 0.0, 0.0
    sizes = problem.group_sizes(labels, n_groups)
    own = problem.as_floats @ weights
    # with everything seen, all rows could be in as many candidates; otherwise only in those whose sources saw them
    most = np.full(own.size, own.max()) if problem.unseen is None else own
    inside = np.flatnonzero((labels >= 0) & (own > 0))
    entries = problem.as_floats if inside.size == labels.size else problem.as_floats[inside]
    held = problem.shared_with_groups(labels, n_groups) if held is None else held
    weighted = csr_array((held.data * weights[stored_rows(held)], held.indices, held.indptr), shape=held.shape)
    with_own, with_other = _nearness(entries, weighted, labels[inside], np.maximum(sizes, 1.0))
    most, own, others = most[inside], own[inside], np.maximum(sizes[labels[inside]] - 1.0, 1.0)
    a, b = (with_own - own) / most / others, with_other / most
    share = problem.counts[inside] / problem.counts[inside].sum()
    return float(share @ (a - b)), float(share @ ((a - b) / np.maximum(1.0 - np.minimum(a, b), 1e-12)))


def _nearness(
    entries: csr_array, weighted: csr_array, labels: IntArray, sizes: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """(r,) co-occurrence of rows with all of their group, and (r,) the largest mean one with another group."""
    n_rows, n_groups = labels.size, sizes.size
    if n_rows * n_groups <= SCANNED * entries.nnz:
        near = entries @ weighted.toarray()
        place = np.arange(n_rows), labels
        with_own = near[place]
        near /= sizes
        near[place] = 0.0
        return with_own, near.max(axis=1)
    with_own, with_other = np.empty(n_rows), np.empty(n_rows)
    for rows, _, _ in row_parts(entries):
        sparse = csr_array(entries[rows] @ weighted)
        row = stored_rows(sparse)
        mine = sparse.indices == labels[rows][row]
        with_own[rows] = sums_by(row[mine], sparse.data[mine], sparse.shape[0])
        sparse.data = np.where(mine, 0.0, sparse.data / sizes[sparse.indices])
        with_other[rows] = np.maximum(top_in_rows(sparse)[1], 0.0)
    return with_own, with_other


def _same_source(problem: PreferenceMatrix) -> tuple[IntArray, FloatArray]:
    """The sources in use, and for each the probability that two elements it saw share one of its candidates."""
    backers = problem.used_backers
    used = np.flatnonzero(backers.any(axis=0))
    sizes = problem.sizes
    total = problem.counts.sum() - problem.unseen_by_source(problem.counts[:, None])[used, 0]
    return used, (sizes**2) @ backers[:, used] / np.maximum(total, 1.0) ** 2


CLEAR = 0.9
"""Retention above which the coarse groups are clear, so that sources which differ only differ in how finely they cut
them; 0.85 to 0.9 are a plateau (benchmarks/tuning/choice.py)."""
WEIGHT_BITS = 20
"""Binary digits of certain weights: with 14 digits of a quorum and 20 of a million elements they fill a double."""


@dataclass(frozen=True)
class ScoreWeights:
    """How much each measure of a fit counts in a score."""

    recall: float = 0.0
    precision: float = 0.0
    difference: float = 0.0
    silhouette: float = 0.0
    retention: float = 0.0


@dataclass(frozen=True)
class FitMeasures:
    """How well a grouping fits a pool, measured in five ways."""

    recall: float = 0.0
    """P(same group | same candidate), above chance."""
    precision: float = 0.0
    """P(same candidate | same group), above chance."""
    difference: float = 0.0
    """Co-occurrence with the own group less that with the nearest other one."""
    silhouette: float = 0.0
    """The same over one minus the smaller: the silhouette for the distance 1 - co-occurrence."""
    retention: float = 0.0
    """Share of a random walk that stays in its group: 0 where it does not see the groups, 1 if it never leaves them."""

    def score(self, weights: ScoreWeights) -> float:
        """Sum of the five measures, weighted."""
        return (
            self.recall * weights.recall
            + self.precision * weights.precision
            + self.difference * weights.difference
            + self.silhouette * weights.silhouette
            + self.retention * weights.retention
        )


COARSE = ScoreWeights(recall=0.5, precision=0.5, difference=-1.0, silhouette=1.0, retention=3.0)
"""Finds the groups that sources of different granularity share (benchmarks/tuning/choice.py)."""
FINE = ScoreWeights(silhouette=1.0)
"""Where no coarse groups are clear, the contrast between groups decides alone (benchmarks/tuning/choice.py)."""


def score_weights(measures: Iterable[FitMeasures]) -> ScoreWeights:
    """Which score chooses among the points of a path: the coarse one if its choice is clear, else the fine one.

    Parameters
    ----------
    measures : iterable of FitMeasures
        Measures of the points, at least one.

    Returns
    -------
    ScoreWeights

    Examples
    --------
    >>> fine = FitMeasures(silhouette=0.6, retention=0.5)
    >>> score_weights([FitMeasures(silhouette=0.4, retention=0.95), fine]) == COARSE
    True
    >>> score_weights([FitMeasures(silhouette=0.4, retention=0.8), fine]) == FINE
    True
    """
    coarse = max(measures, key=lambda fit: fit.score(COARSE))
    return COARSE if coarse.retention > CLEAR else FINE


@dataclass(frozen=True)
class PathScorer:
    """Measures how groupings of the rows of one pool fit it."""

    problem: PreferenceMatrix
    """The pool, candidates weighted by certainty, trivial ones by zero."""
    plain: FloatArray
    """(q,) weights of the columns without certainty."""
    overlaps: Overlaps
    """What all rows say of the columns, ..."""
    columns: IntArray | None = None
    """(q,) and which column there each column here is; None where they are the same."""

    @classmethod
    def of(cls, problem: PreferenceMatrix) -> PathScorer:
        """Scorer for a pool: trivial candidates do not count, others by their certainty."""
        used = np.where(useful(problem), problem.weights, 0.0)
        overlaps = Overlaps.of(problem)
        return cls(problem.with_weights(exact_sums(used * overlaps.certainty())), used, overlaps)

    def on(self, part: PreferenceMatrix, columns: IntArray) -> PathScorer:
        """The same weights for some of the rows, whose columns are the given columns here."""
        return replace(
            self,
            problem=part.with_weights(self.problem.weights[columns]),
            plain=self.plain[columns],
            columns=columns,
        )

    def for_given_number(self) -> PreferenceMatrix:
        """The pool with the weights that serve a given number of groups (benchmarks/tuning/given_number.py).

        A column counts by how certain the pool is of it, relative to how fine its source is, and by its surprise: to
        be together in a small column says more than to be together in a large one.
        """
        told = self.overlaps.normalised_certainty() * self.overlaps.surprise()
        weights = self.plain * (told if self.columns is None else told[self.columns])
        return self.problem.with_weights(exact_sums(weights))

    @property
    def unweighted(self) -> PreferenceMatrix:
        """The pool with the weights of the columns without certainty."""
        return self.problem.with_weights(self.plain)

    @cached_property
    def from_peaks(self) -> IntArray:
        """(q,) the most frequent row that each column holds: a start of the search, the same at every quorum."""
        votes = Votes.at_quorum(self.problem, Fraction(1, 2))
        return votes.best_columns(peaks(votes, PEAKS_OF_A_GROUP))

    def measure(self, labels: IntArray) -> FitMeasures:
        """Fit of a grouping of the rows; nothing for fewer than two groups."""
        last = self._last_measured
        if not last or not np.array_equal(last["labels"], labels):  # neighbours on a path often are the same grouping
            last.update(labels=labels.copy(), fit=self._measured(labels))
        fit: FitMeasures = last["fit"]
        return fit

    @cached_property
    def _last_measured(self) -> dict[str, Any]:
        """The last grouping that was measured, and its fit."""
        return {}

    def _measured(self, labels: IntArray) -> FitMeasures:
        """Fit of a grouping of the rows."""
        n_groups = int(labels.max(initial=-1)) + 1
        if n_groups < 2:
            return FitMeasures()
        held = self.problem.shared_with_groups(labels, n_groups)
        kept = (retention(self.problem, labels, held) - 1.0) / (n_groups - 1.0)
        fit = relation(self.problem, labels, held)
        return FitMeasures(*fit, *contrast(self.problem, labels, self.plain, held), kept)


def exact_sums(weights: FloatArray) -> FloatArray:
    """Weights rounded to millionths of the largest, so that sums of them are the same in any order."""
    top = np.frexp(weights.max(initial=0.0))[1]
    rounded = np.ldexp(np.rint(np.ldexp(weights, WEIGHT_BITS - top)), top - WEIGHT_BITS)
    # weights that differ by orders of magnitude are not rounded: the small ones would vanish
    small = weights[weights > 0].min(initial=np.inf)
    return np.asarray(rounded if small >= np.ldexp(1.0, top - WEIGHT_BITS // 2) else weights)


def useful(problem: PreferenceMatrix) -> BoolArray:
    """(q,) columns that are neither empty nor hold nearly all that their source saw, unless most sources agree on it.

    Examples
    --------
    >>> import biconsensus as bc
    >>> pool = bc.Pool.from_labels([[0] * 19 + [1]] * 3 + [[0] * 20])
    >>> problem = bc.PreferenceMatrix.from_pool(pool)
    >>> dict(zip((problem.counts @ problem.entries).tolist(), useful(problem).tolist()))
    {19: True, 1: True, 20: False}
    """
    sizes = problem.sizes
    found: BoolArray = (sizes > 0) & (sizes < TRIVIAL_SHARE * _seen(problem))
    large = np.flatnonzero((sizes > 0) & ~found)
    found[large] = _agreed(problem, large)
    return found


def _seen(problem: PreferenceMatrix) -> FloatArray:
    """(q,) elements that the source of each column saw."""
    seen = np.full(problem.shape[1], float(problem.counts.sum()))
    if problem.unseen is not None and problem.mask is not None:
        seen -= (problem.counts @ problem.unseen.astype(np.float64))[problem.mask]
    return seen


def _agreed(problem: PreferenceMatrix, columns: IntArray) -> BoolArray:
    """(k,) columns for which more than half of the sources leave the same few elements out, by more than half."""
    held = problem.entries[:, columns].toarray() > 0
    if problem.unseen is not None and problem.mask is not None:
        held |= problem.unseen[:, problem.mask[columns]].toarray() > 0
    outside = csr_array(~held, dtype=np.float64)
    shared = (outside.T @ (outside * problem.counts[:, None])).toarray()
    size = shared.diagonal()
    alike = 2 * shared > np.maximum(size[:, None] + size[None, :] - shared, 1e-300)
    sources = (alike.astype(np.float64) @ problem.backers[columns].astype(np.float64)) > 0
    agreed: BoolArray = 2 * sources.sum(axis=1) > problem.backers.shape[1]
    return agreed
