"""Settings of the fitting of many models: small frozen objects, checked once, and the defaults of each family."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np

from biconsensus._checks import check_choice, check_count
from biconsensus._names import parameters
from biconsensus.errors import InputError, InputTypeError
from biconsensus.models import get_model
from biconsensus.models._bounds import Bounded, check_bounds
from biconsensus.models._contract import check_model
from biconsensus.protocols import FloatArray, Model
from biconsensus.significance._models import HIT_RULES
from biconsensus.sources._sampling import SamplingLaw

FRACTIONS = np.array([0.3, 0.55, 1.0])
"""Each model is tested at these fractions of the threshold: a tight fit deserves more credit than a loose one."""
VOTE = 0.55
"""Hypotheses vote up to this fraction of the threshold: nearer to each other than that, models merge."""
_LOCALITY = 0.2
"""Scale of local samples over the diagonal of the data, for models that do not say: 0.5 in a box of side 2 (paper)."""


@parameters()
@dataclass(frozen=True)
class Sampling:
    """How hypotheses are drawn; None leaves the choice to the family.

    Examples
    --------
    >>> Sampling(law="local", sigma=0.5).sigma
    0.5
    """

    law: str | None = None
    """"uniform", "local" (prefers elements near each other) or "exhaustive"."""
    sigma: float | None = None
    """Scale of the local law, in the units of X."""
    mean_distance: float = 0.0
    """Distance that the local law prefers."""
    improve: int | None = None
    """Steps of local improvement of the hypotheses that pass the screening, before they vote."""
    detection: float = 0.99
    """Wanted probability of detection, for ``n_samples="auto"``."""
    max_elements: int = 5_000
    """Larger data is searched on random subsets of this size, and verified on all elements."""
    max_rounds: int | None = None
    """Most rounds of each search. None: one for planes between images with a given threshold, whose rest a search over
    sets of models finds, and 20 for all others."""
    preference: str = "hard"
    """Whether elements vote with ones ("hard"), or with values that fall with their distance ("soft")."""
    min_elements: int = 2
    """Elements of the smallest bi-cluster."""
    min_candidates: int = 4
    """Hypotheses of the smallest bi-cluster."""


@parameters()
@dataclass(frozen=True)
class Nfa:
    """How the number of false alarms is counted.

    Examples
    --------
    >>> Nfa.paper().tests
    'combinatorial'
    """

    hits: str = "background"
    """Where the chance of a hit comes from: "background" points, closed forms ("paper"), "empirical" density."""
    density: str = "data"
    """Background points follow the local density of the "data", whose clumps are measured too, or are independent and
    "uniform" in the bounding box."""
    tests: str = "sampled"
    """Whether the "sampled" hypotheses are the tests, or all minimal samples there are ("combinatorial")."""
    screen_epsilon: float = 10.0
    """False alarms tolerated among the hypotheses that go into the bi-clustering: relaxed."""
    dispersion: float | None = None
    """Radius, in thresholds, of the densest spot without which a model must be more than chance; None: as the family
    says, 0: not asked."""
    lengths: bool = False
    """Whether elements are segments (x1, y1, x2, y2) that count with their lengths."""
    n_background: int | None = None
    """Background points; sixteen for each element that is looked at, four for a correspondence, 4096 at least."""
    literal: bool = False
    """The last step exactly as the paper has it: no element is left out, one round, its own exclusion."""

    @classmethod
    def paper(cls) -> Nfa:
        """Choices of the paper: closed forms, all samples as tests, nothing left out, one round, literal exclusion."""
        return cls(hits="paper", density="uniform", tests="combinatorial", literal=True)


@dataclass(frozen=True)
class Family:
    """One kind of model, and how its hypotheses are drawn."""

    name: str
    model: Model
    law: SamplingLaw
    steps: int
    """Steps of local improvement."""
    most: int
    """Most hypotheses of a round, where their number follows from the data."""
    columns: int | None = None
    """Leading columns of the data that it looks at; None for all."""
    dispersion: float = 0.0
    """Radius, in thresholds, of the densest spot without which a model must stay meaningful; 0 for none."""

    def view(self, data: FloatArray) -> FloatArray:
        """What the model sees of the elements."""
        return data[:, : self.columns]

    def residuals(self, params: FloatArray, data: FloatArray) -> FloatArray:
        """(m, k) distances of elements to k models."""
        return self.model.residuals(params, self.view(data))


@dataclass(frozen=True)
class Settings:
    """Everything that a search needs to know."""

    n_samples: int | str
    epsilon: float
    sampling: Sampling
    test: Nfa
    label_width: float | None
    n_jobs: int | None


def positions(model: Model, data: FloatArray) -> FloatArray:
    """Where elements lie, for distances between them."""
    own = getattr(model, "positions", None)
    return data if own is None else np.asarray(own(data), np.float64)


def diagonal(model: Model, data: FloatArray) -> float:
    """Length of the diagonal of the bounding box of the places of the elements; 1 where they are all in one place."""
    return float(np.linalg.norm(np.ptp(positions(model, data), axis=0))) or 1.0


def distinct(data: FloatArray, families: list[Family]) -> FloatArray:
    """The distinct elements, if they are enough for a sample: a repeated element is no second witness."""
    alone = np.unique(data, axis=0)
    return alone if len(data) > len(alone) > max(one.model.sample_size for one in families) else data


def sampling_of(sampling: Sampling | str | None) -> Sampling:
    """The object; a word is short for a law."""
    if sampling is None or isinstance(sampling, str):
        return Sampling(law=sampling)
    if not isinstance(sampling, Sampling):
        raise InputTypeError(f"sampling must be a name or a Sampling object, received {sampling!r}.")
    return sampling


def nfa_of(test: Nfa | str | None) -> Nfa:
    """The object; "paper" is short for `Nfa.paper()`."""
    if isinstance(test, str):
        check_choice("test", test, ["paper"])
        return Nfa.paper()
    if test is not None and not isinstance(test, Nfa):
        raise InputTypeError(f"test must be an Nfa object, received {test!r}.")
    return Nfa() if test is None else test


def check_settings(settings: Settings, n_columns: int) -> Settings:
    """The settings, if they can be used with data of this number of columns."""
    sampling, test = settings.sampling, settings.test
    if sampling.law is not None:
        check_choice("sampling", sampling.law, ["uniform", "local", "exhaustive"])
    check_choice("hits", test.hits, HIT_RULES)
    check_choice("density", test.density, ["data", "uniform"])
    check_choice("tests", test.tests, ["sampled", "combinatorial"])
    check_choice("preference", sampling.preference, ["hard", "soft"])
    if settings.n_samples != "auto":
        check_count("n_samples", settings.n_samples)
    for name in ("min_elements", "min_candidates", "max_elements"):
        check_count(name, getattr(sampling, name))
    if sampling.max_rounds is not None:
        check_count("max_rounds", sampling.max_rounds)
    if sampling.improve is not None:
        check_count("improve", sampling.improve, 0)
    if test.n_background is not None:
        check_count("n_background", test.n_background)
    numbers = {"epsilon": settings.epsilon, "label_width": settings.label_width, "sigma": sampling.sigma}
    if test.dispersion is not None and not (isinstance(test.dispersion, Real) and 0 <= float(test.dispersion) < np.inf):
        raise InputError(f"dispersion must be a number of thresholds, 0 or larger, got {test.dispersion!r}.")
    for name, value in {**numbers, "screen_epsilon": test.screen_epsilon}.items():
        if value is not None and not (isinstance(value, Real) and 0 < float(value) < np.inf):
            raise InputError(f"{name} must be a positive number, got {value!r}.")
    if test.lengths and n_columns != 4:
        raise InputError(f"lengths=True needs segments x1, y1, x2, y2, but X has {n_columns} columns.")
    if not 0 < sampling.detection < 1:
        raise InputError(f"detection must be in (0, 1), got {sampling.detection!r}.")
    return settings


def check_threshold(threshold: float | str | None, model: Model) -> float | None:
    """The threshold that was given; None for "auto"."""
    if threshold is None:
        raise InputError(
            "threshold is required: the largest distance of an inlier to its model, in the units of the residuals of "
            f"{type(model).__name__}; about 2.5 times the standard deviation of the noise. "
            "biconsensus.fitting.propose_threshold(X, model) looks at the data for one; threshold='auto' does so by "
            "itself."
        )
    if isinstance(threshold, str) and threshold == "auto":
        return None
    if not (isinstance(threshold, Real) and 0 < float(threshold) < np.inf):
        raise InputError(f"threshold must be a positive number or 'auto', got {threshold!r}.")
    return float(threshold)


def families_of(
    model: Any, data: FloatArray, sampling: Sampling, test: Nfa, bounds: Mapping[str, tuple[float, float]] | None = None
) -> list[Family]:
    """The families that were asked for, each with its own way to draw hypotheses."""
    several = isinstance(model, Sequence) and not isinstance(model, str)
    named = list(model) if several else [model]
    if not named:
        raise InputError("model is an empty list; name at least one family, such as 'line'.")
    models = [get_model(one) for one in named]
    if bounds:
        check_bounds(bounds, models)
        models = [Bounded.of(one, bounds) for one in models]
    widths = [getattr(one, "n_features", None) for one in models]
    for one, width in zip(models, widths):
        _check_width(one, width, data, several)
        if len(data) < one.sample_size:
            raise InputError(
                f"X has {len(data)} elements, but a minimal sample of {_name(one)} needs {one.sample_size}."
            )
    for name, one, width in zip(named, models, widths):
        if not isinstance(name, str):
            check_model(one, data[:, :width])
    spots = [getattr(one, "dispersion", 0.0) if test.dispersion is None else test.dispersion for one in models]
    made = [_family(name, one, width, data, sampling) for name, one, width in zip(named, models, widths)]
    return [replace(one, dispersion=0.0 if test.literal else float(spot)) for one, spot in zip(made, spots)]


def _check_width(model: Model, width: int | None, data: FloatArray, several: bool) -> None:
    """As many columns as the model asks; among several families one may look at the first columns only."""
    right = width is None or width == data.shape[1] or (several and width < data.shape[1])
    if not right:
        raise InputError(f"X has {data.shape[1]} columns, but {_name(model)} takes {width}.")


def _name(model: Model) -> str:
    """Name of the class of a model."""
    return type(getattr(model, "model", model)).__name__


def _family(name: Any, model: Model, width: int | None, data: FloatArray, sampling: Sampling) -> Family:
    """A family with its defaults: what its class says, unless the user says otherwise."""
    view = data[:, :width]
    locality = getattr(model, "locality", _LOCALITY)
    law = sampling.law or ("uniform" if locality is None else "local")
    sigma = sampling.sigma or (locality or _LOCALITY) * diagonal(model, view)
    steps = getattr(model, "n_improve", 0) if sampling.improve is None else sampling.improve
    most = getattr(model, "most_samples", MOST_SAMPLES)
    title = name if isinstance(name, str) else _name(model)
    return Family(title, model, SamplingLaw(law, sigma, sampling.mean_distance), steps, most, width)


MOST_SAMPLES = 100_000
"""Most hypotheses of a round: a few seconds on a thousand elements."""


def with_law(family: Family, name: str) -> Family:
    """The same family with another law of sampling."""
    return replace(family, law=replace(family.law, name=name))
