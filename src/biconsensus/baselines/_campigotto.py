"""Thresholded co-occurrence (Campigotto, Guillaume and Seifi 2013): the cores that nearly all runs keep together."""

from __future__ import annotations

from biconsensus.baselines._coassociation import coassociation
from biconsensus.baselines._pools import takes_tables
from biconsensus.errors import InputError
from biconsensus.pool._pool import Pool
from biconsensus.protocols import IntArray


@takes_tables
def campigotto(
    pool: Pool, n_groups: int | None = None, *, random_state: int | None = None, alpha: float = 0.5
) -> IntArray:
    """Connect nodes that share a community in at least a share alpha of the runs; cores are the connected components.

    Parameters
    ----------
    pool : Pool, or anything that `Pool.from_labels` takes
        Communities of m nodes.
    n_groups : int or None
        If given, alpha is the value that leaves this many components.
    random_state : ignored
        The answer is deterministic.
    alpha : float in (0, 1]
        Share of runs; 1 asks for unanimity.

    Returns
    -------
    (m,) array of int
        Labels from 0; -1 for nodes in no community.

    Notes
    -----
    The paper cites it as: the matrix B of co-occurrence "is simply thresholded, and its connected components give the
    final result".

    Examples
    --------
    >>> import biconsensus as bc
    >>> campigotto(bc.Pool.from_labels([[0, 0, 1, 1], [0, 0, 1, 1], [0, 1, 1, 1]]), alpha=1.0)
    array([0, 1, 2, 2])
    """
    if not 0 < alpha <= 1:
        raise InputError(f"alpha: got {alpha!r}; give a share above 0 and at most 1.")
    # coassociation asks for more than its threshold; shares are ratios of whole numbers, so a little less is "at least"
    return coassociation(pool, n_groups, threshold=max(0.0, alpha - 1e-6))
