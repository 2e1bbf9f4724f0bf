"""k-means on the rows of the membership matrix."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.cluster import KMeans

from biconsensus.baselines._pools import check_n_groups, grouped_rows, takes_tables, to_elements
from biconsensus.pool._pool import Pool
from biconsensus.protocols import IntArray


@takes_tables
def kmeans_matrix(
    pool: Pool, n_groups: int | None = None, *, random_state: int | None = None, n_init: int = 10
) -> IntArray:
    """Cluster the rows of A by k-means.

    Parameters
    ----------
    pool : Pool, or anything that `Pool.from_labels` takes
        The candidates.
    n_groups : int
        Number of groups; needed.
    random_state : int, optional
        Seed.
    n_init : int
        Restarts.

    Returns
    -------
    (m,) array of int
        Labels from 0; -1 for elements in no candidate.

    Notes
    -----
    Distinct rows with their multiplicities as weights give the same problem as all rows.

    Examples
    --------
    >>> import biconsensus as bc
    >>> kmeans_matrix(bc.Pool.from_labels([[0, 0, 1, 1], [0, 0, 1, 1], [0, 1, 1, 1]]), 2, random_state=0)
    array([0, 0, 1, 1])
    """
    rows = grouped_rows(pool)
    check_n_groups(n_groups, rows.size, "k-means")
    data = csr_matrix(pool.rows[rows].astype(np.float64) * np.sqrt(pool.weights)[None, :])
    # scikit-learn takes 32-bit indices only
    data.indices, data.indptr = data.indices.astype(np.int32), data.indptr.astype(np.int32)
    model = KMeans(n_groups, n_init=n_init, random_state=random_state)
    return to_elements(pool, rows, model.fit_predict(data, sample_weight=pool.counts[rows]))
