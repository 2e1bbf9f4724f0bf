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
HOMES = {
    **{
        name: f"bc.{name}"
        for name in ("Search", "Runs", "ConsensusClustering", "ConsensusCommunities", "MultiModelFitter")
    },
    **{name: f"bc.fitting.{name}" for name in ("Sampling", "Nfa")},
}
"""Where the classes live that the text of an estimator may name."""


def recipe(consensus: Consensus, command: str | None = None) -> dict[str, Any]:
    """How to get a result again; the page adds ``.at(quorum)`` and ``--at quorum`` for a point of its path.

    Parameters
    ----------
    consensus : Consensus
        A result.
    command : str, optional
        The command that made it, where it was one.

    Returns
    -------
    dict
        `python`, `command` (empty where no command does it), `at`, the quorum of the point of the path that the result
        is (None for the answer of the search), and `note`, what the names stand for.

    Examples
    --------
    >>> import biconsensus as bc
    >>> recipe(bc.find_consensus([[0, 1] * 8] * 4, min_elements=3))["python"]
    'bc.find_consensus(labels, min_elements=3)'
    """
    asked: dict[str, str | None] = consensus.extraction.get("asked", {})
    front: dict[str, Any] = consensus.extraction.get("front", {})
    if front:
        python, noun = _qualified(front["call"]), "the same data"
    else:
        given = [f"{name}={name if text is None else text}" for name, text in asked.items()]
        python, noun = f"bc.find_consensus({', '.join(['labels', *given])})", "the same groupings, or their pool"
    if command is None:
        command = _command(front, asked)
    names = next((name for name in ("X", "graph") if f"({name})" in python), "labels")
    own = [name for name, text in asked.items() if text is None] if not front else []
    note = f"After “import biconsensus as bc”; {names} is {noun}."
    if own:
        note += f" {', '.join(own)}: as you gave it."
    if front and front.get("seed") is None and "fit_labels" not in front["call"]:
        note += " It was made without a seed (random_state): another run may differ."
    if not command:
        note += " It was made in Python, with settings that have no option on the command line."
    on_path = consensus.settings.get("chosen_by") == "path"
    at = consensus.settings["quorum"] if on_path else None
    return {"python": python, "command": command, "at": at, "note": note}


def _qualified(call: str) -> str:
    """The text of an estimator with the names as they are imported."""
    for name, home in HOMES.items():
        call = re.sub(rf"(?<![\w.]){name}\(", f"{home}(", call)
    return " ".join(call.split())


def _command(front: dict[str, Any], asked: dict[str, str | None]) -> str:
    """The same as a command, where the command line has all of it; else nothing."""
    name = front.get("command", "merge")
    if name is None or any(text is None or key not in OPTIONS for key, text in asked.items()):
        return ""
    words = ["biconsensus", name, {"merge": "labels.csv", "cluster": "points.csv", "communities": "graph.gml"}[name]]
    for key, text in asked.items():
        words += [OPTIONS[key]] if key == "overlap" else [OPTIONS[key], str(text).strip("'")]
    if front.get("seed"):
        words += ["--seed", str(front["seed"])]
    return shlex.join(words)
