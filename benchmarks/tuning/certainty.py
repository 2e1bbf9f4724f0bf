"""Weights of candidates on the quorum path: mean ARI of the chosen point, and of the best one by the truth.

``python -m benchmarks.tuning.certainty [draws] [every]`` prints the table that `CERTAINTY_SCALE` was read from.
"""

from __future__ import annotations

import sys
import warnings
from collections import defaultdict
from collections.abc import Callable
from unittest.mock import patch

import numpy as np

import biconsensus as bc
from benchmarks.tuning.pools import print_table, tuning_pools
from biconsensus.errors import BiconsensusWarning
from biconsensus.metrics import ari
from biconsensus.protocols import FloatArray
from biconsensus.quorum import QuorumPath
from biconsensus.quorum._score import Overlaps

_certainty = Overlaps.certainty
CERTAINTIES: dict[str, Callable[[Overlaps], FloatArray]] = {
    "none": lambda overlaps: np.ones(overlaps.problem.shape[1]),
    "scale 0.2": lambda overlaps: _certainty(overlaps, 0.2),
    "**scale 0.4**": lambda overlaps: _certainty(overlaps, 0.4),
    "scale 0.8": lambda overlaps: _certainty(overlaps, 0.8),
    "normalised, scale 0.07": lambda overlaps: overlaps.normalised_certainty(0.07),
}


def main(n_draws: int, every: int) -> None:
    """Print the table."""
    warnings.simplefilter("ignore", BiconsensusWarning)
    found: dict[str, dict[tuple[str, str], list[float]]] = defaultdict(lambda: defaultdict(list))
    for case in tuning_pools(n_draws, every):
        pool = bc.Pool.from_labels(case.table)
        for name, rule in CERTAINTIES.items():
            with patch.object(Overlaps, "certainty", rule):
                path = QuorumPath.of(pool)
            scores = {id(point): ari(case.truth, path.labels(point)[pool.inverse]) for point in path.points}
            found[f"{name}, chosen"][case.family, case.half].append(scores[id(path.best)])
            found[f"{name}, best by the truth"][case.family, case.half].append(max(scores.values()))
    print_table("certainty", found)


if __name__ == "__main__":
    main(*(int(value) for value in sys.argv[1:3]) if len(sys.argv) > 2 else (12, 1))
