"""Is the confidence calibrated? Compared with freshly drawn pools; writes docs/pictures/reliability.png.

Neither the sets nor the draws are those that the calibration was fitted on.

BENCH=quick takes one draw of each set.
"""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import biconsensus as bc
from benchmarks.results import QUICK as QUICK_FOLDER
from benchmarks.results import ROOT, Results, Values
from biconsensus import datasets
from biconsensus.quorum._confidence import confidence, matched

QUICK_PICTURE = QUICK_FOLDER / "reliability.png"
PICTURE = ROOT / "docs" / "pictures" / "reliability.png"
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
    kept = Results.open("reliability", page)
    kept.values = {"bins": bins, "error": error}
    kept.finish()
    draw_diagram(bins, error, QUICK_PICTURE if QUICK else PICTURE)


def page(values: Values) -> str:
    """The bins as a table."""
    lines = [
        "# Confidence and fresh pools",
        "",
        "How often elements of a confidence are grouped so by fresh pools, and how often they are in the class that "
        f"their group mostly is; mean distance to the diagonal {values['error']:.3f}. What confidence means is told in "
        "[](../reliability.md).",
        "",
        "| confidence | grouped so by fresh pools | in the class of the group | elements |",
        "|---|---|---|---|",
    ]
    lines += [f"| {said:.3f} | {fresh:.3f} | {right:.3f} | {n} |" for said, fresh, right, n in values["bins"]]
    return "\n".join(lines)


def draw_diagram(bins: list[list[float]], error: float, picture: Path) -> None:
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
    figure.savefig(picture, dpi=120)
    plt.close(figure)


if __name__ == "__main__":
    main()
