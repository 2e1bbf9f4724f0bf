"""Networks: are there more links inside these groups than the degrees of the nodes give by chance?

All numbers are nats saved over one group, degrees given in both: the description length of the degree-corrected planted
partition (Karrer and Newman 2011, Newman 2016), its groups paid for.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from scipy.sparse import csr_array

from biconsensus.graphs._graph import relabel
from biconsensus.matrix._groups import largest_in_rows
from biconsensus.protocols import FloatArray, IntArray, Progress, silent
from biconsensus.significance._description import (
    Links,
    best_refined,
    compact,
    description_gain,
    log_false_alarms,
    node_certainty,
)
from biconsensus.significance._propagation import Weak, propagate, spectral_groupings

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
    [-21.6, -21.6, -21.6]
    """

    kind = "links"
    backing_power = 0.125
    """How much the backing of the pool counts in the choice: little, because nats already say how much better one
    grouping is than another; it decides where two are worth nearly the same. Chosen
    on football and one network with many unequal groups."""

    def __init__(self, adjacency: csr_array) -> None:
        self.links = Links(adjacency)
        self.scales = [self.links]
        """The network with its weights as they are; where they differ, also with other powers of them."""
        if not self.links.equal_weights:
            self.scales += [self.links.with_weights_to(power) for power in OTHER_POWERS]
        self._averaged: dict[bytes, float] = {}
        self._misplaced: dict[bytes, float] = {}
        self.weak: Weak | None = None
        """Set by `propose` where the network shows groups, but belief propagation cannot tell who is in them."""

    def of_grouping(self, labels: IntArray) -> float:
        """Nats that a grouping saves over one group; left-over nodes count with the group they have most links to."""
        groups = self._whole(labels)
        if groups.max(initial=0) == 0:
            return 0.0
        return max(self._described(groups), self._averaged.get(relabel(groups).tobytes(), -np.inf))

    def _described(self, groups: IntArray) -> float:
        """Nats that two groups or more save by their own description, at the best power of the weights."""
        return max(description_gain(links, groups) for links in self.scales) - self._told_scale

    @property
    def _told_scale(self) -> float:
        """Nats that tell which power of the weights is described."""
        return float(np.log(len(self.scales)))

    def remember(self, labels: IntArray, nats: float, misplaced: float = 0.0) -> None:
        """Keep what the network as a whole says: nats that the grouping is worth at least, and nodes misplaced."""
        key = relabel(self._whole(labels)).tobytes()
        self._averaged[key], self._misplaced[key] = nats, misplaced

    def misplaced(self, labels: IntArray) -> float:
        """Share of the nodes that are expected to be in another group; 0 where nothing was averaged over groupings."""
        return self._misplaced.get(relabel(self._whole(labels)).tobytes(), 0.0)

    def of_groups(self, labels: IntArray) -> FloatArray:
        """(T,) base-10 logarithm of a p-value: how often has a network without groups a set of nodes like this?

        The null is the configuration model: the same degrees, links at random. For each group, the expected number of
        sets of any size that are as unlikely as the group, by the number of links inside: see `log_false_alarms`.
        Where the evidence for the grouping is averaged over all groupings, the groups are told together rather than one
        by one: each has at most the chance of the whole, which is ``exp(-s)`` for s nats. 0 for a single group.
        """
        n_groups = int(labels.max(initial=-1)) + 1
        placed = self.place(labels)
        if n_groups < 2 or self.links.total == 0:
            return np.zeros(n_groups)
        apart = np.where(placed < 0, n_groups, placed)  # what no path joins to a group is outside of all
        alarms = np.min([log_false_alarms(links, apart)[:n_groups] for links in self.scales], axis=0)
        chance = np.minimum((alarms + self._told_scale) / LN_10, 0.0)
        groups = self._whole(labels)
        averaged = self._averaged.get(relabel(groups).tobytes(), 0.0)
        return np.minimum(chance, -averaged / LN_10) if averaged > self._described(groups) else np.asarray(chance)

    def place(self, labels: IntArray) -> IntArray:
        """The same groups with every node in one from which a path leads there: see `place_with_neighbours`."""
        return place_with_neighbours(self.links.adjacency, labels)

    def _whole(self, labels: IntArray) -> IntArray:
        """(m,) groups from 0 without gaps, none missing: nodes that no path leads to a group are in the largest."""
        placed = self.place(labels)
        apart = (placed < 0) & self.links.linked
        if apart.any():
            placed[apart] = np.bincount(placed[placed >= 0], minlength=1).argmax()
        return compact(placed)

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
            groupings, is remembered for `of_grouping`, and how sure it is of the nodes for `misplaced`. Where it
            shows groups, but too little of who is in them, `weak` is set.
        """
        if self.links.n_linked < 3 or self.links.total <= 0:
            return []
        rng = np.random.default_rng(seed)
        placed = [self._whole(labels) for labels in groupings]
        links = self.links
        if len(self.scales) > 1:
            # runs on weights that say little tell no scale from another: the spectrum at each scale is asked, too
            starts = [[*placed, *spectral_groupings(scale)] for scale in self.scales]
            gains = [
                max((description_gain(scale, labels) for labels in groups), default=-np.inf)
                for scale, groups in zip(self.scales, starts)
            ]
            best_scale = int(np.argmax(gains))
            links, placed = self.scales[best_scale], starts[best_scale]
        refined = best_refined(links, placed, rng, progress)
        best = refined[0] if refined else np.zeros(links.n_nodes, np.int64)
        found = [("refined on the network", labels) for labels in refined]
        clear = description_gain(links, best) > self._told_scale and node_certainty(links, best) > CLEAR
        if not clear:
            tied = list(map(list, together or ()))
            groups, self.weak = propagate(links, tied, groupings)
            for told in groups:
                found.append(("belief propagation", told.labels))
                self.remember(told.labels, told.nats - self._told_scale, told.misplaced)
        return [(name, np.where(links.linked, labels, -1)) for name, labels in found if labels.max() > 0]


OTHER_POWERS = (0.5, 0.0)
"""Powers of the weights that are tried beside the weights themselves: their root, and every link counted once. Few
heavy links leave little evidence in the weights as they are, however much the other links say."""
CLEAR = 0.95
"""Mean probability of the likeliest group of a node, given the others, from which averaging over groupings is spared.
It changes the time, hardly the answer: beyond it propagation hardly moved the groups of LFR
networks of seeds 0 to 3."""


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
        The same, with every node placed from which a path leads to a group; ties go to the smaller label. Others stay
        -1.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> path = csr_array(np.diag([1.0, 1.0, 1.0], 1) + np.diag([1.0, 1.0, 1.0], -1))
    >>> place_with_neighbours(path, np.array([0, 0, -1, -1])).tolist()
    [0, 0, 0, 0]
    """
    placed = np.array(labels, dtype=np.int64)
    while (left := np.flatnonzero(placed < 0)).size:
        votes = links_to_groups(adjacency, placed, left)
        reached = np.flatnonzero(np.diff(votes.indptr) > 0)
        if reached.size == 0:
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
