"""ConsensusCommunities: the communities that many runs of many algorithms agree on."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClusterMixin

from biconsensus import metrics
from biconsensus._checks import given_or_default, need
from biconsensus._names import fields_in, parameters
from biconsensus._words import counted
from biconsensus._work import shown
from biconsensus.communities._chunks import chunks_of, well_seen
from biconsensus.communities._given import given_result
from biconsensus.communities._runs import (
    View,
    agreed_in_rounds,
    contracted,
    n_second,
    pool_of,
    second_round,
    settings_of,
    spread,
    usual_runs,
    weighed_by_pool,
)
from biconsensus.errors import InputError, InputTypeError, MissingDependencyError
from biconsensus.find import Search, solve
from biconsensus.graphs._graph import Graph, read_graph, sum_of_graphs, union_nodes
from biconsensus.metrics import noise_as_singletons
from biconsensus.pool._pool import Pool, without_trivial
from biconsensus.protocols import FloatArray, IntArray
from biconsensus.result._consensus import made_by
from biconsensus.significance._links import LinkEvidence
from biconsensus.sources._running import NamedSource, Runs, SourceResult, child_seeds, rounds_of, run_sources
from biconsensus.sources.networks._walktrap import as_igraph

SEARCH = ("quorum", "n_groups", "unassigned", "n_jobs")
"""Settings of the search that are parameters of their own."""
SMALLEST = 3
"""Smallest community where the links decide: two linked nodes are only an edge. The links decide on larger ones."""
ENOUGH_NATS = float(np.log(20.0))
"""Evidence from which the summary is silent about it: less has a chance of up to 5% in a network without groups."""
AUTO_RUNS = (5, 10, 20, 40)
"""Runs of each setting after which ``n_runs="auto"`` looks whether more would change the answer; each number is run
afresh, which costs at most as much again as the last."""


@parameters(
    "ConsensusCommunities(n_groups=4)",
    resolution="use algorithms=[(name, {'resolution': ...})]",
    second_round="use quorum='auto', which has one",
    **fields_in(Search, "search"),
    **fields_in(Runs, "runs"),
)
class ConsensusCommunities(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Communities of a network that many base results agree on; their number is found, not given.

    Parameters
    ----------
    algorithms : "default", str, callable, (str, dict), or list of these
        Base algorithms by name (`biconsensus.sources.networks.ALGORITHMS`), with parameters: a list, range or array
        of values makes one setting for each. A callable takes a `Graph` and a seed and returns (m,) labels
        or (m, g) memberships.
        "default" is a pool of Louvain, Leiden, block-model and label-propagation runs over several resolutions, for
        which the extra ``graph`` is enough.
    n_runs : int, "auto" or None
        Runs of each setting (in the default pool: of each algorithm), each with its own seed. None: ten, fewer on
        networks of more than 200,000 edges, down to two, so that the time grows no faster than the network. "auto"
        doubles them from 5 to at most 40, until more would not change the answer (`Consensus.converged`).
    quorum : float in (0, 1), or "auto"
        Share of agreement that a community needs. "auto" lets the network decide how fine the communities are: it
        takes the grouping with the most evidence in the links, and one community where no grouping has any. Further
        groupings then join the pool: block models of the network weighed by the runs, and the best runs refined on
        the network itself.
    n_groups : int, optional
        Number of communities that you want. By default it is found.
    unassigned : {"nearest", "leave"}
        Whether left-over nodes join a community or stay -1. With "nearest" they join the community whose candidates
        hold them most, or, if none does, the one to which they have the heaviest links. Nodes from which no
        path leads to a community stay -1.
    weight : str or None
        Edge attribute, or column of a table of edges, with the weights. None: all edges count the same.
    search : Search, optional
        Settings that few people need: method, minimum sizes, overlap, solver, memory limit; ``together``, by the names
        of the nodes; and ``weights``: "uniform", "modularity" (a smooth increasing function of the modularity of a
        run) or a function of the graph and the labels of a run.
    runs : Runs, optional
        How the base runs are carried out: time limit, checkpoint, progress bar.
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
        Share of the candidates behind its community that hold the node; they count by their weights.
    evidence_ : float
        Nats by which these communities shorten the description of the network, degrees given; 0 for one community.
        A network without communities has as much with a probability of at most ``exp(-evidence_)``.
        `consensus_.significance` has the number of each community.
    modularity_ : float
        Modularity of `labels_`; a node in no community counts as a community of its own.
    conductance_ : (T,) float array
        For each community, the share of its weight that leads out of it.
    consensus_ : Consensus
        The bi-clusters with the candidates behind them.
    pool_ : Pool
        All candidates, without empty and trivial ones.
    graph_ : Graph
        The network as it was read; of several networks, their sum.
    results_ : list of SourceResult
        Every base run with its parameters, seed and seconds; failed ones with their error.

    Notes
    -----
    Directed networks lose their direction, the two directions adding up. Weights count by their ratios: their unit
    does not matter.

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
        n_runs: int | str | None = None,
        *,
        quorum: float | str = "auto",
        n_groups: int | None = None,
        unassigned: str = "nearest",
        weight: str | None = "weight",
        search: Search | None = None,
        runs: Runs | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.algorithms = algorithms
        self.n_runs = n_runs
        self.quorum = quorum
        self.n_groups = n_groups
        self.unassigned = unassigned
        self.weight = weight
        self.search = search
        self.runs = runs
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
        return self._fit([View(read, np.arange(read.n_nodes))], read, "fit(graph)", named=False)

    def fit_many(self, graphs: Iterable[Any]) -> ConsensusCommunities:
        """Find one consensus for several networks on the same nodes: modalities, time steps, perturbed copies.

        Parameters
        ----------
        graphs : iterable of graphs
            Each as in `fit`. Nodes are matched by name. A network that lacks a node does not vote on it.
        """
        read = [read_graph(graph, weight=self.weight) for graph in graphs]
        if not read:
            raise InputError("graphs: received none; give at least one network")
        names, places = union_nodes(read)
        views = [View(graph, place) for graph, place in zip(read, places)]
        return self._fit(views, sum_of_graphs(read, names, places), "fit_many(graphs)", named=True)

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
            How much a chunk shares with others, relative to its own part. It must be above 0, because chunks are joined
            where they overlap.
        """
        read = read_graph(graph, weight=self.weight)
        chunks = chunks_of(read, n_chunks, overlap)
        views = [View(read.subgraph(c), c, counted) for c, counted in zip(chunks, well_seen(read, chunks))]
        return self._fit(views, read, f"fit_chunks(graph, {n_chunks}, {overlap})", named=True, chunks=True)

    def fit_communities(self, graph: Any, results: Iterable[Any]) -> ConsensusCommunities:
        """Find the consensus of communities that were found before, with whatever package; the network decides.

        Parameters
        ----------
        graph : as in `fit`
            The network that was looked at.
        results : iterable
            One entry for each result: a ``NodeClustering`` of cdlib, a clustering or cover of igraph, an iterable of
            communities (sets of node names, as networkx gives them), or a mapping of node names to labels. Nodes in no
            community are seen and in none; nodes that a mapping lacks are not seen.

        Returns
        -------
        ConsensusCommunities
            Itself. `algorithms` and `n_runs` are not used, and nothing is added to the results.

        Examples
        --------
        >>> import biconsensus as bc
        >>> cliques = [(a, b) for part in ("abcdefg", "hijklmn") for a in part for b in part if a < b]
        >>> results = [[set("abcdefg"), set("hijklmn")], [set("abcdef"), set("ghijklmn")], {"a": 0, "b": 0, "h": 1}]
        >>> model = bc.ConsensusCommunities().fit_communities([*cliques, ("g", "h")], results)
        >>> sorted("".join(sorted(community)) for community in model.communities_)
        ['abcdefg', 'hijklmn']
        """
        read = read_graph(graph, weight=self.weight)
        search = self._search(read)
        given = [given_result(entry, k, read) for k, entry in enumerate(results)]
        if not given:
            raise InputError("results: received none; give at least one grouping of the nodes")
        self.graph_, self.results_ = read, [result for result, _ in given]
        pool = pool_of(self.results_, [view for _, view in given], read.names, _rule_of_runs(search))
        return self._finish(pool, search, "fit_communities(graph, results)")

    def _fit(
        self, views: Sequence[View], graph: Graph, call: str, named: bool, chunks: bool = False
    ) -> ConsensusCommunities:
        """Run, pool and solve, for one network, several, or chunks; with n_runs="auto" until the answer is settled."""
        n_edges = max(view.graph.n_edges for view in views)
        rounds = rounds_of(usual_runs(n_edges) if self.n_runs is None else self.n_runs, AUTO_RUNS)
        for number in rounds:
            self._fit_once(views, graph, call, named, chunks, number)
            if number < rounds[-1] and self.consensus_.converged:
                break
        return self

    def _fit_once(
        self, views: Sequence[View], graph: Graph, call: str, named: bool, chunks: bool, n_runs: int
    ) -> ConsensusCommunities:
        """Run, pool, solve, with a number of runs of each setting."""
        search = self._search(graph)
        settings = settings_of(self.algorithms, n_runs)
        sources = [s for k in range(len(views)) for setting in settings for s in setting.sources(k, named)]
        seen = [view for view in views for _ in range(len(sources) // len(views))]
        n_again = n_second(len(sources))
        seeds = child_seeds(self.random_state, len(sources) + n_again + 1)
        evidence = LinkEvidence(graph.adjacency)
        rule = _rule_of_runs(search)
        self.graph_ = graph
        self.results_ = self._run(sources, [view.graph for view in views], seeds[: len(sources)], "first")
        pool = pool_of(self.results_, seen, graph.names, rule)
        if search.quorum == "auto" and not search.overlap and not chunks:
            weighed, place = contracted(weighed_by_pool(graph, without_trivial(pool)), pool)
            again = second_round(weighed, place, self._whole(seen), n_again).sources(0, False)
            self.results_ += spread(self._run(again, [weighed], seeds[len(sources) : -1], "second"), place)
            whole = View(graph, np.arange(graph.n_nodes))
            seen += [whole] * len(again)
            refined = self._refined(evidence, seen, seeds[-1], search)
            self.results_ += refined
            seen += [whole] * len(refined)
            pool = pool_of(self.results_, seen, graph.names, rule)
        return self._finish(pool, search, call, evidence)

    def _finish(
        self, pool: Pool, search: Search, call: str, evidence: LinkEvidence | None = None
    ) -> ConsensusCommunities:
        """Solve, and set what was learned."""
        graph = self.graph_
        evidence = evidence or LinkEvidence(graph.adjacency)
        clean = without_trivial(pool)
        self.pool_ = clean if clean.rows.nnz else pool
        searched = search if _rule_of_runs(search) is None else replace(search, weights=None)
        usual = self.algorithms == "default" and self.n_runs is None and call == "fit(graph)"
        command = "communities" if usual else None
        with shown((given_or_default("runs", self.runs, Runs)).progress) as tell:
            found = solve(self.pool_, searched, evidence, progress=tell)
        self.evidence_ = evidence.of_grouping(found.labels)
        doubt = None
        if len(found) > 1 and search.quorum == "auto":
            doubt = _doubt(self.evidence_, evidence.misplaced(found.labels), evidence.weak is not None)
        self.consensus_ = made_by(found, self, call, command, said=doubt)
        self.labels_ = self.consensus_.labels
        self.backing_ = self.consensus_.backing
        self.conductance_ = conductances(graph, self.consensus_.membership)
        self.communities_ = sets_of_names(self.consensus_.membership, graph.names)
        return self

    def _search(self, graph: Graph) -> Search:
        """All settings of the search, checked, nodes by position."""
        given = given_or_default("search", self.search, Search)
        if given.together is not None:
            given = replace(given, together=[graph.positions(names, "together") for names in given.together])
        found = given.with_settings(**{name: getattr(self, name) for name in SEARCH}).checked()
        by_links = found.min_elements is None and found.quorum == "auto" and not found.overlap
        return replace(found, min_elements=min(SMALLEST, graph.n_nodes)) if by_links else found

    def _whole(self, seen: Sequence[View]) -> list[IntArray]:
        """The partitions that the runs found, on all nodes; -1 for those that a run did not see."""
        whole = []
        for result, view in zip(self.results_, seen, strict=True):
            if result.labels is not None and result.labels.ndim == 1:
                labels = np.full(self.graph_.n_nodes, -1)
                labels[view.places] = result.labels
                whole.append(labels)
        return whole

    def _refined(self, evidence: LinkEvidence, seen: Sequence[View], seed: int, search: Search) -> list[SourceResult]:
        """Groupings that the network itself prefers to the runs, as further results."""
        tied = None if search.together is None else [list(nodes) for nodes in search.together]
        with shown((given_or_default("runs", self.runs, Runs)).progress) as tell:
            proposed = evidence.propose(self._whole(seen), seed, tied, progress=tell)
        if evidence.weak is not None:
            weak = evidence.weak
            labels = agreed_in_rounds(self.graph_, weak.share, seed, tied or (), weak.n_groups)
            evidence.remember(labels, weak.nats, weak.misplaced)
            proposed.append(("agreed in rounds", labels))
        return [SourceResult(name, {}, seed, labels) for name, labels in proposed]

    def _run(self, sources: list[NamedSource], graphs: list[Graph], seeds: list[int], part: str) -> list[SourceResult]:
        """Base runs of one round."""
        how = given_or_default("runs", self.runs, Runs)
        return run_sources(
            sources,
            graphs,
            seeds,
            n_jobs=self.n_jobs,
            time_limit=how.time_limit,
            checkpoint=None if how.checkpoint is None else Path(how.checkpoint) / part,
            progress=how.progress,
        )

    def write_to(self, graph: Any, attribute: str = "community", backing: str | None = "backing") -> None:
        """Write the community and the backing of each node into the node attributes of a networkx or igraph graph.

        Parameters
        ----------
        graph : networkx or igraph graph
            Changed in place.
        attribute : str
            Name of the attribute with the label; -1 for none.
        backing : str or None
            Name of the attribute with the backing; None: not written.
        """
        values: dict[str, list[Any]] = {attribute: self.labels_.tolist()}
        if backing is not None:
            values[backing] = self.backing_.tolist()
        write_attributes(graph, self.graph_, values)

    @property
    def modularity_(self) -> float:
        """Modularity of the communities; nodes in none are communities of their own."""
        return metrics.modularity(self.graph_.adjacency, self.labels_)

    def to_igraph(self, graph: Any = None) -> Any:
        """The answer as an igraph VertexClustering; nodes in no community get one of their own.

        Parameters
        ----------
        graph : igraph.Graph, optional
            What to cluster; by default the fitted network, names in the vertex attribute ``name``.
        """
        igraph = need("igraph", "graph-fast")
        if graph is None:
            graph = as_igraph(self.graph_)
            graph.vs["name"] = self.graph_.names
        return igraph.VertexClustering(graph, membership=noise_as_singletons(self.labels_).tolist())

    def to_cdlib(self, graph: Any) -> Any:
        """The answer as a ``NodeClustering`` of cdlib, to be scored and drawn there.

        Parameters
        ----------
        graph : networkx or igraph graph
            The network that was fitted, as cdlib keeps it beside its communities.

        Returns
        -------
        cdlib.NodeClustering
            Communities that share nodes are marked as overlapping.
        """
        try:
            from cdlib import NodeClustering
        except ImportError as error:
            raise MissingDependencyError("cdlib is not installed; try: pip install cdlib") from error
        found = [sorted(community, key=str) for community in self.communities_]
        overlap = sum(map(len, found)) > len(set().union(*found))
        return NodeClustering(found, graph=graph, method_name="biconsensus", overlap=overlap)


def _doubt(nats: float, misplaced: float, shown: bool) -> str | None:
    """What the summary says of communities for which the links say little, or not who is in them.

    Where the network as a whole shows that there are communities, there is no doubt about that.
    """
    if nats < ENOUGH_NATS and not shown:
        chance = float(np.exp(-max(nats, 0.0)))
        return f"the links are weak evidence for them: up to {chance:.0%} of networks without communities show as much"
    if misplaced > 0:
        told = f"about {misplaced:.0%} of the nodes may be misplaced"
        return f"the network has communities, but its links do not tell for sure who is in them: {told}"
    return None


def _rule_of_runs(search: Search) -> Any:
    """The rule for the weights of whole runs, if one was given; weights of candidates are left to the search."""
    return search.weights if callable(search.weights) or isinstance(search.weights, str) else None


def write_attributes(target: Any, graph: Graph, values: dict[str, list[Any]]) -> None:
    """Write one value for each node into the node attributes of a networkx or igraph graph."""
    if hasattr(target, "nodes") and hasattr(target, "adj"):
        for attribute, column in values.items():
            for name, value in zip(graph.names, column):
                if name not in target:
                    raise InputError(f"graph: it has no node {name!r}, which the estimator was fitted on")
                target.nodes[name][attribute] = value
    elif hasattr(target, "vs"):
        if target.vcount() != graph.n_nodes:
            raise InputError(
                f"graph: it has {counted(target.vcount(), 'node')}; the estimator was fitted on {graph.n_nodes:,}"
            )
        for attribute, column in values.items():
            target.vs[attribute] = column
    else:
        raise InputTypeError(
            f"graph: received {type(target).__name__}; only networkx and igraph graphs have attributes"
        )


def conductances(graph: Graph, membership: csr_array) -> FloatArray:
    """(T,) conductance of each group: the weight that leaves it, over that at its nodes or at all others if less.

    Parameters
    ----------
    graph : Graph
        Network of m nodes.
    membership : (m, T) sparse bool array
        Groups, which may overlap.

    Returns
    -------
    (T,) float array
        In [0, 1]; low for a well separated group, 0 for a group that nothing leaves.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> from biconsensus.graphs import read_graph
    >>> graph = read_graph([(0, 1), (1, 2), (2, 0), (2, 3)])
    >>> conductances(graph, csr_array(np.array([[1], [1], [1], [0]]))).tolist()
    [1.0]
    """
    held = csr_array(membership, dtype=np.float64)
    volume = np.asarray(graph.degrees @ held)
    inside = np.asarray(held.multiply(graph.adjacency @ held).sum(axis=0)).ravel()
    smaller = np.minimum(volume, graph.degrees.sum() - volume)
    return np.asarray(np.divide(volume - inside, smaller, out=np.zeros(volume.size), where=smaller > 0))


def sets_of_names(membership: csr_array, names: Sequence[Hashable]) -> list[set[Hashable]]:
    """Names of the members of each group."""
    by_group = csr_array(membership.T)
    spans = zip(by_group.indptr[:-1], by_group.indptr[1:])
    return [{names[i] for i in by_group.indices[start:end]} for start, end in spans]
