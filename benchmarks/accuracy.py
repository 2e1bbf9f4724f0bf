"""The automatic quorum against rivals, number of groups unknown and known; writes docs/benchmarks/accuracy.md.

BENCH=quick takes few draws and small sets. BENCH=resume keeps the pools that docs/benchmarks/accuracy.json has.
"""

from __future__ import annotations

import json
import os
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata, studentized_range
from sklearn.cluster import KMeans
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.preprocessing import StandardScaler

import biconsensus as bc
from biconsensus import datasets
from biconsensus.baselines import get_baseline
from biconsensus.errors import BiconsensusError
from biconsensus.metrics import ami, ari, nmi
from biconsensus.quorum import QuorumPath

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "benchmarks" / "accuracy.md"
RECORD = PAGE.with_suffix(".json")
PLOT = PAGE.with_name("accuracy-ranks.png")
MODE = os.environ.get("BENCH", "")
DRAWS = 3 if MODE == "quick" else 20
MAX_ELEMENTS = 300 if MODE == "quick" else 500
ENSEMBLES = ("Caltech20", "IS", "MF", "SPF", "Semeion", "VS")
KINDS = {"k in 2..12": "wide", "k in K-1..K+2": "near", "k in 2..sqrt(m)": "over"}


class Case(NamedTuple):
    """One pool with its truth."""

    family: str
    name: str
    table: NDArray[Any]
    truth: NDArray[Any]
    graph: Any = None


def ensembles(n_draws: int = DRAWS) -> Iterator[Case]:
    """Ten columns drawn from pools made by others, many times."""
    pools = {name: datasets.load_ensemble_pool(name) for name in ENSEMBLES}
    for draw in range(n_draws):
        for name, (members, truth) in pools.items():
            columns = np.random.default_rng([7, draw]).choice(members.shape[1], 10, replace=False)
            yield Case("ensemble_pools", f"{name} #{draw}", members[:, columns], truth)


def points() -> Iterator[tuple[str, NDArray[Any], NDArray[Any]]]:
    """Labelled points, at most MAX_ELEMENTS of each set."""
    loaders = {"iris": load_iris, "wine": load_wine, "breast 569": load_breast_cancer, "digits": load_digits}
    sets = {name: loader(return_X_y=True) for name, loader in loaders.items()}
    sets["breast 699"] = datasets.load_uci("breast")
    # iris and wine of the collection are the sets above
    names = [n for n in datasets.names_of("benchmark") if n not in ("other/iris", "uci/wine", "uci/wdbc")]
    sets |= {name: datasets.load_benchmark(name) for name in (names[::4] if MODE == "quick" else names)}
    for name, (X, truth) in sets.items():
        X, truth = np.asarray(X, float), np.asarray(truth)
        kept = np.flatnonzero(np.isfinite(X).all(axis=1))
        if kept.size > MAX_ELEMENTS:
            kept = np.sort(np.random.default_rng(0).choice(kept, MAX_ELEMENTS, replace=False))
        yield (
            name,
            StandardScaler().fit_transform(X[kept]) if X.shape[1] > 3 and name != "digits" else X[kept],
            truth[kept],
        )


def k_means() -> Iterator[Case]:
    """Twenty k-means runs on each set, in three ranges of k."""
    for name, X, truth in points():
        K = np.unique(truth[truth >= 0]).size
        spans = {"wide": (2, 12), "near": (max(2, K - 1), K + 2), "over": (2, int(len(X) ** 0.5))}
        for family, kind in KINDS.items():
            rng = np.random.default_rng([11, K])
            runs = [
                KMeans(
                    int(rng.integers(spans[kind][0], spans[kind][1] + 1)),
                    n_init=1,
                    init="random",
                    random_state=int(rng.integers(1 << 31)),
                ).fit_predict(X)
                for _ in range(20)
            ]
            yield Case(family, name, np.column_stack(runs), truth)


