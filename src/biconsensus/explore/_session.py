"""Saving a session: a consensus over all sources, with the choices and the data that belong to it beside it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from biconsensus.explore._choices import Choices
from biconsensus.explore._subject import AVERAGED, SESSION, Subject
from biconsensus.protocols import IntArray
from biconsensus.result._consensus import Consensus
from biconsensus.result._path import ConsensusPath
from biconsensus.result._storage import save


def on_all_sources(answer: Consensus, subject: Subject, choices: Choices) -> Consensus:
    """The answer of the sources that vote, as one over the pool of all sources: the same groups, labels and backing."""
    pool = subject.pool
    if answer.pool is pool:
        return answer
    kept = choices.candidates(pool)
    weights = np.zeros(pool.shape[1])
    weights[kept] = answer.pool.weights if answer.weights is None else answer.weights
    candidates = tuple(kept[own] for own in answer.candidates)
    path = None if answer.path is None else _path_on_all(answer.path, kept, pool.shape[1])
    return replace(answer, pool=pool, weights=weights, candidates=candidates, trace=path)


def _path_on_all(path: ConsensusPath, kept: IntArray, n_candidates: int) -> ConsensusPath:
    """The same path with the candidates that did not vote behind no group."""
    weights = np.zeros(n_candidates)
    weights[kept] = path.weights
    points = []
    for point in path.points:
        columns = np.full(n_candidates, -1, point.columns.dtype)
        columns[kept] = point.columns
        points.append(replace(point, columns=columns))
    return ConsensusPath(tuple(points), weights)


def save_session(path: Path, subject: Subject, choices: Choices, answer: Consensus) -> None:
    """Write a session as a whole or not at all; `Consensus.load` and `inspect` read its answer too."""
    found = on_all_sources(answer, subject, choices)
    session = {**choices.to_json(), "name": subject.name, "kind": subject.kind, "decided": subject.decided}
    session["settings"] = dict(subject.settings)
    save(found, path, {SESSION: np.array(json.dumps(session)), **_beside(subject)})


def _beside(subject: Subject) -> dict[str, NDArray[Any]]:
    """What is known of the elements beyond the pool."""
    arrays: dict[str, NDArray[Any]] = {}
    if subject.truth is not None:
        arrays["truth"] = subject.truth
    if subject.X is not None:
        arrays["X"] = subject.X
    if subject.graph is not None:
        graph = csr_array(subject.graph)
        arrays |= {f"graph.{part}": getattr(graph, part) for part in ("data", "indices", "indptr")}
    known: dict[bytes, float] = getattr(subject.evidence, "_averaged", {})
    if known:
        arrays[AVERAGED] = np.array([[value, *np.frombuffer(groups, np.int64)] for groups, value in known.items()])
    return arrays
