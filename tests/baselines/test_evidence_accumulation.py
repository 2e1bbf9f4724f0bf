"""Evidence accumulation against the definition; brute force on elements as the oracle for compressed rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import fcluster
from scipy.cluster.hierarchy import linkage as scipy_linkage
from scipy.spatial.distance import squareform

import biconsensus as bc
from biconsensus.baselines._cooccurrence import cooccurrence
from biconsensus.baselines._evidence_accumulation import evidence_accumulation
from tests.helpers.noisy_pools import PARTITION, noisy_pool, same


@given(st.integers(0, 10_000), st.integers(2, 4))
@settings(max_examples=30, deadline=None)
def test_average_linkage_on_distinct_rows_is_that_of_the_elements(seed, n_groups):
    rng = np.random.default_rng(seed)
    # Many weights that are all different keep heights apart, so that the tree is unique; elements repeat rows.
    rows = rng.integers(3, size=(10, 24))
    pool = bc.Pool.from_labels(rows[rng.integers(10, size=25)], weights=1 + rng.random(24))
    whole = 1 - cooccurrence(pool)[np.ix_(pool.inverse, pool.inverse)]
    np.fill_diagonal(whole, 0)
    tree = scipy_linkage(squareform(np.maximum(whole, 0), checks=False), "average")
    found = evidence_accumulation(pool, n_groups)
    assert same(found, fcluster(tree, n_groups, "maxclust"))


def test_the_longest_lifetime_finds_the_number_of_groups():
    pool, _ = noisy_pool(1)
    assert same(evidence_accumulation(pool), PARTITION)
    assert same(evidence_accumulation(noisy_pool(1, flips=1)[0], linkage="single"), PARTITION)
    with pytest.raises(ValueError, match="linkage"):
        evidence_accumulation(pool, linkage="ward")
