"""Spectral clustering of counted rows."""

from __future__ import annotations

import numpy as np
import pytest

from biconsensus.sources._spectral import GaussianSpectralClustering, spectral_labels
from tests.helpers.blobs import X, same_partition


def test_spectral_labels_of_counted_rows_are_those_of_the_expanded_affinity():
    rng = np.random.default_rng(3)
    points = np.concatenate([rng.normal(0, 1, (6, 2)), rng.normal(6, 1, (6, 2)), rng.normal([0, 9], 1, (6, 2))])
    counts = rng.integers(1, 5, 18)
    affinity = np.exp(-0.1 * ((points[:, None] - points[None]) ** 2).sum(-1))
    expanded = np.repeat(np.arange(18), counts)
    whole = spectral_labels(affinity[np.ix_(expanded, expanded)], 3, random_state=0)
    short = spectral_labels(affinity, 3, random_state=0, counts=counts)
    assert same_partition(whole, short[expanded])


def test_the_scale_of_the_kernel_is_measured_in_distances():
    for scale, unit in (("max", 1.0), ("median", 1.0)):
        one = GaussianSpectralClustering(2, 0.3, scale=scale, random_state=0).fit_predict(X)
        ten = GaussianSpectralClustering(2, 0.3, scale=scale, random_state=0).fit_predict(X * 10 * unit)
        np.testing.assert_array_equal(one, ten)
    with pytest.raises(ValueError, match="scale: got 'mean'"):
        GaussianSpectralClustering(scale="mean").fit(X)


def test_parts_that_nothing_links_are_grouped_alike_in_any_order():
    # six parts and three clusters: without a weak link the leading eigenvectors would be any three of the six
    rng = np.random.default_rng(0)
    sizes = [5, 6, 7, 8, 9, 10]
    part = np.repeat(np.arange(6), sizes)
    affinity = np.where(part[:, None] == part, rng.uniform(0.5, 1.0, (45, 45)), 0.0)
    affinity = (affinity + affinity.T) / 2
    found = spectral_labels(affinity, 3, random_state=0)
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(45)
        assert same_partition(spectral_labels(affinity[np.ix_(order, order)], 3, random_state=0), found[order])
