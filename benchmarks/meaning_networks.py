"""Networks: do the communities mean something? Default settings, the number of communities never given.

``python -m benchmarks.meaning_networks [--graphs N] [--nulls N] [--out docs/benchmarks/meaning_networks.md]``

Seeds here took no part in choosing any constant: those of ``benchmarks/tuning/links.py`` are below 100.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy.sparse import coo_array, csr_array
from sklearn.metrics import adjusted_rand_score as ari

import biconsensus as bc
from biconsensus.baselines import get_baseline
from biconsensus.datasets import load_network
from biconsensus.graphs import Graph, lfr_network, read_graph
from biconsensus.sources.networks import get_algorithm

FIRST_SEED = 1000
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
    "44 unequal groups": departments,
    "ring of 30 cliques of five": lambda seed: ring(),
    "karate": lambda seed: published("karate_club"),
    "football": lambda seed: published("football"),
    "political books": lambda seed: published("polbooks"),
}
NULLS: dict[str, Callable[[int], Case]] = {"Erdos-Renyi": random_network, "configuration model": configuration}


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
    runs = bc.Pool.from_labels([get_algorithm("louvain")(graph, seed + k) for k in range(20)])
    found["ECG"] = (get_baseline("ecg")(runs, graph=graph, random_state=seed), time.process_time() - start)
    return found


def table(n_graphs: int) -> list[str]:
    """Mean ARI, number of groups and seconds."""
    rows, heads = [], None
    for name, make in CASES.items():
        repeats = n_graphs if name.startswith(("LFR", "block", "44")) else 1
        scores: dict[str, list[tuple[float, float, float]]] = {}
        mixing = []
        for seed in range(FIRST_SEED, FIRST_SEED + repeats):
            case = make(seed)
            mixing.append(actual_mixing(case))
            for who, (labels, seconds) in answers(case[0], seed).items():
                scores.setdefault(who, []).append((ari(case[1], labels), np.unique(labels).size, seconds))
        heads = heads or list(scores)
        means = [np.mean(scores[who], axis=0) for who in heads]
        cells = [f"{m[0]:.3f} ({m[1]:.0f}; {m[2]:.1f} s)" for m in means]
        rows.append(f"| {name} | {np.mean(mixing):.3f} | " + " | ".join(cells) + " |")
        print(rows[-1], flush=True)
    head = f"| ARI (groups; processor seconds), mean of {n_graphs} | actual mixing | " + " | ".join(heads or []) + " |"
    return [head, "|---" * (head.count("|") - 1) + "|", *rows]


def nulls(n_runs: int) -> list[str]:
    """How often a network without groups gets more than one."""
    rows = ["| no groups | more than one found |", "|---|---|"]
    for name, make in NULLS.items():
        false = 0
        for seed in range(FIRST_SEED, FIRST_SEED + n_runs):
            model = bc.ConsensusCommunities(random_state=seed, runs=bc.Runs(progress=False)).fit(make(seed)[0])
            false += len(model.communities_) > 1
        rows.append(f"| {name} | {false} of {n_runs} |")
        print(rows[-1], flush=True)
    return rows


def main() -> None:
    """Run and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", type=int, default=5, help="networks of each kind")
    parser.add_argument("--nulls", type=int, default=200, help="networks without groups, of each kind")
    parser.add_argument("--out", type=Path, default=Path("docs/benchmarks/meaning_networks.md"))
    options = parser.parse_args()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        lines = ["# Communities that mean something", "", *table(options.graphs), "", *nulls(options.nulls)]
    options.out.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
