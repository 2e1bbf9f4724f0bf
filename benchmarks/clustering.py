"""ConsensusClustering with the default pool: is it at least as good as the median of its base results, and how fast?

``python -m benchmarks.clustering [--seeds 10]`` prints one line for each set and seed; the requirement is that no line
says "below" for Iris, Wine, Breast and digits.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn import datasets

import biconsensus as bc
from biconsensus.errors import BiconsensusWarning
from biconsensus.metrics import ari, nmi

SETS: dict[str, Callable[[], Any]] = {
    "iris": lambda: datasets.load_iris(return_X_y=True),
    "wine": lambda: datasets.load_wine(return_X_y=True),
    "breast (683)": lambda: bc.datasets.load_uci("breast"),
    "breast (569)": lambda: datasets.load_breast_cancer(return_X_y=True),
    "digits": lambda: datasets.load_digits(return_X_y=True),
}


def main() -> int:
    """Run all sets; the exit code is the number of answers below the median."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--sets", nargs="*", default=list(SETS))
    options = parser.parse_args()
    below = 0
    print("| set | seed | groups | NMI | ARI | median NMI of the base results | best | seconds |\n|" + "---|" * 8)
    for name in options.sets:
        X, truth = SETS[name]()
        for seed in range(options.seeds):
            row, good = measure(X, truth, seed)
            below += not good
            print(f"| {name} | {seed} | {row} |" + ("" if good else " below"), flush=True)
    return below


def measure(X: Any, truth: Any, seed: int) -> tuple[str, bool]:
    """One fit: a line of the table, and whether the answer is at least the median."""
    started = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BiconsensusWarning)
        model = bc.ConsensusClustering(random_state=seed).fit(X)
    seconds = time.process_time() - started
    base = [seen_nmi(truth, result.labels) for result in model.results_ if result.ok]
    mine, middle = nmi(truth, model.labels_), float(np.median(base))
    scores = f"{mine:.3f} | {ari(truth, model.labels_):.3f} | {middle:.3f} | {max(base):.3f}"
    return f"{model.n_clusters_} | {scores} | {seconds:.1f}", mine >= middle


def seen_nmi(truth: Any, labels: Any) -> float:
    """NMI on the elements that a base result saw."""
    seen = ~np.isnan(labels.astype(float))
    return float(nmi(truth[seen], labels[seen]))


if __name__ == "__main__":
    raise SystemExit(main())
