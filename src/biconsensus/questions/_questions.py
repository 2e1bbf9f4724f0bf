"""`next_question` and `answer`: which pair to ask a person about, and the consensus that follows from the answers.

A joint of the tree of a consensus (see `_tree`) joins two branches. Whether they belong together is believed with a
probability: more of the sources put them together, or the consensus itself has them in one group. A level of agreement
from which branches belong together is learned from the answers, so that every answer says something about all joints;
an answer about two elements counts most for the joint at which they meet. The next question is about the joint at which
the most elements would change, times the probability that they do.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.special import betainc, expit, log_expit

from biconsensus._checks import check_indices
from biconsensus.errors import InputError
from biconsensus.protocols import FloatArray, IntArray
from biconsensus.questions._answers import checked, respecting
from biconsensus.questions._tree import RowTree, first_of_rows, shared_share
from biconsensus.result._consensus import Answered, Consensus
from biconsensus.result._regrouped import regrouped

LEVELS = np.linspace(0.0, 1.0, 101)
"""Levels of agreement from which branches may belong together: percents."""
SPREAD = 0.4
"""Scale of the logistic curve around the level. Of the joints of 45 pools with known groups, the share that belong
together rises that slowly with the agreement of the sources (benchmarks/tuning/questions.py)."""
TRUST = 1.0
"""Log odds for joints as the consensus has them, from the same table: joints of equal agreement belong together with
log odds about two higher where the consensus joins them."""
STRENGTH = 3.0
"""Answers that the belief before any answer is worth, because an answer can be about two untypical elements; 2 to 4
are a plateau (benchmarks/tuning/questions.py)."""
MOST_ASKED = 5
"""Questions about one joint: so many that agree settle it."""
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


@dataclass(frozen=True, eq=False)
class Beliefs:
    """What is believed of every joint of a tree, given answers."""

    tree: RowTree
    answers: tuple[Answered, ...]

    @cached_property
    def joints(self) -> IntArray:
        """(a,) the joint that each answer is about, -1 where its elements are one row of the tree or in no group."""
        elements = np.array([(i, j) for i, j, _ in self.answers], np.int64).reshape(-1, 2)
        rows = self.tree.pool.inverse[elements].astype(np.int64)
        found = np.full(len(rows), -1)
        inside = np.flatnonzero((self.tree.groups[rows] >= 0).all(axis=1))
        leaves = self.tree.leaves_of(rows[inside].ravel()).reshape(-1, 2)
        for k, (one, other) in zip(inside, leaves):
            if one >= 0 and other >= 0 and one != other:
                found[k] = self.tree.joint_of(int(one), int(other))
        return found

    @cached_property
    def votes(self) -> tuple[FloatArray, FloatArray]:
        """(j,) answers "together" and "apart" about each joint."""
        said, size = np.array([together for *_, together in self.answers], bool), len(self.tree.children)
        about = self.joints >= 0
        counted = [np.bincount(self.joints[about & (said == side)], minlength=size) for side in (True, False)]
        return counted[0].astype(float), counted[1].astype(float)

    @cached_property
    def odds(self) -> tuple[FloatArray, FloatArray]:
        """(j,) parameters of the beta distribution of the share of pairs across each joint that belong together."""
        tree, (yes, no) = self.tree, self.votes
        above = (tree.together[:, None] - LEVELS) / SPREAD
        smaller = tree.sizes[tree.children].min(axis=1)
        weight = STRENGTH * smaller / max(float(smaller.sum()), 1e-300)
        # the consensus speaks for a level as if it were a few answers
        told, denied = log_expit(above), log_expit(-above)
        before = weight @ np.where(tree.inside[:, None], told, denied)
        start = self._belief(above, before)
        belief = start if not self.answers else self._belief(above, before + yes @ told + no @ denied)
        # without answers the cut of the tree is the consensus itself
        anchor = np.where(tree.inside, np.maximum(start, 0.51), np.minimum(start, 0.49))
        share = np.clip(belief + anchor - start, 0.0, 1.0)
        return STRENGTH * share + yes, STRENGTH * (1.0 - share) + no

    def _belief(self, above: FloatArray, log_level: FloatArray) -> FloatArray:
        """(j,) probability that the branches of each joint belong together, over all levels."""
        level = np.exp(log_level - log_level.max())
        trust = np.where(self.tree.inside, TRUST, -TRUST)
        return np.asarray(expit(above + trust[:, None]) @ (level / level.sum()))

    @cached_property
    def change(self) -> FloatArray:
        """(j,) elements that the truth about each joint is expected to change."""
        yes, no = self.odds
        apart = betainc(np.maximum(yes, 1e-6), np.maximum(no, 1e-6), 0.5)
        smaller = self.tree.sizes[self.tree.children].min(axis=1)
        return np.asarray(np.where(yes > no, apart, 1.0 - apart) * smaller)

    def cut(self) -> IntArray:
        """(k,) groups of the rows of the tree: the cut with the most pairs as they are believed to be."""
        tree, (yes, no) = self.tree, self.odds
        k = tree.rows.size
        worth = (yes - no) / (yes + no) * tree.sizes[tree.children].prod(axis=1)
        whole, best = np.zeros(k + worth.size), np.zeros(k + worth.size)
        for joint, (a, b) in enumerate(tree.children, start=k):
            whole[joint] = whole[a] + whole[b] + worth[joint - k]
            best[joint] = max(whole[joint], best[a] + best[b])
        found, number = np.full(best.size, -1), 0
        for branch in range(best.size - 1, -1, -1):
            above = tree.parent[branch]
            if above >= 0 and found[above] >= 0:
                found[branch] = found[above]
            elif whole[branch] >= best[branch]:
                found[branch], number = number, number + 1
        return found[:k]


def next_question(consensus: Consensus, skip: Iterable[Sequence[int]] = ()) -> Question | None:
    """The pair of elements whose answer would settle most; None where nothing is left that is worth asking.

    Parameters
    ----------
    consensus : Consensus
        With disjoint groups, and with the answers that it has had.
    skip : iterable of pairs of int
        Pairs that a person could not answer.
    """
    base = _base(consensus)
    beliefs = Beliefs(tree_of(base), consensus.answers)
    tree = beliefs.tree
    skipped = [Answered(int(i), int(j), True) for i, j in skip]
    yes, no = beliefs.votes
    asked = yes + no + sum(Beliefs(tree, tuple(skipped)).votes)
    known = {frozenset((i, j)) for i, j, _ in (*consensus.answers, *skipped)}
    first = first_of_rows(tree.pool)
    change = np.where(asked < MOST_ASKED, beliefs.change, 0.0)
    for joint in np.argsort(-change, kind="stable"):
        if change[joint] < WORTH_ASKING:
            break
        for attempt in range(int(asked[joint]), MOST_ASKED):
            one, other = (int(first[tree.rows[_example(tree, b, attempt)]]) for b in tree.children[joint])
            if frozenset((one, other)) not in known:
                return _question(consensus, beliefs, int(joint), (one, other))
    return None


def _example(tree: RowTree, branch: int, attempt: int) -> int:
    """A row of a branch: its most central one at first, then that of its larger half, of the other half, and so on."""
    halves = [branch]
    for place in range(attempt):
        split = halves[min(place // 2, len(halves) - 1)]
        if split >= tree.rows.size:
            halves += sorted(tree.children[split - tree.rows.size].tolist(), key=lambda b: -float(tree.sizes[b]))
    return tree.central(halves[min(attempt, len(halves) - 1)])


def _question(consensus: Consensus, beliefs: Beliefs, joint: int, pair: tuple[int, int]) -> Question:
    """What is known about two elements and the branches that they stand for."""
    tree, pool, (i, j) = beliefs.tree, consensus.pool, pair
    yes, no = beliefs.odds
    a, b = tree.children[joint]
    ids = (i, j) if pool.ids is None else (pool.ids[i], pool.ids[j])
    rows = pool.inverse[[i, j]].astype(np.int64)
    return Question(
        elements=pair,
        ids=ids,
        groups=(int(consensus.labels[i]), int(consensus.labels[j])),
        backing=(float(consensus.backing[i]), float(consensus.backing[j])),
        together=float(shared_share(pool, rows[:1], rows[1:])[0, 0]),
        sizes=(round(float(tree.sizes[a])), round(float(tree.sizes[b]))),
        probability=float(yes[joint] / (yes[joint] + no[joint])),
        expected_change=float(beliefs.change[joint]),
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
    of_leaves = Beliefs(tree, known).cut()
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
