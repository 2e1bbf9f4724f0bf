"""Modes of the sampled models: mean shift, the randomised Hough transform, residual histograms."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.signal import find_peaks
from sklearn.cluster import MeanShift, estimate_bandwidth

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
from biconsensus.protocols import BoolArray, FloatArray, IntArray, Model


@parameters()
def mean_shift(
    X: ArrayLike,
    model: str | Model,
    threshold: float,
    *,
    n_models: int | None = None,
    n_samples: int = 5000,
    random_state: int | None = None,
    sigma: float | None = None,
    bandwidth: float | None = None,
    n_best: int = 1000,
    min_elements: int | None = None,
) -> IntArray:
    """Find the modes of the sampled models in parameter space (Subbarao and Meer 2009).

    Parameters
    ----------
    X, model, threshold, random_state, sigma
        As in `ransac`.
    n_models : int or None
        Keep that many of the modes; None keeps those with `min_elements` elements that no better mode has.
    n_samples : int
        Minimal samples drawn.
    bandwidth : float or None
        Of the kernel, in standard deviations of the parameters; None estimates it.
    n_best : int
        Only that many sampled models, those with most inliers, enter: without it outliers flood the space.
    min_elements : int or None
        None means 2 b + 4 for minimal samples of b elements.

    Returns
    -------
    (m,) int array
        Nearest model within the threshold, -1 for none.

    Examples
    --------
    >>> t = np.arange(12.0)
    >>> x = np.vstack([np.column_stack([t, 0 * t]), np.column_stack([0 * t - 3, t + 1])])
    >>> np.bincount(mean_shift(x, "line", 0.1, n_models=2, n_best=150, random_state=0)).tolist()
    [12, 12]
    """
    data, fitted = checked(X, model, threshold)
    params, _ = sample_models(data, fitted, n_samples, np.random.default_rng(random_state), sigma)
    table = preferences(data, fitted, params, threshold)
    best = np.argsort(-table.sum(axis=0), kind="stable")[:n_best]
    params, table = params[best], table[:, best]
    if len(params) < 2:
        return nearest_labels(data, fitted, params, threshold)
    space = parameter_space(data, fitted, params)
    width = bandwidth or estimate_bandwidth(space, quantile=0.02, random_state=0) or 1e-3
    found = MeanShift(bandwidth=width, bin_seeding=True).fit(space)
    chosen = [_most_inliers(table, found.labels_ == mode) for mode in np.unique(found.labels_)]
    return _labels_of(data, fitted, params[chosen], threshold, n_models, least_size(fitted, min_elements))


@parameters()
def randomised_hough(
    X: ArrayLike,
    model: str | Model,
    threshold: float,
    *,
    n_models: int | None = None,
    n_samples: int = 5000,
    random_state: int | None = None,
    sigma: float | None = None,
    n_bins: int = 20,
    min_votes: int = 4,
) -> IntArray:
    """Let sampled models vote for cells of the parameter space and take the peaks in turn (Xu, Oja and Kultanen 1990).

    Parameters
    ----------
    X, model, threshold, random_state, sigma
        As in `ransac`.
    n_models : int or None
        How many peaks; None goes on while a cell has `min_votes` votes.
    n_samples : int
        Minimal samples drawn.
    n_bins : int
        Cells along each axis, over four standard deviations.
    min_votes : int
        Votes that a peak needs where the number of models is not given.

    Returns
    -------
    (m,) int array
        Nearest model within the threshold, -1 for none.

    Notes
    -----
    After each peak its inliers are taken out, and with them the votes of all samples that hold one of them.

    Examples
    --------
    >>> t = np.arange(12.0)
    >>> x = np.vstack([np.column_stack([t, 0 * t]), np.column_stack([0 * t - 3, t + 1])])
    >>> np.bincount(randomised_hough(x, "line", 0.1, n_models=2, random_state=0)).tolist()
    [12, 12]
    """
    data, fitted = checked(X, model, threshold)
    params, samples = sample_models(data, fitted, n_samples, np.random.default_rng(random_state), sigma)
    if not len(params):
        return np.full(len(data), -1, np.int64)
    cells = np.floor(np.clip(parameter_space(data, fitted, params), -8.0, 8.0) * n_bins / 4).astype(np.int64)
    _, cell = np.unique(cells, axis=0, return_inverse=True)
    cell, alive, peaks = cell.ravel(), np.ones(len(params), np.bool_), list[FloatArray]()
    while alive.any() and (n_models is None or len(peaks) < n_models):
        votes = np.bincount(cell[alive], minlength=cell.max() + 1)
        if n_models is None and votes.max() < min_votes:
            break
        inside = alive & (cell == votes.argmax())
        theta, inliers = best_model(data, fitted, params[inside], threshold)
        peaks.append(theta)
        alive &= ~inside & ~inliers[samples].any(axis=1)
    return nearest_labels(data, fitted, peaks, threshold)


@parameters()
def residual_histograms(
    X: ArrayLike,
    model: str | Model,
    threshold: float,
    *,
    n_models: int | None = None,
    n_samples: int = 5000,
    random_state: int | None = None,
    sigma: float | None = None,
    n_bins: int = 100,
) -> IntArray:
    """Read the models off the modes of the residuals of single elements (Zhang and Kosecka 2006).

    Parameters
    ----------
    X, model, threshold, random_state, sigma
        As in `ransac`.
    n_models : int or None
        How many; None takes the median number of modes over the elements, as the authors do.
    n_samples : int
        Minimal samples drawn.
    n_bins : int
        Bins of a histogram, up to the 90% quantile of all residuals.

    Returns
    -------
    (m,) int array
        Nearest model within the threshold, -1 for none.

    Notes
    -----
    Good hypotheses of one model are alike, so an element has about the same residual to all of them: a mode of its
    histogram. Elements with the clearest modes are read first, and each mode gives its hypothesis with most inliers.

    Examples
    --------
    >>> t = np.arange(12.0)
    >>> x = np.vstack([np.column_stack([t, 0 * t]), np.column_stack([0 * t - 3, t + 1])])
    >>> np.bincount(residual_histograms(x, "line", 0.1, n_models=2, random_state=0)).tolist()
    [12, 12]
    """
    data, fitted = checked(X, model, threshold)
    params, _ = sample_models(data, fitted, n_samples, np.random.default_rng(random_state), sigma)
    if not len(params):
        return np.full(len(data), -1, np.int64)
    residuals = fitted.residuals(params, data)
    edges = np.linspace(0.0, float(np.quantile(residuals[np.isfinite(residuals)], 0.9)) or 1.0, n_bins + 1)
    counts = np.stack([np.histogram(row, edges)[0] for row in residuals])
    modes = [_modes(row) for row in counts]
    wanted = n_models or max(1, int(np.median([len(places) for places, _ in modes])))
    clarity = np.array([np.sort(height)[::-1][:wanted].sum() for _, height in modes])
    table = residuals <= threshold
    chosen = list[int]()
    for element in np.argsort(-clarity, kind="stable")[: 10 * wanted]:
        bins = np.digitize(residuals[element], edges) - 1
        chosen += [_most_inliers(table, np.abs(bins - place) <= 1) for place in modes[element][0]]
    return _labels_of(data, fitted, params[chosen], threshold, wanted, fitted.sample_size)


def parameter_space(data: FloatArray, model: Model, params: FloatArray) -> FloatArray:
    """Coordinates (n, q) of models in units of their spread; those whose sign means nothing by their products."""
    probe = params[: min(len(params), 5)]
    # a line is the same with all signs turned: theta theta^T is one place for both
    if np.allclose(model.residuals(probe, data), model.residuals(-probe, data), equal_nan=True):
        upper = np.triu_indices(params.shape[1])
        scaled = params / np.maximum(np.abs(params).mean(axis=0), 1e-300)
        scaled /= np.linalg.norm(scaled, axis=1, keepdims=True)
        params = (scaled[:, :, None] * scaled[:, None, :])[:, upper[0], upper[1]]
    middle = np.median(params, axis=0)
    spread = np.median(np.abs(params - middle), axis=0) * 1.4826
    return np.asarray(np.clip((params - middle) / np.where(spread > 0, spread, 1.0), -1e3, 1e3), dtype=float)


def _modes(counts: IntArray) -> tuple[IntArray, FloatArray]:
    """Places and prominences of the peaks of a smoothed histogram, above the noise of counting."""
    smooth = np.convolve(np.pad(counts.astype(float), 2, mode="edge"), [0.25, 0.5, 0.25], mode="same")[1:-1]
    smooth[0] = 0.0  # so that a peak in the first bin has a left side
    places, found = find_peaks(smooth, prominence=3 * np.sqrt(max(float(counts.mean()), 1.0)))
    return np.asarray(places - 1, np.int64), np.asarray(found["prominences"], dtype=float)


def _most_inliers(table: BoolArray, among: BoolArray) -> int:
    """Column with most inliers among some."""
    places = np.flatnonzero(among)
    return int(places[np.argmax(table[:, places].sum(axis=0))]) if places.size else int(table.sum(axis=0).argmax())


def _labels_of(
    data: FloatArray, model: Model, params: FloatArray, threshold: float, n_models: int | None, least: int
) -> IntArray:
    """Greedily the models that explain most of what is left, then nearest labels."""
    refitted = np.array([polished(data, model, theta, threshold)[0] for theta in params])
    table = preferences(data, model, refitted, threshold)
    left, chosen = np.ones(len(data), np.bool_), list[int]()
    while n_models is None or len(chosen) < n_models:
        gains = left @ table.astype(np.int64)
        if gains.max() < max(least if n_models is None else 1, 1):
            break
        chosen.append(int(gains.argmax()))
        left &= ~table[:, chosen[-1]]
    return nearest_labels(data, model, refitted[chosen], threshold)
