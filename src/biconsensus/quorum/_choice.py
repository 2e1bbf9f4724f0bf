"""The choice among groupings: by the evidence of the data where there is any, else by the pool alone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from scipy.sparse import csr_array

from biconsensus.matrix._groups import Blocks, stored_rows, sums_by
from biconsensus.methods._joint import Votes
from biconsensus.protocols import Evidence, FloatArray, IntArray
from biconsensus.quorum._path import PathPoint, QuorumPath, in_order, rows_of_source
from biconsensus.quorum._score import FitMeasures, nearest

HALF = Fraction(1, 2)
N_ALTERNATIVES = 3
"""Other numbers of groups that are reported beside the chosen one: few enough to read."""
SHARPNESS = 8.0
"""Power of the agreement (ARI) of a source in the backing, unless the evidence says otherwise: who agrees counts."""
BACKER = 4.0
"""Power of the agreement in the number of backers: a source with an ARI of 0.8 is 0.4 of a backer."""
SMALL_POOL = 8
"""Different sources up to which a grouping may show by itself that there are groups: nobody else may have asked for its
number of groups, and so few groupings of one cloud hardly have a clear border by chance."""


@dataclass(frozen=True)
class Option:
    """A grouping that may be chosen."""

    point: PathPoint
    origin: str
    """Where it comes from, in plain words."""


@dataclass(frozen=True)
class Scored:
    """An option, what the data says for it, and its score."""

    option: Option
    evidence: float
    """Of the data for the whole grouping; 0 for one group."""
    score: float
    """Evidence times the root of the backing of the pool."""
    shows_groups: bool = False
    """Whether it is enough to show that the elements are more than one group; not asked where another one is."""


def options_of(path: QuorumPath, more: Iterable[Option] = ()) -> list[Option]:
    """All distinct groupings into two groups or more: points of the path, base results, and others that are given."""
    along = [Option(point, f"quorum {float(point.quorum):g}") for point in path.points]
    found: dict[bytes, Option] = {}
    for option in [*more, *along, *base_results(path)]:
        if len(option.point) >= 2:
            found.setdefault(option.point.row_labels.tobytes(), option)
    return list(found.values())


def base_results(path: QuorumPath) -> list[Option]:
    """The base groupings themselves, left-overs with the nearest group, each with the candidates that back its groups.

    Sources whose groups share elements, and sources with fewer than two groups of the minimum size, are left out.
    """
    problem, found = path.problem, []
    votes = Votes.at_quorum(problem, HALF)
    by_column = problem.by_column
    by_source = problem.backers.T.tocsr()
    for source, name in enumerate(path.source_names):
        columns = np.sort(by_source.indices[by_source.indptr[source] : by_source.indptr[source + 1]])
        columns = columns[problem.weights[columns] > 0]
        own = csr_array(by_column[columns])
        shared = np.bincount(own.indices, minlength=problem.shape[0]).max(initial=0) > 1
        large = columns[problem.sizes[columns] >= path.sizes[0]]
        if shared or large.size < 2:
            continue
        base = np.full(problem.shape[1], -1)
        base[large] = np.arange(large.size)
        rows = rows_of_source(problem, base)
        backing = votes.group_of_columns(rows)
        gains = np.zeros(large.size)
        some = problem.group_gains(rows, backing, HALF)
        gains[: some.size] = some
        blocks = in_order(Blocks(rows, backing, gains))
        # its fit to the pool is not measured: base results are options only where the data says which one is best
        point = PathPoint(HALF, blocks, nearest(problem, blocks), backing, problem.weights, FitMeasures(), base=base)
        found.append(Option(point, f"base result {name!r}"))
    return found


def score_options(path: QuorumPath, options: list[Option], evidence: Evidence, row_of: IntArray) -> list[Scored]:
    """Every option with its evidence and score, best first.

    Parameters
    ----------
    path : QuorumPath
        Of the pool.
    options : list of Option
        Groupings of the distinct rows.
    evidence : Evidence
        What is known of the elements beyond the pool.
    row_of : (m,) int array
        The distinct row of each element.

    Returns
    -------
    list of Scored
        The score is ``evidence * backing ** power``, the power being that of the kind of evidence (a root by default):
        a false border that one source drew is rarely drawn by another. An option with fewer backers than this kind of
        evidence asks for (`fewest_backers`) has no positive score; and none has where no option has the backers that
        show that there are groups at all (`backers_against_one_group`). In a small pool, an option for which the fewest
        backers would be enough shows it by itself.

    Notes
    -----
    Where a sample of the rows was searched and the evidence looks at a few elements only (`looked_at`), the options are
    grouped on the wider sample and at those elements; the best one is then scored on all rows, until the best is one
    that was.
    """
    # a small pool cannot have as many backers: beside the source itself, a quarter of the others must agree
    possible = 1.0 + (len(path.source_names) - 1) / 4
    # runs of one source repeat its mistakes, so they are asked for together
    repeats = len(path.source_names) / max(len(set(path.source_names)), 1)
    asked = getattr(evidence, "fewest_backers", 0.0)
    fewest = min(asked * repeats, possible)
    against_one_group = getattr(evidence, "backers_against_one_group", lambda labels: 0.0)
    few_sources = len(set(path.source_names)) <= SMALL_POOL
    sharpness = getattr(evidence, "sharpness", SHARPNESS)
    power = getattr(evidence, "backing_power", 0.5)

    def scored_as(option: Option, labels: IntArray, shown: bool = False) -> Scored:
        value = evidence.of_grouping(labels)
        if value <= 0:
            return Scored(option, value, value)
        agreement = np.maximum(agreement_with(path, option.point.row_labels), 0.0)
        copies = path.condensed.units[1]  # sources of the pool for each that is left in a condensed one
        backers = copies * float((agreement**BACKER).sum())
        backed = backers >= fewest
        if not backed and not few_sources:
            return Scored(option, value, 0.0)
        score = value * (copies * float((agreement**sharpness).sum())) ** power
        if backed and shown:
            return Scored(option, value, score)
        against = against_one_group(labels)
        clear = few_sources and 0 < against <= asked
        if not backed and not clear:
            return Scored(option, value, 0.0)
        needed = against * repeats
        # where no number of backers is enough, a small pool has not enough either
        enough = backers >= (min(needed, possible) if needed < np.inf else needed)
        return Scored(option, value, score, clear or enough)

    def ranked(scored: list[Scored]) -> list[Scored]:
        if not any(one.shows_groups for one in scored):
            scored = [replace(one, score=min(one.score, 0.0)) for one in scored]
        return sorted(scored, key=lambda one: -one.score)

    looked_at: IntArray | None = getattr(evidence, "looked_at", None)
    if looked_at is None or not path.condensed.sampled:
        every: list[Scored] = []
        for option in options:
            shown = any(one.shows_groups for one in every)
            every.append(scored_as(option, path.labels(option.point)[row_of], shown))
        return ranked(every)
    rows, place = np.unique(row_of[looked_at], return_inverse=True)
    part, n_wide = path.condensed.wide_with(rows), path.condensed.wide.shape[0]
    labels = np.full(row_of.size, -1)
    scored = []
    for option in options:
        labels[looked_at] = path.labels_on(part, option.point)[n_wide:][place.ravel()]
        scored.append(scored_as(option, labels))
    scored, done = sorted(scored, key=lambda one: -one.score), set[int]()
    while scored and id(option := scored[0].option) not in done:
        done.add(id(option))
        scored[0] = scored_as(option, path.labels(option.point)[row_of])
        scored.sort(key=lambda one: -one.score)
    return ranked(scored)


def agreement_with(path: QuorumPath, labels: IntArray) -> FloatArray:
    """(c,) adjusted Rand index of each source with a grouping, over the rows that the source put in a group."""
    problem = path.problem
    n_groups = int(labels.max(initial=-1)) + 1
    found = np.zeros(problem.backers.shape[1])
    inside = labels >= 0
    if n_groups == 0 or not inside.any():
        return found
    held = problem.shared_with_groups(labels, n_groups)
    # pairs are counted among elements, of which a row of a condensed pool may stand for several
    held.data *= path.condensed.units[0]
    column, by_source = stored_rows(held), problem.columns_of_sources
    both = by_source @ sums_by(column, _pairs(held.data), held.shape[0])
    own = by_source @ _pairs(sums_by(column, held.data, held.shape[0]))
    theirs_sizes = (by_source @ held).toarray()
    theirs = _pairs(theirs_sizes).sum(axis=1)
    chance = own * theirs / np.maximum(_pairs(theirs_sizes.sum(axis=1)), 1.0)
    top = (own + theirs) / 2.0 - chance
    return np.where(top > 1e-9, (both - chance) / np.where(top > 1e-9, top, 1.0), 0.0)


def _pairs(x: FloatArray) -> FloatArray:
    """Pairs among x elements."""
    return x * (x - 1.0) / 2.0


def alternatives_of(scored: list[Scored]) -> list[dict[str, float | int | str]]:
    """The best options with other numbers of groups than the first, for the user to see."""
    seen = {len(scored[0].option.point)} if scored else set()
    found: list[dict[str, float | int | str]] = []
    for one in scored[1:]:
        number = len(one.option.point)
        if number not in seen and len(found) < N_ALTERNATIVES and one.score > 0:
            seen.add(number)
            found.append(
                {"n_groups": number, "origin": one.option.origin, "evidence": one.evidence, "score": one.score}
            )
    return found
