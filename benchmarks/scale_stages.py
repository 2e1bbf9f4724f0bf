"""Where the time of a default consensus goes, on the easy and on the realistic table, and how each stage grows."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.scale_contenders import write_table
from benchmarks.scale_realistic import write_realistic

SIZES = {"quick": [10**4, 10**5], "full": [10**4, 10**5, 10**6, 10**7]}
STAGES = {
    "distinct rows": ("biconsensus.pool._pool", "Pool.from_labels"),
    "sample": ("biconsensus.matrix._condensed", "Condensed.of"),
    "weights": ("biconsensus.quorum._score", "PathScorer.of"),
    "path": ("biconsensus.quorum._path", "point_at"),
    "majority": ("biconsensus.find", "_blocks_at"),
    "finish": ("biconsensus.quorum._path", "QuorumPath.finish"),
}
"""Stages, and the function that does each of them; what is left of the whole is "the rest"."""
MAKERS: dict[str, Callable[[Path, int], None]] = {
    "easy": lambda path, m: write_table(path, m, "int16"),
    "realistic": write_realistic,
}


def time_stages(path: Path) -> dict[str, float]:
    """Processor seconds of each stage of one consensus of a table, after a small one that warms everything up."""
    import importlib

    import biconsensus as bc

    table, spent = np.array(np.load(path, mmap_mode="r")), dict.fromkeys(STAGES, 0.0)

    def timed(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def call(*given: Any, **named: Any) -> Any:
            started = time.process_time()
            try:
                return function(*given, **named)
            finally:
                spent[name] += time.process_time() - started

        return call

    bc.find_consensus(table[:2000])
    for name, (module, place) in STAGES.items():
        *inside, last = place.split(".")
        owner = importlib.import_module(module)
        for part in inside:
            owner = getattr(owner, part)
        own = vars(owner)[last]
        is_class = isinstance(own, classmethod)
        replaced = timed(name, own.__func__ if is_class else own)
        setattr(owner, last, classmethod(replaced) if is_class else replaced)
    started = time.process_time()
    found = bc.find_consensus(table)
    found.labels  # noqa: B018, made when first asked for
    whole = time.process_time() - started
    return {**spent, "the rest": whole - sum(spent.values()), "whole": whole, "rows": found.pool.rows.shape[0]}


def stages_table(folder: Path, picture: Path, mode: str) -> str:
    """Processor seconds of every stage at each size, fitted exponents, and the plot of them."""
    sizes = SIZES.get(mode, [10**4, 10**5, 10**6])
    names = [*STAGES, "the rest", "whole"]
    parts, found = [], {}
    for kind, make in MAKERS.items():
        lines = ["| elements | rows | " + " | ".join(names) + " |", "|" + "---|" * (len(names) + 2)]
        for m in sizes:
            path = folder / f"stages-{kind}-{m}.npy"
            make(path, m)
            command = [sys.executable, "-m", "benchmarks.scale_stages", str(path)]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            found[kind, m] = here = json.loads(done.stdout)
            cells = " | ".join(f"{here[name]:.3f}" for name in names)
            lines.append(f"| 10^{round(np.log10(m))} | {here['rows']:,.0f} | {cells} |")
            print(kind, lines[-1], flush=True)
            path.unlink()
        slopes = " | ".join(f"{_exponent(sizes, [found[kind, m][name] for m in sizes]):.2f}" for name in names)
        lines.append(f"| exponent | | {slopes} |")
        parts += [f"### The {kind} table", "", *lines, ""]
    _plot({kind: [found[kind, m] for m in sizes] for kind in MAKERS}, sizes, names, picture)
    text = (
        "Processor seconds of each stage of `find_consensus(table)` and of the labels. The exponents are fitted on the "
        "elements (1 is linear); stages of a few milliseconds have exponents of chance."
    )
    return "\n".join(["## Stages", "", text, "", *parts, f"![Seconds of each stage]({picture.name})", ""])


def _exponent(sizes: list[int], seconds: list[float]) -> float:
    """Slope of the logarithm of seconds in that of sizes."""
    return float(np.polyfit(np.log(sizes), np.log(np.maximum(seconds, 1e-4)), 1)[0])


def _plot(found: dict[str, list[dict[str, float]]], sizes: list[int], names: list[str], path: Path) -> None:
    """Seconds of each stage against elements, one panel for each table."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, len(found), figsize=(11, 4.2), sharey=True, constrained_layout=True)
    for axis, (kind, results) in zip(axes, found.items(), strict=True):
        for name in names:
            seconds = [max(result[name], 1e-4) for result in results]
            axis.loglog(sizes, seconds, "o-", lw=2.6 if name == "whole" else 1.2, ms=4, label=name)
        last = results[-1]["whole"]
        axis.loglog(sizes, [last * m / sizes[-1] for m in sizes], "k:", lw=1, label="linear")
        axis.set(xlabel="elements", title=f"the {kind} table")
        axis.grid(alpha=0.3)
    axes[0].set(ylabel="seconds of processor")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside right center", fontsize=8)
    figure.savefig(path, dpi=110)


if __name__ == "__main__" and len(sys.argv) == 2:
    print(json.dumps(time_stages(Path(sys.argv[1]))))
