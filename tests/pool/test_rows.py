"""Distinct rows are numbered exactly, whatever the hash does."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.sparse import csr_array

from biconsensus.pool import _rows as compress
from biconsensus.pool import _rows as rows_module
from biconsensus.pool._rows import (
    RowIndex,
    column_sizes,
    count_numbers,
    distinct_cells,
    gather,
    group_columns,
    group_hashes,
    mix,
    refine_groups,
    row_hashes,
)
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


@given(
    hnp.arrays(np.float64, st.tuples(st.integers(1, 20), st.integers(1, 5)), elements=st.sampled_from([0.0, 0.5, 1.0]))
)
def test_sparse_rows_with_and_without_collisions(dense):
    expected = expected_groups(dense.tolist())
    matrix = csr_array(dense)
    assert compress.group_rows(matrix)[1].tolist() == expected
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compress, "_hash_sparse", lambda matrix, key: np.zeros(matrix.shape[0], np.uint64))
        assert compress.group_rows(matrix)[1].tolist() == expected


def test_rows_with_different_keys_differ():
    matrix = csr_array(np.ones((4, 2)))
    _, groups = compress.group_rows(matrix, np.array([0, 1, 0, 1]))
    assert groups.tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize("many", [1, 2, 3, 7, 8, 1 << 20])
def test_numbers_are_counted_some_at_a_time(monkeypatch, many):
    monkeypatch.setattr(compress, "MANY", many)
    numbers = np.array([3, 1, 3, 0, 3, 1, 5], np.int32)
    assert count_numbers(numbers, 7).tolist() == [1, 2, 0, 3, 0, 1, 0]
    assert count_numbers(numbers[:0], 2).tolist() == [0, 0]


@pytest.mark.parametrize("many", [1, 2, 3, 7, 8, 1 << 20])
def test_values_are_gathered_some_at_a_time(monkeypatch, many):
    monkeypatch.setattr(compress, "MANY", many)
    found = gather(np.array([10, 20, 30], np.int64), np.array([2, 0, 1, 1, 2, 0, 2], np.int32))
    assert found.tolist() == [30, 10, 20, 20, 30, 10, 30]
    assert found.dtype == np.int64
    assert gather(np.array([True]), np.zeros(0, np.int32)).tolist() == []


def test_columns_are_as_large_as_what_they_store():
    matrix = csr_array(np.array([[1, 0, 1, 0], [1, 0, 0, 0], [1, 0, 1, 0]]))
    assert column_sizes(matrix).tolist() == [3, 0, 2, 0]
    wide = csr_array(np.array([[1, 0, 0, 0, 1]]))
    assert column_sizes(wide).tolist() == [1, 0, 0, 0, 1]
    assert column_sizes(csr_array(np.ones((4, 1)))).tolist() == [4]


@pytest.mark.parametrize("many", [1, 2, 5, 9, 1 << 20])
@pytest.mark.parametrize("shape", [(7, 4), (3, 9), (1, 1), (5, 1)])
def test_the_hash_of_a_row_is_the_sum_of_the_keys_of_its_columns(monkeypatch, many, shape):
    monkeypatch.setattr(compress, "MANY", many)
    rng = np.random.default_rng(4)
    matrix = csr_array(rng.random(shape) < 0.6)
    keys = mix(np.arange(shape[1]))
    expected = [sum(int(keys[j]) for j in np.flatnonzero(row)) % 2**64 for row in matrix.toarray()]
    assert [int(found) for found in row_hashes(matrix, keys)] == expected


def test_rows_without_entries_have_the_hash_zero():
    assert row_hashes(csr_array((3, 2), dtype=bool), mix(np.arange(2))).tolist() == [0, 0, 0]
    assert row_hashes(csr_array((0, 2), dtype=bool), mix(np.arange(2))).tolist() == []


def test_hashes_are_grouped_in_the_order_in_which_they_appear():
    first, groups = group_hashes(np.array([9, 2, 9, 2**64 - 1, 2, 0], np.uint64))
    assert first.tolist() == [0, 1, 3, 5]
    assert groups.tolist() == [0, 1, 0, 2, 1, 3]
    first, groups = group_hashes(np.zeros(0, np.uint64))
    assert first.size == groups.size == 0
    first, groups = group_hashes(np.array([7], np.uint64))
    assert (first.tolist(), groups.tolist()) == ([0], [0])


WORD = 2**64


def splitmix(key, salt=0):
    """The finaliser of splitmix64 in whole numbers of any size."""
    z = (key + 0x9E3779B97F4A7C15 * (salt + 1)) % WORD
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % WORD
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB % WORD
    return z ^ (z >> 31)


@given(st.lists(st.integers(0, WORD - 1), min_size=1, max_size=5), st.integers(0, 3))
def test_mix_is_splitmix64(keys, salt):
    assert compress.mix(np.array(keys, dtype=np.uint64), salt).tolist() == [splitmix(key, salt) for key in keys]


def test_mix_of_zero_has_the_published_value():
    assert compress.mix(np.array([0]))[0] == 0xE220A8397B1DCDAF


@pytest.mark.parametrize("real", [False, True])
def test_a_sparse_row_is_the_sum_of_its_cells_and_its_key(real):
    dense = np.array([[1, 0, 1], [0, 0, 0], [0, 1, 1]], dtype=np.float64 if real else np.uint8)
    key = np.array([4, 0, 7])

    def cell(j, value):
        number = splitmix(j)
        return splitmix(number ^ splitmix(int(np.float64(value).view(np.uint64)), 1)) if real else number

    expected = [
        (sum(cell(j, v) for j, v in enumerate(row) if v) + splitmix(int(k), 2)) % WORD for row, k in zip(dense, key)
    ]
    assert compress._hash_sparse(csr_array(dense), key).tolist() == expected


def test_without_a_collision_rows_are_grouped_once(monkeypatch):
    calls = []
    group = compress.group_hashes
    monkeypatch.setattr(compress, "group_hashes", lambda hashes: (calls.append(1), group(hashes))[1])
    compress.group_rows(csr_array(np.eye(5)))
    assert len(calls) == 1


@pytest.mark.parametrize(
    ("rows", "key"),
    [
        ([[1, 0], [0, 1]], [0, 0]),  # other places
        ([[1.0, 0], [2.0, 0]], [0, 0]),  # other values
        ([[1, 1], [1, 0]], [0, 0]),  # other lengths
        ([[1, 0], [1, 0]], [0, 1]),  # other keys
    ],
)
def test_rows_that_differ_are_told_apart_in_one_group(rows, key):
    together = np.array([0, 0])
    matrix = csr_array(np.array(rows, dtype=float))
    assert not compress._same_sparse(matrix, np.array(key), np.array([0]), together)
    assert compress._same_sparse(matrix, np.array(key), np.array([0, 1]), np.array([0, 1]))


def test_equal_rows_behind_others_are_seen_as_equal():
    matrix = csr_array(np.array([[1.0, 2.0, 0], [0, 0, 0], [3.0, 0, 0], [1.0, 2.0, 0]]))
    first, groups = np.array([0, 1, 2]), np.array([0, 1, 2, 0])
    assert compress._same_sparse(matrix, np.zeros(4, int), first, groups)


def test_group_numbers_are_narrow_while_they_fit():
    assert compress._smallest_int(2**31 - 1) is np.int32
    assert compress._smallest_int(2**31) is np.int64
    assert compress.group_hashes(np.array([5, 5, 1], np.uint64))[1].dtype == np.int32
    first, groups = compress.group_hashes(np.zeros(0, np.uint64))
    assert first.size == groups.size == 0


@pytest.mark.parametrize("cached", [1, 3, 1 << 17])
def test_sums_of_columns_some_rows_at_a_time(monkeypatch, cached):
    monkeypatch.setattr(compress, "CACHED", cached)
    dense = np.random.default_rng(0).integers(0, 2, (60, 4))
    amounts = np.arange(60)
    assert compress.column_sums(csr_array(dense), amounts).tolist() == (amounts @ dense).tolist()
    assert compress.column_sums(csr_array((0, 3), dtype=np.uint8), np.zeros(0)).tolist() == [0, 0, 0]
