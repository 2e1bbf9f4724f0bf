"""Compare every figure of the pages with the result file that it comes from.

``python -m scripts.check_figures [--write]``; with ``--write`` the pages are mended instead.

Two kinds of figures are known. A page of ``docs/benchmarks`` is made of its result file by the benchmark of that name
(see ``benchmarks/results.py``) and must be what it makes. A figure in any other page has a mark behind it that names
the file and the place in it, where keys are joined by dots; only a unit may stand between::

    a mean ARI of .78<!--= meaning-points ours.mean --> and 20 of 45<!--= meaning-points n_sets --> sets

A score (written without the nought: .78) or a time that has no mark is wrong, too, unless its section of the page says
"Recorded on DATE at commit COMMIT", so that a reader knows how old it is: what was tried once is not measured again.

Files are looked for in ``docs/benchmarks`` and ``docs/reproduction``, keys first in ``summary``, then in ``values``. A
number must be the value rounded to the digits that are shown, a text must be the same.
"""

from __future__ import annotations

import argparse
import importlib
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.results import PUBLISHED, file_text, module, page_path, rendered
from experiments import reproduce
from scripts.check_links import CODE, ROOT, pages

REPRODUCTION = ROOT / "docs" / "reproduction"
FOLDERS = (PUBLISHED, REPRODUCTION / "parts")
MARK = re.compile(r"<!--=\s*(\S+)\s+(.+?)\s*-->")
SCORE = re.compile(r"(?<![\w.,/=\-])\.\d+\b|\b\d[\d.,]*\s(?:s|seconds?|minutes?|hours?)\b|\b\d+\.\d+%")
MARKED = re.compile(r"[-−]?[\d,]*\.?\d+[^\d<>\n]{0,16}" + MARK.pattern)
RECORDED = re.compile(r"[Rr]ecorded on \d{4}-\d\d-\d\d at commit [0-9a-f]{7,}")
NUMBER = re.compile(r"([-−]?[\d,]*\.?\d+)([^\d<>\n]{0,16})$")


