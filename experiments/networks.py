"""What the community experiments share: pictures of networks, base runs, and their scores."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from biconsensus import metrics
from biconsensus.graphs._graph import Graph, from_ends
from biconsensus.plots._palette import color_of, marker_of


def layout(graph: Graph, seed: int = 0) -> Any:
    """(m, 2) positions by springs, the same for every picture of a network."""
    import networkx as nx

    network = nx.from_scipy_sparse_array(graph.adjacency)
    positions = nx.spring_layout(network, seed=seed, iterations=100, k=1.6 / np.sqrt(graph.n_nodes))
    return np.array([positions[i] for i in range(graph.n_nodes)])


def draw_network(ax: Any, graph: Graph, labels: Any, positions: Any, title: str, ringed: Any = None) -> None:
    """One network coloured by community; nodes in no community are white, ringed ones have a black border."""
    from matplotlib.collections import LineCollection

    sources, targets, _ = graph.edges()
    lines = np.stack([positions[sources], positions[targets]], axis=1)
    ax.add_collection(LineCollection(list(lines), colors="#C4C4C4", linewidths=0.4, zorder=0))
    border = np.full(len(labels), 0.4) if ringed is None else np.where(ringed, 1.6, 0.4)
    for group in np.unique(labels):
        own = np.asarray(labels) == group
        face = "white" if group < 0 else color_of(int(group))
        marker = "o" if group < 0 else marker_of(int(group))
        ax.scatter(*positions[own].T, s=34, c=face, marker=marker, edgecolors="black", linewidths=border[own], zorder=2)
    ax.set_title(title, fontsize=9)
    ax.set_aspect("equal")
    ax.axis("off")


def matched(labels: Any, reference: Any) -> Any:
    """Labels renumbered so that colours follow those of a reference as far as possible."""
    from scipy.optimize import linear_sum_assignment

    labels, reference = np.asarray(labels), np.asarray(reference)
    own, wanted = np.unique(labels[labels >= 0]), np.unique(reference[reference >= 0])
    shared = np.array([[np.sum((labels == a) & (reference == b)) for b in wanted] for a in own])
    new = {}
    if shared.size:
        for row, column in zip(*linear_sum_assignment(-shared)):
            if shared[row, column] > 0:
                new[own[row]] = wanted[column]
    fresh = iter(range(int(reference.max(initial=-1)) + 1, int(reference.max(initial=-1)) + 2 + own.size))
    return np.array([-1 if v < 0 else new[v] if v in new else new.setdefault(v, next(fresh)) for v in labels])


def picture(rows: int, columns: int, size: float = 3.0) -> tuple[Figure, Any]:
    """A figure without a window, and its axes as a flat array."""
    figure = Figure(figsize=(size * columns, size * rows), layout="constrained")
    return figure, np.atleast_1d(figure.subplots(rows, columns)).ravel()


def scores(graph: Graph, labels: Any, truth: Any) -> tuple[float, float]:
    """Modularity and NMI."""
    return metrics.modularity(graph.adjacency, labels), metrics.nmi(truth, labels)


def draw_matrix(ax: Any, pool: Any, blocks: list[tuple[Any, Any]], title: str, order: Any = None) -> None:
    """The preference matrix (elements across, candidates down), entries coloured by the block they are in."""
    from matplotlib.colors import to_rgb

    held = pool.to_matrix().toarray().T > 0
    order = np.arange(held.shape[1]) if order is None else order
    image = np.ones((*held.shape, 3))
    image[held] = 0.72
    for k, (rows, columns) in enumerate(blocks):
        colour = np.array(to_rgb(color_of(k)))
        inside = np.zeros(held.shape, bool)
        inside[np.ix_(columns, rows)] = True
        image[inside & held] = colour
        image[inside & ~held] = 0.35 * colour + 0.65
    for edge in np.flatnonzero(np.diff(pool.source_of)) + 0.5:
        ax.axhline(edge, color="black", linewidth=0.6)
    ax.imshow(image[:, order], aspect="auto", interpolation="nearest")
    ax.set_xticks([])
    ax.set_yticks([])
    ax.set_title(title, fontsize=9)


def perturbed(graph: Graph, share: float, rng: np.random.Generator) -> Graph:
    """A copy in which a share of the edges moves: one end, chosen at random, goes to a random node not yet linked."""
    sources, targets, _ = graph.edges()
    ends, m = np.stack([sources, targets], axis=1), graph.n_nodes
    linked = set((sources * m + targets).tolist())
    for e in rng.choice(len(ends), round(share * len(ends)), replace=False):
        low, high = (int(x) for x in ends[e])
        while True:
            stays, new = int(ends[e][rng.integers(2)]), int(rng.integers(m))
            pair = min(stays, new), max(stays, new)
            if pair[0] != pair[1] and pair[0] * m + pair[1] not in linked:
                break
        linked.discard(low * m + high)
        linked.add(pair[0] * m + pair[1])
        ends[e] = pair
    return from_ends(ends[:, 0], ends[:, 1], np.ones(len(ends)), graph.names)
