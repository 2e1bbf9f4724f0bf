"""What the fitting baselines share: sampled models, preferences in blocks, labels from models."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from biconsensus._words import counted
from biconsensus.errors import InputError
from biconsensus.models import get_model, refit
from biconsensus.protocols import BoolArray, FloatArray, IntArray, Model
from biconsensus.sources._sampling import SamplingLaw, draw_samples

BLOCK = 1 << 22
"""Residuals held at a time."""
TRIES = 10
"""Rounds of replacing degenerate samples."""


def checked(X: ArrayLike, model: str | Model, threshold: float) -> tuple[FloatArray, Model]:
    """Data as finite floats and the model as an object; the threshold must be positive."""
    data, model = np.asarray(X, dtype=float), get_model(model)
    if data.ndim != 2 or not np.isfinite(data).all():
        raise InputError(f"X must be a table of finite numbers; received shape {data.shape}.")
    if data.shape[0] < model.sample_size:
        raise InputError(f"X has {counted(data.shape[0], 'element')}; a minimal sample needs {model.sample_size}.")
    if not threshold > 0:
        raise InputError(f"threshold must be positive, in the units of the residuals; received {threshold!r}.")
    return data, model


def sample_models(
    data: FloatArray, model: Model, n_samples: int, rng: np.random.Generator, sigma: float | None = None
) -> tuple[FloatArray, IntArray]:
    """Parameters (n, p) and samples (n, b) of up to n_samples distinct minimal samples, degenerate ones replaced."""
    own = getattr(model, "positions", None)
    places = data if own is None else np.asarray(own(data), dtype=float)
    law = SamplingLaw() if sigma is None else SamplingLaw("local", sigma)
    params, samples, left = list[FloatArray](), list[IntArray](), n_samples
    for _ in range(TRIES):
        drawn = draw_samples(places, model.sample_size, max(left, 1), rng, law)
        fitted = model.fit(data[drawn])
        good = np.isfinite(fitted).all(axis=1)
        params.append(fitted[good])
        samples.append(drawn[good])
        left -= int(good.sum())
        if left <= 0:
            break
    return np.concatenate(params), np.concatenate(samples)


def blocks(n_models: int, n_elements: int) -> Iterator[slice]:
    """Slices of the models that keep the residuals of a block small."""
    step = max(1, BLOCK // max(n_elements, 1))
    return (slice(i, i + step) for i in range(0, n_models, step))


def preferences(data: FloatArray, model: Model, params: FloatArray, threshold: float) -> BoolArray:
    """Which elements (m, n) lie within the threshold of which models."""
    table = np.empty((data.shape[0], params.shape[0]), np.bool_)
    for part in blocks(params.shape[0], data.shape[0]):
        table[:, part] = model.residuals(params[part], data) <= threshold
    return table


def best_model(data: FloatArray, model: Model, params: FloatArray, threshold: float) -> tuple[FloatArray, BoolArray]:
    """The model with most inliers, refitted to them while that does not lose any; and its inliers (m,)."""
    counts = [(model.residuals(params[part], data) <= threshold).sum(axis=0) for part in blocks(len(params), len(data))]
    best = params[int(np.argmax(np.concatenate(counts)))]
    return polished(data, model, best, threshold)


def polished(data: FloatArray, model: Model, theta: FloatArray, threshold: float) -> tuple[FloatArray, BoolArray]:
    """Least squares on the inliers, kept if it has as many inliers as before."""
    inliers = model.residuals(theta[None], data)[:, 0] <= threshold
    if inliers.sum() < model.sample_size:
        return theta, inliers
    refitted = refit(model, data[inliers])
    if not np.isfinite(refitted).all():
        return theta, inliers
    again = model.residuals(refitted[None], data)[:, 0] <= threshold
    return (refitted, again) if again.sum() >= inliers.sum() else (theta, inliers)


def nearest_labels(data: FloatArray, model: Model, params: FloatArray | list[FloatArray], threshold: float) -> IntArray:
    """Label (m,) of the nearest model within the threshold, else -1."""
    if not len(params):
        return np.full(data.shape[0], -1, np.int64)
    residuals = model.residuals(np.asarray(params), data)
    nearest = residuals.argmin(axis=1)
    return np.where(np.take_along_axis(residuals, nearest[:, None], axis=1)[:, 0] <= threshold, nearest, -1)


def reassigned(data: FloatArray, model: Model, labels: IntArray, threshold: float) -> IntArray:
    """Labels (m,) of the nearest of the models refitted to the groups of given labels."""
    groups = [data[labels == label] for label in range(labels.max(initial=-1) + 1)]
    params = [refit(model, group) for group in groups if len(group) >= model.sample_size]
    params = [theta for theta in params if np.isfinite(theta).all()]
    return nearest_labels(data, model, params, threshold)


def least_size(model: Model, min_elements: int | None) -> int:
    """Elements that a model needs to be believed, where the number of models is not given."""
    return 2 * model.sample_size + 4 if min_elements is None else min_elements


def keep_largest(clusters: IntArray, n_models: int | None, min_elements: int) -> IntArray:
    """Labels with the largest clusters numbered from 0 by size, and -1 in all others."""
    names, sizes = np.unique(clusters, return_counts=True)
    order = names[np.lexsort((names, -sizes))]
    kept = order[:n_models] if n_models is not None else order[np.sort(-sizes) <= -min_elements]
    labels = np.full(clusters.size, -1, np.int64)
    for label, name in enumerate(kept):
        labels[clusters == name] = label
    return labels
