"""Certificates of agreement: exact tails, family-wise error, planted groups, masks and overlapping candidates."""

from __future__ import annotations

import time

import numpy as np
import pytest
from scipy.stats import chi2, hypergeom

import biconsensus as bc
from biconsensus.significance._agreement import LEVEL, AgreementEvidence, _log_choices, _log_fisher, _log_tail

SIGNIFICANT = np.log10(LEVEL)


def noisy_table(rng: np.random.Generator, truth: np.ndarray, n_sources: int, noise: float) -> np.ndarray:
    table = np.repeat(truth[:, None], n_sources, axis=1)
    return np.where(rng.random(table.shape) < noise, rng.permuted(table, axis=0), table)


@pytest.mark.parametrize(("total", "marked", "drawn"), [(30, 10, 8), (500, 50, 40), (12, 6, 6)])
def test_tail_is_a_close_upper_bound_of_the_hypergeometric_one(total: int, marked: int, drawn: int) -> None:
    shared = np.arange(min(marked, drawn) + 1)
    bound = _log_tail(shared.astype(float), float(total), np.float64(marked), np.float64(drawn))
    exact = hypergeom.logsf(shared - 1, total, marked, drawn)
    assert (bound >= exact - 1e-9).all()
    far = exact < np.log(0.01)
    assert far.any()
    assert (bound[far] < exact[far] + 0.3).all()


def test_fisher_is_the_chi_square_tail_even_far_out() -> None:
    log_p = np.log([[0.01, 0.5], [0.3, 0.5], [0.02, 1.0]])
    assert _log_fisher(log_p, 3) == pytest.approx(chi2.logsf(-2 * log_p.sum(axis=0), 6))
    assert _log_fisher(np.full((3, 1), -1000.0), 3)[0] == pytest.approx(-3000 + np.log(3000**2 / 2), abs=0.01)


def test_prices_of_all_unions_add_up_to_less_than_one() -> None:
    n = 8
    k = np.arange(1, n + 1)
    number = np.exp(_log_choices(np.full(n, n), k)) / 2.0**k
    assert (number * np.exp(-_log_choices(np.full(n, n), k))).sum() < 1


def test_permuted_labels_hold_the_level_whichever_groups_are_looked_at() -> None:
    """The full run over 1,000 pools and all points of the path is benchmarks/meaning_labels.py."""
    alarms, n_pools = 0, 32  # at most one alarm is within the level
    for seed in range(n_pools):
        rng = np.random.default_rng(seed)
        truth = np.sort(rng.integers(3, size=24))
        table = rng.permuted(np.repeat(truth[:, None], 4, axis=1), axis=0)
        evidence = AgreementEvidence(bc.Pool.from_labels(table))
        # the sources themselves, and the elements that two or three of them put together: the luckiest groups there are
        groupings = [*table.T, *(np.unique(table[:, :k], axis=0, return_inverse=True)[1] for k in (2, 3))]
        alarms += any(evidence.of_groups(labels.ravel()).min() <= SIGNIFICANT for labels in groupings)
    assert alarms / n_pools <= LEVEL


@pytest.mark.parametrize(("m", "n_sources", "noise"), [(60, 6, 0.2), (150, 10, 0.4), (300, 20, 0.5)])
def test_planted_groups_are_kept(m: int, n_sources: int, noise: float) -> None:
    kept = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        truth = np.arange(m) % 5
        evidence = AgreementEvidence(bc.Pool.from_labels(noisy_table(rng, truth, n_sources, noise)))
        kept += (evidence.of_groups(truth) <= SIGNIFICANT).tolist()
        assert evidence.of_grouping(truth) > 0
    assert np.mean(kept) >= 0.9


def test_groups_that_no_source_holds_alone_are_certified_by_unions() -> None:
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], 40)
    table = np.column_stack([5 * truth + rng.integers(5, size=120) for _ in range(8)])
    assert (AgreementEvidence(bc.Pool.from_labels(table)).of_groups(truth) < -10).all()


def test_a_group_that_cuts_across_the_sources_cannot_borrow_their_agreement() -> None:
    truth = np.repeat([0, 1, 2], 40)
    evidence = AgreementEvidence(bc.Pool.from_labels([truth] * 6))
    assert (evidence.of_groups(np.arange(120) % 3) > SIGNIFICANT).all()
    assert evidence.of_grouping(np.arange(120) % 3) == -1.0


def test_two_sources_are_enough_to_agree() -> None:
    truth = np.repeat([0, 1, 2], 20)
    assert (AgreementEvidence(bc.Pool.from_labels([truth] * 2)).of_groups(truth) < SIGNIFICANT).all()


def test_one_group_one_source_and_nothing_at_all() -> None:
    pool = bc.Pool.from_labels([[0, 0, 0, 1, 1, 1]] * 3)
    evidence = AgreementEvidence(pool)
    assert evidence.of_groups(np.zeros(6, int)).tolist() == [0.0]
    assert evidence.of_grouping(np.zeros(6, int)) == 0.0
    assert evidence.of_groups(np.full(6, -1)).size == 0
    assert AgreementEvidence(bc.Pool.from_labels([[0, 0, 1, 1]])).of_groups(np.array([0, 0, 1, 1])).tolist() == [0, 0]
    labels = np.array([0, 0, 0, -1, -1, -1])
    assert evidence.place(labels) is labels


