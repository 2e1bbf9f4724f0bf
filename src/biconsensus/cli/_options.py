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


def _option(panel: str, spec: str, told: str, **more: Any) -> Any:
    """An option in its panel of the help; `spec` has its names and, in capitals, what its value is."""
    *names, last = spec.split()
    value = None if last.startswith("-") else last
    return typer.Option(*names, *([] if value else [last]), metavar=value, help=told, rich_help_panel=panel, **more)


LabelFile = Annotated[Path, _table("Table with one grouping in each column")]
FeatureFile = Annotated[Path, _table("Table of numbers, one row for each element")]
PointFile = Annotated[Path, _table("Table of coordinates, one row for each point")]
Out = Annotated[Path | None, _option(OUT, "--out -o FILE", "Write the groups: .csv, .tsv, .parquet, .json or .npz.")]
Report = Annotated[Path | None, _option(OUT, "--report -r FILE", "Write a report: one HTML page.")]
Save = Annotated[Path | None, _option(OUT, "--save FILE", "Keep the whole result in a file that `inspect` reads.")]
Json = Annotated[bool, _option(OUT, "--json", "Print a summary for scripts.")]
Quiet = Annotated[bool, _option(OUT, "--quiet -q", "Print nothing but errors.")]
Verbose = Annotated[
    bool, _option(OUT, "--verbose -v", "Say what is being done: each run, the groups at each quorum, all settings.")
]
Truth = Annotated[
    str | None,
    _option(TABLE, "--truth COLUMN", "Column with the true groups. It does not vote; the answer is scored against it."),
]
Id = Annotated[str | None, _option(TABLE, "--id COLUMN", "Column with the names of the elements.")]
Header = Annotated[
    bool | None,
    _option(
        TABLE,
        "--header/--no-header",
        "Whether the first line names the columns. By default this is seen from the file.",
        show_default=False,
    ),
]
Columns = Annotated[
    list[str] | None,
    _option(TABLE, "--columns NAMES", "Use only these columns, by name or by number from 0: a,b; may be repeated."),
]
Drop = Annotated[list[str] | None, _option(TABLE, "--drop NAMES", "Leave these columns out: a,b; may be repeated.")]
Standardise = Annotated[
    bool,
    _option(
        TABLE,
        "--standardise",
        "Divide every column by its standard deviation, so that all count equally. By default this is done only "
        "if the ranges of the columns differ much.",
    ),
]
Escape = Annotated[
    bool, _option(OUT, "--escape", "In .csv and .tsv, put ' before text that a spreadsheet would take for a formula.")
]
Seed = Annotated[int, _option(RUN, "--seed N", "The same seed gives the same answer.")]
Jobs = Annotated[int, _option(RUN, "--jobs -j N", "Number of processes. The answer is the same for any number.")]
Resume = Annotated[
    Path | None,
    _option(
        RUN, "--resume FOLDER", "Keep finished runs in this folder, and do not repeat runs that are already there."
    ),
]
Quorum = Annotated[
    str | None,
    _option(
        GROUPS,
        "--quorum SHARE",
        "How much agreement a group needs, between 0 and 1: a low share merges groups, a high one splits them. By "
        "default ('auto') it is chosen.",
    ),
]
MinElements = Annotated[
    int | None, _option(GROUPS, "--min-elements N", "Fewest elements that a group may have.", min=1)
]
MinCandidates = Annotated[
    int | None, _option(GROUPS, "--min-candidates N", "Fewest groupings that must support a group.", min=1)
]
Groups = Annotated[
    int | None, _option(GROUPS, "--groups -k N", "Number of groups, if you know it. By default it is found.", min=1)
]
Unassigned = Annotated[
    str | None,
    _option(
        GROUPS,
        "--unassigned WHAT",
        "Elements that are left over: 'nearest' gives them to the nearest group (default), 'leave' to none.",
    ),
]
Overlap = Annotated[bool, _option(GROUPS, "--overlap", "Groups may share elements.")]
Method = Annotated[
    str | None,
    _option(
        GROUPS,
        "--method NAME",
        "How groups are searched: 'greedy' (one after the other, as in the paper), 'joint' (all at once), 'path' "
        "(as the report shows them at the quorum that --quorum gives), or 'auto' (default).",
    ),
]
Weight = Annotated[
    list[str] | None,
    _option(GROUPS, "--weight NAME=X", "How much one grouping counts (1 if not given); may be repeated."),
]
Weights = Annotated[
    str | None,
    _option(
        GROUPS,
        "--weights RULE",
        "How much groupings count: 'uniform', 'size', 'agreement', or 'shared', which lets groupings that are "
        "nearly the same share one vote.",
    ),
]
Together = Annotated[
    list[str] | None,
    _option(GROUPS, "--together IDS", "Elements that must be in one group, by their ids: a,b; may be repeated."),
]
Solver = Annotated[str, _option(RUN, "--solver NAME", "How one group is searched: see `biconsensus solvers`.")]
EdgeWeight = Annotated[
    str,
    _option(
        SEARCHES,
        "--weight ATTRIBUTE",
        "Attribute of the edges, or column of an edge list, with the weights; 'none' counts all edges the same.",
    ),
]
NodeTruth = Annotated[
    str | None,
    _option(
        SEARCHES, "--truth ATTRIBUTE", "Attribute of the nodes with the true groups. The answer is scored against it."
    ),
]
Algorithm = Annotated[
    list[str] | None,
    _option(
        SEARCHES,
        "--algorithm -a NAME",
        "Algorithm to run, or several: a,b; may be repeated. See `biconsensus algorithms`.",
        autocompletion=_complete_algorithms,
    ),
]
Runs = Annotated[
    int | None,
    _option(SEARCHES, "--runs N", "Runs of each algorithm. By default 10, and fewer for very large networks.", min=1),
]
Models = Annotated[
    list[str],
    _option(
        MODELS,
        "--model -m NAME",
        "Kind of model, or several, which compete for the points: a,b; may be repeated. See `biconsensus models`.",
        autocompletion=_complete_models,
    ),
]
Threshold = Annotated[
    str | None,
    _option(
        MODELS,
        "--threshold -t DISTANCE",
        "Largest distance between a point and its model, in the units of the data; or 'auto'.",
    ),
]
Samples = Annotated[
    str,
    _option(
        MODELS, "--samples --n-samples N", "How many random samples of points propose a model: a number, or 'auto'."
    ),
]
SampleLaw = Annotated[
    str | None,
    _option(
        MODELS,
        "--sampling NAME",
        "How samples are drawn: 'uniform', 'local' (near points) or 'exhaustive' (all). The model has a default.",
    ),
]
SampleScale = Annotated[
    float | None,
    _option(MODELS, "--sigma DISTANCE", "How far apart the points of a local sample are, in the units of the data."),
]
Epsilon = Annotated[
    float, _option(MODELS, "--epsilon X", "How many false models are tolerated in pure noise, on average.")
]
Bounds = Annotated[
    list[str] | None,
    _option(
        MODELS,
        "--bound NAME=LOW:HIGH",
        "Limits of a model: radius=5:50, length=10:, coverage=0.5: (the part of a circle on which there are "
        "points); may be repeated.",
    ),
]
Picture = Annotated[
    Path | None,
    _option(
        MODELS,
        "--image FILE",
        "Picture below the points of the report: PNG, JPEG, GIF or WebP. x and y of the points are its pixels.",
    ),
]
LabelWidth = Annotated[
    float | None,
    _option(
        MODELS,
        "--label-width X",
        "How far from a model its label reaches, in thresholds. By default this is found for each model.",
    ),
]
Folder = Annotated[Path, _option(OUT, "--out -o FOLDER", "Folder for the tables and the reports.")]


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
