"""`next_question` and `answer`: which pair to ask a person about, and the consensus that follows from the answers.

What is believed of every two rows is in `_beliefs`. A question is whether two groups are one, or whether a group is one
or two. The next one is that which settles the most elements that are expected to be at a wrong place, put as the pair
of elements that stands for the most of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, islice
from typing import Any

import numpy as np

from biconsensus._checks import check_indices
from biconsensus.errors import InputError
from biconsensus.pool._pool import first_of_rows
from biconsensus.protocols import FloatArray, IntArray
from biconsensus.questions._answers import checked, respecting
from biconsensus.questions._beliefs import Beliefs
from biconsensus.questions._rows import Rows, shared_share
from biconsensus.result._consensus import Answered, Consensus
from biconsensus.result._regrouped import regrouped

MOST_DOUBTS = 10
"""Doubts, the largest first, for which the best pair is looked for: bounds time, and smaller ones settle less."""
WORTH_ASKING = 0.05
"""Elements that must be expected to change, or there is nothing left to ask."""


@dataclass(frozen=True)
class Question:
    """Do two elements belong together? With what is known about both.

    Examples
    --------
    >>> import biconsensus as bc
    >>> halves, thirds = [0] * 8 + [1] * 8, [0] * 4 + [1] * 4 + [2] * 8
    >>> question = bc.find_consensus([halves] * 3 + [thirds] * 2).next_question()
    >>> question.elements, question.together, question.sizes
    ((0, 4), 0.6, (4, 4))
    """

    elements: tuple[int, int]
    """The two elements: `answer` takes them."""
    ids: tuple[Any, Any]
    """The user's own names of them; the numbers where there are none."""
    groups: tuple[int, int]
    """Their groups today."""
    backing: tuple[float, float]
    """Of the candidates behind its group that saw it, the share that holds each of them."""
    together: float
    """Share of the sources that put them together, of those that saw both."""
    sizes: tuple[int, int]
    """About how many elements are like the one and like the other: those that the answer is about."""
    probability: float
    """How probable "together" is."""
    expected_change: float
    """About how many elements are expected to change their group by the answer."""

    def __str__(self) -> str:
        """The question for a person."""
        return (
            f"Do {self.ids[0]} and {self.ids[1]} belong together? {self.together:.0%} of the sources say so. "
            f"The answer counts for {self.sizes[0]:,} and {self.sizes[1]:,} elements like them."
        )


def next_question(consensus: Consensus, skip: Iterable[Sequence[int]] = ()) -> Question | None:
    """The pair of elements whose answer would settle most; None where nothing is left that is worth asking.

    Parameters
    ----------
    consensus : Consensus
        With disjoint groups, and with the answers that it has had.
    skip : iterable of pairs of int
        Pairs that a person could not answer.
    """
    beliefs = Beliefs(rows_of(_base(consensus)), consensus.answers)
    known = {frozenset((int(i), int(j))) for i, j in skip} | _implied(beliefs)
    first = first_of_rows(consensus.pool)[beliefs.rows.rows]
    best: tuple[_Doubt, tuple[int, int]] | None = None
    for doubt in islice(_doubts(beliefs), MOST_DOUBTS):
        if doubt.change < (WORTH_ASKING if best is None else best[0].change):
            break
        settled = _settled(beliefs, doubt)
        for place in np.argsort(-settled, axis=None, kind="stable"):
            one, other = divmod(int(place), doubt.sides[1].size)
            pair = int(first[doubt.sides[0][one]]), int(first[doubt.sides[1][other]])
            if frozenset(pair) not in known:
                change = float(settled[one, other])
                if change >= WORTH_ASKING and (best is None or change > best[0].change):
                    best = replace(doubt, change=change), pair
                break
    return None if best is None else _question(consensus, *best)


def _implied(beliefs: Beliefs) -> set[frozenset[int]]:
    """Pairs of named elements of which the answer is known, or follows from others."""
    sets = beliefs.sets
    inside = {frozenset(pair) for members in sets for pair in combinations(members, 2)}
    return inside | {frozenset((i, j)) for one, other in beliefs.apart for i in sets[one] for j in sets[other]}


@dataclass(frozen=True)
class _Doubt:
    """Two sides that may belong together or not."""

    change: float
    """Elements that are expected to change, at most."""
    probability: float
    """How probable it is that they belong together."""
    sizes: tuple[float, float]
    """Elements of either side."""
    sides: tuple[IntArray, IntArray]
    """Rows of either side."""
    joined: bool
    """Whether they are together today."""


def _doubts(beliefs: Beliefs) -> Iterator[_Doubt]:
    """Everything that could be asked, what would change most first."""
    tree, counts = beliefs.branches, beliefs.rows.counts
    inside = np.flatnonzero(tree.inside)
    members = np.zeros((counts.size, int(tree.labels.max()) + 1))
    members[np.arange(counts.size), tree.labels] = counts
    sizes = members.sum(axis=0)
    one, other = np.triu_indices(sizes.size, 1)
    between = ((members / sizes).T @ beliefs.together @ (members / sizes))[one, other]
    change = np.concatenate(
        [
            (1.0 - tree.together[inside]) * tree.sizes[tree.children[inside]].min(axis=1),
            between * np.minimum(sizes[one], sizes[other]),
        ]
    )
    for place in np.argsort(-change, kind="stable"):
        if place < inside.size:
            a, b = tree.children[inside[place]]
            sides, probability = (tree.members[a], tree.members[b]), float(tree.together[inside[place]])
        else:
            pair = place - inside.size
            sides = np.flatnonzero(tree.labels == one[pair]), np.flatnonzero(tree.labels == other[pair])
            probability = float(between[pair])
        of_sides = float(counts[sides[0]].sum()), float(counts[sides[1]].sum())
        yield _Doubt(float(change[place]), probability, of_sides, sides, bool(place < inside.size))


