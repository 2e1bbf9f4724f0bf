"""Description length of a network with groups, degrees given, and moves of nodes that shorten it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, eye_array
from scipy.special import gammaln, xlogy

from biconsensus.matrix._groups import stored_rows, sums_by
from biconsensus.protocols import BoolArray, FloatArray, IntArray, Progress, silent

LN_2 = float(np.log(2.0))
TINY = 1e-300
"""Keeps the logarithm of an empty share finite; it is multiplied by that share."""


ShortArray: TypeAlias = NDArray[np.int32]
"""Nodes or groups of all links: half as much to look up at random places."""


class Links:
    """A network as the evidence sees it: every edge in both directions, weights as numbers of observations.

    Weights are scaled so that their sum is the effective number of edges ``(sum w)^2 / sum w^2`` (Kish): equal weights
    count one each, whatever their unit, and one heavy edge is not taken for many.

    Parameters
    ----------
    adjacency : (m, m) sparse array
        Symmetric weights, zero diagonal.
    """

    def __init__(self, adjacency: csr_array) -> None:
        given = csr_array(adjacency, dtype=np.float64)
        given.sort_indices()
        squares = float((given.data**2).sum())
        scale = float(given.data.sum()) / squares if squares > 0 else 1.0
        self.weight: FloatArray = given.data * scale
        self.adjacency = csr_array((self.weight, given.indices, given.indptr), shape=given.shape)
        self.n_nodes = int(given.shape[0])
        self.source: IntArray = np.repeat(np.arange(self.n_nodes), np.diff(given.indptr))
        self.target: IntArray = given.indices.astype(np.int64)
        self.degree: FloatArray = np.asarray(given.sum(axis=1), dtype=np.float64).ravel() * scale
        self.total = float(self.degree.sum()) / 2.0
        """Effective number of edges (E)."""
        self.linked: BoolArray = np.diff(given.indptr) > 0
        self.n_linked = int(self.linked.sum())
        """Nodes with an edge (N); the others are in no group and cost nothing."""

    @cached_property
    def equal_weights(self) -> bool:
        """Whether all links have the same weight, which is one then."""
        return bool(np.allclose(self.weight, 1.0))

    def with_weights_to(self, power: float) -> Links:
        """The same network with a power of its weights."""
        adjacency = self.adjacency.copy()
        adjacency.data = adjacency.data**power
        return Links(adjacency)

    @cached_property
    def reverse(self) -> IntArray:
        """(2e,) position of the same edge in the other direction."""
        return np.lexsort((self.source, self.target))

    @cached_property
    def with_self(self) -> csr_array:
        """(m, m) the adjacency with a weight of one from every node to itself."""
        looped = csr_array(self.adjacency + eye_array(self.n_nodes, format="csr"))
        looped.sort_indices()
        return looped

    @cached_property
    def once(self) -> tuple[ShortArray, ShortArray, FloatArray]:
        """(e,) the two ends and the weight of every link, each once; of a loop, which is twice a link, half."""
        kept = np.flatnonzero(self.source <= self.target)
        left, right, weight = self.source[kept].astype(np.int32), self.target[kept].astype(np.int32), self.weight[kept]
        return left, right, np.asarray(np.where(left == right, weight / 2.0, weight))

    def ends_in_groups(self, labels: IntArray) -> tuple[ShortArray, ShortArray, FloatArray]:
        """(e,) the groups of the two ends and the weight of every link, each once."""
        left, right, weight = self.once
        short = labels.astype(np.int32)
        return short[left], short[right], weight

    def tally(self, labels: IntArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """(B,) linked nodes, degree sum and inner edges of each group; labels from 0, none missing."""
        n_groups = int(labels.max(initial=-1)) + 1
        first, second, weight = self.ends_in_groups(labels)
        same = np.flatnonzero(first == second)
        inner = sums_by(first[same], weight[same], n_groups)
        number = np.bincount(labels[self.linked], minlength=n_groups).astype(np.float64)
        degree = np.bincount(labels, self.degree, minlength=n_groups).astype(np.float64)
        return number, degree, inner

    def rates(self, labels: IntArray) -> tuple[float, float]:
        """Links inside groups and between them, each over what the degrees give by chance."""
        _, degree, inner = self.tally(labels)
        return self.rates_of(degree, inner)

    def rates_of(self, degree: FloatArray, inner: FloatArray) -> tuple[float, float]:
        """The same from the degree sum and inner edges of each group."""
        expected = float(((degree / (2.0 * self.total)) ** 2).sum())
        inside = min(max(float(inner.sum()) / self.total, 1e-9), 1.0 - 0.5 / self.total)
        return inside / expected, (1.0 - inside) / max(1.0 - expected, 1e-9)


def description_gain(links: Links, labels: IntArray) -> float:
    """Nats saved by a grouping (labels from 0, none missing) over one group, as in `LinkEvidence`."""
    return gain_of_tally(*links.tally(labels), links.total)


def gain_of_tally(number: FloatArray, degree: FloatArray, inner: FloatArray, total: float) -> float:
    """The same from the nodes, degree sum and inner edges of each group, and the number of edges."""
    kept = number > 0
    number, degree, inner = number[kept], degree[kept], inner[kept]
    n_groups = number.size
    if n_groups < 2:
        return 0.0
    expected = (degree / (2.0 * total)) ** 2
    inside, chance = float(inner.sum()), float(expected.sum())
    outside = max(total - inside, 0.0)
    one = float(one_rate(inside, chance, total))
    own = float(xlogy(inner, np.maximum(inner, TINY) / (total * expected)).sum())
    own += float(xlogy(outside, max(outside, TINY) / (total * (1.0 - chance))))
    own -= float(log_choose(inside + n_groups - 1, n_groups - 1))
    saved = max(one, own) if inside > chance * total else 0.0  # groups with too few links inside are no communities
    return saved - float(np.log(total + 1)) - float(np.log(2.0)) - groups_cost(number)


def log_false_alarms(links: Links, labels: IntArray) -> FloatArray:
    """(B,) logarithm of the number of sets like each group that are expected in a network without groups.

    Parameters
    ----------
    links : Links
        The network.
    labels : (m,) int array
        Labels from 0, none missing.

    Returns
    -------
    (B,) float array
        At most ``ln(N C(N, n) P(M >= m))``: N sizes, all sets of n of the N nodes, and the probability that the ends of
        the links, paired at random, leave m links or more inside such a set (the configuration model).

    Notes
    -----
    With K of the 2E ends in the set, c = K - 2m links leave it and o = E - m - c are outside:
    ``P(M = m) = K! (2E - K)! E! 2^c / (m! c! o! (2E)!)``. The terms of the tail fall at least as fast as the first two
    of them, so a geometric series bounds it. Where weights differ, the heaviest link counts as one and others as less:
    sums of weights between 0 and 1 are spread less than numbers of links (Hoeffding 1963), and one heavy link alone is
    no group.
    """
    heaviest = float(links.weight.max(initial=0.0)) or 1.0
    number, degree, inner = links.tally(labels)
    degree, inner, total = degree / heaviest, inner / heaviest, links.total / heaviest

    def log_probability(inside: FloatArray) -> FloatArray:
        leaving = np.maximum(degree - 2.0 * inside, 0.0)
        outside = np.maximum(total - inside - leaving, 0.0)
        ways = gammaln(degree + 1) + gammaln(2.0 * total - degree + 1) + gammaln(total + 1) - gammaln(2.0 * total + 1)
        return np.asarray(ways + leaving * LN_2 - gammaln(inside + 1) - gammaln(leaving + 1) - gammaln(outside + 1))

    first = log_probability(inner)
    ratio = np.where(degree - 2.0 * inner >= 2.0, np.exp(np.minimum(log_probability(inner + 1.0) - first, 0.0)), 0.0)
    tail = np.where(ratio < 1.0, first - np.log1p(-np.where(ratio < 1.0, ratio, 0.0)), 0.0)
    n = float(number.sum())
    return np.asarray(np.minimum(tail, 0.0) + np.log(n) + log_choose(n, number))


@dataclass
class GroupLinks:
    """A network of groups: what is left of the nodes when only whole groups merge."""

    number: FloatArray
    """(B,) linked nodes, ..."""
    degree: FloatArray
    """(B,) degree sum, ..."""
    inner: FloatArray
    """(B,) inner edges of each group, ..."""
    between: csr_array
    """(B, B) weight of the links between two groups, in the row of the smaller number."""

    @classmethod
    def of(cls, links: Links, labels: IntArray) -> GroupLinks:
        """From the group of every node; labels from 0, none missing."""
        number, degree, inner = links.tally(labels)
        first, second, weight = links.ends_in_groups(labels)
        return cls(number, degree, inner, _of_pairs(first, second, weight, number.size))

    def merged(self, to: IntArray) -> GroupLinks:
        """The same with groups put together; `to` has the new number of each, from 0, none missing."""
        size = int(to.max()) + 1
        pairs = self.between.tocoo()
        first, second = to[pairs.row], to[pairs.col]
        same = first == second
        number, degree, inner = (sums_by(to, part, size) for part in (self.number, self.degree, self.inner))
        inner += sums_by(first[same], pairs.data[same], size)
        return GroupLinks(number, degree, inner, _of_pairs(first, second, pairs.data, size))

    def merge_gains(self, total: float) -> tuple[IntArray, IntArray, FloatArray]:
        """Pairs of linked groups, and the nats saved by merging each (one rate inside groups)."""
        pairs = self.between.tocoo()
        a, b, weight = pairs.row.astype(np.int64), pairs.col.astype(np.int64), pairs.data
        expected = float(((self.degree / (2.0 * total)) ** 2).sum())
        joint = expected + 2.0 * self.degree[a] * self.degree[b] / (2.0 * total) ** 2
        inside = float(self.inner.sum())
        fit = one_rate(inside + weight, joint, total) - one_rate(inside, expected, total)
        number, n_groups = self.number, self.number.size
        both, alone = (number[a] + number[b]).astype(np.int64), gammaln(number + 1)
        joined = gammaln(np.arange(int(both.max(initial=0)) + 1) + 1.0)  # once for each size, not for each pair
        members = joined[both] - alone[a] - alone[b]
        n = float(number.sum())
        fewer = float(log_choose(n - 1, n_groups - 1) - log_choose(n - 1, n_groups - 2))
        return a, b, fit + members + fewer


def _of_pairs(first: NDArray[Any], second: NDArray[Any], weight: FloatArray, size: int) -> csr_array:
    """(size, size) weight of the pairs of different groups, in the row of the smaller number."""
    apart = np.flatnonzero(first != second)
    first, second = first[apart], second[apart]
    ends = np.minimum(first, second), np.maximum(first, second)
    return csr_array((weight[apart], ends), shape=(size, size))


def to_groups(rows: csr_array, labels: IntArray, n_groups: int) -> csr_array:
    """(k, B) what each row stores, summed by the group of the column, from left to right.

    The same as a product with the memberships, which would look up three arrays as long as the network for each link.
    """
    of_links = labels.astype(np.int32, copy=False)[rows.indices]
    linked = csr_array((rows.data, of_links, rows.indptr), shape=(rows.shape[0], n_groups))
    return csr_array(linked @ eye_array(n_groups, format="csr"))


def one_rate(inside: FloatArray | float, expected: FloatArray | float, total: float) -> FloatArray:
    """E KL(x || e) where the share inside, x, is above the share expected, e; 0 elsewhere."""
    x = np.minimum(np.asarray(inside) / total, 1.0)
    rest, chance = np.maximum(1.0 - x, TINY), np.maximum(1.0 - np.asarray(expected), TINY)
    gain = total * (xlogy(x, np.maximum(x, TINY) / expected) + xlogy(1.0 - x, rest / chance))
    return np.where(x > expected, gain, 0.0)


def groups_cost(number: FloatArray) -> float:
    """Nats that tell the number of groups, their sizes and their members."""
    n, b = float(number.sum()), number.size
    return float(np.log(n) + log_choose(n - 1, b - 1) + gammaln(n + 1) - gammaln(number + 1).sum())


def log_choose(n: FloatArray | float, k: FloatArray | float) -> FloatArray:
    """Logarithm of the binomial coefficient."""
    return np.asarray(gammaln(np.asarray(n) + 1.0) - gammaln(np.asarray(k) + 1.0) - gammaln(np.asarray(n) - k + 1.0))


def compact(labels: IntArray) -> IntArray:
    """Labels from 0 without gaps; -1, which only nodes without an edge have left, joins the first group."""
    kept = np.maximum(labels, 0)
    if kept.max(initial=0) > kept.size:  # somebody's own numbers, for which a table may be too long
        return np.asarray(np.unique(kept, return_inverse=True)[1], dtype=np.int64).ravel()
    present = np.zeros(kept.size + 1, dtype=bool)
    present[kept] = True
    return np.asarray((np.cumsum(present) - 1)[kept], dtype=np.int64)


N_REFINED = 4
"""How many of the best base results are refined; they are alike, and each costs as much as a base run."""
MAX_ROUNDS = 4
"""Rounds of moves and merges; they end earlier where the description gets no shorter, or few nodes move."""
MAX_SWEEPS = 10
"""Sweeps over all nodes in one round."""
FEW = 0.001
"""Share of the nodes at which a sweep, or a round, is the last: it spares large networks the last few moves."""
N_BATCHES = 20
"""Parts of a sweep; the nodes of one part move at once, so that whole arrays are worked on."""
MERGED_AT_ONCE = 8
"""One group in this number merges before all pairs are compared again."""


def best_refined(
    links: Links, groupings: Sequence[IntArray], rng: np.random.Generator, progress: Progress = silent
) -> list[IntArray]:
    """The best few of the groupings, refined, best first; each once.

    Parameters
    ----------
    links : Links
        The network.
    groupings : sequence of (m,) int arrays
        Labels from 0, none missing.
    rng : Generator
        Decides the order of the nodes.
    progress : callable
        Told how many are refined, of how many.

    Returns
    -------
    list of (m,) int arrays
        Only those that save nats, or the best one.
    """
    distinct = list({labels.tobytes(): labels for labels in groupings if labels.max(initial=0) > 0}.values())
    gains = [description_gain(links, labels) for labels in distinct]
    order = sorted(range(len(distinct)), key=lambda k: -gains[k])[:N_REFINED]
    refined: dict[bytes, tuple[float, IntArray]] = {}
    for done, k in enumerate(order):
        progress(done, len(order), "refinement on the network")
        labels, gain = refine(links, distinct[k], rng)
        refined[labels.tobytes()] = gain, labels
    progress(len(order), len(order), "refinement on the network")
    best = sorted(refined.values(), key=lambda pair: -pair[0])
    return [labels for gain, labels in best if gain > 0 or gain == best[0][0]]


def refine(links: Links, labels: IntArray, rng: np.random.Generator) -> tuple[IntArray, float]:
    """Moves and merges as long as they save nats; the grouping and what it saves over one group."""
    best, saved = compact(labels), description_gain(links, compact(labels))
    for _ in range(MAX_ROUNDS):
        changed = merge_groups(links, move_nodes(links, best, rng))
        gain = description_gain(links, changed)
        if gain <= saved + 1e-6:
            break
        settled = changed.max() == best.max() and np.count_nonzero(changed != best) <= links.n_linked * FEW
        best, saved = changed, gain
        if settled:
            break
    return best, saved


def move_nodes(links: Links, labels: IntArray, rng: np.random.Generator) -> IntArray:
    """Every node goes to the group, among its neighbours' groups, that makes the network shortest to describe."""
    labels = compact(labels)
    nodes = np.flatnonzero(links.linked)
    for _ in range(MAX_SWEEPS):
        labels = compact(labels)
        number, degree, inner = links.tally(labels)
        inside, between = links.rates_of(degree, inner)
        if labels.max() == 0 or inside <= between:
            break
        labels = labels.astype(np.int32)
        changed = 0
        for batch in map(np.sort, np.array_split(rng.permutation(nodes), min(N_BATCHES, nodes.size))):
            scores = _scores(links, batch, labels, number, degree, (inside, between))
            here, old, new = batch, labels[batch], last_of_largest(scores)
            moved = new != old
            here, old, new = here[moved], old[moved], new[moved]
            number += np.bincount(new, minlength=number.size) - np.bincount(old, minlength=number.size)
            weight = links.degree[here]
            degree += np.bincount(new, weight, number.size) - np.bincount(old, weight, number.size)
            labels[here] = new
            changed += here.size
        if changed <= nodes.size * FEW:
            break
    return compact(labels)


