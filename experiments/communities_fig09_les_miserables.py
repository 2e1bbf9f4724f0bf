"""Fig. 9: three base results of Les Miserables, and what the bi-clusters take from each."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import biconsensus as bc
from biconsensus.datasets import load_network
from biconsensus.graphs._graph import from_matrix
from biconsensus.sources.networks import get_algorithm
from experiments.common import Section, Table, paper_consensus, save
from experiments.networks import draw_matrix, draw_network, layout, matched, picture


def run(out: Path, quick: bool) -> Section:
    """Louvain, Infomap, spectral clustering; `min_candidates=2`, since there are three results only."""
    network = load_network("lesmis")
    graph = from_matrix(network.adjacency, network.names)
    base = {
        "Louvain": get_algorithm("louvain")(graph, 0),
        "Infomap": get_algorithm("infomap")(graph, 0),
        "Spectral clustering (6)": get_algorithm("spectral")(graph, 0, n_communities=6),
    }
    pool = bc.Pool.from_labels(base, ids=np.array(network.names))
    # two candidates of three and groups of four: the smallest communities of this network have four members
    found = paper_consensus(pool, min_elements=4, min_candidates=2)
    figure, axes = picture(2, 3, 3.6)
    order = np.argsort(found.labels + (found.labels < 0) * 100, kind="stable")
    draw_matrix(axes[0], pool, [], "preference matrix, transposed", order)
    draw_matrix(axes[3], pool, [(b.elements, b.candidates) for b in found.biclusters], "consensus", order)
    positions = layout(graph, seed=3)
    for ax, (name, labels) in zip(axes[[1, 2, 4]], base.items()):
        draw_network(ax, graph, matched(labels, found.labels), positions, name)
    everybody = np.ones(graph.n_nodes, bool)
    for block in found.biclusters:
        held = pool.to_matrix().toarray()[np.ix_(block.elements, block.candidates)]
        everybody[block.elements] = held.all(axis=1)
    draw_network(axes[5], graph, found.labels, positions, "Consensus (thin border: filled in)", ringed=everybody)
    name = save(figure, out, "communities_fig09.png", dpi=130)
    alone = [network.names[i] for i in np.flatnonzero(found.labels < 0)]
    rows: list[list[object]] = [
        [label, int(labels.max()) + 1, bc.metrics.modularity(graph.adjacency, labels)]
        for label, labels in [*base.items(), ("consensus", found.labels)]
    ]
    return Section(
        "Fig. 9: Les Miserables",
        f"The consensus has {len(found)} communities. It leaves {len(alone)} of 77 characters in none: "
        f"{', '.join(alone) or 'nobody'}. The consensus of the paper leaves two, on which its base results "
        "differ. There are three base results, so a community needs two of them here (`min_candidates=2`). "
        "The paper's tau_C = 3 would ask for all three.",
        [Table("Communities and modularity", ["result", "communities", "modularity"], rows)],
        [(name, "White: in no community. Candidates down and characters across in the matrices.")],
    )
