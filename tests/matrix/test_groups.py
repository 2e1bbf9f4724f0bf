"""Weights and shares behind groups, against the dense formulas."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

import biconsensus as bc
from biconsensus.matrix import _groups as shares
from biconsensus.matrix._groups import Blocks
from tests.helpers.strategies import paper_consensus


def test_single_blocks_have_their_masks() -> None:
    blocks = Blocks(np.array([1, -1, 0, 1]), np.array([0, 1, -1]), np.array([2.0, 3.0]))
    assert [block.rows.tolist() for block in blocks] == [[False, False, True, False], [True, False, False, True]]
    assert blocks[-1].columns.tolist() == [False, True, False]
    assert [block.gain for block in blocks[1:]] == [3.0]
    with pytest.raises(IndexError):
        blocks[2]


def test_order_is_by_gain_then_by_the_first_row() -> None:
    blocks = Blocks(np.array([2, 0, 1, 0]), np.array([0, 1, 2, -1]), np.array([1.0, 5.0, 1.0])).in_order()
    assert blocks.gains.tolist() == [5.0, 1.0, 1.0]
    assert blocks.rows.tolist() == [1, 2, 0, 2]
    assert blocks.columns.tolist() == [2, 0, 1, -1]
    assert blocks.picked(np.array([1])).rows.tolist() == [0, -1, -1, -1]


def test_hundreds_of_groups_are_found() -> None:
    truth = np.repeat(np.arange(250), 4)
    rng = np.random.default_rng(0)
    noisy = [np.where(rng.random(truth.size) < 0.02, rng.integers(250, size=truth.size), truth) for _ in range(5)]
    found = bc.find_consensus(noisy, min_elements=3)
    assert 240 <= len(found) <= 250
    assert sum(own.size for own in found.candidates) > 5 * 235


def dense_share(pool, behind):
    """Held over asked weight of every distinct row and group, from full arrays."""
    rows, seen = pool.rows.toarray().astype(float), np.ones(pool.rows.shape)
    if pool.unseen is not None:
        seen -= pool.unseen.toarray()[:, pool.mask_of]
    held, asked = rows @ behind, seen @ behind
    return np.divide(held / max(1.0, rows.max()), asked, out=np.zeros(held.shape), where=asked > 0)


@pytest.mark.parametrize("hidden", [0.0, 0.3])
@pytest.mark.parametrize("top", [1.0, 4.0])
def test_shares_are_those_of_the_full_arrays(hidden, top):
    rng = np.random.default_rng(0)
    inside = rng.random((30, 12)) < 0.4
    A = np.where(inside, rng.uniform(0.1, top, (30, 12)) if top > 1 else 1.0, 0.0)
    weights = np.append(rng.uniform(0.5, 2.0, 11), 0.0)
    pool = bc.Pool.from_matrix(A, weights=weights, seen=inside | (rng.random((30, 12)) >= hidden))
    groups = [np.array([0, 3, 5]), np.array([1, 2, 8, 11]), np.array([], int), np.array([4, 9])]
    behind = np.zeros((12, 4))
    for t, candidates in enumerate(groups):
        behind[candidates, t] = weights[candidates]
    found = shares.weights_behind(groups, weights)
    assert np.array_equal(found.toarray(), behind)
    assert shares.held_weight(pool.rows, found).toarray() == pytest.approx(pool.rows.toarray() @ behind)
    assert shares.held_share(pool, found).toarray() == pytest.approx(dense_share(pool, behind))


def test_weights_without_effect_are_not_stored():
    pool = bc.Pool.from_groups([[0, 1], [1, 2]], n_elements=3, weights=[1.0, 0.0])
    held = shares.held_weight(pool.rows, shares.weights_behind([np.array([0]), np.array([1])], pool.weights))
    assert held.nnz == 2
    assert shares.largest_in_rows(held).tolist() == [0, 0, -1]


def test_sums_by_part_keep_parts_without_candidates():
    behind = csr_array(np.array([[1.0, 0], [2, 0], [0, 4], [8, 0]]))
    assert shares.summed(behind, np.array([2, 0, 2, 2]), 4).toarray().tolist() == [[2, 0], [0, 0], [9, 4], [0, 0]]


def test_the_largest_value_of_a_row_and_the_first_of_equal_ones():
    matrix = csr_array(([3.0, 5, 5, 2, 7, 0], [1, 3, 2, 0, 1, 3], [0, 3, 3, 5, 6]), shape=(4, 4))
    assert shares.largest_in_rows(matrix).tolist() == [2, -1, 1, 3]
    assert shares.top_in_rows(matrix)[1].tolist() == [5, -np.inf, 7, 0]
    assert shares.first_in_rows(matrix).tolist() == [1, -1, 0, 3]
    at = shares.values_at(matrix, np.array([0, 0, 1, 2, 3]), np.array([3, 0, 1, 1, 3]))
    assert at.tolist() == [5, 0, 0, 7, 0]
    assert shares.values_at(matrix, np.zeros(0, int), np.zeros(0, int)).shape == (0,)


def test_very_many_groups_need_no_table_of_rows_and_groups():
    """1,000 rows, 2,000 candidates, 500 groups: one full array of shares would take 4 MB."""
    import tracemalloc

    def answer(n_groups):
        labels = np.repeat(np.arange(n_groups), 8)
        moved = [np.roll(labels, shift) for shift in (0, 0, 0, 1)]
        return paper_consensus(moved, min_elements=2, min_candidates=3, unassigned="nearest")

    answer(4)  # what is imported on the way does not count
    tracemalloc.start()
    c = answer(500)
    assert len(c) == 500
    assert c.backing.min() == 0.75
    assert c.behind.nnz == 4 * 500
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 3.8e6


def test_order_of_blocks_with_equal_gains_is_that_of_their_first_rows() -> None:
    blocks = Blocks(np.array([-1, 2, 0, -1, 2, 1]), np.array([0, 1, 2]), np.ones(3)).in_order()
    assert blocks.rows.tolist() == [-1, 0, 1, -1, 0, 2]
