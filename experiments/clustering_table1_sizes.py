"""Table 1: sizes of the last kept and the first discarded bi-cluster."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np

import biconsensus as bc
from experiments import clustering_fig2_mixtures as fig2
from experiments import clustering_fig3_mean_shift as fig3
from experiments import clustering_fig5_smiley as fig5
from experiments import clustering_fig6_uci as fig6
from experiments.common import Section, Table
from experiments.shared_clustering import TIES_JOIN, five_gaussians, sizes_of_last, three_gaussians

Pool = Callable[[], list[np.ndarray]]


def uci(name: str) -> list[np.ndarray]:
    """Base results of one set of Fig. 6."""
    return [labels for labels in fig6.base(name)[1] if labels is not None]


POOLS: dict[str, tuple[str, str, Pool]] = {
    "Fig. 2 (other data)": ("90 × 7", "2 × 2", lambda: [labels for _, labels in fig2.base(five_gaussians()[0])]),
    "Fig. 3 (other data)": ("295 × 5", "2 × 1", lambda: fig3.base(three_gaussians()[0])),
    "Fig. 5": ("74 × 6", "–", lambda: [labels for *_, labels in fig5.base()[2]]),
    "Fig. 6, Breast": ("243 × 8", "–", lambda: uci("breast")),
    "Fig. 6, Glass": ("12 × 6", "2 × 10", lambda: uci("glass")),
    "Fig. 6, Iris": ("36 × 12", "–", lambda: uci("iris")),
    "Fig. 6, Wine": ("67 × 13", "1 × 5", lambda: uci("wine")),
}


def run(out: Path, quick: bool) -> Section:
    """Algorithm 1 with its literal end, by both solvers."""
    chosen = ["Fig. 2 (other data)", "Fig. 5"] if quick else list(POOLS)
    rows: list[list[object]] = []
    for name in chosen:
        kept, discarded, pool = POOLS[name]
        base = pool()
        row: list[object] = [name, kept, discarded]
        for solver, quorum in (("admm", Fraction(1, 2)), ("vote", Fraction(TIES_JOIN))):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", bc.errors.ConvergenceWarning)
                row += sizes_of_last(base, solver, quorum)
        rows.append(row)
    header = ["pool", "paper: kept", "discarded", "ADMM: kept", "discarded", "votes: kept", "discarded"]
    return Section(
        "Table 1: last kept and first discarded bi-cluster",
        "Sizes are rows × columns. The search ends as Algorithm 1 of the paper does, at the first "
        "bi-cluster that is too small (`stop='first_small'`), with tau_R = 6 and tau_C = 3. A dash means "
        "that nothing was left of the matrix. The votes have a quorum just below 1/2, so that exactly "
        "half is enough, as in the ADMM.",
        [Table("Sizes", header, rows)],
    )
