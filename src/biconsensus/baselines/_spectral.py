"""Spectral clustering of the co-occurrence matrix."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigvalsh

from biconsensus.baselines._cooccurrence import cooccurrence
from biconsensus.baselines._pools import check_n_groups, grouped_rows, takes_tables, to_elements
from biconsensus.pool._pool import Pool
from biconsensus.protocols import FloatArray, IntArray
from biconsensus.sources._spectral import spectral_labels

MOST_GROUPS = 30
"""Most groups that the eigengap may choose among, as eigenvectors are dear."""


@takes_tables
def spectral(pool: Pool, n_groups: int | None = None, *, random_state: int | None = None) -> IntArray:
    """Cluster the co-occurrence matrix by its leading eigenvectors (Ng, Jordan and Weiss).

    Parameters
    ----------
    pool : Pool, or anything that `Pool.from_labels` takes
        The candidates.
    n_groups : int or None
        Number of groups; None takes the largest gap between eigenvalues, from 2 to 30.
    random_state : int or None
        Seed of k-means.

    Returns
    -------
    (m,) array of int
        Labels from 0; -1 for elements in no candidate.

    Examples
    --------
    >>> import biconsensus as bc
    >>> spectral(bc.Pool.from_labels([[0, 0, 1, 1], [0, 0, 1, 1], [0, 1, 1, 1]]), 2, random_state=0)
    array([0, 0, 1, 1])
    """
    rows = grouped_rows(pool)
    B, counts = cooccurrence(pool)[np.ix_(rows, rows)], pool.counts[rows]
    check_n_groups(n_groups, rows.size, "spectral", needed=False)
    return to_elements(pool, rows, spectral_labels(B, n_groups or _by_eigengap(B, counts), random_state, counts=counts))


def _by_eigengap(B: FloatArray, counts: IntArray) -> int:
    """Number of groups before the largest fall of the normalised eigenvalues."""
    scale = np.sqrt(counts / (B @ counts))
    values = eigvalsh(B * np.outer(scale, scale))[::-1][: MOST_GROUPS + 1]
    return 1 if values.size < 3 else 2 + int(np.argmax(values[1:-1] - values[2:]))
