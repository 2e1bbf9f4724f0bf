"""Communities: agreement of two answers on one network, and networks of up to a million edges.

``python -m benchmarks.communities [stability] [scale]`` runs the parts named, both by default; BENCH=quick the smallest
of each. How good the communities are is on the leaderboard; the peers that it compares with are here:
``pip install --group bench`` (GPL, for benchmarks only).
"""

from __future__ import annotations

import os
import resource
import sys
import time
import warnings
from typing import Any

import networkx as nx
import numpy as np
from sklearn.metrics import adjusted_mutual_info_score as ami
from sklearn.metrics import adjusted_rand_score as ari
from sklearn.metrics import normalized_mutual_info_score as nmi

import biconsensus as bc
from benchmarks.meaning_networks import actual_mixing, lfr
from benchmarks.results import Results, Values
from biconsensus.find import solve
from biconsensus.graphs._graph import Graph
from biconsensus.graphs._lfr import lfr_network
from biconsensus.metrics import noise_as_singletons
from biconsensus.significance._links import LinkEvidence
from biconsensus.sources.networks._walktrap import as_igraph, igraph_seed

QUICK = os.environ.get("BENCH") == "quick"
POOL = ["louvain", "label_propagation", "leiden", "infomap"]
SIZES = (25_000,) if QUICK else (25_000, 50_000, 100_000)
MIXINGS = (0.48,) if QUICK else (0.48, 0.59, 0.70)
N_NETWORKS = 1 if QUICK else 5


def main(parts: list[str]) -> None:
    """Run the parts asked for and write the page."""
    warnings.simplefilter("ignore")
    kept = Results.open("communities", page)
    jobs: dict[str, Any] = {}
    if not parts or "stability" in parts:
        jobs |= {f"stability: {x} #{s}": (stability, x, s) for x in MIXINGS for s in range(2001, 2001 + N_NETWORKS)}
    if not parts or "scale" in parts:
        jobs |= {f"scale: {n}": (scale, n) for n in SIZES}
    for key, (measure, *given) in jobs.items():
        if key not in kept.values:
            kept.values[key] = measure(*given)
            kept.save()
    if not parts:
        kept.finish()


def page(values: Values) -> str:
    """Both tables."""
    lines = ["# Communities: stability and size", "", STABILITY, ""]
    lines += [
        "| actual mixing | single Louvain runs, NMI | consensus of ten, NMI | single runs, AMI | consensus, AMI |"
    ]
    lines += ["|---|---|---|---|---|"]
    by_mixing: dict[str, list[list[float]]] = {}
    for key, row in sorted(values.items()):
        if key.startswith("stability"):
            by_mixing.setdefault(key.split()[1], []).append(row)
    for rows in by_mixing.values():
        lines.append("| " + " | ".join(f"{value:.3f}" for value in np.mean(rows, axis=0)) + " |")
    names = ["nodes", "edges", "actual mixing", "whole fit, s", "consensus step, s", "processor s", "peak GiB so far"]
    names += ["mean ARI of the runs", "ARI"]
    lines += ["", SCALE, "", f"| {' | '.join(names)} |", "|---" * len(names) + "|"]
    for key in sorted((key for key in values if key.startswith("scale")), key=lambda key: int(key.split()[1])):
        row = values[key]
        cells = [f"{row['nodes']:,}", f"{row['edges']:,}", f"{row['mixing']:.3f}", f"{row['whole']:.0f}"]
        cells += [f"{row['step']:.1f}", f"{row['processor']:.1f}", f"{row['peak']:.2f}"]
        lines.append(f"| {' | '.join([*cells, *(f'{row[name]:.3f}' for name in ('single', 'ari'))])} |")
    return "\n".join(lines)


STABILITY = (
    "## Stability\n\nTwo independent answers on the same LFR network (`lfr_network`, 1,000 nodes, mean degree 15, "
    f"communities of 20 to 80), mean of {N_NETWORKS}."
)
SCALE = (
    "## Size\n\n`lfr_network`, mixing asked for 0.3, ten Louvain runs and the second round, two processes; the "
    "consensus step alone is one process."
)


def stability(mixing: float, seed: int) -> list[float]:
    """Actual mixing; NMI between single runs of two pools and between the two answers; the same in AMI."""
    graph, truth = lfr(mixing, seed)
    a, b = (bc.ConsensusCommunities("louvain", 10, random_state=s).fit(graph) for s in (1, 2))
    pairs = [(x.labels, y.labels) for x, y in zip(a.results_[:10], b.results_[:10], strict=True)]
    found = [actual_mixing((graph, truth))]
    for score in (nmi, ami):
        found += [float(np.mean([score(x, y) for x, y in pairs])), float(score(a.labels_, b.labels_))]
    return [round(value, 4) for value in found]


def scale(n_nodes: int) -> dict[str, float]:
    """Time and memory of one size; memory is that of the main process and never falls."""
    graph, truth = lfr_network(n_nodes, 0.3, 21.2, max_degree=100, communities=(30, 300), random_state=0)
    model = bc.ConsensusCommunities("louvain", 10, random_state=0, n_jobs=2)
    start = time.perf_counter()
    model.fit(graph)
    whole = time.perf_counter() - start
    start, used = time.perf_counter(), time.process_time()
    solve(model.pool_, bc.Search(min_elements=3), LinkEvidence(graph.adjacency))
    found = {
        "nodes": graph.n_nodes,
        "edges": graph.n_edges,
        "mixing": actual_mixing((graph, truth)),
        "whole": whole,
        "step": time.perf_counter() - start,
        "processor": time.process_time() - used,
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
        "single": float(np.mean([ari(truth, result.labels) for result in model.results_[:10]])),
        "ari": float(ari(truth, noise_as_singletons(model.labels_))),
    }
    return {name: round(value, 4) for name, value in found.items()}


def ecg(graph: Graph) -> np.ndarray:
    """partition-igraph with its own defaults and a final Leiden, which served it best."""
    import partition_igraph  # noqa: F401

    with igraph_seed(0), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.array(as_igraph(graph).community_ecg(ens_size=32, final="leiden").membership)


def fast_ensemble(graph: Graph) -> np.ndarray:
    """fast-ensemble-clustering, Leiden with modularity in both steps, ten partitions, threshold 0.8."""
    import fast_ensemble as peer

    network = nx.from_scipy_sparse_array(graph.adjacency)
    answer = peer.fast_ensemble(network, algorithm="leiden-mod", n_p=10, tr=0.8, final_alg="leiden-mod")
    return np.array([answer[v] for v in network])


if __name__ == "__main__":
    main(sys.argv[1:])
