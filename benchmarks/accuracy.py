"""The automatic quorum against rivals, number of groups unknown and known; writes docs/benchmarks/accuracy.md.

BENCH=quick takes few draws and small sets. BENCH=resume keeps the pools that docs/benchmarks/accuracy.json has.
"""

from __future__ import annotations

import importlib
import json
import os
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy.stats import rankdata, studentized_range

import biconsensus as bc
from benchmarks.accuracy_pools import KINDS, Case, balanced, ensembles, k_means, networks
from biconsensus.baselines import get_baseline
from biconsensus.errors import BiconsensusError
from biconsensus.metrics import ami, ari, nmi

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "benchmarks" / "accuracy.md"
RECORD = PAGE.with_suffix(".json")
PLOT = PAGE.with_name("accuracy-ranks.png")
MODE = os.environ.get("BENCH", "")
NETWORKS = ("LFR 0.3", "LFR 0.4", "LFR 0.5")
PAPER = ("paper, Fig. 6", "paper, Fig. 7", "paper, Table 2", "paper, Table 3")


def automatic(pool: bc.Pool, K: int | None, case: Case) -> NDArray[Any]:
    """Our answer, left-overs with the nearest group."""
    wanted: dict[str, Any] = {"quorum": "auto"} if K is None else {"n_groups": K}
    return bc.find_consensus(pool, unassigned="nearest", **wanted).labels


def noise_as_singletons(pool: bc.Pool, K: int | None, case: Case) -> NDArray[Any]:
    """The same, each left-over element a group of its own, as the rivals on networks have them."""
    return bc.metrics.noise_as_singletons(bc.find_consensus(pool, unassigned="leave").labels)


def plain(pool: bc.Pool, K: int | None, case: Case) -> NDArray[Any]:
    """The paper: a majority, greedily."""
    return bc.find_consensus(pool, **{**bc.Search.paper().given(), "unassigned": "nearest"}).labels


def rival(name: str) -> Callable[..., NDArray[Any]]:
    """A baseline under the signature used here."""

    def run(pool: bc.Pool, K: int | None, case: Case) -> NDArray[Any]:
        labels: NDArray[Any] = get_baseline(name)(pool, K, random_state=0)
        return labels

    return run


UNKNOWN = {
    "biconsensus, auto": automatic,
    "biconsensus, quorum 1/2": plain,
    "Louvain on A": rival("louvain_matrix"),
    "EAC, lifetime": rival("evidence_accumulation"),
}
ON_NETWORKS = {"biconsensus, auto, left-overs alone": noise_as_singletons}
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
    importlib.import_module("biconsensus.quorum._path")  # which workers would load while the first answer is timed
    warnings.simplefilter("ignore")
    # rivals know no candidate that holds nearly everything; ours judges those itself
    given = bc.Pool.from_labels(case.table)
    cleaned, K = given.clean(), np.unique(case.truth[case.truth >= 0]).size
    unknown = UNKNOWN | (ON_NETWORKS if case.peers else {})
    found: dict[str, Any] = {name: [*scores(case.truth, labels), 0.0] for name, labels in case.peers.items()}
    for known, methods in ((None, unknown), (K, KNOWN)):
        for name, method in methods.items():
            start = time.process_time()
            try:
                labels = method(given if method is automatic or case.family in PAPER else cleaned, known, case)
            except BiconsensusError:
                labels = np.zeros(case.truth.size, int)
            found[name] = [*scores(case.truth, labels), round(time.process_time() - start, 3)]
    return found


def scores(truth: NDArray[Any], labels: NDArray[Any]) -> list[float]:
    """ARI, NMI, AMI and the number of groups, on the elements that have a class."""
    inside = truth >= 0
    truth, labels = truth[inside], labels[inside]
    n_groups = int(np.unique(labels[labels >= 0]).size)
    return [*(round(float(measure(truth, labels)), 4) for measure in (ari, nmi, ami)), n_groups]


