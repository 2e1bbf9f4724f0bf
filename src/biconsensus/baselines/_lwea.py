"""Locally weighted ensembles of Huang, Wang and Lai (2018): candidates count by how certain the pool is of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.cluster.hierarchy import fcluster

from biconsensus.baselines._cooccurrence import cooccurrence
from biconsensus.baselines._evidence_accumulation import longest_lifetime
from biconsensus.baselines._pools import check_n_groups, grouped_rows, takes_tables, to_elements
from biconsensus.baselines._transfer_cut import transfer_cut
from biconsensus.matrix._matrix import PreferenceMatrix
from biconsensus.pool._pool import Pool
from biconsensus.protocols import FloatArray, IntArray
from biconsensus.quorum._linkage import average_tree
from biconsensus.quorum._score import Overlaps


def certainty(pool: Pool, scale: float = 0.4) -> FloatArray:
    """Ensemble-driven cluster index of each candidate.

    Parameters
    ----------
    pool : Pool, or anything that `Pool.from_labels` takes
        The candidates.
    scale : float
        The authors' parameter theta; small values punish uncertain candidates more.

    Returns
    -------
    (n,) array
        In (0, 1]: 1 for a candidate that no source cuts.

    Notes
    -----
    ``exp(-H_j / (scale c))`` with H_j the entropy (bits) of candidate j over the candidates of each source, summed over
    the c sources; see `Overlaps.certainty`.

    Examples
    --------
    >>> import biconsensus as bc
    >>> certainty(bc.Pool.from_labels([[0, 0, 1, 1], [0, 0, 0, 0]])).round(3)
    array([1.   , 1.   , 0.287])
    """
    problem = PreferenceMatrix.from_pool(pool)
    return Overlaps.of(problem).certainty(scale)[problem.members]


@takes_tables
def lwea(pool: Pool, n_groups: int | None = None, *, random_state: int | None = None, scale: float = 0.4) -> IntArray:
    """Evidence accumulation over locally weighted co-occurrences.

    Parameters
    ----------
    pool : Pool, or anything that `Pool.from_labels` takes
        The candidates.
    n_groups : int or None
        Number of groups; None takes the one of the longest lifetime.
    random_state : ignored
        The answer is deterministic.
    scale : float
        Parameter of `certainty`.

    Returns
    -------
    (m,) array of int
        Labels from 0; -1 for elements in no candidate.

    Notes
    -----
    Average linkage of ``1/c sum over sources of certainty(C) [i and j both in C]``.

    Examples
    --------
    >>> import biconsensus as bc
    >>> lwea(bc.Pool.from_labels([[0, 0, 1, 1], [0, 0, 1, 1], [0, 1, 1, 1]]), 2)
    array([0, 0, 1, 1])
    """
    return _weighted_tree(pool, certainty(pool, scale), n_groups, "LWEA")


@takes_tables
def nwca(pool: Pool, n_groups: int | None = None, *, random_state: int | None = None, scale: float = 0.07) -> IntArray:
    """Evidence accumulation over co-occurrences weighted by normalised entropy (first stage of SDGCA, 2025).

    Parameters
    ----------
    pool : Pool, or anything that `Pool.from_labels` takes
        The candidates.
    n_groups : int or None
        Number of groups; None takes the one of the longest lifetime.
    random_state : ignored
        The answer is deterministic.
    scale : float
        The authors' parameter lambda, which they set for each data set from 0.02 to 0.18.

    Returns
    -------
    (m,) array of int
        Labels from 0; -1 for elements in no candidate.

    Notes
    -----
    LWEA with the entropy of a candidate divided by log2 of the number of candidates of its source.

    Examples
    --------
    >>> import biconsensus as bc
    >>> nwca(bc.Pool.from_labels([[0, 0, 1, 1], [0, 0, 1, 1], [0, 1, 1, 1]]), 2)
    array([0, 0, 1, 1])
    """
    problem = PreferenceMatrix.from_pool(pool)
    weights = Overlaps.of(problem).normalised_certainty(scale)[problem.members]
    return _weighted_tree(pool, weights, n_groups, "NWCA")


@takes_tables
def lwgp(pool: Pool, n_groups: int | None = None, *, random_state: int | None = None, scale: float = 0.4) -> IntArray:
    """Partition the locally weighted bipartite graph of elements and candidates.

    Parameters
    ----------
    pool : Pool, or anything that `Pool.from_labels` takes
        The candidates.
    n_groups : int
        Number of groups; needed.
    random_state : int, optional
        Seed of the final k-means.
    scale : float
        Parameter of `certainty`.

    Returns
    -------
    (m,) array of int
        Labels from 0; -1 for elements in no candidate.

    Notes
    -----
    Edge weights are the certainty of the candidate; the graph is cut by `transfer_cut`.

    Examples
    --------
    >>> import biconsensus as bc
    >>> lwgp(bc.Pool.from_labels([[0, 0, 1, 1], [0, 0, 1, 1], [0, 1, 1, 1]]), 2, random_state=0)
    array([0, 0, 1, 1])
    """
    return transfer_cut(pool, certainty(pool, scale), n_groups, "LWGP", random_state)


def _weighted_tree(pool: Pool, weights: FloatArray, n_groups: int | None, name: str) -> IntArray:
    """(m,) labels by average linkage of the co-occurrences, each weighted by its candidate."""
    rows = grouped_rows(pool)
    check_n_groups(n_groups, rows.size, name, needed=False)
    if rows.size == 1:
        return to_elements(pool, rows, 0)
    # the weights must not enter the normalisation, which counts sources
    weighted = replace(pool, rows=pool.rows * np.sqrt(weights)[None, :])
    tree = average_tree(1.0 - cooccurrence(weighted)[np.ix_(rows, rows)], pool.counts[rows])
    return to_elements(pool, rows, fcluster(tree, n_groups or longest_lifetime(tree), "maxclust"))
