"""Agreement of label tables: family-wise error on permuted pools, and planted groups that are kept.

``python -m benchmarks.tuning.agreement [number of pools]`` prints the two tables. In a permuted pool points along the
quorum path and every source are groupings that could have been returned; one significant group in any is an error.
"""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

import biconsensus as bc
from biconsensus.errors import BiconsensusWarning
from biconsensus.quorum import QuorumPath
from biconsensus.quorum._path import QUORUMS
from biconsensus.significance._agreement import LEVEL, AgreementEvidence

KINDS = {
    "40 elements, 5 sources": (40, 3, 5),
    "80 elements, 6 sources": (80, 4, 6),
    "150 elements, 10 sources": (150, 5, 10),
}
"""Elements, planted groups, sources."""
NOISE = (0.0, 0.2, 0.4, 0.5, 0.6)
"""Share of labels drawn at random in each source."""


def planted(m: int, n_groups: int, n_sources: int, noise: float, rng: np.random.Generator) -> tuple[Any, Any]:
    """Table of sources that know the groups up to noise, half of them cutting each group in two; and the groups."""
    truth = np.sort(rng.integers(n_groups, size=m))
    columns = []
    for source in range(n_sources):
        labels = truth if source % 2 else 2 * truth + rng.integers(2, size=m)
        wrong = rng.random(m) < noise
        columns.append(np.where(wrong, rng.permutation(labels), labels))
    return np.column_stack(columns), truth


def false_alarm(table: NDArray[Any]) -> bool:
    """Whether any grouping of a pool has a significant group."""
    pool = bc.Pool.from_labels(table)
    evidence = AgreementEvidence(pool)
    path = QuorumPath.of(pool, min_elements=2, min_candidates=2, quorums=QUORUMS[::4])
    groupings = [path.labels(point)[pool.inverse] for point in path.points]
    groupings += [column - column.min() for column in table.T]
    lowest = min((evidence.of_groups(labels).min(initial=0.0) for labels in groupings), default=0.0)
    return bool(lowest <= np.log10(LEVEL))


def main(n_pools: int) -> None:
    """Print both tables."""
    warnings.simplefilter("ignore", BiconsensusWarning)
    print(f"| permuted pools ({n_pools}) | with a significant group (nominal {LEVEL:.0%}) |\n|---|---|")
    for name, (m, n_groups, n_sources) in KINDS.items():
        errors = 0
        for seed in range(n_pools // len(KINDS) + 1):
            rng = np.random.default_rng([seed, m])
            table, _ = planted(m, n_groups, n_sources, 0.0, rng)
            errors += false_alarm(np.column_stack([rng.permutation(column) for column in table.T]))
        print(f"| {name} | {errors / (n_pools // len(KINDS) + 1):.2%} |", flush=True)
    print(f"\n| planted groups kept | {' | '.join(f'noise {noise:g}' for noise in NOISE)} |")
    print(f"|---|{'---|' * len(NOISE)}")
    for name, (m, n_groups, n_sources) in KINDS.items():
        shares = []
        for noise in NOISE:
            kept = []
            for seed in range(10):
                table, truth = planted(m, n_groups, n_sources, noise, np.random.default_rng([seed, m, 1]))
                kept += (AgreementEvidence(bc.Pool.from_labels(table)).of_groups(truth) <= np.log10(LEVEL)).tolist()
            shares.append(f"{np.mean(kept):.0%}")
        print(f"| {name} | {' | '.join(shares)} |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
