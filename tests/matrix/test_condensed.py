"""The order of rows, columns and sources depends on what they hold."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import biconsensus as bc
from biconsensus.matrix._condensed import Condensed, _colours_of_counts, canonical_order, relative
from biconsensus.matrix._matrix import PreferenceMatrix
from biconsensus.pool._rows import mix
from tests.helpers.strategies import examples


def canonical(table: np.ndarray) -> PreferenceMatrix:
    """The canonical matrix of a (c, m) label table."""
    return Condensed.of(PreferenceMatrix.from_pool(bc.Pool.from_labels(list(table))), divide=True).whole


def noisy(seed: int) -> np.ndarray:
    """(c, m) labels with noise, some of them not seen."""
    rng = np.random.default_rng(seed)
    n_elements, n_sources, n_groups = (int(rng.integers(*bounds)) for bounds in ((4, 40), (2, 7), (2, 5)))
    truth = rng.integers(0, n_groups, n_elements)
    noise = rng.random((n_sources, n_elements)) < rng.uniform(0, 0.7)
    table = np.where(noise, rng.integers(0, n_groups, noise.shape), truth).astype(float)
    if seed % 3 == 0:
        table[rng.random(table.shape) < 0.2] = np.nan
        table[:, 0] = 0.0
    return table


def shuffled(table: np.ndarray, seed: int) -> np.ndarray:
    """The same table with elements, sources and label names permuted."""
    rng = np.random.default_rng(seed)
    table = table[rng.permutation(len(table))][:, rng.permutation(table.shape[1])]
    names = [rng.permutation(600) for _ in table]
    return np.array(
        [np.where(np.isnan(row), np.nan, name[np.nan_to_num(row).astype(int)]) for row, name in zip(table, names)]
    )


def assert_same(here: PreferenceMatrix, there: PreferenceMatrix) -> None:
    """Equal to the last bit."""
    assert here.shape == there.shape
    assert np.array_equal(here.entries.toarray(), there.entries.toarray())
    assert np.array_equal(here.counts, there.counts)
    assert np.array_equal(here.backers.toarray(), there.backers.toarray())
    assert here.weights == pytest.approx(there.weights)


@examples(50)
@given(seed=st.integers(0, 10_000), times=st.sampled_from([(1, 1), (2, 1), (1, 2), (3, 2)]))
def test_order_names_and_copies_change_nothing(seed: int, times: tuple[int, int]) -> None:
    table = noisy(seed)
    copied = np.repeat(np.repeat(table, times[0], axis=0), times[1], axis=1)
    assert_same(canonical(table), canonical(shuffled(copied, seed + 1)))


def test_interchangeable_rows_stay_with_their_columns() -> None:
    pairs = np.repeat(np.arange(6), 4)
    quarters = np.repeat([0, 1, 2], 8)
    cycle = np.tile(np.repeat([0, 1], 2), 6) + 2 * pairs
    table = np.array([pairs, quarters, cycle], dtype=float)
    for seed in range(10):
        assert_same(canonical(table), canonical(shuffled(table, seed)))


def test_columns_of_very_many_singletons_follow_their_rows() -> None:
    table = np.array([np.arange(500), np.repeat([0, 1], 250)], dtype=float)
    assert_same(canonical(table), canonical(shuffled(table, 0)))


def test_real_values_tell_rows_apart() -> None:
    values = np.array([[0.5, 0.0], [0.25, 0.0], [0.0, 1.0]])
    here = PreferenceMatrix.from_pool(bc.Pool.from_matrix(values))
    there = PreferenceMatrix.from_pool(bc.Pool.from_matrix(values[[2, 0, 1]][:, ::-1]))
    ordered = [part.entries.toarray()[np.ix_(*canonical_order(part)[:2])] for part in (here, there)]
    assert np.array_equal(*ordered)


def test_the_way_back_gives_the_same_block() -> None:
    problem = PreferenceMatrix.from_pool(bc.Pool.from_labels(list(noisy(5))))
    condensed = Condensed.of(problem, divide=True)
    rng = np.random.default_rng(0)
    from biconsensus.protocols import Block

    rows, columns = (rng.random(size) < 0.5 for size in condensed.whole.shape)
    (block,) = condensed.given_blocks([Block(rows, columns, 1.0)])
    assert np.array_equal(
        problem.entries.toarray()[np.ix_(np.sort(condensed.rows[rows]), np.flatnonzero(block.columns))],
        problem.entries.toarray()[np.ix_(block.rows, block.columns)],
    )
    assert problem.n_elements(block.rows) == condensed.whole.n_elements(rows) * condensed.units[0]


@given(st.lists(st.integers(1, 30), min_size=1, max_size=40))
def test_counts_have_the_colours_of_their_shares(counts: list[int]) -> None:
    given_counts = np.array(counts)
    assert (_colours_of_counts(given_counts) == mix(relative(given_counts).view(np.uint64))).all()
