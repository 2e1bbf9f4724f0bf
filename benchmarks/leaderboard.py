"""The leaderboard: consensus of clusterings, of communities, and fitting of many models; writes docs/leaderboard.md.

``python -m benchmarks.leaderboard [pools] [points] [networks] [models]`` runs the parts named, all by default.
BENCH=quick takes a few small cases of each, BENCH=full three seeds of networks and fits. The rules are on the page.
Pools are those of `benchmarks.accuracy`, which is run; the results of `benchmarks.meaning_points` are taken over where
there are any.
"""

from __future__ import annotations

import json
import os
import sys
import time
import warnings
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

import biconsensus as bc
from benchmarks import accuracy, communities, meaning_networks, meaning_points
from benchmarks.accuracy_pools import KINDS
from benchmarks.ranks import Ranks
from benchmarks.results import PUBLISHED, Results, Values
from benchmarks.tuning.pools import ENSEMBLES
from benchmarks.without_data import loaded_or_none
from biconsensus.baselines import get_baseline
from biconsensus.baselines.fitting import FITTERS
from biconsensus.datasets import load_adelaidermf, load_jlinkage
from biconsensus.errors import MissingDependencyError
from biconsensus.graphs import Graph
from biconsensus.metrics import ari, misclassification_error, nmi, noise_as_singletons
from biconsensus.sources._features import in_one_unit
from biconsensus.sources.networks import get_algorithm
from experiments.models_adelaidermf import BENCHMARKS as ADELAIDE
from experiments.models_adelaidermf import diagonal

QUICK = os.environ.get("BENCH") == "quick"
PAGE = "docs/leaderboard.md"
OURS = ("biconsensus", "Consensus", "MultiModelFitter")
"""How the names of our own methods begin."""
COLLECTIONS = ("fcps", "other", "sipu", "uci", "sk", "mixture")
"""Of sets of points; those of several seeds, of noise, and whole sets, are other questions."""
QUICK_SETS = ("fcps/hepta", "fcps/tetra", "sk/iris", "sk/wine")
UNTOLD = [name for name in meaning_points.METHODS if "told" not in name]
Labels = NDArray[Any]
FIRST_SEED = 3000
"""Of networks; no constant was chosen on seeds above 100, and the page on networks uses those from 1000."""
N_SEEDS = 3 if os.environ.get("BENCH") == "full" else 1


def is_ours(method: str) -> bool:
    """Whether a method is one of this library."""
    return method.startswith(OURS)


# Label tables and points: measured elsewhere, taken over -----------------------------------------------------------


def pools(kept: Results) -> None:
    """Means over the draws of each set, of the page on accuracy."""
    found = accuracy.measure(["ensembles", "k_means"])
    for key, methods in accuracy.by_set(found.values, ["ensemble_pools", *KINDS]).items():
        kept.values[f"pools | {key}"] = {
            name: [round(row[place], 4) for place in (0, 1, 4)]
            for name, row in methods.items()
            if name not in accuracy.SLOW
        }
    few = [methods for methods in found.values.values() if all(name in methods for name in accuracy.SLOW)]
    if few:
        told = [*accuracy.SLOW, *accuracy.KNOWN]
        kept.values["same draws | ensemble_pools"] = {
            name: [round(float(np.mean([methods[name][place] for methods in few])), 4) for place in (0, 1)]
            for name in told
        }


def points(kept: Results) -> None:
    """Every set of points with every method, of the page on groups of points; a few are measured where it is not."""
    file = PUBLISHED / "meaning-points.json"
    if not QUICK and file.exists():
        document = json.loads(file.read_text(encoding="utf-8"))
        record = document["values"]
        kept.values["taken over | meaning-points"] = document["measured"][-1]
        for key in record:
            if key.split("/")[0] in COLLECTIONS:
                rows = {name: [row[0], None, row[2]] for name in UNTOLD if (row := record[key].get(f"{name} 0"))}
                kept.values[f"points | {key}"] = rows
        return
    sets = {name: data for name, data in meaning_points.sets().items() if not QUICK or name in QUICK_SETS}
    for name, data in sets.items():
        case = loaded_or_none(data)
        if case is not None and f"points | {name}" not in kept.values:
            kept.values[f"points | {name}"] = _points(*case)
            kept.save()


def _points(X: Labels, truths: list[Labels]) -> Values:
    """Best ARI over the reference labellings, and processor seconds, of every method."""
    found: Values = {}
    order = np.random.default_rng(0).permutation(len(X))
    X, truths = X[order], [truth[order] for truth in truths]
    for name in UNTOLD:
        seen = X if is_ours(name) else in_one_unit(X)
        started = time.process_time()
        labels = meaning_points.METHODS[name](seen, 0, 0)
        seconds = time.process_time() - started
        found[name] = [round(meaning_points.score(in_one_unit(X), truths, labels), 4), None, round(seconds, 2)]
    return found


