"""Least squares on many elements: total least squares, refinement, and a refit for models that bring none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeVar, cast

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
    """Least squares over virtual minimal samples, for models without a refit of their own.

    Moving the sample instead of the parameters never leaves the model: a search over raw parameters would shrink the
    normal of a line to nothing, and every residual with it.
    """
    rng = np.random.default_rng(0)
    picks = np.argsort(rng.random((n_starts, data.shape[0])), axis=1)[:, : model.sample_size]
    samples = data[picks]
    starts = model.fit(samples)
    good = np.isfinite(starts).all(axis=1)
    if not good.any():
        return np.full(starts.shape[1], np.nan)
    best = samples[good][np.argmin(np.median(model.residuals(starts[good], data), axis=0))]

    def place(sample: FloatArray) -> FloatArray:
        return model.fit(sample.reshape(1, *best.shape))

    moved = refine(lambda sample: model.residuals(place(sample), data)[:, 0], best.ravel(), weights)
    return np.asarray(place(moved)[0], dtype=float)


def refine(
    errors: Callable[[FloatArray], FloatArray],
    start: FloatArray,
    weights: FloatArray,
    jacobian: Callable[[FloatArray], FloatArray] | None = None,
) -> FloatArray:
    """Minimise the weighted sum of squared errors from a start; the start is kept where nothing is gained."""
    root = np.sqrt(weights)
    # what a model puts out of reach stays finite and no better than anything else
    huge = 1e6 * float(np.nan_to_num(errors(start), nan=0.0, posinf=0.0).max(initial=1.0))

    def weighted(theta: FloatArray) -> FloatArray:
        return root * np.nan_to_num(errors(theta), nan=huge, posinf=huge)

    if not np.isfinite(start).all():
        return start
    before = weighted(start)
    # "2-point" derivatives of absolute residuals keep J^T J and J^T r, so Gauss-Newton steps stay right
    derivative: Any = "2-point" if jacobian is None else (lambda theta: root[:, None] * jacobian(theta))
    method: Literal["lm", "trf"] = "lm" if before.size >= start.size else "trf"
    found = least_squares(weighted, start, jac=derivative, method=method, x_scale="jac", max_nfev=60 * start.size)
    better = np.isfinite(found.x).all() and 2 * found.cost <= float(before @ before)
    return np.asarray(found.x, dtype=float) if better else start


State = TypeVar("State")
_GAIN = 1e-7
"""Smallest gain of a step, over the sum of squares, that is worth another: a few thousandths of a standard error."""
_STEPS, _TRIES = 30, 8
"""Most steps of Levenberg and Marquardt, and most tries of one step with more damping."""


def levenberg_marquardt(
    system: Callable[[State], tuple[FloatArray, FloatArray]], move: Callable[[State, FloatArray], State], state: State
) -> State:
    """Minimise a sum of squares over states that need not be vectors.

    `system` gives the errors (n,) of a state and their derivatives (n, q) by a step from it, `move` takes the step.
    """
    errors, slopes = system(state)
    if not (np.isfinite(errors).all() and np.isfinite(slopes).all()):
        return state
    damping = 1e-3
    for _ in range(_STEPS):
        before, pull = float(errors @ errors), slopes.T @ errors
        normal = slopes.T @ slopes
        for _ in range(_TRIES):
            damped = normal + damping * (np.diag(normal.diagonal()) + 1e-12 * np.eye(len(normal)))
            trial = move(state, np.asarray(-np.linalg.lstsq(damped, pull, rcond=None)[0], dtype=float))
            found = system(trial)
            # comparisons with NaN are false, so a step off the map is never taken
            if found[0] @ found[0] < before:
                break
            damping *= 10
        else:
            return state
        state, (errors, slopes), damping = trial, found, max(damping / 10, 1e-12)
        if before - errors @ errors < _GAIN * before:
            break
    return state
