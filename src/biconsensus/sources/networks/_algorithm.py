"""What a base algorithm is: a function of a graph and a seed, with what is known about it."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from scipy.sparse import csr_array

from biconsensus.errors import MissingDependencyError
from biconsensus.graphs._graph import Graph
from biconsensus.protocols import IntArray

__all__ = ["Algorithm", "Grouping", "need", "relabel"]

Grouping: TypeAlias = IntArray | csr_array
"""(m,) labels, -1 for nodes in no community; or (m, g) memberships where communities overlap."""


@dataclass(frozen=True)
class Algorithm:
    """A base algorithm; calling it finds communities and leaves isolated nodes in none."""

    run: Callable[..., Grouping]
    """Called with a graph without isolated nodes, a seed and its own parameters."""
    seeded: bool = True
    """Whether the seed changes the answer; where it does not, one run is enough."""
    overlapping: bool = False
    """Whether a node may be in several communities."""
    package: str | None = None
    """The optional package that it needs."""
    extra: str = "graph"
    """The extra of this library that brings the package."""

    def check_installed(self) -> None:
        """Raise, with the command that mends it, where the package is missing."""
        if self.package is not None:
            need(self.package, self.extra)

    def __call__(self, graph: Graph, seed: int, **parameters: Any) -> Grouping:
        """(m,) labels or (m, g) memberships of the nodes of a graph."""
        linked = np.flatnonzero(~graph.isolated)
        if linked.size == 0:
            return np.full(graph.n_nodes, -1, dtype=np.int64)
        found = self.run(graph if linked.size == graph.n_nodes else graph.subgraph(linked), seed, **parameters)
        return _spread(found, linked, graph.n_nodes)


def _spread(found: Grouping, linked: IntArray, n_nodes: int) -> Grouping:
    """Put the answer for some of the nodes among all of them."""
    if isinstance(found, np.ndarray):
        labels = np.full(n_nodes, -1, dtype=np.int64)
        labels[linked] = found
        return labels
    entries = found.tocoo()
    return csr_array((np.ones(entries.nnz, bool), (linked[entries.row], entries.col)), shape=(n_nodes, found.shape[1]))


def relabel(labels: Any) -> IntArray:
    """Consecutive labels from 0, first seen first."""
    _, first, codes = np.unique(np.asarray(labels), return_index=True, return_inverse=True)
    rank = np.empty(first.size, dtype=np.int64)
    rank[np.argsort(first)] = np.arange(first.size)
    return rank[codes.ravel()]


def need(package: str, extra: str) -> Any:
    """Import an optional package, or say how to get it."""
    try:
        return importlib.import_module(package)
    except ImportError:
        name = {"sknetwork": "scikit-network", "sknetwork.clustering": "scikit-network"}.get(package, package)
        raise MissingDependencyError.of(name, extra) from None
