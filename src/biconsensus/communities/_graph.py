"""What a consensus and its network say together: left-over nodes, conductance, results in the user's own graph."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace

import numpy as np
from scipy.sparse import csr_array, eye_array

from biconsensus.graphs._graph import Graph
from biconsensus.protocols import FloatArray, IntArray
from biconsensus.result._consensus import Consensus


def place_with_neighbours(graph: Graph, labels: IntArray) -> IntArray:
    """Give each left-over node to the community that it has the heaviest links to, nearest nodes first.

    Parameters
    ----------
    graph : Graph
        Network of m nodes.
    labels : (m,) int array
        Communities, -1 for left-overs.

    Returns
    -------
    (m,) int array
        The same, with every node placed that has a path to a community. Ties go to the smaller label.

    Examples
    --------
    >>> import numpy as np
    >>> from biconsensus.graphs import read_graph
    >>> graph = read_graph([(0, 1), (1, 2), (2, 3)])
    >>> place_with_neighbours(graph, np.array([0, 0, -1, -1])).tolist()
    [0, 0, 0, 0]
    """
    placed = labels.copy()
    left = np.flatnonzero(placed < 0)
    while left.size:
        votes = links_to_groups(graph, placed, left)
        reached = np.flatnonzero(np.diff(votes.indptr) > 0)
        if reached.size == 0:
            break
        placed[left[reached]] = [_heaviest(votes, int(row)) for row in reached]
        left = np.flatnonzero(placed < 0)
    return placed


def links_to_groups(graph: Graph, labels: IntArray, nodes: IntArray) -> csr_array:
    """(nodes, groups) weight of the links of some nodes into each group."""
    inside = np.flatnonzero(labels >= 0)
    groups = csr_array(
        (np.ones(inside.size), (inside, labels[inside])), shape=(graph.n_nodes, int(labels.max(initial=-1)) + 1)
    )
    votes = csr_array(graph.adjacency[nodes] @ groups)
    votes.sort_indices()
    return votes


def _heaviest(votes: csr_array, row: int) -> int:
    """Column of the first largest entry of a row."""
    span = slice(votes.indptr[row], votes.indptr[row + 1])
    return int(votes.indices[span][votes.data[span].argmax()])


def with_labels(consensus: Consensus, labels: IntArray) -> Consensus:
    """The same consensus with left-over elements placed; candidates, gains and objective stay as they were found."""
    n_groups = len(consensus)
    members = csr_array(eye_array(n_groups + 1, n_groups, dtype=bool))
    rows = np.where(labels >= 0, labels, n_groups)
    return replace(consensus, row_of=rows, members=members, settings={**consensus.settings, "unassigned": "neighbours"})


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
