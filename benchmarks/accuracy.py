"""A consensus of label tables against rivals, number of groups unknown and known; writes docs/benchmarks/accuracy.md.

``python -m benchmarks.accuracy [ensembles] [k_means] [networks] [balanced]`` runs the families named, all by default.
BENCH=quick takes few draws and small sets, BENCH=full the most.
"""

from __future__ import annotations

import importlib
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

import biconsensus as bc
from benchmarks.accuracy_pools import KINDS, MIXINGS, N_JOBS, Case, balanced, ensembles, k_means, networks
from benchmarks.ranks import Ranks
from benchmarks.results import Results, Values
from biconsensus.baselines import get_baseline
from biconsensus.errors import BiconsensusError
from biconsensus.metrics import ami, ari, nmi

FAMILIES: dict[str, Callable[[], list[Case]]] = {
    "ensembles": ensembles,
    "k_means": k_means,
    "networks": networks,
    "balanced": balanced,
}
NETWORKS = tuple(f"LFR {mixing}" for mixing in MIXINGS)
PAPER = ("paper, Fig. 6", "paper, Fig. 7", "paper, Table 2", "paper, Table 3")


def automatic(pool: bc.Pool, K: int | None, case: Case) -> NDArray[Any]:
    """Our answer, left-overs with the nearest group."""
    return bc.find_consensus(pool, n_groups=K, unassigned="nearest").labels


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
    "Leiden on A": rival("leiden_matrix"),
    "EAC, lifetime": rival("evidence_accumulation"),
}
ON_NETWORKS = {"biconsensus, auto, left-overs alone": noise_as_singletons}
KNOWN = {
    "biconsensus, n_groups": automatic,
    "NWCA": rival("nwca"),
    "EAC": rival("evidence_accumulation"),
    "LWEA": rival("lwea"),
    "LWGP": rival("lwgp"),
    "U-SENC step": rival("usenc"),
    "HBGF": rival("hbgf"),
    "MCLA": rival("mcla"),
    "k-means on A": rival("kmeans_matrix"),
}
SLOW = {"EC-CMS": rival("ec_cms")}
"""Told the number as well; several m x m matrices and minutes, so that they run on few pools."""


def judge(case: Case) -> dict[str, Any]:
    """Every method on one pool: ARI, NMI, AMI, number of groups, seconds of processor."""
    importlib.import_module("biconsensus.quorum._path")  # which workers would load while the first answer is timed
    warnings.simplefilter("ignore")
    # rivals know no candidate that holds nearly everything; ours judges those itself
    given = bc.Pool.from_labels(case.table)
    cleaned, K = given.clean(), np.unique(case.truth[case.truth >= 0]).size
    unknown = UNKNOWN | (ON_NETWORKS if case.peers else {})
    found: dict[str, Any] = {name: [*scores(case.truth, labels), 0.0] for name, labels in case.peers.items()}
    for known, methods in ((None, unknown), (K, KNOWN | (SLOW if case.first else {}))):
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


def by_set(values: Values, families: list[str]) -> dict[str, dict[str, list[float]]]:
    """Scores of every method on each set of some families: the mean over its draws."""
    draws: dict[str, dict[str, list[list[float]]]] = {}
    for key, found in values.items():
        family, _, rest = key.partition(": ")
        if family in families:
            # the actual mixing is in the name of a network, and all networks of one kind are one set
            name = "" if family in NETWORKS else rest.partition(" #")[0]
            for method, scores in found.items():
                draws.setdefault(f"{family}: {name}", {}).setdefault(method, []).append(scores)
    return {
        key: {method: [float(x) for x in np.mean(scores, axis=0)] for method, scores in found.items()}
        for key, found in draws.items()
    }


def mean(values: Values, family: str, method: str, place: int) -> float:
    """Mean of one measure over the sets of a family."""
    found = [scores[method][place] for scores in by_set(values, [family]).values() if method in scores]
    return float(np.mean(found)) if found else float("nan")


def table(values: Values, methods: list[str], families: list[str]) -> list[str]:
    """Mean ARI / NMI / AMI of each method in each family."""
    lines = [f"| ARI / NMI / AMI | {' | '.join(families)} |", "|---" * (len(families) + 1) + "|"]
    for name in methods:
        cells = []
        for family in families:
            means = [mean(values, family, name, place) for place in range(3)]
            cells.append(" / ".join(f"{value:.3f}" for value in means).replace("nan", "–"))
        if any("–" not in cell for cell in cells):
            lines.append(f"| {name} | {' | '.join(cells)} |")
    return [*lines, ""]


