"""Hopkins 155: motions as affine subspaces of dimension three among point trajectories."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np

from biconsensus import MultiModelFitter
from biconsensus.baselines.fitting import FITTERS
from biconsensus.datasets import load_hopkins155, names_of
from biconsensus.metrics import misclassification_error
from biconsensus.models import SubspaceModel
from biconsensus.plots import color_of
from experiments.common import Section, Table, like_a_photograph, save

N_COORDINATES = 5
THRESHOLD = 0.01
RIVALS = ("sequential_ransac", "j_linkage", "t_linkage")

TEXT = """
Under an affine camera the trajectories of a rigid motion lie in an affine subspace of dimension three. Each sequence is
reduced to its five principal coordinates and divided by the root of the number of frames. So one threshold (0.01, about
one per cent of the image) serves all. Samples are local. The table has the misclassification in per cent; left-over
trajectories count as wrong. Our method is not given the number of motions. The rivals are, because they have no way to
find it here. Methods made for this benchmark, such as sparse subspace clustering, reach about two per cent if the
number of motions is given. A general fitter with a threshold does not compete with them, and low-dimensional motions
(planar scenes, pure translations) share subspaces.
"""


def run(out: Path, quick: bool) -> Section:
    """Every fifth sequence; all methods on the same coordinates."""
    names = [name for name in names_of("hopkins155") if name != "dancing"][:: 60 if quick else 5]
    results = []
    for name in names:
        x, truth = load_hopkins155(name)
        results.append((name, truth, *one_sequence(coordinates(x), truth, quick)))
    rows = []
    for title, keep in (("two motions", 2), ("three motions", 3), ("all", None)):
        chosen = [one for one in results if keep is None or one[1].max() + 1 == keep]
        if chosen:
            rows.append([title, len(chosen), *summary(chosen)])
    header = ["sequences", "number", "ours, mean", "median", "right number %"]
    header += [f"{rival}, mean" for rival in RIVALS] + ["seconds"]
    table = Table("Misclassification in per cent.", header, rows)
    caption = "Trajectories in the first frame: truth above, ours below; grey in no motion."
    return Section("Hopkins 155: motions as subspaces", TEXT.strip(), [table], [(draw(out, results[:6]), caption)])


def coordinates(x: Any) -> Any:
    """Principal coordinates (m, 5) of trajectories, per frame."""
    centred = (x - x.mean(axis=0)) / np.sqrt(x.shape[1] / 2)
    left, size, _ = np.linalg.svd(centred, full_matrices=False)
    return left[:, :N_COORDINATES] * size[:N_COORDINATES]


def one_sequence(x: Any, truth: Any, quick: bool) -> tuple[Any, list[float], float]:
    """Our labels, the errors of ours and of the rivals, and our seconds."""
    model, n_samples = SubspaceModel(3), 300 if quick else 1500
    started = time.perf_counter()
    labels = MultiModelFitter(model, THRESHOLD, n_samples=n_samples, sampling="local", random_state=0).fit(x).labels_
    seconds = time.perf_counter() - started
    sigma = 0.2 * float(np.linalg.norm(np.ptp(x, axis=0)))
    settings = {"n_models": int(truth.max()) + 1, "n_samples": n_samples, "sigma": sigma, "random_state": 0}
    all_labels = [labels, *[FITTERS[rival](x, model, THRESHOLD, **settings) for rival in RIVALS]]
    return labels, [100 * misclassification_error(truth, one) for one in all_labels], seconds


def summary(results: list[Any]) -> list[object]:
    """Cells of a row: our mean, median and share of right numbers, the rivals' means, our seconds."""
    errors = np.array([one[3] for one in results])
    right = 100 * np.mean([one[2].max() == one[1].max() for one in results])
    ours = [f"{errors[:, 0].mean():.1f}", f"{np.median(errors[:, 0]):.1f}", f"{right:.0f}"]
    means = [f"{value:.1f}" for value in errors[:, 1:].mean(axis=0)]
    return [*ours, *means, f"{np.mean([one[4] for one in results]):.1f}"]


def draw(out: Path, results: list[Any]) -> str:
    """First frames by motion."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, len(results), figsize=(3.2 * len(results), 5.4), squeeze=False)
    for column, (name, truth, labels, errors, _) in enumerate(results):
        x = load_hopkins155(name).X
        for place, own, title in zip(axes[:, column], (truth, labels), (name, f"ours, {errors[0]:.0f}% wrong")):
            for label in range(-1, own.max() + 1):
                place.scatter(*x[own == label, :2].T, s=6, color=color_of(label))
            place.set_title(title, fontsize=9)
            like_a_photograph(place)
    figure.tight_layout()
    return save(figure, out, "models_hopkins_subspaces.png", dpi=80)
