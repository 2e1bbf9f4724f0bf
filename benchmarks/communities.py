"""Communities: quality beside the peers on the same graphs, stability over seeds, and a million edges.

``python -m benchmarks.communities [quality|stability|scale ...] [--graphs N] [--out docs/benchmarks/communities.md]``

Peers are needed for the first only: ``pip install partition-igraph fast-ensemble-clustering python-louvain`` (benchmark
only; GPL). Everything is drawn from fixed seeds.
"""

from __future__ import annotations

import argparse
import resource
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
from sklearn.metrics import adjusted_mutual_info_score as ami
from sklearn.metrics import adjusted_rand_score as ari
from sklearn.metrics import normalized_mutual_info_score as nmi

import biconsensus as bc
from biconsensus.baselines import get_baseline
from biconsensus.find import solve
from biconsensus.graphs import read_graph
from biconsensus.graphs._graph import Graph
from biconsensus.graphs._lfr import lfr_network
from biconsensus.metrics import noise_as_singletons
from biconsensus.significance._links import LinkEvidence
from biconsensus.sources.networks import get_algorithm
from biconsensus.sources.networks._walktrap import as_igraph, igraph_seed

POOL = ["louvain", "label_propagation", "leiden", "infomap"]
LFR = {"average_degree": 15, "max_degree": 50, "min_community": 20, "max_community": 80, "max_iters": 5000}


