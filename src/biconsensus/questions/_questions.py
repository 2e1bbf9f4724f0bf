"""`next_question` and `answer`: which pair to ask a person about, and the consensus that follows from the answers.

What is believed of the groups is in `_beliefs`: pieces of the groups, and sets of pieces. A question is whether two
sets are one, whether a piece is rightly in its set, or whether a piece is one or two. The next one is that by which the
most elements would change, times the probability that they do; it is put as a pair of typical elements.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from biconsensus._checks import check_indices
from biconsensus.errors import InputError
from biconsensus.protocols import IntArray
from biconsensus.questions._answers import checked, respecting
from biconsensus.questions._beliefs import Beliefs
from biconsensus.questions._tree import RowTree, first_of_rows, shared_share
from biconsensus.result._consensus import Answered, Consensus
from biconsensus.result._regrouped import regrouped

MOST_ASKED = 5
"""Pairs of typical elements that are asked about the same two sides."""
WORTH_ASKING = 0.05
"""Elements that must be expected to change, or there is nothing left to ask."""


@dataclass(frozen=True)
class Question:
    """Do two elements belong together? With what is known about both."""

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
            f"Do {self.ids[0]} and {self.ids[1]} belong together? {self.together:.0%} of the sources say so; "
            f"it is about {self.sizes[0]:,} and {self.sizes[1]:,} elements like them."
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
    tree = tree_of(_base(consensus))
    known = {frozenset((i, j)) for i, j, _ in consensus.answers} | {frozenset((int(i), int(j))) for i, j in skip}
    first = first_of_rows(tree.pool)
    for doubt in _doubts(Beliefs(tree, consensus.answers)):
        if doubt.change < WORTH_ASKING:
            return None
        ones, others = (first[tree.rows[tree.typical(side)[:MOST_ASKED]]] for side in doubt.sides)
        for attempt in range(MOST_ASKED):
            # the most typical two, then the next one of either side in turn
            one = int(ones[min((attempt + 1) // 2, ones.size - 1)])
            other = int(others[min(attempt // 2, others.size - 1)])
            if frozenset((one, other)) not in known:
                return _question(consensus, doubt, (one, other))
    return None


@dataclass(frozen=True)
class _Doubt:
    """Two sides that may belong together or not."""

    change: float
    """Elements that are expected to change."""
    probability: float
    """How probable it is that they belong together."""
    sizes: tuple[float, float]
    """Elements of either side."""
    sides: tuple[IntArray, IntArray]
    """Rows of the tree that stand for either side."""


def _doubts(beliefs: Beliefs) -> Iterator[_Doubt]:
    """Everything that could be asked, what would change most first."""
    tree, found = beliefs.tree, beliefs.partition
    k = tree.rows.size
    of_rows = found.piece[:k]
    inside = np.flatnonzero(tree.inside & (found.piece[k:] >= 0))
    smaller = tree.sizes[tree.children[inside]].min(axis=1)
    sets = (found.together == np.arange(int(found.together.max()) + 1)[:, None]).astype(float)
    of_sets = sets @ found.sizes
    one, other = np.triu_indices(len(sets), 1)
    apart = found.probability(sets, sets)[one, other]
    # pieces of sets of several, against the others of their set
    parts = np.flatnonzero(sets.sum(axis=1)[found.together] > 1)
    alone = np.eye(found.sizes.size)[parts]
    others = sets[found.together[parts]] - alone
    held = np.array([float(found.probability(a[None], b[None])[0, 0]) for a, b in zip(alone, others)])
    left = of_sets[found.together[parts]] - found.sizes[parts]
    change = np.concatenate(
        [
            (1.0 - found.kept[inside]) * smaller,
            apart * np.minimum(of_sets[one], of_sets[other]),
            (1.0 - held) * np.minimum(found.sizes[parts], left),
        ]
    )
    for place in np.argsort(-change, kind="stable"):
        if place < inside.size:
            a, b = tree.children[inside[place]]
            sides = tree.members(int(a)), tree.members(int(b))
            sizes = float(tree.sizes[a]), float(tree.sizes[b])
            probability = float(found.kept[inside[place]])
        else:
            if place < inside.size + one.size:
                pair = place - inside.size
                two, probability = (sets[one[pair]], sets[other[pair]]), float(apart[pair])
            else:
                part = place - inside.size - one.size
                two, probability = (alone[part], others[part]), float(held[part])
            sizes = float(two[0] @ found.sizes), float(two[1] @ found.sizes)
            # the largest piece of a set stands for it
            largest = [int((found.sizes * side).argmax()) for side in two]
            sides = np.flatnonzero(of_rows == largest[0]), np.flatnonzero(of_rows == largest[1])
        yield _Doubt(float(change[place]), probability, sizes, sides)


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
    tree = tree_of(base)
    of_leaves = Beliefs(tree, known).partition.labels(tree.rows.size)
    labels = _labels_of(base, tree, of_leaves)
    members = csr_array(
        (tree.counts, (np.arange(of_leaves.size), of_leaves)), shape=(of_leaves.size, int(of_leaves.max()) + 1)
    )
    named = np.unique([x for i, j, _ in known for x in (i, j)])
    near = shared_share(tree.pool, tree.pool.inverse[named].astype(np.int64), tree.rows) @ members
    near = near / np.maximum(np.asarray(members.sum(axis=0)).ravel(), 1e-300)
    placed = respecting(labels, known, seeds, dict(zip(named.tolist(), np.asarray(near))))
    labels = _with_twins(base, labels, placed, named)
    return replace(regrouped(base, labels, "answers"), answers=known, unanswered=base)


def _with_twins(base: Consensus, labels: IntArray, placed: IntArray, named: IntArray) -> IntArray:
    """Labels in which elements that no source tells from a named one that was moved, go with it.

    Where named elements of one row are at several places, the others stay where they were.
    """
    rows = base.pool.inverse[named]
    target = np.full(base.pool.rows.shape[0], -1)
    target[rows] = placed[named]
    several = rows[target[rows] != placed[named]]
    target[several] = -1
    twins = target[base.pool.inverse]
    return np.where((placed == labels) & (twins >= 0) & ~np.isin(np.arange(labels.size), named), twins, placed)


def _labels_of(base: Consensus, tree: RowTree, of_leaves: IntArray) -> IntArray:
    """(m,) groups of all elements, from the groups of the rows of the tree; elements in no group stay there."""
    of_rows = np.full(tree.groups.size, -1)
    for group in np.unique(tree.groups[tree.rows]):
        own = np.flatnonzero(tree.groups == group)
        here = np.unique(of_leaves[tree.groups[tree.rows] == group])
        # only in a group that was split does it matter which row of the tree a row is nearest to
        of_rows[own] = here[0] if here.size == 1 else of_leaves[tree.leaves_of(own)]
    labels = of_rows[base.pool.inverse]
    # elements that a search kept together can have another group than others of their row
    return np.where(base.labels < 0, -1, np.where(labels < 0, int(of_leaves.max(initial=-1)) + 1 + base.labels, labels))


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


def tree_of(base: Consensus) -> RowTree:
    """The tree of a consensus, made once."""
    known: RowTree | None = base.__dict__.get("_row_tree")
    if known is None:
        known = RowTree.of(base)
        base.__dict__["_row_tree"] = known
    return known
