"""Networks: do the communities mean something? Default settings, the number of communities never given.

``python -m benchmarks.meaning_networks [--graphs N] [--nulls N]``; BENCH=quick takes one of each.

Seeds here took no part in choosing any constant: those of ``benchmarks/tuning/links.py`` are below 100.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Callable
from itertools import combinations

import numpy as np
from scipy.sparse import coo_array, csr_array
from sklearn.metrics import adjusted_mutual_info_score as ami
from sklearn.metrics import adjusted_rand_score as ari

import biconsensus as bc
from benchmarks.results import Results, Values
from biconsensus.baselines import get_baseline
from biconsensus.datasets import load_facebook100, load_network
from biconsensus.graphs import Graph, lfr_network, read_graph
from biconsensus.sources.networks import get_algorithm

FIRST_SEED = 1000
N_SEEDS, N_LOUVAIN = 6, 20
"""Answers of everybody to one network that are compared, and Louvain runs of ECG, none of which two answers share."""
QUICK = os.environ.get("BENCH") == "quick"
Case = tuple[Graph, np.ndarray]


def network_of(left: np.ndarray, right: np.ndarray, truth: np.ndarray) -> Case:
    """Simple network of pairs of nodes, without loops and nodes that have no edge."""
    n, apart = truth.size, left != right
    keys = np.unique(np.minimum(left, right)[apart] * n + np.maximum(left, right)[apart])
    half = coo_array((np.ones(keys.size), (keys // n, keys % n)), shape=(n, n))
    adjacency = csr_array(half + half.T)
    kept = np.flatnonzero(np.diff(adjacency.indptr) > 0)
    adjacency = csr_array(adjacency[kept][:, kept])
    adjacency.sort_indices()
    return Graph(adjacency, list(range(kept.size))), truth[kept]


def actual_mixing(case: Case) -> float:
    """Share of the links that leave their community."""
    left, right, weight = case[0].edges()
    return float(weight[case[1][left] != case[1][right]].sum() / weight.sum())


def lfr(mixing: float, seed: int) -> Case:
    """1,000 nodes, mean degree 15, communities of 20 to 80."""
    graph, truth = lfr_network(1000, mixing, 15, max_degree=50, communities=(20, 80), random_state=seed)
    left, right, _ = graph.edges()
    return network_of(left, right, truth)


def block_model(times: float, seed: int, degree: float = 16.0, n: int = 1000, q: int = 4) -> Case:
    """Equal groups, ``c_in - c_out`` so many times ``q sqrt(c)``, the limit of detectability."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n) * q // n
    difference = times * q * np.sqrt(degree)
    inside = degree + difference * (q - 1) / q
    left, right = np.triu_indices(n, 1)
    chance = np.where(truth[left] == truth[right], inside, max(inside - difference, 0.0)) / n
    kept = rng.random(left.size) < chance
    return network_of(left[kept], right[kept], truth)


def departments(seed: int, inside: float = 0.45) -> Case:
    """About 44 groups of 1 to 120 nodes, degrees over three decades, each group with its own share of inner links."""
    rng = np.random.default_rng(seed)
    sizes = np.maximum(1, np.round(110 * np.exp(-np.arange(44) / 10.0) * rng.uniform(0.8, 1.25, 44))).astype(int)
    truth = np.repeat(np.arange(44), sizes)
    weight = rng.lognormal(0, 1.0, truth.size)
    weight /= weight.sum()
    shares = np.clip(rng.normal(inside, 0.12, 44), 0.1, 0.9)
    inner, outer = (rng.poisson(16_000 * weight * share) for share in (shares[truth], 1 - shares[truth]))
    left, right = [np.repeat(np.arange(truth.size), outer)], [rng.choice(truth.size, int(outer.sum()), p=weight)]
    for group in range(44):
        members = np.flatnonzero(truth == group)
        left.append(np.repeat(members, inner[members]))
        right.append(rng.choice(members, int(inner[members].sum()), p=weight[members] / weight[members].sum()))
    return network_of(np.concatenate(left), np.concatenate(right), truth)


