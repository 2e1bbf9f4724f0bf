"""The base runs on networks: which algorithms run, on what, a second round, and the one pool that all of them make."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from biconsensus import metrics
from biconsensus._checks import check_count, no_number_of_groups
from biconsensus._words import counted
from biconsensus.errors import InputError, InputTypeError, UnknownNameError
from biconsensus.graphs._graph import Graph
from biconsensus.matrix._groups import in_groups
from biconsensus.pool._build import Provenance
from biconsensus.pool._pool import Pool
from biconsensus.protocols import BoolArray, FloatArray, IntArray
from biconsensus.sources._running import NamedSource, SourceResult
from biconsensus.sources.networks import get_algorithm
from biconsensus.sources.networks._modularity import likely_resolution

DEFAULT: tuple[tuple[str, dict[str, Any]], ...] = (
    ("louvain", {"resolution": (0.7, 1.0, 1.5)}),
    ("leiden", {"resolution": (0.7, 1.0, 1.5)}),
    ("block_model", {}),
    ("label_propagation", {}),
)
"""Only permissively licensed packages. Values in a tuple take turns over the runs."""
MOST_RUNS, FEWEST_RUNS = 10, 2
"""Runs of each setting on small networks and on very large ones; two that agree are a consensus."""
EDGES_IN_ALL = 2_000_000
"""Edges that the runs of one setting look at together, as long as there are more than the fewest: it bounds the time,
and was chosen by the time alone."""
SECOND_SHARE = 4
"""Runs of the first round for each run of the second, so that the second has a voice but cannot outvote the first."""


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
        raise InputError(f"received {counted(found.shape[0], 'label')} for {counted(graphs[network].n_nodes, 'node')}")
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
            f"a pair (name, parameters), or a list of these.{no_number_of_groups(algorithms)}"
        )
    return [setting for entry in algorithms for setting in _grid(entry, n_runs)]


def usual_runs(n_edges: int) -> int:
    """Runs of each setting where none were asked for.

    Examples
    --------
    >>> usual_runs(78), usual_runs(400_000), usual_runs(7_000_000)
    (10, 5, 2)
    """
    return max(FEWEST_RUNS, min(MOST_RUNS, EDGES_IN_ALL // max(n_edges, 1)))


def n_second(n_first: int) -> int:
    """Runs of the second round: one for every four of the first."""
    return -(-n_first // SECOND_SHARE)


def second_round(weighed: Graph, place: IntArray, found: Sequence[IntArray], n_runs: int) -> Setting:
    """Block models of the network weighed by the first runs, from the resolution that suits the best of these.

    Parameters
    ----------
    weighed : Graph
        The network weighed by the first runs, or that of the sets of nodes that all of them keep together.
    place : (m,) int array
        The node of `weighed` that each node is in.
    found : sequence of (m,) int arrays
        Partitions by the first runs.
    n_runs : int
        Block models that are wanted.
    """
    first = np.unique(place, return_index=True)[1]
    start = likely_resolution(weighed, [labels[first] for labels in found])
    return Setting("block_model, second round", get_algorithm("block_model"), n_runs, {"start": start})


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


FLOOR = 0.05
"""Share of its weight that an edge keeps if no run puts its ends together: the network must not fall apart."""
BATCH = 200_000
"""Edges weighed at a time: bounds memory, changes no answer."""


def weighed_by_pool(graph: Graph, pool: Pool) -> Graph:
    """The same network, each edge weighed by how many runs of a pool keep its two ends together.

    Parameters
    ----------
    graph : Graph
        Network of m nodes.
    pool : Pool
        Communities of its nodes.

    Returns
    -------
    Graph
        The same edges.

    Notes
    -----
    ``w_uv (0.05 + 0.95 s_uv)`` with s_uv the share of weight of the runs that saw both ends and hold them in one
    community: the idea of Lancichinetti and Fortunato (2012) and of ECG, on the edges only.

    Examples
    --------
    >>> import biconsensus as bc
    >>> from biconsensus.graphs import read_graph
    >>> graph = read_graph([(0, 1), (1, 2)])
    >>> weighed_by_pool(graph, bc.Pool.from_labels([[0, 0, 1], [0, 0, 0]])).adjacency.toarray()[1]
    array([1.   , 0.   , 0.525])
    """
    sources, targets, weights = graph.edges()
    share = np.concatenate(
        [share_together(pool, sources[k : k + BATCH], targets[k : k + BATCH]) for k in range(0, sources.size, BATCH)]
        or [np.zeros(0)]
    )
    half = coo_array((weights * (FLOOR + (1 - FLOOR) * share), (sources, targets)), shape=graph.adjacency.shape)
    adjacency = csr_array(half + half.T)
    adjacency.sort_indices()
    return Graph(adjacency, graph.names)


WEAK_RUNS, WEAK_ROUNDS = 10, 2
"""Louvain runs on a network of weak communities, and how often the network is weighed by them. Weighing it by runs at
all gained a little on most LFR networks and block models near their limit (seeds 50 to 53); more was not tried."""


MOST_FINER = 4
"""How often the resolution rises in search of a number of groups, at most; one or two steps reach it."""


def agreed_in_rounds(
    graph: Graph, share: FloatArray, seed: int, together: Sequence[Sequence[int]] = (), n_groups: int = 1
) -> IntArray:
    """Weak communities: Louvain on a network weighed by what speaks for each link, then by those runs, and again.

    Parameters
    ----------
    graph : Graph
        Network of m nodes and e edges.
    share : (2e,) float array
        For each link, in both directions and the order of the adjacency, what speaks for its two ends being together.
    seed : int
        Decides the seeds of the runs.
    together : sequence of sequences of int
        Nodes that must share a community: all go where most of them are.
    n_groups : int
        Groups that there are at least: where Louvain finds fewer, its resolution rises.

    Returns
    -------
    (m,) int array
        Labels from 0, -1 for nodes without an edge.
    """
    louvain, rng = get_algorithm("louvain"), np.random.default_rng(seed)
    weights = csr_array(graph.adjacency, dtype=np.float64, copy=True)
    weights.sort_indices()
    weights.data *= FLOOR + (1 - FLOOR) * share
    weighed = Graph(weights, graph.names)

    def found(seed: int, resolution: float) -> IntArray:
        """Communities of the network with its present weights."""
        return np.asarray(louvain(weighed, seed, resolution=resolution))

    def fine_enough() -> float:
        """A resolution at which there are `n_groups` or more, or 1."""
        resolution = 1.0
        for _ in range(MOST_FINER):
            number = int(found(seed % 2**31, resolution).max()) + 1
            if number >= n_groups:
                break
            resolution *= n_groups / number
        return resolution

    for _ in range(WEAK_ROUNDS):
        resolution = fine_enough()
        runs = [found(int(one), resolution) for one in rng.integers(2**31, size=WEAK_RUNS)]
        weighed = weighed_by_pool(graph, Pool.from_labels(runs))
    labels = found(int(rng.integers(2**31)), fine_enough())
    for nodes in map(list, together):
        linked = labels[nodes][labels[nodes] >= 0]
        labels[nodes] = np.bincount(linked).argmax() if linked.size else -1
    return labels


def contracted(graph: Graph, pool: Pool, least: int = EDGES_IN_ALL // MOST_RUNS) -> tuple[Graph, IntArray]:
    """The network of the sets of nodes that all runs of a pool keep together, and the set of each node.

    Parameters
    ----------
    graph : Graph
        Network of m nodes.
    pool : Pool
        Communities of its nodes; where a run did not see all of them, nothing is contracted.
    least : int
        Edges up to which nothing is contracted: there it saves little time, and what all runs have wrong stays wrong.

    Returns
    -------
    Graph
        Links add up; those inside a set are on the diagonal, in both directions, so that the modularity of groups of
        sets is that of their nodes.
    (m,) int array
        The set of each node.

    Notes
    -----
    What all runs agree on is settled (the core groups of Ovelgoenne and Geyer-Schulz 2013), and a large network with
    clear communities is a small one then.

    Examples
    --------
    >>> import biconsensus as bc
    >>> from biconsensus.graphs import read_graph
    >>> pool = bc.Pool.from_labels([[0, 0, 1], [0, 0, 0]])
    >>> small, place = contracted(read_graph([(0, 1), (1, 2)]), pool, least=0)
    >>> small.adjacency.toarray().tolist(), place.tolist()
    ([[2.0, 1.0], [1.0, 0.0]], [0, 0, 1])
    """
    if pool.unseen is not None or graph.n_edges <= least:
        return graph, np.arange(graph.n_nodes)
    member = in_groups(pool.inverse, np.ones(graph.n_nodes))
    adjacency = csr_array(csr_array(member.T) @ (graph.adjacency @ member))
    adjacency.sort_indices()
    return Graph(adjacency, list(range(adjacency.shape[0]))), pool.inverse


def spread(results: Sequence[SourceResult], place: IntArray) -> list[SourceResult]:
    """Results on sets of nodes as results on the nodes, from the set (m,) of each node."""
    return [replace(r, labels=None if r.labels is None else r.labels[place]) for r in results]


def share_together(pool: Pool, left: IntArray, right: IntArray) -> FloatArray:
    """(p,) of the runs that saw both elements of a pair, the share of weight that holds them in one candidate."""
    a, b = pool.inverse[left], pool.inverse[right]
    both = csr_array(pool.rows[a].multiply(pool.rows[b]), dtype=np.float64) @ pool.weights
    n_sources = len(pool.sources)
    size = np.bincount(pool.source_of, minlength=n_sources)
    of_source = np.bincount(pool.source_of, pool.weights, minlength=n_sources) / np.maximum(size, 1)
    asked = np.full(left.size, of_source.sum())
    if pool.unseen is not None and pool.mask_of is not None:
        masks = pool.mask_of_source
        of_mask = np.bincount(masks, of_source, minlength=pool.unseen.shape[1])
        hidden = (pool.unseen[a].astype(bool) + pool.unseen[b].astype(bool)).astype(np.float64)
        asked = asked - hidden @ of_mask
    share: FloatArray = np.divide(both, asked, out=np.zeros(left.size), where=asked > 1e-12)
    return np.minimum(share, 1.0)


UNSEEN = -2
"""Code of nodes that a run did not see."""
SHARPNESS = 5.0
"""How fast weights fall with modularity; the paper asks for a smooth increasing function and does not say which."""


@dataclass(frozen=True)
class View:
    """What one base run looked at: a network, and where its nodes stand among all."""

    graph: Graph
    places: IntArray
    votes: BoolArray | None = None
    """(m',) the nodes of the network whose labels count; all where it is None."""

    def counted(self) -> BoolArray:
        """(m',) the nodes of the network whose labels count."""
        return np.ones(self.places.size, bool) if self.votes is None else self.votes


def pool_of(results: Sequence[SourceResult], views: Sequence[View], names: Sequence[Hashable], weights: Any) -> Pool:
    """Pool of the runs that gave a result; nodes that a run did not see do not vote in it.

    Parameters
    ----------
    results, views : sequences of the same length
        Base runs, and what each looked at.
    names : sequence of m hashables
        All nodes.
    weights : {"uniform", "modularity"}, callable or None
        Rule for the weight of a run; a callable takes the graph and the labels or memberships. None: all the same.
    """
    done = [(result, view) for result, view in zip(results, views) if result.ok]
    flat = [(r, v) for r, v in done if r.labels is not None and r.labels.ndim == 1]
    cover = [(r, v) for r, v in done if r.labels is not None and r.labels.ndim == 2 and r.labels.shape[1]]
    values = _weights(weights, flat + cover)
    parts: list[Pool] = []
    if any((r.labels >= 0).any() for r, _ in flat if r.labels is not None):
        parts.append(_from_partitions(flat, len(names), values[: len(flat)]))
    if cover:
        parts.append(_from_covers(cover, len(names), values[len(flat) :]))
    if not parts:
        raise InputError(
            "graph: no base run put any node into a community; a network needs edges between different nodes, with "
            "weights above 0."
        )
    pool = parts[0] if len(parts) == 1 else parts[0] + parts[1]
    return replace(pool, ids=_ids(names))


def _ids(names: Sequence[Hashable]) -> NDArray[Any]:
    """(m,) names as a plain array: numbers or strings stay, anything else is written out."""
    plain = all(isinstance(name, str) for name in names) or all(type(name) is int for name in names)
    return np.array(list(names) if plain else [str(name) for name in names])


def _provenance(result: SourceResult) -> Provenance:
    """Name, parameters and seed of a run."""
    return Provenance(result.name, dict(result.params), result.seed)


def _from_partitions(runs: Sequence[tuple[SourceResult, View]], m: int, weights: FloatArray) -> Pool:
    """Pool of runs that put every node into one community at most."""
    table = np.full((m, len(runs)), UNSEEN, dtype=np.int64)
    for k, (result, view) in enumerate(runs):
        counted = view.counted()
        table[view.places[counted], k] = np.asarray(result.labels)[counted]
    sources = [_provenance(result) for result, _ in runs]
    return Pool.from_labels(table, weights=weights, missing=UNSEEN, sources=sources)


def _from_covers(runs: Sequence[tuple[SourceResult, View]], m: int, weights: FloatArray) -> Pool:
    """Pool of runs whose communities may overlap."""
    groups, source_of, names = [], [], []
    for k, (result, view) in enumerate(runs):
        held = np.asarray(result.labels) * view.counted()[:, None]
        groups += [view.places[np.flatnonzero(column)] for column in held.T]
        source_of += [k] * held.shape[1]
        names += [f"{result.name}: {g}" for g in range(held.shape[1])]
    seen = None if all(v.counted().sum() == m for _, v in runs) else [v.places[v.counted()] for _, v in runs]
    pool = Pool.from_groups(groups, m, weights[np.array(source_of)], names, source_of, seen)
    return replace(pool, sources=tuple(_provenance(result) for result, _ in runs))


def _weights(rule: Any, runs: Sequence[tuple[SourceResult, View]]) -> FloatArray:
    """(c,) weight of each run."""
    if callable(rule):
        return np.array([float(rule(view.graph, result.labels)) for result, view in runs])
    if isinstance(rule, str) and rule not in WEIGHT_RULES:
        raise UnknownNameError.of("weights", rule, WEIGHT_RULES)
    return WEIGHT_RULES[rule](runs) if isinstance(rule, str) else np.ones(len(runs))


def _uniform(runs: Sequence[tuple[SourceResult, View]]) -> FloatArray:
    """Every run counts the same."""
    return np.ones(len(runs))


def _by_modularity(runs: Sequence[tuple[SourceResult, View]]) -> FloatArray:
    """exp(5 (Q - max Q)) with Q the modularity of the run; a cover counts by the first community of each node."""
    quality = [metrics.modularity(view.graph.adjacency, first_groups(np.asarray(r.labels))) for r, view in runs]
    return np.exp(SHARPNESS * (np.array(quality) - max(quality)))


def first_groups(held: IntArray) -> IntArray:
    """(m,) labels of a partition, unchanged; of memberships (m, g), the first community of each node."""
    if held.ndim == 1:
        return held
    return np.where(held.any(axis=1), held.argmax(axis=1), -1).astype(np.int64)


WEIGHT_RULES: dict[str, Callable[[Sequence[tuple[SourceResult, View]]], FloatArray]] = {
    "uniform": _uniform,
    "modularity": _by_modularity,
}