# Networks -----------------------------------------------------------------------------------------------------------


def ours_on_network(graph: Graph, seed: int) -> Labels:
    """The default; nodes in no community are communities of one."""
    return noise_as_singletons(
        bc.ConsensusCommunities(random_state=seed, runs=bc.Runs(progress=False)).fit(graph).labels_
    )


def louvain_runs(graph: Graph, seed: int) -> bc.Pool:
    """Twenty runs of Louvain, which two of the rivals start from."""
    return bc.Pool.from_labels([get_algorithm("louvain")(graph, seed + k) for k in range(20)])


ON_NETWORKS: dict[str, Callable[[Graph, int], Labels]] = {
    "ConsensusCommunities": ours_on_network,
    "Louvain": lambda graph, seed: get_algorithm("louvain")(graph, seed),
    "Leiden": lambda graph, seed: get_algorithm("leiden")(graph, seed),
    "Infomap": lambda graph, seed: get_algorithm("infomap")(graph, seed),
    "ECG": lambda graph, seed: communities.ecg(graph),
    "FastEnsemble": lambda graph, seed: communities.fast_ensemble(graph),
    "fast consensus": lambda graph, seed: get_baseline("fast_consensus")(
        louvain_runs(graph, seed), graph=graph, random_state=seed
    ),
}


def networks(kept: Results) -> None:
    """Every kind of network, several of each where they are drawn."""
    for name, make in list(meaning_networks.CASES.items())[:: 4 if QUICK else 1]:
        drawn = name.startswith(("LFR", "block", "44"))
        for seed in range(FIRST_SEED, FIRST_SEED + (N_SEEDS if drawn else 1)):
            key = f"networks | {name}: #{seed}"
            if key in kept.values:
                continue
            case = loaded_or_none(lambda make=make, seed=seed: make(seed))  # type: ignore[misc]
            if case is None:
                continue
            graph, truth = _renumbered(*case, seed)
            entry: Values = {"actual mixing": round(meaning_networks.actual_mixing((graph, truth)), 4)}
            for method, run in ON_NETWORKS.items():
                entry |= _timed(method, lambda run=run, graph=graph, seed=seed: run(graph, seed), truth)  # type: ignore[misc]
            kept.values[key] = entry
            kept.save()


def _renumbered(graph: Graph, truth: Labels, seed: int) -> tuple[Graph, Labels]:
    """The same network, nodes in random order."""
    order = np.random.default_rng(seed).permutation(graph.n_nodes)
    adjacency = graph.adjacency[order][:, order]
    adjacency.sort_indices()
    return Graph(adjacency, list(range(order.size))), truth[order]


def _timed(method: str, run: Callable[[], Labels], truth: Labels) -> Values:
    """ARI, NMI and processor seconds of one answer; nothing where a package is not installed."""
    started = time.process_time()
    try:
        labels = run()
    except (ImportError, MissingDependencyError) as error:
        print(f"{method} is left out: {error} (pip install --group bench brings all rivals)", file=sys.stderr)
        return {}
    seconds = time.process_time() - started
    return {method: [round(ari(truth, labels), 4), round(nmi(truth, labels), 4), round(seconds, 2)]}


# Models -------------------------------------------------------------------------------------------------------------


def models(kept: Results) -> None:
    """Sets A to D of the paper, and AdelaideRMF; the number of models is not given to anybody."""
    for name in "A" if QUICK else "ABCD":
        model = "circle" if name == "D" else "line"
        _fits(kept, f"models | lines and circles: {name}", partial(load_jlinkage, name), model, 0.03, 0.5)
    for half, setting in ADELAIDE.items():
        for name in setting.sequences[: 1 if QUICK else None]:
            load = partial(load_adelaidermf, name)
            _fits(kept, f"models | {half}: {name}", load, setting.model, setting.threshold, setting.sigma)


