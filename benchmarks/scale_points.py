"""Very many points clustered by the default of `ConsensusClustering`: processor seconds, memory, agreement."""

from __future__ import annotations

import json
import sys
import time

import numpy as np

from benchmarks.scale_contenders import memory, reset_peak

KINDS = {"clear": (12, 6.0, 1.0), "overlapping": (25, 3.0, 2.2)}
"""Normal clusters, the spread of their centres, and of their points."""
N_FEATURES = 10


def measure(kind: str, m: int) -> dict[str, float]:
    """One fit of m points of ten features, after a small one that imports everything."""
    import biconsensus as bc

    n_true, apart, spread = KINDS[kind]
    rng = np.random.default_rng(0)
    centres = apart * rng.normal(size=(n_true, N_FEATURES))
    truth = rng.integers(0, n_true, m)
    points = centres[truth] + spread * rng.normal(size=(m, N_FEATURES))
    bc.ConsensusClustering(random_state=0).fit(points[:300])
    reset_peak()
    started, worked = time.perf_counter(), time.process_time()
    model = bc.ConsensusClustering(random_state=0).fit(points)
    seconds, cpu = time.perf_counter() - started, time.process_time() - worked
    return {
        "seconds": seconds,
        "cpu": cpu,
        "memory": memory("VmHWM"),
        "groups": model.n_clusters_,
        "ari": bc.metrics.ari(truth, model.labels_),
        "rows": model.pool_.rows.shape[0],
    }


if __name__ == "__main__" and len(sys.argv) == 3:
    print(json.dumps(measure(sys.argv[1], int(sys.argv[2]))))
