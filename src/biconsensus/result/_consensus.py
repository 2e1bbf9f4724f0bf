"""Bicluster and Consensus: what a user holds in the end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from biconsensus._words import counted
from biconsensus.errors import InputError, InputTypeError
from biconsensus.matrix import _groups as shares
from biconsensus.pool._pool import Pool
from biconsensus.pool._rows import gather
from biconsensus.protocols import BoolArray, Evidence, FloatArray, IntArray
from biconsensus.result._path import ConsensusPath, PathGroups, PathTrace

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from biconsensus.explore._handle import Explorer
    from biconsensus.growing import Convergence
    from biconsensus.modes import Modes
    from biconsensus.questions import Question
    from biconsensus.quorum._confidence import Confidence

KEPT_ON_PATH = ("path", "silent", "rows_searched", "front")
"""What the account of a search still says at another point of its path."""

LONG = 1_000_000
"""Characters up to which the text of an estimator is not shortened."""


@dataclass(frozen=True, eq=False)
class Bicluster:
    """Elements, the candidates that back them, and what they gain together.

    Examples
    --------
    >>> import biconsensus as bc
    >>> first = bc.find_consensus([[0] * 4 + [1] * 4] * 3).biclusters[0]
    >>> first.elements, first.candidates
    (array([0, 1, 2, 3]), array([0, 2, 4]))
    """

    elements: IntArray
    """Indices into the user's elements."""
    candidates: IntArray
    """Indices into the candidates of the pool."""
    gain: float

    def __repr__(self) -> str:
        """One line: how many elements and candidates, and the gain."""
        sizes = f"{counted(self.elements.size, 'element')}, {counted(self.candidates.size, 'candidate')}"
        return f"Bicluster({sizes}, gain {self.gain:.4g})"


class Answered(NamedTuple):
    """What a person said of two elements."""

    i: int
    j: int
    together: bool


