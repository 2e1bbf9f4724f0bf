"""Confidence of elements and groups."""

from __future__ import annotations

import numpy as np
import pytest

from biconsensus.errors import InputError
from biconsensus.quorum._confidence import CALIBRATION, _matched, confidence
from tests.helpers.strategies import paper_consensus


def certain(n_resamples: int) -> float:
    """What an element gets that every resample confirms."""
    return CALIBRATION[0] + CALIBRATION[1] * (n_resamples + 1) / (n_resamples + 2)


def test_unanimous_sources_are_certain() -> None:
    found = paper_consensus([[0] * 10 + [1] * 10] * 6)
    sure = found.confidence(10)
    assert sure.elements == pytest.approx(certain(10))
    assert sure.groups == pytest.approx([certain(10)] * 2)


def test_elements_that_sources_dispute_are_less_sure_than_others() -> None:
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1], 30)
    table = np.column_stack([truth] * 8)
    disputed = [0, 1, 30, 31]
    table[disputed] = rng.integers(2, size=(4, 8))
    found = paper_consensus(table, unassigned="nearest")
    sure = confidence(found, 20).elements
    settled = np.setdiff1d(np.arange(60), disputed)
    assert sure[settled] == pytest.approx(certain(20))
    assert sure[disputed].mean() < certain(20) - 0.05


def test_elements_in_no_group_have_none_and_draws_repeat() -> None:
    table = np.column_stack([np.repeat([0, 1, -1], [10, 10, 5])] * 5)
    found = paper_consensus(table)
    first, second = confidence(found, 6, random_state=3), confidence(found, 6, random_state=3)
    assert (first.elements[20:] == 0).all()
    assert (first.elements == second.elements).all()


def test_groups_are_matched_by_what_they_share() -> None:
    labels, again = np.array([0, 0, 0, 1, 1, -1]), np.array([2, 2, 0, 0, 0, 1])
    assert _matched(labels, again, 2).tolist() == [0, 0, 1, 1, 1, -1]


def test_overlapping_groups_are_refused() -> None:
    found = paper_consensus([[0] * 8 + [1] * 8] * 4, overlap=True)
    with pytest.raises(InputError, match="overlap"):
        confidence(found)
