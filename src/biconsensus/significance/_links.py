"""Networks: are there more links inside these groups than the degrees of the nodes give by chance?

All numbers are nats saved over one group, degrees given in both: the description length of the degree-corrected planted
partition (Karrer and Newman 2011, Newman 2016), its groups paid for.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from scipy.sparse import csr_array

from biconsensus.matrix._groups import largest_in_rows
from biconsensus.protocols import FloatArray, IntArray, Progress, silent
from biconsensus.significance._description import (
    GroupLinks,
    Links,
    best_refined,
    compact,
    description_gain,
    in_order,
    node_certainty,
)
from biconsensus.significance._propagation import Weak, propagate

LN_10 = float(np.log(10.0))


class LinkEvidence:
    """What a network says about groups of its nodes.

    Parameters
    ----------
    adjacency : (m, m) sparse array
        Symmetric weights, zero diagonal; of a directed network the sum of the two directions.

    Notes
    -----
    With K_r, m_r, n_r the degree sum, inner edges and nodes of group r, E edges, N nodes, B groups,
    ``x = sum m_r / E``, ``e_r = (K_r / 2E)^2`` and ``e = sum e_r``, a grouping saves

    ``max(U, R) - ln(E + 1) - ln 2 - [ln N + ln C(N - 1, B - 1) + ln N! - sum ln n_r!]`` nats, where

    ``U = E KL(x || e)`` has one rate of links inside groups, and
    ``R = sum m_r ln(m_r / E e_r) + E_out ln(E_out / (E (1 - e))) - ln C(E_in + B - 1, B - 1)`` one for each group.

    The bracket is what it takes to tell who is in which group. Where groups are too weak to tell node by node, the
    same model averaged over all groupings is asked instead: see `biconsensus.significance._propagation`.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> clique = np.ones((9, 9)) - np.eye(9)
    >>> evidence = LinkEvidence(csr_array(np.kron(np.eye(3), clique)))
    >>> groups = np.repeat([0, 1, 2], 9)
    >>> round(evidence.of_grouping(groups)), evidence.of_grouping(np.zeros(27, dtype=int))
    (78, 0.0)
    >>> evidence.of_grouping(np.arange(27) % 3) < 0
    True
    >>> evidence.of_groups(groups).round(1).tolist()
    [-17.9, -17.9, -17.9]
    """

    kind = "links"
    backing_power = 0.125
    """How much the backing of the pool counts in the choice: little, because nats already say how much better one
    grouping is than another; it decides where two are worth nearly the same. Chosen
    on football and one network with many unequal groups."""

    def __init__(self, adjacency: csr_array) -> None:
        self.links = Links(adjacency)
        self._averaged: dict[bytes, float] = {}
        self.weak: Weak | None = None
        """Set by `propose` where the network shows groups, but no single grouping tells them."""

    def of_grouping(self, labels: IntArray) -> float:
        """Nats that a grouping saves over one group; left-over nodes count with the group they have most links to."""
        groups = compact(self.place(labels))
        averaged = self._averaged.get(in_order(groups).tobytes(), -np.inf)
        return max(description_gain(self.links, groups), averaged)

    def remember(self, labels: IntArray, nats: float) -> None:
        """From now on this grouping is worth at least so much: what the network as a whole says for it."""
        self._averaged[in_order(compact(self.place(labels))).tobytes()] = nats

    def of_groups(self, labels: IntArray) -> FloatArray:
        """(T,) base-10 logarithm of a p-value: is each group more than a part of the others?

        The null is the grouping in which the group has merged with the one that takes it best; saving s nats over it
        has a probability of at most ``exp(-s)`` there, because no code is shorter than the model that made the data by
        more than that (Barron's inequality). 0 where it saves nothing.
        """
        n_groups = int(labels.max(initial=-1)) + 1
        groups = compact(self.place(labels))
        if n_groups < 2 or self.links.total == 0 or int(groups.max(initial=0)) + 1 != n_groups:
            return np.zeros(n_groups)
        network = GroupLinks.of(self.links, groups)
        lost = network.lost_by_merging(_best_partners(network, self.links.total), self.links.total)
        return -np.maximum(lost, 0.0) / LN_10

    def place(self, labels: IntArray) -> IntArray:
        """The same groups with every node that has an edge in one: see `place_with_neighbours`."""
        return place_with_neighbours(self.links.adjacency, labels)

    def propose(
        self,
        groupings: Sequence[IntArray],
        seed: int,
        together: Iterable[Sequence[int]] | None = None,
        *,
        progress: Progress = silent,
    ) -> list[tuple[str, IntArray]]:
        """Groupings that explain the network better than those at hand, for the pool.

        Parameters
        ----------
        groupings : sequence of (m,) int arrays
            Base results.
        seed : int
            Decides the order in which nodes are moved.
        together : iterable of sequences of int, optional
            Nodes that must share a group.
        progress : callable
            Told how many groupings are refined, of how many.

        Returns
        -------
        list of (name, (m,) int array)
            The best of them refined by moves of nodes and merges of groups and, where nodes stay uncertain, what
            belief propagation finds; -1 for nodes without an edge. What the latter is worth, averaged over all
            groupings, is remembered for `of_grouping`. Where it finds groups, but not who is in them, `weak` is set.
        """
        if self.links.n_linked < 3 or self.links.total <= 0:
            return []
        rng = np.random.default_rng(seed)
        refined = best_refined(self.links, [compact(self.place(labels)) for labels in groupings], rng, progress)
        best = refined[0] if refined else np.zeros(self.links.n_nodes, np.int64)
        found = [("refined on the network", labels) for labels in refined]
        clear = description_gain(self.links, best) > 0 and node_certainty(self.links, best) > CLEAR
        if not clear:
            told, self.weak = propagate(self.links, refined[:2], list(map(list, together or ())), groupings)
            for labels, nats in told:
                found.append(("belief propagation", labels))
                self.remember(labels, nats)
        return [(name, np.where(self.links.linked, labels, -1)) for name, labels in found if labels.max() > 0]


CLEAR = 0.95
"""Mean probability of the likeliest group of a node, given the others, from which averaging over groupings is spared.
It changes the time, hardly the answer: beyond it propagation hardly moved the groups of LFR
networks of seeds 0 to 3."""


def _best_partners(network: GroupLinks, total: float) -> IntArray:
    """(B,) for each group the one that it would best merge with."""
    left, right, saved = network.merge_gains(total)
    n_groups = network.number.size
    one, other = np.concatenate([left, right]), np.concatenate([right, left])
    order = np.lexsort((np.tile(saved, 2), one))
    last = order[np.flatnonzero(np.append(np.diff(one[order]) > 0, True))] if order.size else order
    largest = np.argsort(-network.number, kind="stable")[:2]
    partner: IntArray = np.where(np.arange(n_groups) == largest[0], largest[1], largest[0])  # where nothing leads out
    partner[one[last]] = other[last]
    return partner


def place_with_neighbours(adjacency: csr_array, labels: IntArray) -> IntArray:
    """Give each left-over node to the group that it has the heaviest links to, nearest nodes first.

    Parameters
    ----------
    adjacency : (m, m) sparse array
        The network.
    labels : (m,) int array
        Groups, -1 for left-overs.

    Returns
    -------
    (m,) int array
        The same, with every node placed that has an edge; ties go to the smaller label, and nodes from which no path
        leads to a group to the largest group. Nodes without an edge stay -1, and so do all where there is no group.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> path = csr_array(np.diag([1.0, 1.0, 1.0], 1) + np.diag([1.0, 1.0, 1.0], -1))
    >>> place_with_neighbours(path, np.array([0, 0, -1, -1])).tolist()
    [0, 0, 0, 0]
    """
    placed = np.array(labels, dtype=np.int64)
    linked = np.diff(adjacency.indptr) > 0
    if (placed >= 0).sum() == 0:
        return placed
    while (left := np.flatnonzero((placed < 0) & linked)).size:
        votes = links_to_groups(adjacency, placed, left)
        reached = np.flatnonzero(np.diff(votes.indptr) > 0)
        if reached.size == 0:
            placed[left] = np.bincount(placed[placed >= 0]).argmax()
            break
        placed[left[reached]] = largest_in_rows(votes)[reached]
    return placed


def links_to_groups(adjacency: csr_array, labels: IntArray, nodes: IntArray) -> csr_array:
    """(nodes, groups) weight of the links of some nodes into each group."""
    inside = np.flatnonzero(labels >= 0)
    shape = (labels.size, int(labels.max(initial=-1)) + 1)
    groups = csr_array((np.ones(inside.size), (inside, labels[inside])), shape=shape)
    votes = csr_array(adjacency[nodes] @ groups)
    votes.sort_indices()
    return votes
