"""Distinct rows are numbered exactly, whatever the hash does."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from biconsensus.pool import _rows as rows_module
from biconsensus.pool._rows import RowIndex, distinct_cells, group_columns, refine_groups
from tests.helpers.noisy_tables import expected_groups, noisy


def reference(words):
    """Numbers in the order of first appearance, by a dictionary."""
    known: dict[bytes, int] = {}
    return np.array([known.setdefault(row.tobytes(), len(known)) for row in words])


def ranked(index, numbers):
    return index.ranks()[numbers]


def table(seed, n, width, spread):
    return np.random.default_rng(seed).integers(0, spread, (n, width)).astype(np.uint64)


@pytest.mark.parametrize("bits", [64, 10, 3, 0])
@pytest.mark.parametrize("spread", [2, 7, 1000])
def test_collisions_cannot_change_the_answer(monkeypatch, bits, spread):
    full = rows_module.hash_words
    low = np.uint64(64 - bits)
    weak = {0: lambda w: np.zeros(len(w), np.uint64)}.get(bits, lambda w: (full(w) >> low) << low)
    monkeypatch.setattr(rows_module, "hash_words", weak)
    words = table(0, 800, 3, spread)
    index = RowIndex(3)
    places = np.arange(800).reshape(4, 200)
    numbers = np.concatenate([index.number(words[part], part) for part in places])
    assert (ranked(index, numbers) == reference(words)).all()
    assert (index.rows[numbers] == words).all()
    assert (index.number(words) == numbers).all()


def test_table_of_slots_grows():
    words = table(1, 60_000, 2, 2**40)
    index = RowIndex(2)
    numbers = index.number(words, np.arange(60_000))
    assert index.size == 60_000
    assert (ranked(index, numbers) == np.arange(60_000)).all()
    assert (index.first[numbers] == np.arange(60_000)).all()


def test_unknown_rows_get_minus_one_and_are_not_learnt():
    index = RowIndex(1)
    index.number(np.array([[5], [6]], np.uint64), np.arange(2))
    assert index.number(np.array([[6], [7], [5]], np.uint64)).tolist() == [1, -1, 0]
    assert index.size == 2


@given(st.lists(st.lists(st.integers(0, 5), min_size=2, max_size=2), min_size=1, max_size=60), st.integers(1, 7))
@settings(deadline=None)
def test_any_division_into_indexes_gives_the_same_rows(cells, n_parts):
    words = np.array(cells, np.uint64)
    places = np.arange(len(words))
    parts = np.array_split(places, n_parts)
    own = []
    for part in parts:
        index = RowIndex(2)
        index.number(words[part], part)
        own.append(index)
    whole = own[-1]
    for index in own[:-1]:
        whole.absorb(index.rows, index.first)
    whole.renumber(whole.ranks())
    assert (whole.number(words) == reference(words)).all()
    assert (words[whole.first] == whole.rows).all()


@pytest.fixture
def small_segments(monkeypatch):
    """Segments and blocks so small that a small table has many of them."""
    monkeypatch.setattr(rows_module, "SEGMENT", 97)
    monkeypatch.setattr(rows_module, "BLOCK_BYTES", 800)


@pytest.mark.parametrize("n_jobs", [1, 2, 5])
@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.int64, np.uint8])
@pytest.mark.parametrize("order", ["C", "F"])
def test_group_columns_against_numpy(small_segments, n_jobs, dtype, order):
    table = np.asarray(np.abs(noisy(dtype=np.int16)).astype(dtype), order=order)
    first, groups = group_columns([table[:, k] for k in range(table.shape[1])], n_jobs)
    _, where, inverse = np.unique(table, axis=0, return_index=True, return_inverse=True)
    assert (first == np.sort(where)).all()
    assert (where[inverse.ravel()] == first[groups]).all()


def test_columns_of_different_types_and_odd_widths(small_segments):
    table = noisy(c=7)
    columns = [
        table[:, k].astype(t) for k, t in enumerate([np.int8, np.int64, np.int16, np.int32, np.int8, np.int64, np.int8])
    ]
    assert (group_columns(columns, 2)[1] == group_columns([table[:, k] for k in range(7)], 1)[1]).all()


def test_read_only_and_reversed_columns(small_segments):
    table = noisy()
    table.flags.writeable = False
    expected = group_columns([table[:, k].copy() for k in range(6)], 1)[1]
    assert (group_columns([table[:, k] for k in range(6)], 2)[1] == expected).all()
    assert (group_columns([table[:, k] for k in range(5, -1, -1)], 2)[1] == expected).all()


tables = hnp.arrays(np.int16, st.tuples(st.integers(1, 40), st.integers(1, 4)), elements=st.integers(-3, 3))


@given(tables)
def test_rows_are_grouped_in_order_of_appearance(table):
    first, groups = group_columns(list(table.T))
    assert groups.tolist() == expected_groups(table.tolist())
    assert np.array_equal(table[first][groups], table)
    assert (np.diff(first) > 0).all()


def test_wide_ranges_need_no_table():
    column = np.array([0, 2**40, 2**40, -(2**40)])
    _, groups = group_columns([column])
    assert groups.tolist() == [0, 1, 1, 2]


def test_long_tables_cross_the_chunk_border():
    column = np.arange(3 * 65536) % 1000
    first, groups = group_columns([column, column // 7])
    assert first.size == 1000
    assert np.array_equal(groups, column)


@given(tables)
def test_distinct_rows_come_with_their_groups(table):
    cells, groups = distinct_cells(list(table.T))
    assert np.array_equal(cells[groups], table)
    assert groups.tolist() == expected_groups(table.tolist())


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 60).flatmap(
        lambda m: st.tuples(*(hnp.arrays(np.int64, m, elements=st.integers(0, high)) for high in (5, 40)))
    ),
    st.sampled_from([np.int16, np.int32, np.int64, np.uint64]),
)
def test_groups_are_refined_as_pairs_are_grouped(pair, dtype):
    coarse, finer = pair
    wanted = reference(np.column_stack(pair))
    for first, numbers in (
        refine_groups(coarse, finer.astype(dtype)),
        group_columns([coarse, finer.astype(dtype)]),
        group_columns([coarse - 3, finer.astype(dtype)]),
    ):
        np.testing.assert_array_equal(numbers, wanted)
        np.testing.assert_array_equal(first, [np.flatnonzero(wanted == k)[0] for k in range(wanted.max() + 1)])
