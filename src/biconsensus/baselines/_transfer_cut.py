"""Normalised cut of the bipartite graph of elements and candidates, solved on the candidates (Li et al. 2012)."""

from __future__ import annotations

from biconsensus.baselines._pools import check_n_groups, check_square, grouped_rows, to_elements
from biconsensus.pool._pool import Pool
from biconsensus.protocols import FloatArray, IntArray
from biconsensus.quorum._score import walk_groups


def transfer_cut(
    pool: Pool, weights: FloatArray, n_groups: int | None, name: str, random_state: int | None = None
) -> IntArray:
    """Cut the bipartite graph into groups.

    Parameters
    ----------
    pool : Pool
        The candidates.
    weights : (n,) array
        Weight of the edges of each candidate.
    n_groups : int or None
        Number of groups; None is an error.
    name : str
        Method named in that error.
    random_state : int, optional
        Seed of the k-means on the spectral coordinates.

    Returns
    -------
    (m,) array of int
        Labels from 0; -1 for elements in no candidate.

    Notes
    -----
    k-means in the coordinates of `biconsensus.quorum._score.walk_coordinates`.

    Examples
    --------
    >>> import numpy as np
    >>> import biconsensus as bc
    >>> pool = bc.Pool.from_labels([[0, 0, 1, 1], [0, 0, 1, 1]])
    >>> transfer_cut(pool, np.ones(4), 2, "transfer cut", 0)
    array([0, 0, 1, 1])
    """
    rows = grouped_rows(pool)
    check_n_groups(n_groups, rows.size, name)
    assert n_groups is not None
    check_square("the overlaps of the candidates", pool.shape[1])
    labels = walk_groups(pool.rows, pool.counts, weights * pool.weights, n_groups, random_state)
    return to_elements(pool, rows, labels[rows])
