"""A hundred million elements on one machine, and Dask beyond it; writes docs/benchmarks/scale.md and its plots.

Every figure is the median of a few calls, each in a process of its own, contenders in turn, so that all of them meet
the same machine. BENCH=quick stops at 10^5 elements, BENCH=full goes to 10^8 (a table of 2 GB on disk). A peer that
would need more memory than is free, or took too long, sits out.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.scale_agreement import agreement_table
from benchmarks.scale_contenders import CONTENDERS, N_PARTITIONS, PREPARED, write_table
from benchmarks.scale_realistic import realistic_table
from benchmarks.scale_solver import dask_table, solver_table
from benchmarks.scale_stages import stages_table
from biconsensus._memory import available_memory

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "benchmarks" / "scale.md"
MODE = os.environ.get("BENCH", "")
SIZES = {"quick": [10**4, 10**5], "full": [10**4, 10**5, 10**6, 10**7, 10**8]}.get(MODE, [10**4, 10**5, 10**6, 10**7])
TIME_LIMIT = 60 if MODE == "quick" else 300
PEERS = {"louvain": 1500, "usenc": 600}
"""Peers, and the bytes that each needs for an element, measured."""
NAMES = {
    "biconsensus": "biconsensus",
    "polars": "Polars `group_by`",
    "numpy": "NumPy pass",
    "louvain": "Louvain on A",
    "usenc": "U-SENC step, true K",
}
Result = dict[str, Any]


def main() -> None:
    """Run everything and write the page."""
    with tempfile.TemporaryDirectory() as folder:
        results = compare(Path(folder))
        parts = [size_table(results), realistic_table(MODE), targets_table(results)]
        parts += [stages_table(Path(folder), PAGE.with_name("scale-stages.png"), MODE), agreement_table(MODE)]
        parts += [solver_table(PAGE.with_name("scale-solver.png"), MODE), dask_table(Path(folder), MODE)]
    plot(results, PAGE.with_name("scale.png"))
    head = (
        "# Size\n\n"
        f"Label tables of {N_PARTITIONS} partitions into 12 groups with 2% random cells (int16; int8 from a memory map "
        "at 10^8). Seconds of wall clock, seconds of processor in brackets, memory in MB above the table itself; the "
        "median of calls in processes of their own, contenders in turn. Empty: more memory than was free, or more than "
        f"{TIME_LIMIT} s. Written by `make bench ONLY=scale` on {os.cpu_count()} cores, "
        f"load average {os.getloadavg()[1]:.0f}: read the ratios.\n\n"
        "![Time and memory against the number of elements](scale.png)\n\n"
    )
    PAGE.write_text(head + "\n".join(parts), encoding="utf-8")
    print(f"wrote {PAGE.relative_to(ROOT)}")


def compare(folder: Path) -> dict[int, dict[str, Result]]:
    """Results of all contenders at all sizes; a peer that ran out of time sits out the larger ones."""
    results: dict[int, dict[str, Result]] = {}
    out: set[str] = set()
    for m in SIZES:
        path = folder / f"table-{m}.npy"
        write_table(path, m, "int8" if m > 10**7 else "int16")
        names = [name for name in [*CONTENDERS, *PREPARED] if name not in out and fits(name, m)]
        runs: dict[str, list[Result]] = {name: [] for name in names}
        for k in range(rounds("biconsensus", m)):
            for name in names:
                if k < rounds(name, m):
                    found = call(name, path)
                    out |= {name} if found is None else set()
                    runs[name] += [] if found is None else [found]
        results[m] = {name: median(found) for name, found in runs.items() if found}
        for name, found in results[m].items():
            print(f"{m:>10,} {NAMES[name]:22} {found['seconds']:9.3f} s {found['memory']:8.0f} MB", flush=True)
        path.unlink()
    return results


def rounds(name: str, m: int) -> int:
    """Calls of a contender: fewer of what takes long."""
    if m > 10**7:
        return 1
    if name in PEERS and m > 10**5:
        return 3 if m <= 10**6 else 1
    return 7 if m <= 10**5 else 5


def fits(name: str, m: int) -> bool:
    """Whether there is memory for a contender; above 10^7 the table is mapped, for ours and the plain pass alone."""
    if m > 10**7:
        return name in ("biconsensus", "numpy")
    return m * PEERS.get(name, 0) < 0.8 * (available_memory() or 0)


def call(name: str, path: Path) -> Result | None:
    """One call of one contender in a process of its own; None where it takes too long or dies."""
    command = [sys.executable, "-m", "benchmarks.scale_contenders", name, str(path)]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=TIME_LIMIT, check=True)
    except (subprocess.TimeoutExpired, subprocess.CalledProcessError) as error:
        print(f"{name} at {path.stem}: {type(error).__name__}", file=sys.stderr)
        return None
    return json.loads(done.stdout)


def median(found: list[Result]) -> Result:
    """Median of every figure."""
    return {key: statistics.median(run[key] for run in found) for key in found[0]}


def size_table(results: dict[int, dict[str, Result]]) -> str:
    """Seconds, memory and agreement with the truth at each size."""
    lines = ["| elements | " + " | ".join(NAMES.values()) + " |", "|" + "---|" * (len(NAMES) + 1)]
    for m, found in results.items():
        lines.append(f"| 10^{round(np.log10(m))} | " + " | ".join(cell(found.get(name)) for name in NAMES) + " |")
    return "\n".join(["## Time, memory, agreement", "", *lines, ""])


def cell(found: Result | None) -> str:
    """One cell of the table."""
    if found is None:
        return ""
    score = f", ARI {found['ari']:.3f}" if "ari" in found else ""
    return f"{found['seconds']:.3g} s ({found['cpu']:.2g}), {found['memory']:,.0f} MB{score}"


def targets_table(results: dict[int, dict[str, Result]]) -> str:
    """What was to be reached, as ratios within this run."""
    rows: list[tuple[str, str, str]] = []
    if 10**7 in results:
        ours, theirs = results[10**7]["biconsensus"], results[10**7]["polars"]
        rows += [
            ("10^7: time over Polars `group_by`", "at most 1.0", f"{ours['seconds'] / theirs['seconds']:.2f}"),
            ("10^7: processor time over that of Polars", "", f"{ours['cpu'] / theirs['cpu']:.2f}"),
            ("10^7: memory over that of the table", "at most 1.0", f"{ours['memory'] / ours['table']:.2f}"),
        ]
    if 10**8 in results:
        ours, less = results[10**8]["biconsensus"], results[10**7]["biconsensus"]
        rows += [
            ("10^8: memory, pages of the mapped table included", "under 8 GB", f"{ours['memory'] / 1024:.1f} GB"),
            ("10^8: time over that of 10^7", "at most 15", f"{ours['seconds'] / less['seconds']:.1f}"),
        ]
    sizes = [m for m in results if m >= 10**5]
    for small, large in pairwise(sizes):
        ratio = results[large]["biconsensus"]["seconds"] / results[small]["biconsensus"]["seconds"]
        rows.append((f"growth from 10^{len(str(small)) - 1} to 10^{len(str(large)) - 1}", "about 10", f"{ratio:.1f}"))
    for m in sizes:
        peers = [results[m][name] for name in PEERS if name in results[m]]
        if peers:
            ratio = min(peer["seconds"] for peer in peers) / results[m]["biconsensus"]["seconds"]
            lead = results[m]["biconsensus"]["ari"] - max(peer["ari"] for peer in peers)
            rows.append((f"10^{len(str(m)) - 1}: times faster than the fastest peer", "at least 10", f"{ratio:.1f}"))
            rows.append((f"10^{len(str(m)) - 1}: ARI less that of the best peer", "at least 0", f"{lead:+.4f}"))
    lines = ["| figure | wanted | measured |", "|---|---|---|", *(f"| {a} | {b} | {c} |" for a, b, c in rows)]
    return "\n".join(["## Aims", "", *lines, ""])


def plot(results: dict[int, dict[str, Result]], path: Path) -> None:
    """Seconds and memory against elements, both on logarithmic axes."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(11, 4.2), constrained_layout=True)
    for axis, key, title in zip(axes, ("seconds", "memory"), ("seconds", "MB above the table")):
        for name, label in NAMES.items():
            sizes = [m for m in results if name in results[m] and results[m][name][key] > 0]
            if sizes:
                thick = 2.6 if name == "biconsensus" else 1.3
                axis.loglog(
                    sizes, [results[m][name][key] for m in sizes], "o-", lw=thick, ms=4, label=label.replace("`", "")
                )
        axis.set(xlabel="elements", title=title)
        axis.grid(alpha=0.3)
    ours = {m: results[m]["biconsensus"]["seconds"] for m in results if m >= 10**5}
    if ours:
        last = max(ours)
        axes[0].loglog(list(ours), [ours[last] * m / last for m in ours], "k:", lw=1, label="linear")
    axes[0].legend(fontsize=8)
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    main()
