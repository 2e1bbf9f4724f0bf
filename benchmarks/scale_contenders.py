"""Who is compared at scale, each as its users would call it: a label table in, labels (or groups of rows) out."""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

N_GROUPS = 12
N_PARTITIONS = 20
NOISE = 0.02
ROOM = 3 << 29
"""Bytes that are written and given back before the clock starts, more than any contender needs up to 10^7 elements. A
virtual machine takes up to three seconds to hand out a gigabyte that nobody used before, and who comes first pays."""


def write_table(path: Path, m: int, dtype: str, seed: int = 0) -> None:
    """Labels of m elements in 20 partitions of 12 groups, 2% of the cells random; the truth beside it."""
    rng = np.random.default_rng(seed)
    names = np.stack([rng.permutation(N_GROUPS) for _ in range(N_PARTITIONS)]).astype(dtype)
    table = np.lib.format.open_memmap(path, mode="w+", dtype=dtype, shape=(m, N_PARTITIONS))
    truth = np.lib.format.open_memmap(truth_of(path), mode="w+", dtype=np.int8, shape=(m,))
    for start in range(0, m, 1_000_000):
        n = min(1_000_000, m - start)
        truth[start : start + n] = group = rng.integers(0, N_GROUPS, n, dtype=np.int8)
        part = np.ascontiguousarray(names.T)[group]
        wrong = rng.integers(0, part.size, round(NOISE * part.size))
        part.ravel()[wrong] = rng.integers(0, N_GROUPS, wrong.size)
        table[start : start + n] = part
    table.flush()


def truth_of(path: Path) -> Path:
    """File of the true groups of a table."""
    return path.with_name(path.stem + "-truth.npy")


def biconsensus(table: np.ndarray) -> np.ndarray:
    """Ours: number of groups not given."""
    import biconsensus as bc

    return bc.find_consensus(table).labels


def told(table: np.ndarray, n_groups: int = N_GROUPS) -> np.ndarray:
    """Ours: true number of groups given."""
    import biconsensus as bc

    return bc.find_consensus(table, n_groups=n_groups).labels


def polars(table: np.ndarray) -> Callable[[], None]:
    """The fastest embedded engine for the same grouping; its frame is made beforehand."""
    import polars as pl

    frame = pl.DataFrame({f"c{k}": np.ascontiguousarray(table[:, k]) for k in range(table.shape[1])})
    return lambda: frame.group_by(frame.columns).len()


def numpy_pass(table: np.ndarray) -> None:
    """One look at every cell: the limit that memory sets."""
    table.sum(dtype=np.int64)


def membership(table: np.ndarray) -> Any:
    """(m, n) sparse memberships of all elements."""
    from scipy.sparse import csr_matrix

    m, c = table.shape
    width = int(table.max()) + 1
    columns = (table + np.arange(c, dtype=np.int32) * width).ravel()
    return csr_matrix((np.ones(m * c), columns, np.arange(0, m * c + 1, c)), shape=(m, c * width))


def louvain(table: np.ndarray) -> np.ndarray:
    """Louvain of scikit-network on the bipartite graph of elements and groups; number of groups not given."""
    from sknetwork.clustering import Louvain

    return Louvain().fit_predict(membership(table), force_bipartite=True)


def usenc(table: np.ndarray, n_groups: int = N_GROUPS) -> np.ndarray:
    """Consensus step of U-SENC (Huang et al. 2020): transfer cut of that graph; true number of groups given."""
    from scipy.linalg import eigh
    from sklearn.cluster import KMeans

    matrix = membership(table)
    overlaps = (matrix.T @ matrix).toarray() / table.shape[1]
    degrees = overlaps.sum(axis=1)
    scale = 1 / np.sqrt(np.maximum(degrees, 1e-12))
    vectors = eigh(scale[:, None] * overlaps * scale, subset_by_index=[degrees.size - n_groups, degrees.size - 1])[1]
    points = matrix @ (scale[:, None] * vectors)
    points /= np.maximum(np.linalg.norm(points, axis=1, keepdims=True), 1e-12)
    return KMeans(n_groups, n_init=1, random_state=0).fit_predict(points)


PREPARED = {"polars": polars}
CONTENDERS = {"biconsensus": biconsensus, "told": told, "numpy": numpy_pass, "louvain": louvain, "usenc": usenc}
TOLD = ("told", "usenc")
"""Contenders that are told the true number of groups."""


def reset_peak() -> bool:
    """Start the count of peak memory again, where the system lets us."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return False
    return True


def touch_memory(table: np.ndarray) -> None:
    """Write to memory and give it back, for a small table no more than a hundred times its size."""
    np.ones(min(ROOM, 100 * table.nbytes), np.uint8)


def memory(key: str) -> float:
    """Memory of this process in MB: VmHWM is the peak, RssAnon what belongs to it alone now."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(key))
    except (OSError, StopIteration):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(name: str, path: Path) -> dict[str, float]:
    """Seconds, processor seconds, memory above the table, and agreement with the truth, of one call."""
    mapped = np.load(path, mmap_mode="r")
    small = np.array(mapped[:2000])
    table = mapped if mapped.dtype == np.int8 else np.array(mapped)
    call = PREPARED[name](small) if name in PREPARED else (lambda: CONTENDERS[name](small))
    call()
    if name in PREPARED:
        call = PREPARED[name](table)
    else:
        n_groups = int(np.load(truth_of(path), mmap_mode="r")[:100_000].max()) + 1

        def call() -> Any:
            return CONTENDERS[name](table, n_groups) if name in TOLD else CONTENDERS[name](table)

    if reset_peak():
        touch_memory(table)
        reset_peak()
    before, started, worked = memory("VmRSS"), time.perf_counter(), time.process_time()
    labels = call()
    seconds, cpu = time.perf_counter() - started, time.process_time() - worked
    found = {"seconds": seconds, "cpu": cpu, "memory": memory("VmHWM") - before, "table": table.nbytes / 2**20}
    if isinstance(labels, np.ndarray):
        from biconsensus import metrics

        found |= {"ari": metrics.ari(np.load(truth_of(path)), labels), "groups": int(labels.max()) + 1}
    return found


if __name__ == "__main__" and len(sys.argv) == 3:
    print(json.dumps(measure(sys.argv[1], Path(sys.argv[2]))))
