"""Pictures of the data themselves: points, networks, fitted models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from biconsensus.plots._drawing import new_axes
from biconsensus.plots._layout import group_graph, in_plane, model_bands, node_positions
from biconsensus.plots._palette import color_of, marker_of
from biconsensus.protocols import FloatArray, IntArray

if TYPE_CHECKING:
    from biconsensus.result._consensus import Consensus


def scatter(consensus: Consensus, X: Any, *, ax: Any = None) -> Any:
    """Draw the elements as points by group; more than two dimensions are projected on two (PCA).

    Parameters
    ----------
    consensus : Consensus
        A result.
    X : (m, d) array
        Data.
    ax : matplotlib Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib Axes
        What was drawn on.

    Examples
    --------
    >>> import biconsensus as bc, numpy as np
    >>> c = bc.find_consensus([[0, 1] * 8] * 4)
    >>> len(scatter(c, np.arange(32.0).reshape(16, 2)).collections)
    2
    """
    plane, names = in_plane(np.asarray(X, np.float64))
    ax = draw_points(plane, consensus.labels, new_axes(ax))
    ax.set(xlabel=names[0], ylabel=names[1])
    return ax


def draw_points(plane: FloatArray, labels: IntArray, ax: Any, size: float = 14) -> Any:
    """Points by group, outliers first and small."""
    for group in np.unique(labels):
        own = plane[labels == group]
        ax.scatter(*own.T, s=size / 2 if group < 0 else size, c=color_of(int(group)), marker=marker_of(int(group)))
    return ax


def network(consensus: Consensus, graph: Any, *, most: int = 2000, ax: Any = None) -> Any:
    """Draw a network by community; a large one as its communities and what runs between them.

    Parameters
    ----------
    consensus : Consensus
        A result over the nodes of the graph.
    graph : (m, m) sparse array or networkx Graph
        The network; its nodes in the order of the elements.
    most : int
        Above this number of nodes each community is one dot.
    ax : matplotlib Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib Axes
        What was drawn on.

    Examples
    --------
    >>> import biconsensus as bc, numpy as np
    >>> block = np.kron(np.eye(2), np.ones((8, 8)))
    >>> c = bc.find_consensus([[0] * 8 + [1] * 8] * 4)
    >>> network(c, block).axison
    False
    """
    from matplotlib.collections import LineCollection

    ax = new_axes(ax)
    drawing = (
        node_positions(graph, consensus.labels) if consensus.labels.size <= most else group_graph(graph, consensus)
    )
    lines = drawing.positions[drawing.edges]
    ax.add_collection(LineCollection(list(lines), colors="#B0B0B0", linewidths=drawing.widths, zorder=0))
    for group in np.unique(drawing.labels):
        own = drawing.labels == group
        ax.scatter(
            *drawing.positions[own].T,
            s=drawing.sizes[own],
            c=color_of(int(group)),
            marker=marker_of(int(group)),
            edgecolors="white",
            linewidths=0.5,
        )
    ax.set_aspect("equal")
    ax.axis("off")
    return ax


def models(X: Any, model: Any, params: Any, labels: Any, threshold: float, *, ax: Any = None) -> Any:
    """Draw points of the plane by model, with the band of each model where the residual is under the threshold.

    Parameters
    ----------
    X : (m, 2) array
        Points.
    model : Model
        What was fitted.
    params : (k, p) array
        Its instances.
    labels : (m,) int array
        Model of each point, -1 for outliers.
    threshold : float
        Half width of the bands.
    ax : matplotlib Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib Axes
        What was drawn on.

    Examples
    --------
    >>> import numpy as np
    >>> from biconsensus.models import get_model
    >>> X = np.column_stack([np.linspace(0, 1, 9), np.zeros(9)])
    >>> line = get_model("line")
    >>> params = line.fit(X[None, [0, -1]])
    >>> len(models(X, line, params, np.zeros(9, int), 0.1).collections)
    2
    """
    from matplotlib.collections import LineCollection

    ax = new_axes(ax)
    X, labels = np.asarray(X, np.float64), np.asarray(labels)
    draw_points(X, labels, ax)
    for group, band in enumerate(model_bands(X, model, np.asarray(params, np.float64), threshold)):
        ax.add_collection(LineCollection(list(band.reshape(-1, 2, 2)), colors=color_of(group), linewidths=1, alpha=0.7))
    ax.set_aspect("equal")
    return ax


def residuals(X: Any, model: Any, params: Any, threshold: float, *, bins: int = 40, ax: Any = None) -> Any:
    """Draw the histogram of the distances to the nearest model, up to four times the threshold.

    Parameters
    ----------
    X : (m, d) array
        Data.
    model : Model
        What was fitted.
    params : (k, p) array
        Its instances.
    threshold : float
        Drawn as a line.
    bins : int
        Number of bars.
    ax : matplotlib Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib Axes
        What was drawn on.

    Examples
    --------
    >>> import numpy as np
    >>> from biconsensus.models import get_model
    >>> X = np.column_stack([np.linspace(0, 1, 9), np.zeros(9)])
    >>> line = get_model("line")
    >>> residuals(X, line, line.fit(X[None, [0, -1]]), 0.1).get_xlabel()
    'distance to the nearest model'
    """
    ax = new_axes(ax)
    distances = model.residuals(np.asarray(params, np.float64), np.asarray(X, np.float64)).min(axis=1)
    ax.hist(distances, bins=bins, range=(0.0, 4 * threshold), color=color_of(0))
    ax.axvline(threshold, color=color_of(3), linestyle="--")
    ax.set(xlabel="distance to the nearest model", ylabel="elements")
    return ax
