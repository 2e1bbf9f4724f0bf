"""The group in which the candidates of a row are most likely, where there are rows enough to tell."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from biconsensus.matrix._groups import in_groups, stored_rows, top_in_rows, values_at
from biconsensus.matrix._matrix import SCANNED, PreferenceMatrix
from biconsensus.pool._rows import row_parts
from biconsensus.protocols import FloatArray, IntArray

MANY_ROWS = 3000
"""Distinct rows from which on there are enough to tell how large a part of a group each candidate holds. On pools of
300 to 600 elements the agreement with the truth was the same or lower by .001 (see the page on size)."""
LIKELY_BITS = 20
"""Binary digits of a log-likelihood behind the point, so that sums are the same in any order of the candidates."""


def most_likely(
    problem: PreferenceMatrix, labels: IntArray, sample: tuple[IntArray, IntArray] | None = None
) -> IntArray:
    """The group of each row in which the candidates that hold it are most likely.

    Parameters
    ----------
    problem : PreferenceMatrix
        The pool; sources count as independent, by the weights of their candidates.
    labels : (r,) array of int
        Group of each row, -1 for none: these say how likely each candidate is in each group.
    sample : two (k,) arrays of int, optional
        Where only some of the rows have a label (k,): these rows, and how many elements each stands for.

    Returns
    -------
    (r,) array of int
        Rows with the label of a group that would run empty stay there; rows that no candidate holds are anywhere.

    Notes
    -----
    The likelihood of a candidate is the share of the group, as far as its source saw it, that it holds; one element
    spread as all elements are is added to each group.

    Examples
    --------
    >>> import biconsensus as bc
    >>> problem = bc.PreferenceMatrix.from_pool(bc.Pool.from_labels([[0, 0, 0, 1, 1, 1]] * 2))
    >>> most_likely(problem, np.array([0, 1]))
    array([0, 1])
    >>> pool = bc.Pool.from_labels([[0, 0, 0, 1, 1], [0, 0, 1, 1, 1], [0, 0, 1, 1, 1]])
    >>> problem = bc.PreferenceMatrix.from_pool(pool)
    >>> most_likely(problem, np.array([0, -1, 1]))
    array([0, 1, 1])
    """
    number = int(labels.max(initial=-1)) + 1
    told = problem if sample is None else problem.some_rows(*sample)
    sizes = told.group_sizes(labels, number)
    total = np.full(told.shape[1], float(told.counts.sum()))
    lost = None
    if told.unseen is not None and told.mask is not None:
        lost = told.unseen.T.astype(np.float64) @ in_groups(labels, told.counts.astype(np.float64), number)
        total = total - (told.counts @ told.unseen.astype(np.float64))[told.mask]
    spread = told.sizes / np.maximum(total, 1.0)
    if problem.shape[0] * number > SCANNED * problem.entries.nnz:
        best = _most_likely_near(problem, told.shared_with_groups(labels, number), sizes, spread, lost)
    else:
        held = told.held_by_columns(labels, number)
        seen = sizes if lost is None or told.mask is None else sizes - lost.toarray()[told.mask]
        share = (held + spread[:, None]) / (seen + 1.0)
        likely = _exact(problem.weights[:, None] * np.log(np.maximum(share, 1e-300)))
        best = np.empty(problem.shape[0], np.int64)
        for rows, _, _ in row_parts(problem.entries):
            best[rows] = (problem.entries[rows] @ likely).argmax(axis=1)
    own = best if sample is None else best[sample[0]]
    # the last place: rows in no group
    kept = np.append(np.bincount(own[(labels >= 0) & (own >= 0)], minlength=number) > 0, True)
    stay = ~kept[labels] | (own < 0)
    best[stay if sample is None else sample[0][stay]] = labels[stay]
    return best


def _most_likely_near(
    problem: PreferenceMatrix, held: csr_array, sizes: FloatArray, spread: FloatArray, lost: csr_array | None
) -> IntArray:
    """(r,) the same among the groups that share a candidate with the row, of which there are very many; -1 for none."""
    column = stored_rows(held)
    likely = _exact(problem.weights[column] * np.log1p(held.data / np.maximum(spread[column], 1e-300)))
    gained = csr_array((likely, held.indices, held.indptr), shape=held.shape)
    asked, by_size = problem.entries @ problem.weights, np.log(sizes + 1.0)
    by_mask, fewer = None, lost
    if fewer is not None and problem.mask is not None:
        by_mask = in_groups(problem.mask, problem.weights, fewer.shape[0])
        fewer = csr_array(fewer)
        fewer.data = np.log1p(-fewer.data / (sizes[fewer.indices] + 1.0))
    best = np.empty(problem.shape[0], np.int64)
    for rows, _, _ in row_parts(problem.entries):
        entries = problem.entries[rows].astype(np.float64)
        near = csr_array(entries @ gained)
        row, group = stored_rows(near), near.indices
        near.data -= _exact(asked[rows][row] * by_size[group])
        if by_mask is not None:
            near.data -= _exact(values_at(csr_array(entries @ by_mask @ fewer), row, group))
        best[rows] = top_in_rows(near)[0]
    return best


def _exact(likely: FloatArray) -> FloatArray:
    """Log-likelihoods rounded so that their sums are exact."""
    return np.asarray(np.ldexp(np.rint(np.ldexp(likely, LIKELY_BITS)), -LIKELY_BITS))
