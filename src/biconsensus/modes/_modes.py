"""`find_modes`: the camps of a pool, each with its own consensus, and what they share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import coo_array

from biconsensus._checks import need
from biconsensus._names import NOT_RANDOM, fields_in, parameters
from biconsensus._words import counted
from biconsensus.errors import InputError
from biconsensus.find import Search, solve
from biconsensus.metrics import ari
from biconsensus.modes._camps import MOSTLY, find_camps
from biconsensus.modes._description import SourceTable
from biconsensus.pool._pool import Pool, first_of_rows
from biconsensus.protocols import FloatArray, IntArray
from biconsensus.result._consensus import Consensus

if TYPE_CHECKING:
    import pandas as pd

MOST_NAMES = 8
"""Sources that the small table names for each mode; the others are counted."""


@dataclass(frozen=True, eq=False)
class Mode:
    """One camp of sources and what they agree on; `Modes` has them in their order.

    Examples
    --------
    >>> import biconsensus as bc
    >>> by_species, by_place = [0] * 20 + [1] * 20, [0, 1] * 20
    >>> mode = bc.find_modes([by_species, by_place, by_species, by_place, by_place])[1]
    >>> mode.sources, len(mode), mode.labels[:3]
    (array([0, 2]), 2, array([0, 0, 0]))
    """

    sources: IntArray
    """Indices of its sources in the pool."""
    consensus: Consensus
    """The consensus of these sources alone, over all elements."""
    explained: float
    """Share of what its sources say that its groups explain; 1 where the sources repeat them."""

    @property
    def labels(self) -> IntArray:
        """(m,) group of each element in the consensus of this mode, -1 for none."""
        return self.consensus.labels

    def __len__(self) -> int:
        """Number of groups."""
        return len(self.consensus)


@dataclass(frozen=True)
class SharedGroup:
    """A group that two modes have in common.

    Examples
    --------
    >>> import biconsensus as bc
    >>> one, other = [0] * 20 + [1] * 40 + [2] * 40, [0] * 20 + [1, 2] * 40
    >>> shared = bc.find_modes([one, other, one, other, one, other]).shared_groups[0]
    >>> shared.n_elements, shared.likeness
    (20, 1.0)
    """

    modes: tuple[int, int]
    groups: tuple[int, int]
    """The group in the one and in the other mode."""
    n_elements: int
    """Elements that are in both."""
    likeness: float
    """Jaccard index: elements in both over elements in either."""


@dataclass(frozen=True, eq=False)
class Modes:
    """The modes of a pool, the one that explains most first.

    Examples
    --------
    >>> import biconsensus as bc
    >>> by_species, by_place = [0] * 20 + [1] * 20, [0, 1] * 20
    >>> modes = bc.find_modes([by_species, by_place, by_species, by_place, by_place])
    >>> len(modes), modes.source_modes
    (2, array([1, 0, 1, 0, 0]))
    >>> modes.agreement.round(2)
    array([[ 1.  , -0.03],
           [-0.03,  1.  ]])
    """

    pool: Pool
    modes: tuple[Mode, ...]
    explains: FloatArray
    """(c, M) share of what each source says that the groups of each mode explain: 1 where they are its own groups, 0
    where they tell nothing about it."""

    def __len__(self) -> int:
        """Number of modes."""
        return len(self.modes)

    def __iter__(self) -> Iterator[Mode]:
        """The modes, the one that explains most first."""
        return iter(self.modes)

    def __getitem__(self, index: int) -> Mode:
        """One mode."""
        return self.modes[index]

    @cached_property
    def source_modes(self) -> IntArray:
        """(c,) the mode of each source, -1 where it is in none."""
        found = np.full(len(self.pool.sources), -1)
        for k, mode in enumerate(self.modes):
            found[mode.sources] = k
        return found

    @cached_property
    def agreement(self) -> FloatArray:
        """(M, M) adjusted Rand index between the labels of the modes: what they share beyond chance."""
        found = np.eye(len(self))
        for a in range(len(self)):
            for b in range(a):
                found[a, b] = found[b, a] = ari(self[a].labels, self[b].labels)
        return found

    @cached_property
    def shared_groups(self) -> list[SharedGroup]:
        """Groups that two modes have in common: more elements in both than in one of them only, the largest first."""
        found = []
        for a in range(len(self)):
            for b in range(a + 1, len(self)):
                found += _in_common((a, b), self[a].labels, self[b].labels)
        return sorted(found, key=lambda one: -one.n_elements)

    @property
    def summary(self) -> str:
        """What was found, in a sentence or two."""
        n_sources, alone = len(self.pool.sources), int((self.source_modes < 0).sum())
        if not self.modes:
            return f"No mode: no two of the {n_sources} sources agree on more than chance explains."
        rest = ""
        if alone:
            rest = f" {alone} of {n_sources} sources agree" if alone > 1 else f" 1 of {n_sources} sources agrees"
            rest += " with no other."
        if len(self) == 1:
            share = f"They explain {self[0].explained:.0%} of what the sources say."
            return f"The sources form one camp: {counted(len(self[0]), 'group')}. {share}{rest}"
        each = "; ".join(
            f"mode {k}: {counted(mode.sources.size, 'source')}, {counted(len(mode), 'group')}, "
            f"{mode.explained:.0%} explained"
            for k, mode in enumerate(self)
        )
        return f"The sources form {len(self)} camps. {each[0].upper()}{each[1:]}.{rest}"

    def to_frame(self) -> pd.DataFrame:
        """Table of the sources: name, mode (-1 for none), and what each mode explains of it (needs pandas)."""
        pd = need("pandas", "tables")
        frame = pd.DataFrame({"source": [s.name for s in self.pool.sources], "mode": self.source_modes})
        return frame.assign(**{f"explained by mode {k}": self.explains[:, k] for k in range(len(self))})

    def to_html(self) -> str:
        """Small HTML table, the modes side by side, for notebooks and reports."""
        if not self.modes:
            return f"<p>{escape(self.summary)}</p>"
        lines = {
            "sources": [str(mode.sources.size) for mode in self],
            "groups": [str(len(mode)) for mode in self],
            "explained": [f"{mode.explained:.0%}" for mode in self],
            "sizes of groups": [", ".join(map(str, _sizes(mode)[:MOST_NAMES])) for mode in self],
            "which sources": [_names(self.pool, mode) for mode in self],
            "alike (ARI)": [
                ", ".join(f"mode {b}: {self.agreement[a, b]:.2f}" for b in range(len(self)) if b != a) or "–"
                for a in range(len(self))
            ],
        }
        head = "".join(f"<th>mode {k}</th>" for k in range(len(self)))
        body = "".join(
            f"<tr><th>{name}</th>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>"
            for name, cells in lines.items()
        )
        return f"<p>{escape(self.summary)}</p><table><tr><th></th>{head}</tr>{body}</table>"

    _repr_html_ = to_html

    def __repr__(self) -> str:
        """One line."""
        return (
            f"Modes({counted(len(self), 'mode')} of {counted(len(self.pool.sources), 'source')} and "
            f"{counted(self.pool.shape[0], 'element')})"
        )


@parameters("find_modes([a, b, c])", random_state=NOT_RANDOM, **fields_in(Search, "search"))
def find_modes(pool: Any, search: Search | None = None) -> Modes:
    """Find the camps among the sources of a pool, and one answer for each camp.

    Parameters
    ----------
    pool : Pool, or anything that `Pool.from_labels` takes
        The candidate groups, two sources or more.
    search : Search, optional
        Settings for the consensus of each mode.

    Returns
    -------
    Modes
        Each mode with its sources and their consensus. Sources that agree with no other are in no mode.

    Notes
    -----
    The number of modes is found, not given. It is the number with which the whole pool has the shortest description.
    The description holds the groups of each mode, and every source given the groups of its mode, or by itself if that
    is shorter. A coarse and a fine grouping of the same kind are one mode: if the groups of one mode save more than
    half of what another mode saves on its own sources, the two become one. If there are very many rows, a sample is
    used that depends only on their content.

    Examples
    --------
    >>> import biconsensus as bc
    >>> fine, coarse = [0] * 10 + [1] * 10 + [2] * 20, [0] * 20 + [1] * 20
    >>> print(bc.find_modes([fine, coarse, fine, coarse]).summary)
    The sources form one camp: 2 groups. They explain 81% of what the sources say.
    """
    return _modes_in(pool if isinstance(pool, Pool) else Pool.from_labels(pool), search, None)


def modes_of(consensus: Consensus) -> Modes:
    """The modes of the pool of a consensus, found once; where all sources are one camp, it is their consensus."""
    known: Modes | None = consensus.__dict__.get("_modes")
    if known is None:
        known = _modes_in(consensus.pool, Search.of_record(consensus.asked), consensus)
        consensus.__dict__["_modes"] = known
    return known


def _modes_in(own: Pool, search: Search | None, of_all: Consensus | None) -> Modes:
    """Modes of a pool, given the consensus of all its sources if it is known."""
    if len(own.sources) < 2:
        raise InputError("pool: it has 1 source; modes are camps of sources, so give two or more.")
    table = SourceTable.of(own)
    found: list[tuple[IntArray, Consensus]] = []
    for camp in find_camps(table):
        if camp.sources.size == len(own.sources):
            found.append((camp.sources, solve(own, search) if of_all is None else of_all))
        else:
            found.append((camp.sources, solve(own.select(sources=camp.sources), search)))
    first = first_of_rows(own)
    room = table.alone - table.between().diagonal()
    saved = np.zeros((len(own.sources), len(found)))
    for k, (_, consensus) in enumerate(found):
        saved[:, k] = table.alone - table.lengths(_with_rest(consensus.labels[first[table.rows]]))
    explains = np.clip(saved / np.maximum(room, 1e-300)[:, None], 0.0, 1.0)
    modes = tuple(
        Mode(sources, consensus, float(np.average(explains[sources, k], weights=np.maximum(room[sources], 1e-300))))
        for k, (sources, consensus) in enumerate(found)
    )
    return Modes(own, modes, explains)


def _with_rest(groups: IntArray) -> IntArray:
    """The groups, and one more for the rows that are in none."""
    return np.where(groups < 0, groups.max(initial=-1) + 1, groups)


def _in_common(modes: tuple[int, int], one: IntArray, other: IntArray) -> list[SharedGroup]:
    """Groups of two labellings that share more elements than they have apart."""
    both = np.flatnonzero((one >= 0) & (other >= 0))
    sizes = np.bincount(one[one >= 0]), np.bincount(other[other >= 0])
    shared = coo_array((np.ones(both.size), (one[both], other[both])), shape=(sizes[0].size, sizes[1].size))
    shared.sum_duplicates()
    likeness = shared.data / (sizes[0][shared.row] + sizes[1][shared.col] - shared.data)
    return [
        SharedGroup(modes, (int(shared.row[k]), int(shared.col[k])), int(shared.data[k]), float(likeness[k]))
        for k in np.flatnonzero(likeness > MOSTLY)
    ]


def _sizes(mode: Mode) -> list[int]:
    """Elements of the groups of a mode, in their order."""
    return [int(size) for size in np.bincount(mode.labels[mode.labels >= 0], minlength=len(mode))]


def _names(pool: Pool, mode: Mode) -> str:
    """Names of the first sources of a mode, and how many more there are."""
    named = [pool.sources[s].name for s in mode.sources[:MOST_NAMES]]
    more = mode.sources.size - len(named)
    return ", ".join(named) + (f" and {more} more" if more else "")
