"""Calls that do not fit a function: the error says what a parameter of another library is called here."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import wraps
from typing import Any, NoReturn, TypeVar, cast

from biconsensus.errors import InputTypeError

Target = TypeVar("Target", bound=Callable[..., Any])

OTHER_NAMES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(
        ("n_clusters", "n_components", "n_communities", "n_models", "max_models", "num_clusters", "clusters", "k", "K"),
        ("n_groups",),
    ),
    **dict.fromkeys(("seed", "random_seed", "rng"), ("random_state",)),
    **dict.fromkeys(("labels", "clusterings", "partitions", "base_labels", "ensemble"), ("pool", "labels")),
    **dict.fromkeys(("labels_true", "y_true", "ground_truth"), ("truth",)),
    **dict.fromkeys(("labels_pred", "y_pred"), ("labels", "groups")),
    **dict.fromkeys(("min_cluster_size", "min_samples", "min_size", "min_community_size"), ("min_elements",)),
    **dict.fromkeys(("eps", "inlier_threshold", "residual_threshold", "tolerance"), ("threshold",)),
    **dict.fromkeys(("n_init", "n_iter", "n_iterations", "max_trials"), ("n_runs", "n_samples")),
    **dict.fromkeys(("estimator", "base_estimators", "clusterers", "algorithm"), ("estimators", "algorithms")),
    **dict.fromkeys(("sample_weight", "edge_weight", "weight"), ("weight", "weights")),
    **dict.fromkeys(("n_workers", "n_processes", "n_threads"), ("n_jobs",)),
    **dict.fromkeys(("sep", "delimiter"), ("separator",)),
    "index_col": ("id_column",),
    "usecols": ("columns",),
    "gamma": ("resolution",),
    "threshold": ("quorum",),
    "verbose": ("progress",),
}
"""Parameters of scikit-learn and its kind, and what they are called here; the first that a function has is meant."""
NOT_RANDOM = "leave it out, because the answer does not depend on chance"
"""What to do with a `random_state` where nothing is random."""


def fields_in(settings: type, name: str) -> dict[str, str]:
    """What to do about every field of an object with settings, which is given as the parameter `name`."""
    return {field.name: f"use {name}={settings.__name__}({field.name}=...)" for field in fields(settings)}


def parameters(example: str = "", **hints: str) -> Callable[[Target], Target]:
    """Decorate a public function or class: a call that does not fit is an error that says how to write it.

    Parameters
    ----------
    example : str
        How a parameter without a place of its own is given, such as ``n_groups=4``.
    **hints : str
        What to do about a parameter that belongs elsewhere, by its name here.

    Returns
    -------
    decorator
        It keeps the signature and the types.

    Examples
    --------
    >>> @parameters("f(3, n_groups=4)", random_state=NOT_RANDOM)
    ... def f(x, *, n_groups=None):
    ...     return x
    >>> f(1, k=2)
    Traceback (most recent call last):
    ...
    biconsensus.errors.InputTypeError: f has no parameter 'k'; use n_groups.
    >>> f(1, seed=0)
    Traceback (most recent call last):
    ...
    biconsensus.errors.InputTypeError: f has no parameter 'seed'; leave it out, because the answer does not depend on...
    >>> f(1, 2)
    Traceback (most recent call last):
    ...
    biconsensus.errors.InputTypeError: f takes only x without a name, but received 2 values; write f(3, n_groups=4).
    """

    def decorate(target: Target) -> Target:
        made = isinstance(target, type)
        call: Callable[..., Any] = target.__dict__["__init__"] if made else target
        what = target.__qualname__
        names = list(inspect.signature(call).parameters)
        placed = [one.name for one in inspect.signature(call).parameters.values() if one.kind != one.KEYWORD_ONLY]
        known, hidden = frozenset(names), {"self", "cls"}

        @wraps(call)
        def checked(*args: Any, **kwargs: Any) -> Any:
            if not kwargs.keys() <= known:
                other = next(name for name in kwargs if name not in known)
                _refuse_name(what, other, [name for name in names if name not in hidden], hints)
            if len(args) > len(placed):
                _refuse_places(what, len(args) - len(placed), [one for one in placed if one not in hidden], example)
            return call(*args, **kwargs)

        if made:
            setattr(target, "__init__", checked)  # noqa: B010 (mypy knows no class here)
            return target
        return cast("Target", checked)

    return decorate


def _refuse_name(what: str, other: str, names: list[str], hints: Mapping[str, str]) -> NoReturn:
    """The error for a parameter that is not known: what is meant, else the nearest, else all there are."""
    for meant in (other, *OTHER_NAMES.get(other, ())):
        hint = f"use {meant}" if meant in names else hints.get(meant)
        if hint is not None:
            raise InputTypeError(f"{what} has no parameter {other!r}; {hint}.")
    near = difflib.get_close_matches(other, names, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"it has {', '.join(names)}."
    raise InputTypeError(f"{what} has no parameter {other!r}; {hint}")


def _refuse_places(what: str, more: int, placed: list[str], example: str) -> NoReturn:
    """The error for more values without a name than there are places."""
    takes = f"only {' and '.join(placed)} without a name" if placed else "no value without a name"
    given = more + len(placed)
    how = f"; write {example}" if example else ""
    raise InputTypeError(f"{what} takes {takes}, but received {given} {'values' if given > 1 else 'value'}{how}.")
