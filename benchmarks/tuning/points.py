"""Tables from which the levels of `significance/_points.py` were read: clouds without groups, and imitations of data.

``python -m benchmarks.tuning.points [directions|valleys|cells|small_groups|choices|levels|strips ...] [--runs N]``.
The clouds and the imitations are none of those that the benchmark reports.

* directions: mean and spread of the depth on a cross-fitted direction between two halves of one cloud, by dimension.
* valleys: for one cloud, the lowest level of its first border at which no grouping of the default pool with two
  backers has evidence, beside the level that is taken, which 95% of the clouds of each kind stay below:
  `LEVEL_OF_PLANE` and the constants after it. With it the effective number of sources that say what this grouping
  says.
* cells: groupings of one cloud that have evidence at its level and two backers, with the gain of their clearest border
  and their backers. `CLEAR` and `BACKERS_IF_UNCLEAR` lie above all of them; the page on meaning tells of groups.
* small_groups: the largest distance from a group of five to nine points of one cloud to all others, in diameters of the
  group. `ISOLATED` lies above nearly all of them.
* choices: mean ARI on imitations of more than three columns, and the evidence that the best of a pool finds in one
  cloud (above 0 is a false alarm), for several `CAP_ON_DIRECTION` and powers of the backing.
* levels: mean ARI on the same imitations for several shares of `LEVEL_ON_DIRECTION` and several `CAP_ON_DIRECTION`.
* strips: mean ARI on imitations in the plane, and how many clouds have groups, for several `LEVEL_IN_STRIP`,
  `PLANE_FROM_AFAR` and `CONTRADICTION`; the first row is without this test.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import pdist, squareform
from sklearn.metrics import adjusted_rand_score

from benchmarks.imitations import KINDS
from benchmarks.meaning_points import mixture, noise
from biconsensus.clustering._pool import pool_of
from biconsensus.protocols import FloatArray, IntArray
from biconsensus.quorum._choice import BACKER, agreement_with, options_of
from biconsensus.quorum._path import QuorumPath
from biconsensus.significance import _points
from biconsensus.significance._points import PointEvidence
from biconsensus.sources._default_pool import default_sources
from biconsensus.sources._features import in_one_unit
from biconsensus.sources._running import child_seeds, run_sources

CLOUDS = (("normal", 4), ("uniform", 4), ("normal", 5), ("uniform", 5), ("uniform", 12), ("t, 4 degrees of freedom", 8))
STRIPS = (
    (99.0, 1.7, 3.0),
    (3.0, 1.7, 3.0),
    (2.6, 1.7, 3.0),
    (3.4, 1.7, 3.0),
    (3.0, 1.5, 3.0),
    (3.0, 1.6, 3.0),
    (3.0, 1.8, 3.0),
    (3.0, 1.7, 2.0),
    (3.0, 1.7, 4.0),
    (3.0, 1.7, 99.0),
)
"""Settings that are compared: level, least dimension from afar, how much deeper than the density."""
OTHER_CLOUDS = ("box", "sheared cube", "cube in more columns", "ball")
"""Kinds of clouds that the benchmark does not have."""


def main() -> None:
    """Print the tables that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tables", nargs="*", default=list(TABLES))
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in options.tables:
        TABLES[name](options.runs)


@dataclass(frozen=True)
class Judged:
    """The groupings of a default pool, how well the sources agree with each, and what the points say."""

    labels: list[IntArray]
    agreement: list[FloatArray]
    """(c,) for each grouping, negative values as 0."""
    evidence: PointEvidence

    @classmethod
    def of(cls, X: FloatArray) -> Judged:
        """Run the default pool."""
        sources = default_sources(X)
        pool = pool_of(run_sources(sources, X, child_seeds(0, len(sources)), n_elements=len(X)), None, None)
        path = QuorumPath.of(pool)
        points = [option.point for option in options_of(path)]
        return cls(
            [path.labels(point)[pool.inverse] for point in points],
            [np.maximum(agreement_with(path, point.row_labels), 0.0) for point in points],
            PointEvidence(in_one_unit(X)),
        )

    def backers(self, k: int) -> float:
        """Effective number of sources that say what a grouping says."""
        return float((self.agreement[k] ** BACKER).sum())

    def best(self, power: float) -> tuple[IntArray | None, float]:
        """The grouping that would be chosen, None for one group; and the most evidence of any that has its backers."""
        backed = [k for k in range(len(self.labels)) if self.backers(k) >= _points.FEWEST_BACKERS]
        values = {k: self.evidence.of_grouping(self.labels[k]) for k in backed}
        against_one = [self.backers(k) - self.evidence.backers_against_one_group(self.labels[k]) for k in backed]
        if not any(value > 0 and more >= 0 for value, more in zip(values.values(), against_one, strict=True)):
            return None, min(max(values.values(), default=-np.inf), 0.0)
        sharpness = self.evidence.sharpness
        scores = {
            k: value * (self.agreement[k] ** sharpness).sum() ** power for k, value in values.items() if value > 0
        }
        chosen = max(scores, key=scores.__getitem__) if scores else None
        return None if chosen is None else self.labels[chosen], max(values.values(), default=-np.inf)


