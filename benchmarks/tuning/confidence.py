"""The line that turns the share of `quorum/_confidence.py` into a probability: pools that can be drawn afresh.

``python -m benchmarks.tuning.confidence [--draws N]`` prints, by bins of the share, how often a fresh pool of other
base results of the same data puts the element in the same group, and the line fitted to it. MF and VS are fitted on; the
reliability diagram (`benchmarks/reliability.py`) is drawn from the other sets.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np

import biconsensus as bc
from biconsensus import datasets
from biconsensus.protocols import FloatArray
from biconsensus.quorum._confidence import CALIBRATION, confidence, matched

N_COLUMNS = 12
"""Base results of one pool."""
MOST_ELEMENTS = 800
"""Elements that are drawn from a set, to be quick."""


def main() -> None:
    """Print the table and the line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=2)
    parser.add_argument("--sets", nargs="*", default=["MF", "VS"])
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    parts = [fresh(name, draw) for name in options.sets for draw in range(options.draws)]
    share, again = (np.concatenate(column) for column in zip(*parts))
    print("share, elements, found again")
    for low in np.arange(0.0, 1.0, 0.1):
        inside = (share >= low) & (share <= low + 0.1)
        if inside.sum() >= 30:
            print(f"  {share[inside].mean():.2f} {inside.sum():5d} {again[inside].mean():.2f}")
    slope, intercept = np.polyfit(share, again, 1)
    print(f"line: {intercept:.2f} + {slope:.2f} share")


def fresh(name: str, draw: int, n_fresh: int = 4) -> tuple[FloatArray, FloatArray]:
    """Share before the line, and the share of fresh pools that put an element in the same group."""
    members, truth = datasets.load_ensemble_pool(name)
    rng = np.random.default_rng([9, draw])
    members = members[rng.permutation(truth.size)[:MOST_ELEMENTS]]
    order = rng.permutation(members.shape[1])
    found = bc.find_consensus(members[:, order[:N_COLUMNS]])
    agreed = np.zeros(len(members))
    for _ in range(n_fresh):
        fresh_columns = members[:, rng.choice(order[N_COLUMNS:], N_COLUMNS, replace=False)]
        again = bc.find_consensus(fresh_columns, n_groups=len(found)).labels
        agreed += matched(found.labels, again, len(found)) == found.labels
    return (confidence(found).elements - CALIBRATION[0]) / CALIBRATION[1], agreed / n_fresh


if __name__ == "__main__":
    main()
