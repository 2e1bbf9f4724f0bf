"""Disjoint blocks side by side: the same as one by one, and thousands of them without a mask for each."""

from __future__ import annotations

import numpy as np
import pytest

import biconsensus as bc
from biconsensus.matrix._blocks import Blocks


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
    truth = np.repeat(np.arange(500), 4)
    rng = np.random.default_rng(0)
    noisy = [np.where(rng.random(truth.size) < 0.02, rng.integers(500, size=truth.size), truth) for _ in range(5)]
    found = bc.find_consensus(noisy, min_elements=3)
    assert 480 <= len(found) <= 500
    assert sum(own.size for own in found.candidates) > 5 * 470
