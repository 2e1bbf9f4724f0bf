"""Networks of ten thousand to a million nodes: time of every stage, memory, and what comes out.

``python -m benchmarks.scale_networks [10^4 ...]``: each network in a process of its own, one process for the base runs.
BENCH=quick takes 2,000 and 4,000 nodes.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from functools import wraps
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from scipy.sparse import csr_array, load_npz, save_npz
from sklearn.metrics import adjusted_rand_score as ari

from benchmarks.results import ROOT, Results, Values

SIZES = [2_000, 4_000] if os.environ.get("BENCH") == "quick" else [10**4, 10**5, 10**6]
MIXING, DEGREE, MAX_DEGREE, COMMUNITIES, SEED = 0.4, 15, 50, (20, 80), 1000
KEPT = ROOT / "results" / "networks"
"""Where a network and its finished base runs are kept until it is measured."""
STAGES = {
    "base runs": ("biconsensus.sources._running", "_attempt"),
    "pool": ("biconsensus.communities._estimator", "pool_of"),
    "weights of the links": ("biconsensus.communities._estimator", "weighed_by_pool"),
    "refinement": ("biconsensus.significance._links", "LinkEvidence.propose"),
    "search": ("biconsensus.communities._estimator", "solve"),
}
"""Stages of a fit, and the function that does each of them; what is left of the whole is "the rest"."""


def measure(n_nodes: int, folder: Path) -> Values:
    """One fit with default settings, in this process; finished base runs and their seconds are kept in a folder."""
    import biconsensus as bc
    from biconsensus.graphs import Graph

    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "network.npz").exists():
        write_network(n_nodes, folder)
    graph = Graph(csr_array(load_npz(folder / "network.npz")), list(range(n_nodes)))
    truth, before = np.load(folder / "truth.npy"), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    spent = dict.fromkeys(STAGES, 0.0)

    def timed(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def call(*given: Any, **named: Any) -> Any:
            started = time.process_time()
            found = function(*given, **named)
            took = time.process_time() - started
            spent[name] += took
            if name == "base runs":
                with (folder / "seconds.txt").open("a") as file:
                    file.write(f"{took}\n")
            return found

        return call

    how = bc.Runs(progress=_told, checkpoint=folder / "runs")
    with ExitStack() as replaced:
        for name, (module, place) in STAGES.items():
            *inside, last = place.split(".")
            owner = importlib.import_module(module)
            for part in inside:
                owner = getattr(owner, part)
            replaced.enter_context(patch.object(owner, last, timed(name, getattr(owner, last))))
        started = time.process_time()
        model = bc.ConsensusCommunities(random_state=SEED, runs=how).fit(graph)
        whole = time.process_time() - started
    rest = whole - sum(spent.values())
    spent["base runs"] = sum(map(float, (folder / "seconds.txt").read_text().split()))
    left, right, _ = graph.edges()
    return {
        "edges": graph.n_edges,
        "mixing": round(float((truth[left] != truth[right]).mean()), 4),
        "planted": int(truth.max()) + 1,
        "runs": len(model.results_),
        "found": len(model.communities_),
        "ari": round(float(ari(truth, model.labels_)), 4),
        "stages": {name: round(seconds, 2) for name, seconds in spent.items()},
        "whole": round(sum(spent.values()) + rest, 2),
        "memory": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6, 2),
        "memory of the network": round(before / 1e6, 2),
    }


def write_network(n_nodes: int, folder: Path) -> None:
    """The network and its planted communities as files."""
    from biconsensus.graphs import lfr_network

    graph, truth = lfr_network(
        n_nodes, MIXING, DEGREE, max_degree=MAX_DEGREE, communities=COMMUNITIES, random_state=SEED
    )
    np.save(folder / "truth.npy", truth)
    save_npz(folder / "part.npz", graph.adjacency, compressed=False)
    (folder / "part.npz").rename(folder / "network.npz")


def _told(done: int, total: int, step: str) -> None:
    """Where the fit is, with the seconds so far: a million nodes take a while."""
    print(f"{time.process_time():.1f} s: {step} {done} of {total}", file=sys.stderr, flush=True)


def exponent(sizes: list[int], seconds: list[float]) -> float:
    """Slope of the logarithm of seconds in that of sizes."""
    return float(np.polyfit(np.log(sizes), np.log(np.maximum(seconds, 1e-2)), 1)[0])


def page(values: Values) -> str:
    """What comes out and what it costs, and the seconds of every stage."""
    sizes = sorted(int(key) for key in values)
    found = [values[str(n)] for n in sizes]
    lines = [
        "# Communities of large networks",
        "",
        "`ConsensusCommunities()` with default settings on networks in the manner of LFR: mean degree "
        f"{DEGREE}, largest {MAX_DEGREE}, communities of {COMMUNITIES[0]} to {COMMUNITIES[1]} nodes. One process; "
        "seconds of processor. The memory is the peak of the whole process, the network included.",
        "",
        "| nodes | edges | actual mixing | planted | found | ARI | base runs | seconds | GB |",
        "|---" * 9 + "|",
    ]
    for n, one in zip(sizes, found, strict=True):
        lines.append(
            f"| {n:,} | {one['edges']:,} | {one['mixing']:.3f} | {one['planted']:,} | {one['found']:,} | "
            f"{one['ari']:.4f} | {one['runs']} | {one['whole']:.0f} | {one['memory']:.2f} |"
        )
    names = [*STAGES, "the rest"]
    lines += ["", f"| seconds of | {' | '.join(f'{n:,} nodes' for n in sizes)} | exponent |"]
    lines.append("|---" * (len(sizes) + 2) + "|")
    for name in [*names, "whole"]:
        seconds = [_seconds(one, name) for one in found]
        slope = f"{exponent(sizes, seconds):.2f}" if len(sizes) > 1 else ""
        lines.append(f"| {name} | {' | '.join(f'{s:.2f}' for s in seconds)} | {slope} |")
    lines += [
        "",
        "The number of base runs of each algorithm falls from ten to two as the network grows, so that their time "
        "grows less than the network does. A fit that was stopped goes on with its finished base runs, whose seconds "
        "are kept.",
    ]
    return "\n".join(lines)


def _seconds(one: Values, name: str) -> float:
    """Processor seconds of a stage."""
    if name == "whole":
        return float(one["whole"])
    return float(one["stages"].get(name, one["whole"] - sum(one["stages"].values())))


def summary(values: Values) -> Values:
    """Seconds, memory and agreement at every size."""
    kept = ("whole", "memory", "ari", "found", "planted", "mixing")
    return {str(n): {key: one[key] for key in kept} for n, one in sorted(values.items(), key=lambda item: int(item[0]))}


def main() -> None:
    """Measure what is missing, each size in a process of its own; one that was stopped goes on with its base runs."""
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(measure(int(sys.argv[2]), Path(sys.argv[3]))))
        return
    kept = Results.open("scale_networks", page, summary)
    for n in SIZES:
        asked = not sys.argv[1:] or f"10^{round(np.log10(n))}" in sys.argv[1:]
        if str(n) not in kept.values and asked:
            folder = KEPT / kept.measured[-1]["code"] / str(n)
            call = [sys.executable, "-m", "benchmarks.scale_networks", "--one", str(n), str(folder)]
            done = subprocess.run(call, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
            kept.values[str(n)] = json.loads(done.stdout)
            print(n, kept.values[str(n)], flush=True)
            kept.save()
            shutil.rmtree(folder)
    if all(str(n) in kept.values for n in SIZES):
        kept.finish()


if __name__ == "__main__":
    main()
