"""Where the constants of the evidence of links come from: networks with seeds below 100, which no page reports.

``python -m benchmarks.tuning.links [--graphs N]`` prints, for each kind of network, what the best base result, the
refined one and the propagated one are worth, how certain the nodes are, and how far the messages still move.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from sklearn.metrics import adjusted_rand_score as ari

from benchmarks.meaning_networks import CASES, NULLS
from biconsensus.significance._description import Links, best_refined, compact, description_gain, node_certainty
from biconsensus.significance._propagation import _Spectrum, run
from biconsensus.sources.networks import get_algorithm

ALGORITHMS = ("louvain", "block_model", "label_propagation")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", type=int, default=2, help="networks of each kind")
    options = parser.parse_args()
    print("network, seed | refined: nats, groups, ARI, certainty | detectable | q: nats +- error, change, ARI, s ...")
    for name, make in (CASES | NULLS).items():
        for seed in range(options.graphs):
            graph, truth = make(seed)
            links = Links(graph.adjacency)
            base = [get_algorithm(kind)(graph, k) for kind in ALGORITHMS for k in range(3)]
            best = best_refined(links, [compact(labels) for labels in base], np.random.default_rng(seed))
            first = best[0] if best else np.zeros(graph.n_nodes, np.int64)
            certain = node_certainty(links, first) if first.max() > 0 else 0.0
            said = f"{description_gain(links, first):.0f}, {first.max() + 1}, {ari(truth, first):.3f}, {certain:.3f}"
            spectrum = _Spectrum(links)
            cells = []
            for q in sorted({2, max(2, spectrum.n_detectable), 8, 16, 24, 38}):
                if q <= spectrum.most_groups:
                    start = time.process_time()
                    state = run(links, q, spectrum.start(q))
                    score = ari(truth, state.marginals.argmax(axis=1))
                    used = time.process_time() - start
                    nats = f"{state.nats:.1f} +- {state.error:.1f}"
                    cells.append(f"{q}: {nats}, {state.change:.2f}, {score:.3f}, {used:.1f}")
            print(f"{name}, {seed} | {said} | {spectrum.n_detectable} | {' | '.join(cells)}", flush=True)


if __name__ == "__main__":
    main()
