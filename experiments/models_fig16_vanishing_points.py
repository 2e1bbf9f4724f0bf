"""Fig. 16 of the paper: vanishing points of York Urban photographs, and how precise they are."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy.optimize import linear_sum_assignment

from biconsensus import MultiModelFitter
from biconsensus.baselines.fitting import FITTERS
from biconsensus.datasets import Segments, load_york_urban, names_of
from biconsensus.models import VanishingPointModel, refit
from biconsensus.plots import color_of
from experiments.common import Section, Table, like_a_photograph, save

THRESHOLDS = (1.0, 1.5, 2.0, 3.0)
SHORTEST = 20.0
N_JOBS = 2
RIVALS = ("sequential_ransac", "j_linkage", "t_linkage")
SHOWN = ("P1020826", "P1020828", "P1020838", "P1020854")

TEXT = """
The elements are segments of a detector (LSD, from YUD+) that are at least 20 pixels long, in the 29 photographs for
which they are published. Draw a line from the middle of a segment to a vanishing point: the distance of the segment is
that of its ends to this line. For its test the paper refers to other work. Ours keeps the places and lengths of the
segments and turns them at random. So a segment of length L agrees with any vanishing point with probability (2 / pi)
arcsin(2 delta / L). The pictures use all pairs of segments, as the paper does; the table uses 2000 pairs for every
method.

The error of a true vanishing point is the angle, in the frame of the camera, to the one matched to it. AUC is the area
under the curve of the share of true points with an error below x, for x up to 10 degrees. As many of a method's points
count as there are true ones, in its own order (ours: most meaningful first; the others: largest first). Some of the
three true directions of a photograph have no segment at all, so 100 cannot be reached. One threshold serves all
photographs; the table shows several.
"""


def run(out: Path, quick: bool) -> Section:
    """Errors of ours and of the rivals on the same segments; pictures of all pairs."""
    names = names_of("york_urban_detected")[:: 15 if quick else 1]
    photographs = [load_york_urban(name, segments="detected") for name in names]
    rows = []
    for method in ("ours", *RIVALS):
        scores = [score(method, photographs, threshold) for threshold in (THRESHOLDS[:1] if quick else THRESHOLDS)]
        rows.append([method, *[f"{auc:.1f}" for auc, _, _ in scores], f"{scores[0][1]:.1f}", f"{scores[0][2]:.1f}"])
    header = ["method", *[f"AUC at {t} px" for t in (THRESHOLDS[:1] if quick else THRESHOLDS)]]
    header += ["points found at the first", "seconds at the first"]
    shown = [name for name in SHOWN if name in names][: 1 if quick else 4] or names[:1]
    caption = "Segments by vanishing point, all pairs as samples; grey segments are in none."
    table = Table(f"Area under the error curve up to 10 degrees, in per cent, {len(names)} photographs.", header, rows)
    return Section("Fig. 16: vanishing points", TEXT.strip(), [table], [(draw(out, shown, quick), caption)])


def long_segments(photograph: Segments) -> Any:
    """Segments that are not too short to have a direction."""
    x = photograph.segments
    return x[np.hypot(*(x[:, 2:] - x[:, :2]).T) >= SHORTEST]


def ours(x: Any, threshold: float, **settings: Any) -> MultiModelFitter:
    """Our vanishing points."""
    settings = {"n_samples": 2000, "random_state": 0} | settings
    return MultiModelFitter("vanishing_point", threshold, **settings).fit(x)


def points_of(method: str) -> Callable[[Any, float], Any]:
    """Vanishing points (k, 3) of a method, in its own order."""

    def rival(x: Any, threshold: float) -> Any:
        labels = FITTERS[method](x, "vanishing_point", threshold, n_samples=2000, random_state=0)
        return np.array([refit(VanishingPointModel(), x[labels == k]) for k in range(labels.max() + 1)])

    return (lambda x, threshold: ours(x, threshold).params_) if method == "ours" else rival


def score(method: str, photographs: list[Segments], threshold: float) -> tuple[float, float, float]:
    """AUC in per cent, mean number of points and seconds over all photographs."""
    started, found = time.perf_counter(), points_of(method)
    points = Parallel(N_JOBS)(delayed(found)(long_segments(one), threshold) for one in photographs)
    seconds = time.perf_counter() - started
    errors = np.concatenate([angles(one, own) for one, own in zip(photographs, points)])
    return 100 * float(np.clip(1 - errors / 10, 0, None).mean()), float(np.mean([len(p) for p in points])), seconds


def angles(photograph: Segments, points: Any) -> Any:
    """Angles (v,) in degrees between the true directions and those matched to them; 90 where there is none."""
    truth = photograph.vanishing_points / np.linalg.norm(photograph.vanishing_points, axis=1, keepdims=True)
    errors = np.full(len(truth), 90.0)
    if len(points):
        directions = np.linalg.solve(photograph.camera, points[: len(truth)].T).T
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        table = np.degrees(np.arccos(np.clip(np.abs(truth @ directions.T), 0, 1)))
        rows, columns = linear_sum_assignment(table)
        errors[rows] = table[rows, columns]
    return errors


def draw(out: Path, names: list[str], quick: bool) -> str:
    """Segments by vanishing point."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(names), figsize=(5.2 * len(names), 4.6), squeeze=False)
    for place, name in zip(axes[0], names):
        photograph = load_york_urban(name, segments="detected")
        x = long_segments(photograph)
        fitter = ours(x, 1.5) if quick else ours(x, 1.5, sampling="exhaustive")
        for segment, label in zip(x, fitter.labels_):
            place.plot(segment[[0, 2]], segment[[1, 3]], color=color_of(label), lw=1.4 if label >= 0 else 0.6)
        errors = ", ".join(f"{angle:.1f}" for angle in angles(photograph, fitter.params_))
        place.set_title(f"{name}: {len(fitter.params_)} points; errors {errors} degrees", fontsize=9)
        like_a_photograph(place)
    figure.tight_layout()
    return save(figure, out, "models_fig16_vanishing_points.png", dpi=80)
