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
