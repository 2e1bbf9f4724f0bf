"""The picture of the domain: points, a network, or fitted models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import eigh

from biconsensus._checks import check_columns_are_numbers
from biconsensus._words import counted
from biconsensus.errors import InputError
from biconsensus.plots._layout import GraphDrawing, group_graph, model_bands, node_positions
from biconsensus.protocols import FloatArray, IntArray
from biconsensus.report._data import Sample, element_names
from biconsensus.report._encode import data_uri, packed, packed_range, round_off
from biconsensus.report._points import Stop, flow

if TYPE_CHECKING:
    from biconsensus.result._consensus import Consensus

MOST_COMPONENTS = 4
"""Principal components that can be chosen as axes."""
MOST_COLUMNS = 8
"""Columns of the data that can be chosen as axes, those that tell the groups apart best."""
MOST_DISCRIMINANT = 500
"""Columns up to which the directions that separate the groups are computed, as their cost is cubic."""
SMALL_DIFFERENCE = 0.2
"""Standard deviations between two means below which a column tells nothing: what Cohen (1988) calls a small effect."""
TELLING = 6
"""Features that are listed for a group."""
MOST_DESCRIBED = 100
"""Groups of one point whose features are listed."""
MOST_NODES = 1500
"""Nodes that are drawn, as the layout is quadratic."""
MOST_EDGES = 15000
"""Links that are drawn, the heaviest first."""
MOST_BANDS = 40
"""Models whose bands are drawn."""
MOST_STRETCHED = 3.0
"""Ratio of the ranges of two columns up to which both are drawn to one scale, so that distances look right."""
PARALLEL = 0.98
"""Cosine between the normals of two planes from which on they are too parallel to be seen from the edge together."""


@dataclass(frozen=True)
class FittedModels:
    """What a report needs to draw fitted models.

    Parameters
    ----------
    model : Model or list of k Models
        What was fitted; a list where there are several families.
    params : (k, p) array or list of k arrays
        Its instances, in the order of the groups.
    threshold : float
        Half width of their bands.

    Examples
    --------
    >>> import numpy as np
    >>> FittedModels("line", np.zeros((1, 3)), 0.1).threshold
    0.1
    """

    model: Any
    params: Any
    threshold: float

    def each(self) -> list[tuple[Any, FloatArray]]:
        """Model and parameters (1, p) of every instance."""
        params = [np.asarray(one, np.float64)[None] for one in self.params]
        kinds = list(self.model) if isinstance(self.model, list | tuple) else [self.model] * len(params)
        if len(kinds) != len(params):
            raise InputError(f"models names {counted(len(kinds), 'model')} for {len(params)} rows of parameters.")
        return list(zip(kinds, params))


def domain_view(
    stops: list[Stop],
    sample: Sample,
    X: Any,
    features: Sequence[str] | None,
    graph: Any,
    models: FittedModels | None,
    image: Any = None,
) -> dict[str, Any] | None:
    """The view that fits what was given, or none."""
    if image is not None and (X is None or graph is not None):
        raise InputError("image lies below points: give X, whose first two columns are pixels x and y, and no graph.")
    consensus = next(stop.consensus for stop in stops if stop.chosen)
    if graph is not None:
        return network_view(stops, consensus, graph)
    if X is None:
        return None
    given = X.columns if features is None and hasattr(X, "columns") else features
    check_columns_are_numbers(X)
    X = np.asarray(X, np.float64)
    if X.ndim != 2 or X.shape[0] != consensus.labels.size:
        raise InputError(
            f"X must have one row for each of the {consensus.labels.size} elements; its shape is {X.shape}."
        )
    names = [f"column {k + 1}" for k in range(X.shape[1])] if given is None else [str(name) for name in given]
    if len(names) != X.shape[1]:
        raise InputError(
            f"features must name the {counted(X.shape[1], 'column')} of X, got {counted(len(names), 'name')}."
        )
    if models is not None:
        view = models_view(consensus, sample, X, names, models)
    else:
        view = points_view(consensus, sample, X, names)
        view["features"] = telling_features(stops, sample, X, names)
    if image is not None:
        _lay_below(view, image, consensus, sample, X, names)
    return view


def _lay_below(
    view: dict[str, Any], image: Any, consensus: Consensus, sample: Sample, X: FloatArray, names: list[str]
) -> None:
    """Put a picture below the points: their first two columns are pixels, y downwards."""
    if X.shape[1] < 2:
        raise InputError(f"image needs points with pixels x and y in the first two columns; X has {X.shape[1]} column.")
    if X.shape[1] > 2:
        view["note"] = view["note"].replace(": choose what is drawn.", f"; drawn are {names[0]} and {names[1]}.")
    view["axes"] = points_view(consensus, sample, X[:, :2], ["x in pixels", "y in pixels"])["axes"]
    view.update({"image": data_uri(image), "equal": True})
    view["note"] += " Below them lies the picture; y counts downwards, and the first pixel is centred at 0, 0."


def points_view(consensus: Consensus, sample: Sample, X: FloatArray, names: list[str]) -> dict[str, Any]:
    """Points on axes that can be chosen."""
    dots = np.flatnonzero(sample.even)
    points = X[sample.elements[dots]]
    axes = _axes(points, consensus.labels[sample.elements[dots]], names)
    note = "Each dot is an element, coloured by its group; grey dots are in none."
    if X.shape[1] > 2:
        note += f" It has {X.shape[1]} coordinates: choose what is drawn."
        from biconsensus.sources._features import share_a_unit  # with scikit-learn, which few reports need

        note += "" if share_a_unit(points) else " Components are those of the standardised columns."
    if not sample.whole:
        note += f" A sample: {dots.size:,} of {sample.total:,} elements are drawn."
    return {
        "title": "The elements",
        "note": note,
        "equal": _alike(points),
        "dots": packed(dots),
        "axes": [{"name": name, **packed_range(values)} for name, values in axes],
        "features": None,
    }


def _alike(points: FloatArray) -> bool:
    """Whether two columns have ranges so alike that a picture in true proportions is not a strip."""
    if points.shape[1] != 2 or not len(points):
        return False
    ranges = np.ptp(points, axis=0)
    return bool(0 < ranges.max() <= MOST_STRETCHED * ranges.min())


def _axes(points: FloatArray, labels: IntArray, names: list[str]) -> list[tuple[str, FloatArray]]:
    """Axes to choose from: the coordinates, or components, directions that separate the groups, and telling columns."""
    d = points.shape[1]
    if d == 1:
        return [(names[0], points[:, 0]), ("", np.zeros(points.shape[0]))]
    if d == 2:
        return [(names[0], points[:, 0]), (names[1], points[:, 1])]
    from biconsensus.sources._features import in_one_unit

    scaled = in_one_unit(points)
    centred = scaled - scaled.mean(axis=0)
    _, values, components = np.linalg.svd(centred, full_matrices=False)
    shares = values**2 / max(float((values**2).sum()), 1e-300)
    kept = min(MOST_COMPONENTS, components.shape[0])
    signs = np.sign(components[:kept][np.arange(kept), np.abs(components[:kept]).argmax(axis=1)])
    found = [
        (f"component {k + 1} ({shares[k]:.0%} of the variance)", centred @ components[k] * signs[k])
        for k in range(kept)
    ]
    found += [(f"separates the groups, {k + 1}", axis) for k, axis in enumerate(_discriminant(centred, labels))]
    inside = labels >= 0
    strength = _separation(points[inside], labels[inside])
    found += [(names[k], points[:, k]) for k in np.argsort(-strength, kind="stable")[:MOST_COLUMNS]]
    return found


def _separation(points: FloatArray, labels: IntArray) -> FloatArray:
    """(d,) share of the variance of each column that lies between the groups."""
    if labels.size == 0:
        return np.zeros(points.shape[1])
    _, place, counts = np.unique(labels, return_inverse=True, return_counts=True)
    means = np.stack([np.bincount(place, column) / counts for column in points.T], axis=1)
    between = counts @ (means - points.mean(axis=0)) ** 2 / labels.size
    return np.asarray(between / np.maximum(points.var(axis=0), 1e-300))


def _discriminant(centred: FloatArray, labels: IntArray) -> list[FloatArray]:
    """Up to two directions along which groups lie furthest apart for their width (linear discriminants)."""
    inside = labels >= 0
    groups, place, counts = np.unique(labels[inside], return_inverse=True, return_counts=True)
    d = centred.shape[1]
    if groups.size < 2 or d > MOST_DISCRIMINANT:
        return []
    points = centred[inside]
    means = np.zeros((groups.size, d))
    np.add.at(means, place, points)
    means /= counts[:, None]
    rest = points - means[place]
    within = rest.T @ rest / points.shape[0]
    between = (means * counts[:, None]).T @ means / points.shape[0]
    ridge = 1e-6 * max(float(np.trace(within)) / d, 1e-300)
    _, directions = eigh(between, within + ridge * np.eye(d))
    number = min(2, groups.size - 1)
    chosen = directions[:, ::-1][:, :number].T
    return [centred @ (way * np.sign(way[np.abs(way).argmax()])) for way in chosen]


def telling_features(stops: list[Stop], sample: Sample, X: FloatArray, names: list[str]) -> dict[str, Any] | None:
    """For every group of every point, the columns whose mean inside lies furthest from that outside."""
    if X.shape[1] < 2:
        return None
    elements = sample.elements[sample.even]
    points = X[elements]
    spread = np.maximum(points.std(axis=0), 1e-300)
    total = points.sum(axis=0)
    found = []
    for stop in stops:
        labels = stop.consensus.labels[elements]
        groups: list[list[list[float | None]]] = []
        for group in range(min(len(stop.consensus), MOST_DESCRIBED)):
            own = labels == group
            number = int(own.sum())
            if number in (0, labels.size):
                groups.append([])
                continue
            inside = points[own].sum(axis=0)
            mean, rest = inside / number, (total - inside) / (labels.size - number)
            apart = (mean - rest) / spread
            top = np.argsort(-np.abs(apart), kind="stable")[:TELLING]
            tell = [k for k in top if abs(apart[k]) >= SMALL_DIFFERENCE] or top[:1]
            groups.append([[int(k), *(round_off(v[k], 4) for v in (apart, mean, rest))] for k in tell])
        found.append(groups)
    used = sorted({int(row[0] or 0) for groups in found for rows in groups for row in rows})
    return {"names": {str(k): names[k] for k in used}, "groups": found}


def network_view(stops: list[Stop], consensus: Consensus, graph: Any) -> dict[str, Any]:
    """Nodes and edges, or one dot for each community of a large network."""
    small = consensus.labels.size <= MOST_NODES
    if small:
        drawing, note = node_positions(graph, consensus.labels), "Each dot is a node, coloured by its community."
        names, sizes = (
            element_names(consensus.pool, np.arange(consensus.labels.size)),
            np.full(consensus.labels.size, 4.5),
        )
    else:
        drawing = group_graph(graph, consensus)
        note = (
            f"{consensus.labels.size:,} nodes are too many to draw: each dot is a community of the answer, its area "
            "the size, in the colour of the group that most of it has at the point of the slider."
        )
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
        "dots": packed(np.arange(consensus.labels.size)) if small else None,
        "groupsAt": None if small else [_most_of(consensus, stop, drawing.labels) for stop in stops],
        "axes": [{"name": "", **packed_range(drawing.positions[:, k])} for k in (0, 1)],
        "names": names,
        "sizes": np.round(sizes, 1).tolist(),
        "edges": drawing.edges[kept].tolist(),
        "widths": np.round(drawing.widths[kept], 2).tolist(),
        "features": None,
    }


def _most_of(consensus: Consensus, stop: Stop, groups: IntArray) -> list[int]:
    """For groups of the answer, the group of a stop that holds most of each."""
    shared = flow(consensus.labels, stop.consensus.labels).tocsr()
    return [int(shared[[group + 1]].toarray().argmax()) - 1 for group in groups]


def _strongest(drawing: GraphDrawing, most: int) -> IntArray:
    """The widest lines, as many as a page can take."""
    return np.sort(np.argsort(-drawing.widths, kind="stable")[:most])


def models_view(
    consensus: Consensus, sample: Sample, X: FloatArray, names: list[str], models: FittedModels
) -> dict[str, Any]:
    """Points by model, the models as bands where the plane allows it, and the residuals."""
    view = points_view(consensus, sample, X, names)
    view["title"] = "The elements and the fitted models"
    view["residuals"] = _residuals(X, models)
    first = _first_axes(X[sample.elements[sample.even]], names, models)
    if first:
        view["axes"] = [{"name": name, **packed_range(values)} for name, values in first] + view["axes"]
    if X.shape[1] == 2:
        shown = models.each()[:MOST_BANDS]
        bands = [band for one, params in shown for band in model_bands(X, one, params, models.threshold)]
        view["bands"] = [np.round(band, 5).ravel().tolist() for band in bands]
        view["equal"] = True
        view["note"] += f" Lines bound the band of each model, {models.threshold:g} to either side."
    return view


def _first_axes(points: FloatArray, names: list[str], models: FittedModels) -> list[tuple[str, FloatArray]]:
    """Two axes that show models of more than two coordinates: planes from their edges, matches as in an image."""
    from biconsensus.models import FundamentalModel, HomographyModel, PlaneModel

    each = models.each()
    if not each or points.shape[1] < 3:
        return []
    if all(isinstance(one, PlaneModel) for one, _ in each):
        normals = np.stack([params[0, :3] for _, params in each])
        # the plane that is least parallel to the first one stands beside it
        other = int(np.abs(normals @ normals[0]).argmin())
        if abs(normals[other] @ normals[0]) > PARALLEL:
            return []
        shown = [(k, points @ normals[k] + each[k][1][0, 3]) for k in (0, other)]
        return [(f"signed distance to the plane of group {k}", values) for k, values in shown]
    if all(isinstance(one, HomographyModel | FundamentalModel) for one, _ in each):
        return [(f"{names[k]} (first image)", points[:, k]) for k in (0, 1)]
    return []


def _residuals(X: FloatArray, models: FittedModels) -> dict[str, Any] | None:
    """Histogram of the distance to the nearest model, up to four thresholds."""
    each = models.each()
    if not each:
        return None
    looked = X[:: max(1, X.shape[0] // 200_000)]
    # a family may look at the first columns only
    columns = [one.residuals(params, looked[:, : getattr(one, "n_features", None)])[:, 0] for one, params in each]
    distances = np.min(columns, axis=0)
    counts, edges = np.histogram(distances, bins=40, range=(0.0, 4 * models.threshold))
    return {"edges": edges.tolist(), "counts": counts.tolist(), "threshold": models.threshold}
