"""A given number of groups: mean ARI and NMI of trees, walks and their product, and of the rivals they come from.

``python -m benchmarks.tuning.given_number [draws] [every]`` prints the tables that `quorum._given_number` and the
weights of its candidates were read from.
"""

from __future__ import annotations

import sys
import warnings
from collections import defaultdict
from dataclasses import replace
from typing import Any

import numpy as np

import biconsensus as bc
from benchmarks.tuning.pools import print_table, tuning_pools
from biconsensus.baselines import get_baseline
from biconsensus.errors import BiconsensusWarning
from biconsensus.metrics import ari, nmi
from biconsensus.protocols import FloatArray, IntArray
from biconsensus.quorum._given_number import _moved, _similarity
from biconsensus.quorum._linkage import average_tree, cut_tree
from biconsensus.quorum._score import Overlaps, PathScorer

RIVALS = ("nwca", "lwea", "lwgp", "evidence_accumulation")


def weights(overlaps: Overlaps) -> dict[str, FloatArray]:
    """(q,) weights of the candidates by every variant."""
    bits = overlaps.surprise()
    return {
        "certainty 0.4": overlaps.certainty(),
        "certainty 0.2": overlaps.certainty(0.2),
        "certainty 0.2, surprise": overlaps.certainty(0.2) * bits,
        "certainty 0.3, surprise": overlaps.certainty(0.3) * bits,
        "normalised 0.05": overlaps.normalised_certainty(0.05),
        "normalised 0.05, surprise": overlaps.normalised_certainty(0.05) * bits,
        "normalised 0.07": overlaps.normalised_certainty(0.07),
        "normalised 0.15": overlaps.normalised_certainty(0.15),
    }


def answers(pool: bc.Pool, n_groups: int) -> dict[str, IntArray]:
    """(m,) groups by every variant."""
    found = {"**biconsensus, n_groups**": bc.find_consensus(pool, n_groups=n_groups).labels}
    found |= {name: get_baseline(name)(pool, n_groups, random_state=0) for name in RIVALS}
    scorer = PathScorer.of(bc.PreferenceMatrix.from_pool(pool))
    plain = replace(scorer.problem, weights=scorer.plain)
    for name, certainty in weights(Overlaps.of(plain)).items():
        problem = replace(plain, weights=scorer.plain * certainty)
        leaves = np.arange(problem.shape[0])
        similarity = _similarity(problem, leaves, n_groups)
        rows = cut_tree(average_tree(1.0 - similarity / similarity.max(), problem.counts), n_groups)
        found[name] = _moved(problem, rows)[pool.inverse]
    return found


def main(n_draws: int, every: int) -> None:
    """Print one table for each score."""
    warnings.simplefilter("ignore", BiconsensusWarning)
    tables: dict[str, Any] = {score: defaultdict(lambda: defaultdict(list)) for score in ("ARI", "NMI")}
    for case in tuning_pools(n_draws, every):
        pool, n_groups = bc.Pool.from_labels(case.table), np.unique(case.truth[case.truth >= 0]).size
        if pool.rows.shape[0] <= n_groups:
            continue
        for name, labels in answers(pool, n_groups).items():
            for score, function in (("ARI", ari), ("NMI", nmi)):
                tables[score][name][case.family, case.half].append(function(case.truth, labels))
    for score, table in tables.items():
        print_table(f"mean {score}", table)
        print()


if __name__ == "__main__":
    main(*(int(value) for value in sys.argv[1:3]) if len(sys.argv) > 2 else (20, 1))
