"""What the commands print and write."""

from __future__ import annotations

import hashlib
import json
import logging
import re
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from biconsensus.protocols import Progress
    from biconsensus.result._consensus import Consensus

LEFT_OUT_FIRST = ("candidates", "sources")
"""Columns of the table of groups that a narrow terminal does not show; the report and --json have them."""
MOST_LINES = 30
"""Groups that a terminal shows: about one screen."""
OPTIONS = {
    "n_groups": "--groups",
    "min_elements": "--min-elements",
    "min_candidates": "--min-candidates",
    "n_samples": "--samples",
    "n_runs": "--runs",
    "n_jobs": "--jobs",
    "random_state": "--seed",
    "sampling": "--sampling",
    "quorum": "--quorum",
    "threshold": "--threshold",
    "epsilon": "--epsilon",
}
"""Options by the names of the settings in Python, as errors and warnings of the library use them."""


@dataclass
class Output:
    """Where one command's answer goes."""

    command: str
    source: Path | None = None
    out: Path | None = None
    report: Path | None = None
    save: Path | None = None
    as_json: bool = False
    quiet: bool = False
    seed: int | None = None
    escape: bool = False
    verbose: bool = False
    started: float = field(default_factory=time.perf_counter)
    notes: list[str] = field(default_factory=list)
    decided: str = ""
    """What was read as what, in one line."""
    lines: tuple[str, str] | None = None
    """The command with the options that change the answer, and the same for another quorum of the path."""

    def __post_init__(self) -> None:
        """Check the targets before any work is done."""
        if self.report is not None:
            from biconsensus.report._page import page_template

            page_template()
        if any(target is not None for target in (self.out, self.report, self.save)):
            check_outputs(self.source, self.out, self.report, self.save)

    @contextmanager
    def working(self, what: str, *, bar: bool = False) -> Iterator[Progress]:
        """Show what is running on a terminal, and collect the warnings of the library.

        With `bar` the work tells the function that is given how far it is, and a bar shows that; else a line moves.
        """
        from biconsensus._work import shown
        from biconsensus.errors import BiconsensusWarning
        from biconsensus.protocols import silent

        with warnings.catch_warnings(record=True) as caught, self._logged():
            warnings.simplefilter("ignore")
            warnings.simplefilter("always", BiconsensusWarning)
            if bar:
                if not self.quiet and sys.stderr.isatty():
                    print(what, file=sys.stderr)
                # lines of the log would break the bar
                with shown(False if self.quiet or self.verbose else None) as tell:
                    yield tell
            else:
                with self._spinner(what):
                    yield silent
        for warning in caught:
            if str(warning.message) not in self.notes:
                self.notes.append(str(warning.message))

    @contextmanager
    def _logged(self) -> Iterator[None]:
        """With --verbose, what the library logs, on standard error."""
        if not self.verbose:
            yield
            return
        logger, handler = logging.getLogger("biconsensus"), logging.StreamHandler(sys.stderr)
        level = logger.level
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
        try:
            yield
        finally:
            logger.removeHandler(handler)
            logger.setLevel(level)

    @contextmanager
    def _spinner(self, what: str) -> Iterator[None]:
        """A line that moves, only where somebody can see it."""
        if self.quiet or self.verbose or not sys.stderr.isatty():
            yield
            return
        from rich.console import Console

        with Console(stderr=True).status(what):
            yield

    def finish(
        self,
        consensus: Consensus,
        *,
        truth: Any = None,
        page: dict[str, Any] | None = None,
        columns: dict[str, Any] | None = None,
        table: Any = None,
        **more: Any,
    ) -> None:
        """Write the files, then print the summary.

        `page` is for the report, `columns` are further ones of the table of elements, `table` is one of fitted
        models for people, and what is left is for scripts.
        """
        # the whole result first: whatever happens to the rest, the work is not lost
        if self.save is not None:
            consensus.save(self.save)
        scores = truth_scores(consensus, truth)
        if self.out is not None:
            from biconsensus.result._notebook import write_elements

            write_elements(consensus, self.out, columns or {}, self.escape)
        if self.report is not None:
            with self.working("writing the report"):
                about = {"Command": self.command, "Input": self.source, "Seed": self.seed}
                consensus.write_report(self.report, truth=truth, about=about, command=self.lines, **(page or {}))
        if self.as_json:
            print(json.dumps(self.summary(consensus, scores, more), indent=2))
        elif not self.quiet:
            self.show(consensus, scores, table)
        if self.verbose:
            said = ", ".join(f"{name}={plain(value)}" for name, value in consensus.settings.items())
            print(f"settings: {said}", file=sys.stderr)
        self.show_notes()

    def show_notes(self) -> None:
        """The notes on standard error, in the words of the command line."""
        if not self.quiet:
            for note in self.notes:
                print(f"note: {with_options(note)}", file=sys.stderr)

    def summary(self, consensus: Consensus, scores: dict[str, float], more: dict[str, Any]) -> dict[str, Any]:
        """Everything a script may want to know."""
        import numpy as np

        from biconsensus import __version__
        from biconsensus.plots._numbers import group_numbers

        numbers = group_numbers(consensus)
        return {
            "command": self.command,
            "version": __version__,
            "input": None if self.source is None else {"path": str(self.source), "sha256": file_hash(self.source)},
            "read": self.decided,
            "seed": self.seed,
            "elements": consensus.pool.shape[0],
            "candidates": consensus.pool.shape[1],
            "sources": len(consensus.pool.sources),
            "groups": len(consensus),
            "sizes": numbers.sizes.tolist(),
            **confidence_of(consensus),
            "backing": [round(float(value), 6) for value in numbers.backing],
            "gains": [round(float(value), 6) for value in numbers.gains],
            "log10_chance": [round(float(value), 3) for value in np.maximum(numbers.significance, -1e9)],
            "backed_by_sources": numbers.sources.tolist(),
            "in_no_group": int((consensus.labels < 0).sum()),
            "summary": consensus.summary,
            "settings": {name: plain(value) for name, value in consensus.settings.items()},
            "scores": scores,
            **more,
            "written": [str(path) for path in (self.out, self.report, self.save) if path is not None],
            "notes": self.notes,
            "seconds": round(time.perf_counter() - self.started, 3),
        }

    def show(self, consensus: Consensus, scores: dict[str, float], table: Any = None) -> None:
        """A table for people, of the groups or of the models behind them."""
        from rich.console import Console

        from biconsensus._words import counted
        from biconsensus.result._notebook import are_shown, note_on_chances

        console = Console(highlight=False, soft_wrap=not sys.stdout.isatty())
        if self.decided:
            console.print(f"read {self.decided}", markup=False)
        if are_shown(consensus):
            console.print(group_table(consensus, console.width) if table is None else table)
        if consensus.settings.get("chosen_by") == "models":
            number = counted(len(consensus), "model")
            outside, size = int((consensus.labels < 0).sum()), consensus.labels.size
            console.print(f"{number}, {outside:,} of {size:,} points on none of them.")
        else:
            console.print(with_options(consensus.summary), markup=False)
            note = note_on_chances(consensus)
            if note is not None:
                console.print(note)
        for name, score in scores.items():
            console.print(f"{name} with the truth: {score:.4f}")
        for path in (self.out, self.report, self.save):
            if path is not None:
                console.print(f"wrote {path}", markup=False)


