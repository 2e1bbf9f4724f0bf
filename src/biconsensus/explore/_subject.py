"""What is explored: a pool with all its sources, where it came from, and what is known of its elements beyond it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from biconsensus._checks import check_columns_are_numbers
from biconsensus._words import counted
from biconsensus.errors import FileFormatError
from biconsensus.explore._doubts import grouping_doubt, named_ends, network_doubt, network_line, unit_doubt
from biconsensus.pool._pool import Pool
from biconsensus.pool.io._arrays import PACKED
from biconsensus.pool.io._doubts import fractions_in, label_doubts
from biconsensus.pool.io._roles import FEATURES, Reading
from biconsensus.pool.io._tables import READERS as TABLES
from biconsensus.pool.io._tables import LabelTable, label_table, point_table, text_columns, true_groups
from biconsensus.protocols import Evidence, FloatArray, IntArray, Progress, silent
from biconsensus.result._consensus import Consensus
from biconsensus.result._path import PathTrace
from biconsensus.result._storage import load_more

GROUPINGS, POINTS, NETWORK, RESULT = "groupings", "points", "network", "result"
"""Kinds of input: a table of groupings, a table of numbers to cluster, a network, a consensus that is there already."""
NETWORKS = (
    ".gml",
    ".graphml",
    ".gexf",
    ".net",
    ".pajek",
    ".mtx",
    ".metis",
    ".graph",
    ".edges",
    ".edgelist",
    ".adjlist",
)
"""Endings that only networks have; those that tables have too are networks where somebody says so."""
RESULTS = (".bic",)
AVERAGED = "averaged"
"""Name of the array with what a network said of groupings that it had proposed: value, then groups, a row each."""
SESSION = "session"
"""Name of the array beside a saved consensus that holds the choices of a session, as JSON."""
SEED = 0
"""Seed of base runs: that of the command line, so that both give the same answer."""


@dataclass(frozen=True, eq=False)
class Subject:
    """One input, read."""

    name: str
    """For people: the name of the file."""
    kind: str
    pool: Pool
    truth: IntArray | None = None
    """(m,) true groups, for scores only."""
    X: FloatArray | None = None
    graph: Any = None
    evidence: Evidence | None = None
    decided: str = ""
    """What was taken as what, in one line."""
    notes: tuple[str, ...] = ()
    columns: Mapping[str, str] = field(default_factory=dict)
    """Columns of the file and what each was taken as."""
    reading: Reading = field(default_factory=Reading)
    """What was said about the table."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Settings of the search that this kind of input has by itself."""
    given: Consensus | None = None
    """The answer as it was handed over."""
    session: Mapping[str, Any] | None = None
    """Choices of a session that was saved."""


def open_file(path: Path, name: str, kind: str | None, reading: Reading, progress: Progress = silent) -> Subject:
    """Read a file by its ending; of tables and networks without groupings, make the base results.

    Parameters
    ----------
    path : Path
        The file.
    name : str
        What people call it.
    kind : str, optional
        One of the four kinds; by default the ending decides, and for tables the numbers in them.
    reading : Reading
        What was said about the columns.
    progress : callable
        Told how far the base results are.

    Returns
    -------
    Subject
    """
    ending = form_of(path)
    if kind is None:
        kind = RESULT if ending in RESULTS else NETWORK if ending in NETWORKS else None
    if kind == RESULT:
        return open_result(path, name)
    if kind == NETWORK:
        return _network(path, name, (), progress)
    check_ending(path, name)
    if kind == POINTS:
        return _points(path, name, reading, (), progress)
    if kind is None and (ends := named_ends(path)):
        called = " and ".join(ends)
        note = f"read as a network, because its columns are called {called}; --kind groupings decides otherwise"
        return _network(path, name, (note,), progress)
    table = label_table(path, replace(reading, key="labels"))
    if kind is None and reading.columns is None and (measured := _measurements(table)):
        shown = ", ".join(map(repr, measured[:3]))
        note = f"read as numbers to cluster, because of fractions in {shown}; choose groupings if they are labels"
        return _points(path, name, reading, (note,), progress)
    return Subject(
        name=name,
        kind=GROUPINGS,
        pool=Pool.from_labels(table),
        truth=true_groups(table.truth),
        decided=_without_folder(table.decided, path, name),
        notes=(*table.notes, *label_doubts(table.columns, table.ids)),
        columns=table.roles,
        reading=reading,
    )


def check_ending(path: Path, name: str) -> None:
    """An error with the endings that can be opened, where a file has another one.

    Parameters
    ----------
    path : Path
        The file.
    name : str
        What people call it.
    """
    packed, form = path.suffix.lower(), form_of(path)
    known = (*TABLES, *NETWORKS, *RESULTS)
    if packed in PACKED:
        known = ("", *TABLES, *NETWORKS) if packed == ".gz" else ("", *TABLES)
    if form not in known:
        allowed = ", ".join([*TABLES, *NETWORKS, *RESULTS])
        raise FileFormatError(
            f"{name}: unknown ending {form or packed!r}; allowed are {allowed}, and tables packed as "
            f"{', '.join(PACKED)}."
        )


def form_of(path: Path) -> str:
    """The ending that tells the form of a file: the last, or that before the ending of a packed one."""
    ending = path.suffix.lower()
    return Path(path.stem).suffix.lower() if ending in PACKED else ending


def _measurements(table: LabelTable) -> list[str]:
    """Columns of a table that hold fractions, where most of them do, also of those that were left out for it."""
    found = [*table.measured, *fractions_in(table.columns)]
    return found if 2 * len(found) > len(table.columns) + len(table.measured) else []


