"""What the page is told: plain values, small however large the data."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import Any

import numpy as np

from biconsensus import metrics
from biconsensus.explore._choices import AUTO, GIVEN, NUMBER, QUORUM, Choices
from biconsensus.explore._subject import GROUPINGS, NETWORK, POINTS, Subject
from biconsensus.explore._workspace import PREVIEW, READY, Workspace
from biconsensus.plots._numbers import source_numbers
from biconsensus.pool._diagnostics import diagnose
from biconsensus.pool.io._roles import AS_USED
from biconsensus.protocols import IntArray
from biconsensus.quorum._confidence import matched
from biconsensus.report._data import element_names
from biconsensus.report._encode import round_off
from biconsensus.result._consensus import Consensus
from biconsensus.result._notebook import sentence_of

MOST_GROUPS = 200
"""Groups that a page lists; it says how many there are."""
MOST_ELEMENTS = 100
"""Elements on one sheet of the list."""
MOST_FOUND = 1000
"""Elements that a search may find; what was meant is among fewer."""
MOST_CROSSED = 30
"""Groups of either answer in the table of both: more cannot be read."""
MOST_SOURCES = 1000
"""Sources that a page lists, as in the report; it says how many there are."""
MOST_DIAGNOSED = 2000
"""Candidates up to which sources that dissent are looked for, as in the report."""
MOST_TOGETHER = 50
"""Pairs that are listed as kept together."""


def state(space: Workspace) -> dict[str, Any]:
    """Everything but the elements."""
    with space.lock:
        subject, answer = space.subject, space.answer
        done, total, step = space.progress
        found: dict[str, Any] = {
            "version": space.version,
            "status": space.status,
            "working": space.working and (space.status != READY or not space.path()),
            "error": space.error,
            "progress": {"done": done, "total": total, "step": step},
            "kept": [
                {"name": kept.name, "groups": len(kept.answer), "summary": sentence_of(kept.answer, tested=False)}
                for kept in space.kept
            ],
        }
        if subject is None:
            return found
        found |= {
            "input": _input(subject),
            "choices": space.choices.to_json(),
            "path": [[quorum, groups, round_off(score)] for quorum, groups, score in space.path()],
            "sources": _sources(subject, space.choices),
            "together": [element_names(subject.pool, np.array(one)) for one in space.choices.together[:MOST_TOGETHER]],
            "answers": [
                {"names": element_names(subject.pool, np.array([i, j])), "together": together}
                for i, j, together in space.choices.answers[:MOST_TOGETHER]
            ],
            "lines": lines(subject, space.choices) if space.status == READY else None,
        }
        number = space.answer_number()
    if answer is not None:
        found["answer"] = _answer(answer, subject, space) | {"number": number}
    return found


def _input(subject: Subject) -> dict[str, Any]:
    """What is explored."""
    pool = subject.pool
    return {
        "name": subject.name,
        "kind": subject.kind,
        "elements": pool.shape[0],
        "candidates": pool.shape[1],
        "sources": len(pool.sources),
        "decided": subject.decided,
        "notes": [note.removesuffix(f"; {AS_USED}") for note in subject.notes],  # here the page decides
        "columns": [{"name": name, "role": role} for name, role in subject.columns.items()],
        "given": subject.given is not None,
    }


def _sources(subject: Subject, choices: Choices) -> list[dict[str, Any]]:
    """Sources with the number of their groups, whether they vote and with what weight."""
    pool = subject.pool
    number = np.bincount(pool.source_of, minlength=len(pool.sources))
    off, weights = set(choices.off), dict(choices.weights)
    return [
        {
            "name": source.name,
            "settings": ", ".join(f"{key}={value}" for key, value in source.params.items()),
            "groups": int(number[k]),
            "on": k not in off,
            "weight": weights.get(k, 1.0),
        }
        for k, source in enumerate(pool.sources[:MOST_SOURCES])
    ]


def _answer(answer: Consensus, subject: Subject, space: Workspace) -> dict[str, Any]:
    """Groups with their sizes, and what was decided."""
    labels = answer.labels
    sizes = np.bincount(labels[labels >= 0], minlength=len(answer))
    found: dict[str, Any] = {
        "groups": len(answer),
        "quorum": answer.settings.get("quorum"),
        "outside": int((labels < 0).sum()),
        "sizes": sizes[:MOST_GROUPS].tolist(),
        "candidates": [int(own.size) for own in answer.candidates[:MOST_GROUPS]],
        # what takes long has its place in the report: this is sent after every move
        "summary": sentence_of(answer, tested=False) if space.status != PREVIEW else "",
    }
    if subject.truth is not None:
        found["scores"] = space.once("scores", answer, lambda: _scores(subject.truth, labels))
    return found


def _scores(truth: Any, labels: IntArray) -> dict[str, float | None]:
    """Agreement with the truth."""
    return {name: round_off(score(truth, labels)) for name, score in (("ARI", metrics.ari), ("NMI", metrics.nmi))}


def details(space: Workspace) -> dict[str, Any]:
    """Confidence of the groups, and how alike each source is to the answer: what takes a moment longer."""
    subject, choices, answer = space.settled()
    found: dict[str, Any] = {"number": space.answer_number()}
    if not answer.settings.get("overlap"):
        sure = space.once("confidence", answer, answer.confidence)
        found["confidence"] = [round_off(value) for value in sure.groups[:MOST_GROUPS]]
    numbers = source_numbers(answer)
    dissenting = set()
    if answer.pool.shape[1] <= MOST_DIAGNOSED and len(answer.pool.sources) < answer.pool.shape[1]:
        dissenting = {int(k) for k in diagnose(answer.pool).dissenting}
    voting = choices.voting(subject.pool) if len(answer.pool.sources) < len(subject.pool.sources) else None
    found["sources"] = [
        {
            "source": k if voting is None else int(voting[k]),
            "alike": round_off(numbers.nmi[k]),
            "used": int(numbers.used[k]),
            "dissents": k in dissenting,
        }
        for k in range(min(len(answer.pool.sources), MOST_SOURCES))
    ]
    return found


def question(space: Workspace) -> dict[str, Any]:
    """The pair of elements of which an answer would settle most, or nothing."""
    subject, choices, answer = space.settled()
    if answer.settings.get("overlap") or len(answer) == 0:
        return {"number": space.answer_number(), "question": None}
    asked = space.once(f"question {choices.skipped}", answer, lambda: answer.next_question(choices.skipped))
    found = None
    if asked is not None:
        pair = list(asked.elements)
        found = {
            "elements": pair,
            "names": element_names(subject.pool, np.array(pair)),
            "groups": list(asked.groups),
            "together": round_off(asked.together),
            "sizes": list(asked.sizes),
        }
    return {"number": space.answer_number(), "question": found}


def modes(subject: Subject, choices: Choices, found: dict[str, Any] | None) -> dict[str, Any] | None:
    """What the report says of modes, with sources numbered as in the list of the page; None where it says nothing."""
    if found is None:
        return None
    voting = choices.voting(subject.pool)
    columns = [one | {"sources": voting[one["sources"]].tolist()} for one in found["columns"]]
    return found | {"columns": columns}


def elements(space: Workspace, group: int | None, text: str, page: int) -> dict[str, Any]:
    """Elements in no group first, then by confidence, least certain first; some of them."""
    subject, _, answer = space.settled()
    labels = answer.labels
    overlap = answer.settings.get("overlap")
    sure = answer.backing if overlap else space.once("confidence", answer, answer.confidence).elements
    chosen = np.arange(labels.size) if group is None else np.flatnonzero(labels == group)
    if text:
        chosen = _search(subject, chosen, text)
    order = chosen[np.lexsort((chosen, sure[chosen], labels[chosen] >= 0))]
    start = max(0, page) * MOST_ELEMENTS
    shown = order[start : start + MOST_ELEMENTS]
    backing = answer.backing[shown]
    rows = zip(shown.tolist(), element_names(subject.pool, shown), labels[shown].tolist(), sure[shown], backing)
    return {
        "total": int(order.size),
        "page": max(0, page),
        "size": MOST_ELEMENTS,
        "pages": max(1, -(-int(order.size) // MOST_ELEMENTS)),
        "rows": [
            {"element": e, "name": name, "group": label, "confidence": round_off(one), "backing": round_off(held)}
            for e, name, label, one, held in rows
        ],
    }


def _search(subject: Subject, chosen: IntArray, text: str) -> IntArray:
    """Elements whose names hold a text."""
    ids = subject.pool.ids
    wanted = text.casefold()
    found: list[int] = []
    for element in chosen.tolist():
        if wanted in str(element if ids is None else ids[element]).casefold():
            found.append(element)
            if len(found) == MOST_FOUND:
                break
    return np.array(found, dtype=np.int64)


def compare(space: Workspace, name: str) -> dict[str, Any]:
    """The answer on the page beside one that was kept: agreement, table of both, elements that moved."""
    with space.lock:  # what is kept goes when another file is opened
        subject, _, answer = space.settled()
        kept = space.find_kept(name)
    before, after = kept.answer.labels, answer.labels
    table = np.zeros((len(kept.answer) + 1, len(answer) + 1), np.int64)
    np.add.at(table, (before, after), 1)  # -1, in no group, is the last
    again = matched(before, after, len(kept.answer))
    moved = np.flatnonzero((again != before) & ~((before < 0) & (after < 0)))
    shown = moved[:MOST_ELEMENTS]
    return {
        "name": name,
        "before": {"groups": len(kept.answer), "summary": sentence_of(kept.answer, tested=False)},
        "after": {"groups": len(answer), "summary": sentence_of(answer, tested=False)},
        "scores": {key: round_off(value) for key, value in answer.compare(kept.answer).items()},
        "table": table[: MOST_CROSSED + 1, : MOST_CROSSED + 1].tolist()
        if max(table.shape) <= MOST_CROSSED + 1
        else table[:MOST_CROSSED, :MOST_CROSSED].tolist(),
        "whole": max(table.shape) <= MOST_CROSSED + 1,
        "moved": int(moved.size),
        "elements": [
            {"name": one, "before": int(before[e]), "after": int(after[e])}
            for e, one in zip(shown.tolist(), element_names(subject.pool, shown))
        ],
    }


def lines(subject: Subject, choices: Choices) -> dict[str, str]:
    """The command and the Python lines that give exactly this answer, or why there are none."""
    changed = bool(choices.off or choices.weights)
    if subject.kind not in (GROUPINGS, POINTS, NETWORK) or (changed and subject.kind != GROUPINGS):
        why = "These base results are not in a file of groupings: save the session, and open it again with"
        return {"note": why, "command": "biconsensus explore SESSION.bic"}
    python = _python(subject, choices)
    if choices.answers:
        return {"note": "What you said of pairs has no option on the command line; in Python:", "python": python}
    return {"note": "", "command": _command(subject, choices), "python": python}


def commands(subject: Subject, choices: Choices) -> tuple[str, str]:
    """The command line of the answer, and that of another point of its path, at QUORUM; empty where there is none."""
    line = lines(subject, choices)
    if line["note"]:
        return "", ""
    elsewhere = _command(subject, replace(choices, mode=QUORUM), "QUORUM")
    return line["command"], elsewhere


def _command(subject: Subject, choices: Choices, quorum: str = "") -> str:
    """The command line; with another text for the quorum where one is given."""
    verb = {GROUPINGS: "merge", POINTS: "cluster", NETWORK: "communities"}[subject.kind]
    words = ["biconsensus", verb, subject.name]
    reading = subject.reading
    off = _silent(subject, choices)
    for option, value in (("--id", reading.id_column), ("--truth", reading.truth)):
        words += [] if value is None else [option, str(value)]
    for column in reading.columns or ():
        words += [] if column in off else ["--columns", str(column)]
    for column in (*reading.drop, *(off if reading.columns is None else ())):
        words += ["--drop", str(column)]
    voting = set(choices.voting(subject.pool).tolist())
    for k, weight in choices.weights:
        words += ["--weight", f"{subject.pool.sources[k].name}={weight!r}"] if k in voting else []
    for one in choices.together:
        words += ["--together", ",".join(element_names(subject.pool, np.array(one)))]
    for option, value in (_asked(choices) | ({"quorum": quorum} if quorum else {})).items():
        option = {"n_groups": "--groups"}.get(option, "--" + option.replace("_", "-"))
        words += [option, f"{value:g}" if isinstance(value, float) else str(value)]
    return shlex.join([*words, "--out", "groups.csv"])


def _python(subject: Subject, choices: Choices) -> str:
    """The lines of Python."""
    asked = _asked(choices) | ({"together": [list(one) for one in choices.together]} if choices.together else {})
    said = ", ".join(f"{name}={value!r}" for name, value in asked.items())
    reading = subject.reading
    how = {"id_column": reading.id_column, "columns": reading.columns, "drop": reading.drop, "truth": reading.truth}
    given = "".join(f", {name}={value!r}" for name, value in how.items() if value)
    said_of_pairs = "".join(f"\nconsensus = consensus.answer{one}" for one in choices.answers)
    if subject.kind == NETWORK:
        return (
            f"from biconsensus import ConsensusCommunities, Search\n\n"
            f"consensus = ConsensusCommunities(search=Search({said}), random_state=0).fit({subject.name!r}).consensus_"
            f"{said_of_pairs}"
        )
    if subject.kind == POINTS:
        return (
            "from biconsensus import ConsensusClustering, Search\nfrom biconsensus.pool.io import read_points\n\n"
            f"table = read_points({subject.name!r}{given})\n"
            f"consensus = ConsensusClustering(search=Search({said}), random_state=0).fit(table.X).consensus_"
            f"{said_of_pairs}"
        )
    text = (
        "import biconsensus as bc\nfrom biconsensus.pool.io import read_labels\n\n"
        f"table = read_labels({subject.name!r}{given})\n"
    )
    voting = choices.voting(subject.pool)
    chosen = [subject.pool.sources[k].name for k in voting] if voting.size < len(subject.pool.sources) else None
    weights = dict(choices.weights)
    each = [weights.get(k, 1.0) for k in voting]
    text += "pool = bc.Pool.from_labels(table" + ("" if chosen is None else f", columns={chosen!r}")
    text += (f", weights={each!r}" if any(weight != 1.0 for weight in each) else "") + ")\n"
    return text + f"consensus = bc.find_consensus(pool{', ' if said else ''}{said})" + said_of_pairs


def _silent(subject: Subject, choices: Choices) -> list[str]:
    """Names of the sources that do not vote."""
    voting = set(choices.voting(subject.pool).tolist())
    return [source.name for k, source in enumerate(subject.pool.sources) if k not in voting]


def _asked(choices: Choices) -> dict[str, Any]:
    """Settings of the search that differ from the defaults."""
    found: dict[str, Any] = {}
    if choices.mode == QUORUM:
        found |= {"quorum": choices.quorum, "method": "path"}
    elif choices.mode == NUMBER:
        found["n_groups"] = choices.n_groups
    else:
        assert choices.mode in (AUTO, GIVEN)
    for name in ("min_elements", "min_candidates"):
        if (value := getattr(choices, name)) is not None:
            found[name] = value
    if choices.unassigned != "nearest":
        found["unassigned"] = choices.unassigned
    return found
