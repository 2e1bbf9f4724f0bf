"""From a pool to the groups that it agrees on: the one way that every estimator and every command takes.

`Search` holds every setting and resolves it once; `solve` finds the groups and is what every front calls;
`find_consensus` is the same for a user who has a pool or a table of labels.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from contextlib import nullcontext
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from typing import Any

import numpy as np

from biconsensus._checks import (
    check_choice,
    check_count,
    check_jobs,
    check_limit,
    check_quorum,
    given_or_default,
    warn_user,
)
from biconsensus._names import NOT_RANDOM, parameters
from biconsensus._words import counted
from biconsensus._work import shown
from biconsensus.engines._chunks import is_streamed
from biconsensus.engines._dask import find_distributed, is_dask
from biconsensus.engines._local import pool_from_stream
from biconsensus.errors import InputError, InputTypeError, NoConsensusWarning
from biconsensus.matrix._condensed import Condensed
from biconsensus.matrix._matrix import PreferenceMatrix
from biconsensus.methods._greedy import Extraction, bicluster, is_large
from biconsensus.methods._joint import optimise
from biconsensus.pool._build import joined_sets
from biconsensus.pool._pool import Pool, tells_apart
from biconsensus.pool.weights import weigh
from biconsensus.protocols import Block, BoolArray, Evidence, FloatArray, Progress, Solver, silent
from biconsensus.quorum._choice import Option, alternatives_of, options_of, score_options
from biconsensus.quorum._path import NEARLY_AS_GOOD, PathPoint, QuorumPath, best_point, make_point
from biconsensus.result._assemble import Answer, assemble, unit_power
from biconsensus.result._consensus import Consensus
from biconsensus.solvers import check_solver_memory, get_solver

__all__ = ["Search", "find_consensus", "solve"]
__dir__ = __all__.copy  # what dir() shows

logger = logging.getLogger("biconsensus")

IN_MEMORY = (Pool, np.ndarray, list, tuple, dict)
"""Kinds of input that are never streamed."""
METHODS = ("auto", "greedy", "joint", "path")
CUTS = ("quorum", "method", "n_groups")
"""Settings that say where the path is cut."""
DISJOINT = ("joint", "path")
"""Methods whose groups share no element, and which Algorithm 1 does not end."""
STOPS = ("size", "first_small", "description_length")
UNASSIGNED = ("leave", "nearest")
HALF = Fraction(1, 2)
MOST_ELEMENTS, MOST_SOURCES = 7, 4
"""Minimum sizes that are not exceeded by default: the paper's (its tau_R = 6 and tau_C = 3, exclusive)."""
SMALL_SHARE = 0.1
"""Share of the groups of a source that count as its small ones, when the smallest group is taken from the input."""
RARELY_SEEN = 0.05
"""Share of the elements, those that the fewest sources saw, that do not count for the fewest sources of a group."""
NOT_RECORDED = ("memory_limit", "n_jobs")
"""Settings that change no answer."""
MANY_GROUPS = 1000
"""Groups of a majority above which, where the data decides, those of all groups at once stand for those of Algorithm 1,
which finds one after the other (about 7 ms each): of some hundreds they hardly differ, and both are only options."""


