"""From the blocks that were found to the consensus that a user holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from biconsensus.errors import InputError
from biconsensus.matrix._groups import Blocks, in_groups
from biconsensus.matrix._matrix import PreferenceMatrix
from biconsensus.methods._greedy import Extraction
from biconsensus.pool._pool import Pool
from biconsensus.protocols import Block, Evidence, FloatArray, IntArray
from biconsensus.quorum._path import QuorumPath, in_order
from biconsensus.result._consensus import Consensus
from biconsensus.result._path import PathTrace

UNSCALED_WEIGHTS = (2.0**-10, 2.0**30)
"""Largest weights that are used without scaling: products of two stay far from the ends of a float."""


@dataclass(frozen=True)
class Answer:
    """What a search found, and how it came to it."""

    problem: PreferenceMatrix
    found: Extraction
    quorum: Fraction
    method: str
    chosen_by: str
    """What decided how fine the groups are: "given", "n_groups", "pool", or the kind of evidence."""
    path: list[list[float]] = field(default_factory=list)
    """Quorum, number of groups and score of every point of the path, where there was one."""
    rows_searched: int | None = None
    """Distinct rows on which the path was searched: all of them, or a sample."""
    origin: str = ""
    """The grouping that was chosen, in plain words."""
    evidence: float | None = None
    alternatives: list[dict[str, Any]] = field(default_factory=list)
    traced: QuorumPath | None = None
    """The path that was searched, where the user may move on it."""
    path_evidence: tuple[float, ...] = ()
    """What the data says for each point of it."""


def assemble(
    given: Pool,
    joined: Pool,
    weights: FloatArray,
    answer: Answer,
    settings: dict[str, Any],
    power: int = 0,
    evidence: Evidence | None = None,
    asked: dict[str, Any] | None = None,
) -> Consensus:
    """Consensus over the pool as it was given, in the scale of its weights, each group with its significance.

    Parameters
    ----------
    given, joined : Pool
        The pool of the user, and the same with elements joined that must be together.
    weights : (n,) array
        Weights of the candidates.
    answer : Answer
        Blocks of `answer.problem`, whose weights are those here over ``2 ** power``.
    settings : dict
        What was asked for, resolved.
    power : int
        Power of two that was taken out of the weights.
    evidence : Evidence, optional
        What gives the groups their significance, and a place to elements that no candidate of any group holds.
    asked : dict, optional
        The settings that were given, as a file can hold them.

    Returns
    -------
    Consensus
    """
    problem, found = answer.problem, answer.found
    blocks = in_order(found.blocks)
    gains = blocks.gains if isinstance(blocks, Blocks) else np.array([block.gain for block in blocks], np.float64)
    loss = 2 * (1 - float(answer.quorum)) * problem.norm - 2 * float(gains.sum())
    with np.errstate(over="ignore"):
        gains, loss = np.ldexp(gains, power), float(np.ldexp(loss, power))
    if not (np.isfinite(loss) and np.isfinite(gains).all()):
        raise InputError(f"weights up to {weights.max():.3g} make gains that overflow; divide them all by that.")
    result = Consensus(
        pool=given,
        row_of=joined.inverse,
        members=_members(blocks, problem.shape[0]),
        candidates=_candidates(blocks, problem),
        gains=gains,
        objective=loss,
        settings={**settings, "chosen_by": answer.chosen_by},
        extraction=_account(answer),
        weights=np.ldexp(_used_weights(np.ldexp(weights, -power), problem), power),
        row_labels=blocks.row_labels if isinstance(blocks, Blocks) else None,
        asked=asked or {},
    )
    if evidence is not None:
        result = _with_evidence(result, evidence)
    path = answer.traced
    if path is None:
        return result
    on_path = np.ldexp(_used_weights(np.ldexp(weights, -power), path.weighted(path.points[0])), power)
    trace = PathTrace(
        path=path,
        row_of=joined.inverse,
        power=power,
        weights=on_path,
        unassigned=settings["unassigned"],
        evidence=evidence,
        of_grouping=answer.path_evidence,
        chosen=answer.quorum,
    )
    return replace(result, trace=trace)


def assemble_groups(
    pool: Pool,
    members: csr_array,
    labels: IntArray,
    candidates: list[IntArray],
    evidence: FloatArray,
    settings: dict[str, Any],
) -> Consensus:
    """Consensus of groups whose elements are not rows of a matrix, such as those of models that were fitted again.

    Parameters
    ----------
    pool : Pool
        The candidates.
    members : (m, t) sparse bool array
        Elements of each group.
    labels : (m,) int array
        The group of each element, -1 for none.
    candidates : list of t int arrays
        Candidates behind each group.
    evidence : (t,) array
        Significance of each group.
    settings : dict
        What a consensus says of itself beside the kind of evidence; groups are those of a majority.

    Returns
    -------
    Consensus
    """
    inside = [
        np.bincount(pool.inverse, _column(members, t), minlength=pool.rows.shape[0]) for t in range(len(candidates))
    ]
    votes = [(own @ pool.rows[:, columns]).sum() for own, columns in zip(inside, candidates)]
    halves = [own.sum() * len(columns) / 2 for own, columns in zip(inside, candidates)]
    gains = np.array(votes, np.float64) - np.array(halves, np.float64)
    return Consensus(
        pool=pool,
        row_of=np.arange(members.shape[0]),
        members=members,
        candidates=tuple(candidates),
        gains=gains,
        objective=float(pool.sizes.sum() - 2 * gains.sum()),
        settings={"quorum": 0.5, "overlap": True, "unassigned": "leave", **settings},
        evidence=evidence,
        placed=labels,
    )


def _column(members: csr_array, t: int) -> FloatArray:
    """(m,) ones for the elements of one group."""
    return np.asarray(members[:, [t]].todense(), np.float64).ravel()


def _with_evidence(result: Consensus, evidence: Evidence) -> Consensus:
    """The same consensus with left-overs that only the data can place, and with the significance of every group."""
    labels = result.labels
    if result.settings["unassigned"] == "nearest" and (labels < 0).any() and len(result):
        placed = evidence.place(labels)
        if not np.array_equal(placed, labels):
            result = replace(result, placed=placed)
    return replace(
        result, evidence=result._significance_by(evidence), settings={**result.settings, "evidence": evidence.kind}
    )


def unit_power(weights: FloatArray, keep_smallest: bool = True) -> int:
    """Power of two that brings extreme weights near 1, so that products stay finite; 0 for ordinary ones.

    Where weights differ by hundreds of orders of magnitude, either the smallest must not vanish, or squares of the
    largest must stay finite.
    """
    top = float(weights.max(initial=0.0))
    if top == 0 or UNSCALED_WEIGHTS[0] <= top <= UNSCALED_WEIGHTS[1]:
        return 0
    if not keep_smallest:
        return int(np.frexp(top)[1])
    most = int(np.frexp(weights[weights > 0].min())[1]) - np.finfo(np.float64).minexp
    return min(int(np.frexp(top)[1]), most)


def _candidates(blocks: Sequence[Block], problem: PreferenceMatrix) -> tuple[IntArray, ...]:
    """Candidates behind each group, in their order."""
    if not isinstance(blocks, Blocks):
        return tuple(np.flatnonzero(block.columns[problem.members]) for block in blocks)
    group = blocks.columns[problem.members]
    order = np.argsort(group, kind="stable")
    return tuple(np.split(order, np.searchsorted(group[order], np.arange(len(blocks) + 1)))[1:-1])


def _members(blocks: Sequence[Block], n_rows: int) -> csr_array:
    """(r, T) bool: the groups of each row; never dense, because there may be very many of both."""
    if isinstance(blocks, Blocks):
        return in_groups(blocks.rows, np.ones(n_rows, bool), len(blocks))
    rows = [np.flatnonzero(block.rows) for block in blocks]
    groups = np.repeat(np.arange(len(blocks)), [own.size for own in rows])
    inside = np.concatenate([np.zeros(0, np.int64), *rows])
    return csr_array((np.ones(inside.size, bool), (inside, groups)), shape=(n_rows, len(blocks)))


def _used_weights(weights: FloatArray, problem: PreferenceMatrix) -> FloatArray:
    """(n,) weight of each candidate in the search: its share of the weight of its column."""
    total = np.bincount(problem.members, weights, minlength=problem.shape[1])
    scale = np.divide(problem.weights, total, out=np.zeros_like(problem.weights), where=total > 0)
    return np.asarray(weights * scale[problem.members])


def _account(answer: Answer) -> dict[str, Any]:
    """How the search went, in plain numbers."""
    account: dict[str, Any] = {}
    found, problem = answer.found, answer.problem
    if found.discarded is not None:
        rows, columns = found.discarded.rows, found.discarded.columns
        account["discarded"] = [problem.n_elements(rows), int(columns[problem.members].sum())]
    if found.path is not None:
        account["description_lengths"] = found.path.tolist()
    if answer.path:
        account["path"] = answer.path
    if answer.rows_searched is not None:
        account["rows_searched"] = answer.rows_searched
    if answer.origin:
        account["origin"] = answer.origin
    if answer.evidence is not None:
        account["evidence"] = answer.evidence
    if answer.alternatives:
        account["alternatives"] = answer.alternatives
    n_silent = int((problem.weights <= 0)[problem.members].sum())
    if n_silent:
        account["silent"] = n_silent
    return account
