"""Options that the commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

OUT, RUN, GROUPS = "Output", "Running", "Groups"


def quorum_of(text: str | None) -> str | float | None:
    """A number between 0 and 1, "auto", or nothing."""
    if text is None or text == "auto":
        return text
    try:
        return float(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is neither a number between 0 and 1 nor 'auto'.") from None


Out = Annotated[
    Path | None,
    typer.Option("--out", "-o", help="Write the groups: .csv, .tsv, .parquet or .json.", rich_help_panel=OUT),
]
Report = Annotated[
    Path | None, typer.Option("--report", "-r", help="Write a report: one HTML page.", rich_help_panel=OUT)
]
Save = Annotated[
    Path | None,
    typer.Option("--save", help="Keep the whole result in a file that `inspect` reads.", rich_help_panel=OUT),
]
Json = Annotated[bool, typer.Option("--json", help="Print a summary for scripts.", rich_help_panel=OUT)]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.", rich_help_panel=OUT)]
Truth = Annotated[
    str | None,
    typer.Option("--truth", metavar="COLUMN", help="Column with the true groups, for scores.", rich_help_panel=RUN),
]
Id = Annotated[
    str | None,
    typer.Option("--id", metavar="COLUMN", help="Column with the names of the elements.", rich_help_panel=RUN),
]
Seed = Annotated[int, typer.Option("--seed", help="The same seed gives the same answer.", rich_help_panel=RUN)]
Jobs = Annotated[
    int, typer.Option("--jobs", "-j", help="Processes; the answer does not depend on it.", rich_help_panel=RUN)
]
Resume = Annotated[
    Path | None,
    typer.Option(
        "--resume",
        metavar="FOLDER",
        help="Keep finished base results in this folder, and start from those that are there.",
        rich_help_panel=RUN,
    ),
]
Quorum = Annotated[
    str | None,
    typer.Option(
        "--quorum",
        help="Share that must agree, between 0 and 1: low merges, high splits; or 'auto'.",
        rich_help_panel=GROUPS,
    ),
]
MinElements = Annotated[
    int | None, typer.Option("--min-elements", min=1, help="Smallest group.", rich_help_panel=GROUPS)
]
MinCandidates = Annotated[
    int | None,
    typer.Option("--min-candidates", min=1, help="Fewest inputs that must back a group.", rich_help_panel=GROUPS),
]
Groups = Annotated[
    int | None,
    typer.Option("--groups", "-k", min=1, help="Number of groups, if you know it.", rich_help_panel=GROUPS),
]
Unassigned = Annotated[
    str | None,
    typer.Option(
        "--unassigned",
        metavar="WHAT",
        help="Left-over elements: 'leave' them in no group, or give them to the 'nearest' one.",
        rich_help_panel=GROUPS,
    ),
]


def threshold_of(text: str | None) -> str | float | None:
    """A distance, "auto", or nothing."""
    if text is None or text == "auto":
        return text
    try:
        return float(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is neither a distance nor 'auto'.") from None


def given(**settings: object) -> dict[str, object]:
    """Settings that were asked for; the others are left to the defaults of the estimators."""
    return {name: value for name, value in settings.items() if value is not None}
