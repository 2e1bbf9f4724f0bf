"""Networks with planted communities."""

from __future__ import annotations

import networkx as nx


def planted(seed=1, p_in=0.5, p_out=0.03):
    return nx.planted_partition_graph(4, 20, p_in, p_out, seed=seed)
