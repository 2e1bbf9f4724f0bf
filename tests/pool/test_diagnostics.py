"""Diagnosis of pools at its borders, and the agreement of sources in corner cases."""

import numpy as np
import pytest

import biconsensus as bc
from biconsensus.pool import _diagnostics as diagnostics
from biconsensus.pool._agreement import source_agreement
from biconsensus.pool._diagnostics import diagnose

POOL = bc.Pool.from_groups([range(9), range(8), [], range(8), [0]], n_elements=10)


def test_trivial_empty_and_duplicate_candidates():
    found = diagnose(POOL)
    assert found.empty.tolist() == [2]
    assert found.trivial.tolist() == [0]
    assert [group.tolist() for group in found.duplicates] == [[1, 3]]


def test_a_single_element_is_neither_empty_nor_lost_among_duplicates():
    found = diagnose(bc.Pool.from_groups([[0], [0], [1, 2], []], n_elements=5))
    assert found.empty.tolist() == [3]
    assert found.trivial.tolist() == []
    assert [group.tolist() for group in found.duplicates] == [[0, 1]]
    one = diagnose(bc.Pool.from_groups([[0]], n_elements=1))
    assert one.trivial.tolist() == [0]


def test_candidates_of_other_views_are_no_duplicates():
    seen = np.ones((6, 2), bool)
    seen[5, 1] = False
    pool = bc.Pool.from_groups([range(3), range(3)], n_elements=6, seen=seen)
    assert diagnose(pool).duplicates == []


def test_a_candidate_of_a_source_that_saw_nothing_is_empty_not_trivial():
    seen = np.ones((6, 2), bool)
    seen[:, 1] = False
    found = diagnose(bc.Pool.from_groups([range(3), []], n_elements=6, seen=seen))
    assert found.empty.tolist() == [1]
    assert found.trivial.tolist() == []


def test_only_what_a_source_saw_counts_for_trivial():
    seen = np.ones((20, 2), bool)
    seen[10:, 1] = False
    pool = bc.Pool.from_groups([range(9), range(9)], n_elements=20, seen=seen)
    assert diagnose(pool).trivial.tolist() == [1]


@pytest.mark.parametrize(
    ("agreement", "dissenting"),
    [
        ([0.8, 0.8, 0.8, 0.8, 0.4], []),  # half of the median is not below it
        ([0.8, 0.8, 0.8, 0.8, 0.39], [4]),
        ([0.9, 0.8, 0.7, 0.6, 0.3], []),  # below half, but within three deviations: 0.7 - 3 * 1.4826 * 0.1
        ([0.9, 0.8, 0.7, 0.6, 0.25], [4]),
        ([0.5, 0.5, 0.5, 0.45, 0.4], []),  # far in deviations, not below half
    ],
)
def test_dissenting_sources_are_below_half_and_three_deviations_under(monkeypatch, agreement, dissenting):
    monkeypatch.setattr(diagnostics, "source_agreement", lambda pool: np.array(agreement))
    assert diagnose(POOL).dissenting.tolist() == dissenting


def test_three_deviations_is_where_the_border_is(monkeypatch):
    agreement = np.array([1.2, 1.1, 1.0, 0.9, 0.0])
    border = 1.0 - 3 * (1.4826 * float(np.median(np.abs(agreement - 1.0))))
    assert border > 0.5
    wide = np.array([1.32, 1.16, 1.0, 0.84, 0.0])
    edge = 1.0 - 3 * (1.4826 * float(np.median(np.abs(wide - 1.0))))
    assert edge < 0.5
    for last, expected in ((edge, []), (np.nextafter(edge, 0), [4])):
        values = np.append(wide[:4], last)
        monkeypatch.setattr(diagnostics, "source_agreement", lambda pool, values=values: values)
        assert diagnose(POOL).dissenting.tolist() == expected


def test_agreement_with_repeated_elements_is_that_of_the_whole_table():
    rng = np.random.default_rng(3)
    table = np.repeat(rng.integers(0, 3, (6, 3)), [1, 2, 3, 4, 5, 6], axis=0)
    expected = [np.mean([bc.metrics.ari(table[:, a], table[:, b]) for b in range(3) if b != a]) for a in range(3)]
    assert source_agreement(bc.Pool.from_labels(table)) == pytest.approx(expected)


def test_agreement_where_there_is_nothing_to_compare():
    assert source_agreement(bc.Pool.from_labels([[0, 1, 1]])).tolist() == [0.0]
    assert source_agreement(bc.Pool.from_labels([[0], [0], [0]])).tolist() == [1.0, 1.0, 1.0]
    lumps = bc.Pool.from_labels([[0, 0, 0], [1, 1, 1]])
    assert source_agreement(lumps).tolist() == [1.0, 1.0]
    singles = bc.Pool.from_labels([[0, 1, 2], [2, 0, 1], [0, 1, 1]])
    assert source_agreement(singles).tolist() == pytest.approx([0.5, 0.5, 0.0])


def test_small_tables_have_the_adjusted_rand_index_too():
    table = np.array([[0, 0], [0, 1], [1, 1]])
    expected = bc.metrics.ari(table[:, 0], table[:, 1])
    assert source_agreement(bc.Pool.from_labels(table)).tolist() == pytest.approx([expected] * 2)
