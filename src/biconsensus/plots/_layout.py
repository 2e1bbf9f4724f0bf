"""Where things are drawn: projections, positions of nodes, outlines of models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import coo_array, csr_array, issparse

from biconsensus._checks import need
from biconsensus.plots._contours import level_segments
from biconsensus.protocols import FloatArray, IntArray

if TYPE_CHECKING:
    from biconsensus.result._consensus import Consensus

SAMPLE = 5000
"""Elements from which a plane is found: more do not move it visibly."""
MOST_DOTS = 300
"""Groups of a large network that are drawn, the largest ones: more do not fit on a page."""
GRID = 240
"""Points along each axis at which the residuals of a model are taken: about one for every three pixels."""


def in_plane(X: FloatArray) -> tuple[FloatArray, tuple[str, str]]:
    """Points in the plane and the names of its axes: unchanged, or the first two principal components.

    Parameters
    ----------
    X : (m, d) array
        Data.

    Returns
    -------
    plane : (m, 2) float array
        Coordinates.
    names : pair of str
        Names of the axes, with the share of the variance they explain.

    Examples
    --------
    >>> import numpy as np
    >>> in_plane(np.eye(3)[:, :1])[0].tolist()
    [[1.0, 0.0], [0.0, 0.0], [0.0, 0.0]]
    """
    if X.shape[1] == 2:
        return X, ("x", "y")
    if X.shape[1] == 1:
        return np.column_stack([X[:, 0], np.zeros(X.shape[0])]), ("x", "")
    step = max(1, X.shape[0] // SAMPLE)  # the components of a sample are enough for a picture
    centre = X[::step].mean(axis=0)
    _, values, components = np.linalg.svd(X[::step] - centre, full_matrices=False)
    shares = values**2 / max(float((values**2).sum()), 1e-300)
    signs = np.sign(components[:2][np.arange(2), np.abs(components[:2]).argmax(axis=1)])
    plane = (X - centre) @ (components[:2] * signs[:, None]).T
    first, second = (f"component {number + 1} ({shares[number]:.0%} of the variance)" for number in (0, 1))
    return plane, (first, second)


@dataclass(frozen=True)
class GraphDrawing:
    """Dots and lines of a network."""

    positions: FloatArray
    """(k, 2) coordinates."""
    edges: IntArray
    """(e, 2) indices of the ends."""
    widths: FloatArray
    """(e,) widths of the lines."""
    sizes: FloatArray
    """(k,) areas of the dots."""
    labels: IntArray
    """(k,) groups of the dots."""


def adjacency_of(graph: Any) -> csr_array:
    """(m, m) symmetric adjacency of a networkx graph, sparse or dense matrix, without loops."""
    if hasattr(graph, "nodes") and hasattr(graph, "adj"):
        import networkx as nx

        graph = nx.to_scipy_sparse_array(graph, format="csr")
    matrix = csr_array(graph if issparse(graph) else np.asarray(graph), dtype=np.float64)
    matrix = csr_array(matrix + matrix.T)
    matrix.setdiag(0)
    matrix.eliminate_zeros()
    return matrix


def node_positions(graph: Any, labels: IntArray) -> GraphDrawing:
    """Place the nodes by a spring layout in which edges inside a group pull more.

    Parameters
    ----------
    graph : (m, m) sparse array or networkx Graph
        Network.
    labels : (m,) int array
        Groups.

    Returns
    -------
    GraphDrawing
        Dots and lines.

    Examples
    --------
    >>> import numpy as np
    >>> drawing = node_positions(np.ones((4, 4)), np.array([0, 0, 1, 1]))
    >>> drawing.positions.shape, drawing.edges.shape
    ((4, 2), (6, 2))
    """
    matrix = coo_array(adjacency_of(graph))
    upper = matrix.coords[0] < matrix.coords[1]
    edges = np.column_stack([axis[upper] for axis in matrix.coords])
    inside = (labels[edges[:, 0]] == labels[edges[:, 1]]) & (labels[edges[:, 0]] >= 0)
    positions = _spring(labels.size, edges, np.where(inside, 4.0, 1.0))
    return GraphDrawing(positions, edges, np.full(len(edges), 0.6), np.full(labels.size, 40.0), labels)


def group_graph(graph: Any, consensus: Consensus) -> GraphDrawing:
    """One dot for each of the largest groups, as large as it, and lines as wide as what runs between them.

    Parameters
    ----------
    graph : (m, m) sparse array or networkx Graph
        Network.
    consensus : Consensus
        A result over its nodes.

    Returns
    -------
    GraphDrawing
        Dots and lines.

    Examples
    --------
    >>> import biconsensus as bc, numpy as np
    >>> c = bc.find_consensus([[0] * 8 + [1] * 8] * 4)
    >>> group_graph(np.ones((16, 16)), c).edges.tolist()
    [[0, 1]]
    """
    labels = consensus.labels
    groups = np.arange(-1 if (labels < 0).any() else 0, len(consensus))
    sizes = np.bincount(labels - groups[0], minlength=groups.size).astype(np.float64)
    kept = np.sort(np.argsort(-sizes, kind="stable")[:MOST_DOTS])
    pick = csr_array((np.ones(labels.size), labels - groups[0], np.arange(labels.size + 1)), (labels.size, groups.size))
    pick = csr_array(pick[:, kept])
    between = np.triu((pick.T @ adjacency_of(graph) @ pick).toarray(), 1)
    edges = np.argwhere(between > 0)
    weights = between[tuple(edges.T)]
    positions = _spring(kept.size, edges, weights)
    areas = 1500 / max(1.0, kept.size / 20) * sizes[kept] / sizes.max()
    return GraphDrawing(positions, edges, 5 * weights / weights.max(initial=1), areas, groups[kept])


def _spring(n: int, edges: IntArray, weights: FloatArray) -> FloatArray:
    """Spring layout by networkx."""
    nx = need("networkx", "graph")
    graph: Any = nx.Graph()
    graph.add_nodes_from(range(n))
    graph.add_weighted_edges_from((int(a), int(b), float(w)) for (a, b), w in zip(edges, weights))
    # the force method adds random numbers of its own only through the seed
    placed = nx.spring_layout(graph, seed=0, iterations=80 if n <= 500 else 40, method="force")
    return np.array([placed[node] for node in range(n)]).reshape(n, 2)


def model_bands(X: FloatArray, model: Any, params: FloatArray, threshold: float) -> list[FloatArray]:
    """Outlines of the bands around models of the plane, where the residual equals the threshold.

    Parameters
    ----------
    X : (m, 2) float array
        Points; their box, a little enlarged, is where the bands are followed.
    model : Model
        What was fitted.
    params : (k, p) float array
        Its instances.
    threshold : float
        Half width of the bands.

    Returns
    -------
    list of (s, 4) float arrays
        Short segments x1, y1, x2, y2 of each band.

    Examples
    --------
    >>> import numpy as np
    >>> from biconsensus.models import get_model
    >>> X = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 1.0]])
    >>> line = get_model("line")
    >>> band, = model_bands(X, line, line.fit(X[None, :2]), 0.1)
    >>> float(np.abs(band[:, 1]).max().round(6))
    0.1
    """
    low, high = X.min(axis=0), X.max(axis=0)
    margin = np.maximum(0.03 * (high - low), threshold)
    x, y = (np.linspace(low[axis] - margin[axis], high[axis] + margin[axis], GRID) for axis in (0, 1))
    points = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    values = [model.residuals(params[[k]], points)[:, 0].reshape(GRID, GRID) for k in range(len(params))]
    return [level_segments(value, x, y, threshold) for value in values]
