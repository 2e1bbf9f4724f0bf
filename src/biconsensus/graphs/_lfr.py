"""Benchmark networks in the manner of Lancichinetti, Fortunato and Radicchi (2008), a million edges in seconds."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.sparse import coo_array, csr_array

from biconsensus.errors import InputError
from biconsensus.graphs._graph import Graph
from biconsensus.protocols import BoolArray, FloatArray, IntArray

__all__ = ["Benchmark", "lfr_network"]

REPAIRS = 10
"""Rounds of rewiring of double links and self-loops; what is left then is dropped."""


class Benchmark(NamedTuple):
    """A network and its planted communities."""

    graph: Graph
    labels: IntArray
    """(m,) planted community of each node, from 0."""


def lfr_network(
    n_nodes: int,
    mixing: float,
    average_degree: float,
    *,
    max_degree: int | None = None,
    communities: tuple[int, int] = (20, 80),
    degree_exponent: float = 3.0,
    size_exponent: float = 1.5,
    random_state: int | None = None,
) -> Benchmark:
    """Make a network with power laws of degrees and of community sizes.

    Parameters
    ----------
    n_nodes : int
        Number of nodes (m).
    mixing : float in [0, 1]
        Share of the links of a node that leave its community.
    average_degree : float
        Mean degree aimed at.
    max_degree : int, optional
        Largest degree; by default 3.3 times the mean.
    communities : (int, int)
        Smallest and largest community.
    degree_exponent, size_exponent : float
        Exponents of the two power laws.
    random_state : int, optional
        Seed.

    Returns
    -------
    Benchmark

    Notes
    -----
    Not the published program: stubs are paired at random inside communities and between them, pairs that are loops,
    repeats, or inside a community by accident are shuffled again a few times, and the few that remain are left out.

    Examples
    --------
    >>> from biconsensus.graphs import lfr_network
    >>> graph, labels = lfr_network(500, 0.2, 10, random_state=0)
    >>> graph.n_nodes, 2200 < graph.n_edges < 2700
    (500, True)
    """
    if not 0 <= mixing <= 1:
        raise InputError(f"mixing: received {mixing!r}; allowed is 0 to 1")
    low, high = communities
    if not 2 <= low <= high or low > n_nodes:
        raise InputError(
            f"communities: received {communities!r}; give 2 <= smallest <= largest, smallest at most {n_nodes}"
        )
    rng = np.random.default_rng(random_state)
    top = round(3.3 * average_degree) if max_degree is None else max_degree
    degrees = _degrees(n_nodes, average_degree, top, degree_exponent, rng)
    inner = _rounded((1.0 - mixing) * degrees.astype(np.float64), rng)
    sizes = _sizes(n_nodes, low, high, size_exponent, rng)
    labels = _placed(inner, sizes, rng)
    inner = np.minimum(inner, sizes[labels] - 1)
    left, right = _paired(inner, labels, rng)
    inside = _repaired(left, right, labels, rng, within=True)
    left, right = _paired(degrees - inner, np.zeros(n_nodes, np.int64), rng)
    between = _repaired(left, right, labels, rng, within=False)
    ends = np.concatenate([np.stack(inside), np.stack(between)], axis=1)
    half = coo_array((np.ones(ends.shape[1]), (ends[0], ends[1])), shape=(n_nodes, n_nodes))
    adjacency = csr_array(half + half.T)
    adjacency.sort_indices()
    return Benchmark(Graph(adjacency, list(range(n_nodes))), labels)


def _degrees(n: int, mean: float, top: int, exponent: float, rng: np.random.Generator) -> IntArray:
    """Degrees from a power law between the lower end that gives this mean and `top`."""
    if not 1 <= mean < top:
        raise InputError(f"average_degree: received {mean!r}; it must be at least 1 and below max_degree, {top}")
    uniform = (np.arange(2000) + 0.5) / 2000
    if _power_law(uniform, 1.0, top, exponent).mean() >= mean:
        lower = 1.0
    else:
        lower = brentq(lambda x: _power_law(uniform, x, top, exponent).mean() - mean, 1.0, top)
    return np.maximum(1, _rounded(_power_law(rng.random(n), lower, top, exponent), rng))


def _power_law(uniform: FloatArray, low: float, high: float, exponent: float) -> FloatArray:
    """Inverse distribution function of a power law between two ends."""
    if exponent == 1.0:
        return np.asarray(low * (high / low) ** uniform)
    power = 1.0 - exponent
    return np.asarray((low**power + uniform * (high**power - low**power)) ** (1.0 / power))


def _rounded(values: FloatArray, rng: np.random.Generator) -> IntArray:
    """Whole numbers above or below, right on average."""
    return np.floor(values + rng.random(values.size)).astype(np.int64)


def _sizes(n: int, low: int, high: int, exponent: float, rng: np.random.Generator) -> IntArray:
    """Community sizes from a power law that sum up to n."""
    drawn: list[int] = []
    while (rest := n - sum(drawn)) > 0:
        size = int(_rounded(_power_law(rng.random(1), low, high, exponent), rng)[0])
        drawn.append(min(size, rest))
    sizes = np.array(drawn)
    if sizes[-1] < low and sizes.size > 1:
        short, sizes = int(sizes[-1]), sizes[:-1]
        sizes += np.bincount(rng.integers(sizes.size, size=short), minlength=sizes.size)
    return sizes


def _placed(inner: IntArray, sizes: IntArray, rng: np.random.Generator) -> IntArray:
    """Communities of the nodes; a node with many inner links goes to one that is large enough, where there is room."""
    labels = np.empty(inner.size, np.int64)
    largest_first = np.argsort(-sizes, kind="stable")
    slots = np.repeat(largest_first, sizes[largest_first])
    slot_rank = np.repeat(np.arange(sizes.size), sizes[largest_first])
    # communities of this rank or later are too small for the node
    too_small = np.searchsorted(-sizes[largest_first], -inner, side="left")
    free = np.ones(slots.size, bool)
    for rank in np.unique(too_small):
        block = np.flatnonzero(too_small == rank)
        room = np.flatnonzero(free & (slot_rank < rank))
        if room.size < block.size:
            room = np.flatnonzero(free)[: block.size]
        chosen = rng.choice(room, size=block.size, replace=False)
        labels[block] = slots[chosen]
        free[chosen] = False
    return labels


def _paired(stubs: IntArray, groups: IntArray, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """Random pairs of stubs within each group; the odd one of a group is left out."""
    owner = np.repeat(np.arange(stubs.size), stubs)
    owner = owner[np.lexsort((rng.random(owner.size), groups[owner]))]
    counts = np.bincount(groups[owner], minlength=int(groups.max()) + 1)
    place = np.arange(owner.size) - np.repeat(np.cumsum(counts) - counts, counts)
    owner = owner[place < np.repeat(counts - counts % 2, counts)]
    return owner[::2], owner[1::2]


def _repaired(
    left: IntArray, right: IntArray, labels: IntArray, rng: np.random.Generator, within: bool
) -> tuple[IntArray, IntArray]:
    """Pairs without loops, repeats and (between communities) pairs of one community, after a few reshuffles."""
    left, right = left.copy(), right.copy()
    for _ in range(REPAIRS):
        bad = np.flatnonzero(_is_bad(left, right, labels, within))
        if bad.size == 0:
            break
        _reshuffle(left, right, bad, labels, rng, within)
    good = ~_is_bad(left, right, labels, within)
    return left[good], right[good]


def _is_bad(left: IntArray, right: IntArray, labels: IntArray, within: bool) -> BoolArray:
    """Loops, later copies of a pair, and pairs of one community where links should leave it."""
    key = np.minimum(left, right) * labels.size + np.maximum(left, right)
    bad = np.ones(left.size, bool)
    bad[np.unique(key, return_index=True)[1]] = False
    bad |= left == right
    return bad if within else bad | (labels[left] == labels[right])


def _reshuffle(
    left: IntArray, right: IntArray, bad: IntArray, labels: IntArray, rng: np.random.Generator, within: bool
) -> None:
    """Mix the right ends of bad pairs with as many right ends of good pairs, in place; within communities if asked."""
    extra = rng.integers(left.size, size=4 * bad.size + 10)
    if within:
        extra = extra[np.isin(labels[left[extra]], labels[left[bad]])]
    mixed = np.unique(np.append(bad, extra))
    groups = labels[left[mixed]] if within else np.zeros(mixed.size, np.int64)
    before = np.lexsort((np.arange(mixed.size), groups))
    after = np.lexsort((rng.random(mixed.size), groups))
    moved = right[mixed]
    moved[before] = right[mixed][after]
    right[mixed] = moved