def _fits(
    kept: Results, key: str, load: Callable[[], tuple[Labels, Labels]], model: str, threshold: float, sigma: float
) -> None:
    """Every fitter on one set, elements in random order: share that is right, number of models, processor seconds."""
    case = None if key in kept.values else loaded_or_none(load)
    if case is None:
        return
    x, truth = case
    order = np.random.default_rng(0).permutation(len(x))
    x, truth = x[order], truth[order]
    options = {"n_samples": 2000 if x.shape[1] > 2 else 5000, "sigma": sigma * (diagonal(x) if x.shape[1] > 2 else 1)}
    entry: Values = {"true number": int(truth.max() + 1)}
    for name, (rival, times) in MODEL_METHODS.items():
        found = []
        for seed in range(N_SEEDS):
            started = time.process_time()
            if rival is None:
                labels = bc.MultiModelFitter(model, threshold, random_state=seed).fit(x).labels_
            else:
                labels = FITTERS[rival](x, model, times * threshold, random_state=seed, **options)
            seconds = time.process_time() - started
            found.append([100 * (1 - misclassification_error(truth, labels)), float(labels.max() + 1), seconds])
        entry[name] = [round(float(value), 2) for value in np.mean(found, axis=0)]
    kept.values[key] = entry
    kept.save()


RIVAL_FITTERS = {
    "sequential RANSAC": "sequential_ransac",
    "residual histograms": "residual_histograms",
    "J-linkage": "j_linkage",
    "T-linkage": "t_linkage",
}
MODEL_METHODS: dict[str, tuple[str | None, float]] = {
    "MultiModelFitter": (None, 1.0),
    **{name: (rival, 1.0) for name, rival in RIVAL_FITTERS.items()},
    **{f"{name}, twice the threshold": (rival, 2.0) for name, rival in RIVAL_FITTERS.items()},
}
PARTS: dict[str, Callable[[Results], None]] = {
    "pools": pools,
    "points": points,
    "networks": networks,
    "models": models,
}


# The page -----------------------------------------------------------------------------------------------------------

Scores = dict[str, dict[str, list[Any]]]


def scores_of(values: Values, part: str) -> Scores:
    """Scores of one part by case, draws of one kind as their mean."""
    draws: dict[str, dict[str, list[list[Any]]]] = {}
    for key, methods in values.items():
        of_part, _, rest = key.partition(" | ")
        if of_part == part:
            for name, row in methods.items():
                if isinstance(row, list):
                    draws.setdefault(rest.partition(": #")[0], {}).setdefault(name, []).append(row)
    return {
        case: {
            name: [None if rows[0][k] is None else float(np.mean([row[k] for row in rows])) for k in range(3)]
            for name, rows in methods.items()
        }
        for case, methods in draws.items()
    }


def ranking(scores: Scores, methods: list[str], groups: Mapping[str, str], second: str) -> list[str]:
    """Methods from best to worst: mean in each group of cases, mean rank, cost."""
    there = [name for name in methods if any(name in found for found in scores.values())]
    complete = [name for name in there if all(name in found for found in scores.values())]
    ranks = Ranks.of({case: {name: row[0] for name, row in found.items()} for case, found in scores.items()}, complete)

    def cell(name: str, start: str, bold: bool) -> str:
        rows = [found[name] for case, found in scores.items() if case.startswith(start) and name in found]
        if not rows:
            return "–"
        first = f"{np.mean([row[0] for row in rows]):{'.3f' if second else '.1f'}}"
        text = f"{first} / {np.mean([row[1] for row in rows]):.3f}" if second and rows[0][1] is not None else first
        partial = len(rows) < sum(case.startswith(start) for case in scores)
        return (f"**{text}**" if bold else text) + (f" ({len(rows)} sets)" if partial else "")

    def mean(name: str, start: str) -> float:
        rows = [found[name][0] for case, found in scores.items() if case.startswith(start) and name in found]
        return float(np.mean(rows)) if rows else -np.inf

    best = {start: max((round(mean(name, start), 3) for name in complete), default=0.0) for start in groups.values()}
    order = sorted(there, key=lambda name: (name not in complete, -mean(name, "")))
    lines = [f"| | {' | '.join(groups)} | mean rank | processor seconds, median |", "|---" * (len(groups) + 3) + "|"]
    for name in order:
        cells = [
            cell(name, start, name in complete and round(mean(name, start), 3) == best[start])
            for start in groups.values()
        ]
        rank = f"{ranks.mean[name]:.2f}" if name in complete else "–"
        cost = np.median([found[name][2] for found in scores.values() if name in found])
        shown = f"*{name}*" if is_ours(name) else name
        lines.append(f"| {shown} | {' | '.join(cells)} | {rank} | {cost:.2g} |")
    said = f"{ranks.n_blocks} sets; mean ranks that differ by more than {ranks.critical:.2f} differ at the 5% level."
    return [*lines, "", said, ""]


