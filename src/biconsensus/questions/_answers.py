"""Answers of a person: what follows from them, what contradicts them, and the groups that respect them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from biconsensus.errors import InputError
from biconsensus.protocols import FloatArray, IntArray
from biconsensus.result._consensus import Answered


def checked(answers: Iterable[Answered], seeds: Iterable[Sequence[int]] = ()) -> tuple[Answered, ...]:
    """Answers, each pair once; an error names the pairs if answers contradict each other, also through other pairs.

    Parameters
    ----------
    answers : iterable of Answered
        In any order.
    seeds : iterable of sequences of int
        Elements that the search kept together.

    Examples
    --------
    >>> checked([Answered(0, 1, True), Answered(2, 1, True), Answered(0, 2, False)])
    Traceback (most recent call last):
    ...
    biconsensus.errors.InputError: answers contradict: 0 and 2 are apart, but 0 and 1 are together, 1 and 2 are
    together; withdraw one of them.
    """
    kept: dict[tuple[int, int], bool] = {}
    for i, j, together in answers:
        pair = (min(i, j), max(i, j))
        if kept.setdefault(pair, together) != together:
            raise InputError(
                f"answers contradict: {pair[0]} and {pair[1]} are both together and apart; withdraw one of them."
            )
    links: dict[int, set[int]] = {}
    tied = [pair for pair, together in kept.items() if together]
    for seed in seeds:
        first, *others = seed
        tied += [(first, other) for other in others]
    for i, j in tied:
        links.setdefault(i, set()).add(j)
        links.setdefault(j, set()).add(i)
    for (i, j), together in kept.items():
        chain = [] if together else _chain(links, i, j)
        if chain:
            said = ", ".join(f"{min(pair)} and {max(pair)} are together" for pair in chain)
            raise InputError(f"answers contradict: {i} and {j} are apart, but {said}; withdraw one of them.")
    return tuple(Answered(i, j, kept[i, j]) for i, j in sorted(kept))


def _chain(links: dict[int, set[int]], start: int, end: int) -> list[tuple[int, int]]:
    """Shortest chain of pairs from one element to another; empty where there is none."""
    came: dict[int, int] = {start: start}
    queue = deque([start])
    while queue and end not in came:
        here = queue.popleft()
        for there in sorted(links.get(here, ())):
            if there not in came:
                came[there] = here
                queue.append(there)
    chain = []
    while end in came and end != start:
        chain.append((came[end], end))
        end = came[end]
    return chain[::-1]


def components(answers: Iterable[Answered], seeds: Iterable[Sequence[int]] = ()) -> list[list[int]]:
    """Elements that must be together, directly or by way of others; an element that must only be apart is a set too."""
    ties = [(i, j) for i, j, together in answers if together] + [(seed[0], x) for seed in seeds for x in seed]
    named = np.unique([x for i, j, _ in answers for x in (i, j)] + [x for pair in ties for x in pair])
    pairs = np.searchsorted(named, np.array(ties, np.int64).reshape(-1, 2))
    graph = coo_array((np.ones(len(pairs)), pairs.T), shape=(named.size, named.size))
    _, part = connected_components(graph, directed=False)
    return [named[part == k].tolist() for k in range(int(part.max(initial=-1)) + 1)]


def respecting(
    labels: IntArray, answers: tuple[Answered, ...], seeds: Sequence[Sequence[int]], near: Mapping[int, FloatArray]
) -> IntArray:
    """Labels in which every answer is respected, and few elements are moved.

    Elements that must be together go where most of them are, unless something that they must not meet is there; then
    to the group with which they are most probably together, and where they are more probably apart from all others, to
    a group of their own. The largest sets choose first, among equals the one that is nearest to its group.

    Parameters
    ----------
    labels : (m,) array of int
        Groups before.
    answers : tuple of Answered
        They do not contradict.
    seeds : sequence of sequences of int
        Elements that the search kept together.
    near : mapping of int to (T,) array
        For each element of an answer, the probability that it belongs to each group.

    Returns
    -------
    (m,) array of int
    """
    labels = labels.copy()
    sets = components(answers, seeds)
    owner = {x: k for k, members in enumerate(sets) for x in members}
    foes: dict[int, set[int]] = {}
    for i, j, together in answers:
        if not together:
            foes.setdefault(owner[i], set()).add(owner[j])
            foes.setdefault(owner[j], set()).add(owner[i])
    n_groups = int(labels.max(initial=-1)) + 1
    wish = []
    for members in sets:
        own = labels[members]
        votes = np.bincount(own[own >= 0], minlength=n_groups).astype(float)
        # members count first; how near they are only decides between groups with as many of them
        close = np.zeros(n_groups)
        known = [near[x] for x in members if x in near]
        if known:
            close[: known[0].size] = np.mean(known, axis=0)
        wish.append(votes + np.where(close > 0.5, close, 0.0) / 2)
    place: dict[int, int] = {}
    for k in sorted(range(len(sets)), key=lambda k: (-len(sets[k]), -wish[k].max(initial=0.0), sets[k][0])):
        taken = {place[foe] for foe in foes.get(k, ()) if foe in place}
        best = next((int(g) for g in np.argsort(-wish[k], kind="stable") if wish[k][g] > 0 and g not in taken), None)
        if best is None:
            best, n_groups = n_groups, n_groups + 1
        place[k] = best
        labels[sets[k]] = best
    return labels
