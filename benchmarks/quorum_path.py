"""Three quorum paths with what was chosen and what the truth would choose; writes docs/pictures/quorum_path.png."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits, load_wine, make_blobs
from sklearn.preprocessing import scale

import biconsensus as bc
from biconsensus.metrics import ari
from biconsensus.quorum._path import QuorumPath

PICTURE = Path(__file__).resolve().parent.parent / "docs" / "pictures" / "quorum_path.png"


def runs(data: NDArray[Any], high: int) -> NDArray[Any]:
    """Twenty k-means runs, k from 2 to `high`."""
    rng = np.random.default_rng(0)
    return np.column_stack(
        [
            KMeans(int(k), n_init=1, init="random", random_state=seed).fit_predict(data)
            for seed, k in enumerate(rng.integers(2, high + 1, 20))
        ]
    )


def main() -> None:
    """Draw the picture."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    wine, digits = load_wine(), load_digits()
    blobs = make_blobs(500, centers=8, cluster_std=0.7, random_state=7)
    cases = {
        "wine, k in 2..12": (runs(scale(wine.data), 12), wine.target),
        "digits (600), k in 2..24": (runs(digits.data[:600], 24), digits.target[:600]),
        "eight blobs, k in 2..22": (runs(blobs[0], 22), blobs[1]),
    }
    figure, axes = plt.subplots(2, 3, figsize=(10, 5), sharex=True, layout="constrained")
    for column, (title, (table, truth)) in enumerate(cases.items()):
        pool = bc.Pool.from_labels(table)
        path = QuorumPath.of(pool)
        quorums = [float(point.quorum) for point in path.points]
        top, bottom = axes[:, column]
        top.step(quorums, [len(point) for point in path.points], where="mid", color="C0")
        bottom.plot(
            quorums, [ari(truth, path.labels(point)[pool.inverse]) for point in path.points], "o-", ms=3, color="C1"
        )
        scores = np.array([path.score(point) for point in path.points])
        bottom.plot(quorums, (scores - scores.min()) / np.ptp(scores), "--", color="0.5")
        for panel in (top, bottom):
            panel.axvline(float(path.best.quorum), color="C3", lw=1)
            panel.axvline(0.5, color="0.8", lw=1, zorder=0)
        top.set(title=title, xscale="log", ylim=(0, None))
        bottom.set(xlabel="quorum", ylim=(-0.02, 1.05))
    axes[0, 0].set_ylabel("groups")
    axes[1, 0].set_ylabel("ARI (solid), score (dashed)")
    figure.savefig(PICTURE, dpi=110)
    plt.close(figure)


if __name__ == "__main__":
    main()
