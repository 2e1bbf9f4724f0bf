"""The command that opens the explorer."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from biconsensus.cli import _options as opt


def explore(
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="FILE",
            help="Table of groupings or of numbers, network, saved result or session; or drop one later.",
        ),
    ] = None,
    kind: Annotated[
        str | None,
        typer.Option(
            "--kind",
            metavar="WHAT",
            help="What it holds: 'groupings', 'points' or 'network'; seen from the file if not given.",
        ),
    ] = None,
    header: opt.Header = None,
    id_column: opt.Id = None,
    columns: opt.Columns = None,
    drop: opt.Drop = None,
    truth: opt.Truth = None,
    session: Annotated[
        Path | None, typer.Option("--session", metavar="FILE.bic", help="Where the page may save the session.")
    ] = None,
    port: Annotated[int, typer.Option("--port", metavar="N", help="Port on this machine; 0 takes a free one.")] = 0,
    max_upload: Annotated[
        int, typer.Option("--max-upload", metavar="MB", min=1, help="Largest file that may be dropped on the page.")
    ] = 200,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Whether to open a browser.")] = True,
) -> None:
    """Explore a consensus in the browser: move it, question it, compare, export.

    The page is served on this machine only, to whoever has the link. Ctrl-C ends it.
    """
    from biconsensus.explore import explore as start
    from biconsensus.explore._subject import check_ending
    from biconsensus.pool.io._writing import check_target

    if session is not None:
        check_target(session)
    if file is not None and kind is None and file.is_file():  # told at once, not in the browser
        check_ending(file, file.name)
    explorer = start(
        file,
        kind=kind,
        reading=opt.reading(header, id_column, columns, drop, truth),
        session=session,
        browser=browser and sys.stdout.isatty(),
        port=port,
        max_upload=max_upload << 20,
    )
    with explorer:
        print(f"The explorer is at {explorer.url}", flush=True)
        print("Only this machine can open it. Ctrl-C ends it.", flush=True)
        explorer.wait()
