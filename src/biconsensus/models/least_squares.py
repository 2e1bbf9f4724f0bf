"""Least squares on many elements: total least squares, refinement, and a refit for models that bring none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, cast

import numpy as np
from scipy.optimize import least_squares

from biconsensus.errors import InputError
from biconsensus.protocols import FloatArray, Model


def refit(model: Model, data: FloatArray, weights: FloatArray | None = None) -> FloatArray:
    """Fit one model to many elements by least squares of the residuals.

    Uses `model.refit` where the model has one; otherwise refines the best of many minimal samples of the data.

    Parameters
    ----------
    model : Model
        Any object with `sample_size`, `fit` and `residuals`.
    data : (m, d) array
        Elements, at least `model.sample_size` of them.
    weights : (m,) array or None
        Importance of each element; None means all alike.

    Returns
    -------
    (p,) array
        Parameters; NaN where the elements are degenerate.

    Notes
    -----
    The paper's least squares: argmin over theta of the sum over x of e(x, theta)^2.

    Examples
    --------
    >>> from biconsensus.models import LineModel
    >>> x = np.array([[0.0, 0.1], [1, -0.1], [2, -0.1], [3, 0.1]])
    >>> line = refit(LineModel(), x)
    >>> float(LineModel().residuals(line[None], x).max().round(3))
    0.1
    """
    data = np.asarray(data, dtype=float)
    if data.shape[0] < model.sample_size:
        raise InputError(f"data has {data.shape[0]} elements; a refit needs at least {model.sample_size}.")
    weights = np.ones(data.shape[0]) if weights is None else np.asarray(weights, dtype=float)
    own = getattr(model, "refit", None)
    return cast(FloatArray, own(data, weights)) if own is not None else generic_refit(model, data, weights)


def generic_refit(model: Model, data: FloatArray, weights: FloatArray, n_starts: int = 200) -> FloatArray:
    """Refine the minimal sample with the smallest median residual; for models without a refit of their own."""
    rng = np.random.default_rng(0)
    picks = np.argsort(rng.random((n_starts, data.shape[0])), axis=1)[:, : model.sample_size]
    starts = model.fit(data[picks])
    starts = starts[np.isfinite(starts).all(axis=1)]
    if not starts.size:
        return np.full(model.fit(data[picks[:1]]).shape[1], np.nan)
    best = starts[np.argmin(np.median(model.residuals(starts, data), axis=0))]
    return refine(lambda theta: model.residuals(theta[None], data)[:, 0], best, weights)


def refine(
    errors: Callable[[FloatArray], FloatArray],
    start: FloatArray,
    weights: FloatArray,
    jacobian: Callable[[FloatArray], FloatArray] | None = None,
) -> FloatArray:
    """Minimise the weighted sum of squared errors from a start; the start is kept where nothing is gained."""
    root = np.sqrt(weights)

    def weighted(theta: FloatArray) -> FloatArray:
        return np.nan_to_num(root * errors(theta), nan=1e150, posinf=1e150)

    before = weighted(start)
    if not np.isfinite(start).all() or float(np.abs(before).max()) >= 1e140:
        return start
    # "2-point" derivatives of absolute residuals keep J^T J and J^T r, so Gauss-Newton steps stay right
    derivative: Any = "2-point" if jacobian is None else (lambda theta: root[:, None] * jacobian(theta))
    method: Literal["lm", "trf"] = "lm" if before.size >= start.size else "trf"
    found = least_squares(weighted, start, jac=derivative, method=method, x_scale="jac", max_nfev=60 * start.size)
    better = np.isfinite(found.x).all() and 2 * found.cost <= float(before @ before)
    return np.asarray(found.x, dtype=float) if better else start


def principal_axes(data: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Weighted mean (d,) and right singular vectors (d, d), largest spread first."""
    mean = weights @ data / weights.sum()
    centred = np.sqrt(weights)[:, None] * (data - mean)
    _, vectors = np.linalg.eigh(centred.T @ centred)
    return mean, vectors[:, ::-1]
