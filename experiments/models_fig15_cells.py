"""Fig. 15 of the paper: ellipses through line segments; coins and nuclei stand in for its micrograph."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np

from biconsensus import MultiModelFitter
from biconsensus.baselines.fitting import j_linkage
from biconsensus.datasets import load_cells
from biconsensus.fitting import Nfa, Sampling
from biconsensus.models import EllipseFromSegments
from biconsensus.plots import color_of
from biconsensus.sources._images import line_segments
from experiments.common import Section, Table, save

PICTURES: dict[str, dict[str, Any]] = {
    "coins": {"zoom": 1, "threshold": 2.0, "distance": 30.0, "radius": 45.0, "crop": None},
    "nuclei": {"zoom": 3, "threshold": 3.0, "distance": 40.0, "radius": 70.0, "crop": 200},
}
N_COINS = 24

TEXT = """
The paper's micrograph was not found. Two pictures take its place: a photograph of 24 coins, and a part of a micrograph
of nuclei, enlarged three times and evened out in brightness (square root). The elements are line segments of the LSD
detector. Three segments make an ellipse by the direct fit of Halir and Flusser. Ellipses longer than twice their width,
or larger than anything in the picture, are left out; the paper does not state its limit.

As in the paper, samples prefer segments at a distance from each other, and the chance of a hit is the closed form. Here
it is asked of both ends of a segment as if they were independent, though the ends of a short segment are not. "Without
the final test" tolerates a thousand false ellipses (epsilon = 1000). A nucleus of the labelled mask is found if it and
an ellipse share more than half of their union. J-linkage gets the same samples and threshold; its clusters of at least
five segments are counted.
"""


def run(out: Path, quick: bool) -> Section:
    """Both pictures, with and without the final test."""
    rows, pictures = [], []
    for name in ["coins"] if quick else list(PICTURES):
        image, mask = picture(name, quick)
        x = line_segments(image).endpoints
        results = [fit(name, x, epsilon, quick) for epsilon in (1.0, 1000.0)]
        for title, (fitter, seconds) in zip(("with the final test", "without it"), results):
            rows.append([name, title, len(x), len(fitter.params_), judged(name, fitter, mask), f"{seconds:.1f}"])
        rows.append([name, "J-linkage", len(x), rival(name, x, quick), "", ""])
        caption = f"{name.capitalize()}: segments, ellipses with the final test, and without it."
        pictures.append((draw(out, name, image, x, [fitter for fitter, _ in results]), caption))
    header = ["picture", "method", "segments", "ellipses", "found (truth), false", "seconds"]
    return Section("Fig. 15: ellipses of cells", TEXT.strip(), [Table("Ellipses found.", header, rows)], pictures)


def picture(name: str, quick: bool) -> tuple[Any, Any]:
    """Image, enlarged and smoothed, and the mask of its nuclei where there is one."""
    import cv2

    setting = PICTURES[name]
    image, mask = load_cells(name)
    part = slice(0, setting["crop"] or (150 if quick else None))
    image = image[part, part]
    if mask is not None:  # nuclei differ in brightness by a factor of ten
        image = np.sqrt(np.minimum(image, np.quantile(image, 0.98)))
    image = cv2.GaussianBlur(image, (0, 0), 1.0)
    size = {"fx": setting["zoom"], "fy": setting["zoom"]}
    if mask is not None:
        mask = cv2.resize(mask[part, part].astype(np.uint16), None, **size, interpolation=cv2.INTER_NEAREST)
    return cv2.resize(image, None, **size, interpolation=cv2.INTER_CUBIC), mask


def model_of(name: str) -> EllipseFromSegments:
    """Ellipses that may occur in a picture."""
    return EllipseFromSegments(max_elongation=2.0, max_radius=PICTURES[name]["radius"])


def fit(name: str, x: Any, epsilon: float, quick: bool) -> tuple[MultiModelFitter, float]:
    """Ellipses, and the time it took."""
    setting = PICTURES[name]
    started = time.perf_counter()
    fitter = MultiModelFitter(
        model_of(name),
        setting["threshold"],
        n_samples=500 if quick else 5000,
        sampling=Sampling("local", sigma=setting["distance"] / 2, mean_distance=setting["distance"], max_rounds=4),
        test=Nfa(hits="paper", n_background=256),
        epsilon=epsilon,
        random_state=0,
    ).fit(x)
    return fitter, time.perf_counter() - started


def rival(name: str, x: Any, quick: bool) -> int:
    """Clusters of J-linkage."""
    setting = PICTURES[name]
    labels = j_linkage(
        x,
        model_of(name),
        setting["threshold"],
        n_samples=500 if quick else 5000,
        sigma=setting["distance"],
        min_elements=5,
        random_state=0,
    )
    return int(labels.max()) + 1


def judged(name: str, fitter: MultiModelFitter, mask: Any) -> str:
    """How many ellipses are right: against the mask; coins are counted only."""
    if mask is None:
        return f"({N_COINS} in the whole picture)"
    height, width = mask.shape
    grid = np.stack(np.meshgrid(np.arange(width), np.arange(height)), axis=-1).reshape(-1, 2)
    wanted = [k for k in np.unique(mask) if k and complete(mask == k)]
    matched, right = set[int](), 0
    for theta in fitter.params_:
        inside = interior(theta, grid).reshape(mask.shape)
        names, counts = np.unique(mask[inside & (mask > 0)], return_counts=True)
        if not len(names):
            continue
        best = int(names[counts.argmax()])
        own = mask == best
        if (own & inside).sum() > 0.5 * (own | inside).sum():
            right += 1
            matched.add(best)
    return f"{len(matched & set(map(int, wanted)))} ({len(wanted)}), {len(fitter.params_) - right} false"


def complete(own: Any) -> bool:
    """Whether a nucleus does not touch the border of the picture."""
    return not (own[0].any() or own[-1].any() or own[:, 0].any() or own[:, -1].any())


def interior(theta: Any, points: Any) -> Any:
    """Which points (n, 2) lie inside an ellipse."""
    cos, sin = np.cos(theta[4]), np.sin(theta[4])
    gap = points - theta[:2]
    along, across = gap @ np.array([cos, sin]), gap @ np.array([-sin, cos])
    return (along / theta[2]) ** 2 + (across / theta[3]) ** 2 <= 1


def draw(out: Path, name: str, image: Any, x: Any, fitters: list[MultiModelFitter]) -> str:
    """Segments; ellipses and their segments with and without the final test."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(16, 5))
    for place in axes:
        place.imshow(image, cmap="gray", vmax=np.quantile(image, 0.995))
        place.set_axis_off()
    for segment in x:
        axes[0].plot(segment[[0, 2]], segment[[1, 3]], color="#F0E442", lw=1)
    axes[0].set_title(f"{len(x)} segments")
    for place, fitter, title in zip(axes[1:], fitters, ("with the final test", "without the final test")):
        for label, theta in enumerate(fitter.params_):
            curve = model_of(name).draw(theta, np.zeros((2, 2)))
            place.plot(*curve.T, color=color_of(label), lw=1.6)
        place.set_title(f"{len(fitter.params_)} ellipses {title}")
    figure.tight_layout()
    return save(figure, out, f"models_fig15_{name}.png", dpi=75)
