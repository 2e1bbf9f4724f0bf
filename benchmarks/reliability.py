"""Is the confidence calibrated? Compared with freshly drawn pools; writes docs/pictures/reliability.png.

Neither the sets nor the draws are those that the calibration was fitted on.

BENCH=quick takes one draw of each set.
"""

from __future__ import annotations

import json
import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import biconsensus as bc
from biconsensus import datasets
from biconsensus.quorum._confidence import confidence, matched

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs" / "pictures" / "reliability.png"
RECORD = ROOT / "docs" / "benchmarks" / "reliability.json"
QUICK = os.environ.get("BENCH") == "quick"
EDGES = np.linspace(0, 1, 11)


def once(name: str, draw: int, n_fresh: int = 12) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Confidence, share of fresh pools that agree, and whether the element is where its class mostly is."""
    members, truth = datasets.load_ensemble_pool(name)
    rng = np.random.default_rng([3, draw])
    order = rng.permutation(members.shape[1])
    found = bc.find_consensus(members[:, order[:10]])
    labels, agreed = found.labels, np.zeros(truth.size)
    for _ in range(n_fresh):
        fresh = members[:, rng.choice(order[10:], 10, replace=False)]
        agreed += matched(labels, bc.find_consensus(fresh, n_groups=len(found)).labels, len(found)) == labels
    major = np.array(
        [np.bincount(truth[labels == t]).argmax() if (labels == t).any() else -1 for t in range(len(found))]
    )
    return confidence(found).elements, agreed / n_fresh, major[labels] == truth


def main() -> None:
    """Draw the diagram and print the calibration error."""
    warnings.simplefilter("ignore")
    # the line was fitted on MF and VS
    parts = [once(name, draw) for name in ("IS", "Semeion", "SPF") for draw in range(10, 11 if QUICK else 14)]
    said, fresh, right = (np.concatenate(column) for column in zip(*parts, strict=True))
    place = np.clip(np.digitize(said, EDGES) - 1, 0, 9)
    filled = [k for k in range(10) if (place == k).sum() >= 50]
    bins = [[float(v[place == k].mean()) for v in (said, fresh, right)] + [int((place == k).sum())] for k in filled]
    error = float(np.sum([n * abs(s - f) for s, f, _, n in bins]) / np.sum([b[3] for b in bins]))
    RECORD.write_text(json.dumps({"bins": bins, "error": error}) + "\n")
    draw_diagram(bins, error)


def draw_diagram(bins: list[list[float]], error: float) -> None:
    """Reliability diagram."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(5, 4.4), layout="constrained")
    axes.plot([0, 1], [0, 1], color="0.6", lw=1)
    axes.plot([b[0] for b in bins], [b[1] for b in bins], "o-", label="grouped so by fresh pools")
    axes.plot([b[0] for b in bins], [b[2] for b in bins], "s--", label="in the class that its group mostly is")
    axes.set(xlabel="confidence", ylabel="share of elements", xlim=(0, 1), ylim=(0, 1))
    axes.set_title(f"mean distance to the diagonal {error:.3f}", fontsize=10)
    axes.legend()
    figure.savefig(PICTURE, dpi=120)
    plt.close(figure)


if __name__ == "__main__":
    main()
