"""What a consensus and its network say together: conductance, names, results in the user's own graph."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from biconsensus.errors import InputError, InputTypeError, MissingDependencyError
from biconsensus.graphs._graph import Graph
from biconsensus.metrics import noise_as_singletons
from biconsensus.protocols import FloatArray, IntArray
from biconsensus.sources.networks._algorithm import need
from biconsensus.sources.networks._walktrap import as_igraph


class CommunityOutput:
    """What a fitted `ConsensusCommunities` can hand over."""

    graph_: Graph
    communities_: list[set[Hashable]]
    labels_: IntArray
    backing_: FloatArray

    def write_to(self, graph: Any, attribute: str = "community", backing: str | None = "backing") -> None:
        """Write the community and the backing of each node into the node attributes of a networkx or igraph graph.

        Parameters
        ----------
        graph : networkx or igraph graph
            Changed in place.
        attribute : str
            Name of the attribute with the label; -1 for none.
        backing : str or None
            Name of the attribute with the backing; None: not written.
        """
        values: dict[str, list[Any]] = {attribute: self.labels_.tolist()}
        if backing is not None:
            values[backing] = self.backing_.tolist()
        write_attributes(graph, self.graph_, values)

    def to_igraph(self, graph: Any = None) -> Any:
        """The answer as an igraph VertexClustering; nodes in no community get one of their own.

        Parameters
        ----------
        graph : igraph.Graph, optional
            What to cluster; by default the fitted network, names in the vertex attribute ``name``.
        """
        igraph = need("igraph", "graph-fast")
        if graph is None:
            graph = as_igraph(self.graph_)
            graph.vs["name"] = self.graph_.names
        return igraph.VertexClustering(graph, membership=noise_as_singletons(self.labels_).tolist())

    def to_cdlib(self, graph: Any) -> Any:
        """The answer as a ``NodeClustering`` of cdlib, to be scored and drawn there.

        Parameters
        ----------
        graph : networkx or igraph graph
            The network that was fitted, as cdlib keeps it beside its communities.

        Returns
        -------
        cdlib.NodeClustering
            Communities that share nodes are marked as overlapping.
        """
        try:
            from cdlib import NodeClustering
        except ImportError as error:
            raise MissingDependencyError("cdlib is not installed; try: pip install cdlib") from error
        found = [sorted(community, key=str) for community in self.communities_]
        overlap = sum(map(len, found)) > len(set().union(*found))
        return NodeClustering(found, graph=graph, method_name="biconsensus", overlap=overlap)


def write_attributes(target: Any, graph: Graph, values: dict[str, list[Any]]) -> None:
    """Write one value for each node into the node attributes of a networkx or igraph graph."""
    if hasattr(target, "nodes") and hasattr(target, "adj"):
        for attribute, column in values.items():
            for name, value in zip(graph.names, column):
                if name not in target:
                    raise InputError(f"graph: it has no node {name!r}, which the estimator was fitted on")
                target.nodes[name][attribute] = value
    elif hasattr(target, "vs"):
        if target.vcount() != graph.n_nodes:
            raise InputError(f"graph: it has {target.vcount()} vertices; the estimator was fitted on {graph.n_nodes}")
        for attribute, column in values.items():
            target.vs[attribute] = column
    else:
        raise InputTypeError(
            f"graph: received {type(target).__name__}; only networkx and igraph graphs have attributes"
        )


def conductances(graph: Graph, membership: csr_array) -> FloatArray:
    """(T,) conductance of each group: the weight that leaves it, over that at its nodes or at all others if less.

    Parameters
    ----------
    graph : Graph
        Network of m nodes.
    membership : (m, T) sparse bool array
        Groups, which may overlap.

    Returns
    -------
    (T,) float array
        In [0, 1]; low for a well separated group, 0 for a group that nothing leaves.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> from biconsensus.graphs import read_graph
    >>> graph = read_graph([(0, 1), (1, 2), (2, 0), (2, 3)])
    >>> conductances(graph, csr_array(np.array([[1], [1], [1], [0]]))).tolist()
    [1.0]
    """
    held = csr_array(membership, dtype=np.float64)
    volume = np.asarray(graph.degrees @ held)
    inside = np.asarray(held.multiply(graph.adjacency @ held).sum(axis=0)).ravel()
    smaller = np.minimum(volume, graph.degrees.sum() - volume)
    return np.asarray(np.divide(volume - inside, smaller, out=np.zeros(volume.size), where=smaller > 0))


def sets_of_names(membership: csr_array, names: Sequence[Hashable]) -> list[set[Hashable]]:
    """Names of the members of each group."""
    by_group = csr_array(membership.T)
    spans = zip(by_group.indptr[:-1], by_group.indptr[1:])
    return [{names[i] for i in by_group.indices[start:end]} for start, end in spans]
