"""Fig. 1: two preference matrices, of a star of five segments and of four clusters."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from sklearn.cluster import KMeans

import biconsensus as bc
from biconsensus.datasets import load_jlinkage
from biconsensus.models import get_model
from biconsensus.sources._sampling import SamplingLaw, draw_samples
from experiments.common import Section, Table, paper_consensus
from experiments.shared_clustering import TIES_JOIN, draw_points, four_gaussians, scores

THRESHOLD = 0.03


def run(out: Path, quick: bool) -> Section:
    """Pools of lines and of clusterings, their bi-clusters, and the matrices reordered by them."""
    star, star_truth, lines = star_of_lines(500 if quick else 3000)
    X, truth = four_gaussians()
    base = [KMeans(k, n_init=3, random_state=k).fit_predict(X) for k in (3, 4, 4, 5, 6, 7)]
    clusters = paper_consensus(base, quorum=TIES_JOIN)
    draw(out / "clustering_fig1.png", [(star, lines), (X, clusters)])
    rows = [
        [
            "(a) segments of a star",
            star.shape[0],
            lines.pool.shape[1],
            5,
            len(lines),
            scores(star_truth, lines.labels)[0],
        ],
        ["(b) clusters", X.shape[0], clusters.pool.shape[1], 4, len(clusters), scores(truth, clusters.labels)[0]],
    ]
    header = ["pool", "elements", "candidates", "true groups", "groups found", "NMI"]
    return Section(
        "Fig. 1: two preference matrices",
        "Two pools whose groups are known. (a) 250 points lie on five segments. The candidates are lines "
        f"through pairs of points; a line holds the points within {THRESHOLD} of it, and lines with fewer "
        "than 10 points are left out. (b) 400 points lie in four clusters. The candidates are the clusters "
        "of k-means with k from 3 to 7. The paper shows here that the matrix consists of blocks. The "
        "bi-clusters recover them.",
        [Table("Both pools", header, rows)],
        [("clustering_fig1.png", "Data by group (left), and the preference matrix reordered by bi-cluster (right)")],
    )


def star_of_lines(n_samples: int) -> tuple[np.ndarray, np.ndarray, bc.Consensus]:
    """Points of the star, their true segments, and the consensus of sampled lines."""
    star, truth = load_jlinkage("Star5_S00075_O0")
    model = get_model("line")
    samples = draw_samples(star, 2, n_samples, np.random.default_rng(0), SamplingLaw())
    params = model.fit(star[samples])
    inside = model.residuals(params[np.isfinite(params).all(axis=1)], star) <= THRESHOLD
    pool = bc.Pool.from_matrix(inside[:, inside.sum(axis=0) >= 10])
    return star, truth, paper_consensus(pool)


def draw(path: Path, parts: list[tuple[np.ndarray, bc.Consensus]]) -> None:
    """Points and matrix of each pool."""
    import matplotlib.pyplot as plt

    from biconsensus.plots import preference_matrix

    figure, axes = plt.subplots(2, 2, figsize=(9, 8))
    for (left, right), (X, consensus) in zip(axes, parts):
        draw_points(left, X, consensus.labels)
        left.set_axis_off()
        preference_matrix(consensus, ax=right)
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    plt.close(figure)
