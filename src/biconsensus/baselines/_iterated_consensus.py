"""Iterated consensus (Lancichinetti and Fortunato 2012): cluster the co-occurrence matrix until all runs agree."""

from __future__ import annotations

import numpy as np

from biconsensus.baselines._consensus_network import is_unanimous, network_of, runs_on, thresholded
from biconsensus.baselines._pools import check_square, label_table, takes_tables
from biconsensus.errors import InputError
from biconsensus.graphs._graph import relabel
from biconsensus.pool._pool import Pool
from biconsensus.protocols import IntArray


@takes_tables
def iterated_consensus(
    pool: Pool,
    n_groups: int | None = None,
    *,
    random_state: int | None = None,
    algorithm: str = "louvain",
    threshold: float = 0.2,
    max_rounds: int = 20,
) -> IntArray:
    """Take the co-occurrence matrix as a network, detect communities in it as often as the pool has runs, and repeat.

    Parameters
    ----------
    pool : Pool, or anything that `Pool.from_labels` takes
        Communities of m nodes.
    n_groups : None
        It finds the number of groups itself and cannot be told.
    random_state : int, optional
        Seed of the runs.
    algorithm : str
        Base algorithm of every round but the first, which is the pool.
    threshold : float
        Pairs that fewer runs put together are left out, as their authors advise for Louvain.
    max_rounds : int
        Rounds before it gives up; the last network's first run is then the answer.

    Returns
    -------
    (m,) array of int
        Labels from 0.

    Examples
    --------
    >>> import biconsensus as bc
    >>> iterated_consensus(bc.Pool.from_labels([[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1]] * 3), random_state=0)
    array([0, 0, 0, 1, 1, 1])
    """
    if n_groups is not None:
        raise InputError(f"n_groups: got {n_groups}; iterated consensus finds the number of groups, leave it out.")
    m = pool.shape[0]
    check_square(f"the co-occurrence matrix of {m} nodes", m)
    rng = np.random.default_rng(random_state)
    table = label_table(pool)
    n_runs = table.shape[1]
    left, right = np.triu_indices(m, 1)
    for _ in range(max_rounds):
        together = np.zeros((m, m))
        for labels in table.T:
            together += (labels[:, None] == labels[None, :]) & (labels >= 0)[:, None]
        share = together[left, right] / n_runs
        if is_unanimous(share, 0.0):
            break
        weights = thresholded(left, right, share, threshold, m)
        table = runs_on(network_of(left, right, weights, m), algorithm, n_runs, rng)
    return relabel(table[:, 0])
