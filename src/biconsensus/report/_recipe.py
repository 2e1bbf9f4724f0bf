"""The line of Python and the command that give the answer of a page again."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from biconsensus.result._consensus import Consensus

OPTIONS = {
    "quorum": "--quorum",
    "n_groups": "--groups",
    "method": "--method",
    "min_elements": "--min-elements",
    "min_candidates": "--min-candidates",
    "unassigned": "--unassigned",
    "solver": "--solver",
    "overlap": "--overlap",
}
"""Options of the command line for settings of a search; a setting without one can be given in Python only."""
FILES = {"merge": "labels.csv", "cluster": "points.csv", "communities": "graph.gml"}
"""What the input of a command is called where it never was a file."""
LONGEST = 300
"""Characters up to which a setting is written out."""
HOMES = {
    **{
        name: f"bc.{name}"
        for name in ("Search", "Runs", "ConsensusClustering", "ConsensusCommunities", "MultiModelFitter")
    },
    **{name: f"bc.fitting.{name}" for name in ("Sampling", "Nfa")},
}
"""Where the classes live that the text of an estimator may name."""


def recipe(consensus: Consensus, command: tuple[str, str] | None = None) -> dict[str, Any]:
    """How to get a result again.

    Parameters
    ----------
    consensus : Consensus
        A result.
    command : pair of str, optional
        The command that made it, where it was one, and the command for another point, whose quorum is QUORUM.

    Returns
    -------
    dict
        `python` and `command`, for the answer of the search; `python_at` and `command_at`, for the point of its path
        at QUORUM; commands are empty where there is none. `at`, the quorum of the point of the path that the result
        is, None for the answer of the search; and `note`, what the names stand for.

    Examples
    --------
    >>> import biconsensus as bc
    >>> recipe(bc.find_consensus([[0, 1] * 8] * 4, min_elements=3))["python"]
    'bc.find_consensus(labels, min_elements=3)'
    """
    asked = {name: _text(value) for name, value in consensus.asked.items()}
    front: dict[str, Any] = consensus.extraction.get("front", {})
    if front:
        python, noun = _qualified(front["call"]), "the same data"
        if command is not None and "--standardise" in command[0].split():
            noun += ", each column less its mean and divided by its standard deviation"
    else:
        given = [f"{name}={text or name}" for name, text in asked.items()]
        python, noun = f"bc.find_consensus({', '.join(['labels', *given])})", "the same groupings, or their pool"
    line, at_point = _commands(front, asked) if command is None else command
    names = next((name for name in ("X", "graph") if f"({name})" in python), "labels")
    own = [] if front else [name for name, text in asked.items() if text is None]
    note = f"After “import biconsensus as bc”; {names} is {noun}."
    if own:
        note += f" {', '.join(own)}: as you gave it."
    if front and front.get("seed") is None and "fit_labels" not in front["call"]:
        note += " It was made without a seed (random_state): another run may differ."
    if not line:
        note += " It was made in Python, with settings that have no option on the command line."
    at = consensus.settings["quorum"] if consensus.settings.get("chosen_by") == "path" else None
    lines = {"python": python, "python_at": f"{python}.at(QUORUM)", "command": line, "command_at": at_point}
    return {**lines, "at": at, "note": note}


def _text(value: Any) -> str | None:
    """A setting as Python would write it; None where that would be too long, or where it was not kept."""
    text = repr(value)
    return None if value is None or len(text) > LONGEST else text


def _qualified(call: str) -> str:
    """The text of an estimator with the names as they are imported, without what does not change the answer."""
    call, functions = " ".join(call.split()), 1
    while functions:  # their text is no Python, and may hold such text itself
        call, functions = re.subn(r"<[^<>]*>", "None", call)
    for setting in (r"n_jobs=-?\w+", r"runs=Runs\([^()]*\)", r"search=Search\(\)"):
        call = re.sub(rf"(?<=\(){setting}(?:, )?|, {setting}", "", call)
    for name, home in HOMES.items():
        call = re.sub(rf"(?<![\w.]){name}\(", f"{home}(", call)
    return call


def _commands(front: dict[str, Any], asked: dict[str, str | None]) -> tuple[str, str]:
    """The same as a command, and for another point of the path; nothing where the command line lacks a setting."""
    name = front.get("command", "merge")
    if name is None or any(text is None or key not in OPTIONS for key, text in asked.items()):
        return "", ""
    line = ["biconsensus", name, FILES[name]]
    at_point = list(line)
    for key, text in asked.items():
        words = [OPTIONS[key]] if key == "overlap" else [OPTIONS[key], str(text).strip("'")]
        line += words
        at_point += [] if key in ("quorum", "method", "n_groups") else words
    seed = ["--seed", str(front["seed"])] if front.get("seed") else []
    return shlex.join(line + seed), shlex.join([*at_point, *seed, "--quorum", "QUORUM", "--method", "path"])
