"""Pools of k-means runs, and their distinct rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans

import biconsensus as bc
from biconsensus.matrix._matrix import PreferenceMatrix


def runs(data: NDArray[np.float64], low: int, high: int, seed: int = 0, n_runs: int = 12) -> NDArray[np.int_]:
    rng = np.random.default_rng(seed)
    ks, seeds = rng.integers(low, high + 1, n_runs), rng.integers(1 << 30, size=n_runs)
    made = [KMeans(int(k), n_init=1, random_state=int(s)).fit_predict(data) for k, s in zip(ks, seeds, strict=True)]
    return np.column_stack(made)


def grouping(pool: bc.Pool, labels: NDArray[np.int_]) -> NDArray[np.int_]:
    """Labels of distinct rows that the elements agree on."""
    rows = np.zeros(pool.rows.shape[0], np.int64)
    rows[pool.inverse] = labels
    return rows


def problem_of(*labels: object) -> PreferenceMatrix:
    return PreferenceMatrix.from_pool(bc.Pool.from_labels([np.asarray(each) for each in labels]))
