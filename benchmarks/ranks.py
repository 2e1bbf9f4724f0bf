"""Mean ranks of methods over data sets, and the difference that chance alone would hardly make."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.stats import rankdata, studentized_range


class Ranks(NamedTuple):
    """Mean ranks, 1 the best."""

    mean: dict[str, float]
    critical: float
    """Methods whose mean ranks differ by more do so at the 5% level (Nemenyi)."""
    n_blocks: int

    @classmethod
    def of(cls, scores: Mapping[str, Mapping[str, float]], methods: Sequence[str]) -> Ranks:
        """From the scores of each data set, higher the better; sets that some method lacks are left out."""
        rows = [
            [-found[name] for name in methods] for found in scores.values() if all(name in found for name in methods)
        ]
        if not rows or len(methods) < 2:
            return cls(dict.fromkeys(methods, float("nan")), float("nan"), len(rows))
        mean = np.mean([rankdata(row) for row in rows], axis=0)
        k = len(methods)
        critical = studentized_range.ppf(0.95, k, np.inf) / np.sqrt(2) * np.sqrt(k * (k + 1) / (6.0 * len(rows)))
        return cls({name: float(rank) for name, rank in zip(methods, mean, strict=True)}, float(critical), len(rows))

    def draw(self, path: Path, special: Sequence[str] = (), said: str = "") -> None:
        """A picture: one bar of the critical difference for each method; the special ones are squares."""
        import matplotlib as mpl

        mpl.use("Agg")
        import matplotlib.pyplot as plt

        figure, axes = plt.subplots(figsize=(8, 0.8 + 0.27 * len(self.mean)), layout="constrained")
        for row, (name, rank) in enumerate(sorted(self.mean.items(), key=lambda pair: pair[1])):
            marked = name in special
            axes.plot([rank - self.critical / 2, rank + self.critical / 2], [-row, -row], color="0.7", lw=4)
            axes.plot(rank, -row, "s" if marked else "o", color="C1" if marked else "C0")
            axes.text(rank + self.critical / 2 + 0.1, -row, name + (said if marked else ""), va="center")
        ranks = np.array(list(self.mean.values()))
        axes.set_xlim(ranks.min() - self.critical, ranks.max() + self.critical / 2 + 0.35 * np.ptp(ranks) + 2)
        axes.set_yticks([])
        axes.set_xlabel("mean rank by ARI; bars that do not overlap differ at the 5% level (Nemenyi)")
        figure.savefig(path, dpi=120)
        plt.close(figure)
