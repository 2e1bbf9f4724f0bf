"""Evidence accumulation of Fred and Jain: hierarchical clustering of the co-occurrence matrix."""

from __future__ import annotations

import numpy as np
from scipy.cluster.hierarchy import fcluster
from scipy.cluster.hierarchy import linkage as scipy_linkage
from scipy.spatial.distance import squareform

from biconsensus._checks import check_choice
from biconsensus.baselines._cooccurrence import check_n_groups, cooccurrence, grouped_rows, to_elements
from biconsensus.pool._pool import Pool
from biconsensus.protocols import FloatArray, IntArray

LINKAGES = ("average", "single")


def evidence_accumulation(
    pool: Pool, n_groups: int | None = None, *, random_state: int | None = None, linkage: str = "average"
) -> IntArray:
    """Cut the dendrogram of the co-occurrence matrix.

    Parameters
    ----------
    pool : Pool
        The candidates.
    n_groups : int or None
        Number of groups; None takes the one of the longest lifetime.
    random_state : ignored
        The answer is deterministic.
    linkage : {"average", "single"}
        How clusters are compared.

    Returns
    -------
    (m,) array of int
        Labels from 0; -1 for elements in no candidate.

    Notes
    -----
    The distance of two elements is 1 - B_ij. The lifetime of k groups is the range of heights at which the dendrogram
    has k. Equal rows are at distance 0, so the tree of distinct rows, average linkage weighted by their
    multiplicities, is the tree of the elements.

    Examples
    --------
    >>> import biconsensus as bc
    >>> evidence_accumulation(bc.Pool.from_labels([[0, 0, 1, 1], [0, 0, 1, 1], [0, 1, 1, 1]]))
    array([0, 0, 1, 1])
    """
    check_choice("linkage", linkage, LINKAGES)
    rows = grouped_rows(pool)
    check_n_groups(n_groups, rows.size, "evidence accumulation", needed=False)
    distances = np.maximum(0.0, 1.0 - cooccurrence(pool)[np.ix_(rows, rows)])
    np.fill_diagonal(distances, 0.0)
    labels = np.full(pool.rows.shape[0], -1, np.int64)
    if rows.size == 1:
        labels[rows] = 0
        return to_elements(pool, labels)
    if linkage == "single":
        tree = scipy_linkage(squareform(distances, checks=False), "single")
    else:
        tree = average_tree(distances, pool.counts[rows])
    wanted = n_groups or _longest_lifetime(tree)
    # SciPy before 1.15 joins rows that are all equally far apart, even where each was to stay alone
    labels[rows] = np.arange(rows.size) if wanted == rows.size else fcluster(tree, wanted, "maxclust")
    return to_elements(pool, labels)


def average_tree(distances: FloatArray, counts: IntArray) -> FloatArray:
    """Average-linkage tree (r - 1, 4), in the format of SciPy, of rows that stand for several elements each.

    Parameters
    ----------
    distances : (r, r) array
        Symmetric; not changed.
    counts : (r,) array of int
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


def _longest_lifetime(tree: FloatArray) -> int:
    """Number of groups, at least 2, over the widest range of heights."""
    heights = np.concatenate([[0.0], tree[:, 2]])
    lifetimes = np.diff(heights)
    # After t merges there are r - t groups; they live from heights[t] to heights[t + 1].
    return int(len(tree) + 1 - (len(lifetimes) - 1 - np.argmax(lifetimes[::-1])))
