"""The hashes themselves: a poor hash gives right answers slowly, so only its values can tell."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from biconsensus.pool import _distinct as compress

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
