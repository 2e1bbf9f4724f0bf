"""Would more runs change the answer? Answers of fewer of the runs, compared with that of all of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from biconsensus.errors import BiconsensusWarning, InputError
from biconsensus.find import Search, solve
from biconsensus.matrix._condensed import Colours
from biconsensus.matrix._matrix import PreferenceMatrix
from biconsensus.metrics import ari
from biconsensus.pool._pool import Pool
from biconsensus.protocols import FloatArray, IntArray
from biconsensus.result._consensus import Consensus

PARTS = (8, 4, 2)
"""Into how many parts the sources are divided for the points of the curve."""
STAYS = 0.98
"""Adjusted Rand index from which an answer counts as the same: of a hundred elements about one changes."""
FEWEST = 2
"""Sources that a part must have: with one there is nothing to agree on."""


@dataclass(frozen=True, eq=False)
class Convergence:
    """Whether more runs would change the answer, and the curve behind it. It is true where they would not.

    Examples
    --------
    >>> import biconsensus as bc
    >>> found = bc.find_consensus([[0] * 8 + [1] * 8] * 8).converged
    >>> bool(found), found.n_sources, found.agreement
    (True, array([2, 4, 8]), array([1., 1., 1.]))
    """

    n_sources: IntArray
    """(p,) sources of a part, rising; the last is all of them."""
    agreement: FloatArray
    """(p,) mean adjusted Rand index between the answers of disjoint parts of that size and the answer of all."""
    expected: float
    """Agreement to expect, at least, between this answer and one with four times the runs; NaN where it cannot be
    told."""

    def __bool__(self) -> bool:
        """Whether the answer would stay as it is."""
        return self.expected >= STAYS

    @property
    def summary(self) -> str:
        """The same in a sentence."""
        if np.isnan(self.expected):
            return f"Not known: {self.n_sources[-1]} sources are too few to compare parts of them; add runs."
        more = "more runs would change little" if self else "more runs would still change the answer"
        return (
            f"With four times the {self.n_sources[-1]} sources, an answer that agrees with this one with an ARI of "
            f"{self.expected:.3f} is to be expected: {more}."
        )


def convergence(consensus: Consensus) -> Convergence:
    """How far the answer has settled with the sources that there are.

    Parameters
    ----------
    consensus : Consensus
        With disjoint groups.

    Returns
    -------
    Convergence

    Notes
    -----
    The sources are put into an order by their content, so that the order in which they came does not matter, and dealt
    out to parts like cards. Where the number of groups was decided by data beyond the pool, parts and whole are
    compared at that number. An answer of all sources relates to one with four times as many as the answer of a quarter
    relates to it, only that it rests on more: so what the worst of the quarters and halves lacks is the most that it is
    expected to lack. The worst and not the mean, since nearly every pool is to keep what is promised; that the answer
    of all will lack less is not counted on, because a curve of three points does not tell how much.
    """
    if consensus.settings.get("overlap"):
        raise InputError("consensus: its groups may overlap; convergence is measured for disjoint groups.")
    before = consensus if consensus.unanswered is None else consensus.unanswered
    pool, search = before.pool, _search(before)
    labels = before.labels if before.settings.get("evidence") is None else _labels(pool, search)
    order = content_order(pool)
    sizes, agreement, least = [], [], []
    for parts in PARTS:
        if order.size // parts < FEWEST:
            continue
        scores = [ari(labels, _labels(pool.select(sources=part), search)) for part in _dealt(order, parts)]
        sizes.append(order.size // parts)
        agreement.append(float(np.mean(scores)))
        least.append(min(scores))
    expected = min(least[-2:]) if len(least) > 1 else float("nan")
    return Convergence(np.array([*sizes, order.size]), np.array([*agreement, 1.0]), expected)


def _search(consensus: Consensus) -> Search:
    """Settings of the search; what the data decided stays decided."""
    search = Search.of_record(consensus.asked)
    if consensus.settings.get("evidence") is None or search.quorum != "auto":
        return search
    return replace(search, n_groups=max(len(consensus), 1))


def _labels(pool: Pool, search: Search) -> IntArray:
    """Labels of the consensus of some of the sources; what warns of few sources is known here."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BiconsensusWarning)
        return solve(pool, search).labels


def content_order(pool: Pool) -> IntArray:
    """Sources in an order that depends on what they say alone."""
    colours = Colours(PreferenceMatrix.from_pool(pool))
    colours.spread()
    return colours.order_of_sources()


def _dealt(order: IntArray, parts: int) -> Iterator[IntArray]:
    """Disjoint parts of the sources."""
    for part in range(parts):
        yield np.sort(order[part::parts])
