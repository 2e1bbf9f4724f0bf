"""Settings of the fitting of many models: checks, and the choice of thresholds."""

from __future__ import annotations

from dataclasses import dataclass, fields
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike

from biconsensus._checks import check_choice, check_count, check_finite
from biconsensus.errors import InputError
from biconsensus.fitting._hypotheses import Trial, propose, screen
from biconsensus.fitting._refit import refine
from biconsensus.models import get_model
from biconsensus.protocols import FloatArray, Model
from biconsensus.significance._background import HIT_RULES, Background
from biconsensus.significance._models import log_tests
from biconsensus.sources._sampling import SamplingLaw

N_THRESHOLDS = 10
_RANGE = (1e-3, 5e-2)
FRACTIONS = np.array([0.3, 0.55, 1.0])
VOTE = 0.55
"""Hypotheses vote up to this fraction of the threshold: nearer to each other than that, models merge."""
_PROPOSALS = 15


@dataclass(frozen=True)
class Settings:
    """What the search needs to know; the parameters of `MultiModelFitter` of the same names."""

    n_samples: int | str
    sampling: str
    sigma: float | None
    mean_distance: float
    epsilon: float
    screen_epsilon: float
    min_elements: int
    min_candidates: int
    hits: str
    tests: str
    mode: str
    preference: str
    improve: int
    label_width: float
    dispersion: float | None
    lengths: bool
    detection: float
    max_elements: int
    max_rounds: int
    n_background: int | None
    n_jobs: int | None

    @classmethod
    def names(cls) -> list[str]:
        """Names of all settings."""
        return [field.name for field in fields(cls)]

    def law(self, model: Model, data: FloatArray) -> SamplingLaw:
        """How samples are drawn; sigma defaults to a fifth of the diagonal of the bounding box."""
        places = positions(model, data)
        sigma = 0.2 * float(np.linalg.norm(np.ptp(places, axis=0))) if self.sigma is None else self.sigma
        return SamplingLaw(self.sampling, sigma or 1.0, self.mean_distance)


def positions(model: Model, data: FloatArray) -> FloatArray:
    """Where elements lie, for distances between them."""
    own = getattr(model, "positions", None)
    return data if own is None else np.asarray(own(data), np.float64)


def check_settings(settings: Settings, model: Model, data: FloatArray) -> Settings:
    """The settings, if they can be used with this model and these data."""
    check_choice("sampling", settings.sampling, ["uniform", "local", "exhaustive"])
    check_choice("hits", settings.hits, HIT_RULES)
    check_choice("tests", settings.tests, ["sampled", "combinatorial"])
    check_choice("mode", settings.mode, ["default", "paper"])
    check_choice("preference", settings.preference, ["hard", "soft"])
    if settings.n_samples != "auto":
        check_count("n_samples", settings.n_samples)
    for name in ("min_elements", "min_candidates", "max_elements", "max_rounds"):
        check_count(name, getattr(settings, name))
    check_count("improve", settings.improve, 0)
    if settings.n_background is not None:
        check_count("n_background", settings.n_background)
    for name in ("epsilon", "screen_epsilon", "sigma", "label_width", "dispersion"):
        value = getattr(settings, name)
        if value is not None and not (isinstance(value, Real) and 0 < float(value) < np.inf):
            raise InputError(f"{name} must be a positive number, got {value!r}.")
    if not 0 < settings.detection < 1:
        raise InputError(f"detection must be in (0, 1), got {settings.detection!r}.")
    _check_data(model, data)
    if settings.lengths and data.shape[1] != 4:
        raise InputError(f"lengths=True needs segments x1, y1, x2, y2, but X has {data.shape[1]} columns.")
    return settings


def _check_data(model: Model, data: FloatArray) -> None:
    """Enough elements for a minimal sample, and as many columns as the model asks."""
    wanted = getattr(model, "n_features", None)
    if wanted is not None and data.shape[1] != wanted:
        raise InputError(f"X has {data.shape[1]} columns, but {type(model).__name__} takes {wanted}.")
    if len(data) < model.sample_size:
        raise InputError(
            f"X has {len(data)} elements, but a minimal sample of {type(model).__name__} needs {model.sample_size}."
        )


def thresholds_of(
    threshold: float | str | None, model: Model, data: FloatArray, mode: str = "default"
) -> tuple[FloatArray, float | None]:
    """(t,) thresholds to test at, and that of members: the one that was given, or None for "auto".

    A tight fit deserves more credit than a loose one with as many inliers, so the one that was given is tested at some
    fractions too.
    """
    if threshold is None:
        raise InputError(
            "threshold is required: the largest distance of an inlier to its model, in the units of the residuals of "
            f"{type(model).__name__}; about 2.5 times the standard deviation of the noise. "
            "biconsensus.fitting._estimator.propose_threshold(X, model) looks at the data for one; "
            "threshold='auto' chooses one for each model."
        )
    if isinstance(threshold, str):
        check_choice("threshold", threshold, ["auto"])
        diagonal = float(np.linalg.norm(np.ptp(positions(model, data), axis=0)))
        return np.geomspace(*_RANGE, N_THRESHOLDS) * (diagonal or 1.0), None
    if not (isinstance(threshold, Real) and 0 < float(threshold) < np.inf):
        raise InputError(f"threshold must be a positive number or 'auto', got {threshold!r}.")
    fractions = np.array([1.0]) if mode == "paper" else FRACTIONS
    return fractions * float(threshold), float(threshold)


def propose_threshold(
    X: ArrayLike, model: str | Model = "line", *, n_samples: int = 2000, random_state: int | None = None
) -> float:
    """Look at the data for a threshold: where the best hypotheses are most meaningful.

    Parameters
    ----------
    X : float array, shape (m, d)
        Elements.
    model : str or Model
        Name of a model, or a model.
    n_samples : int, default 2000
        Hypotheses to look at; their samples are local.
    random_state : int or None
        Seed.

    Returns
    -------
    float
        Median over the most meaningful hypotheses, after a refit, of the distance at which chance alone explains what
        follows.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(-1, 1, (200, 2))
    >>> x[:100, 1] = x[:100, 0] / 2 + rng.normal(0, 0.01, 100)
    >>> 0.01 < propose_threshold(x, "line", random_state=0) < 0.05
    True
    """
    chosen = get_model(model)
    data = check_finite(np.asarray(X, np.float64))
    _check_data(chosen, data)
    rng = np.random.default_rng(random_state)
    grid, _ = thresholds_of("auto", chosen, data)
    places = positions(chosen, data)
    law = SamplingLaw("local", 0.2 * float(np.linalg.norm(np.ptp(places, axis=0))) or 1.0)
    chance = Background.of(chosen, data, 2048, rng, "background")
    number = log_tests(len(data), chosen.sample_size, n_samples, len(grid))
    trial = Trial(chosen, len(data), grid, chance, number, chosen.sample_size)
    screened = screen(data, propose(chosen, data, n_samples, law, rng, places), trial, 1.0)
    if not screened.log_nfa.size:
        raise InputError(
            f"no hypothesis is meaningful at any threshold from {grid[0]:.3g} to {grid[-1]:.3g}; give more samples "
            f"(n_samples={n_samples}), or a threshold from what is known of the noise."
        )
    best = np.argsort(screened.log_nfa, kind="stable")[:_PROPOSALS]
    ends = [
        refine(data, trial, screened.matrix[:, [j]].toarray()[:, 0] > 0, screened.params[j], float(grid[0]))
        for j in best
    ]
    return float(np.median([end.threshold for end in ends]))
