"""What is believed of the groups of a person, given the sources and the answers.

A group of the consensus is cut into pieces where an answer, or what was learned from answers, says so: at joints of the
tree inside the group. Which pieces belong together is then not a matter of the tree. Every two of them are believed to
be together with a probability that rises with the share of the sources that put them together, and every answer about
elements of the two speaks for it or against it. Pieces that belong together are one set, and what is said of one of
them counts for the set.

Two things are learned from the answers: the level of agreement from which branches belong together, and how often an
answer is about two untypical elements, so that it does not hold for those that are like them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.special import expit, log_expit, logit

from biconsensus.protocols import BoolArray, FloatArray, IntArray
from biconsensus.questions._tree import RowTree
from biconsensus.result._consensus import Answered

LEVELS = np.linspace(0.0, 1.0, 101)
"""Levels of agreement from which branches may belong together: percents."""
AGREEMENTS = np.linspace(0.0, 1.0, 1001)
"""Agreements for which a belief is worked out; those between are interpolated."""
SPREAD = 0.4
"""Scale of the logistic curve around the level. Of the joints of 45 pools with known groups, the share that belong
together rises that slowly with the agreement of the sources (benchmarks/tuning/questions.py)."""
TRUST = 1.0
"""Log odds for joints as the consensus has them, from the same table: joints of equal agreement belong together with
log odds about two higher where the consensus joins them."""
STRENGTH = 3.0
"""Answers that the consensus itself is worth when the level is learned; 2 to 4 are a plateau (the same script)."""
SURE = 0.98
"""Largest probability without an answer, and one minus the smallest: a few answers must be able to change any."""
UNTYPICAL = 1.0, 20.0
"""How often an answer is about untypical elements, before any: one in twenty, as if twenty answers had been looked at.
Of one in ten and two in twenty neither does better (the same script)."""
MOST_UNTYPICAL = 0.4
"""Largest such share that is believed: an answer never speaks against itself."""
LEARNING_ROUNDS = 3
"""Bound of the rounds in which that share is learned; it mostly stays after two."""


@dataclass(frozen=True, eq=False)
class Partition:
    """Pieces of the tree, and which of them are together."""

    piece: IntArray
    """(k + j,) the piece of each branch of the tree; -1 for branches of several pieces."""
    together: IntArray
    """(p,) the set of each piece."""
    sizes: FloatArray
    """(p,) elements of each piece."""
    kept: FloatArray
    """(j,) probability that each joint inside a group is rightly joined."""
    before: FloatArray
    """(p, p) probability without answers that two pieces belong together."""
    yes: FloatArray
    no: FloatArray
    """(p, p) answers "together" and "apart" about elements of two pieces."""
    weight: float
    """Log odds that one answer is worth."""

    def probability(self, one: FloatArray, other: FloatArray) -> FloatArray:
        """(a, b) probability that sets of pieces, given by their (a, p) and (b, p) indicators, belong together.

        What was said of two pieces counts as much as they are large.
        """
        pairs = np.outer(self.sizes, self.sizes)
        asked = self.yes + self.no
        prior = (one @ (pairs * self.before) @ other.T) / np.maximum(one @ pairs @ other.T, 1e-300)
        said = (one @ (pairs * (self.yes - self.no)) @ other.T) / np.maximum(one @ (pairs * asked) @ other.T, 1e-300)
        return np.asarray(expit(logit(np.clip(prior, 1e-6, 1 - 1e-6)) + self.weight * said * (one @ asked @ other.T)))

    def labels(self, n_rows: int) -> IntArray:
        """(k,) the set of each row of the tree."""
        return self.together[self.piece[:n_rows]]


@dataclass(frozen=True, eq=False)
class Beliefs:
    """What is believed of a tree, given answers."""

    tree: RowTree
    answers: tuple[Answered, ...]

    @cached_property
    def leaves(self) -> IntArray:
        """(a, 2) rows of the tree that the elements of each answer are, -1 for elements in no group."""
        elements = np.array([(i, j) for i, j, _ in self.answers], np.int64).reshape(-1, 2)
        rows = self.tree.pool.inverse[elements].astype(np.int64)
        found = np.full(rows.shape, -1)
        inside = (self.tree.groups[rows] >= 0).all(axis=1)
        found[inside] = self.tree.leaves_of(rows[inside].ravel()).reshape(-1, 2)
        return found

    @cached_property
    def said(self) -> BoolArray:
        """(a,) whether each answer is "together"."""
        return np.array([together for *_, together in self.answers], bool)

    @cached_property
    def votes(self) -> tuple[FloatArray, FloatArray]:
        """(j,) answers "together" and "apart" about each joint."""
        found = [np.zeros(len(self.tree.children)) for _ in range(2)]
        for (one, other), together in zip(self.leaves, self.said):
            joint = self.tree.joint_of(int(one), int(other)) if one >= 0 and other >= 0 and one != other else -1
            if joint >= 0:
                found[0 if together else 1][joint] += 1
        return found[0], found[1]

    @cached_property
    def levels(self) -> tuple[FloatArray, FloatArray]:
        """(l,) weights of the levels, before and after the answers."""
        tree, (yes, no) = self.tree, self.votes
        above = (tree.together[:, None] - LEVELS) / SPREAD
        smaller = tree.sizes[tree.children].min(axis=1)
        # the consensus speaks for a level as if it were a few answers
        worth = STRENGTH * smaller / max(float(smaller.sum()), 1e-300)
        told, denied = log_expit(above), log_expit(-above)
        start = worth @ np.where(tree.inside[:, None], told, denied)
        found = [np.exp(logs - logs.max()) for logs in (start, start + yes @ told + no @ denied)]
        return found[0] / found[0].sum(), found[1] / found[1].sum()

    def without_answers_about(self, agreement: FloatArray, joined: BoolArray) -> FloatArray:
        """Probability that branches belong together, by the agreement on them and whether the consensus joins them.

        The answers count by the level that was learned from them. Before any answer it is as the consensus has it.
        """
        start, now = self.levels
        found = np.empty(agreement.shape)
        for side, trust in ((True, TRUST), (False, -TRUST)):
            curve = expit((AGREEMENTS[:, None] - LEVELS) / SPREAD + trust)
            here = joined == side
            first = np.interp(agreement[here], AGREEMENTS, curve @ start)
            as_is = np.maximum(first, 0.51) if side else np.minimum(first, 0.49)
            found[here] = as_is + np.interp(agreement[here], AGREEMENTS, curve @ now) - first
        return np.clip(found, 1.0 - SURE, SURE)

    @cached_property
    def partition(self) -> Partition:
        """Pieces and sets, with the share of untypical answers that goes with them."""
        share = UNTYPICAL[0] / UNTYPICAL[1]
        for _ in range(LEARNING_ROUNDS):
            found = self._partition(float(np.log((1.0 - share) / share)))
            labels = found.labels(self.tree.rows.size)
            known = (self.leaves >= 0).all(axis=1)
            one, other = (labels[self.leaves[known, side]] for side in (0, 1))
            wrong = int(((one == other) != self.said[known]).sum())
            learned = min((UNTYPICAL[0] + wrong) / (UNTYPICAL[1] + known.sum()), MOST_UNTYPICAL)
            if learned == share:
                break
            share = learned
        return found

    def _partition(self, weight: float) -> Partition:
        """Pieces and sets where an answer is worth these log odds."""
        tree, (yes, no) = self.tree, self.votes
        k = tree.rows.size
        # once pieces are apart, whether they are together after all is for the pieces, not for the joint
        said = weight * np.where(no > 0, -no, yes)
        kept = expit(logit(self.without_answers_about(tree.together, tree.inside)) + said)
        piece, n_pieces = _pieces(tree, kept)
        member = np.zeros((k, n_pieces))
        member[np.arange(k), piece[:k]] = tree.counts
        sizes = member.sum(axis=0)
        mean = member / sizes
        group = np.empty(n_pieces, np.int64)
        group[piece[:k]] = tree.groups[tree.rows]
        before = self.without_answers_about(mean.T @ tree.share @ mean, group[:, None] == group)
        about = [np.zeros((n_pieces, n_pieces)) for _ in range(2)]
        known = (self.leaves >= 0).all(axis=1)
        for (one, other), together in zip(piece[self.leaves[known]], self.said[known]):
            if one != other:
                table = about[0 if together else 1]
                table[one, other] += 1
                table[other, one] += 1
        alone = Partition(piece, np.arange(n_pieces), sizes, kept, before, about[0], about[1], weight)
        return replace(alone, together=_joined(alone))


def _pieces(tree: RowTree, kept: FloatArray) -> tuple[IntArray, int]:
    """(k + j,) pieces of the branches, -1 for branches of several, and their number.

    Every group is cut where most pairs are as they are believed to be.
    """
    k = tree.rows.size
    worth = (2.0 * kept - 1.0) * tree.sizes[tree.children].prod(axis=1)
    whole, best = np.zeros(k + worth.size), np.zeros(k + worth.size)
    for joint, (a, b) in enumerate(tree.children, start=k):
        whole[joint] = whole[a] + whole[b] + worth[joint - k] if tree.inside[joint - k] else -np.inf
        best[joint] = max(whole[joint], best[a] + best[b])
    found, number = np.full(best.size, -1), 0
    for branch in range(best.size - 1, -1, -1):
        above = tree.parent[branch]
        if above >= 0 and found[above] >= 0:
            found[branch] = found[above]
        elif whole[branch] >= best[branch]:
            found[branch], number = number, number + 1
    return found, number


def _joined(pieces: Partition) -> IntArray:
    """(p,) sets of pieces: the two that are most probably together become one, while that is more probable than not."""
    labels = np.arange(pieces.sizes.size)
    pairs = np.outer(pieces.sizes, pieces.sizes)
    asked = pieces.yes + pieces.no
    # sums over the pairs of pieces of two sets: pairs, pairs believed together, answers, and what these say
    sums = np.stack([pairs, pairs * pieces.before, asked, pairs * asked, pairs * (pieces.yes - pieces.no)])
    left = np.arange(labels.size)
    while left.size > 1:
        n_pairs, believed, n_asked, about, said = sums
        prior = np.clip(believed / n_pairs, 1e-6, 1 - 1e-6)
        odds = logit(prior) + pieces.weight * n_asked * said / np.maximum(about, 1e-300)
        np.fill_diagonal(odds, -np.inf)
        one, other = sorted(divmod(int(odds.argmax()), left.size))
        if odds[one, other] <= 0:
            break
        labels[labels == left[other]] = left[one]
        sums[:, one] += sums[:, other]
        sums[:, :, one] += sums[:, :, other]
        sums = np.delete(np.delete(sums, other, axis=1), other, axis=2)
        left = np.delete(left, other)
    return np.unique(labels, return_inverse=True)[1]
