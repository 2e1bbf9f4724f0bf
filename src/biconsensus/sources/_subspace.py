"""Sparse subspace clustering, by the alternating directions of Elhamifar and Vidal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from biconsensus._checks import check_memory
from biconsensus.errors import InputError
from biconsensus.protocols import FloatArray, IntArray
from biconsensus.sources._self_expression import SelfExpression
from biconsensus.sources._spectral import spectral_labels


def affinity_of(coefficients: FloatArray, rho: float = 1.0) -> FloatArray:
    """Symmetric affinity |C| + |C|^T of coefficients whose columns were cut and scaled.

    Parameters
    ----------
    coefficients : (m, m) array
        Column i expresses point i by the others.
    rho : float, default=1.0
        Share of the L1 norm of a column to keep, largest entries first; 1 keeps all.

    Returns
    -------
    (m, m) array

    Examples
    --------
    >>> affinity_of(np.array([[0.0, 2.0], [4.0, 0.0]]))
    array([[0., 2.],
           [2., 0.]])
    """
    C = np.abs(coefficients)
    if rho < 1:
        order = np.argsort(-C, axis=0, kind="stable")
        ranked = np.take_along_axis(C, order, axis=0)
        before = np.cumsum(ranked, axis=0) - ranked
        ranked[before >= rho * ranked.sum(axis=0)] = 0.0
        np.put_along_axis(C, order, ranked, axis=0)
    peak = C.max(axis=0)
    C /= np.where(peak > 0, peak, 1.0)
    symmetric: FloatArray = C + C.T
    return symmetric


def compress(X: FloatArray, n_components: int) -> FloatArray:
    """Coordinates (m, r) of points (m, d) in their r leading principal directions, not centred."""
    _, _, directions = np.linalg.svd(X, full_matrices=False)
    compressed: FloatArray = X @ directions[:n_components].T
    return compressed


def subspace_path(
    X: FloatArray,
    n_clusters: int,
    kappas: Sequence[float],
    *,
    affine: bool = False,
    outliers: float | None = None,
    rho: float = 1.0,
    random_state: Any = None,
) -> list[IntArray]:
    """Cluster the same points for many kappas, with one factorisation for all.

    Parameters
    ----------
    X : (m, d) array
        Points.
    n_clusters : int
        Number of subspaces.
    kappas : sequence of float
        Values of the regularisation.
    affine : bool, default=False
        Subspaces need not pass through the origin.
    outliers : float or None, default=None
        Weight of a sparse outlier term (gamma times the largest L1 norm of a point); None leaves it out.
    rho : float, default=1.0
        Share of each column of the coefficients that is kept.
    random_state : int, RandomState or None
        Seed.

    Returns
    -------
    list of (m,) arrays of int
        Labels for each kappa.

    Examples
    --------
    >>> X = np.vstack([np.outer(np.arange(1.0, 6), [1, 0, 0]), np.outer(np.arange(1.0, 6), [0, 1, 1])])
    >>> [len(set(labels[:5])) for labels in subspace_path(X, 2, [20, 50], random_state=0)]
    [1, 1]
    """
    problem = SelfExpression.of(X, affine, outliers)
    random = check_random_state(random_state)
    return [spectral_labels(affinity_of(problem.solve(kappa)[0], rho), n_clusters, random) for kappa in kappas]


class SparseSubspaceClustering(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Cluster points that lie near a union of subspaces.

    Parameters
    ----------
    n_clusters : int, default=2
        Number of subspaces.
    kappa : float, default=800.0
        Regularisation: large values ask for an exact expression of the points.
    affine : bool, default=False
        Subspaces need not pass through the origin.
    outliers : float or None, default=None
        Weight of a sparse outlier term; None leaves it out.
    rho : float, default=1.0
        Share of each column of the coefficients that is kept.
    n_components : int or None, default=None
        Principal directions to compress the points to first.
    max_iter : int, default=200
        Iterations.
    tol : float, default=2e-4
        Largest residual of the constraints at which to stop.
    random_state : int, RandomState or None
        Seed of the spectral step.

    Attributes
    ----------
    labels_ : (m,) array of int
        Labels 0 to n_clusters - 1.
    affinity_ : (m, m) array
        |C| + |C|^T after normalisation of the columns.
    n_iter_ : int
        Iterations used.

    Notes
    -----
    minimise ||C||_1 + kappa / (2 mu_D) ||Z||_F^2  subject to  D = D C + Z, diag(C) = 0, with the points in the columns
    of D (the paper writes D as m x d, but means d x m) and mu_D = min_i max_{j != i} |d_j^T d_i|.

    Examples
    --------
    >>> X = np.vstack([np.outer(np.arange(1.0, 6), [1, 0, 0]), np.outer(np.arange(1.0, 6), [0, 1, 1])])
    >>> labels = SparseSubspaceClustering(2, kappa=50, random_state=0).fit_predict(X)
    >>> bool(labels[0] == labels[4] != labels[5])
    True
    """

    def __init__(
        self,
        n_clusters: int = 2,
        kappa: float = 800.0,
        *,
        affine: bool = False,
        outliers: float | None = None,
        rho: float = 1.0,
        n_components: int | None = None,
        max_iter: int = 200,
        tol: float = 2e-4,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.kappa = kappa
        self.affine = affine
        self.outliers = outliers
        self.rho = rho
        self.n_components = n_components
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> SparseSubspaceClustering:
        """Cluster the rows of X, (m, d)."""
        X = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        if not self.kappa > 0:
            raise InputError(f"kappa: got {self.kappa!r}; give a number above 0.")
        check_memory(f"subspace clustering of {len(X)} elements", 64 * len(X) ** 2)
        points = X if self.n_components is None else compress(X, self.n_components)
        problem = SelfExpression.of(points, self.affine, self.outliers)
        coefficients, self.n_iter_ = problem.solve(self.kappa, self.max_iter, self.tol)
        self.affinity_ = affinity_of(coefficients, self.rho)
        self.labels_ = spectral_labels(self.affinity_, self.n_clusters, self.random_state)
        return self