@parameters("Search(0.5, n_groups=4)", random_state="it is a parameter of the estimators")
@dataclass(frozen=True, repr=False)
class Search:
    """Every setting of a search. Settings that are not given follow the input, or have the default of `find_consensus`.

    Parameters
    ----------
    quorum : float in (0, 1), or "auto"
        Share of the candidates of a group that must hold an element, and of its elements that a candidate must hold.
    n_groups : int, optional
        Number of groups that you want. It cannot be given together with a number as quorum.
    method : {"auto", "greedy", "joint", "path"}
        "greedy" finds one group after the other (Algorithm 1 of the paper). "joint" finds all groups at once. "path" is
        the answer at this quorum among those that quorum="auto" chooses from. "auto" is greedy if the quorum is a
        number, if groups may overlap, or if `stop` is given, which is a rule of Algorithm 1; otherwise it is joint.
    min_elements, min_candidates : int, optional
        A group has at least this many elements, and is supported by at least this many different sources. By default
        both follow the input.
    overlap : bool
        Whether groups may share elements.
    unassigned : {"nearest", "leave"}
        Whether left-over elements go to the group whose candidates hold them most (of more than 3,000 distinct rows:
        where these are most likely), or stay -1.
    together : iterable of iterables of int, optional
        Seeds: elements that must share a group.
    stop : {"size", "first_small", "description_length"}
        When Algorithm 1 ends.
    solver : str or Solver
        Name of a solver, "auto" (votes for binary pools, weighted quantiles for real ones), or an object.
    weights : str, callable or array, optional
        Weight rule for the candidates, or one weight for each of them or for each source.
    memory_limit : int, optional
        Bytes that the search may use; by default what the machine has free.
    n_jobs : int, optional
        Number of threads. The answer does not depend on it.

    Examples
    --------
    >>> import biconsensus as bc
    >>> bc.Search(quorum=0.5, n_groups=3).checked()
    Traceback (most recent call last):
    ...
    biconsensus.errors.InputError: n_groups=3 picks its own quorum; drop quorum=0.5 or n_groups.
    """

    quorum: float | Fraction | str | None = "auto"
    n_groups: int | None = None
    method: str | None = "auto"
    min_elements: int | None = None
    min_candidates: int | None = None
    overlap: bool = False
    unassigned: str | None = "nearest"
    together: Iterable[Iterable[int]] | None = None
    stop: str | None = "size"
    solver: str | Solver | None = "auto"
    weights: Any = None
    memory_limit: int | None = None
    n_jobs: int | None = None

    @classmethod
    def paper(cls) -> Search:
        """The literal choices of the paper: a majority, Algorithm 1, groups of 7 elements and 4 sources, outliers."""
        return cls(0.5, method="greedy", min_elements=7, min_candidates=4, unassigned="leave")

    def given(self) -> dict[str, Any]:
        """The settings that differ from the defaults."""
        own = {field.name: (getattr(self, field.name), field.default) for field in fields(self)}
        return {
            name: value for name, (value, default) in own.items() if value is not None and not _same(value, default)
        }

    def __repr__(self) -> str:
        """What was given, and nothing else."""
        given = {name: float(v) if isinstance(v, Fraction) else v for name, v in self.given().items()}
        return f"Search({', '.join(f'{name}={value!r}' for name, value in given.items())})"

    def with_settings(self, **more: Any) -> Search:
        """The same search with more settings; one that is given here and there with two values is an error."""
        here, there = self.given(), Search(**more).given()
        for name in here.keys() & there.keys():
            if not _same(here[name], there[name]):
                raise InputError(
                    f"{name}: received {there[name]!r} as a parameter and {here[name]!r} in search; give it once."
                )
        return Search(**(here | there))

    def recorded(self) -> dict[str, Any]:
        """The settings that were given, as a file can hold them; None where it cannot, as for objects."""
        return {name: _recordable(name, value) for name, value in self.given().items() if name not in NOT_RECORDED}

    @classmethod
    def of_record(cls, asked: dict[str, Any]) -> Search:
        """The search of a result, from what was recorded of it."""
        lost = [name for name, value in asked.items() if value is None]
        if lost:
            raise InputError(
                f"{lost[0]}: this result was found with an object that a result does not keep; "
                "call find_consensus with it again."
            )
        return cls(**asked)

    def checked(self) -> Search:
        """This search, if every setting is valid and no two contradict each other; the pool is not needed."""
        blank = Search()
        known = {
            field.name: getattr(blank if getattr(self, field.name) is None else self, field.name)
            for field in fields(self)
        }
        whole = {
            name: None if known[name] is None else check_count(name, known[name])
            for name in ("n_groups", "min_elements", "min_candidates")
        }
        names = {
            "method": check_choice("method", known["method"], METHODS),
            "unassigned": check_choice("unassigned", known["unassigned"], UNASSIGNED),
            "stop": check_choice("stop", known["stop"], STOPS),
        }
        quorum = known["quorum"] if known["quorum"] == "auto" else check_quorum(known["quorum"])
        found = Search(**(known | whole | names | {"quorum": quorum, "overlap": bool(known["overlap"])}))
        if found.n_groups is not None and quorum != "auto":
            raise InputError(
                f"n_groups={found.n_groups} picks its own quorum; drop quorum={float(quorum):g} or n_groups."
            )
        if found.overlap and found.method in DISJOINT:
            raise InputError(f"method={found.method!r} gives disjoint groups; use method='greedy' with overlap=True.")
        if found.stop != "size" and found.method in DISJOINT:
            raise InputError(f"stop={found.stop!r} is a rule of Algorithm 1; use method='greedy' with it.")
        if found.stop == "description_length" and found.n_groups is not None:
            raise InputError("stop='description_length' finds the number of groups; drop it or n_groups.")
        check_limit(found.memory_limit)
        check_jobs(found.n_jobs)
        return found

    def resolved(self, pool: Pool) -> Search:
        """This search with every setting filled in that follows from the pool."""
        found = self.checked()
        solver = ("vote" if pool.binary else "quantile") if found.solver == "auto" else found.solver
        algorithm_1 = found.overlap or found.quorum != "auto" or found.stop != "size"
        method = "greedy" if algorithm_1 and found.method == "auto" else found.method
        if method == "path" and found.quorum == "auto":  # that is where it chooses anyway
            method = "auto"
        voting = voting_candidates(pool, found.quorum)
        elements = smallest_group(pool, voting) if found.min_elements is None else found.min_elements
        sources = fewest_sources(pool, voting) if found.min_candidates is None else found.min_candidates
        return replace(found, solver=solver, method=method, min_elements=elements, min_candidates=sources)

    @property
    def sizes(self) -> tuple[int, int]:
        """Smallest numbers of elements and of sources, once they are resolved."""
        assert self.min_elements is not None
        assert self.min_candidates is not None
        return self.min_elements, self.min_candidates

    def record(self, quorum: Fraction, method: str) -> dict[str, Any]:
        """What is kept with a result."""
        elements, sources = self.sizes
        return {
            "min_elements": elements,
            "min_candidates": sources,
            "overlap": self.overlap,
            "quorum": float(quorum),
            "method": method,
            "unassigned": self.unassigned,
            "stop": self.stop,
            "solver": self.solver if isinstance(self.solver, str) else type(self.solver).__name__,
            "n_groups": self.n_groups,
        }


