"""Label propagation: every node takes the label that weighs most among its neighbours, until nothing changes."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from biconsensus.graphs._graph import Graph, relabel
from biconsensus.matrix._groups import largest_in_rows, stored_rows
from biconsensus.protocols import IntArray

BATCHES = 20
"""Parts of the nodes that are updated one after the other, so that labels do not swing."""


def label_propagation(graph: Graph, seed: int, *, max_sweeps: int = 100) -> IntArray:
    """Find communities by label propagation.

    Parameters
    ----------
    graph : Graph
        A network of m nodes, none of them isolated.
    seed : int
        Decides the order of the nodes and ties.
    max_sweeps : int
        Sweeps over all nodes before it gives up.

    Returns
    -------
    (m,) int array
        Labels from 0.

    Notes
    -----
    Raghavan et al. (2007), in small random batches instead of node by node: nodes of one batch look at the labels from
    before the batch. Ties are broken at random, and a node keeps its label where that is among the best.

    Examples
    --------
    >>> from biconsensus.graphs import read_graph
    >>> from biconsensus.sources.networks._label_propagation import label_propagation
    >>> graph = read_graph([(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5)])
    >>> label_propagation(graph, seed=0).tolist()
    [0, 0, 0, 1, 1, 1]
    """
    rng = np.random.default_rng(seed)
    labels = np.arange(graph.n_nodes, dtype=np.int64)
    for _ in range(max_sweeps):
        batches = np.array_split(rng.permutation(graph.n_nodes), min(BATCHES, graph.n_nodes))
        if sum(_update(graph.adjacency[batch], batch, labels, rng) for batch in batches) == 0:
            break
    return relabel(labels)


def _update(rows: csr_array, batch: IntArray, labels: IntArray, rng: np.random.Generator) -> int:
    """Give the nodes of a batch their heaviest labels in place; how many changed."""
    # every row has an entry, because no node is isolated
    votes = csr_array((rows.data, labels[rows.indices], rows.indptr), shape=rows.shape)
    votes.sum_duplicates()
    node, label, mine = stored_rows(votes), votes.indices, labels[batch]
    # a tiny bonus keeps the present label on ties; sums of equal weights are compared with some slack
    best = np.maximum.reduceat(votes.data, votes.indptr[:-1])
    tied = votes.data >= best[node] * (1 - 1e-9)
    priority = rng.random(label.size) + 2.0 * (label == mine[node])
    votes.data = np.where(tied, priority, -1.0)
    chosen = largest_in_rows(votes)
    changed = int((mine != chosen).sum())
    labels[batch] = chosen
    return changed
