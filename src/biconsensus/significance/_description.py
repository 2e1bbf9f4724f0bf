"""Description length of a network with groups, degrees given, and moves of nodes that shorten it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.special import gammaln, xlogy

from biconsensus.protocols import BoolArray, FloatArray, IntArray

TINY = 1e-300
"""Keeps the logarithm of an empty share finite; it is multiplied by that share."""


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
    def reverse(self) -> IntArray:
        """(2e,) position of the same edge in the other direction."""
        return np.lexsort((self.source, self.target))

    def tally(self, labels: IntArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """(B,) linked nodes, degree sum and inner edges of each group; labels from 0, none missing."""
        n_groups = int(labels.max(initial=-1)) + 1
        same = labels[self.source] == labels[self.target]
        inner = np.bincount(labels[self.source[same]], self.weight[same], minlength=n_groups) / 2.0
        number = np.bincount(labels[self.linked], minlength=n_groups).astype(np.float64)
        degree = np.bincount(labels, self.degree, minlength=n_groups).astype(np.float64)
        return number, degree, inner

    def rates(self, labels: IntArray) -> tuple[float, float]:
        """Links inside groups and between them, each over what the degrees give by chance."""
        _, degree, inner = self.tally(labels)
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
    return max(one, own) - float(np.log(total + 1)) - float(np.log(2.0)) - groups_cost(number)


def merge_gains(links: Links, labels: IntArray) -> tuple[IntArray, IntArray, FloatArray]:
    """Pairs of linked groups, and the nats saved by merging each (one rate inside groups)."""
    number, degree, inner = links.tally(labels)
    n_groups, total = number.size, links.total
    between = coo_array(
        coo_array((links.weight, (labels[links.source], labels[links.target])), shape=(n_groups, n_groups)).tocsr()
    )
    once = between.row < between.col
    a, b, weight = between.row[once].astype(np.int64), between.col[once].astype(np.int64), between.data[once]
    expected = float(((degree / (2.0 * total)) ** 2).sum())
    joint = expected + 2.0 * degree[a] * degree[b] / (2.0 * total) ** 2
    inside = float(inner.sum())
    fit = one_rate(inside + weight, joint, total) - one_rate(inside, expected, total)
    members = gammaln(number[a] + number[b] + 1) - gammaln(number[a] + 1) - gammaln(number[b] + 1)
    n = links.n_linked
    fewer = float(log_choose(n - 1, n_groups - 1) - log_choose(n - 1, n_groups - 2))
    return a, b, fit + members + fewer


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
    return np.asarray(np.unique(np.maximum(labels, 0), return_inverse=True)[1], dtype=np.int64).ravel()


def in_order(labels: IntArray) -> IntArray:
    """Labels numbered by first appearance, so that equal groupings are equal arrays."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse.ravel()]


N_REFINED = 4
"""How many of the best base results are refined; they are alike, and each costs as much as a base run."""
MAX_ROUNDS = 4
"""Rounds of moves and merges; they end earlier where the description gets no shorter."""
MAX_SWEEPS = 10
"""Sweeps over all nodes in one round."""
N_BATCHES = 20
"""Parts of a sweep; the nodes of one part move at once, so that whole arrays are worked on."""
MERGED_AT_ONCE = 8
"""One group in this number merges before all pairs are compared again."""


def best_refined(links: Links, groupings: Sequence[IntArray], rng: np.random.Generator) -> list[IntArray]:
    """The best few of the groupings, refined, best first; each once.

    Parameters
    ----------
    links : Links
        The network.
    groupings : sequence of (m,) int arrays
        Labels from 0, none missing.
    rng : Generator
        Decides the order of the nodes.

    Returns
    -------
    list of (m,) int arrays
        Only those that save nats, or the best one.
    """
    distinct = list({labels.tobytes(): labels for labels in groupings if labels.max(initial=0) > 0}.values())
    gains = [description_gain(links, labels) for labels in distinct]
    order = sorted(range(len(distinct)), key=lambda k: -gains[k])[:N_REFINED]
    refined = {labels.tobytes(): (gain, labels) for labels, gain in (refine(links, distinct[k], rng) for k in order)}
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
        best, saved = changed, gain
    return best, saved


