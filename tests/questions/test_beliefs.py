"""Beliefs before and after answers, against their definitions."""

from __future__ import annotations

import math

import numpy as np
import pytest

import biconsensus as bc
from biconsensus.questions import _beliefs
from biconsensus.questions._beliefs import Beliefs
from biconsensus.questions._questions import rows_of
from biconsensus.result._consensus import Answered


@pytest.fixture(scope="module")
def consensus() -> bc.Consensus:
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], 10)
    return bc.find_consensus([np.where(rng.random(30) < 0.2, rng.permutation(truth), truth) for _ in range(6)])


def of(consensus: bc.Consensus, *answers: Answered) -> Beliefs:
    return Beliefs(rows_of(consensus), answers)


def test_before_any_answer_pairs_are_as_the_consensus_has_them(consensus: bc.Consensus) -> None:
    beliefs = of(consensus)
    groups = beliefs.rows.groups[beliefs.rows.rows]
    joined = groups[:, None] == groups
    assert beliefs.together[joined].min() >= 0.51
    assert beliefs.together[~joined].max() <= 0.49
    # and the more sources agree, the more probable it is
    for side in (joined, ~joined):
        order = np.argsort(beliefs.rows.share[side])
        assert (np.diff(beliefs.together[side][order]) >= -1e-12).all()


def test_levels_are_weighed_by_the_consensus_and_by_the_answers(consensus: bc.Consensus) -> None:
    answer = Answered(0, 29, together=True)
    beliefs = of(consensus, answer)
    rows, counts = beliefs.rows, beliefs.rows.counts
    groups = rows.groups[rows.rows]

    def log_share(x: float) -> float:
        return -math.log1p(math.exp(-x))

    before, after = [], []
    place = {int(row): k for k, row in enumerate(rows.rows)}
    one, other = (place[int(consensus.pool.inverse[x])] for x in answer[:2])
    for level in _beliefs.LEVELS:
        told = 0.0
        for joined in (True, False):
            pairs = [
                (counts[i] * counts[j], log_share((1 if joined else -1) * (rows.share[i, j] - level) / _beliefs.SPREAD))
                for i in range(counts.size)
                for j in range(counts.size)
                if (groups[i] == groups[j]) == joined
            ]
            told += _beliefs.STRENGTH / 2 * sum(w * x for w, x in pairs) / sum(w for w, _ in pairs)
        before.append(told)
        trust = _beliefs.TRUST if groups[one] == groups[other] else -_beliefs.TRUST
        after.append(told + log_share((rows.share[one, other] - level) / _beliefs.SPREAD + trust))
    for found, logs in zip(beliefs.levels, (before, after)):
        expected = np.exp(np.array(logs) - max(logs))
        np.testing.assert_allclose(found, expected / expected.sum(), rtol=0.02)  # shares are rounded to a thousandth


def test_an_answer_moves_its_own_pair_more_than_most_and_the_way_it_says(consensus: bc.Consensus) -> None:
    before = of(consensus).together
    rows = rows_of(consensus).rows
    place = {int(row): k for k, row in enumerate(rows)}
    i, j = (place[int(consensus.pool.inverse[x])] for x in (0, 29))
    for together in (True, False):
        change = of(consensus, Answered(0, 29, together)).together - before
        assert abs(change[i, j]) > np.quantile(np.abs(change), 0.5)
        assert (change[i, j] > 0) == together


def test_nothing_is_left_to_ask_of_two_rows_that_were_told_apart() -> None:
    c = bc.find_consensus([[0] * 20 + [1] * 20] * 8)
    assert c.next_question() is not None
    assert c.answer(0, 20, together=False).next_question() is None
