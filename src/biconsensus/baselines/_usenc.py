"""The consensus step of U-SENC (Huang et al. 2020): transfer cut of the plain bipartite graph."""

from __future__ import annotations

import numpy as np

from biconsensus.baselines._pools import takes_tables
from biconsensus.baselines._transfer_cut import transfer_cut
from biconsensus.pool._pool import Pool
from biconsensus.protocols import IntArray


@takes_tables
def usenc(pool: Pool, n_groups: int | None = None, *, random_state: int | None = None) -> IntArray:
    """Partition the bipartite graph of elements and candidates, all edges alike.

    Parameters
    ----------
    pool : Pool, or anything that `Pool.from_labels` takes
        The candidates.
    n_groups : int
        Number of groups; needed.
    random_state : int, optional
        Seed of the final k-means.

    Returns
    -------
    (m,) array of int
        Labels from 0; -1 for elements in no candidate.

    Notes
    -----
    The graph is cut by `transfer_cut`.

    Examples
    --------
    >>> import biconsensus as bc
    >>> usenc(bc.Pool.from_labels([[0, 0, 1, 1], [0, 0, 1, 1], [0, 1, 1, 1]]), 2, random_state=0)
    array([0, 0, 1, 1])
    """
    return transfer_cut(pool, np.ones(pool.shape[1]), n_groups, "U-SENC", random_state)
