"""Is an own model what the protocol says? A few samples tell, before anything is searched."""

from __future__ import annotations

from typing import Any

import numpy as np

from biconsensus.errors import InputError, InputTypeError
from biconsensus.protocols import FloatArray

_TRIED = 5
"""Samples that are fitted for the check."""


def check_model(model: Any, data: FloatArray) -> None:
    """An error that says what is wrong where `fit` or `residuals` do not keep the shapes and signs of the protocol."""
    name, size = type(model).__name__, model.sample_size
    if not isinstance(size, (int, np.integer)) or size < 1:
        raise InputError(f"{name}.sample_size must be a whole number, 1 or larger, got {size!r}.")
    if len(data) < size:
        return
    rng = np.random.default_rng(0)
    n_samples = _TRIED if len(data) != _TRIED else _TRIED - 1
    picks = np.argsort(rng.random((n_samples, len(data))), axis=1)[:, :size]
    params = np.asarray(model.fit(data[picks]), np.float64)
    if params.ndim != 2 or len(params) != n_samples:
        raise InputTypeError(
            f"{name}.fit must give parameters of shape (k, p) for k samples of shape (k, {size}, {data.shape[1]}); "
            f"for k = {n_samples} it gave {params.shape}."
        )
    residuals = np.asarray(model.residuals(params, data), np.float64)
    if residuals.shape != (len(data), n_samples):
        turned = " It looks transposed." if residuals.shape == (n_samples, len(data)) else ""
        raise InputTypeError(
            f"{name}.residuals must give distances of shape (m, k): rows are elements, columns models; for m = "
            f"{len(data)} and k = {n_samples} it gave {residuals.shape}.{turned}"
        )
    if (residuals < 0).any():
        raise InputError(
            f"{name}.residuals gave negative distances (least {np.nanmin(residuals):.3g}); return absolute values."
        )