def test_order_of_elements_sources_and_labels_does_not_matter() -> None:
    rng = np.random.default_rng(1)
    truth = np.repeat([0, 1, 2], 30)
    table = noisy_table(rng, truth, 6, 0.3)
    found = AgreementEvidence(bc.Pool.from_labels(table)).of_groups(truth)
    rows, columns = rng.permutation(90), rng.permutation(6)
    again = AgreementEvidence(bc.Pool.from_labels((table * 7 % 3)[rows][:, columns])).of_groups(truth[rows])
    assert again == pytest.approx(found)


def test_what_a_source_did_not_see_takes_no_part() -> None:
    rng = np.random.default_rng(2)
    truth = np.repeat([0, 1, 2], 30)
    table = noisy_table(rng, truth, 6, 0.2).astype(float)
    table[:45, 0] = table[45:, 1] = np.nan
    found = AgreementEvidence(bc.Pool.from_labels(table)).of_groups(truth)
    assert (found < SIGNIFICANT).all()
    # the first two sources never meet: together they say nothing
    alone = AgreementEvidence(bc.Pool.from_labels(table[:, :2])).of_groups(truth)
    assert alone == pytest.approx(np.zeros(3))


def test_overlapping_candidates_of_one_source_count_one_at_a_time() -> None:
    groups = [range(10), range(5, 15), range(15, 30), range(10), range(15, 30)]
    pool = bc.Pool.from_groups(groups, 40, sources=["a", "a", "a", "b", "c"])
    labels = np.repeat([0, -1, 1, -1], [10, 5, 15, 10])
    found = AgreementEvidence(pool).of_groups(labels)
    assert (found < SIGNIFICANT).all()


def by_hand(table: list[np.ndarray], labels: np.ndarray) -> np.ndarray:
    """The certificates by loops over sets of elements, as the notes of the class tell them."""
    seen = [set(np.flatnonzero(~np.isnan(source)).tolist()) for source in table]
    sets = [
        [set(np.flatnonzero(source == name).tolist()) for name in np.unique(source[source >= 0])] for source in table
    ]

    def unions(source: int, target: set[int]) -> list[tuple[set[int], int]]:
        order = sorted(sets[source], key=lambda one: -len(one & target) / len(one))
        met = [one for one in order if one & target]
        return [(set().union(*met[: j + 1]), j + 1) for j in range(len(met))]

    def chance(source: int, union: set[int], number: int, target: set[int]) -> float:
        there = target & seen[source]
        counts = [np.array(float(n)) for n in (len(union & there), len(seen[source]), len(there), len(union))]
        price = _log_choices(np.array(len(sets[source])), np.array(number))
        return float(_log_tail(*counts) + price)

    found = []
    for group in range(labels.max() + 1):
        target = set(np.flatnonzero(labels == group).tolist())
        certificates = [0.0]
        for witness in range(len(table)):
            there = target & seen[witness]
            choices = unions(witness, target)
            if not choices:
                continue
            union, number = max(choices, key=lambda one: len(one[0] & there) / len(one[0] | there))
            answers = [
                min([0.0, *(chance(other, one, n, union) for one, n in unions(other, union))])
                for other in range(len(table))
                if other != witness
            ]
            combined = float(_log_fisher(np.array(answers)[:, None], len(table) - 1)[0])
            combined += np.log(len(table)) + float(_log_choices(np.array(len(sets[witness])), np.array(number)))
            certificates.append(max(combined, chance(witness, union, number, target)))
        found.append(min(certificates) / np.log(10))
    return np.array(found)


@pytest.mark.parametrize("seed", range(12))
def test_certificates_are_those_of_sets_counted_by_hand(seed: int) -> None:
    rng = np.random.default_rng(seed)
    m, k = int(rng.integers(20, 60)), int(rng.integers(2, 5))
    truth = rng.integers(0, k, m)
    table = [np.where(rng.random(m) < 0.3, rng.integers(0, k, m), truth).astype(float) for _ in range(4)]
    if seed % 2:
        for source in table:
            source[rng.random(m) < 0.2] = np.nan
    table[0][rng.random(m) < 0.1] = -1
    evidence = AgreementEvidence(bc.Pool.from_labels(table))
    np.testing.assert_allclose(evidence.of_groups(truth), by_hand(table, truth), atol=1e-9)


def test_very_many_candidates_cost_no_more_than_in_proportion() -> None:
    pool = bc.Pool.from_labels([np.arange(20_000)] * 2 + [np.arange(20_000) // 10] * 2)
    started = time.process_time()
    found = AgreementEvidence(pool).of_groups(np.arange(20_000) // 10)
    assert time.process_time() - started < 5, "a table of all candidates and all groups took more than a minute"
    assert (found < -10).all()
