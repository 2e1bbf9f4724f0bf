"""One order of rows and columns that depends on what they hold, not on where the user put them.

Rows and columns are coloured by their content and by the colours of what they meet, again and again (colour
refinement, Weisfeiler and Leman 1968), until no more of them can be told apart. What is still equal then is as a rule
interchangeable: one of it is singled out and the refinement goes on, so that the order of the others follows.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.sparse import csr_array

from biconsensus.matrix._matrix import PreferenceMatrix
from biconsensus.pool._distinct import UIntArray, group_rows, mix, row_hashes
from biconsensus.protocols import FloatArray, IntArray

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
        view=None if problem.view is None else problem.view[columns],
    )


def relative(values: FloatArray | IntArray) -> FloatArray:
    """Values as shares of their sum, without the digits that only rounding makes."""
    shares = np.asarray(values, np.float64) / (float(np.sum(values)) or 1.0)
    exponent = np.frexp(shares)[1]
    return np.asarray(np.ldexp(np.round(np.ldexp(shares, 40 - exponent)), exponent - 40))


class Colours:
    """Colours of rows, columns, sources and views, refined together."""

    def __init__(self, problem: PreferenceMatrix) -> None:
        self._problem = problem
        self._lengths = np.diff(problem.entries.indptr)
        self._own_rows = mix(relative(problem.counts).view(np.uint64))
        self._own_columns = mix(relative(problem.weights).view(np.uint64), salt=1)
        self._values = None if problem.binary else mix(problem.entries.data.view(np.uint64), salt=2)
        # sources that say the same count once, with their share, so that doubling all of them changes nothing
        first, self._alike = group_rows(csr_array(problem.backers.T.astype(np.uint8)))
        self._backers = csr_array(problem.backers[:, first])
        self._own_sources = mix(relative(np.bincount(self._alike)).view(np.uint64), salt=10)
        self._sources = self._own_sources
        self.rows, self.columns = self._own_rows, self._own_columns

    def refine(self) -> None:
        """Let colours spread until they tell no more rows and columns apart."""
        known = -1
        for _ in range(MAX_REFINEMENTS):
            self.spread()
            found = np.unique(self.rows).size + np.unique(self.columns).size
            if found <= known or found == self.rows.size + self.columns.size:
                break
            known = found

    def spread(self) -> None:
        """One round: columns see their rows, sources their columns, rows see all of it."""
        problem = self._problem
        seen = self._met_by_columns()
        with np.errstate(over="ignore"):
            columns = mix(self._own_columns + seen, salt=3)
            hidden = np.zeros(self.rows.size, np.uint64)
            if problem.unseen is not None and problem.view is not None:
                views = _added_up(problem.unseen, self.rows)
                columns = mix(columns + views[problem.view], salt=4)
                hidden = row_hashes(problem.unseen, mix(views, salt=5))
            self._sources = _added_up(self._backers, columns) + self._own_sources
            columns = mix(columns + row_hashes(self._backers, mix(self._sources, salt=6)), salt=7)
            self.columns = columns
            self.rows = mix(self._own_rows + self._met_by_rows() + hidden, salt=8)

    def _met_by_columns(self) -> UIntArray:
        """(q,) sum of the colours of the rows of each column."""
        entries = self._problem.entries
        if self._values is None:
            return _added_up(entries, self.rows)
        cells = mix(np.repeat(self.rows, self._lengths) ^ self._values)
        return _counted(entries.indices, cells, entries.shape[1])

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


def _added_up(matrix: csr_array, colours: UIntArray) -> UIntArray:
    """(q,) sum of the colours (r,) of the rows that each column of a sparse matrix stores."""
    return _counted(matrix.indices, np.repeat(colours, np.diff(matrix.indptr)), matrix.shape[1])


def _counted(places: IntArray, colours: UIntArray, size: int) -> UIntArray:
    """(size,) sums of colours by place, of as many of their digits as floats add up exactly."""
    bits = EXACT_BITS - int(places.size).bit_length()
    return mix(np.bincount(places, colours >> np.uint64(64 - bits), minlength=size).astype(np.uint64))


def _sorted(matrix: csr_array) -> csr_array:
    """A matrix whose stored values are in the order of their columns."""
    matrix.sort_indices()
    return matrix


def _in_order(items: IntArray) -> bool:
    """Whether items are 0, 1, 2, ..."""
    return bool((items == np.arange(items.size)).all())