def losses(scores: Scores, ours: str, methods: list[str], least: float) -> list[str]:
    """Cases where the best rival is above us by more than `least`, worst first."""
    found = []
    for case, by in scores.items():
        rivals = {name: by[name][0] for name in methods if name in by and not is_ours(name)}
        if ours in by and rivals:
            best = max(rivals, key=lambda name: rivals[name])
            if rivals[best] - by[ours][0] > least:
                found.append((rivals[best] - by[ours][0], case, by[ours][0], best, rivals[best]))
    n_cases = sum(ours in by for by in scores.values())
    digits = ".1f" if least >= 1 else ".3f"
    if not found:
        return [f"No case of {n_cases} in which a rival is more than {least:g} above us.", ""]
    said = f"A rival is more than {least:g} above us in {len(found)} of {n_cases} cases"
    lines = [
        f"{said}{', of which these are the worst' if len(found) > 8 else ''}:",
        "",
        "| case | ours | best rival | |",
    ]
    lines += ["|---|---|---|---|"]
    for _, case, own, name, score in sorted(found, reverse=True)[:8]:
        lines.append(f"| {case} | {own:{digits}} | {score:{digits}} | {name} |")
    return [*lines, ""]


def page(values: Values) -> str:
    """Rules, tables, and where we lose."""
    lines = ["# Leaderboard", "", RULES, ""]
    scores = scores_of(values, "pools")
    if scores:
        groups = _counted(scores, {name: f"{name}:" for name in ("ensemble_pools", *KINDS)})
        unknown, known = list(accuracy.UNKNOWN), list(accuracy.KNOWN)
        lines += ["## Consensus of clusterings, number of groups unknown", "", POOLS, ""]
        lines += ranking(scores, unknown, groups, "NMI")
        lines += losses(scores, "biconsensus, auto", unknown, 0.05)
        same = values.get("same draws | ensemble_pools", {})
        named = [f"{name} {same[name][0]:.3f} / {same[name][1]:.3f}" for name in [*accuracy.SLOW, *SAME] if same]
        said = f" On those draws (ARI / NMI): {'; '.join(named)}." if named else ""
        lines += ["## Consensus of clusterings, number of groups given", "", KNOWN + said, ""]
        lines += ranking(scores, known, groups, "NMI")
        lines += losses(scores, "biconsensus, n_groups", known, 0.05)
    scores = scores_of(values, "points")
    if scores:
        kinds = sorted({case.partition("/")[0] for case in scores})
        groups = _counted(scores, {"all": ""} | {kind: f"{kind}/" for kind in kinds})
        taken = values.get("taken over | meaning-points")
        said = f" Measured on {taken['date']} at commit {taken['commit']}, in the order of the files." if taken else ""
        lines += ["## Groups of points, number of groups unknown", "", POINTS + said, ""]
        lines += ranking(scores, UNTOLD, groups, "NMI")
        lines += losses(scores, "ConsensusClustering()", UNTOLD, 0.05)
    scores = scores_of(values, "networks")
    if scores:
        groups = _counted(scores, {"all": "", "LFR": "LFR", "block models": "block model"})
        lines += ["## Communities of networks", "", NETWORKS, ""]
        lines += ranking(scores, list(ON_NETWORKS), groups, "NMI")
        lines += _mixings(values)
        lines += losses(scores, "ConsensusCommunities", list(ON_NETWORKS), 0.02)
    scores = scores_of(values, "models")
    if scores:
        groups = _counted(scores, {"all": ""} | {name: f"{name}:" for name in ("lines and circles", *ADELAIDE)})
        lines += ["## Fitting of many models", "", MODELS, ""]
        lines += ranking(scores, list(MODEL_METHODS), groups, "")
        lines += losses(scores, "MultiModelFitter", list(MODEL_METHODS), 1.0)
    return "\n".join(lines)


def _counted(scores: Scores, groups: Mapping[str, str]) -> dict[str, str]:
    """Groups of cases that there are, with their numbers of cases; names by the start of what belongs to them."""
    numbers = {name: sum(case.startswith(start) for case in scores) for name, start in groups.items()}
    return {f"{name} ({numbers[name]})": start for name, start in groups.items() if numbers[name]}


def _mixings(values: Values) -> list[str]:
    """What share of the links of the drawn networks leaves its community."""
    found: dict[str, list[float]] = {}
    for key, entry in values.items():
        if key.startswith("networks | LFR"):
            found.setdefault(key.partition(" | ")[2].partition(": #")[0], []).append(entry["actual mixing"])
    told = ", ".join(f"{np.mean(mixing):.3f} ({name})" for name, mixing in found.items())
    return [f"Actual mixing, the share of the links that leave their community: {told}.", ""] if told else []