def _points(path: Path, name: str, reading: Reading, notes: Sequence[str], progress: Progress) -> Subject:
    """Cluster a table of numbers many times."""
    from biconsensus.clustering._estimator import ConsensusClustering
    from biconsensus.pool._labels import exact_array
    from biconsensus.sources._running import Runs

    reading = replace(reading, key="X")
    if reading.columns is None and (texts := text_columns(path, reading)):
        reading = replace(reading, drop=[*reading.drop, *texts])
        notes = (*notes, f"left out because they hold text: {', '.join(map(repr, texts))}")
    table = point_table(path, reading, FEATURES)
    estimator = ConsensusClustering(runs=Runs(progress=progress), random_state=SEED).fit(table.X)
    ids = None if table.ids is None else exact_array(table.ids)
    return Subject(
        name=name,
        kind=POINTS,
        pool=_with_ids(estimator.pool_, ids),
        truth=true_groups(table.truth),
        X=table.X,
        evidence=_evidence_behind(estimator.consensus_),
        decided=_without_folder(table.decided, path, name),
        notes=(*table.notes, *notes, *filter(None, [grouping_doubt(table.X), unit_doubt(table.X, table.names)])),
        columns=table.roles,
        reading=reading,
    )


def _network(path: Path, name: str, notes: Sequence[str], progress: Progress) -> Subject:
    """Find communities of a network many times."""
    from biconsensus.communities._estimator import ConsensusCommunities
    from biconsensus.graphs import read_graph
    from biconsensus.pool._labels import exact_array
    from biconsensus.sources._running import Runs

    graph = read_graph(path)
    estimator = ConsensusCommunities(runs=Runs(progress=progress), random_state=SEED).fit(graph)
    return Subject(
        name=name,
        kind=NETWORK,
        pool=_with_ids(estimator.pool_, exact_array(graph.names)),
        graph=graph.adjacency,
        evidence=_evidence_behind(estimator.consensus_),
        decided=network_line(name, graph),
        notes=(*notes, *filter(None, [network_doubt(graph)])),
        settings={"min_elements": estimator.consensus_.settings["min_elements"]},
    )


def of_result(given: Consensus, name: str, X: Any = None, graph: Any = None, truth: Any = None) -> Subject:
    """A consensus that is there already, or a session that was saved."""
    if X is not None:
        check_columns_are_numbers(X)
    return Subject(
        name=name,
        kind=RESULT,
        pool=given.pool,
        truth=None if truth is None else true_groups(np.asarray(truth)),
        X=None if X is None else np.asarray(X, dtype=np.float64),
        graph=graph,
        decided=f"{name}: a consensus of {counted(len(given.pool.sources), 'source')}.",
        given=given,
    )


def _with_ids(pool: Pool, ids: Any) -> Pool:
    """The pool with the names of its elements."""
    return pool if ids is None or pool.ids is not None else replace(pool, ids=ids)


def _without_folder(decided: str, path: Path, name: str) -> str:
    """The line with the name that people know, not that of a temporary file."""
    return decided.replace(str(path), name, 1)


def open_result(path: Path, name: str) -> Subject:
    """A saved consensus, or a session with everything that was saved beside it."""
    given, beside = load_more(path)
    if SESSION not in beside:
        return of_result(given, name)
    session = json.loads(str(beside[SESSION]))
    if not isinstance(session, dict):
        raise FileFormatError(f"{name}: its choices cannot be read; inspect shows its answer.")
    m = given.pool.shape[0]
    for part in ("X", "truth"):
        if part in beside and len(beside[part]) != m:
            raise FileFormatError(
                f"{name}: its {part} has {counted(len(beside[part]), 'row')} for {counted(m, 'element')}."
            )
    subject = of_result(given, name, beside.get("X"), _graph(beside, m), beside.get("truth"))
    return replace(
        subject,
        session=session,
        decided=str(session.get("decided", subject.decided)),
        settings={key: value for key, value in dict(session.get("settings", {})).items() if key == "min_elements"},
        evidence=_evidence_again(str(session.get("kind")), subject.X, subject.graph, beside.get(AVERAGED)),
    )


def _graph(beside: Mapping[str, NDArray[Any]], m: int) -> csr_array | None:
    """The network that was saved."""
    if "graph.data" not in beside:
        return None
    parts = tuple(beside[f"graph.{part}"] for part in ("data", "indices", "indptr"))
    found = csr_array(parts, shape=(m, m))
    found.check_format()
    return found


def _evidence_behind(found: Consensus) -> Evidence | None:
    """What the estimator knew beyond the pool, which its consensus keeps with the path."""
    return found.trace.evidence if isinstance(found.trace, PathTrace) else None


def _evidence_again(kind: str, X: FloatArray | None, graph: Any, averaged: Any) -> Evidence | None:
    """What the data beyond the pool says, from what was saved with a session."""
    if kind == POINTS and X is not None and len(X) > 2:
        from biconsensus.significance._points import PointEvidence
        from biconsensus.sources._features import in_one_unit
        from biconsensus.sources._scaling import Scaling

        return PointEvidence(in_one_unit(Scaling.of(X).apply(X)))
    if kind == NETWORK and graph is not None:
        from biconsensus.significance._links import LinkEvidence

        evidence = LinkEvidence(graph)
        if averaged is not None:
            evidence._averaged = {row[1:].astype(np.int64).tobytes(): float(row[0]) for row in averaged}
        return evidence
    return None