def directions(runs: int) -> None:
    """Depth between the two halves of a cloud along its first axis."""
    print("directions: cloud, dimensions, mean depth, standard deviation")
    for kind in ("normal", "uniform"):
        for d in (5, 10, 20):
            depths = []
            for run in range(20 * runs):
                X = noise(kind, d, _points.LEVEL_POINTS, 10_000 + run)
                evidence = PointEvidence(X)
                labels = (X[:, 0] > np.median(X[:, 0])).astype(np.int64)
                depths.append(evidence.of_grouping(labels) + evidence.level)
            print(f"  {kind} {d}: {np.mean(depths):.2f} {np.std(depths):.2f}", flush=True)


def valleys(runs: int) -> None:
    """The grouping with two backers that has the most evidence, on clouds."""
    print("valleys: cloud, columns, points, dimension near by, level, lowest level without groups, groups, backers")
    clouds = (("ring", 2), ("normal", 2), ("uniform", 2), ("sheared cube", 2), ("ball", 2), ("normal", 3), ("box", 3))
    for kind, d in clouds:
        for n in (120, 200, 350, 500, 2000):
            for run in range(runs):
                print(f"  {kind} {d} {n}:", deepest(Judged.of(cloud(kind, d, n, 20_000 + run))), flush=True)


def deepest(judged: Judged) -> str:
    """What the grouping with the most evidence shows."""
    evidence, found = judged.evidence, []
    lower = max(evidence.level - evidence.level_of_cloud, 0.0)
    for k, labels in enumerate(judged.labels):
        n_groups = np.unique(labels[labels >= 0]).size
        if n_groups > 1 and judged.backers(k) >= _points.FEWEST_BACKERS:
            found.append((evidence.of_grouping(labels) - lower + evidence.level, n_groups, judged.backers(k)))
    lowest, n_groups, backers = max(found, default=(-np.inf, 1, 0.0))
    return (
        f"dimension {evidence.dimension:.2f} level {evidence.level_of_cloud:.2f} lowest {lowest:.2f}, "
        f"{n_groups} groups, backers {backers:.1f}"
    )


def cells(runs: int) -> None:
    """Groupings of clouds that have evidence and two backers."""
    print("cells: cloud, columns, points, groups, evidence, gain of the clearest border, backers")
    for kind in ("uniform", "normal", "t, 4 degrees of freedom", *OTHER_CLOUDS):
        for d, n in ((4, 60), (4, 500), (4, 2000), (5, 500), (5, 2000), (6, 2000), (8, 120), (10, 2000), (20, 2000)):
            for run in range(runs):
                judged = Judged.of(cloud(kind, d, n, 70_000 + run))
                borders = judged.evidence._borders
                assert isinstance(borders, _points._ProjectedValleys)
                for k, labels in enumerate(judged.labels):
                    groups, n_groups = judged.evidence._groups(labels)
                    if n_groups < 2 or judged.backers(k) < _points.FEWEST_BACKERS:
                        continue
                    gains = borders.tree(groups, n_groups, [False] * n_groups).gains
                    if gains.sum() > 0:
                        found = f"{n_groups} groups, evidence {gains.sum():.2f}, clearest {gains.max():.2f}"
                        print(f"  {kind} {d} {n}: {found}, backers {judged.backers(k):.1f}", flush=True)


def small_groups(runs: int) -> None:
    """How isolated the most isolated small group of one cloud is."""
    print("small_groups: cloud, columns, points, largest ratio of 10 runs or more, clouds above the constant")
    for kind in ("uniform", "normal", "t, 4 degrees of freedom", *OTHER_CLOUDS):
        for d, n in ((4, 60), (4, 100), (4, 300), (4, 1000), (5, 100), (5, 500), (8, 60), (8, 500), (20, 100)):
            ratios = np.array([most_isolated(cloud(kind, d, n, 80_000 + run)) for run in range(10 * runs)])
            above = int((ratios > _points.ISOLATED).sum())
            print(f"  {kind} {d} {n}: {ratios.max():.2f}, {above} of {ratios.size}", flush=True)


def most_isolated(X: FloatArray) -> float:
    """Largest distance from a small group to all other points, in diameters: all candidates are in the nearest tree."""
    apart = pdist(X)
    distances, members, ratio = squareform(apart), [[i] for i in range(len(X))], 0.0
    for one, other, gap, _ in linkage(apart, "single"):
        for part in (members[int(one)], members[int(other)]):
            if _points.FEWEST_ISOLATED <= len(part) < _points.SMALLEST:
                ratio = max(ratio, float(gap / distances[np.ix_(part, part)].max()))
        members.append(members[int(one)] + members[int(other)])
    return ratio


def cloud(kind: str, d: int, n: int, seed: int) -> FloatArray:
    """A cloud without groups, of the kinds of the benchmark or of others."""
    if kind not in OTHER_CLOUDS:
        return noise(kind, d, n, seed)
    rng = np.random.default_rng([seed, d, n])
    found: FloatArray = rng.random((n, d))
    if kind == "box":
        found *= np.exp(rng.normal(0, 0.4, d))
    elif kind == "sheared cube":
        found = found @ rng.normal(size=(d, d))
    elif kind == "cube in more columns":
        found = found @ rng.normal(size=(d, d + 5)) + rng.normal(0, 0.05, (n, d + 5))
    else:
        found = rng.normal(size=(n, d))
        found *= (rng.random(n) ** (1 / d) / np.sqrt((found**2).sum(axis=1)))[:, None]
    return found


