"""RANSAC and its two ways to many models: one after the other, and several at a time."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from biconsensus._names import parameters
from biconsensus.baselines.fitting._hypotheses import (
    best_model,
    checked,
    least_size,
    nearest_labels,
    polished,
    preferences,
    sample_models,
)
from biconsensus.errors import InputError
from biconsensus.protocols import BoolArray, FloatArray, IntArray, Model


@parameters()
def ransac(
    X: ArrayLike,
    model: str | Model,
    threshold: float,
    *,
    n_models: int | None = None,
    n_samples: int = 2000,
    random_state: int | None = None,
    sigma: float | None = None,
) -> IntArray:
    """Find the one model with most inliers (Fischler and Bolles 1981).

    Parameters
    ----------
    X : (m, d) array
        Elements.
    model : str or Model
        What to fit.
    threshold : float
        Largest residual of an inlier.
    n_models : int or None
        Only 1 or None.
    n_samples : int
        Minimal samples drawn.
    random_state : int or None
        Seed.
    sigma : float or None
        Scale of localised sampling; None samples uniformly.

    Returns
    -------
    (m,) int array
        0 for inliers, -1 for the others.

    Examples
    --------
    >>> x = np.vstack([np.column_stack([np.arange(9.0), np.zeros(9)]), [[3.0, 8.0]]])
    >>> ransac(x, "line", 0.1, n_samples=50, random_state=0).tolist()
    [0, 0, 0, 0, 0, 0, 0, 0, 0, -1]
    """
    if n_models not in (None, 1):
        raise InputError(f"n_models={n_models!r}: RANSAC finds one model; use sequential_ransac for more.")
    data, fitted = checked(X, model, threshold)
    params, _ = sample_models(data, fitted, n_samples, np.random.default_rng(random_state), sigma)
    if not len(params):
        return np.full(len(data), -1, np.int64)
    _, inliers = best_model(data, fitted, params, threshold)
    return np.where(inliers, 0, -1).astype(np.int64)


@parameters()
def sequential_ransac(
    X: ArrayLike,
    model: str | Model,
    threshold: float,
    *,
    n_models: int | None = None,
    n_samples: int = 2000,
    random_state: int | None = None,
    sigma: float | None = None,
    min_elements: int | None = None,
) -> IntArray:
    """Find one model, remove its inliers, and so on.

    Parameters
    ----------
    X, model, threshold, n_samples, random_state, sigma
        As in `ransac`; `n_samples` for each model.
    n_models : int or None
        How many; None goes on until a model has fewer than `min_elements` inliers.
    min_elements : int or None
        None means 2 b + 4 for minimal samples of b elements.

    Returns
    -------
    (m,) int array
        Model of each element in the order found, -1 for none.

    Examples
    --------
    >>> t = np.arange(12.0)
    >>> x = np.vstack([np.column_stack([t, 0 * t]), np.column_stack([0 * t - 3, t + 1])])
    >>> np.bincount(sequential_ransac(x, "line", 0.1, random_state=0)).tolist()
    [12, 12]
    """
    data, fitted = checked(X, model, threshold)
    rng, labels = np.random.default_rng(random_state), np.full(len(data), -1, np.int64)
    least = fitted.sample_size if n_models is not None else least_size(fitted, min_elements)
    for label in range(len(data) if n_models is None else n_models):
        left = np.flatnonzero(labels < 0)
        if left.size < max(least, fitted.sample_size):
            break
        params, _ = sample_models(data[left], fitted, n_samples, rng, sigma)
        if not len(params):
            break
        _, inliers = best_model(data[left], fitted, params, threshold)
        if inliers.sum() < least:
            break
        labels[left[inliers]] = label
    return labels


@parameters()
def multi_ransac(
    X: ArrayLike,
    model: str | Model,
    threshold: float,
    *,
    n_models: int | None = None,
    n_samples: int = 2000,
    random_state: int | None = None,
    sigma: float | None = None,
) -> IntArray:
    """Find a known number of models side by side (multiRANSAC, Zuliani, Kenney and Manjunath 2005).

    In each round as many models as wanted are drawn, each from the elements that the others of the round leave; then
    the best disjoint ones of the round and of all rounds before are kept.

    Parameters
    ----------
    X, model, threshold, random_state, sigma
        As in `ransac`.
    n_models : int
        How many models; the method needs to know.
    n_samples : int
        Minimal samples in all, shared by the models.

    Returns
    -------
    (m,) int array
        Nearest model within the threshold, -1 for none.

    Examples
    --------
    >>> t = np.arange(12.0)
    >>> x = np.vstack([np.column_stack([t, 0 * t]), np.column_stack([0 * t - 3, t + 1])])
    >>> np.bincount(multi_ransac(x, "line", 0.1, n_models=2, random_state=0)).tolist()
    [12, 12]
    """
    if n_models is None:
        raise InputError("n_models is missing: multiRANSAC needs the number of models; sequential_ransac does not.")
    data, fitted = checked(X, model, threshold)
    rng = np.random.default_rng(random_state)
    kept, inliers = np.empty((0, 0)), np.empty((len(data), 0), np.bool_)
    for _ in range(max(1, n_samples // n_models)):
        drawn = _round(data, fitted, threshold, n_models, rng, sigma)
        if not len(drawn):
            continue
        pooled = drawn if not len(kept) else np.vstack([kept, drawn])
        table = np.hstack([inliers, preferences(data, fitted, drawn, threshold)])
        chosen = _disjoint(table, n_models)
        kept, inliers = pooled[chosen], table[:, chosen]
    final = [polished(data, fitted, theta, threshold)[0] for theta in kept]
    return nearest_labels(data, fitted, final, threshold)


def _round(
    data: FloatArray, model: Model, threshold: float, n_models: int, rng: np.random.Generator, sigma: float | None
) -> FloatArray:
    """One sample for each model, from the elements that the ones before leave."""
    left, drawn = np.ones(len(data), np.bool_), list[FloatArray]()
    for _ in range(n_models):
        if left.sum() < model.sample_size:
            break
        theta, _ = sample_models(data[left], model, 1, rng, sigma)
        if len(theta):
            drawn.append(theta[0])
            left &= model.residuals(theta[:1], data)[:, 0] > threshold
    return np.array(drawn)


def _disjoint(table: BoolArray, n_models: int) -> IntArray:
    """Greedily the models (columns) that add most elements to those chosen before."""
    chosen, left = list[int](), np.ones(len(table), np.bool_)
    for _ in range(min(n_models, table.shape[1])):
        gains = left @ table.astype(np.int64)
        gains[chosen] = -1
        chosen.append(int(np.argmax(gains)))
        left &= ~table[:, chosen[-1]]
    return np.array(chosen, np.int64)
