"""Average linkage of units that stand for several elements each."""

from __future__ import annotations

import numpy as np

from biconsensus.protocols import FloatArray, IntArray


def average_tree(distances: FloatArray, counts: IntArray | FloatArray) -> FloatArray:
    """Average-linkage tree (r - 1, 4), in the format of SciPy, of rows that stand for several elements each.

    Parameters
    ----------
    distances : (r, r) array
        Symmetric; not changed.
    counts : (r,) array
        Elements behind each row.

    Returns
    -------
    (r - 1, 4) array
        Merges by rising height.

    Examples
    --------
    >>> average_tree(np.array([[0.0, 1.0, 4.0], [1.0, 0.0, 2.0], [4.0, 2.0, 0.0]]), np.array([1, 3, 1]))[:, 2]
    array([1. , 2.5])
    """
    D, size = distances.astype(np.float64), counts.astype(np.float64)
    r = len(D)
    np.fill_diagonal(D, np.inf)
    merges, chain = np.empty((r - 1, 3)), [0]
    dead = np.zeros(r, bool)
    for step in range(r - 1):
        if not chain:
            chain.append(int(np.flatnonzero(~dead)[0]))
        while True:
            i = chain[-1]
            j = int(D[i].argmin())
            if len(chain) > 1 and D[i, chain[-2]] <= D[i, j]:
                j = chain[-2]
                break
            chain.append(j)
        chain = chain[:-2]
        merges[step] = i, j, D[i, j]
        D[i] = (size[i] * D[i] + size[j] * D[j]) / (size[i] + size[j])
        D[i, i], D[:, i] = np.inf, D[i]
        D[i, i] = np.inf
        size[i] += size[j]
        dead[j] = True
        D[j], D[:, j] = np.inf, np.inf
    return _as_scipy(merges[np.argsort(merges[:, 2], kind="stable")], r)


def _as_scipy(merges: FloatArray, r: int) -> FloatArray:
    """Merges of rows, by height, renumbered as merges of clusters."""
    tree = np.empty((r - 1, 4))
    cluster, size = np.arange(r), np.ones(r)
    parent = np.arange(r)

    def root(i: int) -> int:
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    for step, (a, b, height) in enumerate(merges):
        i, j = root(int(a)), root(int(b))
        size[i] += size[j]
        tree[step] = min(cluster[i], cluster[j]), max(cluster[i], cluster[j]), height, size[i]
        parent[j], cluster[i] = i, r + step
    return tree


def cut_tree(tree: FloatArray, n_groups: int) -> IntArray:
    """Exactly that many groups of the leaves of a tree: its last `n_groups` - 1 merges undone, ties or not.

    Parameters
    ----------
    tree : (r - 1, 4) array
        In the format of SciPy, whose own `fcluster` gives fewer groups where heights tie.
    n_groups : int
        From 1 to r.

    Returns
    -------
    (r,) array of int
        Groups from 0.

    Examples
    --------
    >>> cut_tree(np.array([[0, 1, 1.0, 2], [2, 3, 1.0, 2], [4, 5, 1.0, 4]]), 3)
    array([2, 2, 0, 1])
    """
    n_leaves = len(tree) + 1
    n_merges = n_leaves - n_groups
    parent = np.arange(n_leaves + n_merges)
    for step, (a, b) in enumerate(tree[:n_merges, :2].astype(np.int64)):
        parent[[a, b]] = n_leaves + step
    for node in range(parent.size - 1, -1, -1):
        parent[node] = parent[parent[node]]
    return np.unique(parent[:n_leaves], return_inverse=True)[1]
