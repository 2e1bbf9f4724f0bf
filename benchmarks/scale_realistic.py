"""A table as people have it, beside the easy one: twenty k-means results of overlapping clusters, k from 10 to 60."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from benchmarks.scale_contenders import truth_of

N_TRUE, N_FEATURES, N_PARTITIONS = 25, 10, 20
FITTED = 20_000
"""Points that each k-means is fitted on; the others are predicted."""
CHUNK = 200_000
"""Points that are made and predicted together."""


def write_realistic(path: Path, m: int, dtype: str = "int16", seed: int = 0) -> None:
    """Labels of m points of 25 overlapping normal clusters by 20 k-means with 10 to 60 centres; the truth beside it."""
    from sklearn.cluster import KMeans

    rng = np.random.default_rng(seed)
    centres = 3.0 * rng.normal(size=(N_TRUE, N_FEATURES))

    def points_of(n: int) -> tuple[np.ndarray, np.ndarray]:
        truth = rng.integers(0, N_TRUE, n)
        return truth, (centres[truth] + 2.2 * rng.normal(size=(n, N_FEATURES))).astype(np.float32)

    models = [
        KMeans(int(k), n_init=1, max_iter=20, random_state=j).fit(points_of(FITTED)[1])
        for j, k in enumerate(rng.integers(10, 61, N_PARTITIONS))
    ]
    table = np.lib.format.open_memmap(path, mode="w+", dtype=dtype, shape=(m, N_PARTITIONS))
    truth = np.lib.format.open_memmap(truth_of(path), mode="w+", dtype=np.int8, shape=(m,))
    for start in range(0, m, CHUNK):
        here = slice(start, min(start + CHUNK, m))
        truth[here], points = points_of(here.stop - start)
        table[here] = np.column_stack([model.predict(points) for model in models])
    table.flush()
