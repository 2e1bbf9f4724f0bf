"""Fitting of many models: nothing set but family and threshold; writes docs/benchmarks/fitting.md.

``python -m benchmarks.fitting [part ...]`` runs the parts named, all by default; BENCH=quick a few runs of each. Every
run is kept in the result file as soon as it ends, and runs that are there already are not made again, so a part can be
run in pieces: BENCH_SECONDS is the time after which no other run is started.
"""

from __future__ import annotations

import os
import re
import resource
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from itertools import product
from typing import Any

import numpy as np

from benchmarks import fitting_scenes as scenes
from benchmarks import fitting_views as views
from benchmarks.results import Results, Values
from benchmarks.without_data import loaded_or_none
from biconsensus import MultiModelFitter
from biconsensus.baselines.fitting import FITTERS
from biconsensus.datasets import load_adelaidermf, load_jlinkage, load_york_urban, names_of
from biconsensus.errors import NoConsensusWarning
from biconsensus.metrics import misclassification_error, recall_precision
from biconsensus.models import get_model
from biconsensus.sources._images import line_segments
from experiments import models_fig15_cells as cells
from experiments import models_fig16_vanishing_points as vanishing
from experiments.models_adelaidermf import BENCHMARKS as ADELAIDERMF

QUICK = os.environ.get("BENCH") == "quick"
SETS = {"A": ("line", 9.4), "B": ("line", 10.9), "C": ("line", 17.9), "D": ("circle", 12.6)}
"""Family of each set, and the misclassification of the true models in per cent."""
HALVES = {
    name: (half.model, half.sequences, half.threshold)
    for name, half in zip(("homographies", "motions"), ADELAIDERMF.values(), strict=True)
}
"""Family, sequences and threshold in pixels of each half of AdelaideRMF."""
RIVALS = ("sequential_ransac", "j_linkage", "t_linkage")
FACTORS = (0.5, 0.7, 1.0, 1.4, 2.0)
"""Thresholds, over that of the half, among which "chosen on the others" chooses."""
SHARES = (0.25, 0.5, 0.75)
FAMILIES = {"line": 2, "circle": 2, "plane": 3}
"""Families of the test of false models, and the columns of their points."""
CASES = [*product(FAMILIES, scenes.BACKGROUNDS), ("homography", "permuted")]
"""Families and backgrounds of the test of false models."""
HEAD = """# Fitting of many models

Nothing is set but the family and the threshold, unless
a table says otherwise. Seconds are processor seconds of one process on a machine that others use too.
"""
Record = list[float]


Job = tuple[str, Callable[[], Record]]


def make(kept: Results, part: str, jobs: Iterator[Job], until: float) -> None:
    """Make the runs that are missing, while there is time."""
    for name, job in jobs:
        key = f"{part}|{name}"
        if key in kept.values:
            continue
        if time.monotonic() > until:
            return
        record = loaded_or_none(job)
        if record is None:
            return
        kept.values[key] = [round(float(value), 4) for value in record]
        kept.save()


def table(values: Values, start: str) -> Any:
    """(runs, numbers) of the runs whose name starts so; None where there are none."""
    rows = [record for name, record in values.items() if name.startswith(start + "|")]
    return np.array(rows) if rows else None


def fitted(
    model: Any, threshold: float | str, x: Any, seed: int, bounds: dict[str, tuple[float, float]] | None = None
) -> tuple[MultiModelFitter, float]:
    """The fitter as a user would call it, and its processor seconds."""
    used = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NoConsensusWarning)
        fitter = MultiModelFitter(model, threshold, bounds=bounds, random_state=seed).fit(x)
    return fitter, time.process_time() - used