def _same(one: Any, other: Any) -> bool:
    """Whether two values of a setting are the same."""
    return one is other or (isinstance(one, (str, int, float, Fraction)) and bool(one == other))


def _recordable(name: str, value: Any) -> Any:
    """A setting as JSON can hold it, or None."""
    if name == "together":
        return [[int(element) for element in elements] for elements in value]
    if isinstance(value, Fraction):
        return float(value)
    if name == "weights" and not isinstance(value, str) and not callable(value):
        return np.asarray(value, np.float64).tolist()
    return value if isinstance(value, (str, int, float)) else None


def voting_candidates(pool: Pool, quorum: object) -> BoolArray:
    """(n,) which candidates vote: with "auto" not those that hold nearly everything, unless there are no others."""
    telling = tells_apart(pool)
    return telling if quorum == "auto" and telling.any() else np.ones(telling.size, bool)


def smallest_group(pool: Pool, voting: BoolArray) -> int:
    """Smallest group by default: as small as the small groups of most sources, from 2 to 7 elements.

    The small groups of a source are its smallest tenth. Three groupings into groups of four elements give 4.
    """
    filled = np.flatnonzero(voting & (pool.sizes > 0))
    sizes, sources = pool.sizes[filled], pool.source_of[filled]
    if filled.size == 0:
        return MOST_ELEMENTS
    order = np.lexsort((sizes, sources))
    first = np.flatnonzero(np.diff(sources[order], prepend=-1))
    number = np.diff(np.append(first, order.size))
    small = sizes[order][first + (SMALL_SHARE * number).astype(np.int64)]
    return int(np.clip(np.median(small), 2, MOST_ELEMENTS))


