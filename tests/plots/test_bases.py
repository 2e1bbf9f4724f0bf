"""Labels of one source of a pool."""

from __future__ import annotations

import numpy as np

import biconsensus as bc
from biconsensus import plots


def test_source_labels_give_back_the_table() -> None:
    table = np.array([[0, 1, -1], [0, 1, 2], [1, 0, 2], [1, 0, 2]])
    pool = bc.Pool.from_labels(table)
    np.testing.assert_array_equal(plots.source_labels(pool, 0), table[:, 0])
    np.testing.assert_array_equal(plots.source_labels(pool, 1), table[:, 1])
    np.testing.assert_array_equal(plots.source_labels(pool, 2), [-1, 0, 0, 0])
