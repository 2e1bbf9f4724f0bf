"""Networks weighted by how often runs put two nodes together: what iterated consensus and its fast variant share."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np
from scipy.sparse import coo_array, csr_array

from biconsensus.graphs._graph import Graph
from biconsensus.protocols import FloatArray, IntArray
from biconsensus.sources.networks import get_algorithm

CHUNK = 200_000
"""Pairs of nodes counted at a time: bounds memory, changes no answer."""


def share_together(table: IntArray, left: IntArray, right: IntArray) -> FloatArray:
    """(p,) share of the runs that put the two nodes of each pair together."""
    together = np.empty(left.size)
    for start in range(0, left.size, CHUNK):
        a, b = table[left[start : start + CHUNK]], table[right[start : start + CHUNK]]
        together[start : start + CHUNK] = ((a == b) & (a >= 0)).mean(axis=1)
    return together


def network_of(left: IntArray, right: IntArray, weights: FloatArray, m: int) -> Graph:
    """Symmetric network of m nodes from pairs, each given once."""
    half = coo_array((weights, (left, right)), shape=(m, m))
    adjacency = csr_array(half + half.T)
    adjacency.eliminate_zeros()
    adjacency.sort_indices()
    names: list[Hashable] = list(range(m))
    return Graph(adjacency, names)


def thresholded(left: IntArray, right: IntArray, share: FloatArray, threshold: float, m: int) -> FloatArray:
    """(p,) shares, those below the threshold set to zero unless a node would lose its last and strongest pair."""
    kept = np.where(share >= threshold, share, 0.0)
    linked = np.zeros(m, bool)
    linked[left[kept > 0]] = linked[right[kept > 0]] = True
    order = np.argsort(share, kind="stable")
    strongest = np.full(m, -1, np.int64)
    strongest[np.stack([left[order], right[order]], axis=1).ravel()] = np.repeat(order, 2)
    lost = strongest[~linked]
    lost = lost[lost >= 0]
    kept[lost] = share[lost]
    return kept


def runs_on(graph: Graph, algorithm: str, n_runs: int, rng: np.random.Generator) -> IntArray:
    """(m, n_runs) labels of fresh runs on a network."""
    method = get_algorithm(algorithm)
    return np.stack([np.asarray(method(graph, int(seed))) for seed in rng.integers(2**31 - 1, size=n_runs)], axis=1)


def is_unanimous(share: FloatArray, tolerance: float) -> bool:
    """Whether all but a few pairs are always or never together."""
    undecided = (share > 1e-9) & (share < 1 - 1e-9)
    return bool(undecided.mean() <= tolerance) if share.size else True
