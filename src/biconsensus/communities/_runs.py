"""Which base algorithms run, how often, and with which parameters."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from biconsensus._checks import check_count
from biconsensus.errors import InputError, InputTypeError
from biconsensus.graphs._graph import Graph
from biconsensus.sources._running import NamedSource
from biconsensus.sources.networks import get_algorithm

DEFAULT: tuple[tuple[str, dict[str, Any]], ...] = (
    ("louvain", {"resolution": (0.7, 1.0, 1.5)}),
    ("leiden", {"resolution": (0.7, 1.0, 1.5)}),
    ("block_model", {}),
    ("label_propagation", {}),
)
"""Only permissively licensed packages. Values in a tuple take turns over the runs."""
SECOND_SHARE = 4
"""Runs of the first round for each of the second: enough to be heard, too few to outvote the first."""


@dataclass(frozen=True)
class Setting:
    """One algorithm with fixed parameters, and how many seeds it gets."""

    name: str
    run: Callable[..., Any]
    n_runs: int
    parameters: dict[str, Any] = field(default_factory=dict)

    def sources(self, network: int, named: bool) -> list[NamedSource]:
        """One source for each run on one of several networks; where there are several the name says which."""
        call = partial(_on_network, network, self.run, self.parameters)
        noted = {**self.parameters, "network": network} if named else self.parameters
        label = f"{self.name} on network {network}" if named else self.name
        return [NamedSource(label, call, noted)] * self.n_runs


def _on_network(
    network: int, run: Callable[..., Any], parameters: dict[str, Any], graphs: Sequence[Graph], seed: int
) -> Any:
    """Run one setting on one of the networks; what comes back must fit it."""
    found = run(graphs[network], seed, **parameters)
    if found.shape[0] != graphs[network].n_nodes:
        raise InputError(f"received {found.shape[0]} labels for {graphs[network].n_nodes} nodes")
    return found


def settings_of(algorithms: Any, n_runs: int) -> list[Setting]:
    """Settings for what a user may pass as ``algorithms``; every name is checked, every package present."""
    check_count("n_runs", n_runs)
    if isinstance(algorithms, str) and algorithms == "default":
        return [setting for name, parameters in DEFAULT for setting in _in_turn(name, parameters, n_runs)]
    if isinstance(algorithms, Mapping):
        algorithms = list(algorithms.items())
    elif isinstance(algorithms, str) or callable(algorithms) or _is_pair(algorithms):
        algorithms = [algorithms]
    if not isinstance(algorithms, Sequence) or not algorithms:
        raise InputError(
            f"algorithms: received {algorithms!r}; allowed are 'default', a name, a function of graph and seed, "
            "a pair (name, parameters), or a list of these"
        )
    return [setting for entry in algorithms for setting in _grid(entry, n_runs)]


def second_round(n_first: int) -> Setting:
    """Block models of the network weighed by the first runs: one for every four of them."""
    return Setting("block_model, second round", get_algorithm("block_model"), -(-n_first // SECOND_SHARE))


def _is_pair(entry: Any) -> bool:
    """Whether this is one (name, parameters) pair rather than a list of entries."""
    return isinstance(entry, tuple) and len(entry) == 2 and isinstance(entry[1], Mapping)


def _grid(entry: Any, n_runs: int) -> Iterator[Setting]:
    """Every combination of the listed parameter values, each with its own runs."""
    what, parameters = entry if _is_pair(entry) else (entry, {})
    name, run, times = _resolved(what, n_runs)
    keys = list(parameters)
    for values in itertools.product(*(_listed(parameters[key]) for key in keys)):
        yield Setting(name, run, times, dict(zip(keys, values)))


def _resolved(what: Any, n_runs: int) -> tuple[str, Callable[..., Any], int]:
    """Name, function and number of runs of an algorithm given by name or as a function."""
    if isinstance(what, str):
        algorithm = get_algorithm(what)
        algorithm.check_installed()
        return what, algorithm, n_runs if algorithm.seeded else 1
    if not callable(what):
        raise InputTypeError(f"algorithms: received {what!r}; give a name, a function of graph and seed, or a pair")
    return getattr(what, "__name__", type(what).__name__), what, n_runs


def _listed(value: Any) -> list[Any]:
    """The values that a parameter takes: each value of a list, tuple, range or array, or the one given."""
    if isinstance(value, np.ndarray):
        return list(value.tolist())
    return list(value) if isinstance(value, (list, tuple, range)) else [value]


def _in_turn(name: str, parameters: dict[str, Any], n_runs: int) -> Iterator[Setting]:
    """Runs of one algorithm of the default pool, its parameter values taking turns, so that there are n_runs of it."""
    algorithm = get_algorithm(name)
    algorithm.check_installed()
    values = [dict(zip(parameters, combination)) for combination in itertools.product(*parameters.values())]
    for k, chosen in enumerate(values):
        times = len(range(k, n_runs, len(values)))
        if times:
            yield Setting(name, algorithm, times, chosen)