def with_weights(case: Case, seed: int, inside: float = 1.0) -> Case:
    """The same links with log-normal weights at random, those inside groups so many times heavier."""
    graph, truth = case
    left, right, _ = graph.edges()
    weight = np.random.default_rng(seed).lognormal(0.0, 1.0, left.size)
    weight[truth[left] == truth[right]] *= inside
    half = coo_array((weight, (left, right)), shape=graph.adjacency.shape)
    adjacency = csr_array(half + half.T)
    adjacency.sort_indices()
    return Graph(adjacency, graph.names), truth


def ring() -> Case:
    """Thirty cliques of five in a ring."""
    edges = [(5 * c + a, 5 * c + b) for c in range(30) for a in range(5) for b in range(a)]
    edges += [(5 * c, 5 * ((c + 1) % 30) + 1) for c in range(30)]
    return read_graph(edges, nodes=range(150)), np.repeat(np.arange(30), 5)


def published(name: str) -> Case:
    """A network with known groups."""
    network = load_network(name)
    assert network.labels is not None
    return read_graph(network.adjacency), network.labels


def random_network(seed: int) -> Case:
    """Erdos-Renyi, 300 nodes, 1,500 edges."""
    rng = np.random.default_rng(seed)
    return network_of(rng.integers(300, size=1500), rng.integers(300, size=1500), np.zeros(300, int))


