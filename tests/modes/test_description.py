"""Lengths of descriptions against the code that tells one label after the other."""

from __future__ import annotations

import math

import numpy as np
import pytest

import biconsensus as bc
from biconsensus.modes._description import SourceTable


@pytest.fixture(scope="module")
def labels() -> np.ndarray:
    """(40, 4) labels with gaps; no two rows are equal, so that each is a row of the table."""
    rng = np.random.default_rng(0)
    made = np.column_stack([rng.integers(0, 3, (40, 3)), np.arange(40)]).astype(float)
    made[rng.random((40, 4)) < 0.1] = np.nan
    made[:, 3] = np.arange(40)
    return made


def told_one_by_one(column: np.ndarray, groups: np.ndarray) -> float:
    """Nats of the labels of a source: in each group they are drawn from an urn that starts with a total weight of 1."""
    known = column[~np.isnan(column)]
    prior = 1.0 / np.unique(known).size
    nats, seen = 0.0, {}
    for label, group in zip(column, groups):
        if np.isnan(label):
            continue
        own = seen.setdefault(group, [])
        nats -= math.log((own.count(label) + prior) / (len(own) + 1.0))
        own.append(label)
    return nats


def test_lengths_are_those_of_labels_that_are_told_one_by_one(labels: np.ndarray) -> None:
    table = SourceTable.of(bc.Pool.from_labels(labels))
    groups = np.arange(40) % 3
    for own, given in ((table.alone, np.zeros(40)), (table.lengths(groups[table.rows]), groups)):
        assert own == pytest.approx([told_one_by_one(column, given) for column in labels.T])


def test_lengths_between_sources_take_the_groups_of_each_as_given(labels: np.ndarray) -> None:
    whole = np.nan_to_num(labels, nan=1.0)
    table = SourceTable.of(bc.Pool.from_labels(whole))
    expected = [[told_one_by_one(line, column) for column in whole.T] for line in whole.T]
    np.testing.assert_allclose(table.between(), expected)
    assert bc.metrics.ari(table.groups_of(1), whole[table.rows, 1]) == 1.0


def test_rows_that_stand_for_several_elements_count_as_often() -> None:
    base = np.repeat([[0, 0], [0, 1], [1, 1]], [3, 4, 5], axis=0)
    table = SourceTable.of(bc.Pool.from_labels(base))
    assert sorted(table.counts) == [3, 4, 5]
    expected = [told_one_by_one(column, base[:, 1]) for column in base.T.astype(float)]
    assert table.lengths(table.groups_of(1)) == pytest.approx(expected)


def test_groups_are_told_by_their_number_their_sizes_and_their_rows(labels: np.ndarray) -> None:
    table = SourceTable.of(bc.Pool.from_labels(labels))
    groups = np.repeat([0, 1, 2], [25, 10, 5])
    number, sizes = math.log(41), math.log(math.comb(39, 2))
    which = math.lgamma(41) - sum(math.lgamma(size + 1) for size in (25, 10, 5))
    assert table.length_of_groups(groups) == pytest.approx(number + sizes + which)
    assert table.length_with(groups) == pytest.approx(number + sizes + which + table.lengths(groups).sum())


def test_a_row_goes_where_its_labels_are_most_probable_and_without_labels_to_the_largest_group() -> None:
    labels = np.column_stack([np.repeat([0, 1], [30, 10])] * 3 + [np.arange(40)]).astype(float)
    labels[0, :3] = np.nan  # without a label
    labels[39, 0] = 0  # one label of three speaks for the other group
    # the last source, which is left out, keeps all rows apart
    table = SourceTable.of(bc.Pool.from_labels(labels)).select(np.arange(3))
    start = np.repeat([0, 1], [25, 15])  # five rows start in the wrong group, and so does the first
    start[0] = 1
    assert bc.metrics.ari(np.repeat([0, 1], [30, 10]), table.fit_groups(start)) == 1.0
