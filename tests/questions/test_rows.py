"""Rows that questions are about, against counting pair by pair."""

from __future__ import annotations

import numpy as np
import pytest

import biconsensus as bc
from biconsensus.questions._rows import Rows, shared_share


@pytest.fixture(scope="module")
def labels() -> np.ndarray:
    """(30, 3) labels, some not seen, -1 for no group; no two rows are equal."""
    rng = np.random.default_rng(0)
    made = rng.integers(-1, 3, (30, 3)).astype(float)
    made[rng.random((30, 3)) < 0.3] = np.nan
    return np.column_stack([made, np.arange(30)])


def test_shares_count_the_sources_that_saw_both(labels: np.ndarray) -> None:
    pool = bc.Pool.from_labels(labels)
    rows = np.arange(30)
    both = ~np.isnan(labels[:, None]) & ~np.isnan(labels[None])
    same = both & (labels[:, None] == labels[None]) & (labels[:, None] >= 0)
    expected = same.sum(axis=2) / np.maximum(both.sum(axis=2), 1)
    assert (both.sum(axis=2) == 1).any()
    np.testing.assert_allclose(shared_share(pool, rows, rows[::-1]), expected[:, ::-1])


def test_real_memberships_count_where_they_are_not_zero() -> None:
    pool = bc.Pool.from_matrix(np.array([[0.2, 0.0, 0.9], [0.7, 0.4, 0.0]]))
    np.testing.assert_allclose(shared_share(pool, np.array([0]), np.array([1])), [[1 / 3]])


def test_a_row_that_was_not_drawn_is_near_the_most_similar_row_of_its_group(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("biconsensus.questions._rows.SAMPLE_ROWS", 40)
    monkeypatch.setattr("biconsensus.questions._rows.ROWS_AT_ONCE", 7)
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 3, 400)
    table = [np.where(rng.random(400) < 0.3, rng.integers(0, 3, 400), truth) for _ in range(8)]
    c = bc.find_consensus(table, n_groups=3)
    rows = Rows.of(c)
    every = np.arange(rows.groups.size)
    assert rows.rows.size < every.size
    near = rows.nearest(every)
    np.testing.assert_array_equal(near[rows.rows], np.arange(rows.rows.size))
    share = shared_share(c.pool, every, rows.rows)
    allowed = rows.groups[:, None] == rows.groups[rows.rows]
    best = np.where(allowed, share, -1.0).max(axis=1)
    np.testing.assert_allclose(share[every, near], best)
    assert allowed[every, near].all()
