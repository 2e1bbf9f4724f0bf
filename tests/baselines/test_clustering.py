"""Baselines on clusterings: brute force on elements as the oracle for compressed rows."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import fcluster
from scipy.cluster.hierarchy import linkage as scipy_linkage
from scipy.spatial.distance import squareform

import biconsensus as bc
from biconsensus.baselines import CONSENSUS, get_baseline
from biconsensus.baselines._clique import clique, stability_quality
from biconsensus.baselines._coassociation import coassociation
from biconsensus.baselines._cooccurrence import cooccurrence
from biconsensus.baselines._evidence_accumulation import evidence_accumulation
from biconsensus.baselines._jlinkage import jlinkage
from biconsensus.baselines._snmf import _factor, snmf
from biconsensus.baselines._spectral import spectral
from biconsensus.errors import InputError, TooLargeError, UnknownNameError

MINE = ("clique", "coassociation", "evidence_accumulation", "jlinkage", "snmf", "spectral")
PARTITION = np.repeat([0, 1, 2], [9, 7, 5])


def noisy_pool(seed=0, n_sources=7, flips=2):
    rng = np.random.default_rng(seed)
    table = np.tile(PARTITION[:, None], (1, n_sources))
    for column in table.T:
        column[rng.choice(21, flips, replace=False)] = rng.integers(3, size=flips)
    return bc.Pool.from_labels(table), table


def same(a, b):
    return len(set(zip(a, b))) == len(set(a)) == len(set(b))


labels_tables = st.lists(st.lists(st.integers(-1, 3), min_size=8, max_size=8), min_size=2, max_size=5).filter(
    lambda table: all(any(v >= 0 for v in row) for row in table)
)


@pytest.mark.parametrize("name", MINE)
def test_identical_partitions_come_back(name):
    pool = bc.Pool.from_labels(np.tile(PARTITION[:, None], (1, 5)))
    assert same(get_baseline(name)(pool, 3, random_state=0), PARTITION)


@pytest.mark.parametrize("name", MINE)
def test_a_few_errors_are_voted_down(name):
    pool, _ = noisy_pool()
    found = get_baseline(name)(pool, 3, random_state=0)
    # Groups picked whole keep the errors of the source that they come from.
    assert bc.metrics.ari(PARTITION, found) >= (0.75 if name in ("clique", "jlinkage") else 1.0)


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


def test_coassociation_needs_more_than_the_threshold():
    table = [[0, 0, 1], [0, 0, 1], [0, 1, 1], [0, 1, 1]]
    assert coassociation(bc.Pool.from_labels(table)).tolist() == [0, 1, 2]
    assert coassociation(bc.Pool.from_labels(table), threshold=0.49).tolist() == [0, 0, 0]
    with pytest.raises(InputError, match="threshold: got 1"):
        coassociation(bc.Pool.from_labels(table), threshold=1)


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


def test_snmf_on_distinct_rows_is_that_of_the_elements():
    pool, _ = noisy_pool(3)
    B, start = cooccurrence(pool), np.random.default_rng(0).uniform(size=(pool.rows.shape[0], 3))
    short, error = _factor(B, pool.counts.astype(float), start, 50, 0)
    whole = B[np.ix_(pool.inverse, pool.inverse)]
    long, whole_error = _factor(whole, np.ones(21), start[pool.inverse], 50, 0)
    np.testing.assert_allclose(short[pool.inverse], long, atol=1e-8)
    assert error == pytest.approx(whole_error, abs=1e-8)


def test_snmf_never_gets_worse():
    pool, _ = noisy_pool(4)
    B, s = cooccurrence(pool), pool.counts.astype(float)
    start = np.random.default_rng(1).uniform(size=(len(B), 3))
    errors = [_factor(B, s, start, n, -1)[1] for n in (5, 20, 80, 300)]
    assert errors[-1] < errors[0]
    with pytest.raises(InputError, match="snmf cannot find the number of groups"):
        snmf(pool)


def test_spectral_finds_the_number_by_the_eigengap():
    pool, _ = noisy_pool(5)
    assert same(spectral(pool, random_state=0), PARTITION)


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


@pytest.mark.parametrize("name", MINE)
def test_elements_in_no_candidate_are_in_no_group(name):
    table = np.tile(np.append(PARTITION, -1)[:, None], (1, 4))
    labels = get_baseline(name)(bc.Pool.from_labels(table), 3, random_state=0)
    assert labels[-1] == -1
    assert same(labels[:-1], PARTITION)


def test_every_registered_name_is_there():
    for name in CONSENSUS:
        assert callable(get_baseline(name))
    with pytest.raises(UnknownNameError, match="Did you mean 'spectral'"):
        get_baseline("spectrl")


def test_a_matrix_that_would_not_fit_is_refused_before_it_is_made():
    pool, _ = noisy_pool()
    with pytest.raises(TooLargeError, match="co-occurrence matrix"):
        cooccurrence(pool, memory_limit=100)
    with pytest.raises(TooLargeError, match="distances"):
        jlinkage(pool, memory_limit=100)


@pytest.mark.parametrize("name", MINE)
def test_a_wrong_number_of_groups_is_refused(name):
    with pytest.raises(InputError, match="n_groups: got 0"):
        get_baseline(name)(noisy_pool()[0], 0)
