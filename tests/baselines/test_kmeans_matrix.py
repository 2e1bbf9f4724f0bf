"""k-means on the rows of the matrix."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans

import biconsensus as bc
from biconsensus.baselines import get_baseline


def test_k_means_on_distinct_rows_is_k_means_on_all_rows(table: NDArray[np.int_]) -> None:
    pool = bc.Pool.from_labels(table)
    A = pool.to_matrix().toarray()

    def within(labels: NDArray[np.int_]) -> float:
        return sum(((A[labels == t] - A[labels == t].mean(axis=0)) ** 2).sum() for t in np.unique(labels))

    ours = within(get_baseline("kmeans_matrix")(pool, 4, random_state=0))
    assert ours <= 1.01 * KMeans(4, n_init=10, random_state=0).fit(A).inertia_