def networks() -> Iterator[Case]:
    """LFR networks; ten runs each of Louvain, label propagation, Leiden and Infomap."""
    from biconsensus.lfr import lfr_network
    from biconsensus.sources.networks import get_algorithm

    for mixing in (0.3, 0.4, 0.5, 0.6):
        for seed in range(1 if MODE == "quick" else 3):
            graph, truth = lfr_network(1000, mixing, 15, max_degree=50, communities=(20, 80), random_state=seed)
            names = ("louvain", "label_propagation", "leiden", "infomap")
            runs = [np.asarray(get_algorithm(name)(graph, 100 * seed + k)) for name in names for k in range(10)]
            yield Case("LFR", f"mixing {mixing} #{seed}", np.column_stack(runs), np.asarray(truth), graph)


def automatic(pool: bc.Pool, K: int | None, case: Case) -> NDArray[Any]:
    """Our answer, left-overs with the nearest group: `find_consensus(quorum="auto", unassigned="nearest")`."""
    path = _path(pool)
    cut = path.best if K is None else path.with_n_groups(K)
    labels: NDArray[Any] = cut.labels[pool.inverse]
    return labels


_PATHS: dict[int, QuorumPath] = {}


def _path(pool: bc.Pool) -> QuorumPath:
    """The path of a pool, traced once for both questions asked of it."""
    if id(pool) not in _PATHS:
        _PATHS.clear()
        _PATHS[id(pool)] = QuorumPath.of(pool)
    return _PATHS[id(pool)]


def plain(pool: bc.Pool, K: int | None, case: Case) -> NDArray[Any]:
    """The paper: a majority, greedily."""
    return bc.find_consensus(pool, unassigned="nearest").labels


def rival(name: str) -> Callable[..., NDArray[Any]]:
    """A baseline under the signature used here."""

    def run(pool: bc.Pool, K: int | None, case: Case) -> NDArray[Any]:
        own = {"graph": case.graph} if name == "ecg" else {}
        labels: NDArray[Any] = get_baseline(name)(pool, K, random_state=0, **own)
        return labels

    return run


UNKNOWN = {
    "biconsensus, auto": automatic,
    "biconsensus, quorum 1/2": plain,
    "Louvain on A": rival("louvain_matrix"),
    "EAC, lifetime": rival("evidence_accumulation"),
    "ECG": rival("ecg"),
}
KNOWN = {
    "biconsensus, n_groups": automatic,
    "EAC": rival("evidence_accumulation"),
    "LWEA": rival("lwea"),
    "LWGP": rival("lwgp"),
    "U-SENC step": rival("usenc"),
    "HBGF": rival("hbgf"),
    "k-means on A": rival("kmeans_matrix"),
}


def judge(case: Case) -> dict[str, Any]:
    """Every method on one pool: ARI, NMI, AMI, number of groups, seconds of processor."""
    _PATHS.clear()
    pool, inside = bc.Pool.from_labels(case.table).clean(), case.truth >= 0
    K = np.unique(case.truth[inside]).size
    found: dict[str, Any] = {}
    for known, methods in ((None, UNKNOWN), (K, KNOWN)):
        for name, method in methods.items():
            if name == "ECG" and case.graph is None:
                continue
            start = time.process_time()
            try:
                labels = method(pool, known, case)
            except BiconsensusError:
                labels = np.zeros(case.truth.size, int)
            took = time.process_time() - start
            truth, labels = case.truth[inside], labels[inside]
            scores = [float(measure(truth, labels)) for measure in (ari, nmi, ami)]
            found[name] = [*scores, int(np.unique(labels[labels >= 0]).size), took]
    return found


def mean(record: dict[str, dict[str, Any]], family: str, name: str, place: int) -> float:
    """Mean of one measure over the sets of a family, each set the mean of its draws."""
    by_set: dict[str, list[float]] = {}
    for key, found in record.items():
        if key.startswith(f"{family}: ") and name in found:
            by_set.setdefault(key.split(": ")[1].split(" #")[0], []).append(found[name][place])
    return float(np.mean([np.mean(values) for values in by_set.values()])) if by_set else float("nan")


