"""Run the code of pages as a reader would: block after block, as printed, and compare what they print with the page.

``python -m scripts.run_pages PAGE ...`` or, away from the repository, ``python run_pages.py PAGE ...``; it needs only
an installed biconsensus. Each page runs in an empty folder of its own.

* A block marked ``python`` runs; all of a page share their names.
* A block marked ``sh`` runs line by line. Lines that install something are not run.
* A block marked ``text`` right behind one of these is what it prints. ``...`` stands for anything.
* ``<!-- not run: reason -->`` before a block leaves it out.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

BLOCK = re.compile(
    r"(?P<mark><!-- not run: [^>]+ -->\n+)?^```(?P<kind>python|sh)\n(?P<code>.*?)^```\n"
    r"(?:\n?^```text\n(?P<said>.*?)^```\n)?",
    re.DOTALL | re.MULTILINE,
)
GIVEN = {
    "labels.csv": "id,run 1,run 2,run 3,run 4\n" + "".join(f"e{i},{i // 10},{i // 9},{i // 10},\n" for i in range(40))
}
"""Files that a page may take for granted, because it says that the reader has them."""


@dataclass(frozen=True)
class Block:
    """A piece of code of a page."""

    kind: str
    code: str
    said: str | None
    line: int


def main(pages: list[str]) -> int:
    """Run the pages; the exit code is the number of those that failed."""
    failed = 0
    for page in pages:
        try:
            count = run_page(Path(page).resolve())
        except AssertionError as error:
            failed += 1
            print(f"{page}: {error}", file=sys.stderr)
        else:
            print(f"{page}: {count} blocks ran as printed")
    return failed


def blocks_of(text: str) -> Iterator[Block]:
    """Blocks of a page that are to be run."""
    for match in BLOCK.finditer(text):
        if match["mark"] is None:
            yield Block(match["kind"], match["code"], match["said"], text.count("\n", 0, match.start("code")))


def run_page(page: Path) -> int:
    """Run every block of a page in an empty folder and compare; returns how many there were."""
    names: dict[str, Any] = {"__name__": "__main__"}
    blocks = list(blocks_of(page.read_text(encoding="utf-8")))
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            for name, text in GIVEN.items():
                Path(name).write_text(text, encoding="utf-8")
            for block in blocks:
                said = run_block(block, names, f"{page.name}, line {block.line}")
                if block.said is not None and not alike(block.said, said):
                    raise AssertionError(f"line {block.line}: the page says\n{block.said}\nbut it prints\n{said}")
        finally:
            os.chdir(here)
    return len(blocks)


def run_block(block: Block, names: dict[str, Any], where: str) -> str:
    """Run one block; what it prints."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        if block.kind == "python":
            exec(compile(block.code, where, "exec"), names)
        else:
            for line in block.code.replace("\\\n", " ").splitlines():
                run_line(line, where)
    return out.getvalue()


def run_line(line: str, where: str) -> None:
    """Run one line of the shell: `biconsensus` itself; installations are left to the reader."""
    from biconsensus.cli import run

    words = shlex.split(line, comments=True)
    if not words or words[:2] == ["pip", "install"]:
        return
    if words[0] != "biconsensus":
        raise AssertionError(f"{where}: {words[0]!r} is no command of ours; mark the block as not run")
    if run(words[1:]) != 0:
        raise AssertionError(f"{where}: {line!r} failed")


def alike(expected: str, printed: str) -> bool:
    """Whether two texts are the same up to white space; three dots in the first stand for anything."""
    parts = (re.escape(" ".join(part.split())) for part in expected.split("..."))
    return (
        re.fullmatch(r"\s*" + ".*".join(parts).replace(r"\ ", " ") + r"\s*", " ".join(printed.split()), re.DOTALL)
        is not None
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