def move_nodes(links: Links, labels: IntArray, rng: np.random.Generator) -> IntArray:
    """Every node goes to the group, among its neighbours' groups, that makes the network shortest to describe."""
    labels = compact(labels)
    nodes = np.flatnonzero(links.linked)
    for _ in range(MAX_SWEEPS):
        labels = compact(labels)
        inside, between = links.rates(labels)
        if labels.max() == 0 or inside <= between:
            break
        number, degree, _ = links.tally(labels)
        changed = 0
        for batch in np.array_split(rng.permutation(nodes), min(N_BATCHES, nodes.size)):
            node, group, score = _scores(links, batch, labels, number, degree, (inside, between))
            order = np.lexsort((score, node))
            last = order[np.flatnonzero(np.append(np.diff(node[order]) > 0, True))]
            here, old, new = batch, labels[batch], group[last]
            moved = new != old
            here, old, new = here[moved], old[moved], new[moved]
            number += np.bincount(new, minlength=number.size) - np.bincount(old, minlength=number.size)
            weight = links.degree[here]
            degree += np.bincount(new, weight, number.size) - np.bincount(old, weight, number.size)
            labels[here] = new
            changed += here.size
        if changed <= nodes.size // 1000:
            break
    return compact(labels)


def node_certainty(links: Links, labels: IntArray) -> float:
    """Mean over the nodes of the probability of the likeliest group, all other nodes being where they are."""
    nodes = np.flatnonzero(links.linked)
    number, degree, _ = links.tally(labels)
    node, _, score = _scores(links, nodes, labels, number, degree, links.rates(labels))
    top = np.full(nodes.size, -np.inf)
    np.maximum.at(top, node, score)
    return float((1.0 / np.bincount(node, np.exp(score - top[node]))).mean())


def _scores(
    links: Links, batch: IntArray, labels: IntArray, number: FloatArray, degree: FloatArray, rates: tuple[float, float]
) -> tuple[IntArray, IntArray, FloatArray]:
    """Pairs of a node of the batch and a group that it is in or linked to, and the log odds of the node there."""
    inside, between = rates
    rows, m = links.adjacency[batch], labels.size
    here = np.repeat(np.arange(batch.size), np.diff(rows.indptr))
    keys = np.concatenate([here * m + labels[rows.indices], np.arange(batch.size) * m + labels[batch]])
    pairs, inverse = np.unique(keys, return_inverse=True)
    values = np.concatenate([rows.data, np.zeros(batch.size)])
    weight = np.bincount(inverse.ravel(), values, minlength=pairs.size)
    node, group = np.divmod(pairs, m)
    own = group == labels[batch][node]
    mine = links.degree[batch][node]
    chance = (inside - between) / (2.0 * links.total) * mine * (degree[group] - own * mine)
    size = np.log(np.maximum(number[group] + ~own, 1.0))
    stays = 1e-9 * own  # ties change nothing
    return node, group, np.log(inside / between) * weight - chance + size + stays


def merge_groups(links: Links, labels: IntArray) -> IntArray:
    """Linked groups merge where that saves nats, the best pairs first."""
    labels = compact(labels)
    while labels.max() > 1:
        left, right, saved = merge_gains(links, labels)
        order = np.argsort(-saved, kind="stable")
        order = order[saved[order] > 0]
        if order.size == 0:
            break
        to = np.arange(int(labels.max()) + 1)
        free, merged = np.ones(to.size, bool), 0
        for pair in order:
            a, b = left[pair], right[pair]
            if free[a] and free[b]:
                to[b], free[a], free[b] = a, False, False
                merged += 1
            if merged * MERGED_AT_ONCE >= to.size:
                break
        labels = compact(to[labels])
    return labels
