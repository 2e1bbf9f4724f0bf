"""Fig. 8: the loop of rank-one problems against L1-NMF of rank 2, 3 and 4."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np

import biconsensus as bc
from biconsensus.datasets import load_network
from biconsensus.errors import ConvergenceWarning
from biconsensus.graphs._graph import from_matrix
from biconsensus.solvers._admm import l1_nmf
from biconsensus.sources.networks import get_algorithm
from experiments.common import Section, Table, paper_consensus, save
from experiments.networks import draw_matrix, picture


def run(out: Path, quick: bool) -> Section:
    """The karate club stands in for Aegean34, which is not published: both have 34 nodes."""
    network = load_network("karate_club")
    graph = from_matrix(network.adjacency)
    runs = [("louvain", {}), ("infomap", {}), ("spectral", {"n_communities": 2}), ("spectral", {"n_communities": 3})]
    runs += [("leidenalg", {}), ("walktrap", {}), ("label_propagation", {})]
    pool = bc.Pool.from_labels([get_algorithm(name)(graph, 1, **p) for name, p in runs]).clean()
    found = paper_consensus(pool, method="greedy")
    order = np.argsort(found.labels + (found.labels < 0) * 100, kind="stable")
    figure, axes = picture(1, 5, 2.6)
    draw_matrix(axes[0], pool, [], "preference matrix", order)
    blocks = [(b.elements, b.candidates) for b in found.biclusters]
    draw_matrix(axes[1], pool, blocks, f"bi-clustering ({len(found)})", order)
    rows: list[list[object]] = [["rank-one loop", len(found), (found.labels < 0).sum(), _ari(found.labels, network)]]
    A = pool.to_matrix().toarray()
    for ax, rank in zip(axes[2:], (2, 3, 4)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            factors = l1_nmf(A, rank, max_iter=200 if quick else 3000)
        blocks = _blocks(factors.U, factors.V)
        draw_matrix(ax, pool, blocks, f"L1-NMF, q = {rank}", order)
        labels = np.full(A.shape[0], -1)
        for k, (elements, _) in enumerate(blocks):
            labels[elements] = k
        rows.append([f"L1-NMF, q = {rank}", len(blocks), (labels < 0).sum(), _ari(labels, network)])
    name = save(figure, out, "communities_fig08.png", dpi=130)
    return Section(
        "Fig. 8: a loop of rank-one problems against L1-NMF",
        "The network of the paper, Aegean34, is not published. The karate club (34 nodes, two true groups) "
        "takes its place. The base results are one run each of Louvain, Infomap, Leiden, walktrap and label"
        " propagation, and of spectral clustering with K = 2 and 3. The loop of rank-one problems finds the"
        " number of bi-clusters. L1-NMF has to be told its rank q.",
        [
            Table(
                "Bi-clusters, nodes in none of them, and ARI with the two clubs",
                ["method", "bi-clusters", "left over", "ARI"],
                rows,
            )
        ],
        [(name, "Candidates down, nodes across; one colour for each bi-cluster, pale where it fills in.")],
    )


def _blocks(U: np.ndarray, V: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Active sets of the factors that are not zero: each node and candidate where it is strongest."""
    strength = U * V.max(axis=1)[None, :]
    owner_row, owner_column = strength.argmax(axis=1), (V * U.max(axis=0)[:, None]).argmax(axis=0)
    active_rows = strength.max(axis=1) > 1e-4 * strength.max()
    active_columns = V.max(axis=0) > 1e-4 * V.max()
    blocks = [
        (np.flatnonzero(active_rows & (owner_row == k)), np.flatnonzero(active_columns & (owner_column == k)))
        for k in range(U.shape[1])
    ]
    return [(r, c) for r, c in blocks if r.size and c.size]


def _ari(labels: np.ndarray, network: object) -> float:
    """ARI with the clubs."""
    return bc.metrics.ari(network.labels, labels)  # type: ignore[attr-defined]
