"""The picture of the domain: points, a network, or fitted models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from biconsensus.errors import InputError
from biconsensus.plots._layout import GraphDrawing, group_graph, in_plane, model_bands, node_positions
from biconsensus.protocols import FloatArray, IntArray
from biconsensus.report._data import element_names

if TYPE_CHECKING:
    from biconsensus.result._consensus import Consensus

MOST_POINTS = 4000
"""Points that are drawn: more only cover one another."""
MOST_NODES = 1500
"""Nodes that are drawn, as the layout is quadratic."""
MOST_EDGES = 15000
"""Links that are drawn, the heaviest first."""
MOST_BANDS = 40
"""Models whose bands are drawn."""


@dataclass(frozen=True)
class FittedModels:
    """What a report needs to draw fitted models.

    Parameters
    ----------
    model : Model
        What was fitted.
    params : (k, p) array
        Its instances, in the order of the groups.
    threshold : float
        Half width of their bands.
    labels : (m,) int array, optional
        Model of each element, -1 for outliers; the labels of the consensus if not given.

    Examples
    --------
    >>> import numpy as np
    >>> FittedModels("line", np.zeros((1, 3)), 0.1).threshold
    0.1
    """

    model: Any
    params: Any
    threshold: float
    labels: Any = None


def domain_view(consensus: Consensus, X: Any, graph: Any, models: FittedModels | None) -> dict[str, Any] | None:
    """The view that fits what was given, or none."""
    if graph is not None:
        return network_view(consensus, graph)
    if X is None:
        return None
    X = np.asarray(X, np.float64)
    if X.ndim != 2 or X.shape[0] != consensus.labels.size:
        raise InputError(
            f"X must have one row for each of the {consensus.labels.size} elements; its shape is {X.shape}."
        )
    return points_view(consensus, X) if models is None else models_view(consensus, X, models)


def points_view(consensus: Consensus, X: FloatArray, labels: IntArray | None = None) -> dict[str, Any]:
    """Points by group, a sample of them where there are many."""
    labels = consensus.labels if labels is None else labels
    m = labels.size
    chosen = np.arange(m) if m <= MOST_POINTS else np.linspace(0, m - 1, MOST_POINTS).astype(np.int64)
    plane, axes = in_plane(X)
    note = "Each dot is an element, coloured by its group; grey dots are in none."
    if X.shape[1] > 2:
        note += f" The {X.shape[1]} coordinates are projected on the two directions of largest variance."
    if m > MOST_POINTS:
        note += f" A sample: {MOST_POINTS:,} of {m:,} elements are drawn."
    return {
        "title": "The elements",
        "note": note,
        "axes": list(axes),
        "equal": False,
        **_dots(plane[chosen], labels[chosen]),
        "names": element_names(consensus, chosen),
        "backing": np.round(consensus.backing[chosen], 3).tolist(),
    }


def _dots(plane: FloatArray, labels: IntArray) -> dict[str, Any]:
    """Coordinates to five digits of their range, and groups."""
    span = max(float(np.ptp(plane, axis=0).max(initial=0)), 1e-300)
    digits = int(np.clip(5 - np.floor(np.log10(span)), 0, 300))
    return {
        "x": np.round(plane[:, 0], digits).tolist(),
        "y": np.round(plane[:, 1], digits).tolist(),
        "groups": labels.tolist(),
    }


def network_view(consensus: Consensus, graph: Any) -> dict[str, Any]:
    """Nodes and edges, or one dot for each community of a large network."""
    small = consensus.labels.size <= MOST_NODES
    if small:
        drawing, note = node_positions(graph, consensus.labels), "Each dot is a node, coloured by its community."
        names, sizes = element_names(consensus, np.arange(consensus.labels.size)), np.full(consensus.labels.size, 4.5)
    else:
        drawing = group_graph(graph, consensus)
        note = f"{consensus.labels.size:,} nodes are too many to draw: each dot is a community, its area the size."
        if drawing.labels.size < len(consensus):
            note += f" The {drawing.labels.size:,} largest of {len(consensus):,} are drawn."
        counts = np.bincount(consensus.labels + 1, minlength=len(consensus) + 1)
        names = [f"{counts[group + 1]:,} nodes" for group in drawing.labels]
        largest = min(26.0, 110.0 / np.sqrt(drawing.labels.size))
        sizes = largest * np.maximum(np.sqrt(drawing.sizes / drawing.sizes.max()), 0.2)
    kept = _strongest(drawing, MOST_EDGES if small else 4 * drawing.labels.size)
    if kept.size < len(drawing.edges):
        note += f" The {kept.size:,} strongest of {len(drawing.edges):,} lines are drawn."
    return {
        "title": "The network",
        "note": note,
        "equal": True,
        **_dots(drawing.positions, drawing.labels),
        "names": names,
        "sizes": np.round(sizes, 1).tolist(),
        "edges": drawing.edges[kept].tolist(),
        "widths": np.round(drawing.widths[kept], 2).tolist(),
    }


def _strongest(drawing: GraphDrawing, most: int) -> IntArray:
    """The widest lines, as many as a page can take."""
    return np.sort(np.argsort(-drawing.widths, kind="stable")[:most])


def models_view(consensus: Consensus, X: FloatArray, models: FittedModels) -> dict[str, Any]:
    """Points by model, the models as bands where the plane allows it, and the residuals."""
    params = np.asarray(models.params, np.float64)
    labels = consensus.labels if models.labels is None else np.asarray(models.labels)
    view = points_view(consensus, X, labels)
    view["title"] = "The elements and the fitted models"
    view["residuals"] = _residuals(X, models, params)
    if X.shape[1] == 2:
        bands = model_bands(X, models.model, params[:MOST_BANDS], models.threshold)
        view["bands"] = [np.round(band, 5).ravel().tolist() for band in bands]
        view["equal"] = True
        view["note"] += f" Lines bound the band of each model, {models.threshold:g} to either side."
    return view


def _residuals(X: FloatArray, models: FittedModels, params: FloatArray) -> dict[str, Any] | None:
    """Histogram of the distance to the nearest model, up to four thresholds."""
    if len(params) == 0:
        return None
    step = max(1, X.shape[0] // 200_000)
    distances = models.model.residuals(params, X[::step]).min(axis=1)
    counts, edges = np.histogram(distances, bins=40, range=(0.0, 4 * models.threshold))
    return {"edges": edges.tolist(), "counts": counts.tolist(), "threshold": models.threshold}
