"""Results of a benchmark as a file, and the page that is made of nothing else.

A benchmark ``benchmarks/NAME.py`` defines ``page(values) -> str``, the Markdown of what was measured, and may define
``summary(values) -> dict``, the few figures that other pages quote. It keeps its results so::

    kept = Results.open("name", page, summary)
    for key in everything:
        if key not in kept.values:  # a run that was stopped goes on
            kept.values[key] = measure(key)
            kept.save()
    kept.finish()

`save` writes ``docs/benchmarks/name.json``, with the commit and the date, and ``name.md`` from it. Results of other
code are not taken up again; BENCH=resume does so, and the page then names every commit. BENCH=quick leaves the
published files alone and writes into ``results/quick``. ``python -m scripts.check_figures`` compares pages with files.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PUBLISHED = ROOT / "docs" / "benchmarks"
QUICK = ROOT / "results" / "quick"
SURFACES = ("cli", "explore", "plots", "report")
"""Folders of the package that no measured answer passes through."""

Values = dict[str, Any]
Page = Callable[[Values], str]
Summary = Callable[[Values], Values]


@dataclass
class Results:
    """What one benchmark has measured, and when, and on which code."""

    name: str
    page: Page
    summary: Summary | None = None
    values: Values = field(default_factory=dict)
    measured: list[Values] = field(default_factory=list)
    """One entry for each state of the code: date, commit, digest of the code, seconds spent."""
    folder: Path = field(default_factory=lambda: PUBLISHED)
    at: str = ""
    """Where the page is, from the root of the project; beside the file by default."""
    _since: float = field(default_factory=time.perf_counter, repr=False)

    @classmethod
    def open(cls, name: str, page: Page, summary: Summary | None = None, at: str = "") -> Results:
        """Results to go on with: those kept by the same code, or by any code where BENCH=resume; otherwise none."""
        mode = os.environ.get("BENCH", "")
        opened = cls(name, page, summary, folder=QUICK if mode == "quick" else PUBLISHED, at=at)
        kept = opened.read()
        now = stamp(script_of(name))
        same = bool(kept) and kept["measured"][-1]["code"] == now["code"]
        if kept and (same or mode == "resume"):
            opened.values, opened.measured = kept["values"], kept["measured"]
        elif kept:
            print(f"{name}: the code has changed, all is measured again (BENCH=resume keeps it)", file=sys.stderr)
        if not same:
            opened.measured = [*opened.measured, now]
        return opened

    def read(self) -> Values | None:
        """The file as it is, if there is one in this form."""
        try:
            kept: Values = json.loads((self.folder / f"{self.name}.json").read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        return kept if "measured" in kept else None

    def finish(self) -> None:
        """Save, and say that nothing is left to measure: `make evidence` then passes it over."""
        self.measured[-1]["done"] = True
        self.save()

    def save(self) -> None:
        """Write the file, and the page from it."""
        now = time.perf_counter()
        self.measured[-1]["seconds"] = round(self.measured[-1]["seconds"] + now - self._since, 1)
        self._since = now
        document: Values = {"measured": self.measured, "page": self.at}
        document["summary"] = self.summary(self.values) if self.summary else {}
        lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in sorted(self.values.items())]
        text = json.dumps(document, indent=1)[:-2] + ',\n "values": {\n' + ",\n".join(lines) + "\n}}\n"
        self.folder.mkdir(parents=True, exist_ok=True)
        write_whole(self.folder / f"{self.name}.json", text)
        # read again: a page must not show what the file does not hold
        path = page_path(self.folder / f"{self.name}.json", self.at if self.folder == PUBLISHED else "")
        write_whole(path, rendered(self.name, json.loads(text), self.page))


def rendered(name: str, document: Values, page: Page) -> str:
    """The page of a result file: what the benchmark makes of the values, and how they were measured."""
    command = f"make bench ONLY={module(name)}"
    foot = f"Written by `{command}` from `{name}.json`: measured on {told(document['measured'])}."
    return f"{page(document['values']).rstrip()}\n\n---\n\n{foot}\n"


def told(measured: list[Values]) -> str:
    """When and on which code something was measured, and how long that took."""
    states = ", ".join(f"{state['date']} at commit {state['commit']}" for state in measured)
    seconds = sum(state["seconds"] for state in measured)
    if not seconds:
        return states
    return f"{states}; {f'{seconds / 60:.0f} minutes' if seconds >= 90 else f'{seconds:.0f} s'}"


def stamp(script: Path) -> Values:
    """Date, commit and digest of the code of a script, to be kept with its results; no seconds spent yet."""
    return {"date": f"{datetime.now(UTC):%Y-%m-%d}", "commit": commit(), "code": code_digest(script), "seconds": 0}


def script_of(name: str) -> Path:
    """The benchmark behind a result file."""
    return ROOT / "benchmarks" / f"{module(name)}.py"


def page_path(file: Path, at: str) -> Path:
    """The page of a result file: beside it, or where the file says."""
    return ROOT / at if at else file.with_suffix(".md")


def module(name: str) -> str:
    """The name of the benchmark behind a result file."""
    return name.replace("-", "_")


def commit() -> str:
    """The commit that is checked out, with a plus sign where files of it were changed."""

    def git(*arguments: str) -> str:
        return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()

    changed = git("status", "--porcelain", "--untracked-files=no", "--", "src", "benchmarks", "experiments")
    return (git("rev-parse", "--short=10", "HEAD") or "unknown") + ("+" if changed else "")


@cache
def code_digest(script: Path) -> str:
    """Digest of the code that makes the results of a script: comments, docstrings and layout do not count."""
    package = ROOT / "src" / "biconsensus"
    files = [p for p in package.rglob("*.py") if p.relative_to(package).parts[0] not in SURFACES]
    files += _with_imports(script, set())
    total = hashlib.sha256()
    for path in sorted(files):
        total.update(str(path.relative_to(ROOT)).encode())
        total.update(ast.dump(_without_docstrings(ast.parse(path.read_bytes()))).encode())
    return total.hexdigest()[:16]


def _with_imports(path: Path, seen: set[Path]) -> Iterator[Path]:
    """A script of this repository and the scripts that it imports."""
    if path in seen or not path.exists():
        return
    seen.add(path)
    yield path
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in ("benchmarks", "experiments"):
            above = ROOT.joinpath(*str(node.module).split("."))
            for found in (above.with_suffix(".py"), *(above / f"{name.name}.py" for name in node.names)):
                yield from _with_imports(found, seen)


def _without_docstrings(tree: ast.AST) -> ast.AST:
    """The tree without strings that stand alone."""
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            kept = [n for n in body if not (isinstance(n, ast.Expr) and isinstance(n.value, ast.Constant))]
            node.body = kept  # type: ignore[attr-defined]
    return tree


def write_whole(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    part = path.with_suffix(path.suffix + ".part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)
