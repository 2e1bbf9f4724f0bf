"""Fig. 6: four UCI sets, consensus of k-means and spectral clustering."""

from __future__ import annotations

import warnings
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.preprocessing import StandardScaler

import biconsensus as bc
from biconsensus.datasets import load_uci
from biconsensus.sources._spectral import GaussianSpectralClustering
from experiments.common import Section, Table, paper_consensus
from experiments.shared_clustering import TIES_JOIN, paired, rank, scores

SETS = ("breast", "glass", "iris", "wine")
SHIFTS = (-1, 0, 1, 2)
WIDTHS = (0.3, 0.4, 0.5)
"""Kernel widths, in units of the largest distance."""
NONE = None
PAPER_ROWS: dict[str, list[tuple[float, float] | None]] = {
    "breast": [NONE, (0.733, 95.73), (0.708, 93.98), NONE]
    + [NONE, (0.791, 96.93), (0.705, 93.02), NONE]
    + [NONE, (0.799, 97.08), (0.709, 92.46), NONE]
    + [NONE, (0.799, 97.08), (0.691, 91.97), NONE],
    "glass": [(0.368, 54.74), (0.315, 49.51), (0.358, 50.21), (0.378, 50.30)]
    + [(0.289, 46.99), (0.348, 47.22), (0.385, 49.19), (0.360, 43.23)]
    + [(0.315, 47.48), (0.348, 47.22), (0.352, 45.25), (0.351, 42.66)]
    + [(0.315, 46.86), (0.348, 47.22), (0.350, 44.75), (0.351, 42.66)],
    "iris": [(0.657, 76.35), (0.758, 89.18), (0.722, 82.43), (0.694, 76.29)]
    + [NONE, (0.742, 88.53), (0.623, 77.81), (0.736, 79.11)]
    + [NONE, (0.735, 87.82), (0.665, 79.16), (0.706, 78.17)]
    + [NONE, (0.708, 86.53), (0.613, 78.20), (0.661, 74.59)],
    "wine": [(0.478, 66.59), (0.876, 96.60), (0.791, 89.34), (0.724, 79.84)]
    + [(0.470, 64.94), (0.928, 98.31), (0.720, 82.53), (0.620, 74.50)]
    + [(0.470, 64.94), (0.911, 97.74), (0.731, 83.08), (0.602, 75.56)]
    + [(0.470, 64.94), (0.911, 97.74), (0.731, 83.08), (0.602, 75.56)],
}
PAPER = {"breast": (0.799, 97.08, 1), "glass": (0.381, 46.89, 2), "iris": (0.770, 89.12, 1), "wine": (0.915, 98.01, 2)}
WAYS: dict[str, dict[str, Any]] = {
    "ADMM of the paper": {"solver": "admm"},
    "votes, ties join (quorum just below 1/2)": {"quorum": TIES_JOIN},
    "votes, ties stay out (quorum 1/2)": {},
}


