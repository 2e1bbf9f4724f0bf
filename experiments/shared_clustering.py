"""What the clustering experiments share: scores, ranks, panels of points, mixtures of Gaussians."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biconsensus.matrix._matrix import PreferenceMatrix
from biconsensus.methods._greedy import bicluster
from biconsensus.metrics import f_measure, nmi
from biconsensus.plots import color_of
from biconsensus.pool._pool import Pool
from biconsensus.solvers import get_solver

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

TIES_JOIN = 0.499
"""A quorum just below 1/2: an element that exactly half of the candidates hold joins, as in the paper's ADMM."""


def scores(truth: Any, labels: Any) -> tuple[float, float]:
    """NMI, and F-measure in percent, rounded as the paper prints them."""
    return round(nmi(truth, labels), 3), round(100 * f_measure(truth, labels), 2)


def rank(value: float, others: Sequence[float]) -> int:
    """Place of a value among others: 1 where none is above it."""
    return 1 + sum(other > value for other in others)


def paired(mine: tuple[float, float] | None) -> str:
    """NMI and F as one cell of a table."""
    return "–" if mine is None else f"{mine[0]:.3f} / {mine[1]:.2f}"


def mixture(sizes: Sequence[int], centres: Any, spreads: Any, seed: int) -> tuple[FloatArray, IntArray]:
    """Points of a mixture of Gaussians in the plane, each with two spreads and an angle, and their components."""
    rng = np.random.default_rng(seed)
    parts = []
    for size, centre, (long, short, angle) in zip(sizes, centres, spreads):
        turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
        parts.append(rng.normal(size=(size, 2)) * [long, short] @ turn + centre)
    return np.concatenate(parts), np.repeat(np.arange(len(sizes)), sizes)


def five_gaussians(seed: int = 0) -> tuple[FloatArray, IntArray]:
    """500 points of five Gaussians that touch (stand-in for the unpublished set of Fig. 2)."""
    centres = [[0, 0], [4.2, 0.6], [1.6, 4.2], [6.2, 4.8], [-3.6, 3.4]]
    spreads = [(1.0, 0.8, 0.3), (1.2, 0.6, 1.2), (1.1, 0.7, -0.4), (1.2, 0.9, 0.8), (0.9, 0.8, 0.0)]
    return mixture([100, 110, 90, 100, 100], centres, spreads, seed)


def four_gaussians(seed: int = 0) -> tuple[FloatArray, IntArray]:
    """400 points of four Gaussians, the size that the paper states for Fig. 1b."""
    centres = [[0, 0], [5, 0], [0, 5], [5.2, 5.2]]
    return mixture([100] * 4, centres, [(0.9, 0.7, 0.5)] * 4, seed)


def three_gaussians(seed: int = 0) -> tuple[FloatArray, IntArray]:
    """1200 points of three Gaussians (stand-in for the unpublished set of Fig. 3)."""
    centres = [[0, 0], [6.5, 0.5], [2.5, 6.0]]
    spreads = [(1.3, 0.8, 0.4), (1.1, 0.9, 1.0), (1.4, 0.7, -0.5)]
    return mixture([500, 400, 300], centres, spreads, seed)


def panels(
    path: Path,
    X: FloatArray,
    labelings: Sequence[tuple[str, Any]],
    columns: int,
    width: float = 2.3,
    height: float | None = None,
) -> None:
    """Draw one panel of points for each labelling."""
    import matplotlib.pyplot as plt

    lines = -(-len(labelings) // columns)
    figure, axes = plt.subplots(
        lines, columns, figsize=(width * columns, (height or width * 1.05) * lines), squeeze=False
    )
    for ax in axes.flat:
        ax.set_axis_off()
    for ax, (title, labels) in zip(axes.flat, labelings):
        draw_points(ax, X, np.asarray(labels))
        ax.set_title(title, fontsize=8)
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    plt.close(figure)


def draw_points(ax: Any, X: FloatArray, labels: IntArray) -> None:
    """Points in the colours of their groups; those in no group as grey crosses."""
    for label in np.unique(labels):
        inside = labels == label
        style = {"marker": "x", "color": "0.5"} if label < 0 else {"marker": "o", "color": color_of(int(label))}
        ax.scatter(*X[inside, :2].T, s=7, linewidths=0.6, **style)
    ax.set_aspect("equal")


def ellipse(ax: Any, points: FloatArray, color: Any) -> None:
    """Covariance of a set of points, at two standard deviations."""
    from matplotlib.patches import Ellipse

    values, vectors = np.linalg.eigh(np.cov(points.T))
    angle = float(np.degrees(np.arctan2(vectors[1, 1], vectors[0, 1])))
    size = 4 * np.sqrt(np.maximum(values, 0))
    ax.add_patch(Ellipse(points.mean(axis=0), size[1], size[0], angle=angle, fill=False, color=color, lw=1))


def draw_consensus(path: Path, X: FloatArray, truth: IntArray, consensus: Any, title: str) -> None:
    """Truth, groups of points, and the candidates behind each group as ellipses, side by side."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(10, 3.6))
    for ax, labels, name in zip(axes, (truth, consensus.labels), ("truth", title)):
        draw_points(ax, X, labels)
        ax.set_title(name, fontsize=9)
    held = consensus.pool.to_matrix().toarray() > 0
    for t, group in enumerate(consensus.biclusters):
        for j in group.candidates:
            if held[:, j].sum() > 2:
                ellipse(axes[2], X[held[:, j]], color_of(t))
    axes[2].set_xlim(axes[1].get_xlim())
    axes[2].set_ylim(axes[1].get_ylim())
    axes[2].set_aspect("equal")
    axes[2].set_title("base clusters behind each group", fontsize=9)
    for ax in axes:
        ax.set_axis_off()
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    plt.close(figure)


def draw_matrices(path: Path, consensus: Any) -> None:
    """The preference matrix in the given order and reordered by bi-cluster."""
    import matplotlib.pyplot as plt

    from biconsensus.plots import preference_matrix

    figure, axes = plt.subplots(1, 2, figsize=(9, 4))
    preference_matrix(consensus, reorder=False, ax=axes[0]).set_title("preference matrix", fontsize=9)
    preference_matrix(consensus, ax=axes[1]).set_title("by bi-cluster", fontsize=9)
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    plt.close(figure)


def sizes_of_last(base: Sequence[Any], solver: str, quorum: Fraction) -> tuple[str, str]:
    """Rows x columns of the bi-cluster that Algorithm 1 took last, and of the first that it discarded."""
    problem = PreferenceMatrix.from_pool(Pool.from_labels(list(base)))
    chosen = get_solver(solver)
    chosen.load(problem, quorum)
    found = bicluster(problem, chosen, min_elements=7, min_candidates=4, overlap=False, stop="first_small")

    def size(block: Any) -> str:
        return f"{problem.n_elements(block.rows)} × {int(block.columns[problem.members].sum())}"

    return size(found.blocks[-1]), "–" if found.discarded is None else size(found.discarded)
