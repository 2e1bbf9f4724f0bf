"""The choice of a point from the pool alone: mean ARI of rules on one path (number of groups never given).

``python -m benchmarks.tuning.choice [draws] [every]`` prints the table that the constants of `quorum._score` were read
from.
"""

from __future__ import annotations

import sys
import warnings
from collections import defaultdict
from collections.abc import Callable, Sequence

import biconsensus as bc
from benchmarks.tuning.pools import print_table, tuning_pools
from biconsensus.errors import BiconsensusWarning
from biconsensus.metrics import ari
from biconsensus.quorum import QuorumPath
from biconsensus.quorum._path import PathPoint, best_point, steady_point
from biconsensus.quorum._score import COARSE, FINE, ScoreWeights

Rule = Callable[[QuorumPath], PathPoint]
Choice = Callable[[Sequence[PathPoint], Callable[[PathPoint], float]], PathPoint]


def switched(coarse: ScoreWeights, clear: float, fine: ScoreWeights = FINE, choose: Choice = steady_point) -> Rule:
    """The best point by a coarse score if the retention of the first is above a level, else the best by a fine one."""

    def rule(path: QuorumPath) -> PathPoint:
        first = best_point(path.points, lambda point: point.fit.score(coarse))
        weights = coarse if first.fit.retention > clear else fine
        return choose(path.points, lambda point: point.fit.score(weights))

    return rule


RULES: dict[str, Rule] = {
    **{f"shipped weights, retention above {clear:g}": switched(COARSE, clear) for clear in (0.8, 0.85, 0.9, 0.94)},
    "the same at 0.9, the largest score alone": switched(COARSE, 0.9, choose=best_point),
    "shipped weights, always coarse": switched(COARSE, 0.0),
    "silhouette alone": switched(FINE, 0.0),
    "silhouette + 3 retention, 0.9": switched(ScoreWeights(silhouette=1.0, retention=3.0), 0.9),
    "silhouette + 2 retention, 0.9": switched(ScoreWeights(silhouette=1.0, retention=2.0), 0.9),
    "without difference, 0.9": switched(ScoreWeights(0.5, 0.5, 0.0, 1.0, 3.0), 0.9),
    "without precision, 0.9": switched(ScoreWeights(0.5, 0.0, -1.0, 1.0, 3.0), 0.9),
}


def main(n_draws: int, every: int) -> None:
    """Print the table."""
    warnings.simplefilter("ignore", BiconsensusWarning)
    found: dict[str, dict[tuple[str, str], list[float]]] = defaultdict(lambda: defaultdict(list))
    for case in tuning_pools(n_draws, every):
        pool = bc.Pool.from_labels(case.table)
        path = QuorumPath.of(pool)
        scores = {id(point): ari(case.truth, path.labels(point)[pool.inverse]) for point in path.points}
        found["*best point by the truth*"][case.family, case.half].append(max(scores.values()))
        for name, rule in RULES.items():
            found[name][case.family, case.half].append(scores[id(rule(path))])
    print_table("mean ARI", found)


if __name__ == "__main__":
    main(*(int(value) for value in sys.argv[1:3]) if len(sys.argv) > 2 else (12, 1))
