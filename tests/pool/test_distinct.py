"""Distinct rows, exact whatever the hash does."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.sparse import csr_array

from biconsensus.pool import _distinct as compress
from biconsensus.pool._distinct import column_sizes, count_numbers, gather, group_hashes, mix, row_hashes
from tests.helpers.noisy_tables import expected_groups


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
