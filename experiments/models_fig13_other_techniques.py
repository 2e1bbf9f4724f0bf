"""Fig. 13 of the paper: other techniques on its sets, each told the number of models."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np

from biconsensus import MultiModelFitter
from biconsensus.baselines.fitting import FITTERS
from biconsensus.datasets import load_jlinkage
from biconsensus.fitting import Sampling
from biconsensus.metrics import misclassification_error, recall_precision
from biconsensus.models import get_model
from biconsensus.plots import models
from experiments.common import Section, Table, save

SETS = {"A": ("line", 5000), "C": ("line", 5000), "D": ("circle", 20_000)}
RIVALS = [
    "residual_histograms",
    "sequential_ransac",
    "multi_ransac",
    "mean_shift",
    "randomised_hough",
    "j_linkage",
    "t_linkage",
]
SHOWN = ["residual_histograms", "sequential_ransac", "multi_ransac", "mean_shift"]
DELTA, SIGMA = 0.03, 0.5

TEXT = """
All techniques draw local samples with sigma = 0.5 and use delta = 0.03. The rivals are **given the true number of
models**; the bi-clustering finds it. The recall of the rivals is that of their labels, because they give a point at a
crossing to one model only.
"""


def run(out: Path, quick: bool) -> Section:
    """Every rival on every set."""
    names = ["A"] if quick else list(SETS)
    rivals = SHOWN[:2] if quick else RIVALS
    tables, shown = [], dict[str, Any]()
    for name in names:
        table, labels = compare(name, rivals, 1 if quick else 3)
        tables.append(table)
        if name == "A":
            shown = labels
    return Section(
        "Fig. 13: other techniques",
        TEXT.strip(),
        tables,
        [
            (
                draw(out, {key: shown[key] for key in [*SHOWN, "bi-clustering"] if key in shown}),
                "Set A by other techniques.",
            )
        ],
    )


def compare(name: str, rivals: list[str], n_runs: int) -> tuple[Table, dict[str, Any]]:
    """Recall, misclassification and time of every technique on one set, and their first labels."""
    model, n_samples = SETS[name]
    x, truth = load_jlinkage(name)
    assert truth is not None
    n_models = int(truth.max()) + 1
    rows: list[list[object]] = []
    shown = dict[str, Any]()
    for rival in rivals:
        fitted, seconds = [], []
        for seed in range(n_runs):
            started = time.perf_counter()
            options = {"n_samples": n_samples, "sigma": SIGMA, "n_models": n_models, "random_state": seed}
            fitted.append(FITTERS[rival](x, model, DELTA, **options))
            seconds.append(time.perf_counter() - started)
        shown[rival] = fitted[0]
        recall = np.mean([recall_precision(truth, labels)[0] for labels in fitted])
        wrong = np.mean([misclassification_error(truth, labels) for labels in fitted])
        rows.append([rival.replace("_", " "), f"{100 * recall:.1f}", f"{100 * wrong:.1f}", f"{np.median(seconds):.2f}"])
    rows.append(ours(name, n_runs, shown))
    header = ["technique", "recall %", "misclassified %", "seconds"]
    return Table(f"Set {name}, mean of {n_runs} seeds.", header, rows), shown


def ours(name: str, n_runs: int, shown: dict[str, Any]) -> list[object]:
    """The same for the bi-clustering."""
    model, n_samples = SETS[name]
    x, truth = load_jlinkage(name)
    recalls, wrong, seconds = [], [], []
    for seed in range(n_runs):
        started = time.perf_counter()
        fitter = MultiModelFitter(
            model, DELTA, n_samples=n_samples, sampling=Sampling("local", sigma=SIGMA), random_state=seed
        ).fit(x)
        seconds.append(time.perf_counter() - started)
        recalls.append(recall_precision(truth, fitter.membership_)[0])
        wrong.append(misclassification_error(truth, fitter.labels_))
        shown.setdefault("bi-clustering", fitter.labels_)
    return [
        "bi-clustering",
        f"{100 * np.mean(recalls):.1f}",
        f"{100 * np.mean(wrong):.1f}",
        f"{np.median(seconds):.2f}",
    ]


def draw(out: Path, shown: dict[str, Any]) -> str:
    """Set A by each technique, with least-squares models."""
    import matplotlib.pyplot as plt

    x, _ = load_jlinkage("A")
    model: Any = get_model("line")
    figure, axes = plt.subplots(1, len(shown), figsize=(4 * len(shown), 4.2), squeeze=False)
    for place, (name, labels) in zip(axes[0], shown.items()):
        params = [
            model.refit(x[labels == t], np.ones((labels == t).sum()))
            for t in range(labels.max() + 1)
            if (labels == t).sum() > 1
        ]
        models(x, model, np.array(params).reshape(-1, 3), labels, DELTA, ax=place)
        place.set_title(name.replace("_", " "))
    figure.tight_layout()
    return save(figure, out, "models_fig13.png")
