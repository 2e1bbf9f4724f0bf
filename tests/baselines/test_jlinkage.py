"""J-linkage against the definition; brute force on elements as the oracle for compressed rows."""

from __future__ import annotations

import itertools

import numpy as np

import biconsensus as bc
from biconsensus.baselines._jlinkage import jlinkage
from tests.helpers.noisy_pools import PARTITION, noisy_pool, same


def naive_jlinkage(matrix):
    """J-linkage on elements, straight from its definition."""
    clusters = [({i}, frozenset(np.flatnonzero(row))) for i, row in enumerate(matrix)]
    while len(clusters) > 1:
        best = None
        for a, b in itertools.combinations(range(len(clusters)), 2):
            one, two = clusters[a][1], clusters[b][1]
            distance = 1 - len(one & two) / max(1, len(one | two))
            if distance < 1 and (best is None or distance < best[0]):
                best = distance, a, b
        if best is None:
            break
        _, a, b = best
        merged = clusters[a][0] | clusters[b][0], clusters[a][1] & clusters[b][1]
        clusters = [c for k, c in enumerate(clusters) if k not in (a, b)] + [merged]
    return clusters


def test_jlinkage_leaves_no_clusters_with_a_common_candidate():
    for seed in range(5):
        pool, _ = noisy_pool(seed, flips=5)
        labels, matrix = jlinkage(pool), pool.to_matrix().toarray() > 0
        shared = [matrix[labels == k].all(axis=0) for k in np.unique(labels)]
        assert all(group.any() for group in shared)
        assert not any((a & b).any() for a, b in itertools.combinations(shared, 2))


def test_jlinkage_is_that_of_the_definition():
    pool, _ = noisy_pool(0, flips=1)
    truth = np.empty(21, int)
    for k, (members, _) in enumerate(naive_jlinkage(pool.to_matrix().toarray())):
        truth[list(members)] = k
    assert same(jlinkage(pool), truth)


def test_jlinkage_keeps_the_largest_groups_when_told_how_many():
    pool = bc.Pool.from_labels(np.tile(PARTITION[:, None], (1, 3)))
    np.testing.assert_array_equal(jlinkage(pool, 2) == -1, PARTITION == 2)
