"""Tables from which the levels of `significance/_points.py` were read: clouds without groups, and mixtures.

``python -m benchmarks.tuning.points [--runs N]``. The clouds and mixtures are none of those that the benchmark reports.

* valleys: largest mean depth (standard errors) over all groupings of the default pool of one cloud, by intrinsic
  dimension. `DEEPEST_NULL` lies above nearly all of it; on curves fewer paths lead around a gap, so it is higher.
* directions: mean and spread of the depth on a cross-fitted direction between two halves of one cloud, by dimension.
* backers: effective number of sources that say what the best grouping of a cloud says, against that of a mixture. It is
  what tells cells of one large cloud in many dimensions (deep valleys, nobody repeats them) from groups.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np

from benchmarks.meaning_points import mixture, noise
from biconsensus.clustering._pool import pool_of
from biconsensus.protocols import FloatArray
from biconsensus.quorum._choice import BACKER, agreement_with, options_of
from biconsensus.quorum._path import QuorumPath
from biconsensus.significance._points import PointEvidence
from biconsensus.sources._default_pool import default_sources
from biconsensus.sources._running import child_seeds, run_sources


def main() -> None:
    """Print the three tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print("directions: cloud, dimensions, mean depth, standard deviation")
    for kind in ("normal", "uniform"):
        for d in (5, 10, 20):
            depths = [halves(noise(kind, d, 400, 10_000 + run)) for run in range(20 * options.runs)]
            print(f"  {kind} {d}: {np.mean(depths):.2f} {np.std(depths):.2f}")
    print(
        "valleys and backers: cloud, points, intrinsic dimension, level, best mean depth of any grouping, its backers"
    )
    for kind, d in (("ring", 2), ("normal", 2), ("uniform", 2), ("normal", 3), ("uniform", 5), ("normal", 10)):
        for n in (200, 600, 2000):
            for run in range(options.runs):
                print(f"  {kind} {d} {n}:", best(noise(kind, d, n, 20_000 + run)))
    print("the same for mixtures")
    for number in range(1000, 1000 + 4 * options.runs):
        print(f"  mixture {number}:", best(mixture(number)[0]))


def halves(X: FloatArray) -> float:
    """Depth between the two halves of a cloud along its first axis."""
    evidence = PointEvidence(X)
    labels = (X[:, 0] > np.median(X[:, 0])).astype(np.int64)
    return evidence.of_grouping(labels) + evidence.toll + evidence.level


def best(X: FloatArray) -> str:
    """The grouping of the default pool with the largest mean depth."""
    sources = default_sources(X)
    pool = pool_of(run_sources(sources, X, child_seeds(0, len(sources)), n_elements=len(X)), None, None)
    path = QuorumPath.of(pool)
    evidence = PointEvidence(X)
    dimension, level = evidence.dimension, evidence.level
    found = []
    for option in options_of(path):
        n_borders = len(option.point) - 1
        gained = evidence.of_grouping(path.labels(option.point)[pool.inverse]) + evidence.toll
        depth = gained / n_borders + level
        backers = float((np.maximum(agreement_with(path, option.point.row_labels), 0.0) ** BACKER).sum())
        found.append((depth, backers, n_borders + 1))
    depth, backers, n_groups = max(found)
    return f"dimension {dimension:.2f} level {level:.2f} depth {depth:.2f} of {n_groups} groups, backers {backers:.1f}"


if __name__ == "__main__":
    main()
