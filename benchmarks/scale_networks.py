"""Networks of ten thousand to a million nodes: time of every stage, memory, and what comes out.

``python -m benchmarks.scale_networks [10^4 ...]``: each network in a process of its own, one process for the base runs.
BENCH=quick takes 2,000 and 4,000 nodes.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score as ari

from benchmarks.results import ROOT, Results, Values

SIZES = [2_000, 4_000] if os.environ.get("BENCH") == "quick" else [10**4, 10**5, 10**6]
MIXING, DEGREE, MAX_DEGREE, COMMUNITIES, SEED = 0.4, 15, 50, (20, 80), 1000
STAGES = {
    "base runs": ("biconsensus.communities._estimator", "run_sources"),
    "pool": ("biconsensus.communities._estimator", "pool_of"),
    "weights of the links": ("biconsensus.communities._estimator", "weighed_by_pool"),
    "refinement": ("biconsensus.significance._links", "LinkEvidence.propose"),
    "search": ("biconsensus.communities._estimator", "solve"),
}
"""Stages of a fit, and the function that does each of them; what is left of the whole is "the rest"."""


def measure(n_nodes: int) -> Values:
    """One fit with default settings, in this process."""
    import importlib

    import biconsensus as bc
    from biconsensus.graphs import lfr_network

    spent = dict.fromkeys(STAGES, 0.0)

    def timed(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def call(*given: Any, **named: Any) -> Any:
            started = time.process_time()
            try:
                return function(*given, **named)
            finally:
                spent[name] += time.process_time() - started

        return call

    started = time.process_time()
    graph, truth = lfr_network(
        n_nodes, MIXING, DEGREE, max_degree=MAX_DEGREE, communities=COMMUNITIES, random_state=SEED
    )
    making = time.process_time() - started
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for name, (module, place) in STAGES.items():
        *inside, last = place.split(".")
        owner = importlib.import_module(module)
        for part in inside:
            owner = getattr(owner, part)
        setattr(owner, last, timed(name, getattr(owner, last)))
    warnings.simplefilter("ignore")
    started, since = time.process_time(), time.perf_counter()
    model = bc.ConsensusCommunities(random_state=SEED, runs=bc.Runs(progress=False)).fit(graph)
    whole, passed = time.process_time() - started, time.perf_counter() - since
    left, right, _ = graph.edges()
    return {
        "edges": graph.n_edges,
        "mixing": round(float((truth[left] != truth[right]).mean()), 4),
        "planted": int(truth.max()) + 1,
        "making": round(making, 2),
        "runs": len(model.results_),
        "found": len(model.communities_),
        "ari": round(float(ari(truth, model.labels_)), 4),
        "stages": {name: round(seconds, 2) for name, seconds in spent.items()},
        "whole": round(whole, 2),
        "passed": round(passed, 1),
        "memory": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6, 2),
        "memory of the network": round(before / 1e6, 2),
    }


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
        "| nodes | edges | actual mixing | planted | found | ARI | base runs | seconds | of the clock | GB |",
        "|---" * 10 + "|",
    ]
    for n, one in zip(sizes, found, strict=True):
        lines.append(
            f"| {n:,} | {one['edges']:,} | {one['mixing']:.3f} | {one['planted']:,} | {one['found']:,} | "
            f"{one['ari']:.4f} | {one['runs']} | {one['whole']:.0f} | {one['passed']:.0f} | {one['memory']:.2f} |"
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
        "grows less than the network does.",
    ]
    return "\n".join(lines)


def _seconds(one: Values, name: str) -> float:
    """Processor seconds of a stage."""
    if name == "whole":
        return float(one["whole"])
    return float(one["stages"].get(name, one["whole"] - sum(one["stages"].values())))


def summary(values: Values) -> Values:
    """Seconds, memory and agreement at every size."""
    kept = ("whole", "passed", "memory", "ari", "found", "planted", "mixing")
    return {str(n): {key: one[key] for key in kept} for n, one in sorted(values.items(), key=lambda item: int(item[0]))}


def main() -> None:
    """Measure what is missing, each size in a process of its own."""
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(measure(int(sys.argv[2]))))
        return
    kept = Results.open("scale_networks", page, summary)
    for n in SIZES:
        asked = not sys.argv[1:] or f"10^{round(np.log10(n))}" in sys.argv[1:]
        if str(n) not in kept.values and asked:
            call = [sys.executable, "-m", "benchmarks.scale_networks", "--one", str(n)]
            done = subprocess.run(call, cwd=ROOT, capture_output=True, text=True, check=True)
            kept.values[str(n)] = json.loads(done.stdout)
            print(n, kept.values[str(n)], flush=True)
            kept.save()
    if all(str(n) in kept.values for n in SIZES):
        kept.finish()


if __name__ == "__main__":
    main()