def summary(values: Values) -> Values:
    """Mean ARI, or share that is right, of each method in each part."""
    found: Values = {}
    for part in PARTS:
        scores = scores_of(values, part)
        methods = {name for by in scores.values() for name in by}
        found[part] = {
            name: round(float(np.mean([by[name][0] for by in scores.values() if name in by])), 4)
            for name in sorted(methods)
        }
        found[f"{part}, cases"] = len(scores)
    told = [case for case in scores_of(values, "pools") if case.startswith("ensemble_pools")]
    for place, measure in enumerate(("ARI", "NMI")):
        of_pools = {case: by for case, by in scores_of(values, "pools").items() if case in told}
        found[f"ensemble_pools, {measure}"] = {
            name: round(float(np.mean([by[name][place] for by in of_pools.values()])), 4)
            for name in accuracy.KNOWN
            if of_pools and all(name in by for by in of_pools.values())
        }
    return found


RULES = f"""Who finds the groups? Every table is made by `make bench ONLY=leaderboard`; `BENCH=quick` makes a small
version in a few minutes. Our methods are in italics. The best mean of a column is bold (by ARI, if there are two
numbers). These are the rules:

* **One setting for all cases.** Our methods have their default settings. The rivals have the settings of their authors,
  or those that the table names.
* **No method is told the number of groups**, except in the one table that says so.
* **Rows, nodes and matches are shuffled**, because the [order of a file](order_audit.md) can give the truth away.
* **What was used to choose a constant is not reported, or it is said here.** The sets of points behind the label tables
  are divided by a hash of their names. Only the part on which no constant was chosen is reported, with mixtures that
  had no part in any choice. The six pools of `ensemble_pools` ({", ".join(ENSEMBLES)}) were all used to choose the rule
  for a given number of groups, but with other draws. [The page of the table of points](benchmarks/meaning-points.md)
  says which of its sets were used. Of networks, seeds below 100 were used; the seeds here begin at {FIRST_SEED}. The
  thresholds of AdelaideRMF were chosen on these sequences, and the rivals get the same thresholds.
* **Elements that a method leaves out** count with its nearest group in tables of clusterings and points, as groups of
  one in networks, and as outliers, a class of their own, in fitting.
* **Mean, rank, cost.** A set counts once, by the mean of its draws. Ranks are compared by the test of Nemenyi. Cost is
  processor time on the same machine in the same run.
* **We print where we lose.**

To try your own method, write one function that takes a `Pool` and returns labels, and add it to `KNOWN` or `UNKNOWN` of
`benchmarks/accuracy.py`."""
POOLS = (
    "The input is a table of labels and nothing else. The pools of `ensemble_pools` are 20 of 100 groupings that "
    "others made, with 20 draws of each set. The other pools are 20 runs of k-means with k in the range of the column; "
    "K is the true number of groups. The cells are ARI / NMI, and the number of sets is in brackets."
)
SAME = ("biconsensus, n_groups", "NWCA", "LWEA", "LWGP")
"""Methods that are shown beside those that ran on few draws, on the same draws."""
KNOWN = (
    "The same pools; every method is told the true number of groups. EC-CMS (alpha 0.8, lambda 0.4) builds several "
    "m x m matrices and ran on the first draw of each set of `ensemble_pools` only, so that it is not in the table."
)
POINTS = (
    "Labelled points in up to fifty dimensions, one seed. What the rivals try is on the "
    "[page of this benchmark](benchmarks/meaning-points.md). ARI."
)
NETWORKS = (
    "Networks drawn with `lfr_network`, block models at multiples of the limit of detectability, and published ones; "
    "ARI / NMI. ECG and FastEnsemble are the packages of their authors, fast consensus is "
    "our transcription, with twenty runs of Louvain."
)
MODELS = (
    "Share of the points that is right, in per cent, under the best matching of models. Sets A to D of the paper at a "
    "threshold of 0.03, AdelaideRMF at 3 (homographies) and 1.5 pixels (fundamental matrices); rivals get the same "
    "threshold, and twice that. They are our transcriptions, with 5,000 and 2,000 samples drawn locally."
)


def main(parts: list[str]) -> None:
    """Run the parts, keep them, write the page."""
    warnings.simplefilter("ignore")
    kept = Results.open("leaderboard", page, summary, at=PAGE)
    for part in parts or list(PARTS):
        PARTS[part](kept)
        kept.save()
        print(f"{part}: {sum(key.startswith(part) for key in kept.values)} cases", flush=True)
    if not parts or set(parts) == set(PARTS):
        kept.finish()
    print(f"wrote {PAGE}" if kept.folder.name == "benchmarks" else f"wrote {kept.folder / 'leaderboard.md'}")


if __name__ == "__main__":
    main(sys.argv[1:])
