"""Groupings of a network made shorter to describe: nodes move to better groups, groups merge."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from biconsensus.protocols import FloatArray, IntArray
from biconsensus.significance._description import Links, compact, description_gain, merge_gains

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