def choices(runs: int) -> None:
    """Mean ARI on imitations, and the most evidence in clouds, by the cap of a border and the power of the backing."""
    judged = imitations(runs)
    clouds = [Judged.of(noise(kind, d, 700, 50_000 + run)) for kind, d in CLOUDS for run in range(runs)]
    print(
        "choices: CAP_ON_DIRECTION, power | mean ARI | collapsed | clouds with groups, most evidence in one |", *judged
    )
    for cap in (4.0, 6.0, 8.0, 10.0):
        _points.CAP_ON_DIRECTION = cap
        for power in (0.5, 1.0, 2.0):
            chosen = {kind: [(one.best(power)[0], truth) for one, truth in sets] for kind, sets in judged.items()}
            means = [np.mean([score(labels, truth) for labels, truth in sets]) for sets in chosen.values()]
            collapsed = sum(labels is None for sets in chosen.values() for labels, _ in sets)
            most = [one.best(power)[1] for one in clouds]
            print(
                f"  {cap:.0f}, {power} | {np.mean(means):.3f} | {collapsed} | "
                f"{sum(value > 0 for value in most)} of {len(most)}, {max(most):.2f} | {shown(means)}",
                flush=True,
            )


def levels(runs: int) -> None:
    """Mean ARI on imitations by the level of a border and by how much of it counts."""
    judged = imitations(runs)
    print("levels: share of LEVEL_ON_DIRECTION, CAP_ON_DIRECTION | mean ARI | collapsed |", *judged)
    for share in (0.6, 0.8, 1.0, 1.2):
        for cap in (6.0, 7.0, 8.0, 10.0):
            _points.CAP_ON_DIRECTION = cap
            chosen: dict[str, list[float]] = {kind: [] for kind in judged}
            for kind, sets in judged.items():
                for one, truth in sets:
                    borders = one.evidence._borders
                    borders.level = share * borders.level_of_cloud
                    chosen[kind].append(score(one.best(_points.POWER_ON_DIRECTION)[0], truth))
            means = [float(np.mean(scores)) for scores in chosen.values()]
            collapsed = sum(value == 0 for scores in chosen.values() for value in scores)
            print(f"  {share}, {cap:.0f} | {np.mean(means):.4f} | {collapsed} | {shown(means)}", flush=True)


def strips(runs: int) -> None:
    """Mean ARI on imitations in the plane and clouds with groups, by the settings of valleys along strips."""
    kinds = [kind for kind in KINDS if "plane" in kind]
    judged = {
        kind: [(Judged.of(X), truth) for X, truth in map(KINDS[kind], range(4000, 4000 + runs))] for kind in kinds
    }
    of_clouds = ("ring", "uniform", "sheared cube", "ball", "normal", "t, 4 degrees of freedom")
    sizes = (80, 120, 200, 350, 500, 1000)
    clouds = {
        kind: [Judged.of(cloud(kind, 2, sizes[run % len(sizes)], 60_000 + run)) for run in range(runs)]
        for kind in of_clouds
    }
    print(
        "strips: LEVEL_IN_STRIP, PLANE_FROM_AFAR, CONTRADICTION | mean ARI |", *kinds, "| clouds with groups |", *clouds
    )
    for settings in STRIPS:
        _points.LEVEL_IN_STRIP, _points.PLANE_FROM_AFAR, _points.CONTRADICTION = settings
        power = _points.POWER_IN_DENSITY
        means = [np.mean([score(one.best(power)[0], truth) for one, truth in sets]) for sets in judged.values()]
        found = [sum(one.best(power)[0] is not None for one in sets) for sets in clouds.values()]
        print(f"  {settings} | {shown(means)} | {found} of {runs} each", flush=True)


def imitations(runs: int) -> dict[str, list[tuple[Judged, IntArray]]]:
    """Imitations of more than three columns, by kind, with their groups."""
    data = {kind: [make(seed) for seed in range(runs)] for kind, make in KINDS.items() if "plane" not in kind}
    data["mixtures"] = [(X, truths[0]) for X, truths in (mixture(1000 + run) for run in range(runs))]
    return {kind: [(Judged.of(X), truth) for X, truth in sets] for kind, sets in data.items()}


def score(labels: IntArray | None, truth: IntArray) -> float:
    """ARI, 0 for one group."""
    return 0.0 if labels is None else float(adjusted_rand_score(truth, labels))


def shown(means: Iterable[float]) -> str:
    """Numbers side by side."""
    return " ".join(f"{mean:.3f}" for mean in means)


TABLES = {
    "directions": directions,
    "valleys": valleys,
    "cells": cells,
    "small_groups": small_groups,
    "choices": choices,
    "levels": levels,
    "strips": strips,
}

if __name__ == "__main__":
    main()
