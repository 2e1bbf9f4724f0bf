"""Runs of k-means with random numbers of groups."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans


def runs(data: NDArray[np.float64], n_runs: int = 8) -> NDArray[np.int_]:
    rng = np.random.default_rng(0)
    ks = rng.integers(2, 9, n_runs)
    return np.column_stack([KMeans(int(k), n_init=1, random_state=j).fit_predict(data) for j, k in enumerate(ks)])
