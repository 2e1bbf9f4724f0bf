"""Networks: how they are read, written, summed and generated."""

from __future__ import annotations

from typing import TYPE_CHECKING

from biconsensus._lazy import lazy_names

if TYPE_CHECKING:
    from biconsensus.graphs._graph import Graph, read_graph
    from biconsensus.graphs._lfr import lfr_network

__all__ = [
    "Graph",
    "lfr_network",
    "read_graph",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "Graph": "biconsensus.graphs._graph",
        "lfr_network": "biconsensus.graphs._lfr",
        "read_graph": "biconsensus.graphs._graph",
    },
)
