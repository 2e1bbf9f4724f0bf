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

The code of a result is the script, the scripts that it imports, and the modules of the package that it, and the
processes that it started, had loaded when it was last saved. They are kept with it ("uses"): a change of the fitter
does not make the figures of clusterings old. Functions that only write the page (`page`, `summary`, and private ones
that nothing else calls) do not count: a better sentence measures nothing again.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
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
SURFACES = ("cli/", "explore/", "plots/", "report/", "result/_notebook.py")
"""Folders and files of the package that no measured answer passes through: they show answers."""

NOTED = "BICONSENSUS_NOTE_MODULES"
"""Variable with the file in which every process of a benchmark notes, as it ends, the modules that it has loaded."""

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
        os.environ.setdefault(NOTED, os.path.join(tempfile.mkdtemp(), "modules"))
        opened = cls(name, page, summary, folder=QUICK if mode == "quick" else PUBLISHED, at=at)
        kept = opened.read()
        now = stamp(script_of(name))
        same = bool(kept) and is_current(kept["measured"][-1], script_of(name))
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
        state = self.measured[-1]
        state["seconds"] = round(state["seconds"] + now - self._since, 1)
        self._since = now
        state |= code_used(script_of(self.name), state.get("uses", ""))
        text = file_text(self.measured, self.at, self.summary, self.values)
        self.folder.mkdir(parents=True, exist_ok=True)
        write_whole(self.folder / f"{self.name}.json", text)
        # read again: a page must not show what the file does not hold
        path = page_path(self.folder / f"{self.name}.json", self.at if self.folder == PUBLISHED else "")
        write_whole(path, rendered(self.name, json.loads(text), self.page))


def file_text(measured: list[Values], at: str, summary: Summary | None, values: Values) -> str:
    """A result file: how it was measured, a summary of the values, and the values, one a line, in the order of keys."""
    # in the order of the file: sums in another order differ in their last digit
    values = json.loads(json.dumps(dict(sorted(values.items()))))
    document: Values = {"measured": measured, "page": at, "summary": summary(values) if summary else {}}
    lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in values.items()]
    return json.dumps(document, indent=1)[:-2] + ',\n "values": {\n' + ",\n".join(lines) + "\n}}\n"


def rendered(name: str, document: Values, page: Page) -> str:
    """The page of a result file: what the benchmark makes of the values, and how they were measured."""
    command = f"make bench ONLY={module(name)}"
    foot = f"Written by `{command}` from `{name}.json`: measured on {told(document['measured'])}."
    # the format "g" writes 150 as 1.5e+02
    text = re.sub(r"\b\d(\.\d+)?e\+\d\d\b", lambda found: f"{float(found[0]):,.0f}", page(document["values"]))
    return f"{text.rstrip()}\n\n---\n\n{foot}\n"


def told(measured: list[Values]) -> str:
    """When and on which code something was measured, and how long that took."""
    states = ", ".join(f"{state['date']} at commit {state['commit']}" for state in measured)
    seconds = sum(state["seconds"] for state in measured)
    if not seconds:
        return states
    return f"{states}; {f'{seconds / 60:.0f} minutes' if seconds >= 90 else f'{seconds:.0f} s'}"


def stamp(script: Path) -> Values:
    """Date, commit and code of a script, to be kept with its results; no seconds spent yet."""
    _digests_of_package(
        ROOT / "src" / "biconsensus"
    )  # now: files that change while the script runs are not what it has loaded
    return {"date": f"{datetime.now(UTC):%Y-%m-%d}", "commit": commit(), **code_used(script), "seconds": 0}


def code_used(script: Path, before: str = "") -> Values:
    """The modules of the package that are loaded, with those known before, and the digest of their code."""
    uses = " ".join(sorted({*before.split(), *loaded()}))
    return {"uses": uses, "code": code_digest(script, uses)}


def is_current(state: Values, script: Path) -> bool:
    """Whether results of that state come from the code as it is now."""
    return bool(state["code"] == code_digest(script, state.get("uses")))


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


def loaded() -> list[str]:
    """Files of the package that this process has loaded, and those it started and saw end, without the surfaces."""
    package = ROOT / "src" / "biconsensus"
    files = [Path(str(getattr(module, "__file__", None) or "")) for module in list(sys.modules.values())]
    inside = {path.relative_to(package).as_posix() for path in files if path.is_relative_to(package)}
    noted = Path(os.environ.get(NOTED, os.devnull))
    inside |= set(noted.read_text(encoding="utf-8").split()) if noted.exists() else set()
    return sorted(name for name in inside if not name.startswith(SURFACES))


def note_loaded() -> None:
    """Tell the benchmark that started this process which files of the package it has loaded."""
    with open(os.environ[NOTED], "a", encoding="utf-8") as file:
        file.write(" ".join([*loaded(), "\n"]))


def code_digest(script: Path, uses: str | None = None) -> str:
    """Digest of the code that makes the results of a script: comments, docstrings, layout and pages do not count.

    Without `uses` the whole package counts but for its surfaces.
    """
    # this file keeps results and does not make them
    own = [path for path in _with_imports(script, set()) if path.name != "results.py"]
    package = _digests_of_package(ROOT / "src" / "biconsensus")
    digests = {name: found for name, found in package.items() if uses is None or name in uses.split()}
    digests |= {path.relative_to(ROOT).as_posix(): _digest(path) for path in own}
    return hashlib.sha256(json.dumps(digests, sort_keys=True).encode()).hexdigest()[:16]


@cache
def _digests_of_package(package: Path) -> dict[str, str]:
    """Digests of all files of the package without its surfaces, as they are when this is first asked."""
    names = [path.relative_to(package).as_posix() for path in package.rglob("*.py")]
    return {name: _digest(package / name) for name in names if not name.startswith(SURFACES)}


def _digest(path: Path) -> str:
    """Digest of one file without its prose."""
    tree = _without_docstrings(ast.parse(path.read_bytes()))
    if path.parent.name == "benchmarks":
        tree = _without_pages(tree)
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest()


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


def _without_pages(tree: ast.Module) -> ast.Module:
    """The tree without the functions that only write the page."""
    dropped = {"page", "summary"}
    uses: dict[str, set[str]] = {}  # names, by the function that uses them; "" stands for the rest of the file
    for statement in tree.body:
        name = statement.name if isinstance(statement, ast.FunctionDef) else ""
        found = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}
        uses[name] = uses.get(name, set()) | found - {name}
    while True:
        kept = set().union(*(found for name, found in uses.items() if name not in dropped))
        more = {name for name in uses if name.startswith("_") and name not in kept} - dropped
        if not more:
            break
        dropped |= more
    tree.body = [node for node in tree.body if not (isinstance(node, ast.FunctionDef) and node.name in dropped)]
    return tree


def _without_docstrings(tree: ast.Module) -> ast.Module:
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
