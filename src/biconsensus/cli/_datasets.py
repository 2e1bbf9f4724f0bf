"""The commands `biconsensus datasets ...`: what there is, and fetching it beforehand."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from biconsensus.cli._help import CommandsByTask, OptionsByPurpose, examples

group = typer.Typer(
    name="datasets",
    cls=CommandsByTask,
    rich_markup_mode=None,
    no_args_is_help=True,
    help="The public data sets of the experiments: list them, fetch them.",
    epilog=examples("biconsensus datasets list", "biconsensus datasets fetch network/football"),
)


@group.command(
    "list", cls=OptionsByPurpose, epilog=examples("biconsensus datasets list", "biconsensus datasets list network")
)
def list_sets(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="A set: list its names. All sets without it.")
    ] = None,
) -> None:
    """List the data sets, or the names of one."""
    from biconsensus.cli._listing import show
    from biconsensus.datasets import names_of
    from biconsensus.datasets._sets import SETS

    if name is not None:
        print("\n".join(names_of(name)))
        return
    rows = [
        (key, str(len({*dataset.names()} - {*dataset.left_out})), *_files(key), dataset.title)
        for key, dataset in SETS.items()
    ]
    show(("set", "names", "files", "size", "here", "what it is"), rows)


@group.command(
    cls=OptionsByPurpose,
    epilog=examples("biconsensus datasets fetch network/football hopkins155", "biconsensus datasets fetch all"),
)
def fetch(
    names: Annotated[
        list[str], typer.Argument(metavar="NAME", help="Sets (network), names of a set (network/football), or all.")
    ],
) -> None:
    """Fetch data sets into the cache, for a machine that will be offline later."""
    from biconsensus.datasets import fetch as fetch_set
    from biconsensus.datasets._sets import SETS
    from biconsensus.errors import MissingDataError

    missing = False
    for wanted in list(SETS) if names == ["all"] else names:
        dataset, _, name = wanted.partition("/")
        try:
            paths = fetch_set(dataset, name or None)
        except MissingDataError as error:  # the other sets may be elsewhere
            print(f"error: {error}", file=sys.stderr)
            missing = True
        else:
            size, folders = sum(path.stat().st_size for path in paths), sorted({str(path.parent) for path in paths})
            number = "1 file" if len(paths) == 1 else f"{len(paths)} files"
            print(f"{wanted}: {number}, {_bytes(size)}, in {', '.join(folders)}")
    if missing:
        raise typer.Exit(2)


def _files(dataset: str) -> tuple[str, str, str]:
    """How many files a set has, how large they are as published, and how many need not be fetched."""
    from biconsensus.datasets._folder import here
    from biconsensus.datasets._sets import set_of, size_of
    from biconsensus.errors import MissingDependencyError

    files = set_of(dataset).all_files()
    try:
        present = str(sum(here(file) for file in files))
    except MissingDependencyError:  # without pooch the place of the cache is not known
        present = "?"
    return str(len(files)), _bytes(sum(size_of(file) for file in files)), present


def _bytes(size: int) -> str:
    """A size for people."""
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{size / 1e3:.0f} kB"