def adelaide_jobs() -> Iterator[Job]:
    """Ours with several seeds; "auto", other thresholds and the rivals with one."""
    for half, (model, sequences, threshold) in HALVES.items():
        for seed, sequence in product(range(1 if QUICK else 3), sequences):
            yield f"{half}|ours|{sequence}|{seed}", lambda m=model, s=sequence, t=threshold, k=seed: ours(m, s, t, k)  # type: ignore[misc]
        for sequence in sequences:
            yield f"{half}|auto|{sequence}|0", lambda m=model, s=sequence: ours(m, s, "auto", 0)  # type: ignore[misc]
        for rival, factor, sequence in product((*RIVALS, "usac"), (1.0, 2.0), sequences):
            yield (
                f"{half}|{rival} x {factor:g}|{sequence}|0",
                lambda r=rival, m=model, s=sequence, t=factor * threshold: theirs(r, m, s, t),  # type: ignore[misc]
            )
        for factor, sequence in product([one for one in FACTORS if one != 1], [] if QUICK else sequences):
            yield (
                f"{half}|factor {factor:g}|{sequence}|0",
                lambda m=model, s=sequence, t=factor * threshold: ours(m, s, t, 0),  # type: ignore[misc]
            )


def ours(model: str, sequence: str, threshold: float | str, seed: int) -> Record:
    """Misclassified in per cent, whether the number of models is right, and seconds."""
    x, truth = load_adelaidermf(sequence)
    fitter, seconds = fitted(model, threshold, x, seed)
    right = len(fitter.families_) == truth.max() + 1
    return [100 * misclassification_error(truth, fitter.labels_), right, seconds]


def theirs(rival: str, model: str, sequence: str, threshold: float) -> Record:
    """The same of a rival, with 2000 local samples."""
    x, truth = load_adelaidermf(sequence)
    used = time.process_time()
    if rival == "usac":
        labels = usac(x, model, threshold)
    else:
        labels = rival_labels(rival, model, x, threshold)
    seconds = time.process_time() - used
    return [100 * misclassification_error(truth, labels), labels.max() == truth.max(), seconds]


def rival_labels(rival: str, model: str, x: Any, threshold: float) -> Any:
    """Labels by a rival with 2000 local samples."""
    sigma = (0.12 if model == "homography" else 0.1) * float(np.linalg.norm(np.ptp(x[:, :2], axis=0)))
    return FITTERS[rival](x, model, threshold, n_samples=2000, sigma=sigma, random_state=0)


def usac(x: Any, model: str, threshold: float) -> Any:
    """OpenCV's USAC (MAGSAC++) in a loop: one model, its inliers removed, until fewer than 2 b + 4 are left in one."""
    import cv2

    find = cv2.findHomography if model == "homography" else cv2.findFundamentalMat
    size = 4 if model == "homography" else 7
    labels = np.full(len(x), -1)
    while True:
        left = np.flatnonzero(labels < 0)
        if left.size < 2 * size + 4:
            return labels
        found, inside = find(x[left, :2], x[left, 2:], cv2.USAC_MAGSAC, threshold, maxIters=10_000, confidence=0.999)
        if found is None or inside is None or inside.sum() < 2 * size + 4:
            return labels
        labels[left[inside.ravel() > 0]] = labels.max() + 1


