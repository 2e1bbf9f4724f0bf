"""How far an answer has settled: the curve of agreement over the number of sources."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from biconsensus.growing._convergence import STAYS
from biconsensus.plots._drawing import new_axes
from biconsensus.plots._palette import color_of

if TYPE_CHECKING:
    from biconsensus.growing import Convergence


def convergence(found: Convergence, *, ax: Any = None) -> Any:
    """Draw how well the answers of fewer sources agree with that of all of them.

    Parameters
    ----------
    found : Convergence
        `converged` of a consensus.
    ax : matplotlib Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib Axes
        What was drawn on.

    Examples
    --------
    >>> import biconsensus as bc
    >>> convergence(bc.find_consensus([[0] * 8 + [1] * 8] * 8).converged).get_xlabel()
    'sources'
    """
    ax = new_axes(ax, figsize=(5, 3.2))
    ax.axhline(STAYS, color="0.6", lw=1, ls="--")
    ax.plot(found.n_sources, found.agreement, marker="o", color=color_of(0), clip_on=False)
    if found.expected == found.expected:  # not a number where it cannot be told
        ax.plot(4 * found.n_sources[-1], found.expected, marker="o", mfc="white", color=color_of(3), ls="none")
        place = 4 * found.n_sources[-1], found.expected
        how = {"textcoords": "offset points", "ha": "right", "va": "top", "fontsize": 8}
        ax.annotate("expected of four times as many", place, (4, -8), **how)
    ax.set_xscale("log", base=2)
    ax.set_xticks(
        [*found.n_sources, 4 * found.n_sources[-1]], [*map(str, found.n_sources), str(4 * found.n_sources[-1])]
    )
    low = min(float(found.agreement.min()), found.expected if found.expected == found.expected else 1.0)
    ax.set(xlabel="sources", ylabel="agreement with the answer (ARI)", ylim=(low - 0.25 * (1.02 - low), 1.01))
    return ax
