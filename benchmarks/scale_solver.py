"""The solver alone on large pools of three kinds, and Dask beside one machine, for the benchmark of size."""

from __future__ import annotations

import statistics
import time
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array

import biconsensus as bc
from benchmarks.scale_realistic import write_realistic
from biconsensus.engines._dask import find_distributed
from biconsensus.engines._local import pool_from_stream


def clusterings(rows: int, seed: int = 0) -> bc.Pool:
    """100 partitions into 20 groups with 8% random cells: nearly every row is distinct, 2,000 candidates."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 20, rows)
    table = np.where(rng.random((rows, 100)) < 0.08, rng.integers(0, 20, (rows, 100)), truth[:, None])
    return bc.Pool.from_labels(table.astype(np.int8))


def communities(rows: int, seed: int = 0) -> bc.Pool:
    """20 partitions into groups of about 100 nodes each, 10% of the nodes misplaced: many small candidates."""
    rng = np.random.default_rng(seed)
    n_groups = max(2, rows // 100)
    truth = rng.integers(0, n_groups, rows)
    table = np.where(rng.random((rows, 20)) < 0.1, rng.integers(0, n_groups, (rows, 20)), truth[:, None])
    return bc.Pool.from_labels(table.astype(np.int32))


def small_groups(rows: int, seed: int = 0) -> bc.Pool:
    """10 partitions into groups of about 40 elements each, 10% misplaced: a quarter as many candidates as elements."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, rows // 40, rows)
    table = np.where(rng.random((rows, 10)) < 0.1, rng.integers(0, rows // 40, (rows, 10)), truth[:, None])
    return bc.Pool.from_labels(table.astype(np.int32))


def many_groups(rows: int, seed: int = 0) -> bc.Pool:
    """15 partitions into groups of about 40 elements each, 15% misplaced: 15,000 candidates of 40,000 elements."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, rows // 40, rows)
    table = np.where(rng.random((rows, 15)) < 0.15, rng.choice(truth, (rows, 15)), truth[:, None])
    return bc.Pool.from_labels(table.astype(np.int32))


def models(rows: int, seed: int = 0) -> bc.Pool:
    """Overlapping consensus sets of 400 hypotheses about 10 structures, half of the points outliers."""
    rng = np.random.default_rng(seed)
    truth = np.where(rng.random(rows) < 0.5, -1, rng.integers(0, 10, rows))
    about = rng.integers(0, 10, 400)
    inside = (truth[:, None] == about) & (rng.random((rows, 400)) < 0.9)
    inside |= rng.random((rows, 400)) < 0.01
    return bc.Pool.from_matrix(csr_array(inside))


CASES = {
    "clusterings": clusterings,
    "communities": communities,
    "small groups": small_groups,
    "many groups": many_groups,
    "models": models,
}


def time_search(name: str, rows: int) -> dict[str, float]:
    """Processor seconds of the default consensus of a pool of one kind."""
    pool = CASES[name](rows)
    started = time.process_time()
    found = bc.find_consensus(pool, overlap=name == "models")
    seconds = time.process_time() - started
    return {
        "rows": pool.rows.shape[0],
        "candidates": pool.shape[1],
        "memberships": int(pool.rows.nnz),
        "seconds": seconds,
        "groups": len(found),
    }


def compare_dask(folder: Path, m: int) -> dict[str, float]:
    """Seconds for the realistic table in 16 Parquet partitions, on this machine and on a cluster of two workers."""
    import dask.dataframe as dd
    import pyarrow as pa
    from distributed import Client, LocalCluster
    from pyarrow import parquet

    write_realistic(folder / "dask.npy", m)
    table, parts = np.load(folder / "dask.npy"), folder / "parts"
    parts.mkdir()
    for k, rows in enumerate(np.array_split(np.arange(m), 16)):
        columns = {f"c{j}": table[rows[0] : rows[-1] + 1, j] for j in range(table.shape[1])}
        parquet.write_table(pa.table(columns), parts / f"{k:02}.parquet")
    alone, spread = [], []
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        for _ in range(3):
            started = time.perf_counter()
            here = bc.find_consensus(pool_from_stream(parts)).labels
            alone.append(time.perf_counter() - started)
            started = time.perf_counter()
            there = find_distributed(dd.read_parquet(parts), bc.find_consensus, client).labels.compute()
            spread.append(time.perf_counter() - started)
            assert (here == there).all()
            assert (here == bc.find_consensus(table).labels).all()
    return {"elements": m, "alone": statistics.median(alone), "spread": statistics.median(spread)}
