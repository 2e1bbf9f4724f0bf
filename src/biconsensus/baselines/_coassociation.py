"""Threshold on the co-occurrence matrix."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from biconsensus.baselines._cooccurrence import cooccurrence
from biconsensus.baselines._evidence_accumulation import evidence_accumulation
from biconsensus.baselines._pools import grouped_rows, takes_tables, to_elements
from biconsensus.errors import InputError
from biconsensus.pool._pool import Pool
from biconsensus.protocols import IntArray


@takes_tables
def coassociation(
    pool: Pool, n_groups: int | None = None, *, random_state: int | None = None, threshold: float = 0.5
) -> IntArray:
    """Connect elements that share a group in more than a share of the sources; groups are the connected components.

    Parameters
    ----------
    pool : Pool, or anything that `Pool.from_labels` takes
        The candidates.
    n_groups : int or None
        If given, the threshold is the one that leaves this many components (single linkage).
    random_state : ignored
        The answer is deterministic.
    threshold : float, default=0.5
        Share of sources; a majority by default.

    Returns
    -------
    (m,) array of int
        Labels from 0; -1 for elements in no candidate.

    Examples
    --------
    >>> import biconsensus as bc
    >>> coassociation(bc.Pool.from_labels([[0, 0, 1, 1], [0, 0, 1, 1], [0, 1, 1, 1]]))
    array([0, 0, 1, 1])
    """
    if not 0 <= threshold < 1:
        raise InputError(f"threshold: got {threshold!r}; give a share from 0 up to, but not including, 1.")
    if n_groups is not None:
        return evidence_accumulation(pool, n_groups, linkage="single")
    rows = grouped_rows(pool)
    # Shares are ratios of small whole numbers: the guard keeps 1/2 from passing as more than 1/2.
    linked = cooccurrence(pool)[np.ix_(rows, rows)] > threshold + 1e-9
    return to_elements(pool, rows, connected_components(csr_array(linked), directed=False)[1])
