"""The elements and candidates of the page as plain values: a sample of elements where they are many."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from biconsensus.pool._pool import Pool
from biconsensus.protocols import BoolArray, IntArray
from biconsensus.report._encode import packed, packed_shares, plain

if TYPE_CHECKING:
    from biconsensus.result._consensus import Consensus

MOST_ELEMENTS = 5000
"""Elements that a page lists: a browser searches them at once."""
MOST_ENTRIES = 200_000
"""Memberships of these elements that a page holds: half a megabyte."""
MOST_CANDIDATES = 3000
"""Candidates that have a name on the page."""


@dataclass(frozen=True, eq=False)
class Sample:
    """The elements on the page."""

    elements: IntArray
    """(k,) indices, rising."""
    even: BoolArray
    """(k,) those that stand for all elements; the others are there because they are the least certain."""
    total: int
    whole_pool: Pool

    @classmethod
    def of(cls, consensus: Consensus) -> Sample:
        """All elements, or half of them the least certain and half at even distances."""
        m = consensus.labels.size
        even = even_sample(m, MOST_ELEMENTS if m <= MOST_ELEMENTS else MOST_ELEMENTS // 2)
        chosen = even if m <= MOST_ELEMENTS else np.union1d(first_unsure(consensus, MOST_ELEMENTS // 2), even)
        return cls(chosen, np.isin(chosen, even, assume_unique=True), m, consensus.pool)

    @property
    def whole(self) -> bool:
        """Whether all elements are on the page."""
        return self.elements.size == self.total

    @cached_property
    def pool(self) -> Pool:
        """The pool of the elements on the page."""
        return self.whole_pool if self.whole else self.whole_pool.select(elements=self.elements)

    @cached_property
    def even_pool(self) -> Pool:
        """The pool of the elements that stand for all."""
        return self.whole_pool if self.whole else self.whole_pool.select(elements=self.elements[self.even])


def even_sample(m: int, size: int) -> IntArray:
    """Elements at even distances, all of them where they are few."""
    return np.arange(m) if m <= size else np.unique(np.linspace(0, m - 1, size).astype(np.int64))


def first_unsure(consensus: Consensus, size: int) -> IntArray:
    """Elements in no group, then those of the smallest confidence (of the smallest backing where groups overlap)."""
    labels = consensus.labels
    outside = np.flatnonzero(labels < 0)
    if outside.size >= size:
        return outside[even_sample(outside.size, size)]
    overlap = bool(consensus.settings.get("overlap")) or len(consensus) == 0
    sure = consensus.backing if overlap else consensus.confidence().elements
    inside = np.flatnonzero(labels >= 0)
    wanted = min(size - outside.size, inside.size)
    least = inside[np.argpartition(sure[inside], wanted - 1)[:wanted]] if wanted else inside[:0]
    return np.sort(np.concatenate([outside, least]))


def element_data(consensus: Consensus, sample: Sample) -> dict[str, Any]:
    """Names of the elements on the page, and what the page says of the sample."""
    note = "All elements; those in no group and the least certain first."
    if not sample.whole:
        note = (
            f"A sample: {sample.elements.size:,} of {sample.total:,} elements, the {MOST_ELEMENTS // 2:,} least "
            f"certain and {int(sample.even.sum()):,} at even distances. Sizes of groups count all elements."
        )
    return {
        "note": note,
        "total": sample.total,
        "ids": element_names(consensus.pool, sample.elements),
        "even": packed(sample.even),
        **membership_data(consensus, sample),
    }


def element_names(pool: Pool, elements: IntArray) -> list[str]:
    """The user's names of some elements, or their numbers."""
    return [str(value) for value in (elements if pool.ids is None else pool.ids[elements])]


def membership_data(consensus: Consensus, sample: Sample) -> dict[str, Any]:
    """Who put each element where: its candidates, and the sources that did not see it."""
    pool = consensus.pool
    lengths = np.diff(pool.rows.indptr)[pool.inverse[sample.elements]]
    # the elements that stand for all come first where not all memberships fit
    order = np.argsort(~sample.even, kind="stable")
    fits = np.cumsum(lengths[order]) <= MOST_ENTRIES
    known = np.zeros(sample.elements.size, bool)
    if fits.all():
        known[:] = True
    else:
        step = int(np.ceil(lengths.sum() / MOST_ENTRIES))
        known[::step] = True
    rows = pool.rows[pool.inverse[sample.elements[known]]]
    rows.sort_indices()
    data: dict[str, Any] = {
        "known": None if known.all() else packed(known),
        "heldCounts": packed(np.diff(rows.indptr)),
        "held": packed(rows.indices),
        "values": None
        if pool.binary
        else packed_shares(rows.data / max(float(pool.rows.data.max(initial=1.0)), 1e-300)),
        "unseenCounts": None,
        "unseen": None,
    }
    if pool.unseen is not None and pool.mask_of is not None:
        masked = pool.unseen[pool.inverse[sample.elements[known]]]
        data |= {"unseenCounts": packed(np.diff(masked.indptr)), "unseen": packed(masked.indices)}
    return data


def candidate_data(consensus: Consensus) -> dict[str, Any]:
    """Source, size and name of each candidate."""
    pool = consensus.pool
    named = pool.shape[1] <= MOST_CANDIDATES
    return {
        "source": packed(pool.source_of),
        "sizes": packed(pool.sizes.astype(np.int64)),
        "names": list(pool.names) if named else None,
        "viewOfSource": packed(pool.mask_of_source),
        "sourceNames": [str(source.name) for source in pool.sources],
    }


def extra_columns(consensus: Consensus, extra: dict[str, list[Any]]) -> dict[str, Any]:
    """Further columns of the table of groups, for the answer itself."""
    return {
        "names": list(extra),
        "rows": [[plain(column[k]) for column in extra.values()] for k in range(len(consensus))],
    }
