"""ConsensusCommunities: the communities that many runs of many algorithms agree on."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from biconsensus import metrics
from biconsensus._checks import check_choice
from biconsensus.communities._chunks import chunks_of, well_seen
from biconsensus.communities._graph import conductances, sets_of_names
from biconsensus.communities._output import CommunityOutput
from biconsensus.communities._pool import View, pool_of
from biconsensus.communities._runs import n_second_runs, second_settings, settings_of
from biconsensus.communities._search import agree
from biconsensus.communities._second import weighed_by_pool
from biconsensus.errors import InputError
from biconsensus.graphs._graph import Graph, sum_of_graphs, union_nodes
from biconsensus.graphs._read import read_graph
from biconsensus.sources._running import NamedSource, SourceResult, child_seeds, run_sources

UNASSIGNED = ("leave", "nearest", "neighbours")
SEARCH = ("quorum", "method", "min_elements", "min_candidates", "overlap", "unassigned", "n_groups", "n_jobs")
"""Parameters of the search in the pool."""


class ConsensusCommunities(CommunityOutput, BaseEstimator):  # type: ignore[misc]
    """Communities of a network that many base results agree on; their number is found, not given.

    Parameters
    ----------
    algorithms : "default", str, callable, (str, dict), or list of these
        Base algorithms by name (`biconsensus.sources.networks.ALGORITHMS`), with parameters: a list, range or array
        of values makes one setting for each. A callable takes a `Graph` and a seed and returns (m,) labels
        or (m, g) memberships.
        "default" is a pool of Louvain, Leiden, block-model and label-propagation runs over several resolutions, for
        which the extra ``graph`` is enough.
    n_runs : int
        Runs of each setting (in the default pool: of each algorithm), each with its own seed.
    weights : {"uniform", "modularity"} or callable
        Weight of the communities of a run: all the same, a smooth increasing function of the modularity of the run,
        or what a function of the graph and the labels returns.
    quorum : float in (0, 1), or "auto"
        Share of agreement that a community needs; "auto" takes the one whose communities make the network most likely.
    method : {"auto", "joint", "greedy"}
        How groups are found; "auto" is all at once, or Algorithm 1 where communities may overlap.
    min_elements : int, optional
        Smallest community; by default 7, in networks of fewer than 28 nodes a quarter of them, but at least 2.
    min_candidates : int, optional
        Fewest runs behind a community; by default 4, or as many as saw nearly every node where those are fewer.
    overlap : bool
        Whether a node may be in several communities; base algorithms that overlap make that useful.
    together : iterable of iterables of node names, optional
        Seeds: nodes that must share a community.
    unassigned : {"leave", "nearest", "neighbours"}
        Left-over nodes stay -1, go to the community whose candidates hold them most, or to the one that they have the
        heaviest links to. Nodes without edges always stay -1.
    second_round : bool or int
        Whether block models of the network, its edges weighed by what the runs say of them, join the pool: one for
        every four runs, or as many as this number. Not where communities may overlap, nor for chunks.
    n_groups : int, optional
        Number of communities wanted; it is found otherwise.
    weight : str or None
        Edge attribute with the weights; None: all edges count the same.
    time_limit : float, optional
        Seconds that one base run may take.
    checkpoint : path, optional
        Folder where finished base runs are kept, and taken from.
    progress : bool, optional
        Whether to show a progress bar; by default on a terminal.
    random_state : int, RandomState, Generator or None
        Where the seeds of all base runs are drawn from, before any of them starts.
    n_jobs : int, optional
        Processes for the base runs. The answer does not depend on it.

    Attributes
    ----------
    communities_ : list of set
        Node names of each community, largest gain first.
    labels_ : (m,) int array
        Community of each node in the order of `graph_.names`, -1 for none; where communities overlap, the
        one that backs it most.
    backing_ : (m,) float array
        Of the candidates behind its community, the share of weight that holds the node.
    modularity_ : float
        Of `labels_`, nodes without a community counting as communities of one.
    conductance_ : (T,) float array
        Of each community: the share of weight that leaves it.
    consensus_ : Consensus
        The bi-clusters with the candidates behind them.
    pool_ : Pool
        All candidates, without empty and trivial ones.
    graph_ : Graph
        The network as it was read; of several networks, their sum.
    results_ : list of SourceResult
        Every base run with its parameters, seed and seconds; failed ones with their error.

    Examples
    --------
    >>> import biconsensus as bc
    >>> cliques = [(a, b) for part in ("abcdefg", "hijklmn") for a in part for b in part if a < b]
    >>> model = bc.ConsensusCommunities(random_state=0).fit([*cliques, ("g", "h")])
    >>> sorted("".join(sorted(community)) for community in model.communities_)
    ['abcdefg', 'hijklmn']
    """

    def __init__(
        self,
        algorithms: Any = "default",
        n_runs: int = 10,
        *,
        weights: Any = "uniform",
        quorum: Any = 0.5,
        method: str = "auto",
        min_elements: int | None = None,
        min_candidates: int | None = None,
        overlap: bool = False,
        together: Iterable[Iterable[Hashable]] | None = None,
        unassigned: str = "leave",
        second_round: bool | int = True,
        n_groups: int | None = None,
        weight: str | None = "weight",
        time_limit: float | None = None,
        checkpoint: str | Path | None = None,
        progress: bool | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.algorithms = algorithms
        self.n_runs = n_runs
        self.weights = weights
        self.quorum = quorum
        self.method = method
        self.min_elements = min_elements
        self.min_candidates = min_candidates
        self.overlap = overlap
        self.together = together
        self.unassigned = unassigned
        self.second_round = second_round
        self.n_groups = n_groups
        self.weight = weight
        self.time_limit = time_limit
        self.checkpoint = checkpoint
        self.progress = progress
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, graph: Any, y: Any = None) -> ConsensusCommunities:
        """Find the communities of one network.

        Parameters
        ----------
        graph : networkx or igraph graph, (m, m) adjacency, edge list, or path
            See `biconsensus.graphs.read_graph`.
        y : ignored
            Present for scikit-learn.
        """
        read = read_graph(graph, weight=self.weight)
        return self._fit([View(read, np.arange(read.n_nodes))], read, named=False)

    def fit_many(self, graphs: Iterable[Any]) -> ConsensusCommunities:
        """Find one consensus for several networks on the same nodes: modalities, time steps, perturbed copies.

        Parameters
        ----------
        graphs : iterable of graphs
            Each as in `fit`; nodes are told apart by name. A node that one of them does not have casts no vote there.
        """
        read = [read_graph(graph, weight=self.weight) for graph in graphs]
        if not read:
            raise InputError("graphs: received none; give at least one network")
        names, places = union_nodes(read)
        views = [View(graph, place) for graph, place in zip(read, places)]
        return self._fit(views, sum_of_graphs(read, names, places), named=True)

    def fit_chunks(self, graph: Any, n_chunks: int, overlap: float = 0.5) -> ConsensusCommunities:
        """Split a large network into overlapping chunks, run every algorithm in each, stitch by consensus.

        A node votes in the chunks that hold most of its links.

        Parameters
        ----------
        graph : as in `fit`
            The whole network.
        n_chunks : int
            Number of chunks.
        overlap : float
            Size of what a chunk shares with others, relative to its own part; above 0, or nothing can be stitched.
        """
        read = read_graph(graph, weight=self.weight)
        chunks = chunks_of(read, n_chunks, overlap)
        views = [View(read.subgraph(c), c, counted) for c, counted in zip(chunks, well_seen(read, chunks))]
        return self._fit(views, read, named=True, chunks=True)

    def _fit(self, views: Sequence[View], graph: Graph, named: bool, chunks: bool = False) -> ConsensusCommunities:
        """Run, pool, agree; the same for one network, several, and chunks."""
        check_choice("unassigned", self.unassigned, UNASSIGNED)
        tied = None if self.together is None else [graph.positions(names, "together") for names in self.together]
        settings = settings_of(self.algorithms, self.n_runs)
        sources = [s for k in range(len(views)) for setting in settings for s in setting.sources(k, named)]
        seen = [view for view in views for _ in range(len(sources) // len(views))]
        n_second = 0 if chunks or self.overlap else n_second_runs(self.second_round, len(sources))
        seeds = child_seeds(self.random_state, len(sources) + n_second)
        self.graph_ = graph
        self.results_ = self._run(sources, [view.graph for view in views], seeds[: len(sources)], "first")
        self.pool_ = pool_of(self.results_, seen, graph.names, self.weights).clean()
        if n_second:
            again = second_settings(n_second).sources(0, False)
            weighed = weighed_by_pool(graph, self.pool_)
            self.results_ += self._run(again, [weighed], seeds[len(sources) :], "second")
            seen += [View(graph, np.arange(graph.n_nodes))] * n_second
            self.pool_ = pool_of(self.results_, seen, graph.names, self.weights).clean()
        search = {name: getattr(self, name) for name in SEARCH}
        self.consensus_ = agree(graph, self.pool_, together=tied, **search)
        self.labels_ = self.consensus_.labels
        self.backing_ = self.consensus_.backing
        self.modularity_ = metrics.modularity(graph.adjacency, self.labels_)
        self.conductance_ = conductances(graph, self.consensus_.membership)
        self.communities_ = sets_of_names(self.consensus_.membership, graph.names)
        return self

    def _run(self, sources: list[NamedSource], graphs: list[Graph], seeds: list[int], part: str) -> list[SourceResult]:
        """Base runs of one round."""
        return run_sources(
            sources,
            graphs,
            seeds,
            n_jobs=self.n_jobs,
            time_limit=self.time_limit,
            checkpoint=None if self.checkpoint is None else Path(self.checkpoint) / part,
            progress=self.progress,
        )
