"""Fig. 4: active sets of the first bi-cluster, by NMF and by L1-NMF."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.sparse import csr_array

import biconsensus as bc
from biconsensus.solvers._admm import l1_nmf
from biconsensus.solvers._frobenius import leading_pair
from experiments.clustering_fig2_mixtures import base
from experiments.common import Section, Table
from experiments.shared_clustering import five_gaussians


def run(out: Path, quick: bool) -> Section:
    """Rank-one factors of the pool of Fig. 2 under both norms."""
    X, truth = (part[:: 5 if quick else 1] for part in five_gaussians())
    A = bc.Pool.from_labels([labels for _, labels in base(X)]).to_matrix().toarray()
    left, value, right = leading_pair(csr_array(A))
    fitted = l1_nmf(A)
    factors = {"NMF": (left * np.sqrt(value), right * np.sqrt(value)), "L1-NMF": (fitted.U[:, 0], fitted.V[0])}
    draw(out / "clustering_fig4.png", factors, truth)
    rows = [[name, *describe(x, y, truth)] for name, (x, y) in factors.items()]
    header = ["problem", "active elements", "active candidates", "true groups touched", "of the largest, share active"]
    return Section(
        "Fig. 4: NMF against L1-NMF",
        "Both problems look for the first rank-one factors X (elements) and Y (candidates) of the pool of "
        "Fig. 2. With the Frobenius norm these are the leading singular vectors. They are not negative, and"
        " most of their entries are active. With the L1 norm (the ADMM of the paper's appendix) only one "
        "group is active, with the candidates that agree on it. An entry below 1e-4 of the largest counts "
        "as zero.",
        [Table("Active sets", header, rows)],
        [("clustering_fig4.png", "Factors X (elements, by true group) and Y (candidates)")],
    )


def describe(x: np.ndarray, y: np.ndarray, truth: np.ndarray) -> list[object]:
    """Sizes of the active sets and what they hold of the true groups."""
    rows, columns = x > 1e-4 * x.max(), y > 1e-4 * y.max()
    share = np.bincount(truth, rows) / np.bincount(truth)
    return [int(rows.sum()), int(columns.sum()), int((share > 0.05).sum()), f"{share.max():.0%}"]


def draw(path: Path, factors: dict[str, tuple[np.ndarray, np.ndarray]], truth: np.ndarray) -> None:
    """Both factors of both problems."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 2, figsize=(10, 4.6), sharex="col")
    for line, (name, (x, y)) in zip(axes, factors.items()):
        line[0].bar(np.arange(x.size), x / x.max(), width=1.0, color="#0072B2")
        line[1].bar(np.arange(y.size), y / y.max(), color="#D55E00")
        line[0].set_ylabel(name)
        for edge in np.flatnonzero(np.diff(truth)) + 0.5:
            line[0].axvline(edge, color="0.6", lw=0.6, ls=":")
    axes[0, 0].set_title("X factor", fontsize=9)
    axes[0, 1].set_title("Y factor", fontsize=9)
    axes[1, 0].set_xlabel("elements, by true group")
    axes[1, 1].set_xlabel("candidates")
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    plt.close(figure)
