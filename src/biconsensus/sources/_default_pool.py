"""The pool for data that nothing is known about: many views of it, sized so that it stays quick."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import HDBSCAN, AgglomerativeClustering, KMeans, MeanShift, MiniBatchKMeans, estimate_bandwidth
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted, validate_data

from biconsensus.protocols import FloatArray, IntArray
from biconsensus.sources._clusterers import EstimatorSource
from biconsensus.sources._running import NamedSource
from biconsensus.sources._spectral import GaussianSpectralClustering

QUADRATIC_ROWS = 1000
"""Rows that methods of quadratic cost get to see; the others take the label of the nearest one."""
MINI_BATCH_FROM = 20_000
"""Rows from which k-means works in mini-batches."""
SAME_UNIT = 4.0
"""Ratio of the outer quartiles of the features' ranges up to which they are taken to share a unit."""


def default_sources(X: FloatArray) -> list[NamedSource]:
    """Base clusterings for unknown data: about forty runs of six kinds.

    k-means and Gaussian mixtures over a range of k, on random parts of rows and features; agglomerative and spectral
    clustering over a range of k, mean-shift and HDBSCAN over a range of sizes. Features are standardised unless they
    seem to share a unit.

    Parameters
    ----------
    X : (m, d) array
        The data: only its size and the ranges of its features are looked at.

    Returns
    -------
    list of NamedSource

    Examples
    --------
    >>> sources = default_sources(np.random.default_rng(0).normal(size=(100, 3)))
    >>> sorted({s.name.split("(")[0] for s in sources})
    ['agglomerative', 'gaussian mixture', 'hdbscan', 'k-means', 'mean-shift', 'spectral']
    """
    m, d = X.shape
    scaled = not share_a_unit(X)
    top = int(np.clip(np.sqrt(m), 2, 14))
    sources = [_kmeans(m, k, i, d) for i, k in enumerate(_spread(2, top, 16))]
    sources += [_mixture(m, d, k) for k in _spread(2, min(top, 12), 8)]
    sources += [
        _source(
            "agglomerative",
            AgglomerativeClustering(k, linkage="ward"),
            {"n_clusters": k, "linkage": "ward"},
            QUADRATIC_ROWS,
        )
        for k in _spread(2, top, 6)
    ]
    sources += [
        _source(
            "spectral", GaussianSpectralClustering(k, 0.2, scale="median", n_init=5), {"n_clusters": k}, QUADRATIC_ROWS
        )
        for k in _spread(2, min(top, 10), 4)
    ]
    sources += [_source("mean-shift", QuantileMeanShift(q), {"quantile": q}, QUADRATIC_ROWS // 2) for q in (0.1, 0.2)]
    sources += [
        _source("hdbscan", HDBSCAN(min_cluster_size=size, copy=True), {"min_cluster_size": size}, 2 * QUADRATIC_ROWS)
        for size in sorted({max(2, min(m, n)) for n in (5, 10, 20)})
    ]
    return [_standardised(source) for source in sources] if scaled else sources


def share_a_unit(X: FloatArray) -> bool:
    """Whether the ranges of the features are alike enough to be compared as they are."""
    ranges = np.ptp(X, axis=0)
    ranges = ranges[ranges > 0]
    if ranges.size == 0:
        return True
    low, high = np.percentile(ranges, [25, 75])
    return bool(high <= SAME_UNIT * low)


class QuantileMeanShift(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Mean-shift whose bandwidth is a quantile of the distances between neighbours.

    Parameters
    ----------
    quantile : float, default=0.2
        Share of the points in a neighbourhood of the bandwidth's size.

    Attributes
    ----------
    labels_ : (m,) array of int
        Labels from 0.

    Examples
    --------
    >>> X = np.array([[0.0], [0.1], [0.2], [0.3], [9.0], [9.1], [9.2], [9.3]])
    >>> QuantileMeanShift(0.5).fit_predict(X).tolist() in ([0] * 4 + [1] * 4, [1] * 4 + [0] * 4)
    True
    """

    def __init__(self, quantile: float = 0.2) -> None:
        self.quantile = quantile

    def fit(self, X: Any, y: Any = None) -> QuantileMeanShift:
        """Cluster the rows of X, (m, d)."""
        X = validate_data(self, X, dtype=np.float64)
        bandwidth = estimate_bandwidth(X, quantile=self.quantile)
        self.shift_ = MeanShift(bandwidth=bandwidth if bandwidth > 0 else 1.0, bin_seeding=X.shape[1] <= 3).fit(X)
        self.labels_: IntArray = self.shift_.labels_.astype(np.int64)
        return self

    def predict(self, X: Any) -> IntArray:
        """Label of the nearest mode for each row of X, (p, d)."""
        check_is_fitted(self)
        labels: IntArray = self.shift_.predict(validate_data(self, X, dtype=np.float64, reset=False)).astype(np.int64)
        return labels


def _spread(low: int, high: int, n: int) -> list[int]:
    """n numbers from low to high, evenly; fewer where the range is short, except that k-means may repeat."""
    return [int(k) for k in np.unique(np.round(np.linspace(low, max(low, high), n)))]


def _kmeans(m: int, k: int, i: int, d: int) -> NamedSource:
    """k-means on four fifths of the rows, every other one on two thirds of the features."""
    kind = MiniBatchKMeans if m >= MINI_BATCH_FROM else KMeans
    features = 2 / 3 if i % 2 and d >= 4 else 1.0
    params = {"n_clusters": k, "rows": 0.8, "features": features}
    return NamedSource(f"k-means({k})", EstimatorSource(kind(k, n_init=3), _share(m, 0.8, k), features), params)


def _mixture(m: int, d: int, k: int) -> NamedSource:
    """Gaussian mixture; full covariances only where there are enough points for them."""
    kind = "full" if m >= 5 * k * d and d <= 12 else "diag"
    model = GaussianMixture(k, covariance_type=kind, reg_covar=1e-4)
    rows = min(_share(m, 0.8, k), MINI_BATCH_FROM) if m > MINI_BATCH_FROM else _share(m, 0.8, k)
    params = {"n_components": k, "covariance_type": kind}
    return NamedSource(f"gaussian mixture({k})", EstimatorSource(model, rows, extend=m > MINI_BATCH_FROM), params)


def _share(m: int, share: float, k: int) -> int:
    """Number of rows to draw: a share, but never fewer than two for each cluster."""
    return min(m, max(round(share * m), 2 * k))


def _source(kind: str, estimator: Any, params: dict[str, Any], rows: int) -> NamedSource:
    """A source of quadratic cost."""
    shown = next(iter(params.values()))
    return NamedSource(f"{kind}({shown})", EstimatorSource(estimator, rows, extend=True), params)


def _standardised(source: NamedSource) -> NamedSource:
    """The same source on standardised features."""
    run = source.run
    assert isinstance(run, EstimatorSource)
    pipeline = make_pipeline(StandardScaler(), run.estimator)
    scaled = EstimatorSource(pipeline, run.rows, run.features, run.extend)
    return NamedSource(source.name, scaled, {**source.params, "standardised": True})
