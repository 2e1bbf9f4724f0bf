"""Exactly `n_groups` groups: average linkage on co-occurrence, seen through the random walk."""

from __future__ import annotations

import numpy as np

from biconsensus.matrix._groups import in_groups
from biconsensus.matrix._matrix import PreferenceMatrix
from biconsensus.pool._rows import row_parts
from biconsensus.protocols import FloatArray, IntArray
from biconsensus.quorum._linkage import average_tree, cut_tree
from biconsensus.quorum._score import shared_amounts, unit_rows, walk_groups, walk_vectors

MAX_LEAVES = 3000
"""Rows up to which every row is a leaf of the tree: its three dense matrices then take 216 MB at most."""
MAX_MOVES = 20
"""Rounds of moving rows; they end by themselves after a few, and this bounds cycles between ties."""
MAX_WALK = 3000
"""Columns up to which the eigenvectors of the random walk are computed."""


def group_rows(problem: PreferenceMatrix, n_groups: int, finest: IntArray) -> IntArray | None:
    """Group the rows of a pool into a given number of groups.

    Parameters
    ----------
    problem : PreferenceMatrix
        The pool, candidates weighted by certainty and surprise.
    n_groups : int
        Number of groups (k).
    finest : (r,) array of int
        A fine grouping of the rows, -1 for none: its groups are the leaves where there are too many rows for a tree.

    Returns
    -------
    (r,) array of int, or None
        Groups from 0 to k - 1, -1 for rows that no weighted column holds; None where there are fewer leaves than k.

    Notes
    -----
    Average linkage of the similarity ``S_ij C_ij``: S is the weighted co-occurrence of two rows, C the cosine of their
    coordinates in the k leading eigenvectors of the random walk over elements and candidates, not below 0. S alone is
    the tree of locally weighted evidence accumulation, which chains; C is what the transfer cut sees, which prefers
    groups of one size; rows that are far apart in either do not meet. Then every row goes to the group that it
    co-occurs with most, on average, until none moves. What else was tried: benchmarks/tuning/given_number.py.

    Examples
    --------
    >>> import biconsensus as bc
    >>> problem = bc.PreferenceMatrix.from_pool(bc.Pool.from_labels([[0, 0, 1, 1], [0, 0, 1, 2]]))
    >>> group_rows(problem, 2, np.arange(3))
    array([0, 1, 1])
    """
    held = np.asarray(problem.entries @ problem.weights > 0)
    few = np.count_nonzero(held) <= MAX_LEAVES
    leaves = np.where(held, np.cumsum(held) - 1 if few else finest, -1)
    number = int(leaves.max(initial=-1)) + 1
    if number < n_groups:
        return _walk_alone(problem, n_groups) if not few and problem.shape[1] <= MAX_WALK else None
    inside = leaves >= 0
    sizes = np.bincount(leaves[inside], problem.counts[inside], minlength=number)
    similarity = _similarity(problem, leaves, n_groups)
    tree = average_tree(1.0 - similarity / max(float(similarity.max()), 1e-300), sizes)
    found = cut_tree(tree, n_groups)
    return _moved(problem, np.where(inside, found[leaves], -1))


def _walk_alone(problem: PreferenceMatrix, n_groups: int) -> IntArray:
    """(r,) groups by the transfer cut, where the leaves are fewer than the groups."""
    return walk_groups(problem.entries, problem.counts, problem.weights, n_groups)


def _similarity(problem: PreferenceMatrix, leaves: IntArray, n_groups: int) -> FloatArray:
    """(u, u) mean weighted co-occurrence of two leaves, times the cosine of their mean walk coordinates."""
    members = in_groups(leaves, problem.counts.astype(np.float64))
    number = members.shape[1]
    size = np.maximum(problem.group_sizes(leaves, number), 1.0)
    held = problem.held_by_columns(leaves, number) / size
    together: FloatArray = held.T @ (problem.weights[:, None] * held)
    if problem.shape[1] > MAX_WALK:
        return together
    amounts = problem.counts / np.maximum(problem.entries @ problem.weights, 1e-300)
    vectors = walk_vectors(shared_amounts(problem, amounts).toarray(), problem.weights, n_groups)
    place = np.zeros((number, vectors.shape[1]))
    for rows, _, _ in row_parts(problem.entries):
        place += members[rows].T @ unit_rows(problem.entries[rows] @ vectors)
    return np.asarray(together * np.maximum(unit_rows(place) @ unit_rows(place).T, 0.0))


def _moved(problem: PreferenceMatrix, labels: IntArray) -> IntArray:
    """Rows moved to the group of the largest mean co-occurrence, themselves left out, while no group runs empty."""
    own, number = problem.entries @ problem.weights, int(labels.max(initial=-1)) + 1
    for _ in range(MAX_MOVES):
        sizes = problem.group_sizes(labels, number)
        held = problem.weights[:, None] * problem.held_by_columns(labels, number)
        found = labels.copy()
        for rows, _, _ in row_parts(problem.entries):
            inside = np.flatnonzero(labels[rows] >= 0)
            group = labels[rows][inside]
            near = (problem.entries[rows] @ held)[inside]
            place = np.arange(inside.size), group
            with_own = (near[place] - own[rows][inside]) / np.maximum(sizes[group] - 1.0, 1.0)
            near /= np.maximum(sizes, 1.0)
            near[place] = with_own
            found[rows.start + inside] = near.argmax(axis=1)
        if np.array_equal(found, labels) or np.unique(found[found >= 0]).size < number:
            break
        labels = found
    return labels