def node_certainty(links: Links, labels: IntArray) -> float:
    """Mean over the nodes of the probability of the likeliest group, all other nodes being where they are."""
    nodes = np.flatnonzero(links.linked)
    number, degree, inner = links.tally(labels)
    rates = links.rates_of(degree, inner)
    certainty = 0.0
    for batch in np.array_split(nodes, min(N_BATCHES, nodes.size)):
        scores = _scores(links, batch, labels, number, degree, rates)
        begin, stored = scores.indptr[:-1], np.diff(scores.indptr)
        top = np.repeat(np.maximum.reduceat(scores.data, begin), stored)
        certainty += float((1.0 / np.add.reduceat(np.exp(scores.data - top), begin)).sum())
    return certainty / nodes.size


def _scores(
    links: Links, batch: IntArray, labels: IntArray, number: FloatArray, degree: FloatArray, rates: tuple[float, float]
) -> csr_array:
    """(b, B) log odds of each node of the batch in the groups that it is in or linked to, and nothing elsewhere."""
    inside, between = rates
    weight = to_groups(links.with_self[batch], labels, number.size)
    weight.sort_indices()
    node, group = stored_rows(weight), weight.indices
    own = group == labels[batch][node]
    mine = links.degree[batch][node]
    chance = (inside - between) / (2.0 * links.total) * mine * (degree[group] - own * mine)
    size = np.log(np.maximum(number[group] + ~own, 1.0))
    stays = 1e-9 * own  # ties change nothing
    # every node counts as a neighbour of itself, so that its own group is among them: that one is taken out again
    weight.data = np.log(inside / between) * (weight.data - own) - chance + size + stays
    return weight


