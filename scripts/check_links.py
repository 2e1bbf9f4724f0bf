"""Check the relative links and pictures of every Markdown page: each must lead to a file (and heading) that exists."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LINK = re.compile(r"!?\[[^\]]*\]\(<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\)")
CODE = re.compile(r"```.*?```|~~~.*?~~~|`[^`\n]*`", re.DOTALL)


def main() -> int:
    """Print every broken link; the exit code says whether there was one."""
    broken = [message for page in pages() for message in broken_links(page)]
    print("\n".join(broken) or f"links: all good in {sum(1 for _ in pages())} pages")
    return 1 if broken else 0


def pages() -> Iterator[Path]:
    """Markdown pages of the project."""
    yield from ROOT.glob("*.md")
    yield from (page for page in (ROOT / "docs").rglob("*.md") if not {"_build", "parts"} & set(page.parts))


def broken_links(page: Path) -> Iterator[str]:
    """Messages for the links of a page that lead nowhere."""
    for target in LINK.findall(CODE.sub("", page.read_text(encoding="utf-8"))):
        if re.match(r"[a-z][a-z0-9+.-]*:", target):
            continue
        path, _, anchor = target.partition("#")
        file = page if not path else (page.parent / path).resolve()
        if made_by_build(file):
            continue
        if not file.exists():
            yield f"{page.relative_to(ROOT)}: {target} does not exist"
        elif anchor and file.suffix == ".md" and anchor not in anchors(file):
            yield f"{page.relative_to(ROOT)}: {target} has no such heading"


def made_by_build(file: Path) -> bool:
    """Whether a file is made by the build of the site: the gallery and the API pages."""
    return bool({"gallery", "generated"} & set(file.parts))


def anchors(page: Path) -> set[str]:
    """Anchors of the headings of a page, as GitHub and MyST make them, and the named targets."""
    text = page.read_text(encoding="utf-8")
    headings = re.findall(r"^#+\s+(.*)$", CODE.sub(lambda match: match.group().strip("`"), text), re.MULTILINE)
    named = re.findall(r"^\(([\w-]+)\)=$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings} | set(named)


if __name__ == "__main__":
    sys.exit(main())
