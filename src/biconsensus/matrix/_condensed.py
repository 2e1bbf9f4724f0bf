"""What a search works on: the matrix in an order of its own, a sample of its rows where there are very many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from biconsensus.matrix._groups import Blocks
from biconsensus.matrix._matrix import PreferenceMatrix
from biconsensus.pool._rows import UIntArray, column_sums, group_rows, mix, row_hashes, row_parts
from biconsensus.protocols import Block, FloatArray, IntArray

MAX_REFINEMENTS = 20
"""Bound of the rounds of refinement; random pools need two or three, and each must tell more apart than the last."""
MAX_SINGLED_OUT = 100
"""Rows singled out where colours leave ties. Beyond it ties follow the given order: only pools with more than a hundred
interchangeable rows get there, and the order of those changes nothing."""
MAX_WORK = 2_000_000
"""Entries that singling out may look at in all: a second or so."""
EXACT_BITS = 53
"""Binary digits of whole numbers that are exact as floats."""


def canonical_order(problem: PreferenceMatrix) -> tuple[IntArray, IntArray, IntArray]:
    """Rows, columns and sources in an order that does not depend on the given one, the heaviest first.

    Parameters
    ----------
    problem : PreferenceMatrix
        Distinct rows and columns.

    Returns
    -------
    rows : (r,) int array
        Rows by falling multiplicity, then by colour.
    columns : (q,) int array
        Columns by falling weight of their members, then by colour.
    sources : (c,) int array
        Sources by their colours.

    Notes
    -----
    Multiplicities and weights count relative to their sum: doubling all elements or all sources changes nothing.

    Examples
    --------
    >>> import biconsensus as bc
    >>> pool = bc.Pool.from_labels([[0, 0, 1, 2], [0, 0, 1, 1]])
    >>> rows, _, _ = canonical_order(bc.PreferenceMatrix.from_pool(pool))
    >>> int(rows[0])
    0
    """
    colours = Colours(problem)
    colours.refine()
    for _ in range(min(MAX_SINGLED_OUT, MAX_WORK // max(1, problem.entries.nnz))):
        if not colours.single_out():
            break
        colours.refine()
    rows = np.lexsort((colours.rows, -problem.counts))
    # columns that are still equal follow the first of their rows: a source of many singletons
    place = np.empty(rows.size, np.int64)
    place[rows] = np.arange(rows.size)
    first = np.full(problem.shape[1], rows.size, np.int64)
    np.minimum.at(first, problem.entries.indices, np.repeat(place, np.diff(problem.entries.indptr)))
    columns = np.lexsort((first, colours.columns, -_weight_of_members(problem)))
    return rows, columns, colours.order_of_sources()


def canonical_columns(problem: PreferenceMatrix, colours: Colours) -> tuple[IntArray, IntArray]:
    """Columns, heaviest first, and sources, in an order that does not depend on the given one."""
    return np.lexsort((colours.columns, -_weight_of_members(problem))), colours.order_of_sources()


def _weight_of_members(problem: PreferenceMatrix) -> FloatArray:
    """(q,) elements in each column times its weight, in shares, without the digits that only rounding makes."""
    return relative(problem.weights * problem.sizes)


def reordered(problem: PreferenceMatrix, rows: IntArray, columns: IntArray, sources: IntArray) -> PreferenceMatrix:
    """The same matrix with its rows (or some of them), its columns and its sources in another order."""
    place = np.empty(columns.size, np.int64)
    place[columns] = np.arange(columns.size)
    part = problem.entries if rows.size == problem.shape[0] and _in_order(rows) else problem.entries[rows]
    entries = csr_array((part.data, place.astype(part.indices.dtype)[part.indices], part.indptr), shape=part.shape)
    entries.sort_indices()
    return replace(
        problem,
        entries=entries,
        counts=problem.counts[rows],
        weights=problem.weights[columns],
        members=place[problem.members],
        backers=_sorted(csr_array(problem.backers[columns][:, sources])),
        unseen=None if problem.unseen is None else csr_array(problem.unseen[rows]),
        mask=None if problem.mask is None else problem.mask[columns],
    )


def relative(values: FloatArray | IntArray, total: float | None = None) -> FloatArray:
    """Values as shares of their sum, or of a given total, without the digits that only rounding makes."""
    shares = np.asarray(values, np.float64) / ((float(np.sum(values)) if total is None else total) or 1.0)
    exponent = np.frexp(shares)[1]
    return np.asarray(np.ldexp(np.round(np.ldexp(shares, 40 - exponent)), exponent - 40))


class Colours:
    """Colours of rows, columns, sources and masks, refined together."""

    def __init__(self, problem: PreferenceMatrix) -> None:
        self._problem = problem
        self._lengths = np.diff(problem.entries.indptr)
        self._own_rows = _colours_of_counts(problem.counts)
        self._own_columns = mix(relative(problem.weights).view(np.uint64), salt=1)
        self._values = None if problem.binary else mix(problem.entries.data.view(np.uint64), salt=2)
        # sources that say the same count once, with their share, so that doubling all of them changes nothing
        first, self._alike = group_rows(csr_array(problem.backers.T.astype(np.uint8)))
        self._backers = csr_array(problem.backers[:, first])
        self._own_sources = mix(relative(np.bincount(self._alike)).view(np.uint64), salt=10)
        self._sources = self._own_sources
        self.rows, self.columns = self._own_rows, self._own_columns

    def look(self) -> bool:
        """Half a round: rows see the sizes of their columns; whether these tell all columns apart, and so all rows."""
        with np.errstate(over="ignore"):
            self.columns = mix(self._own_columns + mix(relative(self._problem.sizes).view(np.uint64), salt=12), salt=3)
            self._sources = _added_up(self._backers, self.columns) + self._own_sources
            if not self._distinct_columns():
                # two of many columns often have the same size; the other columns of their sources differ
                self.columns = mix(self.columns + row_hashes(self._backers, mix(self._sources, salt=6)), salt=7)
            self.rows = mix(self._own_rows + self._met_by_rows(), salt=8)
        return self._distinct_columns()

    def _distinct_columns(self) -> bool:
        """Whether all columns have colours of their own."""
        return np.unique(self.columns).size == self.columns.size

    def refine(self) -> None:
        """Let colours spread until they tell no more rows and columns apart."""
        known = -1
        for _ in range(MAX_REFINEMENTS):
            self.spread()
            found = np.unique(self.rows).size + np.unique(self.columns).size
            if found <= known or found == self.rows.size + self.columns.size:
                break
            known = found

    def spread(self) -> bool:
        """One round: columns see their rows, sources their columns, rows see all of it; whether columns all differ."""
        problem = self._problem
        seen = self._met_by_columns()
        with np.errstate(over="ignore"):
            columns = mix(self._own_columns + seen, salt=3)
            hidden = np.zeros(self.rows.size, np.uint64)
            if problem.unseen is not None and problem.mask is not None:
                masks = _added_up(problem.unseen, self.rows)
                columns = mix(columns + masks[problem.mask], salt=4)
                hidden = row_hashes(problem.unseen, mix(masks, salt=5))
            self._sources = _added_up(self._backers, columns) + self._own_sources
            columns = mix(columns + row_hashes(self._backers, mix(self._sources, salt=6)), salt=7)
            self.columns = columns
            self.rows = mix(self._own_rows + self._met_by_rows() + hidden, salt=8)
        return self._distinct_columns()

    def _met_by_columns(self) -> UIntArray:
        """(q,) sum of the colours of the rows of each column."""
        entries = self._problem.entries
        if self._values is None:
            return _added_up(entries, self.rows)
        cells = mix(np.repeat(self.rows, self._lengths) ^ self._values)
        bits = _exact_bits(cells.size)
        return mix(
            np.bincount(entries.indices, cells >> (np.uint64(64) - bits), minlength=entries.shape[1]).astype(np.uint64)
        )

    def _met_by_rows(self) -> UIntArray:
        """(r,) sum of the colours of the columns of each row."""
        entries = self._problem.entries
        if self._values is None:
            return row_hashes(entries, self.columns)
        cells = mix(self.columns[entries.indices] ^ self._values)
        total = np.concatenate([np.zeros(1, np.uint64), np.cumsum(cells, dtype=np.uint64)])
        with np.errstate(over="ignore"):
            return np.asarray(total[entries.indptr[1:]] - total[entries.indptr[:-1]])

    def order_of_sources(self) -> IntArray:
        """(c,) sources by colour; those that say the same stay in the given order."""
        return np.argsort(self._sources[self._alike], kind="stable")

    def single_out(self) -> bool:
        """Give one row that has a twin a colour of its own; False where no two rows are alike."""
        order = np.argsort(self.rows, kind="stable")
        twins = np.flatnonzero(self.rows[order][1:] == self.rows[order][:-1])
        if twins.size == 0:
            return False
        chosen = order[twins[0]]
        self._own_rows = self._own_rows.copy()
        self._own_rows[chosen] = mix(self.rows[chosen : chosen + 1], salt=9)[0]
        return True


def _colours_of_counts(counts: IntArray) -> UIntArray:
    """(r,) colour of the share of each count; looked up where there are many rows, few of which differ in it."""
    total, largest = float(counts.sum()), int(counts.max(initial=0))
    if largest >= counts.size:
        return mix(relative(counts, total).view(np.uint64))
    return np.take(mix(relative(np.arange(largest + 1), total).view(np.uint64)), counts)


def _added_up(matrix: csr_array, colours: UIntArray) -> UIntArray:
    """(q,) sum of the colours (r,) of the rows that each column of a sparse matrix stores."""
    return mix(column_sums(matrix, colours >> (np.uint64(64) - _exact_bits(matrix.nnz))).astype(np.uint64))


def _exact_bits(size: int) -> np.uint64:
    """Digits of colours of which floats add up that many exactly."""
    return np.uint64(EXACT_BITS - size.bit_length())


def _sorted(matrix: csr_array) -> csr_array:
    """A matrix whose stored values are in the order of their columns."""
    matrix.sort_indices()
    return matrix


def _in_order(items: IntArray) -> bool:
    """Whether items are 0, 1, 2, ..."""
    return bool((items == np.arange(items.size)).all())


SAMPLE_ROWS = 5_000
"""Rows drawn by their share of the elements: shares of a half are known to 1.4 percentage points (two standard errors),
and the agreement with the search on all rows is in the page on size."""
ROWS_OF_A_CANDIDATE = 10
"""Rows that every candidate keeps, about: with nine or more, a vote in which nine of ten agree is lost less than once
in ten thousand (binomial)."""
WORTH_SAMPLING = 2
"""How many times more rows than the sample would have there must be, for a sample to be drawn."""


WIDER = 4
"""How many times more rows the best points of a path are searched again on: half the error of every share."""


@dataclass(frozen=True)
class Drawn:
    """A sample of rows, and a wider one that holds it."""

    rows: IntArray
    """(k,) the rows of the sample."""
    counts: IntArray
    """(k,) how many elements each of them stands for."""
    wide_rows: IntArray
    """(l,) the rows of the wider sample."""
    wide_counts: IntArray
    """(l,) how many elements each row of the wider sample stands for."""
    colours: Colours
    """Colours of all rows and columns of the matrix."""


def draw_rows(problem: PreferenceMatrix, size: int | None = None, n_sources: int = 2) -> Drawn | None:
    """Rows that stand for all of them, and how many elements each then stands for; None where there are few anyway.

    Parameters
    ----------
    problem : PreferenceMatrix
        Distinct rows and columns.
    size : int, optional
        Rows expected for the elements as a whole, `SAMPLE_ROWS` by default; those that small groups need come on top.
    n_sources : int
        Sources that a group needs behind it.

    Returns
    -------
    Drawn or None

    Notes
    -----
    A Poisson sample: row i, shared by s_i of m elements, is taken by chance ``p_i = min(1, max(size / m, f_i) s_i)``
    and counts ``s_i / p_i``, so that every vote is right on average (Horvitz and Thompson). f_i is ten over the
    size of its smallest candidate, so that this keeps about ten rows. A candidate of fewer than ten elements counts
    only where the row has k candidates of at most its size, k being half of the sources that a group needs (its
    elements are in a majority of its candidates), at least two: small groups are kept as a whole, and a source of
    singletons alone changes nothing. The chance is a hash of what the row holds: neither its place nor the names of
    labels matter.

    Examples
    --------
    >>> import biconsensus as bc
    >>> draw_rows(bc.PreferenceMatrix.from_pool(bc.Pool.from_labels([[0, 0, 1]]))) is None
    True
    """
    size = SAMPLE_ROWS if size is None else size
    if problem.shape[0] <= WORTH_SAMPLING * size:
        return None
    share = problem.counts * _needed(problem, size, n_sources)
    chance = np.minimum(1.0, share)
    if WORTH_SAMPLING * chance.sum() > problem.shape[0]:
        return None
    colours = Colours(problem)
    told_apart = (colours.look() or colours.spread()) and problem.unseen is None
    number = np.zeros(1, np.int64) if told_apart else _number_among_equals(colours.rows)
    with np.errstate(over="ignore"):
        # rows that nothing tells apart are drawn one by one, whichever they are
        drawn = (mix(colours.rows + mix(number), salt=11) >> np.uint64(11)) / 2.0**53
    return Drawn(*_taken(problem, drawn, chance), *_taken(problem, drawn, np.minimum(1.0, WIDER * share)), colours)


def _taken(problem: PreferenceMatrix, drawn: FloatArray, chance: FloatArray) -> tuple[IntArray, IntArray]:
    """Rows whose draw is below their chance, and how many elements each stands for."""
    rows = np.flatnonzero(drawn < chance)
    return rows, np.maximum(np.rint(problem.counts[rows] / chance[rows]), 1.0).astype(np.int64)


def _number_among_equals(values: UIntArray) -> IntArray:
    """(r,) how many equal values stand before each value."""
    order = np.argsort(values, kind="stable")
    opens = np.flatnonzero(np.diff(values[order], prepend=values[order[:1]] + np.uint64(1)))
    number = np.empty(order.size, np.int64)
    number[order] = np.arange(order.size) - np.repeat(opens, np.diff(np.append(opens, order.size)))
    return number


def _needed(problem: PreferenceMatrix, size: int, n_sources: int) -> FloatArray:
    """(r,) chance for each element of a row that keeps about ten rows of each candidate, and all of very small groups.

    A candidate of fewer than ten elements counts only where half of the sources that a group needs, and at least two,
    say the like: of its row, what counts is the k-th smallest candidate.
    """
    entries = problem.entries
    least = size / float(problem.counts.sum())
    by_column = ROWS_OF_A_CANDIDATE / np.maximum(problem.sizes, 1.0)
    enough = max(2, -(-n_sources // 2))
    # a column that several sources made counts for each of them
    backed = np.diff(problem.backers.indptr)
    needed = np.full(problem.shape[0], least)
    for rows, stored, lengths in row_parts(entries):
        inside = np.flatnonzero(np.take(by_column > least, entries.indices[stored]))
        if inside.size == 0:
            continue
        row, column = np.repeat(np.arange(lengths.size), lengths)[inside], entries.indices[stored][inside]
        order = np.lexsort((-by_column[column], row))
        row, column = row[order], column[order]
        first = np.flatnonzero(np.diff(row, prepend=-1))
        said = np.cumsum(backed[column])
        said -= np.repeat((said - backed[column])[first], np.diff(np.append(first, row.size)))
        counted = (said >= enough) | (by_column[column] <= 1.0)
        values = np.where(counted, by_column[column], least)
        needed[rows.start + row[first]] = np.maximum.reduceat(values, first)
    return needed


@dataclass(frozen=True)
class Condensed:
    """A preference matrix, condensed for a search, and the way back.

    Examples
    --------
    >>> import biconsensus as bc
    >>> problem = bc.PreferenceMatrix.from_pool(bc.Pool.from_labels([[0, 0, 1, 1, 1, 1]] * 3))
    >>> condensed = Condensed.of(problem, divide=True)
    >>> condensed.part.counts, condensed.part.weights, condensed.units
    (array([2, 1]), array([1., 1.]), (2, 3))
    """

    given: PreferenceMatrix
    """The matrix in the order of the pool."""
    whole: PreferenceMatrix
    """All rows: rows and columns in the given order where only some rows are searched, else in canonical order."""
    part: PreferenceMatrix
    """The rows that are searched, rows and columns in canonical order; `whole` itself where that is all rows."""
    rows: IntArray
    """(k,) the given row of each row that is searched."""
    columns: IntArray
    """(q,) the given column of each column."""
    sources: IntArray
    """(c,) the given source of each source."""
    wide: PreferenceMatrix
    """More rows than `part`, which confirm its best points; `whole` itself where all rows are searched."""
    units: tuple[int, int]
    """Elements and sources that count as one: the greatest common divisors of all multiplicities."""

    @classmethod
    def of(cls, problem: PreferenceMatrix, *, sample: int = 0, divide: bool = False) -> Condensed:
        """Put a matrix into canonical order.

        Parameters
        ----------
        problem : PreferenceMatrix
            The matrix in the order of the pool.
        sample : int
            Sources that a group needs, if some rows are to stand for very many; 0 for all rows.
        divide : bool
            Whether multiplicities of elements and sources are divided by what they have in common.
        """
        simple, sources, units = _divided(problem) if divide else (problem, np.arange(problem.backers.shape[1]), (1, 1))
        drawn = draw_rows(simple, n_sources=-(-sample // units[1])) if sample else None
        if drawn is None:
            rows, columns, order = canonical_order(simple)
            whole = reordered(simple, rows, columns, order)
            return cls(problem, whole, whole, rows, columns, sources[order], whole, units)
        columns, order = canonical_columns(simple, drawn.colours)
        some = reordered(simple.some_rows(drawn.rows, drawn.counts), np.arange(drawn.rows.size), columns, order)
        rows = canonical_order(some)[0]
        part = reordered(some, rows, np.arange(columns.size), np.arange(order.size))
        wide = simple.some_rows(drawn.wide_rows, drawn.wide_counts)
        wide = reordered(wide, np.arange(drawn.wide_rows.size), columns, order)
        return cls(problem, simple, part, drawn.rows[rows], columns, sources[order], wide, units)

    def wide_with(self, rows: IntArray) -> PreferenceMatrix:
        """The rows of `wide`, and behind them the given rows of `whole`, which stand for no element there."""
        places = np.empty(self.columns.size, np.int64)
        places[self.columns] = np.arange(self.columns.size)
        more = csr_array(self.whole.entries[rows])
        more = csr_array((more.data, places.astype(more.indices.dtype)[more.indices], more.indptr), shape=more.shape)
        unseen = None
        if self.wide.unseen is not None and self.whole.unseen is not None:
            unseen = csr_array(vstack([self.wide.unseen, self.whole.unseen[rows]], format="csr"))
        return replace(
            self.wide,
            entries=_sorted(csr_array(vstack([self.wide.entries, more], format="csr"))),
            counts=np.concatenate([self.wide.counts, np.zeros(rows.size, self.wide.counts.dtype)]),
            unseen=unseen,
        )

    @property
    def sampled(self) -> bool:
        """Whether only some of the rows are searched."""
        return self.part is not self.whole

    def smallest(self, min_elements: int, min_candidates: int) -> tuple[int, int]:
        """Minimum sizes in the units of what is searched."""
        return -(-min_elements // self.units[0]), -(-min_candidates // self.units[1])

    def in_whole(self, values: NDArray[Any]) -> NDArray[Any]:
        """(q,) what each column of `part` has, for the columns of `whole`."""
        if not self.sampled:
            return values
        found = np.empty_like(values)
        found[self.columns] = values
        return found

    def in_given(self, values: NDArray[Any]) -> NDArray[Any]:
        """(q,) what each column of `part` has, for the columns of the given matrix."""
        found = np.empty_like(values)
        found[self.columns] = values
        return found

    def given_blocks(self, blocks: Sequence[Block]) -> Sequence[Block]:
        """Blocks of `whole` as blocks of the given matrix."""
        if isinstance(blocks, Blocks):
            gains = blocks.gains * self.units[0] * self.units[1]
            if self.sampled:
                return replace(blocks, gains=gains)
            near = None if blocks.row_labels is None else self._given_rows(blocks.row_labels)
            return Blocks(self._given_rows(blocks.rows), self.in_given(blocks.columns), gains, near)
        return [self._given_block(replace(block, gain=block.gain * self.units[0] * self.units[1])) for block in blocks]

    def _given_rows(self, groups: IntArray) -> IntArray:
        """(r,) the groups of the rows that are searched, all of them, in the order of the pool."""
        found = np.full(self.given.shape[0], -1)
        found[self.rows] = groups
        return found

    def _given_block(self, block: Block) -> Block:
        """The same block in the order of the pool."""
        if self.sampled:
            return block
        rows = np.zeros(self.given.shape[0], bool)
        rows[self.rows[block.rows]] = True
        return replace(block, rows=rows, columns=self.in_given(block.columns))


def _divided(problem: PreferenceMatrix) -> tuple[PreferenceMatrix, IntArray, tuple[int, int]]:
    """The matrix of the same pool with as few copies of every element and source as their shares allow."""
    elements = int(np.gcd.reduce(problem.counts)) or 1
    alike = group_rows(csr_array(problem.backers.T.astype(np.uint8)))[1].astype(np.int64)
    copies = np.bincount(alike)
    sources = int(np.gcd.reduce(copies)) or 1
    if elements == 1 and sources == 1:
        return problem, np.arange(alike.size), (1, 1)
    # of the sources that say the same, as many as their share asks for
    order = np.argsort(alike, kind="stable")
    rank = np.arange(alike.size) - (np.cumsum(copies) - copies)[alike[order]]
    kept = np.sort(order[rank < (copies // sources)[alike[order]]])
    simple = replace(
        problem,
        counts=problem.counts // elements,
        weights=problem.weights / sources,
        backers=csr_array(problem.backers[:, kept]),
    )
    return simple, kept, (elements, sources)
