"""Commands beside the three fronts: the demo, a look at kept results, and lists of what there is."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from biconsensus.cli import _options as opt
from biconsensus.cli._output import Output


def add_side_commands(app: typer.Typer) -> None:
    """Add the commands of this file to the program."""
    app.command()(demo)
    app.command(epilog="Example: `biconsensus inspect result.bic --report page.html`")(inspect)
    for listing in (models, solvers, algorithms):
        app.command()(listing)


def demo(
    out: opt.Folder = Path("demo-output"),
    seed: opt.Seed = 0,
    quiet: opt.Quiet = False,
) -> None:
    """One small consensus for each front, with reports."""
    from biconsensus.cli._demo import run_demo

    run_demo(out, seed=seed, quiet=quiet)


def inspect(
    result: Annotated[Path, typer.Argument(help="A file that --save or Consensus.save wrote.")],
    out: opt.Out = None,
    report: opt.Report = None,
    as_json: opt.Json = False,
    quiet: opt.Quiet = False,
) -> None:
    """Show a result that was kept."""
    from biconsensus.cli._fronts import run_inspect

    run_inspect(Output("inspect", result, out, report, None, as_json, quiet), result)


def models() -> None:
    """List the models that `fit` knows."""
    from biconsensus.cli._listing import show_models

    show_models()


def solvers() -> None:
    """List the solvers of the rank-one problem."""
    from biconsensus.cli._listing import show_solvers

    show_solvers()


def algorithms() -> None:
    """List the base algorithms for communities and for clusters."""
    from biconsensus.cli._listing import show_algorithms

    show_algorithms()
