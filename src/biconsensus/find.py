"""find_consensus: from a pool to the groups that it agrees on."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from biconsensus._checks import check_choice, check_count, check_quorum
from biconsensus._search import Settings, solve, solve_on_path
from biconsensus.engines._chunks import is_streamed
from biconsensus.engines._dask import find_distributed, is_dask
from biconsensus.engines._local import pool_from_stream
from biconsensus.errors import InputError
from biconsensus.pool._pool import Pool
from biconsensus.pool.weights import weigh
from biconsensus.protocols import Solver
from biconsensus.result._consensus import Consensus

METHODS = ("auto", "greedy", "joint")
STOPS = ("size", "first_small", "description_length")
UNASSIGNED = ("leave", "nearest")
MAJORITY = float("0.5")
"""The default quorum; an object of its own, so that a quorum that was given can be told from the default."""


def find_consensus(
    pool: Any,
    min_elements: int = 7,
    min_candidates: int = 4,
    overlap: bool = False,
    quorum: float | Fraction | str = MAJORITY,
    method: str = "auto",
    together: Iterable[Iterable[int]] | None = None,
    unassigned: str = "leave",
    n_groups: int | None = None,
    stop: str = "size",
    solver: str | Solver = "auto",
    n_jobs: int | None = None,
    *,
    weights: Any = None,
    memory_limit: int | None = None,
    client: Any = None,
) -> Consensus:
    """Find the groups that many groupings agree on.

    Parameters
    ----------
    pool : Pool, or anything that `Pool.from_labels` takes
        The candidate groups; (m, c) label tables included. Tables larger than memory may come as the path of a
        Parquet file or folder or of an NPY file, an Arrow table, an iterator of chunks, or a Dask array or frame.
    min_elements, min_candidates : int
        Smallest group: elements, and distinct sources behind it; both inclusive.
    overlap : bool
        Whether groups may share elements.
    quorum : float in (0, 1), or "auto"
        Share of the candidates of a group that must hold an element, and of its elements that a candidate must hold.
        1/2 is the paper (a majority); lower merges, higher splits. "auto" chooses it, on the cleaned pool,
        and stays with a majority where that fits as well.
    method : {"auto", "greedy", "joint"}
        Algorithm 1 of the paper, or all groups at once.
    together : iterable of iterables of int, optional
        Seeds: elements that must share a group.
    unassigned : {"leave", "nearest"}
        Whether left-over elements stay -1 or go to the group whose candidates hold them most.
    n_groups : int, optional
        Number of groups wanted, picked from the quorum path; not together with a number as `quorum`.
    stop : {"size", "first_small", "description_length"}
        When Algorithm 1 ends.
    solver : str or Solver
        Name of a solver, "auto" (votes for binary pools, weighted quantiles for real ones), or an object.
    n_jobs : int, optional
        Threads; the answer does not depend on it.
    weights : str, callable or (n,) array, optional
        Weight rule for the candidates, in place of those of the pool.
    memory_limit : int, optional
        Bytes that the search may use; by default what the machine has free.
    client : dask.distributed.Client, optional
        Where Dask tables are worked on; by default the current client or scheduler.

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
    settings = Settings(
        min_elements=check_count("min_elements", min_elements),
        min_candidates=check_count("min_candidates", min_candidates),
        overlap=bool(overlap),
        quorum=Fraction(1, 2) if quorum == "auto" else check_quorum(quorum),
        method=check_choice("method", method, METHODS),
        unassigned=check_choice("unassigned", unassigned, UNASSIGNED),
        stop=check_choice("stop", stop, STOPS),
        solver=solver,
        n_jobs=n_jobs,
        memory_limit=memory_limit,
    )
    if overlap and method == "joint":
        raise InputError("method='joint' gives disjoint groups; use method='greedy' with overlap=True.")
    if n_groups is not None and quorum != "auto" and quorum is not MAJORITY:
        raise InputError(f"n_groups={n_groups} picks its own quorum; drop quorum={quorum!r} or n_groups.")
    if is_dask(pool):
        if together is not None:
            raise InputError(
                "together names elements by number, which a Dask table does not have; join them beforehand."
            )
        again = {"n_groups": n_groups, "weights": weights, "quorum": quorum}
        return find_distributed(pool, find_consensus, client, **settings.arguments() | again)
    given = _as_pool(pool, n_jobs)
    joined = given if together is None else given.join(together)
    values = None if weights is None else weigh(weights, joined)
    settings = settings.for_pool(joined)
    if quorum == "auto" or n_groups is not None:
        wanted = None if n_groups is None else check_count("n_groups", n_groups)
        return solve_on_path(given, joined, settings, values, wanted)
    return solve(given, joined, settings, values)


def _as_pool(source: Any, n_jobs: int | None) -> Pool:
    """Pool of anything that holds groupings, in memory or not."""
    if isinstance(source, Pool):
        return source
    return pool_from_stream(source, n_jobs=n_jobs) if is_streamed(source) else Pool.from_labels(source)