def adelaide(kept: Values) -> list[str]:
    """One table for each half."""
    lines = [
        "## AdelaideRMF\n",
        "Misclassified elements in per cent under the best matching, outliers being a class of their own; mean over "
        'the sequences that are part of the data here (9 and 10 of 19). Ours: `MultiModelFitter("homography", 3)` and '
        '`("fundamental", 1.5)`. "Chosen on the others": for each sequence the threshold, of '
        + ", ".join(f"{one:g}" for one in FACTORS)
        + " times that, which is best on the mean of the other sequences of the half (leaving one out). The rivals get "
        "2000 local samples and two thresholds; the better one counts, chosen on the same sequences, which is in their "
        "favour. usac is OpenCV's MAGSAC++ in a loop. The sequences were at hand while the method was made: others "
        "decide.\n",
        "| half | method | misclassified % | count right % | seconds a file | runs |",
        "|---|---|---|---|---|---|",
    ]
    for half in HALVES:
        rows = {
            "ours": table(kept, f"adelaide|{half}|ours"),
            "ours, threshold auto": table(kept, f"adelaide|{half}|auto"),
        }
        for rival in (*RIVALS, "usac"):
            tables = [(factor, table(kept, f"adelaide|{half}|{rival} x {factor:g}")) for factor in (1.0, 2.0)]
            done = [(one[:, 0].mean(), factor, one) for factor, one in tables if one is not None]
            if done:
                _, factor, best = min(done, key=lambda one: one[0])
                rows[f"{rival} at {factor * HALVES[half][2]:g} px"] = best
        for method, values in rows.items():
            if values is not None:
                error, right, seconds = values.mean(0)
                lines.append(f"| {half} | {method} | {error:.1f} | {100 * right:.0f} | {seconds:.2f} | {len(values)} |")
        left_out = chosen_on_others(kept, half)
        if left_out is not None:
            lines.append(f"| {half} | ours, threshold chosen on the others | {left_out:.1f} | | | |")
    return lines


def chosen_on_others(kept: Values, half: str) -> float | None:
    """Mean error with the threshold that is best on the other sequences; None while runs are missing."""
    sequences = HALVES[half][1]
    names = {factor: "ours" if factor == 1 else f"factor {factor:g}" for factor in FACTORS}
    table = [[kept.get(f"adelaide|{half}|{names[f]}|{one}|0", [np.nan])[0] for one in sequences] for f in FACTORS]
    errors = np.array(table)
    if np.isnan(errors).any():
        return None
    others = errors.sum(axis=1, keepdims=True) - errors
    return float(np.take_along_axis(errors, others.argmin(axis=0)[None], axis=0).mean())


VIEWS: dict[str, tuple[Callable[[int], tuple[Any, Any]], str, float]] = {
    "buildings": (views.building, "homography", 3.0),
    "moving objects": (views.motions, "fundamental", 1.5),
}
"""Generated pairs of views, their family and threshold in pixels."""
REPORTED = 4000
"""First seed of the scenes that are reported; those below are for choosing."""
VIEW_RIVALS = ("true models", "sequential_ransac", "j_linkage")


def view_jobs() -> Iterator[Job]:
    """Scenes that chose nothing that is in use."""
    for seed, kind in product(range(REPORTED, REPORTED + (2 if QUICK else 24)), VIEWS):
        yield f"{kind}|ours|{seed}", lambda b=kind, k=seed: view_run("ours", b, 1.0, k)  # type: ignore[misc]
        for rival, factor in product(VIEW_RIVALS, (1.0, 2.0)):
            yield (
                f"{kind}|{rival} x {factor:g}|{seed}",
                lambda r=rival, b=kind, f=factor, k=seed: view_run(r, b, f, k),  # type: ignore[misc]
            )


def view_run(method: str, kind: str, factor: float, seed: int) -> Record:
    """Misclassified in per cent, whether the number of models is right, models too many, seconds."""
    make, model, threshold = VIEWS[kind]
    x, truth = make(seed)
    used = time.process_time()
    if method == "ours":
        labels = fitted(model, threshold, x, seed)[0].labels_
    elif method == "true models":
        labels = views.labels_of_true_models(get_model(model), x, truth, factor * threshold)
    else:
        labels = rival_labels(method, model, x, factor * threshold)
    extra = int(labels.max() - truth.max())
    return [100 * misclassification_error(truth, labels), extra == 0, extra, time.process_time() - used]


