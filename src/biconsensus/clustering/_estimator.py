"""ConsensusClustering: many clusterings of a table, and the groups that they agree on."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from biconsensus._checks import check_columns_are_numbers, check_finite, check_is_plain, given_or_default
from biconsensus._names import fields_in, parameters
from biconsensus._words import counted
from biconsensus.clustering._pool import Voters, assign, pool_of, sources_of, weighed
from biconsensus.engines._dask import find_distributed, is_dask
from biconsensus.errors import InputError, InputTypeError
from biconsensus.find import Search, solve
from biconsensus.pool._pool import Pool
from biconsensus.pool.io._roles import counts_rows, warn_of
from biconsensus.protocols import Evidence, FloatArray, IntArray
from biconsensus.result._consensus import Consensus, made_by
from biconsensus.significance._components import COMPONENTS
from biconsensus.significance._points import PointEvidence
from biconsensus.sources._features import in_one_unit, outweighing, share_a_unit
from biconsensus.sources._running import Runs, SourceResult, child_seeds, rounds_of, run_sources
from biconsensus.sources._scaling import Scaling, check_range

AUTO_RUNS = (1, 2, 4)
"""Runs of each base clustering after which ``n_runs="auto"`` looks whether more would change the answer. The default
pool has about seventy base clusterings, so that four runs of each are as many as are ever used in practice."""


@parameters("ConsensusClustering(n_groups=4)", **fields_in(Search, "search"), **fields_in(Runs, "runs"))
class ConsensusClustering(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Cluster a table many times and keep the groups that the clusterings agree on; their number is found.

    Parameters
    ----------
    estimators : "default" or list, default="default"
        Base clusterings: scikit-learn clusterers, pairs (clusterer, grid of parameters), pairs (name, clusterer),
        functions of X (and a seed) that return labels. "default" is a diverse pool for unknown data.
    n_runs : int or "auto", default=1
        Runs of each base clustering, each with a seed of its own. "auto" doubles them until more would not change the
        answer (`Consensus.converged`), four at most.
    quorum : float in (0, 1) or "auto", default="auto"
        Share of the candidates behind a group that must hold an element. 1/2 is a majority; a lower quorum merges
        groups. "auto" lets the points decide how fine the groups are.
    n_groups : int or None, default=None
        Number of groups that you want. With None it is found.
    min_elements : int or None, default=None
        Elements of the smallest group; by default it follows the base clusterings.
    unassigned : {"nearest", "leave"}, default="nearest"
        Whether rows that no group holds go to the group whose candidates hold them most, or stay -1.
    search : Search or None, default=None
        Settings that few people need: the fewest base clusterings behind a group (``min_candidates``), method, overlap,
        together, stop, solver, memory limit, and the weights of the base clusterings or a rule for them.
    runs : Runs or None, default=None
        How the base clusterings run: time limit, checkpoint, progress bar.
    random_state : int, RandomState or None, default=None
        Seed; each base clustering gets one of its own, drawn beforehand.
    n_jobs : int or None, default=None
        Processes for the base clusterings; the answer does not depend on it.

    Attributes
    ----------
    labels_ : (m,) array of int
        Group of each row, largest gain first; -1 is in no group.
    n_clusters_ : int
        Number of groups found.
    backing_ : (m,) array
        Share of the base clusters behind the row's group that hold the row; they count by their weights.
    consensus_ : Consensus
        The groups with what backs them; `consensus_.to_frame()` keeps the index of a data frame.
    pool_ : Pool
        All base clusters.
    results_ : list of SourceResult
        What became of each base run: labels, seconds, or the error.
    n_features_in_ : int
        Columns of X.

    Examples
    --------
    >>> import numpy as np
    >>> import biconsensus as bc
    >>> from sklearn.cluster import KMeans
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(0, 1, (30, 2)), rng.normal(9, 1, (30, 2))])
    >>> model = bc.ConsensusClustering([(KMeans(), {"n_clusters": [2, 2, 2, 3, 4]})], quorum=0.5, random_state=0).fit(X)
    >>> model.n_clusters_
    2
    >>> model.predict([[0, 0], [9, 9]]).tolist() == [int(model.labels_[0]), int(model.labels_[-1])]
    True
    """

    def __init__(
        self,
        estimators: Any = "default",
        n_runs: int | str = 1,
        *,
        quorum: float | str = "auto",
        n_groups: int | None = None,
        min_elements: int | None = None,
        unassigned: str = "nearest",
        search: Search | None = None,
        runs: Runs | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimators = estimators
        self.n_runs = n_runs
        self.quorum = quorum
        self.n_groups = n_groups
        self.min_elements = min_elements
        self.unassigned = unassigned
        self.search = search
        self.runs = runs
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> ConsensusClustering:
        """Cluster the rows of X.

        Parameters
        ----------
        X : (m, d) array or data frame, or a Dask array or data frame
            Finite numbers. In Dask partitions the base clusterings are fitted on a sample of 20,000 rows and predict
            all of them; `labels_` and `backing_` are then Dask arrays.
        y : ignored

        Returns
        -------
        ConsensusClustering
            Itself.
        """
        if is_dask(X):
            return self._fit_distributed(X)
        search = self._search()
        ids = getattr(X, "index", None) if hasattr(X, "iloc") else None
        points = self._in_range(self._numbers(X))
        self.results_: list[SourceResult] = []
        if len(points) == 1:
            return self._keep(self._solve(Pool.from_labels([[-1]], ids=ids)))
        sources = sources_of(self.estimators, points)
        rounds = rounds_of(self.n_runs, AUTO_RUNS)
        seeds = child_seeds(self.random_state, rounds[-1] * len(sources))
        evidence = _points_evidence(points)
        command = "cluster" if self.estimators == "default" and self.n_runs == 1 else None
        said = self._said_of_columns(points) if self.estimators == "default" else None
        for number in rounds:
            done, wanted = len(self.results_), number * len(sources)
            more = sources * ((wanted - done) // len(sources))
            self.results_ += run_sources(
                more, points, seeds[done:wanted], self.n_jobs, n_elements=len(points), **self._how(done)
            )
            found = self._solve(pool_of(self.results_, search.weights, ids), evidence)
            self._keep(made_by(found, self, "fit(X)", command, said))
            if number < rounds[-1] and self.consensus_.converged:
                break
        return self

    def _said_of_columns(self, points: FloatArray) -> str | None:
        """What was decided about columns, many or with different ranges, for the summary."""
        said = [self._said_of_units(points)]
        if points.shape[1] > COMPONENTS:
            said.append(f"of {points.shape[1]} columns the first {COMPONENTS} principal components were clustered")
        return "; ".join(filter(None, said)) or None

    def _said_of_units(self, points: FloatArray) -> str | None:
        """What was decided about columns whose ranges differ."""
        if not share_a_unit(points):
            return "columns were standardised, because their ranges differ"
        if (found := outweighing(points)) is None:
            return None
        place, ratio = found
        names = getattr(self, "feature_names_in_", None)
        name = f"column {place}" if names is None else f"column {names[place]!r}"
        return (
            f"columns were not standardised, because most ranges are alike; that of {name} is {ratio:.0f} times the "
            "typical one and decides nearly everything, so standardise the columns if its unit is another one"
        )

    def _how(self, done: int) -> dict[str, Any]:
        """How the runs of one round are carried out; a later round has a checkpoint of its own."""
        how = dict(vars(given_or_default("runs", self.runs, Runs)))
        if done and how["checkpoint"] is not None:
            how["checkpoint"] = Path(how["checkpoint"]) / f"after {done} runs"
        return how

    def fit_labels(self, labels: Any, X: Any = None) -> ConsensusClustering:
        """Find the consensus of ready-made clusterings.

        Parameters
        ----------
        labels : (m, c) table, list of c label vectors, data frame, or Pool
            -1 is "in no group", a missing value is "not seen".
        X : (m, d) array or data frame, optional
            The points that were clustered. They decide how fine the groups are, as in `fit`; without them the agreement
            of the clusterings decides.

        Returns
        -------
        ConsensusClustering
            Itself; it cannot predict.
        """
        self.results_ = []
        if is_dask(labels):
            return self._keep(find_distributed(labels, self._solve))
        search = self._search()
        pool = labels if isinstance(labels, Pool) else Pool.from_labels(labels)
        evidence = None if X is None else self._evidence_for(pool, X)
        found = self._solve(pool if search.weights is None else weighed(pool, search.weights), evidence)
        return self._keep(made_by(found, self, "fit_labels(labels)" if X is None else "fit_labels(labels, X)"))

    def _evidence_for(self, pool: Pool, X: Any) -> Evidence | None:
        """What the points say about groups of the elements of a ready-made pool."""
        points = self._in_range(self._numbers(X))
        if len(points) != pool.shape[0]:
            raise InputError(
                f"X: got {counted(len(points), 'row')} for {counted(pool.shape[0], 'labelled element')}; "
                "give one row for each."
            )
        return _points_evidence(points)

    def predict(self, X: Any) -> IntArray:
        """Group of new rows, by the votes of the base clusterings that can predict.

        Each of them says which of its clusters holds a new row; the row joins the group that gains most from it.

        Parameters
        ----------
        X : (p, d) array or data frame
            New rows.

        Returns
        -------
        (p,) array of int
            Groups; -1 where no cluster behind any group holds the row.
        """
        held, asked = self._votes(X)
        quorum = float(self.consensus_.settings["quorum"])
        return assign(held, asked, quorum, self.consensus_.settings["unassigned"] == "nearest")

    def score(self, X: Any, y: Any = None) -> float:
        """Mean backing of new rows: of the clusters behind the group of a row that were asked, the share that holds it.

        Parameters
        ----------
        X : (p, d) array or data frame
            New rows.
        y : ignored

        Returns
        -------
        float
            Between 0 and 1.
        """
        held, asked = self._votes(X)
        shares = held / np.where(asked > 0, asked, 1.0)
        return float(shares.max(axis=1, initial=0.0).mean())

    def _numbers(self, X: Any, reset: bool = True) -> FloatArray:
        """The rows as finite numbers; a column of a data frame that holds none is named."""
        if isinstance(X, str | Path):
            raise InputTypeError(
                f"X: got the path {str(X)!r}; read the table first, for instance with biconsensus.pool.io.read_points."
            )
        check_is_plain(X)
        if reset:
            self._point_out_counters(X)
        try:
            points = validate_data(self, X, dtype=np.float64, ensure_all_finite=False, reset=reset)
        except (TypeError, ValueError):
            check_columns_are_numbers(X)
            raise
        return check_finite(points)

    @staticmethod
    def _point_out_counters(X: Any) -> None:
        """A warning for columns of a data frame that count its rows, which a file would have as ids."""
        if hasattr(X, "iloc"):
            values = [np.asarray(X.iloc[:, k]) for k in range(X.shape[1])]
            found = [repr(name) for name, column in zip(X.columns, values) if counts_rows(column)]
            if found:
                note = "features that count the rows, as ids do: {}; leave them out if they measure nothing"
                warn_of([note.format(", ".join(found))], "X", "")

    def _in_range(self, points: FloatArray) -> FloatArray:
        """Points whose distances can be squared; given clusterers have parameters in the unit of the data."""
        self._scaling = Scaling.of(points)
        if not isinstance(self.estimators, str):
            check_range(self._scaling)
            self._scaling = Scaling()
        return self._scaling.apply(points)

    def _search(self) -> Search:
        """All settings of the search, checked."""
        names = ("quorum", "n_groups", "min_elements", "unassigned", "n_jobs")
        return (
            given_or_default("search", self.search, Search)
            .with_settings(**{name: getattr(self, name) for name in names})
            .checked()
        )

    def _solve(self, pool: Pool, evidence: Evidence | None = None) -> Consensus:
        """Consensus of a pool that has its weights."""
        return solve(pool, replace(self._search(), weights=None), evidence)

    def _fit_distributed(self, X: Any) -> ConsensusClustering:
        """Cluster rows in Dask partitions: fit on a sample, predict every partition."""
        from biconsensus.engines._features import cluster_distributed

        sources = partial(sources_of, self.estimators)
        found, self.results_ = cluster_distributed(
            X, sources, self._solve, random_state=self.random_state, n_jobs=self.n_jobs
        )
        self.n_features_in_ = X.shape[1]
        return self._keep(found)

    def _keep(self, found: Consensus) -> ConsensusClustering:
        """Set what was learned."""
        self.consensus_, self.pool_ = found, found.pool
        self.labels_ = found.labels
        self.backing_ = found.backing
        self.n_clusters_ = len(found)
        return self

    def _votes(self, X: Any) -> tuple[FloatArray, FloatArray]:
        """Votes of the base clusterings on new rows."""
        check_is_fitted(self)
        points = getattr(self, "_scaling", Scaling()).apply(self._numbers(X, reset=False))
        return Voters.of(self.consensus_, self.results_).votes(points)


def _points_evidence(points: FloatArray) -> Evidence | None:
    """What the points say about groups; two points or fewer say nothing."""
    return PointEvidence(in_one_unit(points)) if len(points) > 2 else None