def last_of_largest(scores: csr_array) -> IntArray:
    """(b,) column of the largest stored value of each row, the last of equal ones; every row stores one."""
    begin = scores.indptr[:-1]
    top = np.repeat(np.maximum.reduceat(scores.data, begin), np.diff(scores.indptr))
    return np.asarray(np.maximum.reduceat(np.where(scores.data == top, scores.indices, -1), begin), np.int64)


def merge_groups(links: Links, labels: IntArray) -> IntArray:
    """Linked groups merge where that saves nats, the best pairs first."""
    labels = compact(labels)
    groups = GroupLinks.of(links, labels)
    group = np.arange(groups.number.size)
    while groups.number.size > 2:
        left, right, saved = groups.merge_gains(links.total)
        worth = np.flatnonzero(saved > 0)  # few of all pairs
        order = worth[np.argsort(-saved[worth], kind="stable")]
        if order.size == 0:
            break
        to = np.arange(groups.number.size)
        free, merged = np.ones(to.size, bool), 0
        for a, b in zip(left[order].tolist(), right[order].tolist()):
            if free[a] and free[b]:
                to[b], free[a], free[b] = a, False, False
                merged += 1
            if merged * MERGED_AT_ONCE >= to.size:
                break
        to = compact(to)
        group, groups = to[group], groups.merged(to)
    return compact(group[labels])