def generated_views(kept: Values) -> list[str]:
    """Table of generated pairs of views."""
    lines = [
        "## Generated pairs of views\n",
        "Stand-ins for photographs that nobody here has. What is drawn was settled before any method saw it; that ten "
        "or more right matches of a thing that stands still are one motion, not outliers, was settled later, when "
        "answers had been seen. The scenes below chose nothing that is in use; they were in view when drawing fewer "
        "fundamental matrices at a time was given up. Buildings: 1 to 7 planes, threshold 3 "
        "pixels. Moving objects: 1 to 5, threshold 1.5 pixels. 20 to 70% outliers, partly in crowds and locally "
        "consistent. The rivals and the true models get that threshold or twice as much, the better one on these "
        "scenes counts. True models: fitted to the true groups, each element to the nearest; the floor.\n",
        "| scenes | method | misclassified % | count right % | too many % | too few % | seconds | runs |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for kind, (_, _, threshold) in VIEWS.items():
        rows = {"ours": table(kept, f"views|{kind}|ours")}
        for rival in VIEW_RIVALS:
            tables = [(factor, table(kept, f"views|{kind}|{rival} x {factor:g}")) for factor in (1.0, 2.0)]
            done = [(one[:, 0].mean(), factor, one) for factor, one in tables if one is not None]
            if done:
                _, factor, best = min(done, key=lambda one: one[0])
                rows[f"{rival} at {factor * threshold:g} px"] = best
        for method, values in rows.items():
            if values is not None:
                error, right, _, seconds = values.mean(0)
                many, few = (values[:, 2] > 0).mean(), (values[:, 2] < 0).mean()
                lines.append(
                    f"| {kind} | {method} | {error:.1f} | {100 * right:.0f} | {100 * many:.0f} | {100 * few:.0f} "
                    f"| {seconds:.2f} | {len(values)} |"
                )
    return lines


def set_jobs() -> Iterator[Job]:
    """Sets A to D over seeds."""
    for name, seed in product(SETS, range(3 if QUICK else 10)):
        yield f"{name}|{seed}", lambda n=name, k=seed: set_run(n, k)  # type: ignore[misc]


def set_run(name: str, seed: int) -> Record:
    """Recall and misclassification in per cent, whether all is right, seconds."""
    x, truth = load_jlinkage(name)
    fitter, seconds = fitted(SETS[name][0], 0.03, x, seed)
    recall = 100 * recall_precision(truth, fitter.membership_)[0]
    right = recall >= 99.5 and len(fitter.params_) == truth.max() + 1
    return [recall, 100 * misclassification_error(truth, fitter.labels_), right, seconds]


def sets(kept: Values) -> list[str]:
    """Table of sets A to D."""
    lines = [
        "## Sets A to D\n",
        "Threshold 0.03. Right: the true number of models, recall at least 99.5%. True models: the error of labels by "
        "the true models, within the threshold; ours end where clutter is as likely as a model.\n",
        "| set | right | recall % | misclassified % (worst) | true models % | seconds |",
        "|---|---|---|---|---|---|",
    ]
    for name, (_, best) in SETS.items():
        values = table(kept, f"sets|{name}")
        if values is not None:
            recall, wrong, right, seconds = values.T
            lines.append(
                f"| {name} | {right.sum():.0f} of {len(right)} | {recall.mean():.2f} | {wrong.mean():.1f} "
                f"({wrong.max():.1f}) | {best} | {np.median(seconds):.2f} |"
            )
    return lines


def line_jobs() -> Iterator[Job]:
    """Three to fifteen lines at three shares of outliers."""
    for seed, share, number in product(range(1 if QUICK else 8), SHARES, range(3, 16, 2)):
        yield f"{share}|{number}|{seed}", lambda s=share, n=number, k=seed: line_run(n, s, k)  # type: ignore[misc]


def line_run(number: int, share: float, seed: int) -> Record:
    """Lines, those found, false ones, seconds."""
    x, truth = scenes.lines(number, share, seed)
    fitter, seconds = fitted("line", 0.03, x, seed)
    return [number, *scenes.n_lines_found(fitter.params_, truth), seconds]


def many_lines(kept: Values) -> list[str]:
    """Table of many lines."""
    lines = [
        "## Three to fifteen lines among outliers\n",
        "Box of side 2, 50 points on each line, noise 0.0075, threshold 0.03; 3, 5, ... 15 lines.\n",
        "| outliers | scenes | all lines found | lines found | false lines a scene | seconds |",
        "|---|---|---|---|---|---|",
    ]
    for share in SHARES:
        values = table(kept, f"lines|{share}")
        if values is not None:
            number, found, false, seconds = values.T
            lines.append(
                f"| {share:.0%} | {len(values)} | {(found == number).mean():.0%} | {found.sum() / number.sum():.1%} "
                f"| {false.mean():.2f} | {seconds.mean():.2f} |"
            )
    return lines


def false_jobs() -> Iterator[Job]:
    """Backgrounds without models."""
    for seed in range(4 if QUICK else 100):
        for model, kind in product(FAMILIES, scenes.BACKGROUNDS):
            yield f"{model}|{kind}|{seed}", lambda m=model, b=kind, k=seed: false_run(m, b, k)  # type: ignore[misc]
        yield f"homography|permuted|{seed}", lambda k=seed: false_run("homography", "permuted", k)  # type: ignore[misc]


def false_run(model: str, kind: str, seed: int) -> Record:
    """Models found where there is none, seconds."""
    if kind == "permuted":
        sequences = HALVES["homographies"][1]
        x = np.array(load_adelaidermf(sequences[seed % len(sequences)])[0])
        x[:, 2:] = x[np.random.default_rng(seed).permutation(len(x)), 2:]
        fitter, seconds = fitted(model, 3.0, x, seed)
    else:
        fitter, seconds = fitted(model, 0.03, scenes.background(kind, FAMILIES[model], seed), seed)
    return [len(fitter.families_), seconds]


def false(kept: Values) -> list[str]:
    """Table of false models."""
    lines = [
        "## False models where there is none, epsilon = 1\n",
        "500 points in a box of side 2, threshold 0.03: uniform; four Gaussian blobs; half of the points in a square "
        "(cube) of a quarter of the side; nine tenths in one half. Permuted: matches of real image pairs, exchanged "
        "at random, threshold 3 pixels. The mean must be at most 1.\n",
        "| model | background | runs | mean number of models | most | seconds |",
        "|---|---|---|---|---|---|",
    ]
    for model, kind in CASES:
        values = table(kept, f"false|{model}|{kind}")
        if values is not None:
            count, seconds = values.T
            lines.append(
                f"| {model} | {kind} | {len(count)} | {count.mean():.2f} | {count.max():.0f} | {seconds.mean():.2f} |"
            )
    return lines


def mixed_jobs() -> Iterator[Job]:
    """Scenes of two families."""
    for seed, kind in product(range(4 if QUICK else 50), MIXED):
        yield f"{kind}|{seed}", lambda b=kind, k=seed: mixed_run(b, k)  # type: ignore[misc]


MIXED: dict[str, tuple[Callable[[int], tuple[Any, dict[str, int]]], float]] = {
    "segment and circle": (scenes.lines_and_circles, 0.015),
    "plane and cylinder": (scenes.planes_and_cylinders, 0.015),
}
"""Scenes of two families and their threshold."""


def mixed_run(kind: str, seed: int) -> Record:
    """Whether all families have the right number of models, seconds."""
    make, threshold = MIXED[kind]
    x, truth = make(seed)
    fitter, seconds = fitted(list(truth), threshold, x, seed)
    counts = {name: fitter.families_.count(name) for name in truth}
    return [counts == truth, len(fitter.families_) - sum(truth.values()), seconds]


def mixed(kept: Values) -> list[str]:
    """Table of several families."""
    lines = [
        "## Several families in one fit\n",
        "Segments and circles of 60 points, planes and cylinders of 150 points with normals, noise 0.005, half of the "
        "points outliers, threshold 0.015. Right: every family has its number of models.\n",
        "| families | scenes | right | seconds |",
        "|---|---|---|---|",
    ]
    for kind in MIXED:
        values = table(kept, f"mixed|{kind}")
        if values is not None:
            lines.append(f"| {kind} | {len(values)} | {values[:, 0].mean():.0%} | {values[:, 2].mean():.2f} |")
    return lines


def size_jobs() -> Iterator[Job]:
    """Ten planes at growing size, and the room."""
    for n_points in (10_000, 100_000) if QUICK else (10_000, 100_000, 1_000_000):
        yield f"planes|{n_points}", lambda n=n_points: size_run(n)  # type: ignore[misc]
    for seed in range(1 if QUICK else 3):
        yield f"room|{seed}", lambda k=seed: room_run(k)  # type: ignore[misc]


def size_run(n_points: int) -> Record:
    """Points, planes found, worst angle in degrees, recall in per cent, seconds, megabytes above the data."""
    x, truth, normals = planes(n_points)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    fitter, seconds = fitted("plane", 0.015, x, 0)
    memory = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    found = fitter.params_[:, :3] / np.linalg.norm(fitter.params_[:, :3], axis=1, keepdims=True)
    angle = np.degrees(np.arccos(np.clip(np.abs(normals @ found.T).max(1).min(), 0, 1)))
    return [n_points, len(found), angle, 100 * recall_precision(truth, fitter.membership_)[0], seconds, memory]


def room_run(seed: int) -> Record:
    """Planes of the room, those found, planes too many, seconds."""
    x, truth = scenes.room(seed=seed)
    fitter, seconds = fitted("plane", 0.015, x, seed)
    return [len(truth), *scenes.planes_found(fitter.params_, truth), seconds]


def planes(n_points: int) -> tuple[Any, Any, Any]:
    """Points of ten random planes in the cube from -1 to 1, and as many uniform ones."""
    rng, each = np.random.default_rng(5), n_points // 20
    parts, normals = [], []
    for _ in range(10):
        normal, centre = rng.normal(size=3), rng.uniform(-0.5, 0.5, 3)
        normal /= np.linalg.norm(normal)
        kept = np.empty((0, 3))
        while len(kept) < each:
            points = rng.uniform(-1, 1, (2 * each, 3))
            points -= ((points - centre) @ normal)[:, None] * normal
            kept = np.concatenate([kept, points[(np.abs(points) <= 1).all(1)]])
        parts.append(kept[:each] + rng.normal(0, 0.005, (each, 1)) * normal)
        normals.append(normal)
    parts.append(rng.uniform(-1, 1, (n_points - 10 * each, 3)))
    truth = np.append(np.repeat(np.arange(10), each), np.full(n_points - 10 * each, -1))
    return np.concatenate(parts), truth, np.array(normals)


def size(kept: Values) -> list[str]:
    """Tables of large data."""
    lines = [
        "## Planes at size\n",
        "Ten planes, half of the points outliers, noise 0.005, threshold 0.015. Memory is the peak of the process less "
        "that before the fit. The angle is the worst between a true and the found normal.\n",
        "| points | planes found | worst angle (degrees) | recall % | seconds | MB above data |",
        "|---|---|---|---|---|---|",
    ]
    values = table(kept, "size|planes")
    for points, found, angle, recall, seconds, memory in () if values is None else values:
        lines.append(f"| {points:,.0f} | {found:.0f} | {angle:.3f} | {recall:.1f} | {seconds:.1f} | {memory:.0f} |")
    values = table(kept, "size|room")
    if values is not None:
        lines += [
            "\nA room of 5 x 4 x 2.6 m with 200,000 points: floor, ceiling, three walls, a table, a shelf board, and "
            "clutter; noise 5 mm, threshold 15 mm.\n",
            "| scan | planes | found | too many | seconds |",
            "|---|---|---|---|---|",
        ]
        for number, (total, found, extra, seconds) in enumerate(values):
            lines.append(f"| {number} | {total:.0f} | {found:.0f} | {extra:.0f} | {seconds:.1f} |")
    return lines


def real_jobs() -> Iterator[Job]:
    """Pictures and clouds of the real world."""
    edges = find_spec("skimage") is not None
    if not edges:
        print("coins: left out, scikit-image is not installed (pip install --group bench)")
    for threshold, seed in product((2.0, "auto"), range((1 if QUICK else 3) * edges)):
        yield f"coins, smoothed by 3|{threshold}|{seed}", lambda t=threshold, k=seed: coins_run(3.0, t, k)  # type: ignore[misc]
        yield (
            f"coins half covered|{threshold}|{seed}",
            lambda t=threshold, k=seed: coins_run(3.0, t, k, {"coverage": (0.5, 1.0)}),  # type: ignore[misc]
        )
    for threshold in (0.04, "auto"):
        for name in ("PozzoVeggiani", "CastelVecchio"):
            yield f"{name}|{threshold}|0", lambda n=name, t=threshold: building_run(n, t)  # type: ignore[misc]
    for threshold, name in product((1.5, "auto"), names_of("york_urban_detected")[:: 15 if QUICK else 1]):
        yield f"york|{threshold}|{name}", lambda n=name, t=threshold: york_run(n, t)  # type: ignore[misc]
    for threshold in (6.0, "auto"):
        yield f"nuclei|{threshold}|0", lambda t=threshold: nuclei_run(t)  # type: ignore[misc]
    if edges:
        yield "coins, smoothed by 2|2.0|0", lambda: coins_run(2.0, 2.0, 0)


def coins_run(
    sigma: float, threshold: float | str, seed: int, bounds: dict[str, tuple[float, float]] | None = None
) -> Record:
    """Coins found, circles too many, those of them across the picture, seconds."""
    fitter, seconds = fitted("circle", threshold, scenes.edges_of_coins(sigma), seed, bounds)
    return [*scenes.coins_found(fitter.params_), seconds]


def nuclei_run(threshold: float | str) -> Record:
    """Whole nuclei found, whole nuclei there are, false ellipses, seconds."""
    image, mask = cells.picture("nuclei", quick=False)
    fitter, seconds = fitted("ellipse_from_segments", threshold, line_segments(image).endpoints, 0)
    found, total, false = (int(one) for one in re.findall(r"\d+", cells.judged("nuclei", fitter, mask)))
    return [found, total, false, seconds]


def building_run(name: str, threshold: float | str) -> Record:
    """Planes, their elements in per cent, threshold, seconds."""
    x = load_jlinkage(name).X
    fitter, seconds = fitted("plane", threshold, x, 0)
    width = float(fitter.thresholds_[0]) if len(fitter.thresholds_) else np.nan
    return [len(fitter.params_), 100 * float(np.mean(fitter.labels_ >= 0)), width, seconds]


def york_run(name: str, threshold: float | str) -> Record:
    """Area under the curve of errors up to 10 degrees in per cent, vanishing points found, seconds."""
    photograph = load_york_urban(name, segments="detected")
    fitter, seconds = fitted("vanishing_point", threshold, vanishing.long_segments(photograph), 0)
    errors = vanishing.angles(photograph, fitter.params_)
    return [100 * float(np.clip(1 - errors / 10, 0, None).mean()), len(fitter.params_), seconds]


def real(kept: Values) -> list[str]:
    """Table of pictures and clouds of the real world."""
    lines = [
        "## Pictures and buildings\n",
        "Coins: circles through the pixels of Canny's edges of scikit-image's picture of 24 coins, no range of radii; "
        "half covered: with a bound of one half on the coverage; "
        "across the picture: circles of more than 1.5 times the largest coin. Nuclei: ellipses through the segments of "
        "an enlarged micrograph, found where more than half of the union is shared. Buildings: points of photographs, "
        "without truth. York Urban: vanishing points of 29 photographs, area under the curve of angles up to 10 "
        "degrees; means.\n",
        "| data | threshold | runs | found | seconds |",
        "|---|---|---|---|---|",
    ]
    for data, width in product(REAL, ("2.0", "6.0", "0.04", "1.5", "auto")):
        values = table(kept, f"real|{data}|{width}")
        if values is not None:
            mean = values.mean(0)
            lines.append(f"| {data} | {width} | {len(values)} | {REAL[data](mean)} | {mean[-1]:.1f} |")
    return lines


def _coins_text(mean: Any) -> str:
    """What was found of the coins."""
    return f"{mean[0]:.1f} of {len(scenes.COINS)} coins, {mean[1]:.1f} other circles, {mean[2]:.1f} across the picture"


REAL: dict[str, Callable[[Any], str]] = {
    "coins, smoothed by 3": _coins_text,
    "coins half covered": _coins_text,
    "coins, smoothed by 2": _coins_text,
    "nuclei": lambda mean: f"{mean[0]:.0f} of {mean[1]:.0f} nuclei, {mean[2]:.0f} false ellipses",
    "PozzoVeggiani": lambda mean: f"{mean[0]:.0f} planes, {mean[1]:.0f}% of the points, threshold {mean[2]:.3f}",
    "CastelVecchio": lambda mean: f"{mean[0]:.0f} planes, {mean[1]:.0f}% of the points, threshold {mean[2]:.3f}",
    "york": lambda mean: f"AUC {mean[0]:.1f}%, {mean[1]:.1f} vanishing points",
}
"""Data of the real world, and how the mean of their runs is told."""


PARTS: dict[str, tuple[Callable[[], Iterator[Job]], Callable[[Values], list[str]]]] = {
    "adelaide": (adelaide_jobs, adelaide),
    "views": (view_jobs, generated_views),
    "sets": (set_jobs, sets),
    "lines": (line_jobs, many_lines),
    "false": (false_jobs, false),
    "mixed": (mixed_jobs, mixed),
    "size": (size_jobs, size),
    "real": (real_jobs, real),
}
"""What makes the runs of each part, and what makes its tables."""


def page(values: Values) -> str:
    """The tables of all parts that were measured."""
    shown = [part for name, (_, part) in PARTS.items() if any(key.startswith(name + "|") for key in values)]
    return "\n\n".join([HEAD.rstrip(), *("\n".join(part(values)) for part in shown)]) + "\n"


def summary(values: Values) -> Values:
    """Misclassification and counts of AdelaideRMF, shares of scenes that are right, the mean of false models."""
    told: Values = {}
    for half, method in product(HALVES, ("ours", "auto")):
        runs = table(values, f"adelaide|{half}|{method}")
        if runs is not None:
            name = half if method == "ours" else f"{half}_auto"
            told[name] = {"error": round(float(runs[:, 0].mean()), 1), "count": round(float(100 * runs[:, 1].mean()))}
    for share in SHARES:
        runs = table(values, f"lines|{share}")
        if runs is not None:
            told[f"lines_{100 * share:.0f}"] = round(float(100 * (runs[:, 0] == runs[:, 1]).mean()))
    worst = [table(values, f"false|{model}|{kind}") for model, kind in CASES]
    told["most_false"] = max((round(float(one[:, 0].mean()), 2) for one in worst if one is not None), default=None)
    return told


def main(names: list[str]) -> None:
    """Make the runs of the parts that are missing."""
    kept = Results.open("fitting", page, summary)
    until = time.monotonic() + float(os.environ.get("BENCH_SECONDS", "inf"))
    for name in names or list(PARTS):
        make(kept, name, PARTS[name][0](), until)
    if not names and time.monotonic() <= until:
        kept.finish()
    else:
        kept.save()


if __name__ == "__main__":
    main(sys.argv[1:])