@dataclass(frozen=True, eq=False)
class Consensus:
    """The groups that a search found, with everything that is known about them.

    `find_consensus` returns it, and estimators keep it as `consensus_`. `summary` says in a sentence what was found and
    what was decided.

    * Of the elements: `labels`, `membership` (all groups of each, where they may overlap), `backing`, and the
      probabilities of `confidence`; `to_frame` and `to_arrow` make a table of them.
    * Of the groups: `biclusters` with their elements, candidates and gains, and `significance`.
    * To hand it on: `save` and `load`, `write_report`, `explore`.
    * To go on from it, without starting again: `at` another quorum or number of groups, `predict` groups of new
      elements, `update` with more sources, `extend` by more elements, `answer` what `next_question` asks, `modes`.

    Examples
    --------
    >>> import biconsensus as bc
    >>> base = [[0, 0, 0, 1, 1, 1], [5, 5, 5, 7, 7, 7], [1, 1, 0, 0, 0, 0], [0, 0, 0, 1, 1, -1]]
    >>> c = bc.find_consensus(base, min_elements=2, min_candidates=2)
    >>> c.labels
    array([0, 0, 0, 1, 1, 1])
    >>> c.backing
    array([1.  , 1.  , 0.75, 1.  , 1.  , 0.75])
    """

    pool: Pool
    row_of: NDArray[Any]
    """(m,) the row of `members` of each element."""
    members: csr_array
    """(r, T) bool: the groups of each distinct row, as found."""
    candidates: tuple[IntArray, ...]
    """For each group, the candidates of the pool that back it."""
    gains: FloatArray
    """(T,) gain of each group, largest first."""
    objective: float
    """Loss of the whole reconstruction; ||A - sum of blocks||_1 at quorum 1/2. Lower is better."""
    settings: dict[str, Any] = field(default_factory=dict)
    """What `find_consensus` was asked for, and what it chose."""
    extraction: dict[str, Any] = field(default_factory=dict)
    """How the search went: sizes of the first discarded block, description lengths, places of the quorum path."""
    weights: FloatArray | None = None
    """(n,) weights of the candidates in the search; None means the pool's weights."""
    evidence: FloatArray | None = None
    """(T,) what the data says of each group, where a front had data to ask: see `significance`."""
    asked: dict[str, Any] = field(default_factory=dict)
    """The settings that were given, as a file can hold them; `update` and `extend` search with the same settings."""
    placed: IntArray | None = None
    """(m,) group of each element where the data had a say: points, links or models place what the pool does not."""
    row_labels: NDArray[np.integer[Any]] | None = None
    """(r,) group of each row of `members`, left-overs where their candidates are most likely; None where left-overs go
    to the group whose candidates hold them most."""
    trace: PathTrace | ConsensusPath | None = None
    """The quorum path that it was chosen from, where one was searched; `path` has its groups."""
    answers: tuple[Answered, ...] = ()
    """What a person said of pairs of elements; see `answer`."""
    unanswered: Consensus | None = None
    """The consensus before any answer, where there are some."""
    named: tuple[int, ...] | None = None
    """Names of the groups, where they were found in a pool that grew; see `group_names`."""

    def __len__(self) -> int:
        """Number of groups."""
        return self.gains.size

    def __iter__(self) -> Iterator[Bicluster]:
        """Bi-clusters, largest gain first."""
        return iter(self.biclusters)

    def __getitem__(self, group: int) -> Bicluster:
        """The bi-cluster of one group."""
        return self.biclusters[group]

    @cached_property
    def biclusters(self) -> list[Bicluster]:
        """The bi-clusters as found, largest gain first; left-over elements are never in them."""
        by_group = csr_array(self.members[self.row_of].T)
        elements = np.split(by_group.indices.astype(np.int64), by_group.indptr[1:-1])
        return [Bicluster(*found) for found in zip(elements, self.candidates, self.gains.tolist())]

    @property
    def behind(self) -> csr_array:
        """(n, T) sparse: weight of each candidate in the group that it backs."""
        return shares.weights_behind(self.candidates, self.pool.weights if self.weights is None else self.weights)

    @cached_property
    def _share(self) -> csr_array:
        """(r', T) of the candidates of each group that saw a distinct row of the pool, the share that holds it."""
        return shares.held_share(self.pool, self.behind)

    @cached_property
    def labels(self) -> IntArray:
        """(m,) group of each element, -1 for none.

        With overlap the group that backs the element most; of fitted models the one that the fit gives it.
        """
        if self.placed is not None:
            return self.placed
        overlap = self.settings.get("overlap")
        labels = self._backed_most() if overlap else gather(shares.first_in_rows(self.members), self.row_of)
        if self.settings.get("unassigned") == "nearest":
            if self.row_labels is not None:
                labels = gather(self.row_labels.astype(np.int64), self.row_of)
            left = np.flatnonzero(labels < 0)
            rows, which = np.unique(self.pool.inverse[left], return_inverse=True)
            labels[left] = shares.largest_in_rows(shares.held_weight(self.pool.rows[rows], self.behind))[which]
        return labels

    def _backed_most(self) -> IntArray:
        """(m,) of the groups of each element, the one whose candidates hold it most."""
        groups = csr_array(self.members[self.row_of], dtype=np.float64)
        rows = np.repeat(self.pool.inverse, np.diff(groups.indptr))
        groups.data = shares.values_at(self._share, rows, groups.indices)
        return shares.largest_in_rows(groups)

    @cached_property
    def membership(self) -> csr_array:
        """(m, T) sparse bool: all groups of each element, that of its label among them."""
        found = csr_array(self.members[self.row_of].astype(bool))
        inside = np.flatnonzero(self.labels >= 0)
        labelled = csr_array((np.ones(inside.size, bool), (inside, self.labels[inside])), shape=found.shape)
        return csr_array((found + labelled).astype(bool))

    @cached_property
    def backing(self) -> FloatArray:
        """(m,) in [0, 1]: share of the candidates behind an element's group that hold it, of those that saw it."""
        share = np.zeros(self.labels.size)
        inside = np.flatnonzero(self.labels >= 0)
        share[inside] = shares.values_at(self._share, self.pool.inverse[inside], self.labels[inside])
        return share

    @cached_property
    def path(self) -> ConsensusPath | None:
        """The groupings along the quorum path, from fine to coarse; None where none was searched.

        There is a path where the quorum was "auto" and groups do not overlap; `save` keeps it. Nothing is searched
        again; where the path was searched on a sample of the rows, the first look gives all elements their groups.
        """
        return self.trace.finished if isinstance(self.trace, PathTrace) else self.trace

    def at(self, quorum: float | None = None, *, n_groups: int | None = None) -> Consensus:
        """The result at another point of its quorum path, without another search.

        Parameters
        ----------
        quorum : float, optional
            Quorum of the point.
        n_groups : int, optional
            Number of groups in place of the quorum; of several points with that number, the one of the best score.

        Returns
        -------
        Consensus
            The same pool and the same path, other groups.

        Examples
        --------
        >>> import biconsensus as bc
        >>> base = [np.repeat([0, 1], 16)] * 4 + [np.repeat([0, 1, 2, 3], 8)] * 4
        >>> len(bc.find_consensus(base).at(n_groups=4))
        4
        """
        if self.path is None:
            raise InputError(
                "this result has no quorum path to move on: it has one where quorum='auto' without overlap."
            )
        return at_point(self, self.path, self.path.at(quorum, n_groups))

    @property
    def summary(self) -> str:
        """What was found and what was decided (quorum, sizes, candidates left out), and any doubt, in plain words.

        Examples
        --------
        >>> import biconsensus as bc
        >>> bc.find_consensus([[0] * 9 + [1] * 9] * 5, quorum=0.5).summary
        '2 groups at quorum 0.5; the quorum was given; a group needs 7 elements and 3 of 5 sources; every element is in
        a group.'
        """
        from biconsensus.result._notebook import sentence_of

        return sentence_of(self)

    @cached_property
    def significance(self) -> FloatArray:
        """(T,) base-10 logarithm of the chance (p-value or number of false alarms) of each group.

        It rests on the data where there is some, as `settings["evidence"]` says: the points, the links of the network,
        the residuals of models. Of a table of labels alone it rests on the agreement of the sources against sources
        with permuted labels: that certifies agreement, not truth.
        """
        if self.evidence is not None:
            return self.evidence
        from biconsensus.significance._agreement import AgreementEvidence

        return self._significance_by(AgreementEvidence(self.pool))

    def _significance_by(self, evidence: Evidence) -> FloatArray:
        """(T,) significance of each group by one kind of evidence; an overlapping group with all its elements."""
        if not self.settings.get("overlap"):
            return evidence.of_groups(self.labels) if len(self) else np.zeros(0)
        found = np.zeros(len(self))
        by_group = csr_array(self.membership.T)
        for k in range(len(self)):
            labels = self.labels.copy()
            labels[by_group.indices[by_group.indptr[k] : by_group.indptr[k + 1]]] = k
            # a group may be the label of no element: those that are left, numbered without a gap
            present, numbered = np.unique(labels, return_inverse=True)
            none = int(present[0] < 0)
            found[k] = evidence.of_groups(numbered - none)[np.searchsorted(present, k) - none]
        return found

    def soft_membership(self) -> FloatArray:
        """(m, T) share of backing of every element in every group.

        Examples
        --------
        >>> import biconsensus as bc
        >>> c = bc.find_consensus([[0] * 4 + [1] * 4] * 2 + [[0] * 5 + [1] * 3])
        >>> c.soft_membership()[4].round(2)
        array([0.33, 0.67])
        """
        return np.asarray(self._share[self.pool.inverse].toarray())

    @property
    def indicators(self) -> tuple[BoolArray, BoolArray]:
        """(T, m) and (T, n) masks of rows and columns, as `sklearn.metrics.consensus_score` takes them."""
        columns = np.zeros((len(self), self.pool.shape[1]), bool)
        for t, candidates in enumerate(self.candidates):
            columns[t, candidates] = True
        return self.members[self.row_of].T.toarray().astype(bool), columns

    def predict(self, labels: Any, *, missing: int | None = None) -> IntArray:
        """Groups of new elements from their base labels alone.

        Parameters
        ----------
        labels : (k, c) label table
            One label of each source of the pool for each new element, in any form that `Pool.from_labels` takes.
            Labels that the pool does not know count as votes against every group.
        missing : int, optional
            Code that means "not seen" in integer tables.

        Returns
        -------
        (k,) int array
            Group whose candidates hold the element most, -1 where none passes the quorum (with
            ``unassigned="nearest"``: where no candidate of any group holds it).

        Examples
        --------
        >>> import biconsensus as bc
        >>> c = bc.find_consensus([[0, 0, 1, 1]] * 4, min_elements=2)
        >>> c.predict([[1, 0], [1, 0], [1, 0], [1, 1]])
        array([1, 0])
        """
        from biconsensus.result._predict import predict

        return predict(self, labels, missing)

    def confidence(self) -> Confidence:
        """Probability that each element, and each group, would be found in the same way with a freshly drawn pool.

        Returns
        -------
        Confidence
            `elements`, an array (m,), and `groups`, an array (T,).

        Examples
        --------
        >>> import biconsensus as bc
        >>> bc.find_consensus([[0] * 8 + [1] * 8] * 5).confidence().groups.round(2)
        array([0.94, 0.94])
        """
        return self._confidence

    @cached_property
    def _confidence(self) -> Confidence:
        """Confidence, computed once, because tables, pages and files all need it."""
        from biconsensus.quorum._confidence import confidence

        return confidence(self)

    @property
    def group_names(self) -> tuple[int, ...]:
        """(T,) names that groups keep when the pool grows: at first their numbers; a new group gets a new name.

        Labels count groups from 0 by their gains, and the order of gains may change with every source.
        """
        return tuple(range(len(self))) if self.named is None else self.named

    def update(self, more: Any) -> Consensus:
        """The consensus after more sources (runs, annotators) were added for the same elements.

        Parameters
        ----------
        more : Pool, or anything that `Pool.from_labels` takes
            The new sources.

        Returns
        -------
        Consensus
            What `find_consensus` with the same settings finds in the grown pool; answers of a person are kept, and
            `group_names` says which groups are those that were there before.

        Examples
        --------
        >>> import biconsensus as bc
        >>> c = bc.find_consensus([[0] * 4 + [1] * 4] * 3)
        >>> c.update([[0] * 4 + [1] * 4]).pool.shape
        (8, 8)
        """
        from biconsensus.growing._growing import update

        return update(self, more)

    def extend(self, labels: Any, *, ids: Any = None, missing: int | None = None) -> Consensus:
        """The consensus after more elements were labelled by the same sources.

        Parameters
        ----------
        labels : (k, c) label table
            One label of each source of the pool for each new element, in any form that `Pool.from_labels` takes.
        ids : (k,) array, optional
            Identifiers of the new elements, where the others have some.
        missing : int, optional
            Code that means "not seen" in integer tables.

        Returns
        -------
        Consensus
            What `find_consensus` with the same settings finds for all elements, new ones last. `predict` is quicker,
            and leaves the groups as they are.

        Examples
        --------
        >>> import biconsensus as bc
        >>> c = bc.find_consensus([[0] * 4 + [1] * 4] * 3)
        >>> c.extend([[0, 1], [0, 1], [0, 1]]).labels
        array([0, 0, 0, 0, 1, 1, 1, 1, 0, 1])
        """
        from biconsensus.growing._growing import extend

        return extend(self, labels, ids, missing)

    @cached_property
    def converged(self) -> Convergence:
        """Whether more runs would change the answer: true where they would not, with the curve behind it.

        Examples
        --------
        >>> import biconsensus as bc
        >>> print(bc.find_consensus([[0] * 8 + [1] * 8] * 8).converged.summary)
        With four times the 8 sources, an answer that agrees with this one with an ARI of 1.000 is to be expected: more
        runs would change little.
        """
        from biconsensus.growing._convergence import convergence

        return convergence(self)

    def next_question(self, skip: Iterable[Sequence[int]] = ()) -> Question | None:
        """The pair of elements whose answer by a person would settle most, with what is known about both.

        Parameters
        ----------
        skip : iterable of pairs of int
            Pairs that the person could not answer.

        Returns
        -------
        Question or None
            None where nothing is left that is worth asking.

        Examples
        --------
        >>> import biconsensus as bc
        >>> halves, thirds = [0] * 8 + [1] * 8, [0] * 4 + [1] * 4 + [2] * 8
        >>> c = bc.find_consensus([halves] * 3 + [thirds] * 2)
        >>> print(c.next_question())
        Do 0 and 4 belong together? 60% of the sources say so. The answer counts for 4 and 4 elements like them.
        """
        from biconsensus.questions._questions import next_question

        return next_question(self, skip)

    def answer(self, i: int, j: int, together: bool) -> Consensus:
        """The consensus that follows when a person says whether two elements belong together.

        Parameters
        ----------
        i, j : int
            The elements, such as those of `next_question`.
        together : bool
            Whether they belong to one group.

        Returns
        -------
        Consensus
            Its labels obey every answer. Other labels change, too, if the answers speak for coarser or finer groups.
            The order of answers does not matter.

        Raises
        ------
        InputError
            If the answer contradicts others, directly or through further pairs. The message names the pairs.

        Examples
        --------
        >>> import biconsensus as bc
        >>> halves, thirds = [0] * 8 + [1] * 8, [0] * 4 + [1] * 4 + [2] * 8
        >>> c = bc.find_consensus([halves] * 3 + [thirds] * 2)
        >>> c.answer(0, 4, together=False).labels
        array([1, 1, 1, 1, 2, 2, 2, 2, 0, 0, 0, 0, 0, 0, 0, 0])
        """
        from biconsensus.questions._questions import answer

        return answer(self, i, j, together)

    def withdraw(self, i: int, j: int) -> Consensus:
        """The consensus without what was said of two elements.

        Examples
        --------
        >>> import biconsensus as bc
        >>> c = bc.find_consensus([[0] * 4 + [1] * 4] * 3)
        >>> c.answer(0, 4, together=True).withdraw(0, 4) is c
        True
        """
        from biconsensus.questions._questions import withdraw

        return withdraw(self, i, j)

    def modes(self) -> Modes:
        """Several answers where the sources form several camps, each with its own consensus; see `find_modes`.

        Examples
        --------
        >>> import biconsensus as bc
        >>> base = [[0] * 20 + [1] * 20] * 3 + [[0, 1] * 20] * 3
        >>> bc.find_consensus(base).modes().source_modes
        array([0, 0, 0, 1, 1, 1])
        """
        from biconsensus.modes._modes import modes_of

        return modes_of(self)

    def compare(self, other: Consensus) -> dict[str, float]:
        """Agreement of two results on the same elements: ARI, AMI, NMI of the labels.

        Examples
        --------
        >>> import biconsensus as bc
        >>> c = bc.find_consensus([[0, 0, 1, 1]] * 4, min_elements=2)
        >>> c.compare(c)["ari"]
        1.0
        """
        from biconsensus import metrics

        if not isinstance(other, Consensus):
            raise InputTypeError(
                f"other must be a Consensus, got {type(other).__name__}; for labels use biconsensus.metrics, as in "
                "metrics.ari(labels, consensus.labels)."
            )
        if self.labels.size != other.labels.size:
            raise InputError(f"results must have the same elements; they have {self.labels.size}, {other.labels.size}.")
        scores = {"ari": metrics.ari, "ami": metrics.ami, "nmi": metrics.nmi}
        return {name: score(self.labels, other.labels) for name, score in scores.items()}

    def to_frame(self) -> pd.DataFrame:
        """Table of the elements with the user's own ids: label, confidence and backing (needs pandas).

        Where groups may overlap there is no confidence, as it is defined for disjoint groups.

        Examples
        --------
        >>> import biconsensus as bc
        >>> bc.find_consensus([[0] * 4 + [1] * 4] * 3).to_frame().columns.tolist()
        ['label', 'confidence', 'backing']
        """
        from biconsensus.result._notebook import frame_of

        return frame_of(self)

    def to_arrow(self) -> pa.Table:
        """Table of the elements for Arrow, Polars and DuckDB: id and the columns of `to_frame` (needs pyarrow).

        All columns but the ids are handed over without a copy. ``polars.from_arrow`` and DuckDB make none either.

        Examples
        --------
        >>> import biconsensus as bc
        >>> bc.find_consensus([[0, 0, 1, 1]] * 4, min_elements=2).to_arrow().column_names
        ['label', 'confidence', 'backing']
        """
        from biconsensus.result._notebook import arrow_of

        return arrow_of(self)

    def save(self, path: str | Path) -> None:
        """Write everything to one file (JSON and arrays, no code), for `load`.

        Examples
        --------
        >>> import tempfile
        >>> import biconsensus as bc
        >>> path = Path(tempfile.mkdtemp()) / "result.bic"
        >>> bc.find_consensus([[0] * 4 + [1] * 4] * 3).save(path)
        >>> bc.Consensus.load(path).labels
        array([0, 0, 0, 0, 1, 1, 1, 1])
        """
        from biconsensus.result._storage import save

        save(self, Path(path))

    @classmethod
    def load(cls, path: str | Path) -> Consensus:
        """Read what `save` wrote; its example shows both."""
        from biconsensus.result._storage import load

        return load(Path(path))

    def write_report(self, path: str | Path, **options: Any) -> None:
        """Write the HTML report: one file that opens offline.

        Parameters
        ----------
        path : str or Path
            The page.
        **options
            As in `biconsensus.report.render_report`: points `X`, `graph`, `truth` and others.

        Examples
        --------
        >>> import tempfile
        >>> import biconsensus as bc
        >>> path = Path(tempfile.mkdtemp()) / "report.html"
        >>> bc.find_consensus([[0] * 4 + [1] * 4] * 3).write_report(path)
        >>> path.exists()
        True
        """
        from biconsensus.report import write_report

        write_report(self, path, **options)

    def explore(self, **options: Any) -> Explorer:
        """Open the explorer: the report with the engine behind it, on this machine only.

        Parameters
        ----------
        **options
            As in `biconsensus.explore.explore`: points `X`, `graph` and `truth` for the report, `session`, `browser`.

        Returns
        -------
        Explorer
            With the link in `url`; `close` stops it. A notebook shows the page inside.

        Examples
        --------
        >>> import biconsensus as bc
        >>> with bc.find_consensus([[0, 1] * 8] * 4).explore(browser=False) as explorer:
        ...     explorer.url.startswith("http://127.0.0.1:")
        True
        """
        from biconsensus.explore import explore

        return explore(self, **options)

    def __repr__(self) -> str:
        """One line: how many groups, of how many elements."""
        m, n = self.pool.shape
        left = int((self.labels < 0).sum())
        return f"Consensus({counted(len(self), 'group')} of {m} elements from {n} candidates, {left} left over)"

    def _repr_html_(self) -> str:
        """Small table for notebooks."""
        from biconsensus.result._notebook import table_of

        return table_of(self)