def configuration(seed: int) -> Case:
    """Configuration model, 300 nodes, degrees by a power law with exponent 2.5."""
    rng = np.random.default_rng(seed)
    degrees = np.minimum(3 * (1 - rng.random(300)) ** (-1 / 1.5), 30).astype(int)
    ends = rng.permutation(np.repeat(np.arange(300), degrees))
    ends = ends[: ends.size // 2 * 2]
    return network_of(ends[::2], ends[1::2], np.zeros(300, int))


CASES: dict[str, Callable[[int], Case]] = {
    "LFR, nominal .48": lambda seed: lfr(0.48, seed),
    "LFR, nominal .59": lambda seed: lfr(0.59, seed),
    "LFR, nominal .70": lambda seed: lfr(0.70, seed),
    "block model, 1.2 times the limit": lambda seed: block_model(1.2, seed),
    "block model, 1.5 times": lambda seed: block_model(1.5, seed),
    "block model, 2 times": lambda seed: block_model(2.0, seed),
    "block model, 2 times, random weights": lambda seed: with_weights(block_model(2.0, seed), seed),
    "block model, 1.5 times, weights twice as heavy inside": lambda seed: with_weights(
        block_model(1.5, seed), seed, 2.0
    ),
    "44 unequal groups": departments,
    "ring of 30 cliques of five": lambda seed: ring(),
    "karate": lambda seed: published("karate_club"),
    "football": lambda seed: published("football"),
    "football, conferences corrected": lambda seed: published("footballTSEinput"),
    "political books": lambda seed: published("polbooks"),
}
NULLS: dict[str, Callable[[int], Case]] = {
    "Erdos-Renyi": random_network,
    "configuration model": configuration,
    "Erdos-Renyi, random weights": lambda seed: with_weights(random_network(seed), seed),
}


SEEDED: dict[str, Callable[[int], Graph]] = {
    **{
        name: lambda seed, key=key: read_graph(load_network(key).adjacency)  # type: ignore[misc]
        for name, key in {
            "karate": "karate_club",
            "dolphins": "dolphins",
            "Les Misérables": "lesmis",
            "political books": "polbooks",
            "football": "football",
        }.items()
    },
    **{
        name: lambda seed, name=name: read_graph(load_facebook100(name).adjacency)  # type: ignore[misc]
        for name in ("Caltech36", "Reed98")
    },
    **{
        name: lambda seed, name=name: CASES[name](seed)[0]  # type: ignore[misc]
        for name in (
            "LFR, nominal .48",
            "LFR, nominal .59",
            "LFR, nominal .70",
            "block model, 1.2 times the limit",
            "block model, 1.5 times",
            "block model, 2 times",
            "44 unequal groups",
        )
    },
    "LFR, nominal .645": lambda seed: lfr(0.645, seed)[0],
}
"""Networks on which the answers of several seeds are compared: kinds that are generated, and published ones."""
GENERATED = ("LFR", "block", "44")
"""What the names of generated kinds begin with."""
N_SEEDED = 1 if QUICK else 3
"""Networks of each generated kind: agreement differs much from one to the next."""


def answers(graph: Graph, seed: int) -> dict[str, tuple[np.ndarray, float]]:
    """Labels and processor seconds of everybody on one network."""
    found = {}
    start = time.process_time()
    model = bc.ConsensusCommunities(random_state=seed, runs=bc.Runs(progress=False)).fit(graph)
    found["ConsensusCommunities"] = (model.labels_, time.process_time() - start)
    for name in ("leiden", "infomap"):
        start = time.process_time()
        found[name] = (get_algorithm(name)(graph, seed), time.process_time() - start)
    start = time.process_time()
    runs = bc.Pool.from_labels([get_algorithm("louvain")(graph, seed + k) for k in range(N_LOUVAIN)])
    found["ECG"] = (get_baseline("ecg")(runs, graph=graph, random_state=seed), time.process_time() - start)
    return found


def measure(make: Callable[[int], Case], seed: int) -> Values:
    """Actual mixing, and ARI, number of groups and seconds of everybody on one network."""
    case = make(seed)
    found: Values = {"mixing": round(actual_mixing(case), 4)}
    for who, (labels, seconds) in answers(case[0], seed).items():
        found[who] = [round(float(ari(case[1], labels)), 4), int(np.unique(labels).size), round(seconds, 2)]
    return found


def n_communities(make: Callable[[int], Case], seed: int) -> int:
    """Number of communities of a network without groups."""
    model = bc.ConsensusCommunities(random_state=seed, runs=bc.Runs(progress=False)).fit(make(seed)[0])
    return len(model.communities_)


def agreement(graph: Graph) -> Values:
    """Mean ARI and AMI of two answers with different seeds, and the fewest and most groups, of everybody."""
    found: dict[str, list[np.ndarray]] = {}
    for k in range(N_SEEDS):
        for who, (labels, _) in answers(graph, FIRST_SEED + N_LOUVAIN * k).items():
            found.setdefault(who, []).append(labels)
    return {who: _agreement_of(labels) for who, labels in found.items()}


def _agreement_of(labels: list[np.ndarray]) -> list[float]:
    """The same of the answers of one method."""
    pairs = list(combinations(labels, 2))
    means = [round(float(np.mean([score(*pair) for pair in pairs])), 4) for score in (ari, ami)]
    numbers = [int(np.unique(one[one >= 0]).size) for one in labels]  # -1 is no group
    return [*means, min(numbers), max(numbers)]


def page(values: Values) -> str:
    """One line for each kind of network, and how often a network without groups gets more than one."""
    runs: dict[str, list[Values]] = {}
    for key, found in values.items():
        if not key.startswith(("null", "seeds")):
            runs.setdefault(key.partition(": #")[0], []).append(found)
    heads = [name for name in next(iter(runs.values()))[0] if name != "mixing"] if runs else []
    lines = [
        "# Communities that mean something",
        "",
        f"| ARI (groups; processor seconds) | networks | actual mixing | {' | '.join(heads)} |",
        "|---" * (len(heads) + 3) + "|",
    ]
    for name in [name for name in CASES if name in runs]:
        means = {who: np.mean([found[who] for found in runs[name]], axis=0) for who in heads}
        cells = [f"{m[0]:.3f} ({m[1]:.0f}; {m[2]:.1f} s)" for m in means.values()]
        mixing = np.mean([found["mixing"] for found in runs[name]])
        lines.append(f"| {name} | {len(runs[name])} | {mixing:.3f} | {' | '.join(cells)} |")
    lines += ["", "| no groups | more than one found |", "|---|---|"]
    for name in NULLS:
        counts = [number for key, number in values.items() if key.startswith(f"null {name}:")]
        if counts:
            lines.append(f"| {name} | {sum(number > 1 for number in counts)} of {len(counts)} |")
    seeded = {name: _seeded(values, name) for name in SEEDED if _seeded(values, name)}
    if seeded:
        heads = list(next(iter(seeded.values()))[0])
        lines += [
            "",
            "## The same answer on every run",
            "",
            f"Answers with {N_SEEDS} seeds to one network, two by two.",
            "",
        ]
        lines += [f"| ARI / AMI (groups) of two seeds | networks | {' | '.join(heads)} |"]
        lines += ["|---" * (len(heads) + 2) + "|"]
        for name, runs_of_name in seeded.items():
            cells = []
            for who in heads:
                found = np.array([run[who] for run in runs_of_name])
                groups = _from_to(int(found[:, 2].min()), int(found[:, 3].max()))
                cells.append(f"{found[:, 0].mean():.3f} / {found[:, 1].mean():.3f} ({groups})")
            lines.append(f"| {name} | {len(runs_of_name)} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _seeded(values: Values, name: str) -> list[Values]:
    """The agreement of seeds on every network of a kind."""
    return [found for key, found in values.items() if key.startswith(f"seeds {name}: #")]


def _from_to(fewest: int, most: int) -> str:
    """A range of numbers, or one number."""
    return str(fewest) if fewest == most else f"{fewest} to {most}"


def summary(values: Values) -> Values:
    """Mean ARI of everybody on every kind of network, and false alarms."""
    found: Values = {}
    for name in CASES:
        runs = [entry for key, entry in values.items() if key.partition(": #")[0] == name]
        if runs:
            found[name] = {
                who: round(float(np.mean([run[who][0] for run in runs])), 4) for who in runs[0] if who != "mixing"
            }
    for name in NULLS:
        counts = [number for key, number in values.items() if key.startswith(f"null {name}:")]
        found[f"null {name}"] = sum(number > 1 for number in counts)
    for name in SEEDED:
        runs = _seeded(values, name)
        if runs:
            found[f"seeds {name}"] = {who: round(float(np.mean([run[who][0] for run in runs])), 4) for who in runs[0]}
    return found


def main() -> None:
    """Run what is missing and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", type=int, default=1 if QUICK else 5, help="networks of each kind")
    parser.add_argument("--nulls", type=int, default=1 if QUICK else 200, help="networks without groups, of each kind")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    kept = Results.open("meaning_networks", page, summary)
    for name, make in CASES.items():
        repeats = options.graphs if name.startswith(GENERATED) else 1
        for seed in range(FIRST_SEED, FIRST_SEED + repeats):
            if f"{name}: #{seed}" not in kept.values:
                kept.values[f"{name}: #{seed}"] = measure(make, seed)
                kept.save()
    for name, read in SEEDED.items():
        for seed in range(FIRST_SEED, FIRST_SEED + (N_SEEDED if name.startswith(GENERATED) else 1)):
            if f"seeds {name}: #{seed}" not in kept.values:
                kept.values[f"seeds {name}: #{seed}"] = agreement(read(seed))
                kept.save()
    for name, make in NULLS.items():
        for seed in range(FIRST_SEED, FIRST_SEED + options.nulls):
            if f"null {name}: #{seed}" not in kept.values:
                kept.values[f"null {name}: #{seed}"] = n_communities(make, seed)
                kept.save()
    kept.finish()


if __name__ == "__main__":
    main()
