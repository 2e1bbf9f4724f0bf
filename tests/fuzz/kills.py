"""Kill a run that makes a pool at random moments, resume it, and compare with an undisturbed run.

``python -m tests.fuzz.kills [--kills N]``. A worker process runs twelve sources with a checkpoint and notes every run
that it starts and every result that it has stored. It is killed (SIGKILL) after a random time until N kills are done;
every chain of kills ends in a run to the end whose labels must be those of the undisturbed run, and no source whose
result was stored may be started again.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from multiprocessing import get_context
from multiprocessing.process import BaseProcess as Process
from pathlib import Path

import numpy as np

KILLS = 500
SOURCES = 12


def work(folder: Path) -> None:
    """Run the sources with a checkpoint; labels go to labels.npy."""
    import biconsensus as bc
    from biconsensus.sources._running import NamedSource, child_seeds, run_sources

    X = np.random.default_rng(0).normal(size=(60, 2))

    def source(k: int) -> NamedSource:
        def run(data: np.ndarray, seed: int) -> np.ndarray:
            note(folder, f"start {k}")
            time.sleep(0.004)
            angle = np.random.default_rng(seed).uniform(0, np.pi)
            return (data @ [np.cos(angle), np.sin(angle)] > 0).astype(int)

        return NamedSource(f"half {k}", run, {"k": k})

    rng = np.random.default_rng(1)  # an integer would be read by scikit-learn, which takes a second to import
    results = run_sources([source(k) for k in range(SOURCES)], X, child_seeds(rng, SOURCES), checkpoint=folder / "pool")
    np.save(folder / "labels.npy", bc.find_consensus([r.labels for r in results]).labels)


def note(folder: Path, line: str) -> None:
    """Append a line that survives a kill: one write, no buffer."""
    with open(folder / "notes.txt", "ab", buffering=0) as stream:
        stream.write(f"{line}\n".encode())


def stored(folder: Path) -> set[str]:
    """Results that are in the checkpoint, whole."""
    return {path.stem for path in (folder / "pool").glob("*.json") if path.stem != "data"}


def start(folder: Path) -> Process:
    """The worker as a forked process: everything is imported already, so that kills hit the work."""
    worker = get_context("fork").Process(target=work, args=(folder,))
    worker.start()
    return worker


def chain(rng: random.Random, kills: int, expected: np.ndarray) -> int:
    """Kill one run at most `kills` times, then let it finish; returns how many kills hit it."""
    done = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        while done < kills and not (folder / "labels.npy").exists():
            notes = folder / "notes.txt"
            known = notes.stat().st_size if notes.exists() else 0
            before = len(stored(folder))
            worker = start(folder)
            while worker.is_alive() and (notes.stat().st_size if notes.exists() else 0) == known:
                time.sleep(0.002)  # the interesting moments begin with the first source
            time.sleep(rng.uniform(0, 0.05))
            worker.kill()
            worker.join()
            done += worker.exitcode != 0
            assert len(stored(folder)) >= before, "a stored result was lost"
        last = start(folder)
        last.join()
        assert last.exitcode == 0, "the resumed run failed"
        assert np.array_equal(np.load(folder / "labels.npy"), expected), "the resumed answer differs"
        starts = (folder / "notes.txt").read_text().count("start")
        assert SOURCES <= starts <= SOURCES + done, f"{starts} runs for {SOURCES} sources and {done} kills"
    return done


def main() -> int:
    """Kill as often as asked; exits 1 with the reason at the first wrong answer."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=KILLS)
    options = parser.parse_args()
    rng, total, chains = random.Random(0), 0, 0
    with tempfile.TemporaryDirectory() as name:
        work(Path(name))
        expected = np.load(Path(name) / "labels.npy")
    while total < options.kills:
        total += chain(rng, min(options.kills - total, 10), expected)
        chains += 1
    print(f"{total} kills in {chains} runs: every answer right, no finished source run twice")
    return 0


if __name__ == "__main__":
    sys.exit(main())
