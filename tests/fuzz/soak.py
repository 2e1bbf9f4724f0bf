"""An hour of random calls of every front in one process, whose memory must stay flat; and eight processes at once.

``python -m tests.fuzz.soak [calls] [eight] [--minutes M] [--seed N]``.

``calls``: rounds in which every front is called once, in a random order with random settings: tables in memory and in
files, clustering, communities, fitting, results that are saved, loaded, reported and grown, the command line, one
explorer and one Dask cluster that stay open all the time, and mistakes. After each round the memory, open files,
threads, processes and temporary files of the process and its children are written down; none may grow.

``eight``: eight processes find the consensus of a million elements and 20 noisy groupings at the same time. All must
end with the same labels.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import hashlib
import io
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

import biconsensus as bc
from biconsensus.errors import BiconsensusError
from tests.explore.conftest import Client
from tests.fuzz.visits import Held, held

MINUTES = 60.0
ALLOWED = 1.1
"""Growth of memory from the second fifth of the rounds to the last that is no leak: what the allocator keeps."""
PROCESSES, ELEMENTS, SOURCES = 8, 1_000_000, 20


@dataclass
class Stage:
    """What a call may use."""

    rng: np.random.Generator
    folder: Path
    explorer: Client
    cluster: Any

    def table(self, most: int = 400) -> np.ndarray:
        """Noisy groupings of up to `most` elements."""
        m, c, k = (int(self.rng.integers(*bounds)) for bounds in ((20, most), (3, 12), (2, 7)))
        noise = self.rng.random((m, c)) < self.rng.uniform(0, 0.5)
        return np.where(noise, self.rng.integers(-1, k, (m, c)), self.rng.integers(0, k, m)[:, None])

    def points(self) -> np.ndarray:
        """Two or three clouds in the plane."""
        k = int(self.rng.integers(2, 4))
        return np.repeat(8 * self.rng.normal(size=(k, 2)), 40, axis=0) + self.rng.normal(size=(40 * k, 2))

    def file(self, table: np.ndarray) -> Path:
        """A table as a CSV file."""
        path = self.folder / "table.csv"
        heads = ",".join(f"s{k}" for k in range(table.shape[1]))
        np.savetxt(path, table, fmt="%d", delimiter=",", header=heads, comments="")
        return path


def merge(stage: Stage) -> None:
    """Groupings in memory, with any way to search."""
    ways = [{}, {"quorum": 0.6}, {"n_groups": 2}, {"method": "joint"}, {"overlap": True, "quorum": 0.5}]
    bc.find_consensus(stage.table(3000), **ways[stage.rng.integers(len(ways))])  # type: ignore[arg-type]


def clustering(stage: Stage) -> None:
    """Points."""
    bc.ConsensusClustering(random_state=int(stage.rng.integers(99))).fit(stage.points())


def communities(stage: Stage) -> None:
    """A network."""
    groups = stage.rng.integers(0, 3, 60)
    close = stage.rng.random((60, 60)) < np.where(groups[:, None] == groups, 0.3, 0.03)
    bc.ConsensusCommunities(random_state=int(stage.rng.integers(99))).fit(np.triu(close, 1) | np.triu(close, 1).T)


def fitting(stage: Stage) -> None:
    """Two lines among noise."""
    t = stage.rng.random(60)
    lines = np.concatenate([np.stack([t, 0.3 + 0 * t], axis=1), np.stack([0.6 + 0 * t, t], axis=1)])
    points = np.concatenate([lines + 0.003 * stage.rng.normal(size=lines.shape), stage.rng.random((40, 2))])
    bc.MultiModelFitter("line", 0.01, random_state=int(stage.rng.integers(99))).fit(points)


def results(stage: Stage) -> None:
    """A result that is saved, loaded, reported, asked and grown."""
    found = bc.find_consensus(stage.table())
    found.save(stage.folder / "one.bic")
    again = bc.Consensus.load(stage.folder / "one.bic")
    assert np.array_equal(found.labels, again.labels)
    again.write_report(stage.folder / "page.html")
    again.update(stage.rng.integers(0, 3, (len(found.labels), 1)))
    again.next_question()
    bc.find_modes(again.pool)
    assert again.converged.summary


def commands(stage: Stage) -> None:
    """The command line in this process, as `biconsensus` runs it."""
    from biconsensus.cli._main import run

    path, out = stage.file(stage.table()), stage.folder / "groups.parquet"
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        assert run(["merge", str(path), "--out", str(out), "--report", str(stage.folder / "page.html")]) == 0


def explorer(stage: Stage) -> None:
    """An upload, other settings, an export."""
    client = stage.explorer
    assert client.upload("table.csv", stage.file(stage.table()).read_bytes()).status == 200
    client.settled()
    assert client.send("choices", {"mode": "n_groups", "n_groups": 2, "off": [1]}).status == 200
    client.settled()
    assert client.get("export/groups.csv").status == 200
    assert client.get("report").status == 200


def distributed(stage: Stage) -> None:
    """A Dask array, solved by a cluster."""
    import dask.array as da

    table = stage.table(3000)
    found = bc.find_consensus(da.from_array(table, chunks=(500, -1)))
    assert found.labels.compute().shape == (len(table),)  # type: ignore[attr-defined]


def mistakes(stage: Stage) -> None:
    """What is refused leaves nothing behind either."""
    broken = stage.folder / "broken.csv"
    broken.write_bytes(stage.rng.bytes(200))
    wrong: list[Callable[[], object]] = [
        lambda: bc.find_consensus([[0, 1], [0, 1, 2]]),
        lambda: bc.find_consensus(stage.table(), quorum=2),
        lambda: bc.ConsensusClustering().fit([[np.nan, 1.0]] * 9),
        lambda: bc.Consensus.load(broken),
    ]
    for call in wrong:
        try:
            call()
        except BiconsensusError:
            continue
        raise AssertionError("a mistake was not refused")


FRONTS = [merge, clustering, communities, fitting, results, commands, explorer, distributed, mistakes]


def calls(minutes: float, seed: int) -> list[str]:
    """Rounds until the time is over; what grew, in words."""
    from distributed import Client as Cluster
    from distributed import LocalCluster

    from biconsensus.explore import explore

    rng, found = np.random.default_rng(seed), []
    until = time.monotonic() + 60 * minutes
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as opened:
        scratch = Path(name) / "tmp"
        scratch.mkdir()
        os.environ["TMPDIR"] = tempfile.tempdir = str(scratch)
        local = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0", silence_logs=50)
        cluster = opened.enter_context(Cluster(opened.enter_context(local)))
        page = opened.enter_context(explore(browser=False))
        stage = Stage(rng, Path(name), Client(page.url), cluster)
        while time.monotonic() < until:
            for k in rng.permutation(len(FRONTS)):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    FRONTS[k](stage)
            gc.collect()
            found.append(held(os.getpid(), scratch))
            print(f"round {len(found)}: {found[-1]}", flush=True)
    return grown(found)


def grown(found: list[Held]) -> list[str]:
    """What was more in the last fifth of the rounds than in the second."""
    fifth = max(1, len(found) // 5)
    faults = []
    for name in (field.name for field in fields(Held)):
        before, after = (
            statistics.median(getattr(one, name) for one in part)
            for part in (found[fifth : 2 * fifth] or found, found[-fifth:])
        )
        if after > before * (ALLOWED if name == "memory" else 1):
            faults.append(f"{name} grew from {before:.0f} to {after:.0f}")
        print(f"{name}: {before:.0f} in the second fifth of {len(found)} rounds, {after:.0f} in the last")
    return faults


def one_of_eight() -> None:
    """One of the eight: prints a digest of its labels, its seconds and its largest memory."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 12, ELEMENTS).astype(np.int8)
    columns = []
    for _ in range(SOURCES):
        wrong = rng.random(ELEMENTS) < 0.15
        columns.append(np.where(wrong, rng.integers(0, 12, ELEMENTS), truth).astype(np.int8))
    begin = time.process_time()
    found = bc.find_consensus(np.stack(columns, axis=1))
    spent = time.process_time() - begin
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    score = bc.metrics.ari(truth, found.labels)
    digest = hashlib.sha256(np.ascontiguousarray(found.labels, dtype="<i8").tobytes()).hexdigest()[:16]
    print(f"{digest}, {len(found)} groups, ARI {score:.4f}, {spent:.1f} s of processor time, {memory:.2f} GB")


def eight() -> list[str]:
    """Run eight processes at once; what went wrong, in words."""
    command = [sys.executable, "-m", "tests.fuzz.soak", "one"]
    begin = time.perf_counter()
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(PROCESSES)]
    said = [process.communicate()[0].strip() for process in running]
    print(*said, f"{PROCESSES} processes in {time.perf_counter() - begin:.0f} s", sep="\n", flush=True)
    faults = [f"exit code {process.returncode}" for process in running if process.returncode]
    return faults + ["labels differ"] * (len({line.partition(",")[0] for line in said}) > 1)


def main() -> int:
    """Exit code 1 where something grew or differed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", default=["eight", "calls"], choices=["eight", "calls", "one"])
    parser.add_argument("--minutes", type=float, default=MINUTES)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    if options.parts == ["one"]:
        one_of_eight()
        return 0
    faults = eight() if "eight" in options.parts else []
    if "calls" in options.parts:
        faults += calls(options.minutes, options.seed)
    print("\n".join(faults) or "nothing grew, nothing differed")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
