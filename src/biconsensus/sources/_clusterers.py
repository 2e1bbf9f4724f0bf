"""Base clusterings: any scikit-learn clusterer, grids of parameters, or a function, as sources of a pool."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import ParameterGrid
from sklearn.neighbors import KDTree
from sklearn.utils import check_random_state

from biconsensus._checks import no_number_of_groups
from biconsensus.errors import InputTypeError
from biconsensus.protocols import FloatArray, IntArray
from biconsensus.sources._running import Grouping, NamedSource

NAMELESS = "function"
"""Name of a function that has none; several are numbered, because sources of one name count as runs of one source."""
UNTOLD = ("random_state", "n_jobs", "verbose", "copy_x", "copy")
"""Settings that do not make another source: its seed, and how it is computed."""


@dataclass(frozen=True)
class EstimatorSource:
    """Runs a scikit-learn clusterer on all of the data, or on a random part of its rows and features.

    Rows that were not drawn are not seen (NaN), so they do not vote, unless `extend` gives them a label too: the one
    that the clusterer predicts or, where it cannot, that of the nearest drawn row.
    """

    estimator: Any
    """Unfitted; a clone with a seed of its own is fitted."""
    rows: float | int = 1.0
    """Share (float) or number (int) of rows to draw."""
    features: float = 1.0
    """Share of features to draw."""
    extend: bool = False
    block: int | None = None
    """Rows that are predicted together; None for all."""

    def __call__(self, data: Any, seed: int) -> Grouping:
        """Labels of the rows of the data (m, d)."""
        random = check_random_state(seed)
        estimator = _seeded(clone(self.estimator), random.randint(2**31 - 1))
        n_rows, n_features = data.shape
        rows = _draw(random, n_rows, self.rows)
        columns = _draw(random, n_features, self.features)
        part = data if rows is None else data[rows]
        part = part if columns is None else part[:, columns]
        labels = _fit_labels(estimator, part)
        predictor = Predictor(estimator, columns, self.block) if hasattr(estimator, "predict") else None
        if rows is None:
            return Grouping(labels, predictor)
        if self.extend and predictor is not None:
            return Grouping(np.asarray(predictor.predict(data)), predictor)
        if self.extend:
            everything = data if columns is None else data[:, columns]
            nearest = KDTree(part).query(everything, return_distance=False)[:, 0]
            return Grouping(labels[nearest], predictor)
        seen = np.full(n_rows, np.nan)
        seen[rows] = labels
        return Grouping(seen, predictor)


@dataclass(frozen=True)
class Predictor:
    """A fitted clusterer that knows which features it was fitted on."""

    estimator: Any
    columns: IntArray | None = None
    block: int | None = None
    """Rows that are predicted together; None for all."""

    def predict(self, X: FloatArray) -> NDArray[Any]:
        """Labels of new rows (p, d), in the numbering of the base result."""
        own = X if self.columns is None else X[:, self.columns]
        if self.block is None or len(own) <= self.block:
            return np.asarray(self.estimator.predict(own))
        parts = [self.estimator.predict(own[start : start + self.block]) for start in range(0, len(own), self.block)]
        return np.concatenate(parts)


@dataclass(frozen=True)
class FunctionSource:
    """Runs a function of the data, or of the data and a seed."""

    function: Callable[..., Any]

    def __call__(self, data: Any, seed: int) -> Any:
        """Whatever the function returns: (m,) labels or (m, g) memberships."""
        return self.function(data, seed) if self._takes_seed() else self.function(data)

    def _takes_seed(self) -> bool:
        """Whether a second argument is asked for, or one is called seed."""
        try:
            taken = inspect.signature(self.function).parameters.values()
        except ValueError:
            return False
        needed = [p for p in taken if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        return len(needed) >= 2 or (len(taken) >= 2 and list(taken)[1].name == "seed")


def as_sources(estimators: Iterable[Any]) -> list[NamedSource]:
    """Turn clusterers, grids and functions into sources.

    Parameters
    ----------
    estimators : iterable
        Each item is one of: a scikit-learn clusterer; a pair (clusterer, grid), where the grid is a dictionary of
        lists, a list of these, or a `ParameterGrid`; a pair (name, clusterer or function); a function of X, or of X
        and a seed, that returns labels; a `NamedSource`.

    Returns
    -------
    list of NamedSource
        In the given order, grids unfolded.

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> [s.name for s in as_sources([(KMeans(), {"n_clusters": [2, 3]}), lambda X: X[:, 0] > 0])]
    ['KMeans(n_clusters=2)', 'KMeans(n_clusters=3)', 'function']
    >>> [s.name for s in as_sources([KMeans(2), KMeans(3, random_state=0), KMeans()])]
    ['KMeans(n_clusters=2)', 'KMeans(n_clusters=3)', 'KMeans()']
    """
    if isinstance(estimators, str | bytes | Mapping) or not isinstance(estimators, Iterable):
        raise InputTypeError(
            f"estimators: got {estimators!r}; give 'default' or a list of clusterers or functions."
            f"{no_number_of_groups(estimators)}"
        )
    found = [source for item in estimators for source in _sources_of(item)]
    nameless = [place for place, source in enumerate(found) if source.name == NAMELESS]
    for number, place in enumerate(nameless if len(nameless) > 1 else [], start=1):
        found[place] = replace(found[place], name=f"{NAMELESS} {number}")
    return found


def _sources_of(item: Any) -> list[NamedSource]:
    """Sources of one item of the list."""
    if isinstance(item, NamedSource):
        return [item]
    if isinstance(item, tuple) and len(item) == 2 and isinstance(item[0], str):
        return [NamedSource(item[0], s.run, s.params) for s in _sources_of(item[1])]
    if isinstance(item, tuple) and len(item) == 2 and not isinstance(item[0], type):
        grid = item[1] if isinstance(item[1], ParameterGrid) else ParameterGrid(item[1])
        return [_estimator_source(clone(item[0]).set_params(**params), params) for params in grid]
    if not isinstance(item, type) and (isinstance(item, BaseEstimator) or hasattr(item, "fit_predict")):
        return [_estimator_source(item, _settings_of(item))]
    if callable(item) and not isinstance(item, type):
        name = getattr(item, "__name__", type(item).__name__)
        return [NamedSource(NAMELESS if name == "<lambda>" else name, FunctionSource(item))]
    raise InputTypeError(
        f"estimators: cannot use {item!r}; give a clusterer, (clusterer, grid), (name, clusterer), or a function of X."
    )


def _estimator_source(estimator: Any, grid: Mapping[str, Any]) -> NamedSource:
    """A source named after the class and the settings that tell it from others."""
    shown = ", ".join(f"{k}={v!r}" for k, v in grid.items())
    params = {k: v for k, v in estimator.get_params(deep=False).items() if isinstance(v, int | float | str | bool)}
    return NamedSource(f"{type(estimator).__name__}({shown})", EstimatorSource(estimator), {**params, **grid})


def _settings_of(estimator: Any) -> dict[str, Any]:
    """Plain settings of a clusterer that differ from those of its class, without the seed."""
    try:
        usual = type(estimator)().get_params(deep=False)
    except (TypeError, AttributeError):  # a class that needs arguments, or has no settings to ask for
        usual = {}
    own = estimator.get_params(deep=False) if hasattr(estimator, "get_params") else {}
    plain = {name: value for name, value in own.items() if isinstance(value, int | float | str | bool)}
    return {name: plain[name] for name in plain if name not in UNTOLD and plain[name] != usual.get(name)}


def _seeded(estimator: Any, seed: int) -> Any:
    """Give the estimator, and the steps inside it, their seed where none was set."""
    params = estimator.get_params()
    unset = [k for k in params if k.split("__")[-1] == "random_state" and params[k] is None]
    return estimator.set_params(**{k: (seed + i) % (2**31 - 1) for i, k in enumerate(sorted(unset))})


def _draw(random: np.random.RandomState, size: int, share: float | int) -> IntArray | None:
    """A sorted random subset, or None for everything."""
    number = share if isinstance(share, int) else max(1, round(share * size))
    if number >= size:
        return None
    drawn: IntArray = np.sort(random.choice(size, number, replace=False))
    return drawn


def _fit_labels(estimator: Any, X: FloatArray) -> NDArray[Any]:
    """Fit and give the labels, by whichever of the two ways the estimator has."""
    if hasattr(estimator, "fit_predict"):
        labels = estimator.fit_predict(X)
    else:
        labels = estimator.fit(X).labels_
    result: NDArray[Any] = np.asarray(labels)
    return result
