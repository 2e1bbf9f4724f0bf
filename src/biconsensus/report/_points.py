"""The groupings that the slider of the page moves through: points of the quorum path and the answer itself."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import coo_array, csr_array

from biconsensus.matrix._groups import top_in_rows
from biconsensus.protocols import FloatArray, IntArray
from biconsensus.quorum._confidence import Likeness, calibrated
from biconsensus.report._data import Sample
from biconsensus.report._encode import packed, packed_shares, round_off, rounded
from biconsensus.result._consensus import at_point, of_elements
from biconsensus.result._notebook import chance_text
from biconsensus.significance._agreement import AgreementEvidence

if TYPE_CHECKING:
    from biconsensus.result._consensus import Consensus

MOST_GROUPS = 1000
"""Groups of one point that the page lists: nobody reads a longer table."""
MOST_FLOWS = 2000
"""Flows of elements between two points that the page draws."""
MOST_TESTED = 3_000_000
"""Entries of the pool times points up to which the agreement on every group is tested: a second or so."""
MOST_TESTED_GROUPS = 300
"""Groups of all points together up to which it is tested, for the same reason."""
ESTIMATED = "Confidence is estimated on the elements of this page."
"""What the page says of points at which not all elements were looked at."""


@dataclass(frozen=True, eq=False)
class Stop:
    """One grouping that the page can show."""

    consensus: Consensus
    quorums: tuple[float, float]
    """Lowest and highest quorum of the path that give this grouping."""
    score: float
    evidence: float
    on_path: bool
    """Whether it is a point of the path, so that `Consensus.at` finds it."""
    chosen: bool = False


def stops_of(consensus: Consensus) -> list[Stop]:
    """The answer and the points of its path, from coarse to fine; neighbours with the same groups are one."""
    path, settings = consensus.path, consensus.settings
    quorum = float(settings.get("quorum", 0.5))
    score = max((s for q, n, s in consensus.extraction.get("path", []) if q == quorum), default=np.nan)
    told = float(consensus.extraction.get("evidence", np.nan))
    answer = Stop(consensus, (quorum, quorum), score, told, on_path=False, chosen=True)
    if path is None:
        return [answer]
    found: list[Stop] = []
    for point in reversed(path.points):
        if len(point) == 0:
            continue
        here = at_point(consensus, path, point)
        last = found[-1] if found else None
        if last is not None and same_groups(last.consensus.labels, here.labels):
            better = point.score > last.score
            found[-1] = replace(
                last,
                consensus=here if better else last.consensus,
                quorums=(last.quorums[0], point.quorum),
                score=max(point.score, last.score),
                evidence=point.evidence if better else last.evidence,
            )
        else:
            found.append(Stop(here, (point.quorum, point.quorum), point.score, point.evidence, on_path=True))
    return _with_answer(found, answer)


def _with_answer(found: list[Stop], answer: Stop) -> list[Stop]:
    """The stops with the answer in its place: the point that it is, or between those with fewer and more groups."""
    labels = answer.consensus.labels
    for k, stop in enumerate(found):
        if same_groups(stop.consensus.labels, labels):
            found[k] = replace(stop, consensus=answer.consensus, chosen=True)
            return found
    place = sum(len(stop.consensus) <= len(answer.consensus) for stop in found)
    return [*found[:place], answer, *found[place:]]


def same_groups(one: IntArray, other: IntArray) -> bool:
    """Whether two labelings are the same groups under other numbers.

    Examples
    --------
    >>> same_groups(np.array([0, 0, 1, -1]), np.array([1, 1, 0, -1])), same_groups(np.array([0, 1]), np.array([0, 0]))
    (True, False)
    """
    if not np.array_equal(one < 0, other < 0):
        return False
    both = flow(one, other)
    return bool(both.nnz == np.unique(both.coords[0]).size == np.unique(both.coords[1]).size)


def flow(one: IntArray, other: IntArray) -> coo_array:
    """Elements that go from each group of one grouping to each of the other; group -1 is number 0."""
    shape = (int(one.max(initial=-1)) + 2, int(other.max(initial=-1)) + 2)
    return coo_array(csr_array(coo_array((np.ones(one.size), (one + 1, other + 1)), shape=shape)))


def color_numbers(stops: list[Stop], flows: list[coo_array]) -> list[list[int]]:
    """Colours of all groups: those of the answer by number, others after the group that they share most with."""
    start = next(k for k, stop in enumerate(stops) if stop.chosen)
    found: list[list[int]] = [[] for _ in stops]
    found[start] = list(range(len(stops[start].consensus)))
    for k in range(start + 1, len(stops)):
        shared = flows[k - 1]
        found[k] = _inherited(shared.coords[1], shared.coords[0], shared.data, found[k - 1], len(stops[k].consensus))
    for k in range(start - 1, -1, -1):
        shared = flows[k]
        found[k] = _inherited(shared.coords[0], shared.coords[1], shared.data, found[k + 1], len(stops[k].consensus))
    return found


def _inherited(own: IntArray, theirs: IntArray, counts: FloatArray, colors: list[int], number: int) -> list[int]:
    """Each group takes the colour of the neighbour that it shares most with, the largest share first; the rest new."""
    found, taken = [-1] * number, set()
    for k in np.lexsort((own, -counts)):
        group, parent = int(own[k]) - 1, int(theirs[k]) - 1
        if group >= 0 and parent >= 0 and found[group] < 0 and colors[parent] not in taken:
            found[group] = colors[parent]
            taken.add(colors[parent])
    free = 0
    for group in range(number):
        if found[group] < 0:
            while free in taken:
                free += 1
            found[group] = free
            taken.add(free)
    return found


def points_data(stops: list[Stop], sample: Sample) -> dict[str, Any]:
    """Everything that changes with the slider: groups of all points, and labels of the elements on the page."""
    flows = [flow(a.consensus.labels, b.consensus.labels) for a, b in pairwise(stops)]
    colors = color_numbers(stops, flows)
    pool = stops[0].consensus.pool
    n_groups = sum(len(stop.consensus) for stop in stops)
    quick = pool.rows.nnz * len(stops) <= MOST_TESTED and n_groups <= MOST_TESTED_GROUPS
    agreement = AgreementEvidence(pool) if quick else None
    points, labels, confidence, others, there, backing = [], [], [], [], [], []
    for stop, own_colors in zip(stops, colors):
        here = stop.consensus
        held = held_at(stop, sample)
        points.append({**_point(stop, agreement, held), "colors": own_colors[:MOST_GROUPS]})
        labels.append(packed(here.labels[sample.elements] + 1))
        confidence.append(packed_shares(held.own))
        others.append(packed(held.other + 1))
        there.append(packed_shares(held.there))
        backing.append(packed_shares(held.backing))
    return {
        "points": points,
        "start": next(k for k, stop in enumerate(stops) if stop.chosen),
        "flows": [_flow_rows(one) for one in flows],
        "labels": labels,
        "confidence": confidence,
        "others": others,
        "there": there,
        "backing": backing,
    }


def _flow_rows(shared: coo_array) -> list[list[int]]:
    """Triples of group, group and elements, the largest where there are very many."""
    rows, columns = shared.coords
    kept = np.sort(np.argsort(-shared.data, kind="stable")[:MOST_FLOWS])
    found: list[list[int]] = np.column_stack([rows - 1, columns - 1, shared.data])[kept].astype(np.int64).tolist()
    return found


@dataclass(frozen=True)
class Held:
    """How sure the elements of the page, and all groups, are."""

    own: FloatArray
    """(k,) confidence of each element; 0 for those in no group."""
    other: IntArray
    """(k,) the other group that would hold it most, -1 for none."""
    there: FloatArray
    """(k,) confidence that it would have there."""
    backing: FloatArray
    """(k,) backing of each element."""
    groups: FloatArray | None
    """(T,) mean confidence of the elements of each group; None where groups overlap."""
    group_backing: FloatArray
    """(T,) mean backing of the elements of each group."""
    stability: FloatArray
    """(T,) how well each group is found again in the sources."""
    exact: bool
    """Whether all elements were looked at, not those of the page alone."""


def held_at(stop: Stop, sample: Sample) -> Held:
    """Confidence and backing at a stop; of very many elements, at other points than the answer, by those on the page.

    What sources did not see is told apart by rows of the whole pool, so that there all elements are looked at.
    """
    here, elements = stop.consensus, sample.elements
    exact = sample.whole or stop.chosen or here.pool.unseen is not None
    everyone = here if exact else of_elements(here, elements[sample.even], sample.even_pool)
    listed = here if exact else of_elements(here, elements, sample.pool)
    labels, n_groups = everyone.labels, len(here)
    inside = np.flatnonzero(labels >= 0)
    sizes = np.maximum(np.bincount(labels[inside], minlength=n_groups), 1)
    group_backing = np.bincount(labels[inside], everyone.backing[inside], minlength=n_groups) / sizes
    backing = listed.backing[elements] if exact else listed.backing
    nothing = np.zeros(elements.size)
    if n_groups == 0 or here.settings.get("overlap"):
        none = np.full(elements.size, -1)
        return Held(nothing, none, nothing, backing, None, group_backing, np.zeros(n_groups), exact)
    likeness = Likeness.of(everyone.pool, labels, n_groups)
    shares = replace(likeness, pool=listed.pool).shares(listed.pool.inverse[elements] if exact else listed.pool.inverse)
    own_group = here.labels[elements]
    stored = np.repeat(np.arange(elements.size), np.diff(shares.indptr))
    is_own = shares.indices == own_group[stored]
    own = nothing.copy()
    own[stored[is_own]] = shares.data[is_own]
    rest = csr_array((shares.data[~is_own], (stored[~is_own], shares.indices[~is_own])), shape=shares.shape)
    other, top = top_in_rows(rest)
    sure = everyone.confidence().elements[inside]
    return Held(
        own=np.where(own_group >= 0, calibrated(own), 0.0),
        other=other,
        there=np.where(other >= 0, calibrated(np.maximum(top, 0.0)), 0.0),
        backing=backing,
        groups=np.bincount(labels[inside], sure, minlength=n_groups) / sizes,
        group_backing=group_backing,
        stability=likeness.possible / max(len(here.pool.sources), 1),
        exact=exact,
    )


def _point(stop: Stop, agreement: AgreementEvidence | None, held: Held) -> dict[str, Any]:
    """One stop of the slider: its groups, counted over all elements."""
    here = stop.consensus
    labels, n_groups = here.labels, len(here)
    inside = labels >= 0
    counted = sizes = np.bincount(labels[inside], minlength=n_groups)
    if here.settings.get("overlap"):  # an element may count in several groups
        sizes = np.asarray(here.membership.sum(axis=0), np.int64).ravel()
    shown = slice(0, MOST_GROUPS)
    chance = _chance(stop, agreement)
    confidence = held.groups
    mean = None if confidence is None else round_off(float(confidence @ counted / max(int(counted.sum()), 1)))
    return {
        "quorum": round_off(float(here.settings.get("quorum", 0.5)), 6),
        "quorums": rounded(stop.quorums, 6),
        "score": round_off(stop.score),
        "evidence": round_off(stop.evidence),
        "chosen": stop.chosen,
        "groups": n_groups,
        "outside": int((~inside).sum()),
        "mean": mean,
        "sizes": sizes[shown].tolist(),
        "confidence": None if confidence is None else rounded(confidence[shown]),
        "backing": rounded(held.group_backing[shown]),
        "stability": rounded(held.stability[shown]),
        "chance": None if chance is None else [chance_text(float(value)) for value in chance],
        "significance": None if chance is None else rounded(np.clip(chance, -1e6, 1e6), 2),
        "candidates": [int(own.size) for own in here.candidates[shown]],
        "sources": [int(np.unique(here.pool.source_of[own]).size) for own in here.candidates[shown]],
        "gains": rounded(here.gains[shown], 3),
        "behind": packed(_behind(here) + 1),
        "means": " ".join(_said(stop) + ([] if held.exact else [ESTIMATED])),
    }


def _chance(stop: Stop, agreement: AgreementEvidence | None) -> FloatArray | None:
    """(T,) logarithm of the chance of each group that is listed; None where it would take too long to ask."""
    here = stop.consensus
    if here.evidence is not None or stop.chosen:
        found = np.asarray(here.significance, np.float64)
    elif agreement is None:
        return None
    else:
        asked = agreement.of_groups(here.labels)
        found = np.concatenate([asked, np.zeros(len(here) - asked.size)])
    return found[:MOST_GROUPS]


def _behind(consensus: Consensus) -> IntArray:
    """(n,) the group that each candidate backs, -1 for none."""
    found = np.full(consensus.pool.shape[1], -1, np.int64)
    for group, own in enumerate(consensus.candidates):
        found[own] = group
    return found


def _said(stop: Stop) -> list[str]:
    """What can be said for a stop, in sentences."""
    said = []
    if np.isfinite(stop.evidence) and len(stop.consensus) == 1:
        said.append("One group is what the data say where no border is clearer than chance (evidence 0).")
    elif np.isfinite(stop.evidence):
        verdict = "speaks for" if stop.evidence > 0 else "does not speak for"
        said.append(f"The data {verdict} this grouping (evidence {stop.evidence:.3g}).")
    elif np.isfinite(stop.score):
        said.append(f"Score of the pool: {stop.score:.3f}.")
    return said
