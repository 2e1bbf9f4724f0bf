"""The consensus of a pool of communities: what is left to the network where the user says nothing."""

from __future__ import annotations

from typing import Any

from biconsensus.communities._graph import place_with_neighbours, with_labels
from biconsensus.communities._pool import smallest_group, typical_votes
from biconsensus.communities._quorum import likeliest_quorum
from biconsensus.find import find_consensus
from biconsensus.graphs._graph import Graph
from biconsensus.pool._pool import Pool
from biconsensus.result._consensus import Consensus


def agree(
    graph: Graph,
    pool: Pool,
    *,
    quorum: Any,
    method: str,
    min_elements: int | None,
    min_candidates: int | None,
    overlap: bool,
    together: list[list[int]] | None,
    unassigned: str,
    n_groups: int | None,
    n_jobs: int | None,
) -> Consensus:
    """Consensus of a pool, with left-over nodes placed as asked; parameters as in `ConsensusCommunities`."""
    overlap = bool(overlap)
    elements = smallest_group(pool) if min_elements is None else min_elements
    votes = min(4, typical_votes(pool)) if min_candidates is None else min_candidates
    if n_groups is not None and quorum == 0.5:
        quorum = "auto"
    if quorum == "auto" and n_groups is None and not overlap:
        quorum = likeliest_quorum(graph, pool, elements, votes)
    found = find_consensus(
        pool,
        min_elements=elements,
        min_candidates=votes,
        overlap=overlap,
        quorum=quorum,
        method=("greedy" if overlap else "joint") if method == "auto" else method,
        together=together,
        unassigned="nearest" if unassigned == "nearest" else "leave",
        n_groups=n_groups,
        n_jobs=n_jobs,
    )
    if unassigned != "neighbours" or overlap or len(found) == 0:
        return found
    return with_labels(found, place_with_neighbours(graph, found.labels))