def _settled(beliefs: Beliefs, doubt: _Doubt) -> FloatArray:
    """(a, b) elements that are expected to be at a wrong place and that an answer about each pair would settle."""
    one, other = doubt.sides
    together, counts = beliefs.together, beliefs.rows.counts
    across = together[np.ix_(one, other)]
    wrong = (1.0 - across if doubt.joined else across) * np.outer(counts[one], counts[other])
    carried = []
    for side in doubt.sides:
        like = beliefs.beyond_chance(together[np.ix_(side, side)])
        np.fill_diagonal(like, 1.0)
        carried.append(like)
    return np.asarray(carried[0] @ wrong @ carried[1] / max(doubt.sizes))


def _question(consensus: Consensus, doubt: _Doubt, pair: tuple[int, int]) -> Question:
    """What is known about two elements and the sides that they stand for."""
    pool, (i, j) = consensus.pool, pair
    ids = (i, j) if pool.ids is None else (pool.ids[i], pool.ids[j])
    rows = pool.inverse[[i, j]].astype(np.int64)
    return Question(
        elements=pair,
        ids=ids,
        groups=(int(consensus.labels[i]), int(consensus.labels[j])),
        backing=(float(consensus.backing[i]), float(consensus.backing[j])),
        together=float(shared_share(pool, rows[:1], rows[1:])[0, 0]),
        sizes=(round(doubt.sizes[0]), round(doubt.sizes[1])),
        probability=doubt.probability,
        expected_change=doubt.change,
    )


def answer(consensus: Consensus, i: int, j: int, together: bool) -> Consensus:
    """The consensus that follows from one more answer."""
    one, other = (int(x) for x in check_indices("i, j", [i, j], consensus.pool.shape[0]))
    if one == other:
        raise InputError(f"i and j are both {one}; a question is about two elements.")
    if not isinstance(together, (bool, np.bool_)):
        raise InputError(f"together: received {together!r}; True (they belong together) and False are allowed.")
    return with_answers(_base(consensus), (*consensus.answers, Answered(one, other, bool(together))))


def withdraw(consensus: Consensus, i: int, j: int) -> Consensus:
    """The consensus without what was said of two elements."""
    left = tuple(one for one in consensus.answers if {one.i, one.j} != {i, j})
    if len(left) == len(consensus.answers):
        raise InputError(f"i, j: nothing was answered about {i} and {j}; `answers` lists what was.")
    return with_answers(_base(consensus), left)


def with_answers(base: Consensus, answers: Iterable[Answered]) -> Consensus:
    """A consensus without answers, and what follows from all of them; their order does not matter."""
    seeds: list[list[int]] = base.asked.get("together", [])
    known = checked(answers, seeds)
    if not known:
        return base
    rows = rows_of(base)
    beliefs = Beliefs(rows, known)
    of_rows = beliefs.branches.labels
    near = dict(zip(beliefs.named.tolist(), beliefs.near(of_rows)))
    labels = respecting(_labels_of(base, rows, of_rows), known, seeds, near)
    return replace(regrouped(base, labels, "answers"), answers=known, unanswered=base)


def _labels_of(base: Consensus, rows: Rows, found: IntArray) -> IntArray:
    """(m,) groups of all elements, from the groups `found` of the rows that stand for them; -1 stays -1."""
    of_rows = np.full(rows.groups.size, -1)
    for group in np.unique(rows.groups[rows.rows]):
        own = np.flatnonzero(rows.groups == group)
        here = np.unique(found[rows.groups[rows.rows] == group])
        # only in a group that was split does it matter which row a row is nearest to
        of_rows[own] = here[0] if here.size == 1 else found[rows.nearest(own)]
    labels = of_rows[base.pool.inverse]
    # an element that a search kept together with others can be in another group than the rest of its row
    return np.where(base.labels < 0, -1, np.where(labels < 0, int(found.max(initial=-1)) + 1 + base.labels, labels))


def _base(consensus: Consensus) -> Consensus:
    """The consensus before any answer."""
    if consensus.settings.get("overlap"):
        raise InputError("consensus: its groups may overlap; questions are about disjoint groups.")
    if not len(consensus):
        raise InputError("consensus: it has no group to ask about; its summary says why.")
    if not consensus.answers:
        return consensus
    assert consensus.unanswered is not None
    return consensus.unanswered


def rows_of(base: Consensus) -> Rows:
    """The rows of a consensus that questions are about, drawn and compared once."""
    known: Rows | None = base.__dict__.get("_question_rows")
    if known is None:
        known = Rows.of(base)
        base.__dict__["_question_rows"] = known
    return known
