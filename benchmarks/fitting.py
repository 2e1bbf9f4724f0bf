"""Fitting of many models: seeds, false alarms on noise, a million points; writes docs/benchmarks/fitting.md.

``python -m benchmarks.fitting [sets] [noise] [million]`` runs the parts named, all by default; BENCH=quick a tenth.
Each part is kept in docs/benchmarks/fitting.json, so that one can be run again alone.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.without_data import loaded
from biconsensus import MultiModelFitter
from biconsensus.datasets import load_jlinkage
from biconsensus.errors import NoConsensusWarning
from biconsensus.metrics import misclassification_error, recall_precision

PAGE = Path(__file__).resolve().parent.parent / "docs" / "benchmarks" / "fitting.md"
QUICK = os.environ.get("BENCH") == "quick"
SETS = {"A": ("line", 9.4), "B": ("line", 10.9), "C": ("line", 17.9), "D": ("circle", 12.6)}
NOISE = [("line", 500, 2), ("line", 1000, 2), ("circle", 500, 2), ("plane", 500, 3)]
HEAD = """# Fitting of many models

Written by `make bench ONLY=fitting`. Seconds are of one process on a machine that others may use: processor
seconds say more.
"""


def sets() -> str:
    """Sets A to D over seeds."""
    n_runs = 3 if QUICK else 20
    lines = [
        f"## Sets A to D, {n_runs} seeds\n",
        "Nothing set but family and threshold, 0.03. Right: the true number of models, recall at least 99.5%.\n",
        "| set | right | recall % | misclassified % (worst) | true models % | seconds | processor seconds |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, (model, best) in SETS.items():
        x, truth = load_jlinkage(name)
        recalls, wrong, right, wall, processor = [], [], 0, [], []
        for seed in range(n_runs):
            started, used = time.perf_counter(), time.process_time()
            fitter = MultiModelFitter(model, 0.03, random_state=seed).fit(x)
            wall.append(time.perf_counter() - started)
            processor.append(time.process_time() - used)
            recalls.append(100 * recall_precision(truth, fitter.membership_)[0])
            wrong.append(100 * misclassification_error(truth, fitter.labels_))
            right += recalls[-1] >= 99.5 and len(fitter.params_) == truth.max() + 1
        lines.append(
            f"| {name} | {right} of {n_runs} | {np.mean(recalls):.2f} | {np.mean(wrong):.1f} ({max(wrong):.1f}) "
            f"| {best} | {np.median(wall):.2f} | {np.median(processor):.2f} |"
        )
    return "\n".join(lines)


def noise() -> str:
    """Mean number of models on pure noise."""
    n_runs = 20 if QUICK else 200
    lines = [
        f"## False alarms on pure noise, {n_runs} runs each\n",
        "Uniform points, delta 0.03 in a box of side 2. The mean must be at most epsilon.\n",
        "| model | points | epsilon | mean number of models | runs with any |",
        "|---|---|---|---|---|",
    ]
    for model, n_points, dimension in NOISE:
        for epsilon in (1.0, 0.05):
            counts = np.array([on_noise(model, n_points, dimension, epsilon, seed) for seed in range(n_runs)])
            lines.append(f"| {model} | {n_points} | {epsilon} | {counts.mean():.3f} | {int((counts > 0).sum())} |")
    return "\n".join(lines)


def on_noise(model: str, n_points: int, dimension: int, epsilon: float, seed: int) -> int:
    """Models found among uniform points."""
    points = np.random.default_rng(1000 + seed).uniform(-1, 1, (n_points, dimension))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NoConsensusWarning)
        return len(MultiModelFitter(model, 0.03, epsilon=epsilon, random_state=seed).fit(points).params_)


def million() -> str:
    """Ten planes among as many outliers, at growing size."""
    lines = [
        "## Planes at size\n",
        "Ten planes, half of the points outliers, noise 0.005, delta 0.015, 5000 points looked at in "
        "each round. Memory is the peak of the process less that before the fit. The angle is the worst between a true "
        "and the found normal.\n",
        "| points | planes found | worst angle (degrees) | recall % | seconds | processor seconds | MB above data |",
        "|---|---|---|---|---|---|---|",
    ]
    for n_points in [10_000, 100_000] if QUICK else [10_000, 100_000, 1_000_000]:
        x, truth, normals = planes(n_points)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        started, used = time.perf_counter(), time.process_time()
        fitter = MultiModelFitter("plane", 0.015, random_state=0).fit(x)
        wall, processor = time.perf_counter() - started, time.process_time() - used
        memory = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
        found = fitter.params_[:, :3] / np.linalg.norm(fitter.params_[:, :3], axis=1, keepdims=True)
        angle = np.degrees(np.arccos(np.clip(np.abs(normals @ found.T).max(1).min(), 0, 1)))
        recall = 100 * recall_precision(truth, fitter.membership_)[0]
        lines.append(
            f"| {n_points:,} | {len(found)} | {angle:.3f} | {recall:.1f} "
            f"| {wall:.1f} | {processor:.1f} | {memory:.0f} |"
        )
    return "\n".join(lines)


def planes(n_points: int) -> tuple[Any, Any, Any]:
    """Points of ten random planes in the cube from -1 to 1, and as many uniform ones."""
    rng, each = np.random.default_rng(5), n_points // 20
    parts, normals = [], []
    for _ in range(10):
        normal, centre = rng.normal(size=3), rng.uniform(-0.5, 0.5, 3)
        normal /= np.linalg.norm(normal)
        kept = np.empty((0, 3))
        while len(kept) < each:
            points = rng.uniform(-1, 1, (2 * each, 3))
            points -= ((points - centre) @ normal)[:, None] * normal
            kept = np.concatenate([kept, points[(np.abs(points) <= 1).all(1)]])
        parts.append(kept[:each] + rng.normal(0, 0.005, (each, 1)) * normal)
        normals.append(normal)
    parts.append(rng.uniform(-1, 1, (n_points - 10 * each, 3)))
    truth = np.append(np.repeat(np.arange(10), each), np.full(n_points - 10 * each, -1))
    return np.concatenate(parts), truth, np.array(normals)


def main(names: list[str]) -> None:
    """Run the parts, keep them, write the page."""
    store = PAGE.with_suffix(".json")
    new = loaded({name: PARTS[name] for name in names or list(PARTS)})
    parts: dict[str, str] = {**(json.loads(store.read_text()) if store.exists() else {}), **new}
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    store.write_text(json.dumps(parts, indent=1) + "\n")
    text = "\n\n".join([HEAD.rstrip(), *[parts[name] for name in PARTS if name in parts]]) + "\n"
    PAGE.write_text(text)


PARTS = {"sets": sets, "noise": noise, "million": million}

if __name__ == "__main__":
    main(sys.argv[1:])