def main() -> None:
    """Run the parts asked for and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", default=list(PARTS))
    parser.add_argument("--graphs", type=int, default=10, help="graphs for each mixing")
    parser.add_argument("--out", type=Path, default=Path("docs/benchmarks/communities.md"))
    options = parser.parse_args()
    for part in options.parts:
        lines = PARTS[part](options.graphs)
        _write(options.out, part, lines)


def lfr(mixing: float, seed: int) -> tuple[nx.Graph, Graph, np.ndarray]:
    """The LFR benchmark of networkx, 1,000 nodes, exponents 3 and 1.5; seeds that it gives up on are passed over."""
    while True:
        try:
            network = nx.LFR_benchmark_graph(1000, 3, 1.5, mixing, seed=seed, **LFR)
            break
        except nx.ExceededMaxIterations:
            seed += 1000
    parts = {frozenset(network.nodes[v]["community"]) for v in network}
    number = {v: k for k, part in enumerate(sorted(map(sorted, parts))) for v in part}
    plain = nx.Graph(network.edges)
    plain.add_nodes_from(network)
    plain.remove_edges_from(list(nx.selfloop_edges(plain)))
    graph = read_graph(plain)
    return plain, graph, np.array([number[v] for v in graph.names])


def quality(n_graphs: int) -> list[str]:
    """Mean ARI over graphs of each mixing, and on the karate club; the number of communities is never given."""
    names = [
        "best single run",
        "mean single run",
        "ECG",
        "fastconsensus (own)",
        "fast-ensemble",
        "ours, left-overs alone",
        "ours, unassigned='nearest'",
        "ours, first round only, left-overs alone",
    ]
    table: dict[str, list[str]] = {name: [] for name in names}
    cases: list[tuple[str, list[Any]]] = [
        (f"LFR mixing {mixing}", [lambda s=s, x=mixing: lfr(x, s) for s in range(1, n_graphs + 1)])
        for mixing in (0.3, 0.4, 0.5)
    ]
    cases.append(("karate", [karate]))
    for _, makers in cases:
        found = [_compare(*make()) for make in makers]
        for name in names:
            score, number = np.mean([scores[name] for scores in found], axis=0)
            table[name].append(f"{score:.3f} ({number:.0f})" if number else f"{score:.3f}")
    head = f"| ARI (communities), mean of {n_graphs} graphs | " + " | ".join(case for case, _ in cases) + " |"
    rows = [f"| {name} | " + " | ".join(cells) + " |" for name, cells in table.items()]
    return [QUALITY, "", head, "|---" * (len(cases) + 1) + "|", *rows]


QUALITY = (
    "Pool: ten runs each of Louvain, label propagation, Leiden and Infomap. `ours` is `ConsensusCommunities` on that "
    "pool, once with `unassigned='nearest'`, once with the left-over nodes (-1) counted as communities of one; all "
    "else by default. LFR: networkx, 1,000 nodes, exponents 3 and 1.5, mean degree 15, largest 50, communities of 20 "
    "to 80."
)


def karate() -> tuple[nx.Graph, Graph, np.ndarray]:
    """The karate club, unweighted."""
    network = nx.Graph(nx.karate_club_graph().edges)
    graph = read_graph(network)
    clubs = nx.karate_club_graph()
    return network, graph, np.array([clubs.nodes[v]["club"] == "Officer" for v in graph.names], dtype=int)


def _compare(network: nx.Graph, graph: Graph, truth: np.ndarray) -> dict[str, tuple[float, int]]:
    """ARI and number of communities of everybody on one graph."""
    model = bc.ConsensusCommunities(POOL, n_runs=10, random_state=0).fit(graph)
    base = [r.labels for r in model.results_ if "second" not in r.name]
    first = bc.ConsensusCommunities(_replay(base), n_runs=len(base), quorum=0.5, random_state=0).fit(graph)
    nearest = replace(model.consensus_, settings={**model.consensus_.settings, "unassigned": "nearest"}).labels
    louvain = bc.Pool.from_labels([get_algorithm("louvain")(graph, seed) for seed in range(20)])
    singles = [ari(truth, labels) for labels in base]
    answers = {
        "ECG": ecg(graph),
        "fastconsensus (own)": get_baseline("fast_consensus")(louvain, graph=graph, random_state=0),
        "fast-ensemble": fast_ensemble(network),
        "ours, left-overs alone": noise_as_singletons(model.labels_),
        "ours, unassigned='nearest'": nearest,
        "ours, first round only, left-overs alone": noise_as_singletons(first.labels_),
    }
    scores = {name: (ari(truth, labels), len(np.unique(labels))) for name, labels in answers.items()}
    counts = [len(np.unique(labels)) for labels in base]
    return {
        "best single run": (max(singles), 0),
        "mean single run": (float(np.mean(singles)), int(np.mean(counts))),
        **scores,
    }


def _replay(base: list[Any]) -> Callable[[Graph, int], Any]:
    """An algorithm that hands out results that are already there."""
    waiting = iter(base)
    return lambda graph, seed: next(waiting)


def ecg(graph: Graph) -> np.ndarray:
    """partition-igraph with its own defaults and a final Leiden, which served it best."""
    import partition_igraph  # noqa: F401

    with igraph_seed(0), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.array(as_igraph(graph).community_ecg(ens_size=32, final="leiden").membership)


def fast_ensemble(network: nx.Graph) -> np.ndarray:
    """fast-ensemble-clustering, Leiden with modularity in both steps, ten partitions, threshold 0.8."""
    import fast_ensemble as peer

    answer = peer.fast_ensemble(network, algorithm="leiden-mod", n_p=10, tr=0.8, final_alg="leiden-mod")
    return np.array([answer[v] for v in network])


def stability(n_graphs: int) -> list[str]:
    """Agreement of two answers on the same graph, for single Louvain runs and for the consensus of ten."""
    rows = []
    for mixing in (0.4, 0.5, 0.6):
        found = np.mean([_agreement(mixing, seed) for seed in range(1, max(2, n_graphs // 2) + 1)], axis=0)
        rows.append(f"| {mixing} | {found[0]:.3f} | {found[1]:.3f} | {found[2]:.3f} | {found[3]:.3f} |")
    said = "Two independent answers on the same LFR network (1,000 nodes), left-over nodes to the nearest community."
    head = "| mixing | single Louvain runs, NMI | consensus of ten, NMI | single runs, AMI | consensus, AMI |"
    return [said, "", head, "|---|---|---|---|---|", *rows]


def _agreement(mixing: float, seed: int) -> tuple[float, float, float, float]:
    """NMI and AMI between single runs of two pools, and between the two consensus answers."""
    _, graph, _ = lfr(mixing, seed)
    a, b = (bc.ConsensusCommunities("louvain", 10, random_state=s).fit(graph) for s in (1, 2))
    pairs = [(x.labels, y.labels) for x, y in zip(a.results_[:10], b.results_[:10])]
    singles = [float(np.mean([score(x, y) for x, y in pairs])) for score in (nmi, ami)]
    return singles[0], nmi(a.labels_, b.labels_), singles[1], ami(a.labels_, b.labels_)


def scale(n_graphs: int) -> list[str]:
    """Ten Louvain runs on networks of up to a million edges, two processes."""
    head = [
        "nodes",
        "edges",
        "whole fit",
        "consensus step, wall",
        "CPU",
        "peak memory so far",
        "mean ARI of the runs",
        "ARI",
    ]
    rows = [_scale_row(n) for n in (25_000, 50_000, 100_000)]
    said = "`biconsensus.graphs.lfr_network` (mixing 0.3), ten Louvain runs and the second round, two processes."
    return [said, "", f"| {' | '.join(head)} |", "|---" * len(head) + "|", *rows]


def _scale_row(n_nodes: int) -> str:
    """Time and memory of one size; memory is that of the main process and never falls."""
    graph, truth = lfr_network(n_nodes, 0.3, 21.2, max_degree=100, communities=(30, 300), random_state=0)
    model = bc.ConsensusCommunities("louvain", 10, random_state=0, n_jobs=2)
    start = time.perf_counter()
    model.fit(graph)
    total = time.perf_counter() - start
    start, used = time.perf_counter(), time.process_time()
    solve(model.pool_, bc.Search(min_elements=3), LinkEvidence(graph.adjacency))
    step, used = time.perf_counter() - start, time.process_time() - used
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    singles = [ari(truth, r.labels) for r in model.results_[:10]]
    cells = [f"{graph.n_nodes:,}", f"{graph.n_edges:,}", f"{total:.0f} s", f"{step:.1f} s", f"{used:.1f} s"]
    cells += [f"{peak:.2f} GiB", f"{np.mean(singles):.3f}", f"{ari(truth, noise_as_singletons(model.labels_)):.3f}"]
    return f"| {' | '.join(cells)} |"


PARTS: dict[str, Callable[[int], list[str]]] = {"quality": quality, "stability": stability, "scale": scale}


def _write(page: Path, part: str, lines: list[str]) -> None:
    """Replace one part of the page, keep the others."""
    old = page.read_text() if page.exists() else "# Communities\n"
    head, *parts = old.split("\n## ")
    kept = {p.split("\n", 1)[0].strip(): p.split("\n", 1)[1].strip() for p in parts}
    kept[part] = "\n".join(lines)
    body = "\n\n".join(f"## {name}\n\n{kept[name]}" for name in PARTS if name in kept)
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(f"{head.strip()}\n\n{body}\n")


if __name__ == "__main__":
    main()
