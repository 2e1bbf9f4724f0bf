"""A table as people have it, beside the easy one: twenty k-means results of overlapping clusters, k from 10 to 60."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.scale_contenders import measure, truth_of

N_TRUE, N_FEATURES, N_PARTITIONS = 25, 10, 20
FITTED = 20_000
"""Points that each k-means is fitted on; the others are predicted."""
SIZES = {"quick": [10**5], "full": [10**5, 10**6, 10**7]}
NAMES = {
    "biconsensus": "biconsensus",
    "polars": "Polars `group_by`",
    "louvain": "Louvain on A",
    "usenc": "U-SENC step, true K",
}
LARGEST_OF_PEERS = 10**6
"""Elements up to which the peers are called: they need ten times our memory beyond."""


def write_realistic(path: Path, m: int, seed: int = 0) -> None:
    """Labels of m points of 25 overlapping normal clusters by 20 k-means with 10 to 60 centres; the truth beside it."""
    from sklearn.cluster import KMeans

    rng = np.random.default_rng(seed)
    centres = 3.0 * rng.normal(size=(N_TRUE, N_FEATURES))
    truth = rng.integers(0, N_TRUE, m)
    table = np.lib.format.open_memmap(path, mode="w+", dtype=np.int16, shape=(m, N_PARTITIONS))
    np.save(truth_of(path), truth.astype(np.int8))
    points = (centres[truth] + 2.2 * rng.normal(size=(m, N_FEATURES))).astype(np.float32)
    for k, n_centres in enumerate(rng.integers(10, 61, N_PARTITIONS)):
        fitted = points[rng.choice(m, min(m, FITTED), replace=False)]
        model = KMeans(int(n_centres), n_init=1, max_iter=20, random_state=k).fit(fitted)
        for start in range(0, m, 200_000):
            table[start : start + 200_000, k] = model.predict(points[start : start + 200_000])
    table.flush()


def realistic_table(mode: str) -> str:
    """Processor seconds, over those of a Polars group-by, and agreement with the truth at each size."""
    lines = ["| elements | " + " | ".join(NAMES.values()) + " |", "|" + "---|" * (len(NAMES) + 1)]
    with tempfile.TemporaryDirectory() as folder:
        for m in SIZES.get(mode, [10**5, 10**6]):
            path = Path(folder) / f"realistic-{m}.npy"
            write_realistic(path, m)
            peers = {"louvain", "usenc"} if m > LARGEST_OF_PEERS else set()
            found = {name: _call(name, path) for name in NAMES if name not in peers}
            base = found["polars"]["cpu"]
            cells = [_cell(found[name], base) if name in found else "" for name in NAMES]
            lines.append(f"| 10^{round(np.log10(m))} | " + " | ".join(cells) + " |")
            print(lines[-1], flush=True)
            path.unlink()
    head = "Processor seconds (times those of Polars), ARI with the truth, groups; memory in MB above the table."
    return "\n".join(["## A realistic table", "", write_realistic.__doc__ or "", "", head, "", *lines, ""])


def _call(name: str, path: Path) -> dict[str, float]:
    """One call in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.scale_realistic", name, str(path)]
    return dict(json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout))


def _cell(found: dict[str, float], base: float) -> str:
    """One cell of the table."""
    score = f", ARI {found['ari']:.3f} ({found['groups']:.0f})" if "ari" in found else ""
    return f"{found['cpu']:.2g} ({found['cpu'] / base:.1f}){score}, {found['memory']:,.0f} MB"


if __name__ == "__main__" and len(sys.argv) == 3:
    print(json.dumps(measure(sys.argv[1], Path(sys.argv[2]))))
