"""Which sources form a camp: as many camps as make the whole pool shortest to describe.

1. Two sources are alike if one of them tells much about the other. Either direction is enough, so a coarse and a fine
   grouping of one kind are alike. Average linkage makes a tree of the sources.
2. From the leaves up, each branch is either one camp, which pays for groups of its own, or the camps of its two parts,
   whichever has the shorter description. A source that no groups describe stays alone.
3. Sources move to the camp that describes them best, and camps fit their groups again, until nothing moves.
4. If another camp describes the sources of a camp nearly as well, the two differ in granularity only, and become one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform

from biconsensus.modes._description import SourceTable
from biconsensus.protocols import FloatArray, IntArray

STARTS = 2
"""Sources of a camp, those that describe the others best, from which its groups are grown: one may be a bad start."""
MAX_MOVES = 10
"""Bound of the loop in which sources move between camps; it mostly ends by itself after one or two rounds."""
MOSTLY = 0.5
"""Two camps become one if the groups of the second say more than this share of what the first camp's own groups say
about its sources. Beyond a half they explain more than they leave open; nested groups are near 1, unrelated near 0."""


@dataclass(frozen=True)
class Camp:
    """Sources that agree with each other more than with the rest."""

    sources: IntArray
    groups: IntArray
    """(k,) groups of the rows of the table that describe them."""


class _Branch(NamedTuple):
    """A branch of the tree of sources, in its shortest description."""

    sources: IntArray
    length: float
    camps: list[IntArray]
    """Groups of the rows, for each camp in the branch."""


def find_camps(table: SourceTable) -> list[Camp]:
    """The camps among the sources of a table, two sources or more in each.

    Parameters
    ----------
    table : SourceTable
        Labels of all sources.

    Returns
    -------
    list of Camp
        Sources that no camp describes are in none of them.

    Examples
    --------
    >>> import biconsensus as bc
    >>> by_species, by_place = [0] * 20 + [1] * 20, [0, 1] * 20
    >>> table = SourceTable.of(bc.Pool.from_labels([by_species, by_place, by_species, by_place, by_place]))
    >>> [camp.sources.tolist() for camp in find_camps(table)]
    [[1, 3, 4], [0, 2]]
    """
    if table.n_sources < 2:
        return []
    groups = _settled(table, _shortest(table))
    return _merged(table, groups)


def _shortest(table: SourceTable) -> list[IntArray]:
    """Groups of the camps into which the tree of sources is cut where the description is shortest."""
    between = table.between()
    told = (table.alone[:, None] - between) / np.maximum(table.alone[:, None], 1e-300)
    apart = np.maximum(1.0 - np.maximum(told, told.T), 0.0)
    np.fill_diagonal(apart, 0.0)
    own = np.array([table.length_of_groups(table.groups_of(s)) for s in range(table.n_sources)])
    branches = [_Branch(np.array([s]), float(table.alone[s]), []) for s in range(table.n_sources)]
    for left, right, *_ in linkage(squareform(apart, checks=False), "average"):
        a, b = branches[int(left)], branches[int(right)]
        sources = np.sort(np.concatenate([a.sources, b.sources]))
        # the length of all sources of the branch, given the groups of each of them
        given = own[sources] + _at_most_alone(table, sources, between[np.ix_(sources, sources)]).sum(axis=0)
        starts = sources[np.argsort(given, kind="stable")[:STARTS]]
        length, groups = _one_camp(table, sources, starts)
        parts = a.length + b.length
        whole = _Branch(sources, length, [groups])
        branches.append(whole if length < parts else _Branch(sources, parts, a.camps + b.camps))
    return branches[-1].camps


def _at_most_alone(table: SourceTable, sources: IntArray, lengths: FloatArray) -> FloatArray:
    """Lengths of sources (lines) given groups (columns), but no longer than each source is by itself."""
    return np.minimum(lengths, table.alone[sources, None])


def _one_camp(table: SourceTable, sources: IntArray, starts: IntArray) -> tuple[float, IntArray]:
    """Length of sources as one camp, and its groups."""
    part = table.select(sources)
    tries = []
    for start in starts:
        groups = part.fit_groups(table.groups_of(start))
        told = np.minimum(part.lengths(groups), part.alone)
        tries.append((part.length_of_groups(groups) + float(told.sum()), groups))
    return min(tries, key=lambda one: one[0])


def _owners(table: SourceTable, camps: list[IntArray]) -> IntArray:
    """(c,) the camp that describes each source best, -1 where it is shorter alone."""
    return np.asarray(np.column_stack([table.alone, *map(table.lengths, camps)]).argmin(axis=1) - 1)


def _settled(table: SourceTable, camps: list[IntArray]) -> list[IntArray]:
    """Let sources move to the camp that describes them best, and camps follow their sources, until nothing moves."""
    owner = _owners(table, camps)
    for _ in range(MAX_MOVES):
        again = []
        for k, groups in enumerate(camps):
            sources = np.flatnonzero(owner == k)
            if sources.size > 1:
                part = table.select(sources)
                again.append(min(groups, part.fit_groups(groups), key=part.length_with))
        moved = _owners(table, again)
        same = len(again) == len(camps) and np.array_equal(moved, owner)
        camps, owner = again, moved
        if same:
            break
    return [groups for k, groups in enumerate(camps) if (owner == k).sum() > 1]


def _merged(table: SourceTable, camps: list[IntArray]) -> list[Camp]:
    """Camps, after each whose sources another one describes nearly as well was put together with that one."""
    owner = _owners(table, camps)
    while True:
        saved = table.alone[:, None] - np.column_stack([table.alone, *map(table.lengths, camps)])[:, 1:]
        of_camp = np.zeros((len(camps), len(camps)))
        for k in range(len(camps)):
            of_camp[k] = saved[owner == k].sum(axis=0)
        share = of_camp / np.maximum(of_camp.diagonal()[:, None], 1e-300)
        np.fill_diagonal(share, 0.0)
        if share.max(initial=0.0) <= MOSTLY:
            break
        gone, kept = np.unravel_index(share.argmax(), share.shape)
        owner[owner == gone] = kept
        owner[owner > gone] -= 1
        del camps[int(gone)]
    order = sorted(range(len(camps)), key=lambda k: -float(of_camp[k, k]))
    return [Camp(np.flatnonzero(owner == k), camps[k]) for k in order]
