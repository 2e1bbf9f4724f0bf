"""The solver alone on large pools of three kinds, and Dask beside one machine, for the benchmark of size."""

from __future__ import annotations

import statistics
import time
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array

import biconsensus as bc
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


def models(rows: int, seed: int = 0) -> bc.Pool:
    """Overlapping consensus sets of 400 hypotheses about 10 structures, half of the points outliers."""
    rng = np.random.default_rng(seed)
    truth = np.where(rng.random(rows) < 0.5, -1, rng.integers(0, 10, rows))
    about = rng.integers(0, 10, 400)
    inside = (truth[:, None] == about) & (rng.random((rows, 400)) < 0.9)
    inside |= rng.random((rows, 400)) < 0.01
    return bc.Pool.from_matrix(csr_array(inside))


CASES = {"clusterings": clusterings, "communities": communities, "small groups": small_groups, "models": models}


def solver_table(picture: Path, mode: str) -> str:
    """Processor seconds of the search on pools of growing size, and the plot of them."""
    sizes = [3_000, 10_000] if mode == "quick" else [3_000, 10_000, 30_000, 100_000]
    lines = [
        "| pool | rows | candidates | memberships | seconds | ns a membership | groups |",
        "|---|---|---|---|---|---|---|",
    ]
    curves: dict[str, list[tuple[int, float]]] = {}
    for name, make in CASES.items():
        for rows in sizes:
            pool = make(rows)
            started = time.process_time()
            found = bc.find_consensus(pool, overlap=name == "models")
            seconds = time.process_time() - started
            curves.setdefault(name, []).append((pool.rows.nnz, seconds))
            lines.append(
                f"| {name} | {pool.rows.shape[0]:,} | {pool.shape[1]:,} | {pool.rows.nnz:,} | {seconds:.2f} | "
                f"{1e9 * seconds / pool.rows.nnz:.0f} | {len(found)} |"
            )
            print(lines[-1], flush=True)
    _plot(curves, picture)
    slopes = [f"{name} {np.polyfit(*np.log(points).T, 1)[0]:.2f}" for name, points in curves.items()]
    text = (
        "The search alone, on pools whose rows hardly repeat, of the three kinds of the paper, and of very many small "
        "groups; seconds of processor. The number of groups grows with the rows in communities and small groups. "
        f"Exponents of the seconds in the memberships, fitted: {', '.join(slopes)} (1 is linear)."
    )
    return "\n".join(["## The solver", "", text, "", *lines, "", f"![Seconds against memberships]({picture.name})", ""])


def _plot(curves: dict[str, list[tuple[int, float]]], path: Path) -> None:
    """Seconds against memberships."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, axis = plt.subplots(figsize=(5.5, 4), constrained_layout=True)
    for name, points in curves.items():
        axis.loglog(*zip(*points), "o-", label=name)
    sizes = np.array([nnz for points in curves.values() for nnz, _ in points])
    axis.loglog(
        [sizes.min(), sizes.max()], 1e-7 * np.array([sizes.min(), sizes.max()]), "k:", lw=1, label="100 ns each"
    )
    axis.set(xlabel="memberships (non-zeros)", ylabel="seconds of processor")
    axis.grid(alpha=0.3)
    axis.legend()
    figure.savefig(path, dpi=110)


def dask_table(folder: Path, mode: str) -> str:
    """The same table in 16 Parquet partitions, on this machine and on a cluster of two workers."""
    import dask.dataframe as dd
    import pyarrow as pa
    from distributed import Client, LocalCluster
    from pyarrow import parquet

    from benchmarks.scale_contenders import write_table

    m = 10**5 if mode == "quick" else 2 * 10**6
    write_table(folder / "dask.npy", m, "int16")
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
    one, two = statistics.median(alone), statistics.median(spread)
    lines = [
        "| way | seconds | over one machine |",
        "|---|---|---|",
        f"| one machine, Parquet in chunks | {one:.2f} | 1.0 |",
        f"| Dask, 2 worker processes, labels gathered | {two:.2f} | {two / one:.1f} |",
    ]
    text = f"{m:,} elements in 16 Parquet partitions, files read included; the labels are identical."
    return "\n".join(["## Dask", "", text, "", *lines, ""])
