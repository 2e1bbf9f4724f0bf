"""How soon the explorer answers: a change of quorum, of the number of groups, of the sources, for 100,000 elements.

Two tables of 20 groupings: the realistic one of `scale_realistic`, and one in which nearly every row is different.
Times are those of a request to the real server, and the processor time that its process spent meanwhile, which does not
depend on what else the machine does. What follows in the other process (the exact answer after a change of sources) is
told apart.
"""

from __future__ import annotations

import json
import statistics
import tempfile
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import biconsensus as bc
from benchmarks.results import Results
from benchmarks.scale_realistic import write_realistic
from biconsensus.explore import Explorer, explore

ELEMENTS = 100_000
KINDS = {"realistic": "20 k-means results, k from 10 to 60", "distinct": "12 groups, one label in eight is wrong"}
CHANGES = {
    "quorum": "the quorum, to a point of the path",
    "number": "the number of groups, first answer",
    "sources": "sources on and off, first answer",
    "back": "a source on that was off before",
}
REPEATS = 5


def distinct_table(m: int, seed: int = 0) -> dict[str, np.ndarray]:
    """Twenty groupings of twelve groups, split and merged at random, with one label in eight wrong."""
    rng = np.random.default_rng(seed)
    truth, columns = rng.integers(0, 12, m), {}
    for j in range(20):
        k = int(rng.integers(8, 20))
        labels = (rng.permutation(12) % k)[truth]
        labels = np.where((rng.random(12) < 0.3)[truth], labels + k * rng.integers(0, 2, m), labels)
        wrong = rng.random(m) < 0.125
        labels[wrong] = rng.integers(0, k, int(wrong.sum()))
        columns[f"source {j}"] = labels
    return columns


def pool_of(kind: str, folder: Path) -> bc.Pool:
    """One of the two tables."""
    if kind == "distinct":
        return bc.Pool.from_labels(distinct_table(ELEMENTS))
    path = folder / "realistic.npy"
    write_realistic(path, ELEMENTS)
    return bc.Pool.from_labels(np.load(path))


def ask(explorer: Explorer, path: str, body: Any = None) -> Any:
    """One request."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(explorer.url + path, data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def settle(explorer: Explorer) -> dict[str, Any]:
    """Wait for the exact answer, and for the rest of its path."""
    explorer._backend.space.wait(None)
    return dict(ask(explorer, "state"))


def timed(call: Callable[[], Any]) -> list[float]:
    """Processor seconds of this process, and seconds."""
    wall, cpu = time.perf_counter(), time.process_time()
    call()
    return [time.process_time() - cpu, time.perf_counter() - wall]


def measure(kind: str) -> dict[str, list[float]]:
    """Medians of processor seconds and of seconds, for every change; and the largest processor seconds."""
    found: dict[str, list[list[float]]] = {name: [] for name in (*CHANGES, "exact")}
    with tempfile.TemporaryDirectory() as folder, explore(pool_of(kind, Path(folder)), browser=False) as explorer:
        path = settle(explorer)["path"]
        points = [path[k][0] for k in np.linspace(0, len(path) - 1, 2 * REPEATS).astype(int)]
        for quorum in points:
            found["quorum"].append(timed(lambda q=quorum: ask(explorer, "choices", {"mode": "quorum", "quorum": q})))
        for number in range(3, 3 + REPEATS):
            patch = {"mode": "n_groups", "n_groups": number}
            found["number"].append(timed(lambda p=patch: ask(explorer, "choices", p)))
            settle(explorer)
        ask(explorer, "choices", {"mode": "auto"})
        for k in range(REPEATS):
            start = time.perf_counter()
            found["sources"].append(timed(lambda s=k: ask(explorer, "choices", {"off": [s]})))
            while ask(explorer, "state")["status"] != "ready":
                time.sleep(0.02)
            found["exact"].append([0.0, time.perf_counter() - start])
            explorer._backend.space.wait(None)
            found["back"].append(timed(lambda: ask(explorer, "choices", {"off": []})))
    return {
        name: [
            round(statistics.median(cpu for cpu, _ in times), 3),
            round(statistics.median(wall for _, wall in times), 3),
            round(max(cpu for cpu, _ in times), 3),
        ]
        for name, times in found.items()
    }


def page(values: dict[str, Any]) -> str:
    """The table."""
    lines = ["# The explorer", "", (__doc__ or "").partition("\n\n")[2].strip(), ""]
    for kind, title in KINDS.items():
        if kind not in values:
            continue
        lines += [f"## 100,000 elements: {title}", "", "| change | processor ms, median | largest | ms on the clock |"]
        lines += ["|---|---|---|---|"]
        for name, said in CHANGES.items():
            cpu, wall, most = values[kind][name]
            lines.append(f"| {said} | {1000 * cpu:.0f} | {1000 * most:.0f} | {1000 * wall:.0f} |")
        lines += ["", f"The exact answer after a change of sources: {values[kind]['exact'][1]:.1f} s on the clock.", ""]
    return "\n".join(lines)


def summary(values: dict[str, Any]) -> dict[str, Any]:
    """Milliseconds that other pages quote."""
    return {kind: {name: round(1000 * found[name][0]) for name in CHANGES} for kind, found in values.items()}


def main() -> None:
    """Measure what is missing."""
    kept = Results.open("explore", page, summary)
    for kind in KINDS:
        if kind not in kept.values:
            kept.values[kind] = measure(kind)
            kept.save()
    if hasattr(kept, "finish"):
        kept.finish()


if __name__ == "__main__":
    main()
