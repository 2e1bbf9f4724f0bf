"""The default base clusterings: seven kinds of algorithms with many settings, limited so that they stay quick."""

from __future__ import annotations

import numpy as np
from sklearn.cluster import KMeans, MiniBatchKMeans
from sklearn.mixture import GaussianMixture

from biconsensus.protocols import FloatArray
from biconsensus.sources._clusterers import EstimatorSource
from biconsensus.sources._features import Features
from biconsensus.sources._landmarks import (
    GRAPH_LANDMARKS,
    MOST_VECTORS,
    TREE_LANDMARKS,
    DensityBasins,
    DensityTree,
    GuardedLinkage,
    LandmarkSource,
    NeighbourSpectral,
    WardCut,
)
from biconsensus.sources._running import NamedSource

Method = WardCut | GuardedLinkage | NeighbourSpectral | DensityBasins | DensityTree

MINI_BATCH_FROM = 20_000
"""Rows from which k-means works in mini-batches, and that a mixture gets to see."""
MOST_SEEN = 50_000
"""Rows that k-means gets to see: 500 for each of a hundred centres, whose standard error is then a twentieth of the
spread of their cluster."""
MIXTURE_BLOCK = 4096
"""Rows of which a mixture predicts the labels together: its tables then stay in the cache, a sixth of the time of all
rows at once."""
MOST_CLUSTERS = 100
"""Clusters that are asked for at most, which bounds the cost for large data."""


def default_sources(X: FloatArray) -> list[NamedSource]:
    """Base clusterings for unknown data: about seventy runs of seven kinds.

    For round groups k-means, Gaussian mixtures and Ward's tree; for groups of any shape a linkage that is guarded
    against tiny clusters, spectral clustering of the neighbour graph, basins of the density and HDBSCAN. Numbers of
    clusters go from 2 to 1.5 times the root of the number of rows. Columns are standardised unless they seem to share
    a unit, and of more than 30 columns the first 30 principal components are clustered.

    Parameters
    ----------
    X : (m, d) array
        The data: its size, and what is common to all clusterings of it, are taken from it.

    Returns
    -------
    list of NamedSource

    Examples
    --------
    >>> sources = default_sources(np.random.default_rng(0).normal(size=(100, 3)))
    >>> sorted({s.name.split("(")[0] for s in sources})
    ['gaussian mixture', 'guarded linkage', 'hdbscan', 'k-means', 'neighbour spectral', 'valleys', 'ward']
    """
    m, d = X.shape
    features = Features.of(X)
    top = int(np.clip(1.5 * np.sqrt(m), 2, min(MOST_CLUSTERS, m)))
    numbers = _spread(2, top, 14)
    few, vectors = (_spread(2, min(top, MOST_VECTORS), n) for n in (8, 14))
    sources = [_kmeans(m, k) for k in numbers]
    sources += [_mixture(m, d, k) for k in few]
    # quadratic in many dimensions, so it works on the landmarks of Ward's tree
    smallest = sorted({max(2, min(m, n)) for n in (5, 10, 20, 40)})
    sources += [_landmark("hdbscan", DensityTree(size), TREE_LANDMARKS) for size in smallest]
    if m >= 3:
        sources += [_landmark("ward", WardCut(k), TREE_LANDMARKS) for k in numbers]
        sources += [_landmark("guarded linkage", GuardedLinkage(k), GRAPH_LANDMARKS) for k in numbers]
        sources += [_landmark("neighbour spectral", NeighbourSpectral(k), GRAPH_LANDMARKS) for k in vectors]
        sources += [
            _landmark("valleys", DensityBasins(k, depth), GRAPH_LANDMARKS)
            for k in (10, 20)
            for depth in (1.5, 2.5, 3.5, 5.0)
        ]
    return [features.source(source) for source in sources]


def _spread(low: int, high: int, n: int) -> list[int]:
    """n numbers from low to high in equal ratios; fewer where the range is short."""
    return [int(k) for k in np.unique(np.round(np.geomspace(low, max(low, high), n)))]


def _kmeans(m: int, k: int) -> NamedSource:
    """k-means; of very many rows it sees some and predicts the others."""
    kind = MiniBatchKMeans if m >= MINI_BATCH_FROM else KMeans
    run = EstimatorSource(kind(k, n_init=3), min(m, MOST_SEEN), extend=True)
    return NamedSource(f"k-means({k})", run, {"n_clusters": k})


def _mixture(m: int, d: int, k: int) -> NamedSource:
    """Gaussian mixture; full covariances only where there are enough points for them."""
    kind = "full" if m >= 5 * k * d and d <= 12 else "diag"
    model = GaussianMixture(k, covariance_type=kind, reg_covar=1e-4)
    params = {"n_components": k, "covariance_type": kind}
    run = EstimatorSource(model, min(m, MINI_BATCH_FROM), extend=True, block=MIXTURE_BLOCK)
    return NamedSource(f"gaussian mixture({k})", run, params)


def _landmark(kind: str, method: Method, most: int) -> NamedSource:
    """A source on the landmarks."""
    shown = ", ".join(f"{value:g}" for value in vars(method).values())
    return NamedSource(f"{kind}({shown})", LandmarkSource(method, most), dict(vars(method)))
