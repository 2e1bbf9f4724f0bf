"""The commands: thin, so that `--help` answers at once; the work is imported when it is asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from biconsensus import __version__
from biconsensus.cli import options as opt
from biconsensus.cli.output import Output
from biconsensus.cli.side import add_side_commands

app = typer.Typer(
    name="biconsensus",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="The groups that many groupings agree on: how many there are, who belongs, who is an outlier.",
    epilog="Example: `biconsensus merge labels.csv --report page.html`",
)


def _version(asked: bool) -> None:
    """Print the version and stop."""
    if asked:
        print(f"biconsensus {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """The groups that many groupings agree on."""


def _complete_models(incomplete: str) -> list[str]:
    """Names of models for the shell."""
    from biconsensus.cli.listing import model_names

    return [name for name in model_names() if name.startswith(incomplete)]


def _complete_algorithms(incomplete: str) -> list[str]:
    """Names of network algorithms for the shell."""
    from biconsensus.cli.listing import algorithm_names

    return [name for name in algorithm_names() if name.startswith(incomplete)]


@app.command(
    epilog="Examples: `biconsensus merge labels.csv --out groups.csv --report page.html`"
    " and `biconsensus merge runs.parquet --id name --quorum 0.5 --json`"
)
def merge(
    labels: Annotated[Path, typer.Argument(help="Table of groupings, one a column: CSV, TSV, Parquet, NPY, NPZ.")],
    quorum: opt.Quorum = None,
    min_elements: opt.MinElements = None,
    min_candidates: opt.MinCandidates = None,
    groups: opt.Groups = None,
    unassigned: opt.Unassigned = None,
    overlap: Annotated[
        bool, typer.Option("--overlap", help="Groups may share elements.", rich_help_panel=opt.GROUPS)
    ] = False,
    raw: Annotated[
        bool, typer.Option("--raw", help="Keep empty and all-in-one candidates.", rich_help_panel=opt.GROUPS)
    ] = False,
    solver: Annotated[
        str, typer.Option("--solver", help="See `biconsensus solvers`.", rich_help_panel=opt.RUN)
    ] = "auto",
    id_column: opt.Id = None,
    truth: opt.Truth = None,
    out: opt.Out = None,
    report: opt.Report = None,
    save: opt.Save = None,
    as_json: opt.Json = False,
    seed: opt.Seed = 0,
    jobs: opt.Jobs = 1,
    quiet: opt.Quiet = False,
) -> None:
    """Consensus of groupings you already have.

    Each row of the table is an element, each column one grouping of them. An empty cell was not seen by that grouping;
    -1 was seen and put in no group.
    """
    from biconsensus.cli.fronts import run_merge

    output = Output("merge", labels, out, report, save, as_json, quiet, seed)
    if quorum is None and groups is None and not overlap:
        quorum = "auto"
    settings = opt.given(
        quorum=opt.quorum_of(quorum),
        min_elements=min_elements,
        min_candidates=min_candidates,
        n_groups=groups,
        unassigned=unassigned or ("nearest" if groups else None),
        overlap=overlap,
        solver=solver,
        n_jobs=jobs,
    )
    run_merge(output, labels, id_column, truth, raw, settings)


@app.command(epilog="Example: `biconsensus cluster points.csv --truth class --report page.html`")
def cluster(
    data: Annotated[Path, typer.Argument(help="Table of numbers, one row an element: CSV, TSV, Parquet, NPY, NPZ.")],
    quorum: opt.Quorum = None,
    min_elements: opt.MinElements = None,
    min_candidates: opt.MinCandidates = None,
    groups: opt.Groups = None,
    unassigned: opt.Unassigned = None,
    id_column: opt.Id = None,
    truth: opt.Truth = None,
    out: opt.Out = None,
    report: opt.Report = None,
    save: opt.Save = None,
    as_json: opt.Json = False,
    seed: opt.Seed = 0,
    jobs: opt.Jobs = 1,
    resume: opt.Resume = None,
    quiet: opt.Quiet = False,
) -> None:
    """Cluster a table of numbers: many base clusterings, and what they agree on."""
    from biconsensus.cli.fronts import run_cluster

    output = Output("cluster", data, out, report, save, as_json, quiet, seed)
    settings = opt.given(
        quorum=opt.quorum_of(quorum),
        min_elements=min_elements,
        min_candidates=min_candidates,
        n_groups=groups,
        unassigned=unassigned,
        random_state=seed,
        n_jobs=jobs,
    )
    run_cluster(output, data, id_column, truth, resume, settings)


@app.command(epilog="Example: `biconsensus communities karate.gml --algorithm louvain --algorithm leiden --runs 10`")
def communities(
    graph: Annotated[Path, typer.Argument(help="Network: GML, GraphML, Pajek (.net), or an edge list.")],
    algorithm: Annotated[
        list[str] | None,
        typer.Option(
            "--algorithm",
            "-a",
            help="May be repeated; see `biconsensus algorithms`.",
            autocompletion=_complete_algorithms,
        ),
    ] = None,
    runs: Annotated[int, typer.Option("--runs", min=1, help="Runs of each algorithm, with different seeds.")] = 10,
    quorum: opt.Quorum = None,
    min_elements: opt.MinElements = None,
    min_candidates: opt.MinCandidates = None,
    groups: opt.Groups = None,
    unassigned: opt.Unassigned = None,
    truth: Annotated[
        str | None,
        typer.Option(
            "--truth", metavar="ATTRIBUTE", help="Node attribute with the true groups.", rich_help_panel=opt.RUN
        ),
    ] = None,
    out: opt.Out = None,
    report: opt.Report = None,
    save: opt.Save = None,
    as_json: opt.Json = False,
    seed: opt.Seed = 0,
    jobs: opt.Jobs = 1,
    resume: opt.Resume = None,
    quiet: opt.Quiet = False,
) -> None:
    """Find communities of a network: many runs of many algorithms, and what they agree on."""
    from biconsensus.cli.fronts import run_communities

    output = Output("communities", graph, out, report, save, as_json, quiet, seed)
    settings = opt.given(
        quorum=opt.quorum_of(quorum),
        min_elements=min_elements,
        min_candidates=min_candidates,
        n_groups=groups,
        unassigned=unassigned,
        random_state=seed,
        n_jobs=jobs,
    )
    run_communities(output, graph, algorithm, runs, truth, resume, settings)


@app.command(epilog="Example: `biconsensus fit points.csv --model line --threshold 0.03 --report page.html`")
def fit(
    points: Annotated[Path, typer.Argument(help="Table of points, one row an element: CSV, TSV, Parquet, NPY, NPZ.")],
    model: Annotated[
        str, typer.Option("--model", "-m", help="See `biconsensus models`.", autocompletion=_complete_models)
    ] = "line",
    threshold: Annotated[
        str | None,
        typer.Option("--threshold", "-t", help="Largest distance of an inlier, in the units of the data; or 'auto'."),
    ] = None,
    samples: Annotated[int, typer.Option("--samples", min=1, help="Random minimal samples.")] = 5000,
    epsilon: Annotated[
        float, typer.Option("--epsilon", help="False models tolerated, on average, in pure noise.")
    ] = 1.0,
    id_column: opt.Id = None,
    truth: opt.Truth = None,
    out: opt.Out = None,
    report: opt.Report = None,
    save: opt.Save = None,
    as_json: opt.Json = False,
    seed: opt.Seed = 0,
    jobs: opt.Jobs = 1,
    quiet: opt.Quiet = False,
) -> None:
    """Fit an unknown number of models among outliers, with a bound on false alarms."""
    from biconsensus.cli.fronts import run_fit

    output = Output("fit", points, out, report, save, as_json, quiet, seed)
    settings = {"model": model, "n_samples": samples, "epsilon": epsilon, "random_state": seed, "n_jobs": jobs}
    run_fit(output, points, id_column, truth, opt.threshold_of(threshold), settings)


add_side_commands(app)
