"""The path of bi-cluster sizes: what was kept, and what would have come next without minimum sizes."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from biconsensus.errors import BiconsensusError, BiconsensusWarning
from biconsensus.plots._matrix import candidate_groups
from biconsensus.plots._numbers import group_numbers
from biconsensus.plots._overlaps import Overlaps

if TYPE_CHECKING:
    from biconsensus.result._consensus import Consensus

MOST_KEPT = 25
MOST_NEXT = 8
MOST_ROWS = 3000
"""Left-overs with more distinct rows or candidates than this are not searched: the page must stay quick to make."""


def size_path(consensus: Consensus, overlaps: Overlaps) -> dict[str, Any]:
    """Sizes of the groups and of the next blocks, with the minimum sizes."""
    numbers = group_numbers(consensus, overlaps)
    kept = [
        {
            "name": f"group {k}",
            "elements": int(numbers.sizes[k]),
            "sources": int(numbers.sources[k]),
            "group": k,
            "kept": True,
        }
        for k in range(min(len(consensus), MOST_KEPT))
    ]
    following, remark = next_blocks(consensus)
    settings = consensus.settings
    return {
        "rows": kept + following,
        "minElements": settings.get("min_elements"),
        "minCandidates": settings.get("min_candidates"),
        "note": _note(consensus, len(kept), remark),
    }


def _note(consensus: Consensus, shown: int, remark: str) -> str:
    """What the picture shows."""
    note = "Groups are kept while they have the minimum numbers of elements and of sources (dashed)."
    if shown < len(consensus):
        note += f" The first {shown} of {len(consensus):,} groups are drawn."
    return f"{note} {remark}"


def next_blocks(consensus: Consensus) -> tuple[list[dict[str, Any]], str]:
    """What would have come next if the minimum sizes were one: found among what no group has used."""
    pool = consensus.pool
    free = np.flatnonzero(candidate_groups(consensus) < 0)
    overlap = bool(consensus.settings.get("overlap"))
    left = np.arange(pool.shape[0]) if overlap else np.flatnonzero(np.diff(consensus.membership.indptr) == 0)
    if free.size == 0 or left.size == 0:
        return [], "Nothing is left that could form another group: the minimum sizes did not matter."
    if not pool.binary or free.size > MOST_ROWS or np.unique(pool.inverse[left]).size > MOST_ROWS:
        return [], "What is left over is too much to search for this page."
    from biconsensus import find_consensus

    quorum = consensus.settings.get("quorum")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", BiconsensusWarning)
            rest = find_consensus(
                pool.select(elements=left, candidates=free),
                min_elements=1,
                min_candidates=1,
                overlap=overlap,
                quorum=quorum if isinstance(quorum, float) else 0.5,
                method="greedy",
            )
    except BiconsensusError:
        return [], "Nothing is left that could form another group."
    return _next_rows(rest), "Grey bars would have come next if the minimum sizes were one."


def _next_rows(rest: Consensus) -> list[dict[str, Any]]:
    """Records of the blocks that come next."""
    numbers = group_numbers(rest)
    return [
        {
            "name": f"next {k + 1}",
            "elements": int(numbers.sizes[k]),
            "sources": int(numbers.sources[k]),
            "group": -1,
            "kept": False,
        }
        for k in range(min(len(rest), MOST_NEXT))
    ]
