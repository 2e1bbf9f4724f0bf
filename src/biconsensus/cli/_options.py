"""Every option once: its name, type and help; and from what was typed to the parameters of the library."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from biconsensus.pool.io._roles import Reading

OUT, RUN, GROUPS, TABLE = "Output", "Running", "Groups", "Table"
MODELS, SEARCHES = "Models", "Searches for communities"


def _complete_models(incomplete: str) -> list[str]:
    """Names of models for the shell."""
    from biconsensus.cli._listing import model_names

    return [name for name in model_names() if name.startswith(incomplete)]


def _complete_algorithms(incomplete: str) -> list[str]:
    """Names of network algorithms for the shell."""
    from biconsensus.cli._listing import algorithm_names

    return [name for name in algorithm_names() if name.startswith(incomplete)]


def _table(what: str) -> Any:
    """The argument of a command that reads a table."""
    forms = "CSV, TSV, Excel, Parquet, NPY, NPZ; - is the standard input."
    return typer.Argument(metavar="FILE", help=f"{what}: {forms}")


LabelFile = Annotated[Path, _table("Table with one grouping in each column")]
FeatureFile = Annotated[Path, _table("Table of numbers, one row for each element")]
PointFile = Annotated[Path, _table("Table of coordinates, one row for each point")]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        "-o",
        metavar="FILE",
        help="Write the groups: .csv, .tsv, .parquet, .json or .npz.",
        rich_help_panel=OUT,
    ),
]
Report = Annotated[
    Path | None,
    typer.Option("--report", "-r", metavar="FILE", help="Write a report: one HTML page.", rich_help_panel=OUT),
]
Save = Annotated[
    Path | None,
    typer.Option(
        "--save", metavar="FILE", help="Keep the whole result in a file that `inspect` reads.", rich_help_panel=OUT
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print a summary for scripts.", rich_help_panel=OUT)]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.", rich_help_panel=OUT)]
Verbose = Annotated[
    bool,
    typer.Option(
        "--verbose",
        "-v",
        help="Say what is being done: each run, the groups at each quorum, all settings.",
        rich_help_panel=OUT,
    ),
]
Truth = Annotated[
    str | None,
    typer.Option(
        "--truth",
        metavar="COLUMN",
        help="Column with the true groups. It does not vote; the answer is scored against it.",
        rich_help_panel=TABLE,
    ),
]
Id = Annotated[
    str | None,
    typer.Option("--id", metavar="COLUMN", help="Column with the names of the elements.", rich_help_panel=TABLE),
]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        help="Whether the first line names the columns. By default this is seen from the file.",
        show_default=False,
        rich_help_panel=TABLE,
    ),
]
Columns = Annotated[
    list[str] | None,
    typer.Option(
        "--columns",
        metavar="NAMES",
        help="Use only these columns, by name or by number from 0: a,b; may be repeated.",
        rich_help_panel=TABLE,
    ),
]
Drop = Annotated[
    list[str] | None,
    typer.Option(
        "--drop", metavar="NAMES", help="Leave these columns out: a,b; may be repeated.", rich_help_panel=TABLE
    ),
]
Standardise = Annotated[
    bool,
    typer.Option(
        "--standardise",
        help="Divide every column by its standard deviation, so that all count equally. By default this is done only if"
        " the ranges of the columns differ much.",
        rich_help_panel=TABLE,
    ),
]
Escape = Annotated[
    bool,
    typer.Option(
        "--escape",
        help="In .csv and .tsv, put ' before text that a spreadsheet would take for a formula.",
        rich_help_panel=OUT,
    ),
]
Seed = Annotated[
    int, typer.Option("--seed", metavar="N", help="The same seed gives the same answer.", rich_help_panel=RUN)
]
Jobs = Annotated[
    int,
    typer.Option(
        "--jobs",
        "-j",
        metavar="N",
        help="Number of processes. The answer is the same for any number.",
        rich_help_panel=RUN,
    ),
]
Resume = Annotated[
    Path | None,
    typer.Option(
        "--resume",
        metavar="FOLDER",
        help="Keep finished runs in this folder, and do not repeat runs that are already there.",
        rich_help_panel=RUN,
    ),
]
Quorum = Annotated[
    str | None,
    typer.Option(
        "--quorum",
        metavar="SHARE",
        help="How much agreement a group needs, between 0 and 1: a low share merges groups, a high one splits them. By"
        " default ('auto') it is chosen.",
        rich_help_panel=GROUPS,
    ),
]
MinElements = Annotated[
    int | None,
    typer.Option(
        "--min-elements", metavar="N", min=1, help="Fewest elements that a group may have.", rich_help_panel=GROUPS
    ),
]
MinCandidates = Annotated[
    int | None,
    typer.Option(
        "--min-candidates",
        metavar="N",
        min=1,
        help="Fewest groupings that must support a group.",
        rich_help_panel=GROUPS,
    ),
]
Groups = Annotated[
    int | None,
    typer.Option(
        "--groups",
        "-k",
        metavar="N",
        min=1,
        help="Number of groups, if you know it. By default it is found.",
        rich_help_panel=GROUPS,
    ),
]
Unassigned = Annotated[
    str | None,
    typer.Option(
        "--unassigned",
        metavar="WHAT",
        help="Elements that are left over: 'nearest' gives them to the nearest group (default), 'leave' to none.",
        rich_help_panel=GROUPS,
    ),
]
Overlap = Annotated[bool, typer.Option("--overlap", help="Groups may share elements.", rich_help_panel=GROUPS)]
Method = Annotated[
    str | None,
    typer.Option(
        "--method",
        metavar="NAME",
        help="How groups are searched: 'greedy' (one after the other, as in the paper), 'joint' (all at once), 'path'"
        " (as the report shows them at the quorum that --quorum gives), or 'auto' (default).",
        rich_help_panel=GROUPS,
    ),
]
Weight = Annotated[
    list[str] | None,
    typer.Option(
        "--weight",
        metavar="NAME=X",
        help="How much one grouping counts (1 if not given); may be repeated.",
        rich_help_panel=GROUPS,
    ),
]
Weights = Annotated[
    str | None,
    typer.Option(
        "--weights",
        metavar="RULE",
        help="How much groupings count: 'uniform', 'size', 'agreement', or 'shared', which lets groupings that are"
        " nearly the same share one vote.",
        rich_help_panel=GROUPS,
    ),
]
Together = Annotated[
    list[str] | None,
    typer.Option(
        "--together",
        metavar="IDS",
        help="Elements that must be in one group, by their ids: a,b; may be repeated.",
        rich_help_panel=GROUPS,
    ),
]
Solver = Annotated[
    str,
    typer.Option(
        "--solver", metavar="NAME", help="How one group is searched: see `biconsensus solvers`.", rich_help_panel=RUN
    ),
]
EdgeWeight = Annotated[
    str,
    typer.Option(
        "--weight",
        metavar="ATTRIBUTE",
        help="Attribute of the edges, or column of an edge list, with the weights; 'none' counts all edges the same.",
        rich_help_panel=SEARCHES,
    ),
]
NodeTruth = Annotated[
    str | None,
    typer.Option(
        "--truth",
        metavar="ATTRIBUTE",
        help="Attribute of the nodes with the true groups. The answer is scored against it.",
        rich_help_panel=SEARCHES,
    ),
]
Algorithm = Annotated[
    list[str] | None,
    typer.Option(
        "--algorithm",
        "-a",
        metavar="NAME",
        help="Algorithm to run, or several: a,b; may be repeated. See `biconsensus algorithms`.",
        autocompletion=_complete_algorithms,
        rich_help_panel=SEARCHES,
    ),
]
Runs = Annotated[
    int | None,
    typer.Option(
        "--runs",
        metavar="N",
        min=1,
        help="Runs of each algorithm. By default 10, and fewer for very large networks.",
        rich_help_panel=SEARCHES,
    ),
]
Models = Annotated[
    list[str],
    typer.Option(
        "--model",
        "-m",
        metavar="NAME",
        help="Kind of model, or several, which compete for the points: a,b; may be repeated. See `biconsensus models`.",
        autocompletion=_complete_models,
        rich_help_panel=MODELS,
    ),
]
Threshold = Annotated[
    str | None,
    typer.Option(
        "--threshold",
        "-t",
        metavar="DISTANCE",
        help="Largest distance between a point and its model, in the units of the data; or 'auto'.",
        rich_help_panel=MODELS,
    ),
]
Samples = Annotated[
    str,
    typer.Option(
        "--samples",
        "--n-samples",
        metavar="N",
        help="How many random samples of points propose a model: a number, or 'auto'.",
        rich_help_panel=MODELS,
    ),
]
SampleLaw = Annotated[
    str | None,
    typer.Option(
        "--sampling",
        metavar="NAME",
        help="How samples are drawn: 'uniform', 'local' (near points) or 'exhaustive' (all). The model has a default.",
        rich_help_panel=MODELS,
    ),
]
SampleScale = Annotated[
    float | None,
    typer.Option(
        "--sigma",
        metavar="DISTANCE",
        help="How far apart the points of a local sample are, in the units of the data.",
        rich_help_panel=MODELS,
    ),
]
Epsilon = Annotated[
    float,
    typer.Option(
        "--epsilon",
        metavar="X",
        help="How many false models are tolerated in pure noise, on average.",
        rich_help_panel=MODELS,
    ),
]
Bounds = Annotated[
    list[str] | None,
    typer.Option(
        "--bound",
        metavar="NAME=LOW:HIGH",
        help="Limits of a model: radius=5:50, length=10:, coverage=0.5: (the part of a circle on which there are "
        "points); may be repeated.",
        rich_help_panel=MODELS,
    ),
]
Picture = Annotated[
    Path | None,
    typer.Option(
        "--image",
        metavar="FILE",
        help="Picture below the points of the report: PNG, JPEG, GIF or WebP. x and y of the points are its pixels.",
        rich_help_panel=MODELS,
    ),
]
LabelWidth = Annotated[
    float | None,
    typer.Option(
        "--label-width",
        metavar="X",
        help="How far from a model its label reaches, in thresholds. By default this is found for each model.",
        rich_help_panel=MODELS,
    ),
]
Folder = Annotated[
    Path,
    typer.Option("--out", "-o", metavar="FOLDER", help="Folder for the tables and the reports.", rich_help_panel=OUT),
]


def number_or_auto(text: str | None, option: str, what: str) -> str | float | None:
    """A number, "auto", or nothing; an error names the option, and says what the number would be."""
    if text is None or text == "auto":
        return text
    try:
        return float(text)
    except ValueError:
        raise typer.BadParameter(f"{option} {text} is neither {what} nor 'auto'.") from None


def bounds(texts: list[str]) -> dict[str, tuple[float, float]] | None:
    """Bounds by name from NAME=LOW:HIGH, where either end may be left open; None where there are none."""
    found = dict[str, tuple[float, float]]()
    for text in texts:
        name, _, ends = text.partition("=")
        low, colon, high = ends.partition(":")
        try:
            pair = (float(low or "-inf"), float(high or "inf"))
        except ValueError:
            colon = ""
        if not (name and colon):
            raise typer.BadParameter(f"--bound must be NAME=LOW:HIGH, such as radius=5:50; received {text!r}.")
        found[name] = pair
    return found or None


def names_in(texts: list[str]) -> list[str]:
    """Names that were given one by one, or several with commas between them."""
    return [name.strip() for text in texts for name in text.split(",") if name.strip()]


def count_or_auto(text: str, option: str) -> str | int:
    """A whole number, 1 or larger, or "auto"."""
    if text == "auto":
        return text
    if not (text.isdigit() and int(text) > 0):
        raise typer.BadParameter(f"{option} must be a whole number, 1 or larger, or 'auto'; received {text!r}.")
    return int(text)


def reading(
    header: bool | None, id_column: str | None, columns: list[str] | None, drop: list[str] | None, truth: str | None
) -> Reading:
    """What was said about a table; the rest is decided by the rules."""
    from biconsensus.pool.io._roles import Reading

    return Reading(header, id_column, columns or None, drop or (), truth)


def search(
    quorum: str | None,
    min_elements: int | None,
    min_candidates: int | None,
    groups: int | None,
    unassigned: str | None,
    method: str | None,
    **more: object,
) -> dict[str, object]:
    """Settings of a search that were asked for; the others are left to the defaults of the library."""
    settings = {
        "quorum": number_or_auto(quorum, "--quorum", "a number between 0 and 1"),
        "min_elements": min_elements,
        "min_candidates": min_candidates,
        "n_groups": groups,
        "unassigned": unassigned,
        "method": method,
        **more,
    }
    return {name: value for name, value in settings.items() if value is not None}


SAME_ANSWER = ("out", "report", "save", "escape", "as_json", "quiet", "verbose", "jobs", "resume")
"""Parameters of commands that do not change what is found; a column of truth does, because it is not searched."""
POINT = ("quorum", "method", "groups")
"""Parameters that say which point of the path is wanted."""


def typed_lines(context: typer.Context) -> tuple[str, str]:
    """The command that is running, with the options that change its answer; and the same for another point, QUORUM."""
    line, at_point = ["biconsensus", context.info_name or ""], ["biconsensus", context.info_name or ""]
    for param in context.command.params:
        name = param.name or ""
        source, value = context.get_parameter_source(name), context.params.get(name)
        if source is None or source.name != "COMMANDLINE" or name in SAME_ANSWER or value is None:
            continue
        if param.param_type_name == "argument":
            words = [str(value)]
        elif isinstance(value, bool):
            words = [param.opts[0] if value else (param.secondary_opts or param.opts)[0]]
        else:
            several = value if isinstance(value, (list, tuple)) else [value]
            words = [word for one in several for word in (param.opts[0], str(one))]
        line += words
        at_point += [] if name in POINT else words
    at_point += ["--quorum", "QUORUM"] + ([] if context.info_name == "inspect" else ["--method", "path"])
    return shlex.join(line), shlex.join(at_point)
