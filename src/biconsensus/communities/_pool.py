"""From base results on networks to one pool over all nodes."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biconsensus import metrics
from biconsensus.errors import InputError, UnknownNameError
from biconsensus.graphs._graph import Graph
from biconsensus.pool._build import Provenance
from biconsensus.pool._pool import Pool
from biconsensus.protocols import BoolArray, FloatArray, IntArray
from biconsensus.sources._running import SourceResult

UNSEEN = -2
"""Code of nodes that a run did not see."""
SHARPNESS = 5.0
"""How fast weights fall with modularity; the paper asks for a smooth increasing function and does not say which."""


@dataclass(frozen=True)
class View:
    """What one base run looked at: a network, and where its nodes stand among all."""

    graph: Graph
    places: IntArray
    votes: BoolArray | None = None
    """(m',) the nodes of the network whose labels count; all where it is None."""

    def counted(self) -> BoolArray:
        """(m',) the nodes of the network whose labels count."""
        return np.ones(self.places.size, bool) if self.votes is None else self.votes


def pool_of(results: Sequence[SourceResult], views: Sequence[View], names: Sequence[Hashable], weights: Any) -> Pool:
    """Pool of the runs that gave a result; nodes that a run did not see do not vote in it.

    Parameters
    ----------
    results, views : sequences of the same length
        Base runs, and what each looked at.
    names : sequence of m hashables
        All nodes.
    weights : {"uniform", "modularity"}, callable or None
        Rule for the weight of a run; a callable takes the graph and the labels or memberships. None: all the same.
    """
    done = [(result, view) for result, view in zip(results, views) if result.ok]
    flat = [(r, v) for r, v in done if r.labels is not None and r.labels.ndim == 1]
    cover = [(r, v) for r, v in done if r.labels is not None and r.labels.ndim == 2 and r.labels.shape[1]]
    values = _weights(weights, flat + cover)
    parts: list[Pool] = []
    if any((r.labels >= 0).any() for r, _ in flat if r.labels is not None):
        parts.append(_from_partitions(flat, len(names), values[: len(flat)]))
    if cover:
        parts.append(_from_covers(cover, len(names), values[len(flat) :]))
    if not parts:
        raise InputError("graph: no base run put any node into a community; has the network edges?")
    pool = parts[0] if len(parts) == 1 else parts[0] + parts[1]
    return replace(pool, ids=_ids(names))


def _ids(names: Sequence[Hashable]) -> NDArray[Any]:
    """(m,) names as a plain array: numbers or strings stay, anything else is written out."""
    plain = all(isinstance(name, str) for name in names) or all(type(name) is int for name in names)
    return np.array(list(names) if plain else [str(name) for name in names])


def _provenance(result: SourceResult) -> Provenance:
    """Name, parameters and seed of a run."""
    return Provenance(result.name, dict(result.params), result.seed)


def _from_partitions(runs: Sequence[tuple[SourceResult, View]], m: int, weights: FloatArray) -> Pool:
    """Pool of runs that put every node into one community at most."""
    table = np.full((m, len(runs)), UNSEEN, dtype=np.int64)
    for k, (result, view) in enumerate(runs):
        counted = view.counted()
        table[view.places[counted], k] = np.asarray(result.labels)[counted]
    sources = [_provenance(result) for result, _ in runs]
    return Pool.from_labels(table, weights=weights, missing=UNSEEN, sources=sources)


def _from_covers(runs: Sequence[tuple[SourceResult, View]], m: int, weights: FloatArray) -> Pool:
    """Pool of runs whose communities may overlap."""
    groups, source_of, names = [], [], []
    for k, (result, view) in enumerate(runs):
        held = np.asarray(result.labels) * view.counted()[:, None]
        groups += [view.places[np.flatnonzero(column)] for column in held.T]
        source_of += [k] * held.shape[1]
        names += [f"{result.name}: {g}" for g in range(held.shape[1])]
    seen = None if all(v.counted().sum() == m for _, v in runs) else [v.places[v.counted()] for _, v in runs]
    pool = Pool.from_groups(groups, m, weights[np.array(source_of)], names, source_of, seen)
    return replace(pool, sources=tuple(_provenance(result) for result, _ in runs))


def _weights(rule: Any, runs: Sequence[tuple[SourceResult, View]]) -> FloatArray:
    """(c,) weight of each run."""
    if callable(rule):
        return np.array([float(rule(view.graph, result.labels)) for result, view in runs])
    if isinstance(rule, str) and rule not in WEIGHT_RULES:
        raise UnknownNameError.of("weights", rule, WEIGHT_RULES)
    return WEIGHT_RULES[rule](runs) if isinstance(rule, str) else np.ones(len(runs))


def _uniform(runs: Sequence[tuple[SourceResult, View]]) -> FloatArray:
    """Every run counts the same."""
    return np.ones(len(runs))


def _by_modularity(runs: Sequence[tuple[SourceResult, View]]) -> FloatArray:
    """exp(5 (Q - max Q)) with Q the modularity of the run; a cover counts by the first community of each node."""
    quality = [metrics.modularity(view.graph.adjacency, first_groups(np.asarray(r.labels))) for r, view in runs]
    return np.exp(SHARPNESS * (np.array(quality) - max(quality)))


def first_groups(held: IntArray) -> IntArray:
    """(m,) labels of a partition, unchanged; of memberships (m, g), the first community of each node."""
    if held.ndim == 1:
        return held
    return np.where(held.any(axis=1), held.argmax(axis=1), -1).astype(np.int64)


WEIGHT_RULES: dict[str, Callable[[Sequence[tuple[SourceResult, View]]], FloatArray]] = {
    "uniform": _uniform,
    "modularity": _by_modularity,
}
