"""The modes of the pool side by side, as plain values: the report and the explorer show the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from biconsensus.metrics import ari
from biconsensus.plots._palette import COLORS
from biconsensus.report._encode import plain

if TYPE_CHECKING:
    from biconsensus.modes import Mode, Modes
    from biconsensus.result._consensus import Consensus

MOST_SOURCES = 1000
"""Sources up to which modes are looked for, as many as a page lists: every pair of them is compared."""
MOST_MODES = 6
"""Modes that stand side by side; the summary tells of all."""
MOST_GROUPS = 30
"""Groups of a mode whose sizes are drawn; the others are one grey piece."""
MOST_NAMED = 12
"""Sources, and groups in common, that a column names; the others are counted."""
WIDTH = 100
"""Width of the drawn sizes, in units of the drawing."""


def modes_view(consensus: Consensus) -> dict[str, Any] | None:
    """A sentence, and one column for each mode where there are several; None where modes have no meaning.

    Parameters
    ----------
    consensus : Consensus
        A result. Overlapping groups, one source alone, and more sources than a page lists have no modes here.

    Returns
    -------
    dict or None
    """
    n_sources = len(consensus.pool.sources)
    if consensus.settings.get("overlap") or not 2 <= n_sources <= MOST_SOURCES:
        return None
    found = consensus.modes()
    if len(found) == 1 and len(found[0]) == 0:
        return None
    columns = [_column(found, k, consensus) for k in range(min(len(found), MOST_MODES))] if len(found) > 1 else []
    return {"summary": found.summary, "number": len(found), "columns": columns}


def _column(found: Modes, k: int, consensus: Consensus) -> dict[str, Any]:
    """What is said of one mode."""
    mode, pool = found[k], found.pool
    named = [pool.sources[s].name for s in mode.sources[:MOST_NAMED]]
    others = [
        {"mode": b, "alike": plain(round(float(found.agreement[k, b]), 2)), "groups": _in_common(found, k, b)}
        for b in range(len(found))
        if b != k
    ]
    return {
        "name": f"Mode {k}",
        "sources": mode.sources.tolist(),
        "named": named,
        "unnamed": int(mode.sources.size - len(named)),
        "groups": len(mode),
        "explained": round(100 * mode.explained),
        "answer": plain(round(ari(mode.labels, consensus.labels), 2)),
        **_sizes(mode),
        "others": others,
    }


def _sizes(mode: Mode) -> dict[str, Any]:
    """Sizes of the groups: in words, and as pieces of a bar."""
    labels = mode.labels
    sizes = np.bincount(labels[labels >= 0], minlength=len(mode))
    shown = [(int(size), COLORS[k % len(COLORS)]) for k, size in enumerate(sizes[:MOST_GROUPS])]
    edges = np.concatenate([[0], np.cumsum([size for size, _ in shown])]) * (WIDTH / max(labels.size, 1))
    pieces = [
        {"start": round(float(a), 3), "width": round(float(b - a), 3), "color": color}
        for (_, color), a, b in zip(shown, edges, edges[1:])
    ]
    words = ", ".join(f"{size:,}" for size, _ in shown) + (" …" if len(mode) > MOST_GROUPS else "")
    outside = int((labels < 0).sum())
    return {"sizes": words + (f"; {outside:,} in no group" if outside else ""), "pieces": pieces}


def _in_common(found: Modes, k: int, other: int) -> str:
    """The groups that a mode has in common with another, in words."""
    shared = []
    for one in found.shared_groups:
        if set(one.modes) == {k, other}:
            mine, theirs = one.groups if one.modes[0] == k else one.groups[::-1]
            shared.append(f"group {mine} is its group {theirs}")
    more = len(shared) - MOST_NAMED
    return ", ".join(shared[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
