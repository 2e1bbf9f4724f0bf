"""The modes of a pool side by side: which source is explained by which, and where their groups meet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from biconsensus._words import counted
from biconsensus.errors import InputError
from biconsensus.plots._drawing import new_axes
from biconsensus.plots._palette import color_of
from biconsensus.protocols import IntArray

if TYPE_CHECKING:
    from biconsensus.modes import Modes

MOST_LINES = 60
"""Sources that are drawn, one on each line; if there are more, evenly spaced ones are drawn."""


def modes(found: Modes, *, ax: Any = None) -> Any:
    """Draw what each mode explains of each source: sources are lines, in the order of their modes.

    Parameters
    ----------
    found : Modes
        What `find_modes` returned, with at least one mode.
    ax : matplotlib Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib Axes
        What was drawn on.

    Examples
    --------
    >>> import biconsensus as bc
    >>> modes(bc.find_modes([[0] * 20 + [1] * 20] * 3 + [[0, 1] * 20] * 3)).get_xlabel()
    'mode'
    """
    if not len(found):
        raise InputError("found: it has no mode to draw; its summary says why.")
    order = _order(found)
    height = 1.2 + 0.24 * order.size
    ax = new_axes(ax, figsize=(3.4 + 0.7 * len(found), max(2.4, height)))
    share = found.explains[order]
    ax.imshow(share, aspect="auto", interpolation="nearest", cmap="Blues", vmin=0.0, vmax=1.0)
    for line, source in enumerate(order):
        for k in range(len(found)):
            inside = found.source_modes[source] == k
            color = "white" if share[line, k] > 0.6 else "black"
            weight = "bold" if inside else "normal"
            ax.text(k, line, f"{share[line, k]:.0%}", ha="center", va="center", color=color, weight=weight, fontsize=8)
    ax.hlines(np.flatnonzero(np.diff(found.source_modes[order])) + 0.5, -0.5, len(found) - 0.5, colors="black", lw=1)
    names = [found.pool.sources[source].name for source in order]
    ax.set_yticks(range(order.size), [name if len(name) <= 28 else name[:27] + "…" for name in names], fontsize=8)
    ax.set_xticks(range(len(found)), [f"{k}\n({counted(len(mode), 'group')})" for k, mode in enumerate(found)])
    ax.set(xlabel="mode", title="Share of each source explained", ylabel="source")
    return ax


def mode_groups(found: Modes, first: int = 0, second: int = 1, *, ax: Any = None) -> Any:
    """Draw how the groups of two modes meet: areas are numbers of elements.

    Each column is a group of the first mode, as wide as it is large; inside it, the groups of the second mode.

    Parameters
    ----------
    found : Modes
        What `find_modes` returned, with two modes or more.
    first, second : int
        The modes to compare.
    ax : matplotlib Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib Axes
        What was drawn on.

    Examples
    --------
    >>> import biconsensus as bc
    >>> mode_groups(bc.find_modes([[0] * 20 + [1] * 20] * 3 + [[0, 1] * 20] * 3)).get_xlabel()
    'groups of mode 0'
    """
    for name, value in {"first": first, "second": second}.items():
        if not 0 <= value < len(found):
            raise InputError(f"{name}: received {value}; the pool has {counted(len(found), 'mode')}, numbered from 0.")
    ax = new_axes(ax, figsize=(5, 3.6))
    one, other = found[first].labels, found[second].labels
    width, ticks, left = max(one.size, 1), [], 0.0
    for a in range(-1, len(found[first])):
        own = other[one == a]
        if own.size == 0:
            continue
        share, bottom = own.size / width, 0.0
        for b in range(-1, len(found[second])):
            part = float((own == b).mean())
            ax.bar(left, part, share, bottom, align="edge", color=color_of(b), edgecolor="white", linewidth=1)
            bottom += part
        ticks.append((left + share / 2, "none" if a < 0 else str(a)))
        left += share
    ax.set_xticks([place for place, _ in ticks], [name for _, name in ticks])
    ax.set(xlim=(0, 1), ylim=(0, 1), xlabel=f"groups of mode {first}", ylabel=f"share of the groups of mode {second}")
    handles = [ax.bar(0, 0, color=color_of(b), label=str(b)) for b in np.unique(other[other >= 0])[:12]]
    ax.legend(handles=handles, title=f"mode {second}", fontsize=8, bbox_to_anchor=(1.0, 1.0), loc="upper left")
    return ax


def _order(found: Modes) -> IntArray:
    """Sources by mode, those in none last, the best explained first; at most as many as can be read."""
    own = found.source_modes
    best = found.explains.max(axis=1)
    order = np.lexsort((-best, np.where(own < 0, len(found), own)))
    return order[np.linspace(0, order.size - 1, min(order.size, MOST_LINES)).round().astype(np.int64)]