def ranks(values: Values) -> Ranks:
    """Mean ranks by ARI over the sets of all families that every method ran on."""
    found = by_set(values, ["ensemble_pools", *KINDS])
    scores = {key: {name: row[0] for name, row in methods.items()} for key, methods in found.items()}
    return Ranks.of(scores, [*UNKNOWN, *KNOWN])


def page(values: Values) -> str:
    """All tables."""
    ours = [found["biconsensus, auto"][4] / max(found["biconsensus, quorum 1/2"][4], 1e-3) for found in values.values()]
    families = [name for name in ("ensemble_pools", *KINDS) if any(key.startswith(f"{name}:") for key in values)]
    lines = [
        "# Accuracy on label tables",
        "",
        f"What is compared is explained in [](../quorum.md). {len(values)} pools, rows shuffled; sets count alike, "
        "each by the mean of its draws. Left-over elements are with the nearest group unless said otherwise. The "
        "draws, seeds and networks are not those that constants were chosen on; of the sets of points only those "
        "are here that no constant was chosen on.",
        "",
        "## Number of groups unknown",
        "",
        *table(values, list(UNKNOWN), families),
        "## Number of groups given",
        "",
        *table(values, [*KNOWN, *SLOW], families),
        "EC-CMS ran on the first draw of each set of `ensemble_pools` alone.",
        "",
        *(network_lines(values) if any(key.startswith(NETWORKS) for key in values) else []),
        *(balanced_lines(values) if any(key.startswith(PAPER) for key in values) else []),
        "## Ranks",
        "",
        "![Mean ranks with critical difference](accuracy-ranks.png)",
        "",
        "## Cost",
        "",
        "Processor time of the default over that of one consensus at quorum 1/2: median "
        f"{np.median(ours):.1f}, 95% of the pools under {np.quantile(ours, 0.95):.1f}, largest {np.max(ours):.1f}.",
    ]
    return "\n".join(lines)


def network_lines(values: Values) -> list[str]:
    """Label tables of networks."""
    own = "ConsensusCommunities, left-overs alone"
    on_networks = ["biconsensus, auto", *ON_NETWORKS, own, *list(UNKNOWN)[1:], "ECG", "fast-ensemble"]
    mixing: dict[str, list[float]] = {}
    for key in values:
        if key.startswith(NETWORKS):
            mixing.setdefault(key.partition(":")[0], []).append(float(key.split("mixing ")[1].split()[0]))
    return [
        "## Networks",
        "",
        "LFR networks of `lfr_network` (1,000 nodes, mean degree 15, communities of 20 to 80); actual mixing "
        f"{', '.join(f'{np.mean(found):.3f}' for found in mixing.values())}. `ConsensusCommunities`, ECG and "
        "fast-ensemble see the network, all others only the forty base results.",
        "",
        *table(values, on_networks, list(mixing)),
    ]


def balanced_lines(values: Values) -> list[str]:
    """Pools of the paper's own experiments."""
    return [
        "## Balanced pools",
        "",
        "Pools of the paper's experiments. The plain algorithm is the row at quorum 1/2.",
        "",
        *table(
            values, list(UNKNOWN)[:2], [family for family in PAPER if any(key.startswith(family) for key in values)]
        ),
    ]


def summary(values: Values) -> Values:
    """Mean ARI and NMI of every method in every family, and the cost."""
    families = ["ensemble_pools", *KINDS, *NETWORKS, *PAPER]
    methods = [*UNKNOWN, *ON_NETWORKS, *KNOWN, *SLOW]
    found: Values = {"pools": len(values)}
    for place, name in enumerate(("ARI", "NMI")):
        found[name] = {
            family: {m: round(x, 4) for m in methods if not np.isnan(x := mean(values, family, m, place))}
            for family in families
        }
    return found


def measure(families: list[str]) -> Results:
    """Every pool of the families that has not been measured yet, two at a time."""
    kept = Results.open("accuracy", page, summary)
    for name in families:
        cases = {f"{case.family}: {case.name}": case for case in FAMILIES[name]()}
        cases = {key: case for key, case in cases.items() if key not in kept.values}
        found = Parallel(n_jobs=N_JOBS, return_as="generator")(delayed(judge)(case) for case in cases.values())
        for count, (key, result) in enumerate(zip(cases, found, strict=True)):
            kept.values[key] = result
            if count % 5 == 0:
                kept.save()
        print(f"{name}: {len(cases)} pools", flush=True)
    if kept.values:
        (kept.finish if families == list(FAMILIES) else kept.save)()
        ranks(kept.values).draw(kept.folder / "accuracy-ranks.png", list(KNOWN), " (K given)")
    return kept


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    measure(sys.argv[1:] or list(FAMILIES))