def points(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Features as the base rows of the paper must have had them: Iris unchanged, the others standardised."""
    X, truth = load_uci(name)
    assert truth is not None
    return (X if name == "iris" else StandardScaler().fit_transform(X)), truth


@cache
def spectral_rows(name: str, n_init: int) -> list[np.ndarray | None]:
    """Rows A5 to A16; with many starts of k-means they do not depend on its seed."""
    X, truth = points(name)
    n_classes = len(np.unique(truth))
    rows: list[np.ndarray | None] = []
    for number, paper in enumerate(PAPER_ROWS[name][4:]):
        k, width = n_classes + SHIFTS[number % 4], WIDTHS[number // 4]
        model = GaussianSpectralClustering(k, width, scale="max", n_init=n_init, random_state=0)
        rows.append(None if paper is None else model.fit_predict(X))
    return rows


def base(name: str, seed: int = 0, n_init: int = 20) -> tuple[np.ndarray, list[np.ndarray | None]]:
    """Truth and the sixteen rows A1 to A16, None where the paper has none."""
    X, truth = points(name)
    n_classes = len(np.unique(truth))
    rows: list[np.ndarray | None] = []
    for shift, paper in zip(SHIFTS, PAPER_ROWS[name]):
        model = KMeans(n_classes + shift, init="random", n_init=1, random_state=seed)
        rows.append(None if paper is None else model.fit_predict(X))
    return truth, rows + spectral_rows(name, n_init)


def consensus_of(rows: list[np.ndarray | None], **options: Any) -> bc.Consensus:
    """Consensus of the rows that are there."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bc.errors.ConvergenceWarning)
        return paper_consensus([row for row in rows if row is not None], unassigned="nearest", **options)


def run(out: Path, quick: bool) -> Section:
    """The table of the paper, beside ours, and the rank of the consensus for several seeds."""
    names = ("iris",) if quick else SETS
    found = {name: base(name, n_init=5 if quick else 20) for name in names}
    rows: list[list[object]] = []
    for number in range(16):
        label = f"A{number + 1} " + (
            "k-means" if number < 4 else f"SC, sigma {WIDTHS[number // 4 - 1]:g} of the largest distance"
        )
        row: list[object] = [f"{label}, K{SHIFTS[number % 4]:+d}" if number % 4 != 1 else f"{label}, K"]
        for name in names:
            truth, labels = found[name]
            mine = labels[number]
            row += [paired(PAPER_ROWS[name][number]), paired(None if mine is None else scores(truth, mine))]
        rows.append(row)
    values: dict[str, list[float]] = {
        name: [scores(t, v)[0] for v in vs if v is not None] for name, (t, vs) in found.items()
    }
    for way, options in WAYS.items():
        row = [f"**consensus**, {way}"]
        for name in names:
            truth, labels = found[name]
            mine_ = scores(truth, consensus_of(labels, **options).labels)
            nmi, f, place = PAPER[name]
            row += [f"{paired((nmi, f))} (rank {place})", f"{paired(mine_)} (rank {rank(mine_[0], values[name])})"]
        rows.append(row)
    header = ["", *(cell for name in names for cell in (f"{name}: paper", "here"))]
    draw(out / "clustering_fig6.png", found)
    return Section(
        "Fig. 6: UCI sets",
        "The paper leaves some settings unsaid. We chose those with which the base rows come out as "
        "printed. Iris is used unchanged, and the other sets are standardised. The paper prints all three "
        "sigmas as 1; here they are 0.3, 0.4 and 0.5 of the largest distance. Rows A9 to A12 then agree "
        "with the paper on Breast, Iris and Wine to the last digit or nearly so. k-means has one random "
        "start, as was the default in the program of that time. So rows A1 to A4 depend on the seed, and "
        "with them the consensus on Glass and Wine. The second table shows how much. Left-over elements go "
        "to the nearest group. An element that exactly half of the candidates hold neither gains nor loses "
        "anything. The ADMM puts it into the group. A quorum just below 1/2 does the same, and gives the "
        "same answers.",
        [
            Table("NMI / F-measure; rank of the consensus by NMI among the base results", header, rows),
            seeds_table(names, 1 if quick else 8, 5 if quick else 20),
        ],
        [("clustering_fig6.png", "NMI of the base results (dots) and of the consensus (lines)")],
    )


def seeds_table(names: tuple[str, ...], n: int, n_init: int) -> Table:
    """Rank of the consensus for other seeds of k-means."""
    rows: list[list[object]] = []
    for name in names:
        for way, options in WAYS.items():
            places, values = [], []
            for seed in range(1, n + 1):
                truth, labels = base(name, seed, n_init)
                mine = scores(truth, consensus_of(labels, **options).labels)[0]
                values.append(f"{mine:.3f}")
                places.append(rank(mine, [scores(truth, v)[0] for v in labels if v is not None]))
            rows.append([name, way, PAPER[name][2], ", ".join(map(str, places)), ", ".join(values)])
    return Table(f"Other seeds (1 to {n})", ["set", "consensus", "paper's rank", "ranks here", "NMI here"], rows)


def draw(path: Path, found: dict[str, tuple[np.ndarray, list[np.ndarray | None]]]) -> None:
    """The graph of the paper: one panel for each set."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(found), figsize=(3.3 * len(found), 3), squeeze=False)
    colors = ("#D55E00", "#009E73", "#CC79A7")
    for ax, (name, (truth, labels)) in zip(axes[0], found.items()):
        there = [(number + 1, scores(truth, v)[0]) for number, v in enumerate(labels) if v is not None]
        ax.plot(*zip(*there), "o", color="#0072B2", label="base results")
        for (way, options), color in zip(WAYS.items(), colors):
            ax.axhline(scores(truth, consensus_of(labels, **options).labels)[0], color=color, label=way)
        ax.axhline(PAPER[name][0], color="0.5", ls=":", label="paper's consensus")
        ax.set(title=name, xlabel="base result A1 to A16", ylabel="NMI")
    axes[0][0].legend(fontsize=6)
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    plt.close(figure)
