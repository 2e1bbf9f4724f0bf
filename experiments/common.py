"""What every experiment hands back: a section of a reproduction page.

Each script of this folder is named ``<front>_<figure>_<what>.py`` and defines
``run(out: Path, quick: bool) -> Section``. Pictures are written into `out`; `reproduce.py` runs the scripts and
writes the pages.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import biconsensus as bc


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


def paper_consensus(pool: Any, **options: Any) -> bc.Consensus:
    """The settings of the paper (`Search.paper`), or others in their place."""
    return bc.find_consensus(pool, **{**bc.Search.paper().given(), **options})


def save(figure: Any, out: Path, name: str, dpi: int = 110) -> str:
    """Write a picture, close it, and give back its name."""
    from matplotlib import pyplot as plt

    figure.savefig(out / name, dpi=dpi)
    plt.close(figure)
    return name


def like_a_photograph(ax: Any) -> None:
    """Pixels: y points down, both axes have one scale, and no ticks."""
    ax.set_aspect("equal")
    ax.invert_yaxis()
    ax.set_xticks([])
    ax.set_yticks([])
