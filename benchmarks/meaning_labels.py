"""Agreement of label tables: error where nobody agrees, groups kept; writes docs/benchmarks/meaning_labels.md.

``python -m benchmarks.meaning_labels [number of permuted tables]``. In a permuted table, points along the quorum path
and every source are groupings that could have been returned; one significant group in any of them is an error.
"""

from __future__ import annotations

import os
import sys
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

import biconsensus as bc
from benchmarks.results import Results
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
READABLE = 0.2
"""Noise up to which planted groups can be read from a single source, and should be kept."""
PLANTED = 10
"""Tables with planted groups of each kind and noise."""


def main(n_tables: int) -> None:
    """Measure what is not recorded and write the page."""
    warnings.simplefilter("ignore", BiconsensusWarning)
    kept = Results.open("meaning_labels", page, summary)
    for name, kind in KINDS.items():
        found = kept.values.setdefault(f"permuted/{name}", [])
        for seed in range(len(found), -(-n_tables // len(KINDS))):
            found.append(int(false_alarm(permuted(kind, seed))))
        kept.save()
        for noise in NOISE:
            if f"planted/{name}/{noise:g}" not in kept.values:
                kept.values[f"planted/{name}/{noise:g}"] = groups_kept(kind, noise)
                kept.save()
    kept.finish()


def permuted(kind: tuple[int, int, int], seed: int) -> NDArray[Any]:
    """A table of sources that know nothing of each other."""
    rng = np.random.default_rng([seed, kind[0]])
    table, _ = planted(*kind, 0.0, rng)
    return np.column_stack([rng.permutation(column) for column in table.T])


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


def groups_kept(kind: tuple[int, int, int], noise: float) -> list[int]:
    """How many planted groups are significant, and how many there are, over all tables of one kind."""
    found: list[bool] = []
    for seed in range(PLANTED):
        table, truth = planted(*kind, noise, np.random.default_rng([seed, kind[0], 1]))
        found += (AgreementEvidence(bc.Pool.from_labels(table)).of_groups(truth) <= np.log10(LEVEL)).tolist()
    return [sum(found), len(found)]


def summary(values: dict[str, Any]) -> dict[str, Any]:
    """Share of permuted tables with a significant group, and of the planted groups of little noise that are kept."""
    alarms = [alarm for key, found in values.items() if key.startswith("permuted/") for alarm in found]
    little = [found for key, found in values.items() if key.startswith("planted/") and _noise(key) <= READABLE]
    said: dict[str, Any] = {"tables": len(alarms), "false alarms": sum(alarms)}
    if alarms:
        said["family-wise error"] = round(float(np.mean(alarms)), 4)
    if little:
        kept, total = np.sum(little, axis=0)
        said["kept"] = round(float(kept / total), 4)
    return said


def _noise(key: str) -> float:
    """The noise that a key ends with."""
    return float(key.rsplit("/", 1)[1])


def page(values: dict[str, Any]) -> str:
    """The page of all that is recorded."""
    lines = [
        "# Meaning: tables of labels",
        "",
        "Where only labels are given, agreement beyond chance is what can be tested. In *permuted tables* every source "
        "has its labels in random order, so every significant group is false. A table counts as an error if one group "
        f"of any grouping along the quorum path, or of any source, is significant at {LEVEL:.0%}. In *planted tables* "
        "the sources know the groups up to noise, the share of labels drawn at random.",
        "",
        "| permuted | tables | with a significant group |",
        "|---|---|---|",
    ]
    for name in KINDS:
        found = values.get(f"permuted/{name}", [])
        if found:
            lines.append(f"| {name} | {len(found)} | {sum(found)} ({np.mean(found):.1%}) |")
    lines += ["", f"| planted groups kept | {' | '.join(f'noise {noise:g}' for noise in NOISE)} |"]
    lines.append(f"|---|{'---|' * len(NOISE)}")
    for name in KINDS:
        cells = [values.get(f"planted/{name}/{noise:g}") for noise in NOISE]
        shown = ["–" if cell is None else f"{cell[0]} of {cell[1]}" for cell in cells]
        lines.append(f"| {name} | {' | '.join(shown)} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 30 if os.environ.get("BENCH") == "quick" else 1000)
