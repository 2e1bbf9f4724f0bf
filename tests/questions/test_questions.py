"""The next question, and what answers change."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import biconsensus as bc
from biconsensus import metrics
from biconsensus.errors import InputError
from biconsensus.questions._answers import components
from biconsensus.questions._beliefs import Beliefs
from biconsensus.questions._questions import MOST_DOUBTS, _doubts, _settled, rows_of
from biconsensus.result._consensus import Answered

HALVES, QUARTERS = np.repeat([0, 1], 40), np.repeat([0, 1, 2, 3], 20)


def noisy_pool(seed: int = 0) -> bc.Consensus:
    """A consensus of coarse and fine sources with a tenth of wrong labels."""
    rng = np.random.default_rng(seed)
    table = [HALVES] * 4 + [QUARTERS] * 4
    return bc.find_consensus([np.where(rng.random(80) < 0.1, rng.permutation(base), base) for base in table])


@pytest.fixture(scope="module")
def consensus() -> bc.Consensus:
    return noisy_pool()


def test_the_first_question_is_whether_a_group_is_one_or_two(consensus: bc.Consensus) -> None:
    question = consensus.next_question()
    assert question is not None
    i, j = question.elements
    assert QUARTERS[i] != QUARTERS[j]
    assert question.groups == (consensus.labels[i], consensus.labels[j])
    assert question.backing == (consensus.backing[i], consensus.backing[j])
    assert min(question.sizes) >= 10
    assert 0 < question.probability < 1
    assert f"Do {i} and {j} belong together?" in str(question)
    other = consensus.next_question(skip=[question.elements])
    assert other is not None
    assert set(other.elements) != {i, j}


def test_a_few_answers_lead_to_what_the_person_has_in_mind() -> None:
    for truth in (HALVES, QUARTERS):
        c = noisy_pool(3)
        for _ in range(12):
            question = c.next_question()
            if question is None:
                break
            i, j = question.elements
            c = c.answer(i, j, together=bool(truth[i] == truth[j]))
        assert metrics.ari(truth, c.labels) > 0.9
        assert c.settings["chosen_by"] == "answers"
        assert "answers of a person" in c.summary


@settings(max_examples=6, deadline=None)
@given(data=st.data(), seed=st.integers(0, 3))
def test_answers_hold_in_any_order_and_contradictions_are_told(data: st.DataObject, seed: int) -> None:
    base = noisy_pool(seed) if seed not in _KNOWN else _KNOWN[seed]
    _KNOWN[seed] = base
    element = st.integers(0, 79)
    pairs = data.draw(st.lists(st.tuples(element, element, st.booleans()).filter(lambda p: p[0] != p[1]), max_size=7))
    parts = components([Answered(*pair) for pair in pairs])
    owner = {x: k for k, members in enumerate(parts) for x in members}
    broken = [pair for pair in pairs if not pair[2] and owner[pair[0]] == owner[pair[1]]]
    results = []
    for order in (pairs, data.draw(st.permutations(pairs))):
        c, told = base, False
        for i, j, together in order:
            try:
                c = c.answer(i, j, together)
            except InputError:
                told = True
        assert told == bool(broken)
        for i, j, together in c.answers:
            assert (c.labels[i] == c.labels[j]) == together or (c.labels[i] < 0 and not together)
        results.append(c)
    if not broken:
        np.testing.assert_array_equal(results[0].labels, results[1].labels)


_KNOWN: dict[int, bc.Consensus] = {}


def test_contradictions_name_the_pairs_also_by_way_of_others(consensus: bc.Consensus) -> None:
    c = consensus.answer(3, 50, together=True).answer(50, 7, together=True)
    with pytest.raises(InputError, match=r"3 and 7 are apart, but 3 and 50 are together, 7 and 50 are together"):
        c.answer(7, 3, together=False)
    with pytest.raises(InputError, match="3 and 50 are both together and apart"):
        c.answer(50, 3, together=False)
    assert c.withdraw(50, 3).answer(7, 3, together=False).labels[[7, 3]].tolist().count(-1) < 2
    seeded = bc.find_consensus([HALVES] * 3, together=[[0, 79]])
    with pytest.raises(InputError, match="0 and 79 are apart, but 0 and 79 are together"):
        seeded.answer(0, 79, together=False)
    kept = seeded.answer(0, 39, together=False).labels
    assert kept[0] == kept[79] != kept[39]


def test_elements_that_no_source_tells_apart_can_be_told_apart_by_a_person() -> None:
    c = bc.find_consensus([HALVES] * 3).answer(0, 1, together=False)
    assert c.labels[0] != c.labels[1]
    assert metrics.ari(HALVES, c.labels) > 0.9
    # what holds for one element holds for those that no source tells from it
    split = bc.find_consensus([HALVES] * 3 + [QUARTERS]).answer(0, 20, together=False).labels
    assert len(set(split[:20])) == len(set(split[20:40])) == 1
    assert split[0] != split[20]


def test_answers_survive_a_file(consensus: bc.Consensus, tmp_path: Path) -> None:
    c = consensus.answer(0, 30, together=False).answer(45, 70, together=False)
    c.save(tmp_path / "kept.zip")
    again = bc.Consensus.load(tmp_path / "kept.zip")
    assert again.answers == c.answers
    np.testing.assert_array_equal(again.labels, c.labels)
    more = again.answer(1, 2, together=True), c.answer(1, 2, together=True)
    np.testing.assert_array_equal(more[0].labels, more[1].labels)
    again.write_report(tmp_path / "page.html")


def test_without_answers_the_groups_are_those_of_the_consensus(consensus: bc.Consensus) -> None:
    rows = rows_of(consensus)
    tree = Beliefs(rows, ()).branches
    assert metrics.ari(rows.groups[rows.rows], tree.labels) == 1.0
    np.testing.assert_array_equal(np.sort(tree.members[-1]), np.arange(rows.rows.size))
    assert tree.sizes[-1] == 80


def test_groups_that_no_source_joins_are_joined_by_answers() -> None:
    # two rings that are cut into arcs: neighbours in the tree are not those of one ring
    arcs = np.repeat(np.arange(8), 10)
    rng = np.random.default_rng(0)
    near = [np.where(rng.random(80) < 0.05, rng.integers(0, 8, 80), (arcs + s) % 8 // 2) for s in range(2)]
    c = bc.find_consensus([arcs] * 6 + near, n_groups=8)
    rings = arcs % 2
    typical = [int(np.flatnonzero(arcs == k)[0]) for k in range(8)]
    for k in range(2, 8):
        c = c.answer(typical[k % 2], typical[k], together=True)
    assert metrics.ari(rings, c.answer(typical[0], typical[1], together=False).labels) == 1.0


def test_one_element_told_apart_moves_alone_and_many_answers_move_groups() -> None:
    rng = np.random.default_rng(5)
    c = bc.find_consensus([np.where(rng.random(80) < 0.15, rng.permutation(HALVES), HALVES) for _ in range(12)])
    assert metrics.ari(HALVES, c.labels) == 1.0
    once = c.answer(0, 1, together=False)
    assert once.labels[0] != once.labels[1]
    assert metrics.ari(HALVES, once.labels) > 0.9
    one, other = (next(int(x) for x in range(start, 80) if c.labels[x] == c.labels[start]) for start in (0, 79))
    merged = c.answer(one, other, together=True)
    assert merged.labels[one] == merged.labels[other]
    for i in range(1, 8):
        merged = merged.answer(i, 79 - i, together=True)
    assert len(merged) == 1


def test_nothing_is_asked_that_follows_from_answers() -> None:
    c = noisy_pool(1)
    first = c.next_question()
    assert first is not None
    i, j = first.elements
    k = int(np.flatnonzero((HALVES[i] != HALVES) & (c.labels >= 0))[0])
    c = c.answer(i, j, together=True).answer(j, k, together=False)
    skipped: list[tuple[int, int]] = []
    while (question := c.next_question(skip=skipped)) is not None and len(skipped) < 10:
        assert not set(question.elements) <= {i, j, k}
        skipped.append(question.elements)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [((3, 3, True), "both 3"), ((0, 80, True), "80"), ((0, 1, "yes"), "together: received 'yes'")],
)
def test_wrong_answers_are_refused(consensus: bc.Consensus, arguments: tuple[int, int, bool], message: str) -> None:
    with pytest.raises(InputError, match=message):
        consensus.answer(*arguments)


def test_what_cannot_be_asked_is_said(consensus: bc.Consensus) -> None:
    with pytest.raises(InputError, match="nothing was answered about 0 and 1"):
        consensus.withdraw(0, 1)
    overlapping = bc.find_consensus([HALVES] * 3, overlap=True, quorum=0.5)
    with pytest.raises(InputError, match="groups may overlap"):
        overlapping.next_question()


def test_large_pools_are_asked_about_by_a_sample_and_missing_labels_count_for_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("biconsensus.questions._rows.SAMPLE_ROWS", 200)
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 6, 1_500)
    table = np.column_stack([truth // 2] * 6 + [truth] * 5).astype(float)
    wrong = rng.random(table.shape) < 0.2
    table[wrong] = rng.integers(0, 3, wrong.sum())
    table[rng.random(table.shape) < 0.1] = np.nan
    c = bc.find_consensus(table)
    assert rows_of(c).rows.size < c.pool.rows.shape[0]
    for _ in range(14):
        question = c.next_question()
        if question is None:
            break
        i, j = question.elements
        c = c.answer(i, j, together=bool(truth[i] == truth[j]))
    assert metrics.ari(truth, c.labels) > 0.75


def test_the_pair_that_is_asked_settles_most_and_settling_is_counted_pair_by_pair(consensus: bc.Consensus) -> None:
    beliefs = Beliefs(rows_of(consensus), ())
    doubts = list(_doubts(beliefs))[:MOST_DOUBTS]
    question = consensus.next_question()
    assert question is not None
    assert question.expected_change == pytest.approx(max(_settled(beliefs, doubt).max() for doubt in doubts))
    doubt, together, counts = doubts[0], beliefs.together, beliefs.rows.counts

    def carried(x: int, y: int) -> float:
        return 1.0 if x == y else max(float(together[x, y]) - beliefs.chance, 0.0) / (1.0 - beliefs.chance)

    one, other = doubt.sides
    a, b = int(one[0]), int(other[-1])
    wrong = sum(
        carried(a, x)
        * ((1.0 - together[x, y]) if doubt.joined else together[x, y])
        * counts[x]
        * counts[y]
        * carried(y, b)
        for x in one
        for y in other
    )
    assert _settled(beliefs, doubt)[0, -1] == pytest.approx(wrong / max(doubt.sizes))
