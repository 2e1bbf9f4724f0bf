"""Agreement of two covers: groups that may overlap and leave elements out."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array, issparse

from biconsensus._names import parameters
from biconsensus._words import counted
from biconsensus.errors import InputError, UnknownNameError
from biconsensus.metrics._contingency import best_matching
from biconsensus.protocols import FloatArray


@parameters()
def recall_precision(truth: Any, groups: Any) -> tuple[float, float]:
    """Recall and precision of groups that may overlap and need not cover, under the best one-to-one matching.

    Parameters
    ----------
    truth, groups : (m,) labels (-1: in no group), (m, g) membership (dense or sparse), or list of index arrays
        The true groups and those found.

    Returns
    -------
    recall : float
        Elements that the matched groups share, over the sizes of all true groups.
    precision : float
        The same, over the sizes of all groups found: a group without a partner is all wrong.

    Examples
    --------
    >>> recall_precision([[0, 1, 2], [3, 4, 5]], [[0, 1], [3, 4, 5, 6]])
    (0.8333333333333334, 0.8333333333333334)
    """
    a, b = _memberships(truth, groups, None)
    shared = best_matching(csr_array(a.T @ b))[1].sum()
    return float(shared / max(a.sum(), 1)), float(shared / max(b.sum(), 1))


@parameters()
def overlapping_nmi(truth: Any, groups: Any, n_elements: int | None = None, normalization: str = "max") -> float:
    """Normalised mutual information of two covers, whose groups may overlap and leave elements out.

    Parameters
    ----------
    truth, groups : (m,) labels (-1: in no group), (m, g) membership (dense or sparse), or list of index arrays
        The two covers.
    n_elements : int, optional
        Number of elements m; needed only where both covers are lists, if the last elements are in no group.
    normalization : {"max", "lfk"}, default "max"
        "max" is that of McDaid, Greene and Hurley (2011); "lfk" that of Lancichinetti, Fortunato and Kertész (2009),
        which overrates covers that share a part only.

    Returns
    -------
    float
        In [0, 1]; 1 for equal covers.

    Notes
    -----
    Each group is a binary variable over the elements. ``H(X_i | Y)`` is the smallest ``H(X_i | Y_j)`` over the groups
    that fit better than a complement would, else ``H(X_i)``. With the sums over i, "max" is
    ``I / max(H(X), H(Y))`` where ``2 I = H(X) - H(X|Y) + H(Y) - H(Y|X)``; "lfk" is one less the mean of
    ``H(X_i | Y) / H(X_i)`` over the groups of both sides.

    Examples
    --------
    >>> overlapping_nmi([[0, 1, 2], [2, 3, 4]], [[2, 3, 4], [0, 1, 2]], n_elements=6)
    1.0
    """
    if normalization not in _COVER_NORMALIZATIONS:
        raise UnknownNameError.of("normalization", normalization, _COVER_NORMALIZATIONS)
    a, b = _memberships(truth, groups, n_elements)
    entropy_a, given_b = _cover_entropies(a, b)
    entropy_b, given_a = _cover_entropies(b, a)
    if not entropy_a.sum() or not entropy_b.sum():
        return float(_same_groups(a, b))
    return float(np.clip(_COVER_NORMALIZATIONS[normalization](entropy_a, given_b, entropy_b, given_a), 0.0, 1.0))


def _memberships(truth: Any, groups: Any, n_elements: int | None) -> tuple[csc_array, csc_array]:
    """Both covers as (m, g) sparse matrices of ones over the same elements."""
    a, b = _membership(truth, "truth"), _membership(groups, "groups")
    if not (_is_list(truth) or _is_list(groups)) and a.shape[0] != b.shape[0]:
        raise InputError(
            f"truth has {counted(a.shape[0], 'element')} and groups has {b.shape[0]}; both must be over the same."
        )
    m = max(a.shape[0], b.shape[0], n_elements or 0)
    return _stretched(a, m), _stretched(b, m)


def _is_list(cover: Any) -> bool:
    """Whether a cover is a list of index arrays, whose number of elements is not known."""
    return isinstance(cover, (list, tuple)) and (not cover or np.ndim(cover[0]) == 1)


def _membership(cover: Any, name: str) -> csc_array:
    """A cover in any of its forms as an (m, g) matrix of int64 ones."""
    if _is_list(cover):
        return _from_lists([np.unique(np.asarray(group, dtype=np.int64)) for group in cover], name)
    if issparse(cover) or np.ndim(cover) == 2:
        matrix = csc_array(cover, copy=True)
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
        return csc_array((np.ones(matrix.nnz, np.int64), matrix.indices, matrix.indptr), shape=matrix.shape)
    labels = np.asarray(cover)
    if labels.ndim != 1 or labels.dtype.kind not in "iu":
        raise InputError(
            f"{name} must be (m,) integer labels, an (m, g) membership or a list of index arrays; "
            f"received shape {labels.shape} of {labels.dtype}."
        )
    inside = np.flatnonzero(labels != -1)
    distinct, column = np.unique(labels[inside], return_inverse=True)
    return csc_array((np.ones(inside.size, np.int64), (inside, column)), shape=(labels.size, distinct.size))


def _from_lists(groups: list[NDArray[np.int64]], name: str) -> csc_array:
    """A list of distinct element indices for each group as a membership matrix."""
    elements = np.concatenate(groups) if groups else np.zeros(0, np.int64)
    if elements.size and elements.min() < 0:
        raise InputError(f"{name} has the element index {elements.min()}; indices must not be negative.")
    offsets = np.cumsum([0, *(group.size for group in groups)])
    ones = np.ones(elements.size, np.int64)
    return csc_array((ones, elements, offsets), shape=(elements.max(initial=-1) + 1, len(groups)))


def _stretched(matrix: csc_array, n_elements: int) -> csc_array:
    """The same columns over more elements."""
    return csc_array((matrix.data, matrix.indices, matrix.indptr), shape=(n_elements, matrix.shape[1]))


def _bits(counts: Any, total: int) -> FloatArray:
    """-p log2 p of counts out of a total, 0 at 0."""
    p = np.asarray(counts, dtype=np.float64) / total
    return -p * np.log2(np.where(p > 0, p, 1.0))


def _cover_entropies(a: csc_array, b: csc_array) -> tuple[FloatArray, FloatArray]:
    """Entropy of each group of a as a binary variable, and the same given the cover b."""
    m = max(a.shape[0], 1)
    size_a, size_b = a.sum(0), b.sum(0)
    entropy = _bits(size_a, m) + _bits(m - size_a, m)
    entropy_b = _bits(size_b, m) + _bits(m - size_b, m)
    given = entropy.copy()
    shared = csr_array(a.T @ b)
    for i in range(size_a.size):
        both = np.zeros(size_b.size)
        part = slice(shared.indptr[i], shared.indptr[i + 1])
        both[shared.indices[part]] = shared.data[part]
        agree = _bits(both, m) + _bits(m - size_a[i] - size_b + both, m)
        differ = _bits(size_a[i] - both, m) + _bits(size_b - both, m)
        # a group that is more like the complement says nothing about this one (the constraint of both papers)
        fits = agree > differ
        given[i] = min(given[i], (agree + differ - entropy_b)[fits].min(initial=np.inf))
    return entropy, np.clip(given, 0.0, None)


def _by_larger_entropy(h_a: FloatArray, a_given: FloatArray, h_b: FloatArray, b_given: FloatArray) -> float:
    """McDaid, Greene and Hurley: shared information over the larger entropy."""
    shared = (h_a.sum() - a_given.sum() + h_b.sum() - b_given.sum()) / 2
    return float(shared / max(h_a.sum(), h_b.sum()))


def _by_each_group(h_a: FloatArray, a_given: FloatArray, h_b: FloatArray, b_given: FloatArray) -> float:
    """Lancichinetti, Fortunato and Kertész: one less the mean share left unexplained in each group."""
    left = [
        np.divide(given, h, out=np.ones_like(h), where=h > 0).mean() for h, given in ((h_a, a_given), (h_b, b_given))
    ]
    return float(1 - sum(left) / 2)


def _same_groups(a: csc_array, b: csc_array) -> bool:
    """Whether two covers without information (empty or all-embracing groups only) hold the same groups."""
    return sorted(a.sum(0)) == sorted(b.sum(0))


_COVER_NORMALIZATIONS = {"max": _by_larger_entropy, "lfk": _by_each_group}
