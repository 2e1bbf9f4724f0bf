"""The commands: thin, so that `--help` answers at once; the work is imported when it is asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from biconsensus import __version__
from biconsensus.cli import _options as opt
from biconsensus.cli._datasets import group as datasets_group
from biconsensus.cli._explore import EXAMPLES as EXPLORE_EXAMPLES
from biconsensus.cli._explore import explore
from biconsensus.cli._modes import modes
from biconsensus.cli._output import Output

app = typer.Typer(
    name="biconsensus",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="The groups that many groupings agree on: how many there are, who belongs, who is an outlier.",
    epilog="Example: `biconsensus merge labels.csv --report page.html`",
)
app.add_typer(datasets_group)
app.command(epilog=EXPLORE_EXAMPLES)(explore)
app.command(epilog="Example: `biconsensus modes labels.csv --out modes.csv`")(modes)


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


@app.command(
    epilog="Examples: `biconsensus merge labels.csv --out groups.csv --report page.html`"
    " and `biconsensus merge runs.parquet --id name --quorum 0.5 --json`"
)
def merge(
    labels: Annotated[
        Path,
        typer.Argument(help="Table of groupings, one a column: CSV, TSV, Excel, Parquet, NPY, NPZ; - is the input."),
    ],
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
    """Consensus of groupings you already have.

    Each row of the table is an element, each column one grouping of them. An empty cell was not seen by that grouping;
    -1 was seen and put in no group.
    """
    from biconsensus.cli._fronts import run_merge

    output = Output("merge", labels, out, report, save, as_json, quiet, seed, escape=escape, verbose=verbose)
    more = {"overlap": overlap, "weights": weights, "solver": solver, "n_jobs": jobs}
    settings = opt.search(quorum, min_elements, min_candidates, groups, unassigned, method, **more)
    run_merge(output, labels, opt.reading(header, id_column, columns, drop, truth), settings, weight, together)


@app.command(epilog="Example: `biconsensus cluster points.csv --truth class --report page.html`")
def cluster(
    data: Annotated[
        Path,
        typer.Argument(
            help="Table of numbers, one row an element: CSV, TSV, Excel, Parquet, NPY, NPZ; - is the input."
        ),
    ],
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
    """Cluster a table of numbers: many base clusterings, and what they agree on."""
    from biconsensus.cli._fronts import run_cluster

    output = Output("cluster", data, out, report, save, as_json, quiet, seed, escape=escape, verbose=verbose)
    more = {"overlap": overlap, "solver": solver}
    settings = opt.search(quorum, min_elements, min_candidates, groups, unassigned, method, **more)
    run_cluster(output, data, opt.reading(header, id_column, columns, drop, truth), resume, jobs, settings)


@app.command(epilog="Example: `biconsensus communities karate.gml --algorithm louvain --algorithm leiden --runs 10`")
def communities(
    graph: Annotated[
        Path, typer.Argument(help="Network: GML, GraphML, GEXF, Pajek, METIS, .mtx, .npz, or an edge list.")
    ],
    algorithm: opt.Algorithm = None,
    runs: opt.Runs = 10,
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
    """Find communities of a network: many runs of many algorithms, and what they agree on."""
    from biconsensus.cli._fronts import run_communities

    output = Output("communities", graph, out, report, save, as_json, quiet, seed, escape=escape, verbose=verbose)
    more = {"overlap": overlap, "solver": solver, "random_state": seed, "n_jobs": jobs}
    settings = opt.search(quorum, min_elements, min_candidates, groups, unassigned, method, **more)
    run_communities(output, graph, algorithm, runs, truth, resume, settings)


@app.command(epilog="Example: `biconsensus fit points.csv --model line --threshold 0.03 --report page.html`")
def fit(
    points: Annotated[
        Path,
        typer.Argument(help="Table of points, one row an element: CSV, TSV, Excel, Parquet, NPY, NPZ; - is the input."),
    ],
    model: opt.Models = ["line"],  # noqa: B006 (typer copies it)
    threshold: opt.Threshold = None,
    samples: opt.Samples = "auto",
    sampling: opt.SampleLaw = None,
    sigma: opt.SampleScale = None,
    epsilon: opt.Epsilon = 1.0,
    label_width: opt.LabelWidth = None,
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
    """Fit an unknown number of models among outliers, with a bound on false alarms."""
    from biconsensus.cli._fronts import run_fit
    from biconsensus.fitting import Sampling

    output = Output("fit", points, out, report, save, as_json, quiet, seed, escape=escape, verbose=verbose)
    settings = {
        "model": model[0] if len(model) == 1 else model,
        "threshold": opt.number_or_auto(threshold, "a distance"),
        "n_samples": opt.count_or_auto(samples, "--samples"),
        "sampling": Sampling(law=sampling, sigma=sigma),
        "epsilon": epsilon,
        "label_width": label_width,
        "random_state": seed,
        "n_jobs": jobs,
    }
    run_fit(output, points, opt.reading(header, id_column, columns, drop, truth), settings)


@app.command()
def demo(
    out: opt.Folder = Path("demo-output"),
    seed: opt.Seed = 0,
    quiet: opt.Quiet = False,
) -> None:
    """One small consensus for each front, with reports."""
    from biconsensus.cli._demo import run_demo

    run_demo(out, seed=seed, quiet=quiet)


@app.command(
    epilog="Examples: `biconsensus inspect result.bic --report page.html`"
    " and `biconsensus inspect result.bic --groups 5 --out five.csv`"
)
def inspect(
    result: Annotated[Path, typer.Argument(help="A file that --save or Consensus.save wrote.")],
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
    """Show a result that was kept; --quorum or --groups cut the path of its pool elsewhere."""
    from biconsensus.cli._fronts import run_inspect

    output = Output("inspect", result, out, report, save, as_json, quiet, escape=escape, verbose=verbose)
    run_inspect(output, result, opt.search(quorum, None, None, groups, None, None))


@app.command()
def models() -> None:
    """List the models that `fit` knows."""
    from biconsensus.cli._listing import show_models

    show_models()


@app.command()
def solvers() -> None:
    """List the solvers of the rank-one problem."""
    from biconsensus.cli._listing import show_solvers

    show_solvers()


@app.command()
def algorithms() -> None:
    """List the base algorithms for communities and for clusters."""
    from biconsensus.cli._listing import show_algorithms

    show_algorithms()