def fewest_sources(pool: Pool, voting: BoolArray) -> int:
    """Fewest sources behind a group by default: half of those that saw an element, but no more than 4.

    Two sources or more make a consensus; elements that hardly anything saw (one in twenty) do not count.
    """
    present = np.unique(pool.source_of[voting])
    if pool.unseen is None or pool.mask_of is None:
        typical = present.size
    else:
        mask = pool.mask_of_source
        sources_of_mask = np.bincount(mask[present], minlength=pool.unseen.shape[1])
        votes = present.size - pool.unseen.astype(np.int64) @ sources_of_mask
        order = np.argsort(votes, kind="stable")
        reached = np.searchsorted(np.cumsum(pool.counts[order]), RARELY_SEEN * pool.shape[0])
        typical = int(votes[order][min(int(reached), votes.size - 1)])
    return max(1, min(MOST_SOURCES, max(2, (typical + 1) // 2), typical))


@parameters(
    "find_consensus(pool, n_groups=4)",
    random_state=NOT_RANDOM,
    search="give its settings themselves, such as n_groups=4",
    X="use ConsensusClustering().fit(X)",
    estimators="use ConsensusClustering(estimators).fit(X)",
    names="use find_consensus(Pool.from_labels(labels, names=...))",
    columns="use find_consensus(Pool.from_labels(labels, columns=...))",
    ids="use find_consensus(Pool.from_labels(labels, ids=...))",
    missing="use find_consensus(Pool.from_labels(labels, missing=...))",
)
def find_consensus(
    pool: Any,
    min_elements: int | None = None,
    min_candidates: int | None = None,
    overlap: bool = False,
    quorum: float | Fraction | str = "auto",
    method: str = "auto",
    together: Iterable[Iterable[int]] | None = None,
    unassigned: str = "nearest",
    n_groups: int | None = None,
    stop: str = "size",
    solver: str | Solver = "auto",
    n_jobs: int | None = None,
    *,
    weights: Any = None,
    memory_limit: int | None = None,
    client: Any = None,
    progress: bool | Progress | None = False,
) -> Consensus:
    """Find the groups that many groupings agree on.

    Parameters
    ----------
    pool : Pool, or anything that `Pool.from_labels` takes
        The candidate groups; (m, c) label tables included. Tables larger than memory may come as the path of a
        Parquet file or folder or of an NPY file, a table of Arrow, Polars or DuckDB, an iterator of chunks, or a Dask
        array or frame.
    min_elements, min_candidates : int, optional
        A group has at least this many elements, and is supported by at least this many different sources. By default
        both follow the input: groups as small as the small groups of most sources (at most 7 elements), supported by
        half of the sources (at most 4). Only sources with a candidate that votes count.
    overlap : bool
        Whether groups may share elements.
    quorum : float in (0, 1), or "auto"
        How much agreement a group needs: the share of its candidates that must hold an element, and the share of its
        elements that a candidate must hold. 1/2 is a majority, as in the paper. A lower quorum merges groups, a higher
        one splits them. "auto" tries many quorums without trivial candidates, and chooses one of the answers; it takes
        the majority if that fits as well. With a number, trivial candidates vote, too.
    method : {"auto", "greedy", "joint", "path"}
        "greedy" finds one group after the other (Algorithm 1 of the paper). "joint" finds all groups at once. "path" is
        the answer at this quorum among those that quorum="auto" chooses from. "auto" is greedy if the quorum is a
        number or groups may overlap, and joint otherwise.
    together : iterable of iterables of int, optional
        Seeds: elements that must share a group.
    unassigned : {"nearest", "leave"}
        Whether left-over elements go to the group whose candidates hold them most (of more than 3,000 distinct rows:
        where these are most likely), or stay -1.
    n_groups : int, optional
        Number of groups that you want. It cannot be given together with a number as `quorum`.
    stop : {"size", "first_small", "description_length"}
        When Algorithm 1 ends: if no block of the minimum sizes is left; if the best block is too small (the rule of the
        paper); or if further groups do not shorten the description of the pool.
    solver : str or Solver
        Name of a solver, "auto" (votes for binary pools, weighted quantiles for real ones), or an object.
    n_jobs : int, optional
        Number of threads. The answer does not depend on it.
    weights : str, callable, (c,) or (n,) array, optional
        Weight rule, or one weight for each source or each candidate, in place of the pool's weights.
    memory_limit : int, optional
        Bytes that the search may use; by default what the machine has free.
    client : dask.distributed.Client, optional
        Where Dask tables are worked on; by default the current client or scheduler.
    progress : bool or callable, optional
        True shows a bar on standard error, None only on a terminal. A function is called with three values: how much is
        done, how much there is (0 if that is not known), and the name of the step. An exception that it raises ends the
        search.

    Returns
    -------
    Consensus

    Notes
    -----
    The search maximises ``gain(R, Q) = sum over i in R, j in Q of s_i M_ij w_j (B_ij - theta)``; at theta = 1/2 that is
    the rank-one problem ``min ||A - x y||_1`` of the paper.

    Examples
    --------
    >>> import biconsensus as bc
    >>> base = [[0] * 8 + [1] * 8] * 3 + [[0] * 5 + [1] * 11]
    >>> bc.find_consensus(base).labels
    array([1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0])
    """
    if hasattr(min_elements, "__len__"):
        raise InputTypeError(
            "find_consensus takes all groupings as its first argument, find_consensus([first, second]); the second "
            f"argument is min_elements, a whole number, got {type(min_elements).__name__}."
        )
    search = Search(
        quorum=quorum,
        n_groups=n_groups,
        method=method,
        min_elements=min_elements,
        min_candidates=min_candidates,
        overlap=overlap,
        unassigned=unassigned,
        together=together,
        stop=stop,
        solver=solver,
        weights=weights,
        memory_limit=memory_limit,
        n_jobs=n_jobs,
    ).checked()
    with nullcontext(silent) if progress is False else shown(progress) as tell:
        if isinstance(pool, IN_MEMORY):
            return solve(pool if isinstance(pool, Pool) else Pool.from_labels(pool), search, progress=tell)
        if is_dask(pool):
            if together is not None:
                raise InputError(
                    "together names elements by number, which a Dask table does not have; join them beforehand."
                )
            return find_distributed(pool, lambda counted: solve(counted, search, progress=tell), client)
        given = pool_from_stream(pool, n_jobs=n_jobs) if is_streamed(pool) else Pool.from_labels(pool)
        return solve(given, search, progress=tell)


def solve(
    pool: Pool, search: Search | None = None, evidence: Evidence | None = None, *, progress: Progress = silent
) -> Consensus:
    """The groups of a pool: the road that `find_consensus`, all estimators and all commands take.

    Parameters
    ----------
    pool : Pool
        The candidates.
    search : Search, optional
        Settings; what is not given follows the pool.
    evidence : Evidence, optional
        What is known of the elements beyond the pool. It decides how fine the groups are where neither a quorum nor a
        number of groups is given, and gives every group its significance.
    progress : callable
        As in `find_consensus`.

    Returns
    -------
    Consensus
        Exactly the grouping that was scored.

    Examples
    --------
    >>> import biconsensus as bc
    >>> solve(bc.Pool.from_labels([[0] * 4 + [1] * 4] * 3), Search(quorum=0.5)).labels
    array([0, 0, 0, 0, 1, 1, 1, 1])
    """
    asked = _Asked.of(pool, search, evidence, progress)
    settings = asked.settings
    on_path = settings.quorum == "auto" or settings.method == "path"
    result = Traced.of(asked).answer() if on_path else asked.consensus(_answer_as_it_is(asked))
    if len(result) == 0:
        warn_user(_why_nothing(pool, settings, result.settings["quorum"]), NoConsensusWarning)
    return result


def _answer_as_it_is(asked: _Asked) -> Answer:
    """Groups at the quorum that was given, on the whole pool."""
    settings = asked.settings
    assert isinstance(settings.quorum, Fraction)
    # in an order of its own, so that the answer does not depend on that of the user
    condensed = Condensed.of(asked.problem, divide=settings.method == "joint")
    elements, sources = condensed.smallest(*settings.sizes)
    searched = replace(settings, min_elements=elements, min_candidates=sources)
    found = _as_given(condensed, _blocks_at(condensed.whole, searched, settings.quorum, asked.progress))
    return Answer(asked.problem, found, settings.quorum, str(settings.method), "given")


def trace(
    pool: Pool, search: Search | None = None, evidence: Evidence | None = None, *, progress: Progress = silent
) -> Traced:
    """The quorum path of a pool: answers at every quorum and for every number of groups, from one search.

    Parameters
    ----------
    pool, search, evidence, progress
        As in `solve`.

    Returns
    -------
    Traced

    Examples
    --------
    >>> import biconsensus as bc
    >>> base = [[0] * 8 + [1] * 8] * 4 + [[0] * 4 + [1] * 4 + [2] * 4 + [3] * 4] * 4
    >>> traced = trace(bc.Pool.from_labels(base), Search(min_elements=4))
    >>> len(traced.at(0.8)), len(traced.with_n_groups(2)), len(traced.with_n_groups(3))
    (4, 2, 3)
    >>> again = bc.find_consensus(base, min_elements=4, quorum=0.8, method="path")
    >>> bool((again.labels == traced.at(0.8).labels).all())
    True
    """
    return Traced.of(_Asked.of(pool, search, evidence, progress))


@dataclass(frozen=True, eq=False)
class _Asked:
    """A pool and a search, everything decided that follows from them, and the matrix of both."""

    given: Pool
    joined: Pool
    """The same with elements joined that must be together."""
    settings: Search
    weights: FloatArray
    power: int
    """Power of two that was taken out of the weights of the matrix."""
    problem: PreferenceMatrix
    evidence: Evidence | None
    progress: Progress = silent
    recorded: dict[str, Any] = field(default_factory=dict)
    """The settings as they were given, for the result to keep."""

    @classmethod
    def of(cls, pool: Pool, search: Search | None, evidence: Evidence | None, progress: Progress) -> _Asked:
        """Resolve the settings, join, weigh, and see whether it fits into memory."""
        search = given_or_default("search", search, Search)
        if search.together is not None:
            search = replace(search, together=joined_sets(search.together, pool.shape[0]))
        settings = search.resolved(pool)
        joined = pool if settings.together is None else pool.join(settings.together)
        weights = joined.weights if settings.weights is None else weigh(settings.weights, joined)
        # the description length weighs errors against sizes, so its weights must stay as they are
        power = 0 if settings.stop == "description_length" else unit_power(weights, settings.quorum != "auto")
        problem = PreferenceMatrix.from_pool(joined, np.ldexp(weights, -power))
        check_solver_memory(problem, _solver(settings), settings.memory_limit)
        return cls(pool, joined, settings, weights, power, problem, evidence, progress, search.recorded())

    def consensus(self, answer: Answer) -> Consensus:
        """The answer as a user holds it."""
        record = self.settings.record(answer.quorum, answer.method)
        result = assemble(
            self.given, self.joined, self.weights, answer, record, self.power, self.evidence, self.recorded
        )
        logger.info("%r", result)
        return result


@dataclass(frozen=True, eq=False)
class Traced:
    """A pool whose quorum path is known: one search, and an answer at every point of it."""

    asked: _Asked
    path: QuorumPath

    @classmethod
    def of(cls, asked: _Asked) -> Traced:
        """Trace the path."""
        settings = asked.settings
        names = tuple(source.name for source in asked.joined.sources)
        # groups that overlap, and descriptions that weigh errors against sizes, are searched on the whole pool
        condense = not settings.overlap and settings.stop == "size"
        how: dict[str, Any] = {"source_names": names, "condense": condense, "progress": asked.progress}
        path = QuorumPath.of_problem(asked.problem, *settings.sizes, **how)
        if logger.isEnabledFor(logging.INFO):
            logger.info("quorum path of %d distinct rows and %d candidates", *path.problem.shape)
            for point in path.points:
                logger.info("quorum %g: %d groups, score %.4f", point.quorum, len(point), path.score(point))
        return cls(asked, path)

    @property
    def quorums(self) -> tuple[float, ...]:
        """Quorums of the points of the path, from fine to coarse."""
        return tuple(float(point.quorum) for point in self.path.points)

    def answer(self) -> Consensus:
        """What `solve` answers: at the quorum or the number of groups of the search, or the best point."""
        quorum = self.asked.settings.quorum
        return self._choice() if quorum == "auto" else self.at(Fraction(quorum or HALF))

    def _choice(self) -> Consensus:
        """The number of groups that was asked for, or what the data says, or what the pool alone says."""
        asked = self.asked
        found = _choice_on_path(self.path, asked.joined, asked.settings, asked.evidence, asked.progress)
        # the path is that of all groups at once; what Algorithm 1 finds is not on it
        return asked.consensus(found if asked.settings.method == "greedy" else replace(found, traced=self.path))

    def at(self, quorum: float | Fraction) -> Consensus:
        """The groups at any quorum, as ``find_consensus(quorum=quorum, method="path")`` gives them.

        Parameters
        ----------
        quorum : float in (0, 1)
            Quorum wanted.

        Returns
        -------
        Consensus
        """
        return self.cut(self.path.at(check_quorum(quorum)))

    def cut(self, point: PathPoint) -> Consensus:
        """The groups of one point of the path."""
        settings = replace(self.asked.settings, n_groups=None)
        answer = _answer_at(self.path, point, settings, "given")
        asked = self._asked_for(settings, quorum=float(point.quorum), method="path")
        return asked.consensus(replace(answer, method="path", traced=self.path))

    def _asked_for(self, settings: Search, **given: Any) -> _Asked:
        """The same question, cut elsewhere, with what would be given to get there."""
        kept = {name: value for name, value in self.asked.recorded.items() if name not in CUTS}
        return replace(self.asked, settings=settings, recorded=given | kept)

    def with_n_groups(self, n_groups: int) -> Consensus:
        """Exactly `n_groups` groups, as ``find_consensus(n_groups=n_groups)`` gives them.

        Parameters
        ----------
        n_groups : int
            Number of groups wanted.

        Returns
        -------
        Consensus
        """
        settings = replace(self.asked.settings, quorum="auto", n_groups=check_count("n_groups", n_groups))
        return replace(self, asked=self._asked_for(settings, n_groups=settings.n_groups)).answer()


def _choice_on_path(
    path: QuorumPath, joined: Pool, settings: Search, evidence: Evidence | None, progress: Progress
) -> Answer:
    """Choose on the quorum path: the number that was asked for, or what the data says, or what the pool alone says."""
    searched = replace(settings, min_elements=path.sizes[0], min_candidates=path.sizes[1])
    greedy = settings.method == "greedy"
    if settings.n_groups is not None:
        # a tree of very many rows starts from groups of the path, of which the pool may choose as many by itself
        if path.by_likelihood and evidence is None and not greedy:
            answer = _choice_of_pool(path, path.best, searched, progress, settings.n_groups)
            if answer is not None:
                return answer
        point = _greedy_point(path, searched) if greedy else path.with_n_groups(settings.n_groups)
        return _answer_at(path, point, settings, "n_groups")
    point = _greedy_point(path, searched) if greedy else path.best
    if evidence is not None and not settings.overlap:
        return _choice_by_data(path, point, joined, searched, evidence, progress)
    answer = _choice_of_pool(path, point, searched, progress)
    assert answer is not None
    return answer


def _choice_of_pool(
    path: QuorumPath, point: PathPoint, settings: Search, progress: Progress, n_groups: int | None = None
) -> Answer | None:
    """A point of the path, or a majority if that fits as well; None if it has not the number of groups asked for."""
    found = None
    if point is not path.best or not path.far_from_majority:
        search, majority = _majority(path, settings, progress)
        if len(majority) and path.score(majority) >= path.score(point) - NEARLY_AS_GOOD:
            point, found = majority, search
    if n_groups is not None and len(point) != n_groups:
        return None
    chosen_by = "pool" if n_groups is None else "n_groups"
    answer = _answer_at(path, point, settings, chosen_by, "" if found is None else "a majority")
    if found is not None:
        # what ended the search is part of the account
        account = replace(_as_given(path.condensed, found), blocks=answer.found.blocks)
        answer = replace(answer, found=account, method=point.rule)
    return answer if n_groups is None or len(answer.found.blocks) == n_groups else None


def _choice_by_data(
    path: QuorumPath, point: PathPoint, joined: Pool, settings: Search, evidence: Evidence, progress: Progress
) -> Answer:
    """The grouping for which the data says most, or one group; `point` is what the pool alone would choose."""
    many = settings.method != "greedy" and len(path.at(HALF)) > MANY_GROUPS
    majority = path.at(HALF) if many else _majority(path, settings, progress)[1]
    options = options_of(path, [Option(majority, "a majority"), Option(point, "the choice of the pool")])
    scored = score_options(path, options, evidence, joined.inverse)
    said = {one.option.point.row_labels.tobytes(): one.evidence for one in scored}
    along = tuple(said.get(point.row_labels.tobytes(), 0.0) for point in path.points)
    if scored and scored[0].score > 0:
        best = scored[0]
        found = _answer_at(path, best.option.point, settings, evidence.kind, origin=best.option.origin)
        return replace(found, evidence=best.evidence, alternatives=alternatives_of(scored), path_evidence=along)
    found = replace(_one_group(path, settings, evidence), path_evidence=along)
    if len(point) < 2:
        return found
    # the user may know better than the data, so what the sources alone would say is not kept back
    value = said[point.row_labels.tobytes()]
    alone = {"n_groups": len(point), "origin": "the choice of the pool", "evidence": value, "score": 0.0}
    return replace(found, alternatives=[alone])


def _majority(path: QuorumPath, settings: Search, progress: Progress) -> tuple[Extraction, PathPoint]:
    """The groups that more than half of the sources, unweighted, agree on: the search, and the point that it gives."""
    plain = path.scorer.plain
    # candidates without a row among those that are searched need no look
    voting = np.where(path.problem.sizes > 0, plain, 0.0)
    blocks = _blocks_at(path.problem.with_weights(voting), settings, HALF, progress)
    rule = "joint" if settings.method == "joint" else "greedy"
    return blocks, path.confirm(make_point(path.scorer, HALF, blocks.blocks, rule=rule, weights=plain))


def _answer_at(path: QuorumPath, point: PathPoint, settings: Search, chosen_by: str, origin: str = "") -> Answer:
    """Answer of one point of the path."""
    found = Extraction(path.finish(point))
    said = origin or f"quorum {float(point.quorum):g}"
    method = "greedy" if settings.method == "greedy" else "joint"
    searched = path.problem.shape[0]
    return Answer(path.weighted(point), found, point.quorum, method, chosen_by, _summary(path), searched, origin=said)


def _one_group(path: QuorumPath, settings: Search, evidence: Evidence) -> Answer:
    """No groups that chance does not explain: everything together, backed by the candidates that hold most of it."""
    problem = path.weighted(path.points[0])
    rows = np.diff(problem.entries.indptr) > 0
    columns = np.asarray(2 * (problem.counts @ problem.entries) > problem.counts[rows].sum())
    found = Extraction([Block(rows, columns, problem.gain(rows, columns, HALF))] if rows.any() else [])
    searched = path.problem.shape[0]
    return Answer(problem, found, HALF, "joint", evidence.kind, _summary(path), searched, origin="no structure")


def _summary(path: QuorumPath) -> list[list[float]]:
    """Quorum, number of groups and score of every point, for the result."""
    return [[float(point.quorum), len(point), path.score(point)] for point in path.points]


def _greedy_point(path: QuorumPath, settings: Search) -> PathPoint:
    """Algorithm 1 at every quorum of the path: the best score, or the best of those nearest to `n_groups`."""
    tries = []
    for quorum in (point.quorum for point in path.points):
        blocks = _greedy(path.problem, settings, quorum).blocks
        tries.append(make_point(path.scorer, quorum, blocks, rule="greedy"))
    wanted = [0 if settings.n_groups is None else abs(len(point) - settings.n_groups) for point in tries]
    return best_point([point for point, off in zip(tries, wanted) if off == min(wanted)], path.score)


def _blocks_at(problem: PreferenceMatrix, settings: Search, quorum: Fraction, progress: Progress) -> Extraction:
    """Blocks of the minimum sizes at one quorum, by the method that was asked for."""
    found = _greedy(problem, settings, quorum, progress)
    if settings.method != "joint":
        return found
    blocks = optimise(problem, quorum, start=found.blocks)
    return Extraction([block for block in blocks if is_large(problem, block, *settings.sizes)])


def _as_given(condensed: Condensed, found: Extraction) -> Extraction:
    """What was found on all rows, in the order of the pool."""
    if condensed.sampled:
        return Extraction([])
    discarded = None if found.discarded is None else condensed.given_blocks([found.discarded])[0]
    return replace(found, blocks=condensed.given_blocks(found.blocks), discarded=discarded)


def _greedy(problem: PreferenceMatrix, settings: Search, quorum: Fraction, progress: Progress = silent) -> Extraction:
    """Algorithm 1 with the chosen solver."""
    solver = _solver(settings)
    solver.load(problem, quorum)
    elements, sources = settings.sizes
    return bicluster(
        problem,
        solver,
        min_elements=elements,
        min_candidates=sources,
        overlap=settings.overlap,
        stop=str(settings.stop),
        progress=progress,
    )


def _solver(settings: Search) -> Solver:
    """The solver of Algorithm 1."""
    assert settings.solver is not None
    return get_solver(settings.solver, **({"n_jobs": settings.n_jobs} if settings.solver == "vote" else {}))


def _why_nothing(pool: Pool, settings: Search, quorum: float) -> str:
    """Reason for an empty answer, and what to set."""
    if pool.shape[0] == 1:
        return "no group: there is only one element, and a group has two or more."
    if pool.rows.nnz == 0:
        return "no group: every candidate of the pool is empty."
    n_sources = np.unique(pool.source_of).size
    elements, sources = settings.sizes
    if np.bincount(pool.rows.indices).max() <= 1 < elements and pool.counts.max() == 1:
        return (
            "no group: every source leaves every element alone, or puts it in no group, and a group needs "
            f"min_elements={elements}."
        )
    if n_sources < sources:
        return (
            f"no group: the pool has {counted(n_sources, 'source')}, fewer than min_candidates={sources}; "
            f"set min_candidates={n_sources} or add sources."
        )
    if pool.shape[0] < elements:
        return (
            f"no group: the pool has {counted(pool.shape[0], 'element')}, fewer than min_elements={elements}; "
            "set a smaller min_elements."
        )
    if settings.quorum == "auto" and not tells_apart(pool).any():
        return (
            "no group: every source puts all of its elements, or nearly all, into one group, which tells nothing "
            "apart; quorum=0.5 returns it as a group."
        )
    return (
        f"no group of at least min_elements={elements} elements and "
        f"min_candidates={sources} sources at quorum {quorum:g} among "
        f"{counted(pool.shape[0], 'element')} and {counted(n_sources, 'source')}; lower the "
        "minimum sizes or the quorum."
    )
