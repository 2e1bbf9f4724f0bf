"""Rivals for the fitting of many models, under one signature.

``f(X, model, threshold, *, n_models=None, n_samples=..., random_state=None, sigma=None, **own) -> (m,) int labels``,
-1 for elements in no model.
"""

from __future__ import annotations

from collections.abc import Callable

from biconsensus.baselines.fitting._linkage import j_linkage, t_linkage
from biconsensus.baselines.fitting._modes import mean_shift, randomised_hough, residual_histograms
from biconsensus.baselines.fitting._ransac import multi_ransac, ransac, sequential_ransac
from biconsensus.protocols import IntArray

__all__ = [
    "FITTERS",
    "j_linkage",
    "mean_shift",
    "multi_ransac",
    "randomised_hough",
    "ransac",
    "residual_histograms",
    "sequential_ransac",
    "t_linkage",
]
__dir__ = __all__.copy  # what dir() shows

FITTERS: dict[str, Callable[..., IntArray]] = {
    "ransac": ransac,
    "sequential_ransac": sequential_ransac,
    "multi_ransac": multi_ransac,
    "residual_histograms": residual_histograms,
    "mean_shift": mean_shift,
    "randomised_hough": randomised_hough,
    "j_linkage": j_linkage,
    "t_linkage": t_linkage,
}
