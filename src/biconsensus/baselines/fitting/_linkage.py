"""J-linkage and T-linkage: agglomerative clustering of elements by the models they prefer."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from biconsensus._checks import check_memory
from biconsensus._names import parameters
from biconsensus.baselines._preference_linkage import agglomerate, jaccard, tanimoto
from biconsensus.baselines.fitting._hypotheses import (
    blocks,
    checked,
    keep_largest,
    least_size,
    preferences,
    reassigned,
    sample_models,
)
from biconsensus.protocols import FloatArray, IntArray, Model


@parameters()
def j_linkage(
    X: ArrayLike,
    model: str | Model,
    threshold: float,
    *,
    n_models: int | None = None,
    n_samples: int = 5000,
    random_state: int | None = None,
    sigma: float | None = None,
    min_elements: int | None = None,
    reassign: bool = False,
) -> IntArray:
    """Cluster elements by the Jaccard distance of their sets of preferred models (Toldo and Fusiello 2008).

    Parameters
    ----------
    X, model, threshold, random_state, sigma
        As in `ransac`.
    n_models : int or None
        Keep that many of the largest clusters; None keeps clusters of at least `min_elements`.
    n_samples : int
        Minimal samples drawn.
    min_elements : int or None
        None means 2 b + 4 for minimal samples of b elements.
    reassign : bool
        Refit a model to each kept cluster and give every element to the nearest one within the threshold.

    Returns
    -------
    (m,) int array
        Cluster of each element, largest first, -1 in clusters that are not kept.

    Notes
    -----
    A cluster prefers the models that all its elements prefer; merging ends when no two clusters share a model.

    Examples
    --------
    >>> t = np.arange(12.0)
    >>> x = np.vstack([np.column_stack([t, 0 * t]), np.column_stack([0 * t - 3, t + 1])])
    >>> np.bincount(j_linkage(x, "line", 0.1, n_samples=200, random_state=0)).tolist()
    [12, 12]
    """
    data, fitted = checked(X, model, threshold)
    _check_size(data, n_samples)
    params, _ = sample_models(data, fitted, n_samples, np.random.default_rng(random_state), sigma)
    clusters = agglomerate(*jaccard(preferences(data, fitted, params, threshold)))
    labels = keep_largest(clusters, n_models, least_size(fitted, min_elements))
    return reassigned(data, fitted, labels, threshold) if reassign else labels


@parameters()
def t_linkage(
    X: ArrayLike,
    model: str | Model,
    threshold: float,
    *,
    n_models: int | None = None,
    n_samples: int = 5000,
    random_state: int | None = None,
    sigma: float | None = None,
    min_elements: int | None = None,
    reassign: bool = False,
) -> IntArray:
    """Cluster elements by the Tanimoto distance of their graded preferences (Magri and Fusiello 2014).

    Parameters
    ----------
    X, model, threshold, n_models, n_samples, random_state, sigma, min_elements, reassign
        As in `j_linkage`; the time constant of the preferences is a fifth of the threshold.

    Returns
    -------
    (m,) int array
        Cluster of each element, largest first, -1 in clusters that are not kept.

    Notes
    -----
    Preference exp(-r / tau) for r < 5 tau, else 0; distance 1 - <p, q> / (|p|^2 + |q|^2 - <p, q>); a cluster prefers
    a model as little as its most reluctant element does.

    Examples
    --------
    >>> t = np.arange(12.0)
    >>> x = np.vstack([np.column_stack([t, 0 * t]), np.column_stack([0 * t - 3, t + 1])])
    >>> np.bincount(t_linkage(x, "line", 0.5, n_samples=200, random_state=0)).tolist()
    [12, 12]
    """
    data, fitted = checked(X, model, threshold)
    _check_size(data, n_samples)
    params, _ = sample_models(data, fitted, n_samples, np.random.default_rng(random_state), sigma)
    grades = np.empty((len(data), len(params)), np.float32)
    for part in blocks(len(params), len(data)):
        residuals = fitted.residuals(params[part], data)
        grades[:, part] = np.where(residuals < threshold, np.exp(-5 * residuals / threshold), 0.0)
    labels = keep_largest(agglomerate(*tanimoto(grades)), n_models, least_size(fitted, min_elements))
    return reassigned(data, fitted, labels, threshold) if reassign else labels


def _check_size(data: FloatArray, n_samples: int) -> None:
    """Preferences (m, n) and distances (m, m), with their temporary copies, fit into memory."""
    m = len(data)
    check_memory(f"linkage of {m} elements and {n_samples} models", m * (32 * m + 8 * n_samples))
