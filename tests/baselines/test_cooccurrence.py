"""Co-occurrences against the definition; brute force on elements as the oracle for compressed rows."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import biconsensus as bc
from biconsensus.baselines._cooccurrence import cooccurrence

labels_tables = st.lists(st.lists(st.integers(-1, 3), min_size=8, max_size=8), min_size=2, max_size=5).filter(
    lambda table: all(any(v >= 0 for v in row) for row in table)
)


def test_cooccurrence_counts_the_sources_that_saw_both():
    table = [[0, 0, 1, None], [0, 1, 1, 1], [0, 0, 0, -1]]
    B = cooccurrence(bc.Pool.from_labels(table))
    expected = np.array(
        [[1, 2 / 3, 1 / 3, 0], [2 / 3, 1, 2 / 3, 1 / 2], [1 / 3, 2 / 3, 1, 1 / 2], [0, 1 / 2, 1 / 2, 1 / 2]]
    )
    np.testing.assert_allclose(B, expected)


@given(labels_tables)
@settings(max_examples=40, deadline=None)
def test_cooccurrence_of_partitions_is_a_mean_of_block_matrices(table):
    pool = bc.Pool.from_labels(table)
    expected = np.mean([[[a == b and a >= 0 for b in row] for a in row] for row in np.array(table)], axis=0)
    np.testing.assert_allclose(cooccurrence(pool)[np.ix_(pool.inverse, pool.inverse)], expected, atol=1e-12)
