"""Evidence accumulation of Fred and Jain: hierarchical clustering of the co-occurrence matrix."""

from __future__ import annotations

import numpy as np
from scipy.cluster.hierarchy import fcluster
from scipy.cluster.hierarchy import linkage as scipy_linkage
from scipy.spatial.distance import squareform

from biconsensus._checks import check_choice
from biconsensus.baselines._cooccurrence import cooccurrence
from biconsensus.baselines._pools import check_n_groups, grouped_rows, takes_tables, to_elements
from biconsensus.pool._pool import Pool
from biconsensus.protocols import FloatArray, IntArray
from biconsensus.quorum._linkage import average_tree

LINKAGES = ("average", "single")


@takes_tables
def evidence_accumulation(
    pool: Pool, n_groups: int | None = None, *, random_state: int | None = None, linkage: str = "average"
) -> IntArray:
    """Cut the dendrogram of the co-occurrence matrix.

    Parameters
    ----------
    pool : Pool, or anything that `Pool.from_labels` takes
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
    if rows.size == 1:
        return to_elements(pool, rows, 0)
    if linkage == "single":
        tree = scipy_linkage(squareform(distances, checks=False), "single")
    else:
        tree = average_tree(distances, pool.counts[rows])
    wanted = n_groups or longest_lifetime(tree)
    # SciPy before 1.15 joins rows that are all equally far apart, even where each was to stay alone
    found = np.arange(rows.size) if wanted == rows.size else fcluster(tree, wanted, "maxclust")
    return to_elements(pool, rows, found)


def longest_lifetime(tree: FloatArray) -> int:
    """Number of groups, at least 2, over the widest range of heights."""
    heights = np.concatenate([[0.0], tree[:, 2]])
    lifetimes = np.diff(heights)
    # After t merges there are r - t groups; they live from heights[t] to heights[t + 1].
    return int(len(tree) + 1 - (len(lifetimes) - 1 - np.argmax(lifetimes[::-1])))
