"""Counts and hashes that are made some at a time, against plain sums; groups of hashes at their borders."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from biconsensus.pool import _distinct as compress
from biconsensus.pool._distinct import column_sizes, count_numbers, gather, group_hashes, mix, row_hashes


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