def table(record: dict[str, dict[str, Any]], methods: dict[str, Any]) -> list[str]:
    """Mean ARI / NMI / AMI of each method in each family."""
    families = ["ensemble_pools", *KINDS, "LFR"]
    lines = [f"| ARI / NMI / AMI | {' | '.join(families)} |", "|---" * (len(families) + 1) + "|"]
    for name in methods:
        cells = [" / ".join(f"{mean(record, f, name, p):.3f}".replace("nan", "-") for p in range(3)) for f in families]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return [*lines, ""]


def ranks(record: dict[str, dict[str, Any]]) -> tuple[list[str], NDArray[Any], float]:
    """Methods, their mean ranks by ARI over the pools that all of them ran on, and the critical difference."""
    names = [n for n in [*UNKNOWN, *KNOWN] if n != "ECG"]
    rows = [[-found[n][0] for n in names] for found in record.values() if all(n in found for n in names)]
    order = np.mean([rankdata(row) for row in rows], axis=0)
    critical = studentized_range.ppf(0.95, len(names), np.inf) / np.sqrt(2)
    return names, order, float(critical * np.sqrt(len(names) * (len(names) + 1) / (6.0 * len(rows))))


def draw_ranks(record: dict[str, dict[str, Any]]) -> None:
    """Critical-difference plot."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    names, order, critical = ranks(record)
    figure, axes = plt.subplots(figsize=(8, 3.6), layout="constrained")
    for row, k in enumerate(np.argsort(order)):
        known = names[k] in KNOWN
        axes.plot([order[k] - critical / 2, order[k] + critical / 2], [-row, -row], color="0.7", lw=4)
        axes.plot(order[k], -row, "s" if known else "o", color="C1" if known else "C0")
        axes.text(order[k] + critical / 2 + 0.1, -row, names[k] + (" (K given)" if known else ""), va="center")
    axes.set_xlim(order.min() - 1, order.max() + 3)
    axes.set_yticks([])
    axes.set_xlabel("mean rank by ARI; bars that do not overlap differ at the 5% level (Nemenyi)")
    figure.savefig(PLOT, dpi=120)
    plt.close(figure)


def write(record: dict[str, dict[str, Any]]) -> None:
    """The page and the record behind it."""
    costs = [f["biconsensus, auto"][4] / max(f["biconsensus, quorum 1/2"][4], 1e-3) for f in record.values()]
    lines = [
        "# Accuracy",
        "",
        "Written by `make bench ONLY=accuracy`; what is compared is explained in [](../quorum.md).",
        "",
    ]
    lines += [
        f"{len(record)} pools; sets count alike, each by the mean of its draws. A run that was stopped goes on with"
    ]
    lines[-1] += " `BENCH=resume`; families without figures were not reached yet."
    lines += [
        "Ensemble draws 0 to 7 and most k-means sets took part in the choice of the rule, later draws did not.",
        "",
    ]
    lines += ["## Number of groups unknown", "", *table(record, UNKNOWN)]
    lines += ["## Number of groups given", "", *table(record, KNOWN)]
    lines += ["## Ranks", "", f"![Mean ranks with critical difference]({PLOT.name})", ""]
    lines += ["## Cost", "", 'Processor time of `quorum="auto"` over that of one consensus at quorum 1/2: median ']
    lines[-1] += f"{np.median(costs):.1f}, largest {np.max(costs):.1f}."
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    RECORD.write_text(json.dumps(record, indent=0) + "\n")
    draw_ranks(record)
    PAGE.write_text("\n".join(lines) + "\n")


def main() -> None:
    """Run everything, writing as it goes."""
    warnings.simplefilter("ignore")
    record = json.loads(RECORD.read_text()) if MODE == "resume" and RECORD.exists() else {}
    for family in (ensembles(min(4, DRAWS)), k_means(), networks(), ensembles()):
        for case in family:
            key = f"{case.family}: {case.name}"
            if key not in record:
                record[key] = judge(case)
                RECORD.write_text(json.dumps(record, indent=0) + "\n")
        write(record)


if __name__ == "__main__":
    main()
