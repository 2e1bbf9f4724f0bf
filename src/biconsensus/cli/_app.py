"""The commands: thin, so that `--help` answers at once; the work is imported when it is asked for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from biconsensus import __version__
from biconsensus.cli import _options as opt
from biconsensus.cli._datasets import group as datasets_group
from biconsensus.cli._explore import explore
from biconsensus.cli._help import CommandsByTask, OptionsByPurpose, examples
from biconsensus.cli._modes import modes
from biconsensus.cli._output import Output

Command = TypeVar("Command", bound=Callable[..., Any])

app = typer.Typer(
    name="biconsensus",
    cls=CommandsByTask,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Find the groups that many groupings agree on: how many there are, what belongs to each, and what to none.",
    epilog=examples("biconsensus demo", "biconsensus merge labels.csv --report page.html", "biconsensus merge --help"),
)
HAVE, LOOK, LIST = "Find groups, by what you have", "Try it, and look again at a result", "List what there is"
app.add_typer(datasets_group, rich_help_panel=LIST)


def _command(task: str, *lines: str) -> Callable[[Command], Command]:
    """A command of the program, with its task and its examples."""
    return app.command(cls=OptionsByPurpose, rich_help_panel=task, epilog=examples(*lines))


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


@_command(
    HAVE,
    "biconsensus merge labels.csv --out groups.csv --report page.html",
    "biconsensus merge runs.parquet --id name --quorum 0.5 --json",
)
def merge(
    context: typer.Context,
    labels: opt.LabelFile,
    quorum: opt.Quorum = None,
    min_elements: opt.MinElements = None,
    min_candidates: opt.MinCandidates = None,
    groups: opt.Groups = None,
    unassigned: opt.Unassigned = None,
    method: opt.Method = None,
    overlap: opt.Overlap = False,
    weights: opt.Weights = None,
    weight: opt.Weight = None,
    together: opt.Together = None,
    solver: opt.Solver = "auto",
    header: opt.Header = None,
    id_column: opt.Id = None,
    columns: opt.Columns = None,
    drop: opt.Drop = None,
    truth: opt.Truth = None,
    out: opt.Out = None,
    report: opt.Report = None,
    save: opt.Save = None,
    escape: opt.Escape = False,
    as_json: opt.Json = False,
    seed: opt.Seed = 0,
    jobs: opt.Jobs = 1,
    quiet: opt.Quiet = False,
    verbose: opt.Verbose = False,
) -> None:
    """Groupings of the same things: find the groups that they agree on.

    Each row of the table is an element (one of the things), and each column is one grouping of all elements. An empty
    cell means that the grouping has not seen the element. -1 means that it has seen it, and put it in no group.
    """
    from biconsensus.cli._fronts import run_merge

    lines = opt.typed_lines(context)
    output = Output(
        "merge", labels, out, report, save, as_json, quiet, seed, escape=escape, verbose=verbose, lines=lines
    )
    more = {"overlap": overlap, "weights": weights, "solver": solver, "n_jobs": jobs}
    settings = opt.search(quorum, min_elements, min_candidates, groups, unassigned, method, **more)
    run_merge(output, labels, opt.reading(header, id_column, columns, drop, truth), settings, weight, together)


@_command(
    HAVE,
    "biconsensus cluster points.csv --truth class --report page.html",
    "biconsensus cluster big.npy --jobs 4 --resume kept",
)
def cluster(
    context: typer.Context,
    data: opt.FeatureFile,
    quorum: opt.Quorum = None,
    min_elements: opt.MinElements = None,
    min_candidates: opt.MinCandidates = None,
    groups: opt.Groups = None,
    unassigned: opt.Unassigned = None,
    method: opt.Method = None,
    overlap: opt.Overlap = False,
    solver: opt.Solver = "auto",
    header: opt.Header = None,
    id_column: opt.Id = None,
    columns: opt.Columns = None,
    drop: opt.Drop = None,
    truth: opt.Truth = None,
    standardise: opt.Standardise = False,
    out: opt.Out = None,
    report: opt.Report = None,
    save: opt.Save = None,
    escape: opt.Escape = False,
    as_json: opt.Json = False,
    seed: opt.Seed = 0,
    jobs: opt.Jobs = 1,
    resume: opt.Resume = None,
    quiet: opt.Quiet = False,
    verbose: opt.Verbose = False,
) -> None:
    """A table of numbers: cluster it many times, and find the groups that the clusterings agree on.

    Columns are standardised if their ranges differ much, and the summary then says so.
    """
    from biconsensus.cli._fronts import run_cluster

    lines = opt.typed_lines(context)
    output = Output(
        "cluster", data, out, report, save, as_json, quiet, seed, escape=escape, verbose=verbose, lines=lines
    )
    more = {"overlap": overlap, "solver": solver}
    settings = opt.search(quorum, min_elements, min_candidates, groups, unassigned, method, **more)
    run_cluster(output, data, opt.reading(header, id_column, columns, drop, truth), resume, jobs, settings, standardise)


@_command(
    HAVE,
    "biconsensus communities club.gml --out communities.csv --report page.html",
    "biconsensus communities edges.txt --algorithm louvain --algorithm leiden --runs 10",
)
def communities(
    context: typer.Context,
    graph: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="Network: GML, GraphML, GEXF, Pajek, METIS, .mtx, .npz, or an edge list."),
    ],
    weight: opt.EdgeWeight = "weight",
    algorithm: opt.Algorithm = None,
    runs: opt.Runs = None,
    quorum: opt.Quorum = None,
    min_elements: opt.MinElements = None,
    min_candidates: opt.MinCandidates = None,
    groups: opt.Groups = None,
    unassigned: opt.Unassigned = None,
    method: opt.Method = None,
    overlap: opt.Overlap = False,
    solver: opt.Solver = "auto",
    truth: opt.NodeTruth = None,
    out: opt.Out = None,
    report: opt.Report = None,
    save: opt.Save = None,
    escape: opt.Escape = False,
    as_json: opt.Json = False,
    seed: opt.Seed = 0,
    jobs: opt.Jobs = 1,
    resume: opt.Resume = None,
    quiet: opt.Quiet = False,
    verbose: opt.Verbose = False,
) -> None:
    """A network: search it many times, and find the communities that the searches agree on."""
    from biconsensus.cli._fronts import run_communities

    lines = opt.typed_lines(context)
    output = Output(
        "communities", graph, out, report, save, as_json, quiet, seed, escape=escape, verbose=verbose, lines=lines
    )
    more = {"overlap": overlap, "solver": solver, "random_state": seed, "n_jobs": jobs}
    settings = opt.search(quorum, min_elements, min_candidates, groups, unassigned, method, **more)
    named = None if weight.lower() == "none" else weight
    run_communities(output, graph, named, opt.names_in(algorithm or []), runs, truth, resume, settings)


@_command(
    HAVE,
    "biconsensus fit points.csv --model line --threshold 0.03 --report page.html",
    "biconsensus fit points.csv --model line --model circle --threshold auto",
    "biconsensus fit edges.csv --model circle --threshold 2 --bound coverage=0.5: --image coins.png --report page.html",
)
def fit(
    context: typer.Context,
    points: opt.PointFile,
    model: opt.Models = ["line"],  # noqa: B006 (typer copies it)
    threshold: opt.Threshold = None,
    samples: opt.Samples = "auto",
    sampling: opt.SampleLaw = None,
    sigma: opt.SampleScale = None,
    epsilon: opt.Epsilon = 1.0,
    label_width: opt.LabelWidth = None,
    bound: opt.Bounds = None,
    image: opt.Picture = None,
    header: opt.Header = None,
    id_column: opt.Id = None,
    columns: opt.Columns = None,
    drop: opt.Drop = None,
    truth: opt.Truth = None,
    out: opt.Out = None,
    report: opt.Report = None,
    save: opt.Save = None,
    escape: opt.Escape = False,
    as_json: opt.Json = False,
    seed: opt.Seed = 0,
    jobs: opt.Jobs = 1,
    quiet: opt.Quiet = False,
    verbose: opt.Verbose = False,
) -> None:
    """Points among outliers: find the lines, circles, planes, ... on which they lie, and how many there are."""
    from biconsensus.cli._fronts import run_fit
    from biconsensus.fitting import Sampling

    lines = opt.typed_lines(context)
    output = Output("fit", points, out, report, save, as_json, quiet, seed, escape=escape, verbose=verbose, lines=lines)
    kinds = opt.names_in(model)
    settings = {
        "model": kinds[0] if len(kinds) == 1 else kinds,
        "threshold": opt.number_or_auto(threshold, "--threshold", "a distance"),
        "n_samples": opt.count_or_auto(samples, "--samples"),
        "sampling": sampling if sigma is None else Sampling(law=sampling, sigma=sigma),
        "epsilon": epsilon,
        "label_width": label_width,
        "bounds": opt.bounds(bound or []),
        "random_state": seed,
        "n_jobs": jobs,
    }
    run_fit(output, points, opt.reading(header, id_column, columns, drop, truth), settings, image)


_command(HAVE, "biconsensus modes labels.csv --out modes.csv")(modes)


@_command(LOOK, "biconsensus demo --out first-look")
def demo(
    out: opt.Folder = Path("demo-output"),
    seed: opt.Seed = 0,
    quiet: opt.Quiet = False,
) -> None:
    """Four small examples with their reports, to try the program without any data."""
    from biconsensus.cli._demo import run_demo

    run_demo(out, seed=seed, quiet=quiet)


@_command(
    LOOK,
    "biconsensus inspect result.bic --report page.html",
    "biconsensus inspect result.bic --groups 5 --out five.csv",
)
def inspect(
    context: typer.Context,
    result: Annotated[Path, typer.Argument(metavar="FILE", help="A file that --save or Consensus.save wrote.")],
    quorum: opt.Quorum = None,
    groups: opt.Groups = None,
    out: opt.Out = None,
    report: opt.Report = None,
    save: opt.Save = None,
    escape: opt.Escape = False,
    as_json: opt.Json = False,
    quiet: opt.Quiet = False,
    verbose: opt.Verbose = False,
) -> None:
    """Show a result that --save kept; --quorum or --groups give another answer from it."""
    from biconsensus.cli._fronts import run_inspect

    lines = opt.typed_lines(context)
    output = Output("inspect", result, out, report, save, as_json, quiet, escape=escape, verbose=verbose, lines=lines)
    run_inspect(output, result, opt.search(quorum, None, None, groups, None, None))


_command(
    LOOK,
    "biconsensus explore labels.csv",
    "biconsensus explore network.gml --session mine.bic",
    "biconsensus explore mine.bic",
)(explore)


@_command(LIST, "biconsensus models", "biconsensus fit ... --model circle")
def models() -> None:
    """List the models that `fit` knows."""
    from biconsensus.cli._listing import show_models

    show_models()


@_command(LIST, "biconsensus solvers", "biconsensus merge ... --solver exact")
def solvers() -> None:
    """List the solvers (`--solver`), which search for one group at a time."""
    from biconsensus.cli._listing import show_solvers

    show_solvers()


@_command(LIST, "biconsensus algorithms", "biconsensus communities ... --algorithm louvain")
def algorithms() -> None:
    """List the algorithms that `communities` and `cluster` run."""
    from biconsensus.cli._listing import show_algorithms

    show_algorithms()
