"""What every experiment hands back: a section of a reproduction page.

Each script of this folder is named ``<front>_<figure>_<what>.py`` and defines
``run(out: Path, quick: bool) -> Section``. Pictures are written into `out`; `reproduce.py` runs the scripts and
writes the pages.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Table:
    """A table of a page: numbers are formatted by the page, text is kept."""

    caption: str
    header: list[str]
    rows: list[list[object]]


@dataclass
class Section:
    """One figure or table of the paper beside ours."""

    title: str
    text: str
    tables: list[Table] = field(default_factory=list)
    pictures: list[tuple[str, str]] = field(default_factory=list)
    """(file name written in `out`, caption)."""