def mean(record: dict[str, dict[str, Any]], family: str, name: str, place: int) -> float:
    """Mean of one measure over the sets of a family, each set the mean of its draws."""
    by_set: dict[str, list[float]] = {}
    for key, found in record.items():
        of_family, _, rest = key.partition(": ")
        if of_family == family and name in found:
            by_set.setdefault(rest.partition(" #")[0], []).append(found[name][place])
    return float(np.mean([np.mean(values) for values in by_set.values()])) if by_set else float("nan")


def table(record: dict[str, dict[str, Any]], methods: list[str], families: list[str]) -> list[str]:
    """Mean ARI / NMI / AMI of each method in each family."""
    lines = [f"| ARI / NMI / AMI | {' | '.join(families)} |", "|---" * (len(families) + 1) + "|"]
    for name in methods:
        cells = []
        for family in families:
            values = [mean(record, family, name, place) for place in range(3)]
            cells.append(" / ".join(f"{value:.3f}".replace("nan", "-") for value in values))
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return [*lines, ""]


def ranks(record: dict[str, dict[str, Any]]) -> tuple[list[str], NDArray[Any], float]:
    """Methods, their mean ranks by ARI over the pools that all of them ran on, and the critical difference."""
    names = [*UNKNOWN, *KNOWN]
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
    families = ["ensemble_pools", *KINDS]
    own = "ConsensusCommunities, auto, left-overs alone"
    on_networks = ["biconsensus, auto", *ON_NETWORKS, own, *list(UNKNOWN)[1:], "ECG", "fast-ensemble"]
    lines = [
        "# Accuracy",
        "",
        "Written by `make bench ONLY=accuracy`; what is compared is explained in [](../quorum.md). "
        f"{len(record)} pools; sets count alike, each by the mean of its draws. Left-over elements are with the "
        "nearest group unless said otherwise. The draws, seeds and networks are not those that the weights of the "
        "score were chosen on; the data sets are.",
        "",
        "## Number of groups unknown",
        "",
        *table(record, list(UNKNOWN), families),
        "## Number of groups given",
        "",
        *table(record, list(KNOWN), families),
        "## Networks",
        "",
        "LFR networks of the kind on the page on [communities](communities.md). `ConsensusCommunities`, ECG and "
        "fast-ensemble see the network, all others only the forty base results.",
        "",
        *table(record, on_networks, list(NETWORKS)),
        "## Balanced pools",
        "",
        "Pools of the paper's experiments. The plain algorithm is the row at quorum 1/2.",
        "",
        *table(record, list(UNKNOWN)[:2], list(PAPER)),
        "## Ranks",
        "",
        f"![Mean ranks with critical difference]({PLOT.name})",
        "",
        "## Cost",
        "",
        'Processor time of `quorum="auto"` over that of one consensus at quorum 1/2: median '
        f"{np.median(costs):.1f}, 95% of the pools under {np.quantile(costs, 0.95):.1f}, largest {np.max(costs):.1f}.",
    ]
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    pools = [f"{json.dumps(key)}: {json.dumps(found)}" for key, found in record.items()]
    RECORD.write_text("{\n" + ",\n".join(pools) + "\n}\n")
    draw_ranks(record)
    PAGE.write_text("\n".join(lines) + "\n")


def main() -> None:
    """Run everything, two pools at a time, writing as it goes."""
    warnings.simplefilter("ignore")
    record = json.loads(RECORD.read_text()) if MODE == "resume" and RECORD.exists() else {}
    for family in (ensembles, k_means, networks, balanced):
        cases = {f"{case.family}: {case.name}": case for case in family()}
        cases = {key: case for key, case in cases.items() if key not in record}
        found = Parallel(n_jobs=2, return_as="generator")(delayed(judge)(case) for case in cases.values())
        for key, result in zip(cases, found, strict=True):
            record[key] = result
        write(record)
        print(f"{family.__name__}: {len(cases)} pools", flush=True)


if __name__ == "__main__":
    main()
