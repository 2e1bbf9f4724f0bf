"""The weighted clique against the definition; brute force on elements as the oracle for compressed rows."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import biconsensus as bc
from biconsensus.baselines._clique import clique, stability_quality


@given(st.integers(0, 10_000))
@settings(max_examples=25, deadline=None)
def test_the_clique_is_the_best_set_of_disjoint_candidates(seed):
    rng = np.random.default_rng(seed)
    groups = [rng.choice(8, rng.integers(1, 5), replace=False) for _ in range(8)]
    quality = rng.integers(1, 20, 8)
    pool = bc.Pool.from_groups(groups, 8)
    best = 0
    for picked in itertools.product([0, 1], repeat=8):
        chosen = [set(g) for g, take in zip(groups, picked) if take]
        if sum(map(len, chosen)) == len(set().union(*chosen)):
            best = max(best, int(np.dot(picked, quality)))
    labels = clique(pool, quality=quality)
    found = 0
    for k in set(labels) - {-1}:
        members = set(np.flatnonzero(labels == k))
        found += max(q for g, q in zip(groups, quality) if set(g) == members)
    assert found == best


def test_stability_is_size_times_the_mean_best_similarity_elsewhere():
    pool = bc.Pool.from_labels([[0, 0, 0, 1], [0, 0, 1, 1]])
    np.testing.assert_allclose(stability_quality(pool), [3 * 2 / 3, 1 * 1 / 2, 2 * 2 / 3, 2 * 1 / 2])
