"""Run the experiments of the paper and write one page for each front.

``python -m experiments.reproduce [--only FRONT_OR_SCRIPT] [--quick] [--strict] [--out docs/reproduction]``

Data sets are fetched when an experiment first uses them. An experiment whose data, or whose optional package, cannot be
had is named and left out, its old section stays in the page, and the others run. Exit code: the number of experiments
that failed; those without their data count only with ``--strict``, or where nothing at all could run.
"""

from __future__ import annotations

import argparse
import importlib
import json
import logging
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.results import code_used, stamp, told, write_whole
from biconsensus.errors import MissingDataError, MissingDependencyError
from experiments.common import Section, Table

HERE = Path(__file__).resolve().parent

FRONTS = {
    "clustering": "Clusterings",
    "communities": "Communities",
    "models": "Fitted models",
}
log = logging.getLogger("reproduce")


def main(arguments: list[str] | None = None) -> int:
    """Run what was asked for; the exit code is the number of scripts that failed."""
    parser = argparse.ArgumentParser(description="Run the experiments of the paper and write the pages.")
    parser.add_argument("--only", default="", help="a front (clustering, communities, models) or a script's name")
    parser.add_argument("--quick", action="store_true", help="the small version of each experiment")
    parser.add_argument("--strict", action="store_true", help="experiments without their data count as failed")
    parser.add_argument("--out", type=Path, default=HERE.parent / "docs" / "reproduction")
    options = parser.parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    chosen = [script for script in scripts() if script.startswith(options.only)]
    if not chosen:
        parser.error(f"no experiment starts with {options.only!r}; there are: {', '.join(scripts())}")
    options.out.mkdir(parents=True, exist_ok=True)
    failed, left_out = [], {}
    for script in chosen:
        try:
            run_script(script, options.out, options.quick)
        except (MissingDataError, MissingDependencyError) as error:
            log.warning("%s is left out: %s", script, error)
            left_out[script] = getattr(error, "dataset", None) or str(error)
        except Exception:
            log.exception("%s failed", script)
            failed.append(script)
    for front in sorted({front_of(script) for script in chosen}):
        write_page(front, options.out)
    if left_out:
        log.warning("left out, with what was missing:")
        for script, what in left_out.items():
            log.warning("  %s: %s", script, what)
    if failed:
        log.error("failed: %s", ", ".join(failed))
    counts = options.strict or len(left_out) == len(chosen)
    return len(failed) + (len(left_out) if counts else 0)


def scripts() -> list[str]:
    """Names of all experiment scripts, by front."""
    return sorted(path.stem for path in HERE.glob("*_*.py") if front_of(path.stem) in FRONTS)


def front_of(script: str) -> str:
    """The front that a script's name starts with."""
    return script.split("_", 1)[0]


def load(script: str) -> Callable[[Path, bool], Section]:
    """The `run` function of a script."""
    run: Callable[[Path, bool], Section] = importlib.import_module(f"experiments.{script}").run
    return run


def run_script(script: str, out: Path, quick: bool) -> None:
    """Run one script and keep its section as a file of its own, so that one script can be run again alone."""
    log.info("running %s", script)
    started = time.perf_counter()
    measured = stamp(HERE / f"{script}.py")
    section = asdict(load(script)(out, quick))
    measured |= code_used(HERE / f"{script}.py")
    measured |= {"seconds": round(time.perf_counter() - started, 1), "done": True}
    for table in section["tables"]:
        table["rows"] = [[cell_text(cell) for cell in row] for row in table["rows"]]
    text = json.dumps({"measured": [measured], "values": section}, indent=1, ensure_ascii=False)
    parts = out / "parts"
    parts.mkdir(exist_ok=True)
    write_whole(parts / f"{script}.json", text + "\n")
    print(section_markdown(script, json.loads(text)))


def write_page(front: str, out: Path) -> None:
    """Write the page of a front."""
    write_whole(out / f"{front}.md", page(front, out))


def page(front: str, out: Path) -> str:
    """The page of a front: the sections of its scripts, one after the other."""
    parts = sorted((out / "parts").glob(f"{front}_*.json"))
    head = f"# {FRONTS[front]}: the paper beside ours\n\n"
    head += f"Made by `make reproduce ONLY={front}`; one script of `experiments/` for each section.\n"
    body = (section_markdown(part.stem, json.loads(part.read_text(encoding="utf-8"))) for part in parts)
    return "\n".join([head, *body])


def section_markdown(script: str, document: dict[str, Any]) -> str:
    """A section as Markdown: text, tables, pictures, and how it was measured."""
    section = document["values"]
    pieces = [f"## {section['title']}", section["text"].strip()]
    pieces += [table_markdown(Table(**table)) for table in section["tables"]]
    pieces += [f"![{caption}]({name})\n\n*{caption}*" for name, caption in section["pictures"]]
    pieces.append(f"`experiments/{script}.py`: {told(document['measured'])}.")
    return "\n\n".join(pieces) + "\n"


def table_markdown(table: Table) -> str:
    """A table as Markdown, with its caption in bold above it."""
    lines = [table.header, ["---"] * len(table.header), *table.rows]
    return f"**{table.caption}**\n\n" + "\n".join(row_markdown(row) for row in lines)


def row_markdown(cells: Iterable[Any]) -> str:
    """One line of a table; bars would end a cell."""
    return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"


def cell_text(cell: object) -> str:
    """Floats with four significant digits, everything else unchanged."""
    return f"{cell:.4g}" if isinstance(cell, float) else str(cell)


if __name__ == "__main__":
    sys.exit(main())
