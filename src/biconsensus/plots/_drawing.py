"""What all drawings share: axes on demand, groups in colours."""

from __future__ import annotations

from typing import Any

from biconsensus._checks import need


def new_axes(ax: Any = None, **options: Any) -> Any:
    """The given axes, or the axes of a new figure (Agg where no backend was chosen needs no screen)."""
    if ax is not None:
        return ax
    plt = need("matplotlib.pyplot", "plots")
    return plt.subplots(layout="constrained", **options)[1]
