"""The quorum path as ribbons: groups for every quorum, from coarse to fine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from biconsensus.plots._drawing import new_axes
from biconsensus.plots._palette import color_of
from biconsensus.protocols import FloatArray, IntArray

if TYPE_CHECKING:
    from biconsensus.quorum._path import QuorumPath


@dataclass(frozen=True)
class PathRibbons:
    """A quorum path as a picture: one column for each place, elements in an order in which groups hang together."""

    groups: IntArray
    """(height, P) group at each place, -1 for none."""
    origin: IntArray
    """(height, P) group of the chosen place that most elements of that group are in."""
    quorums: FloatArray
    """(P,) quorum of each place, from coarse to fine."""
    n_groups: IntArray
    """(P,) number of groups."""
    scores: FloatArray
    """(P,) how well each place fits the pool."""
    chosen: int
    """The place with the largest score."""


def path_ribbons(path: QuorumPath, height: int = 400) -> PathRibbons:
    """The quorum path as a picture of bounded height.

    Parameters
    ----------
    path : QuorumPath
        Groups for every quorum.
    height : int
        Lines of the picture; each stands for an equal share of the elements.

    Returns
    -------
    PathRibbons
        The picture as numbers.

    Examples
    --------
    >>> import biconsensus as bc
    >>> from biconsensus.quorum import QuorumPath
    >>> base = [[0] * 8 + [1] * 8] * 4 + [[0] * 4 + [1] * 4 + [2] * 4 + [3] * 4] * 4
    >>> ribbons = path_ribbons(QuorumPath.of(bc.Pool.from_labels(base), min_elements=2, min_candidates=2), height=16)
    >>> int(ribbons.n_groups.min()), int(ribbons.n_groups.max())
    (2, 4)
    """
    points = path.points[::-1]
    labels = np.stack([point.row_labels for point in points], axis=1)
    counts = path.problem.counts
    order = np.lexsort(labels.T[::-1])  # the coarsest place is the first key
    middle = (np.arange(height) + 0.5) / height * counts.sum()
    rows = order[np.searchsorted(np.cumsum(counts[order]), middle, side="right")]
    chosen = next(k for k, point in enumerate(points) if point is path.best)
    origin = np.stack([_origin(labels[:, k], labels[:, chosen], counts) for k in range(len(points))], axis=1)
    return PathRibbons(
        groups=labels[rows],
        origin=origin[rows],
        quorums=np.array([float(point.quorum) for point in points]),
        n_groups=np.array([len(point) for point in points]),
        scores=np.array([path.score(point) for point in points]),
        chosen=chosen,
    )


def _origin(labels: IntArray, chosen: IntArray, counts: IntArray) -> IntArray:
    """(r,) for each row, the chosen group that most elements of its own group are in."""
    width = int(chosen.max(initial=-1)) + 2
    cells = np.bincount((labels + 1) * width + chosen + 1, counts, minlength=(int(labels.max(initial=-1)) + 2) * width)
    majority = cells.reshape(-1, width).argmax(axis=1) - 1
    return np.where(labels < 0, -1, majority[labels + 1])


def quorum_path(path: QuorumPath, *, ax: Any = None) -> Any:
    """Draw the quorum path: columns are quorums from coarse to fine, ribbons are groups.

    Colours follow the groups at the chosen quorum, which is marked; lines separate the groups at one quorum.

    Parameters
    ----------
    path : QuorumPath
        Groups for every quorum.
    ax : matplotlib Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib Axes
        What was drawn on.

    Examples
    --------
    >>> import biconsensus as bc
    >>> from biconsensus.quorum import QuorumPath
    >>> quorum_path(QuorumPath.of(bc.Pool.from_labels([[0] * 8 + [1] * 8] * 4))).get_xlabel()
    'quorum (groups found)'
    """
    from matplotlib.colors import to_rgb

    ax = new_axes(ax, figsize=(9, 4))
    ribbons = path_ribbons(path)
    kinds = np.unique(ribbons.origin)
    table = np.array([to_rgb(color_of(int(kind))) for kind in kinds])
    ax.imshow(table[np.searchsorted(kinds, ribbons.origin)], aspect="auto", interpolation="nearest")
    for place, column in enumerate(ribbons.groups.T):
        borders = np.flatnonzero(np.diff(column)) + 0.5
        ax.hlines(borders, place - 0.5, place + 0.5, colors="white", linewidths=1)
    ax.axvspan(ribbons.chosen - 0.5, ribbons.chosen + 0.5, fill=False, edgecolor="black", linewidth=2)
    ticks = [f"{quorum:.3g}\n({n})" for quorum, n in zip(ribbons.quorums, ribbons.n_groups)]
    ax.set_xticks(range(len(ticks)), ticks, fontsize=7)
    ax.set(xlabel="quorum (groups found)", ylabel="elements", yticks=[])
    return ax