def with_options(text: str) -> str:
    """A message of the library with options in place of settings of Python.

    Parameters
    ----------
    text : str
        For instance of an error.

    Returns
    -------
    str

    Examples
    --------
    >>> with_options("n_groups=3 picks its own quorum; drop quorum=0.4 or n_groups.")
    '--groups 3 picks its own quorum; drop --quorum 0.4 or --groups.'
    """
    text = re.sub(r"\b(?:\w+=\S+|drop|id_column) \((--[^)]+)\)", r"\1", text)  # "header=False (--no-header)" has both
    for name, option in OPTIONS.items():
        text = re.sub(rf"(?<![\w.-]){name}=(?=[\w.])", f"{option} ", text).replace(f"({name})", f"({option})")
        if "_" in name:  # "quorum" is a word, too
            text = re.sub(rf"(?<![\w.-]){name}(?![\w=])", option, text)
    return text


def confidence_of(consensus: Consensus) -> dict[str, list[float]]:
    """Confidence of each group; nothing where groups overlap, as it is defined for disjoint ones."""
    if consensus.settings.get("overlap"):
        return {}
    return {"confidence": [round(float(value), 6) for value in consensus.confidence().groups]}


def group_table(consensus: Consensus, width: int) -> Any:
    """Groups as a table for a terminal of `width` characters; a narrow one has fewer columns, with whole headings."""
    from rich import box
    from rich.table import Table

    from biconsensus.result._notebook import group_columns

    columns = group_columns(consensus, MOST_LINES)
    for name in LEFT_OUT_FIRST:
        # a blank on each side and one between two columns
        if sum(3 + max(map(len, [heading, *cells])) for heading, cells in columns.items()) + 1 > width:
            del columns[name]
    table = Table(box=box.SIMPLE)
    for name in columns:
        table.add_column(name, justify="right")
    for row in zip(*columns.values()):
        table.add_row(*row)
    if len(consensus) > MOST_LINES:
        table.caption = f"the first {MOST_LINES} of {len(consensus):,} groups"
    return table


def check_outputs(source: Path | None, out: Path | None, report: Path | None, save: Path | None) -> None:
    """All targets can be written, and none is another one or the input; told before any work is done."""
    from biconsensus.errors import InputError
    from biconsensus.pool.io._writing import check_table_target, check_target, is_stream

    for name, target in (("--save", save), ("--out", out), ("--report", report)):
        if str(target) == "-":
            raise InputError(
                f"{name} - is no file; give it a name, or /dev/stdout with --quiet for the standard output."
            )
    if out is not None:
        check_table_target(out)
    taken = {} if source is None else {"the input": source}
    for name, target in (("--save", save), ("--out", out), ("--report", report)):
        if target is None:
            continue
        real = check_target(target)
        for other, path in taken.items():
            same = path.exists() and real.exists() and real.samefile(path)
            if not is_stream(real) and (same or real == path.resolve()):
                raise InputError(f"{name} {target} is the same file as {other}; give it another name.")
        taken[name] = target
    if report is not None:
        from biconsensus.report._page import check_page

        check_page(report)
    if save is not None:
        from biconsensus.result._storage import check_kept

        check_kept(save)


def truth_scores(consensus: Consensus, truth: Any) -> dict[str, float]:
    """Scores against the truth, where there is one."""
    if truth is None:
        return {}
    from biconsensus import metrics

    return {name: float(getattr(metrics, name)(truth, consensus.labels)) for name in ("ari", "ami", "nmi")}


def file_hash(path: Path) -> str | None:
    """SHA-256 of a file, so that a summary says what it was made from."""
    if not path.is_file():
        return None
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def plain(value: Any) -> Any:
    """A value that JSON has."""
    return value if isinstance(value, bool | int | float | str | None) else str(value)