def at_point(consensus: Consensus, path: ConsensusPath, point: PathGroups) -> Consensus:
    """A consensus with the groups of a point of its path."""
    n_groups = len(point)
    inside = np.flatnonzero(point.rows >= 0)
    members = csr_array(
        (np.ones(inside.size, bool), (inside, point.rows[inside])), shape=(consensus.members.shape[0], n_groups)
    )
    behind = np.argsort(point.columns, kind="stable")
    bounds = np.searchsorted(point.columns[behind], np.arange(n_groups + 1))
    settings = {**consensus.settings, "quorum": point.quorum, "chosen_by": "path", "method": "joint"}
    if point.significance is None:
        settings.pop("evidence", None)
    return replace(
        consensus,
        members=members,
        candidates=tuple(behind[start:stop].astype(np.int64) for start, stop in pairwise(bounds)),
        gains=point.gains,
        objective=point.objective,
        settings=settings,
        extraction={name: value for name, value in consensus.extraction.items() if name in KEPT_ON_PATH},
        weights=path.weights,
        evidence=point.significance,
        placed=None if point.placed is None else point.placed.astype(np.int64),
        row_labels=point.row_labels,
        trace=path,
    )


def made_by(
    consensus: Consensus, estimator: Any, call: str, command: str | None = None, said: str | None = None
) -> Consensus:
    """The same result with the call of an estimator, and the command and its seed, that make it again.

    `said` is what the estimator decided about its data, for the summary.
    """
    text, seed = estimator.__repr__(N_CHAR_MAX=LONG), estimator.random_state
    front = {"call": f"{text}.{call}.consensus_", "command": command, "seed": seed if isinstance(seed, int) else None}
    if said is not None:
        front["said"] = said
    return replace(consensus, extraction={**consensus.extraction, "front": front})


def of_elements(consensus: Consensus, elements: IntArray, pool: Pool) -> Consensus:
    """The same groups for some of the elements, whose pool is given."""
    placed = None if consensus.placed is None else consensus.placed[elements]
    return replace(consensus, pool=pool, row_of=consensus.row_of[elements], placed=placed, trace=None)
