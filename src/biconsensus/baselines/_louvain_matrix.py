"""Louvain and Leiden on the bipartite graph of elements and candidates (scikit-network)."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from biconsensus._checks import need
from biconsensus.baselines._pools import grouped_rows, takes_tables, to_elements
from biconsensus.errors import InputError
from biconsensus.pool._pool import Pool
from biconsensus.protocols import IntArray
from biconsensus.sources.networks._modularity import one_seed_of_c


@takes_tables
def louvain_matrix(
    pool: Pool, n_groups: int | None = None, *, random_state: int | None = None, resolution: float = 1.0
) -> IntArray:
    """Maximise Barber's bipartite modularity of the membership matrix.

    Parameters
    ----------
    pool : Pool, or anything that `Pool.from_labels` takes
        The candidates.
    n_groups : None
        It finds the number of groups itself and cannot be told.
    random_state : int, optional
        Seed of the order of the nodes.
    resolution : float
        Higher values give smaller groups.

    Returns
    -------
    (m,) array of int
        Labels from 0; -1 for elements in no candidate.

    Notes
    -----
    Works on distinct rows, each weighted by its multiplicity.

    Examples
    --------
    >>> import biconsensus as bc
    >>> louvain_matrix(bc.Pool.from_labels([[0, 0, 1, 1], [0, 0, 1, 1], [0, 1, 1, 1]]), random_state=0)
    array([0, 0, 1, 1])
    """
    _check(n_groups, "Louvain")
    method = need("sknetwork.clustering", "graph").Louvain(
        resolution=resolution, random_state=random_state, shuffle_nodes=random_state is not None
    )
    return _communities(pool, method)


@takes_tables
def leiden_matrix(
    pool: Pool, n_groups: int | None = None, *, random_state: int | None = None, resolution: float = 1.0
) -> IntArray:
    """Maximise Barber's bipartite modularity of the membership matrix by the Leiden method.

    Parameters
    ----------
    pool : Pool, or anything that `Pool.from_labels` takes
        The candidates.
    n_groups : None
        It finds the number of groups itself and cannot be told.
    random_state : int, optional
        Seed of the order of the nodes and of the refinement.
    resolution : float
        Higher values give smaller groups.

    Returns
    -------
    (m,) array of int
        Labels from 0; -1 for elements in no candidate.

    Notes
    -----
    Works on distinct rows, each weighted by its multiplicity.

    Examples
    --------
    >>> import biconsensus as bc
    >>> leiden_matrix(bc.Pool.from_labels([[0, 0, 1, 1], [0, 0, 1, 1], [0, 1, 1, 1]]), random_state=0)
    array([0, 0, 1, 1])
    """
    _check(n_groups, "Leiden")
    method = need("sknetwork.clustering", "graph").Leiden(
        resolution=resolution, random_state=random_state, shuffle_nodes=random_state is not None
    )
    with one_seed_of_c(random_state or 0):
        return _communities(pool, method)


def _check(n_groups: int | None, name: str) -> None:
    """No number of groups was given."""
    if n_groups is not None:
        raise InputError(f"n_groups: got {n_groups}; {name} finds the number of groups itself, leave it out.")


def _communities(pool: Pool, method: Any) -> IntArray:
    """(m,) communities of the elements in the bipartite graph."""
    rows = grouped_rows(pool)
    data = csr_matrix(pool.rows[rows].astype(np.float64) * pool.counts[rows, None] * pool.weights[None, :])
    return to_elements(pool, rows, method.fit_predict(data, force_bipartite=True))