def main(arguments: list[str] | None = None) -> int:
    """Print every figure that is not what its file says; the exit code says whether there was one."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="mend the pages instead of complaining")
    options = parser.parse_args(arguments)
    files = {path: json.loads(path.read_text(encoding="utf-8")) for path in sorted(PUBLISHED.glob("*.json"))}
    made = {
        page_path(path, document.get("page", "")): path for path, document in files.items() if "measured" in document
    }
    wrong, n_figures = [], 0
    for page in pages():
        text = page.read_text(encoding="utf-8")
        n_figures += len(MARK.findall(text))
        mended, messages = checked(text)
        if options.write and mended != text:
            page.write_text(mended, encoding="utf-8")
            messages = checked(mended)[1]
        if page.parent == PUBLISHED and not (page.name == "index.md" or page.with_suffix(".json") in files):
            messages += [] if RECORDED.search(text) else ["has no result file; see benchmarks/results.py"]
        if page not in made and page.parent not in (PUBLISHED, REPRODUCTION) and page.name != "CHANGELOG.md":
            messages += unexplained(text)
        wrong += [f"{page.relative_to(ROOT)}: {message}" for message in messages]
    for page, path in made.items():
        wrong += differing_page(page, path, options.write)
    for front in reproduce.FRONTS:
        wrong += differing_reproduction(front, options.write)
    print("\n".join(wrong) or f"figures: {n_figures} in the text and {len(made)} pages are what their files say")
    if wrong and not options.write:
        print("To mend them: python -m scripts.check_figures --write", file=sys.stderr)
    return 1 if wrong else 0


def checked(text: str) -> tuple[str, list[str]]:
    """The text with the figures of the files, and a message for each figure that was another."""
    messages: list[str] = []
    pieces, last = [], 0
    for mark in MARK.finditer(text):
        before, (name, key) = text[last : mark.start()], mark.groups()
        try:
            before = with_figure(before, value_of(name, key))
        except LookupError as error:
            messages.append(str(error.args[0]))
        else:
            if before != text[last : mark.start()]:
                messages.append(f"{text[last : mark.start()][-24:]!r} must be {before[-24:]!r} ({name}, {key})")
        pieces += [before, mark.group()]
        last = mark.end()
    return "".join([*pieces, text[last:]]), messages


def unexplained(text: str) -> Iterator[str]:
    """Messages for scores and times of a page that neither have a mark nor stand in a section that is dated."""
    text = MARKED.sub("", CODE.sub(lambda code: "\n" * code.group().count("\n"), text))
    for section in re.split(r"^(?=#)", text, flags=re.MULTILINE):
        found = SCORE.findall(section)
        if found and not RECORDED.search(section):
            title = section.split("\n", 1)[0].strip("# ") or "the beginning"
            yield f"{', '.join(found[:4])} in {title!r}: nothing says where this comes from (scripts/check_figures.py)"


def with_figure(before: str, value: object) -> str:
    """The text before a mark, its last number made that of the file; as it was where it is the same when rounded."""
    if isinstance(value, str):
        if not before.endswith(value):
            raise LookupError(f"{before[-24:]!r} must end in {value!r}")
        return before
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise LookupError(f"the file has {value!r} there, which is no figure")
    found = NUMBER.search(before)
    if found is None:
        raise LookupError(f"no number stands before the mark of {value}: {before[-24:]!r}")
    shown, unit = found.groups()
    decimals = len(shown.partition(".")[2])
    number = float(shown.replace(",", "").replace("−", "-"))
    if abs(number - value) <= 0.5 * 10.0**-decimals * (1 + 1e-6):
        return before
    new = f"{value:,.{decimals}f}" if "," in shown or (decimals == 0 and abs(value) >= 1e4) else f"{value:.{decimals}f}"
    if shown.startswith((".", "-.")):
        new = new.replace("0.", ".", 1) if abs(value) < 1 else new
    return before[: found.start()] + new + unit


def value_of(name: str, key: str) -> object:
    """The value of a result file at a place."""
    for folder in FOLDERS:
        path = folder / f"{name}.json"
        if path.exists():
            document = json.loads(path.read_text(encoding="utf-8"))
            for part in ("summary", "values"):
                for value in places(document.get(part, {}), key.split(".")):
                    return value
            raise LookupError(f"{path.relative_to(ROOT)} has no {key!r}")
    raise LookupError(f"there is no result file {name}.json")


def places(inside: Any, keys: list[str]) -> Iterator[object]:
    """Values that a list of keys leads to; a key may itself hold dots."""
    if not keys:
        yield inside
    elif isinstance(inside, list):
        if keys[0].isdigit() and int(keys[0]) < len(inside):
            yield from places(inside[int(keys[0])], keys[1:])
    elif isinstance(inside, dict):
        for n in range(1, len(keys) + 1):
            if ".".join(keys[:n]) in inside:
                yield from places(inside[".".join(keys[:n])], keys[n:])


def differing_page(page: Path, path: Path, write: bool) -> Iterator[str]:
    """A message where a page, or the summary in the file, is not what the benchmark makes of the values."""
    document = json.loads(path.read_text(encoding="utf-8"))
    benchmark = importlib.import_module(f"benchmarks.{module(path.stem)}")
    summary = getattr(benchmark, "summary", None)
    if summary is not None and json.loads(json.dumps(summary(document["values"]))) != document["summary"]:
        if write:
            text = file_text(document["measured"], document.get("page", ""), summary, document["values"])
            path.write_text(text, encoding="utf-8")
        else:
            yield f"{path.relative_to(ROOT)}: its summary is not that of its values"
    text = rendered(path.stem, document, benchmark.page)
    if write:
        page.write_text(text, encoding="utf-8")
    if not page.exists() or page.read_text(encoding="utf-8") != text:
        yield f"{page.relative_to(ROOT)} is not what benchmarks/{module(path.stem)}.py makes of {path.name}"


def differing_reproduction(front: str, write: bool) -> Iterator[str]:
    """A message where a page of the reproduction is not made of the files of its parts."""
    page = REPRODUCTION / f"{front}.md"
    if write:
        reproduce.write_page(front, REPRODUCTION)
    if page.exists() and page.read_text(encoding="utf-8") != reproduce.page(front, REPRODUCTION):
        yield f"{page.relative_to(ROOT)} is not made of the files in {REPRODUCTION.name}/parts"


if __name__ == "__main__":
    sys.exit(main())
