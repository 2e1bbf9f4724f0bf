"""What is believed of the groups of a person, given the sources and the answers.

Every two rows are believed to be together with a probability. It rises with the share of the sources that put them
together, is higher where the consensus does so, and the level of agreement from which rows belong together is learned
from the answers.

An answer about two elements is about two other rows only as far as these belong with the two: if x is with i, and y
with j, then x and y are together exactly if i and j are. How probable that is, is what is believed of x and i, and of
y and j, beyond chance. So an answer says much of rows that all sources put with its elements, and little of others.

The groups are those with the fewest pairs that are expected to be wrong, found by average linkage.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import expit, log_expit, logit

from biconsensus.protocols import BoolArray, FloatArray, IntArray
from biconsensus.questions._answers import components
from biconsensus.questions._rows import Rows, shared_share
from biconsensus.quorum._linkage import average_tree
from biconsensus.result._consensus import Answered

LEVELS = np.linspace(0.0, 1.0, 101)
"""Levels of agreement from which rows may belong together: percents."""
AGREEMENTS = np.linspace(0.0, 1.0, 1001)
"""Agreements for which a belief is worked out; others are rounded to them."""
SPREAD = 0.4
"""Scale of the logistic curve around the level. Of the pairs of elements of pools with known groups, the share that
belong together rises that slowly with the agreement of the sources (benchmarks/tuning/questions.py)."""
TRUST = 1.0
"""Log odds for pairs as the consensus has them, from the same table: pairs of equal agreement belong together with
log odds about two higher where the consensus joins them."""
STRENGTH = 3.0
"""Answers that the consensus itself is worth when the level is learned (the same script compares others)."""
SURE = 0.98
"""Largest probability without an answer, and one minus the smallest: a few answers must be able to change any."""
CARRIED = 0.999
"""Largest probability that an answer holds for others: it keeps the odds finite."""


@dataclass(frozen=True, eq=False)
class Beliefs:
    """What is believed of rows, given answers."""

    rows: Rows
    answers: tuple[Answered, ...]

    @cached_property
    def named(self) -> IntArray:
        """(n,) elements of the answers."""
        return np.unique([x for i, j, _ in self.answers for x in (i, j)]).astype(np.int64)

    @cached_property
    def sets(self) -> list[list[int]]:
        """Named elements that are together, directly or by way of others."""
        return components(self.answers)

    @cached_property
    def apart(self) -> list[tuple[int, int]]:
        """Pairs of these sets that are apart."""
        owner = {x: k for k, members in enumerate(self.sets) for x in members}
        pairs = {(owner[i], owner[j]) for i, j, together in self.answers if not together}
        return sorted({(min(pair), max(pair)) for pair in pairs})

    @cached_property
    def _everything(self) -> IntArray:
        """(n + k,) distinct rows of the pool: those of the named elements, then those that stand for all."""
        return np.concatenate([self.rows.pool.inverse[self.named].astype(np.int64), self.rows.rows])

    @cached_property
    def _of_named(self) -> tuple[FloatArray, BoolArray]:
        """(n, n + k) share of the sources that put a named element with each row, and whether the consensus does."""
        n, every = self.named.size, self._everything
        groups = self.rows.groups[every]
        joined = (groups[:n, None] == groups) & (groups >= 0)
        return shared_share(self.rows.pool, every[:n], every), joined

    @cached_property
    def levels(self) -> tuple[FloatArray, FloatArray]:
        """(l,) weights of the levels, before and after the answers."""
        above = (AGREEMENTS[:, None] - LEVELS) / SPREAD
        own, pairs = self.rows.groups[self.rows.rows], np.outer(self.rows.counts, self.rows.counts)
        place, joined = _places(self.rows.share), own[:, None] == own
        start = np.zeros(LEVELS.size)
        # the consensus speaks for a level as if it were a few answers, half of them "together"
        for side, curve in ((joined, log_expit(above)), (~joined, log_expit(-above))):
            weight = np.bincount(place[side], pairs[side], minlength=AGREEMENTS.size)
            start += STRENGTH / 2 * (weight @ curve) / max(float(weight.sum()), 1e-300)
        share, together = self._of_named
        told = np.zeros(LEVELS.size)
        for i, j, yes in self.answers:
            one, other = np.searchsorted(self.named, [i, j])
            odds = (share[one, other] - LEVELS) / SPREAD + (TRUST if together[one, other] else -TRUST)
            told += log_expit(odds if yes else -odds)
        found = [np.exp(logs - logs.max()) for logs in (start, start + told)]
        return found[0] / found[0].sum(), found[1] / found[1].sum()

    @cached_property
    def _curves(self) -> FloatArray:
        """(2, 1001) probability by agreement, for pairs that the consensus does not join and for those that it joins.

        The answers count by the level that was learned from them. Before any answer it is as the consensus has it.
        """
        start, now = self.levels
        found = np.empty((2, AGREEMENTS.size))
        for side, trust in enumerate((-TRUST, TRUST)):
            curve = expit((AGREEMENTS[:, None] - LEVELS) / SPREAD + trust)
            first = curve @ start
            as_is = np.maximum(first, 0.51) if side else np.minimum(first, 0.49)
            found[side] = as_is + curve @ now - first
        return np.clip(found, 1.0 - SURE, SURE)

    def _without_answers_about(self, share: FloatArray, joined: BoolArray) -> FloatArray:
        """Probability that rows are together, by what the sources and the consensus say."""
        return self._curves[joined.astype(np.int64), _places(share)]

    @cached_property
    def _prior(self) -> FloatArray:
        """(k, k) probability that two rows are together, but for what was said of rows like them."""
        own = self.rows.groups[self.rows.rows]
        return self._without_answers_about(self.rows.share, own[:, None] == own)

    @cached_property
    def chance(self) -> float:
        """Probability that two elements are together of which nothing is known."""
        weight = self.rows.counts / self.rows.counts.sum()
        return float(weight @ self._prior @ weight)

    def beyond_chance(self, probability: FloatArray) -> FloatArray:
        """How far what was said of one row holds for another, by the probability that they are together."""
        return np.maximum(probability - self.chance, 0.0) / (1.0 - self.chance)

    @cached_property
    def _like(self) -> FloatArray:
        """(s, n + k) probability that each row belongs with each set of named elements.

        First by what the sources say; then what the answers say of the named elements themselves is counted too.
        """
        n, every = self.named.size, self._everything
        share, joined = self._of_named
        prior = self._without_answers_about(share, joined)
        same = every[:n, None] == every
        belongs = self._of_sets(np.where(same, 1.0, self.beyond_chance(prior)))
        odds = np.clip(logit(prior) + self._evidence(belongs[:, :n], belongs), logit(1.0 - SURE), logit(SURE))
        return self._of_sets(np.where(same, 1.0, self.beyond_chance(expit(odds))))

    def _of_sets(self, of_named: FloatArray) -> FloatArray:
        """(s, n + k) the largest values among the members of each set."""
        return np.array([of_named[np.searchsorted(self.named, one)].max(axis=0) for one in self.sets])

    def _evidence(self, one: FloatArray, other: FloatArray) -> FloatArray:
        """(a, b) log odds that the answers give to pairs, from how the two sides belong with each set, (s, a), (s, b).

        Where an answer does not hold for a pair, it says what it would say by chance.
        """
        found = np.zeros((one.shape[1], other.shape[1]))
        for k, members in enumerate(self.sets):
            if len(members) > 1:
                carried = np.minimum(np.outer(one[k], other[k]), CARRIED)
                found += np.log1p(carried / ((1.0 - carried) * self.chance))
        for k, m in self.apart:
            # what belongs with one of two sets that are apart does not belong with the other
            a, b = _exclusive(one[k], one[m]), _exclusive(other[k], other[m])
            carried = np.minimum(np.maximum(np.outer(a[0], b[1]), np.outer(a[1], b[0])), CARRIED)
            found -= np.log1p(carried / ((1.0 - carried) * (1.0 - self.chance)))
        return found

    @cached_property
    def together(self) -> FloatArray:
        """(k, k) probability that two rows are together."""
        if not self.answers:
            return self._prior
        of_rows = self._like[:, self.named.size :]
        return np.asarray(expit(logit(self._prior) + self._evidence(of_rows, of_rows)))

    @cached_property
    def branches(self) -> Branches:
        """The tree of the rows: what is most probably together is joined first."""
        return Branches.of(self.together, self.rows.counts)

    def near(self, labels: IntArray) -> FloatArray:
        """(n, T) mean probability, in log odds, that each named element is together with the rows of each group."""
        n = self.named.size
        members = np.zeros((labels.size, int(labels.max()) + 1))
        members[np.arange(labels.size), labels] = self.rows.counts
        share, joined = self._of_named
        odds = logit(self._without_answers_about(share[:, n:], joined[:, n:]))
        odds += self._evidence(self._like[:, :n], self._like[:, n:])
        return np.asarray(expit(odds @ (members / members.sum(axis=0))))


@dataclass(frozen=True, eq=False)
class Branches:
    """A tree of rows: numbers below k are rows, the others joints of two branches, in the order of joining."""

    children: IntArray
    """(k - 1, 2) the two branches that each joint joins."""
    together: FloatArray
    """(k - 1,) mean probability that a pair across the joint is together."""
    inside: BoolArray
    """(k - 1,) whether the joint is inside a group; the others join groups."""
    sizes: FloatArray
    """(2 k - 1,) elements of each branch."""
    members: list[IntArray]
    """(2 k - 1) rows of each branch."""
    labels: IntArray
    """(k,) groups: what is more probably together than apart."""

    @classmethod
    def of(cls, together: FloatArray, counts: FloatArray) -> Branches:
        """The tree of rows by average linkage."""
        tree = average_tree(1.0 - together, counts)
        children, k = tree[:, :2].astype(np.int64), counts.size
        members, labels = [np.array([row]) for row in range(k)], np.arange(k)
        for joint, (a, b) in enumerate(children):
            members.append(np.concatenate([members[a], members[b]]))
            if tree[joint, 2] < 0.5:
                labels[members[-1]] = k + joint
        sizes = np.array([counts[own].sum() for own in members])
        groups = np.unique(labels, return_inverse=True)[1]
        return cls(children, 1.0 - tree[:, 2], tree[:, 2] < 0.5, sizes, members, groups)


def _places(share: FloatArray) -> IntArray:
    """Places of agreements among `AGREEMENTS`."""
    return np.rint(share * (AGREEMENTS.size - 1)).astype(np.int64)


def _exclusive(one: FloatArray, other: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Two probabilities, given that not both are true."""
    left = np.maximum(1.0 - one * other, 1e-9)
    return one * (1.0 - other) / left, other * (1.0 - one) / left
