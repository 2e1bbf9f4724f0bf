"""Some thousand rows that stand for all of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from biconsensus.matrix._canonical import Colours
from biconsensus.matrix._matrix import PreferenceMatrix
from biconsensus.pool._distinct import UIntArray, mix
from biconsensus.protocols import FloatArray, IntArray

SAMPLE_ROWS = 5_000
"""Rows drawn by their share of the elements: shares of a half are known to 1.4 percentage points (two standard errors),
and the agreement with the search on all rows is in the page on size."""
ROWS_OF_A_CANDIDATE = 10
"""Rows that every candidate keeps, about: with nine or more, a vote in which nine of ten agree is lost less than once
in ten thousand (binomial)."""
WORTH_SAMPLING = 2
"""How many times more rows than the sample would have there must be, for a sample to be drawn."""


@dataclass(frozen=True)
class Drawn:
    """A sample of rows."""

    rows: IntArray
    """(k,) the rows, ..."""
    counts: IntArray
    """(k,) how many elements each of them stands for, ..."""
    colours: Colours
    """and what all rows and columns hold."""


def draw_rows(problem: PreferenceMatrix, size: int = SAMPLE_ROWS) -> Drawn | None:
    """Rows that stand for all of them, and how many elements each then stands for; None where there are few anyway.

    Parameters
    ----------
    problem : PreferenceMatrix
        Distinct rows and columns.
    size : int
        Rows expected for the elements as a whole; those that small candidates need come on top.

    Returns
    -------
    Drawn or None

    Notes
    -----
    A Poisson sample: row i, shared by s_i of m elements, is taken by chance ``p_i = min(1, max(size / m, f_i) s_i)``
    and counts ``s_i / p_i``, so that every vote is right on average (Horvitz and Thompson). f_i is ten over the
    size of its smallest candidate, so that this keeps about ten rows; a candidate of fewer elements counts only if
    two sources made it. The chance is a hash of what the row holds: neither its place nor the names of labels matter.

    Examples
    --------
    >>> import biconsensus as bc
    >>> draw_rows(bc.PreferenceMatrix.from_pool(bc.Pool.from_labels([[0, 0, 1]]))) is None
    True
    """
    if problem.shape[0] <= WORTH_SAMPLING * size:
        return None
    chance = np.minimum(1.0, problem.counts * np.maximum(size / float(problem.counts.sum()), _needed(problem)))
    if WORTH_SAMPLING * chance.sum() > problem.shape[0]:
        return None
    colours = Colours(problem)
    colours.spread()
    colours.spread()
    with np.errstate(over="ignore"):
        # rows that nothing tells apart are drawn one by one, whichever they are
        drawn = (mix(colours.rows + mix(_number_among_equals(colours.rows)), salt=11) >> np.uint64(11)) / 2.0**53
    rows = np.flatnonzero(drawn < chance)
    counts = np.maximum(np.rint(problem.counts[rows] / chance[rows]), 1.0).astype(np.int64)
    return Drawn(rows, counts, colours)


def _number_among_equals(values: UIntArray) -> IntArray:
    """(r,) how many equal values stand before each value."""
    order = np.argsort(values, kind="stable")
    opens = np.flatnonzero(np.diff(values[order], prepend=values[order[:1]] + np.uint64(1)))
    number = np.empty(order.size, np.int64)
    number[order] = np.arange(order.size) - np.repeat(opens, np.diff(np.append(opens, order.size)))
    return number


def _needed(problem: PreferenceMatrix) -> FloatArray:
    """(r,) chance for each element of a row that keeps about ten rows of each of its candidates."""
    entries = problem.entries
    sizes = problem.sizes
    agreed = np.diff(problem.backers.indptr) > 1
    by_column = np.where((sizes >= ROWS_OF_A_CANDIDATE) | agreed, ROWS_OF_A_CANDIDATE / np.maximum(sizes, 1.0), 0.0)
    needed, filled = np.zeros(problem.shape[0]), np.flatnonzero(np.diff(entries.indptr))
    if filled.size:
        needed[filled] = np.maximum.reduceat(by_column[entries.indices], entries.indptr[filled])
    return needed
