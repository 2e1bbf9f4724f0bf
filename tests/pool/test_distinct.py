"""Distinct rows, exact whatever the hash does."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.sparse import csr_array

from biconsensus.pool import _distinct as compress

tables = hnp.arrays(np.int16, st.tuples(st.integers(1, 40), st.integers(1, 4)), elements=st.integers(-3, 3))


def expected_groups(rows):
    """Groups in order of appearance, by a dictionary."""
    seen = {}
    return [seen.setdefault(tuple(row), len(seen)) for row in rows]


@given(tables)
def test_rows_are_grouped_in_order_of_appearance(table):
    first, groups = compress.group_table(list(table.T))
    assert groups.tolist() == expected_groups(table.tolist())
    assert np.array_equal(table[first][groups], table)
    assert (np.diff(first) > 0).all()


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


def test_wide_ranges_need_no_table():
    column = np.array([0, 2**40, 2**40, -(2**40)])
    _, groups = compress.group_table([column])
    assert groups.tolist() == [0, 1, 1, 2]


def test_long_tables_cross_the_chunk_border():
    column = np.arange(3 * 65536) % 1000
    first, groups = compress.group_table([column, column // 7])
    assert first.size == 1000
    assert np.array_equal(groups, column)


@given(tables)
def test_distinct_rows_come_with_their_groups(table):
    cells, groups = compress.distinct_rows(list(table.T))
    assert np.array_equal(cells[groups], table)
    assert groups.tolist() == expected_groups(table.tolist())
