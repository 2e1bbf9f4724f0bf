"""Spectral clustering of Ng, Jordan and Weiss, on any affinity."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import eigh
from scipy.spatial.distance import pdist, squareform
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import KMeans
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from biconsensus._checks import check_memory
from biconsensus.errors import InputError
from biconsensus.protocols import FloatArray, IntArray

SCALES: dict[str | None, Callable[[FloatArray], float]] = {
    None: lambda distances: 1.0,
    "median": lambda distances: float(np.median(distances)),
    "max": lambda distances: float(distances.max()),
}
"""What the width of the kernel is measured in."""
WEAKEST_LINK = 1e-9
"""Affinity that every two elements have at least, over the mean: without it the parts of an affinity that falls apart
have the same eigenvalue, and the processor would decide which of their eigenvectors lead. Far above what rounding
changes (1e-16), far below what an affinity says."""


def spectral_labels(
    affinity: FloatArray, n_clusters: int, random_state: Any = None, n_init: int = 20, counts: IntArray | None = None
) -> IntArray:
    """Cluster an affinity by k-means on its leading normalised eigenvectors.

    Parameters
    ----------
    affinity : (m, m) array
        Symmetric and not negative.
    n_clusters : int
        Number of clusters, K.
    random_state : int, RandomState or None
        Seed of k-means.
    n_init : int, default=20
        Starts of k-means.
    counts : (m,) array of int or None
        How many identical elements each row stands for; labels are the same as for the expanded affinity.

    Returns
    -------
    (m,) array of int
        Labels 0 to K - 1.

    Notes
    -----
    With degrees d = W 1, the K leading eigenvectors of D^{-1/2} W D^{-1/2}, their rows scaled to length one. A row that
    stands for s elements enters as sqrt(s_i s_j) W_ij: the eigenvectors of the expanded matrix are constant on it. All
    elements are linked by a billionth of the mean affinity, so that the answer is the same on every machine where W
    falls into more than K parts.

    Examples
    --------
    >>> W = np.kron(np.eye(2), np.ones((3, 3)))
    >>> labels = spectral_labels(W, 2, random_state=0)
    >>> bool(labels[0] == labels[2] != labels[3] == labels[5])
    True
    """
    m = len(affinity)
    if not 1 <= n_clusters <= m:
        raise InputError(f"n_clusters: got {n_clusters} for {m} distinct elements; give 1 to {m}.")
    s = np.ones(m) if counts is None else counts.astype(np.float64)
    linked = affinity + WEAKEST_LINK * float(s @ affinity @ s) / s.sum() ** 2
    degrees = linked @ s
    scale = np.sqrt(s / np.where(degrees > 0, degrees, 1.0))
    _, vectors = eigh(linked * np.outer(scale, scale), subset_by_index=(m - n_clusters, m - 1))
    vectors = vectors / np.sqrt(s)[:, None]
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    embedding = vectors / np.where(lengths > 0, lengths, 1.0)
    kmeans = KMeans(n_clusters, n_init=n_init, random_state=check_random_state(random_state))
    labels: IntArray = kmeans.fit(embedding, sample_weight=s).labels_.astype(np.int64)
    return labels


class GaussianSpectralClustering(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Spectral clustering with the affinity exp(-d^2 / (2 sigma^2)) and an empty diagonal.

    Parameters
    ----------
    n_clusters : int, default=2
        Number of clusters.
    sigma : float, default=1.0
        Width of the kernel, in units of the data, or of the `scale`.
    scale : {None, "median", "max"}, default=None
        What sigma is a multiple of: 1, or the median or the largest distance between two rows.
    n_init : int, default=20
        Starts of k-means.
    random_state : int, RandomState or None
        Seed of k-means.

    Attributes
    ----------
    labels_ : (m,) array of int
        Labels 0 to n_clusters - 1.

    Examples
    --------
    >>> X = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]])
    >>> labels = GaussianSpectralClustering(2, sigma=0.5, random_state=0).fit_predict(X)
    >>> bool((labels[:3] == labels[0]).all() and (labels[3:] == labels[3]).all() and labels[0] != labels[3])
    True
    """

    def __init__(
        self,
        n_clusters: int = 2,
        sigma: float = 1.0,
        *,
        scale: str | None = None,
        n_init: int = 20,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.sigma = sigma
        self.scale = scale
        self.n_init = n_init
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> GaussianSpectralClustering:
        """Cluster the rows of X, (m, d)."""
        X = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        if self.scale not in SCALES:
            raise InputError(f"scale: got {self.scale!r}; give one of {', '.join(map(repr, SCALES))}.")
        check_memory(f"spectral clustering of {len(X)} elements", 32 * len(X) ** 2)
        distances = pdist(X)
        unit = SCALES[self.scale](distances)
        width = self.sigma * (unit if unit > 0 else 1.0)
        affinity = squareform(np.exp(-0.5 * (distances / width) ** 2))
        self.labels_ = spectral_labels(affinity, self.n_clusters, self.random_state, self.n_init)
        return self
