"""ConsensusClustering with the default pool: is it at least as good as the median of its base results, and how fast?

``python -m benchmarks.clustering [--seeds 10]``; BENCH=quick takes one seed of the small sets. Writes
docs/benchmarks/clustering.md. The requirement is that no answer is below the median.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn import datasets

import biconsensus as bc
from benchmarks.results import Results, Values
from benchmarks.without_data import loaded_or_none
from biconsensus.errors import BiconsensusWarning
from biconsensus.metrics import ari, nmi

QUICK = os.environ.get("BENCH") == "quick"
SETS: dict[str, Callable[[], Any]] = {
    "iris": lambda: datasets.load_iris(return_X_y=True),
    "wine": lambda: datasets.load_wine(return_X_y=True),
    "breast (683)": lambda: bc.datasets.load_uci("breast"),
    "breast (569)": lambda: datasets.load_breast_cancer(return_X_y=True),
    "digits": lambda: datasets.load_digits(return_X_y=True),
}


def main() -> None:
    """Run all sets and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=1 if QUICK else 3)
    parser.add_argument("--sets", nargs="*", default=list(SETS)[:2] if QUICK else list(SETS))
    options = parser.parse_args()
    kept = Results.open("clustering", page, summary)
    for name in options.sets:
        case = loaded_or_none(SETS[name])
        for seed in range(options.seeds if case is not None else 0):
            if f"{name}: #{seed}" not in kept.values:
                kept.values[f"{name}: #{seed}"] = measure(*case, seed)
                kept.save()
    kept.finish()


def measure(X: Any, truth: Any, seed: int) -> dict[str, float]:
    """One fit: scores of the answer, and those of the base results."""
    started = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BiconsensusWarning)
        model = bc.ConsensusClustering(random_state=seed).fit(X)
    seconds = time.process_time() - started
    base = [seen_nmi(truth, result.labels) for result in model.results_ if result.ok]
    return {
        "groups": int(model.n_clusters_),
        "NMI": round(nmi(truth, model.labels_), 4),
        "ARI": round(ari(truth, model.labels_), 4),
        "median NMI": round(float(np.median(base)), 4),
        "best NMI": round(max(base), 4),
        "seconds": round(seconds, 2),
    }


def seen_nmi(truth: Any, labels: Any) -> float:
    """NMI on the elements that a base result saw."""
    seen = ~np.isnan(labels.astype(float))
    return float(nmi(truth[seen], labels[seen]))


def page(values: Values) -> str:
    """One line for each set and seed."""
    below = sum(row["NMI"] < row["median NMI"] for row in values.values())
    lines = [
        "# The default pool of points",
        "",
        "`ConsensusClustering()` on raw features: the answer beside its base results, NMI with the classes, processor "
        f"seconds. {below} of {len(values)} answers are below the median of their base results.",
        "",
        "| set | seed | groups | NMI | ARI | median NMI of the base results | best | seconds |",
        "|---" * 8 + "|",
    ]
    for key, row in values.items():
        name, _, seed = key.partition(": #")
        scores = " | ".join(f"{row[column]:.3f}" for column in ("NMI", "ARI", "median NMI", "best NMI"))
        lines.append(f"| {name} | {seed} | {row['groups']} | {scores} | {row['seconds']:.1f} |")
    return "\n".join(lines)


def summary(values: Values) -> Values:
    """Means over the seeds of each set, and how many answers are below the median."""
    found: Values = {"below the median": sum(row["NMI"] < row["median NMI"] for row in values.values())}
    found["answers"] = len(values)
    found["most seconds"] = max((row["seconds"] for row in values.values()), default=0)
    for name in SETS:
        rows = [row for key, row in values.items() if key.startswith(f"{name}:")]
        if rows:
            found[name] = {column: round(float(np.mean([row[column] for row in rows])), 4) for column in rows[0]}
    return found


if __name__ == "__main__":
    main()
