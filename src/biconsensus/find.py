"""find_consensus: from a pool to the groups that it agrees on."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from biconsensus.biclustering import Extraction, bicluster, is_large
from biconsensus.core.consensus import Consensus
from biconsensus.core.pool import Pool
from biconsensus.core.preference import PreferenceMatrix
from biconsensus.errors import InputError, NoConsensusWarning
from biconsensus.memory import check_solver_memory
from biconsensus.protocols import FloatArray, Solver
from biconsensus.solvers import get_solver
from biconsensus.validation import check_choice, check_count, check_quorum
from biconsensus.weights import weigh

logger = logging.getLogger("biconsensus")

METHODS = ("auto", "greedy", "joint")
STOPS = ("size", "first_small", "description_length")
UNASSIGNED = ("leave", "nearest")
MAJORITY = float("0.5")
"""The default quorum; an object of its own, so that a quorum that was given can be told from the default."""


@dataclass(frozen=True)
class Settings:
    """Checked arguments of one search."""

    min_elements: int
    min_candidates: int
    overlap: bool
    quorum: Fraction
    method: str
    unassigned: str
    stop: str
    solver: str | Solver
    n_jobs: int | None
    memory_limit: int | None

    def record(self) -> dict[str, Any]:
        """What is kept with the result."""
        return {
            "min_elements": self.min_elements,
            "min_candidates": self.min_candidates,
            "overlap": self.overlap,
            "quorum": float(self.quorum),
            "method": self.method,
            "unassigned": self.unassigned,
            "stop": self.stop,
            "solver": self.solver if isinstance(self.solver, str) else type(self.solver).__name__,
        }


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
) -> Consensus:
    """Find the groups that many groupings agree on.

    Parameters
    ----------
    pool : Pool, or anything that `Pool.from_labels` takes
        The candidate groups; (m, c) label tables included.
    min_elements, min_candidates : int
        Smallest group: elements, and distinct sources behind it; both inclusive.
    overlap : bool
        Whether groups may share elements.
    quorum : float in (0, 1), or "auto"
        Share of the candidates of a group that must hold an element, and of its elements that a candidate must hold.
        1/2 is the paper (a majority); lower merges, higher splits. "auto" chooses it, on the cleaned pool.
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
    given = pool if isinstance(pool, Pool) else Pool.from_labels(pool)
    joined = given if together is None else given.join(together)
    options: dict[str, Any] = {
        "min_elements": check_count("min_elements", min_elements),
        "min_candidates": check_count("min_candidates", min_candidates),
        "overlap": bool(overlap),
        "method": check_choice("method", method, METHODS),
        "unassigned": check_choice("unassigned", unassigned, UNASSIGNED),
        "stop": check_choice("stop", stop, STOPS),
        "solver": ("vote" if joined.binary else "quantile") if solver == "auto" else solver,
        "n_jobs": n_jobs,
        "memory_limit": memory_limit,
    }
    if overlap and method == "joint":
        raise InputError("method='joint' gives disjoint groups; use method='greedy' with overlap=True.")
    values = None if weights is None else weigh(weights, joined)
    if quorum == "auto" or n_groups is not None:
        return _on_path(given, joined, values, quorum, n_groups, options)
    plain = "greedy" if method == "auto" else method
    settings = Settings(**options | {"quorum": check_quorum(quorum), "method": plain})
    return solve(given, joined, settings, values)


def _on_path(
    given: Pool, joined: Pool, weights: FloatArray | None, quorum: Any, n_groups: int | None, options: dict[str, Any]
) -> Consensus:
    """Let the quorum path choose."""
    from biconsensus.quorum import choose

    if quorum != "auto" and quorum is not MAJORITY:
        raise InputError(f"n_groups={n_groups} picks its own quorum; drop quorum={quorum!r} or n_groups.")
    raise NotImplementedError(choose)


def solve(given: Pool, joined: Pool, settings: Settings, weights: FloatArray | None = None) -> Consensus:
    """One search at one quorum."""
    problem = PreferenceMatrix.from_pool(joined, weights)
    found = _search(problem, settings)
    order = np.argsort([-block.gain for block in found.blocks], kind="stable")
    blocks = [found.blocks[k] for k in order]
    members = np.stack([block.rows for block in blocks], axis=1) if blocks else np.zeros((problem.shape[0], 0), bool)
    gains = np.array([block.gain for block in blocks], dtype=np.float64)
    theta = float(settings.quorum)
    result = Consensus(
        pool=given,
        row_of=joined.inverse,
        members=csr_array(members),
        candidates=tuple(np.flatnonzero(block.columns[problem.members]) for block in blocks),
        gains=gains,
        objective=2 * (1 - theta) * problem.norm - 2 * float(gains.sum()),
        settings=settings.record(),
        extraction=_account(problem, found),
    )
    logger.info("%r", result)
    if len(result) == 0:
        warnings.warn(_why_nothing(given, settings), NoConsensusWarning, stacklevel=3)
    return result


def _search(problem: PreferenceMatrix, settings: Settings) -> Extraction:
    """Run the method that the settings ask for."""
    if settings.method == "joint":
        from biconsensus.joint import optimise

        sizes = settings.min_elements, settings.min_candidates
        found = optimise(problem, settings.quorum, start=_greedy(problem, settings).blocks)
        return Extraction([block for block in found if is_large(problem, block, *sizes)])
    return _greedy(problem, settings)


def _greedy(problem: PreferenceMatrix, settings: Settings) -> Extraction:
    """Algorithm 1 with the chosen solver."""
    threads = {"n_jobs": settings.n_jobs} if settings.solver == "vote" else {}
    solver = get_solver(settings.solver, **threads)
    check_solver_memory(problem, solver, settings.memory_limit)
    solver.load(problem, settings.quorum)
    return bicluster(
        problem,
        solver,
        min_elements=settings.min_elements,
        min_candidates=settings.min_candidates,
        overlap=settings.overlap,
        stop=settings.stop,
    )


def _account(problem: PreferenceMatrix, found: Extraction) -> dict[str, Any]:
    """How the search ended, in plain numbers."""
    account: dict[str, Any] = {}
    if found.discarded is not None:
        rows, columns = found.discarded.rows, found.discarded.columns
        account["discarded"] = [problem.n_elements(rows), int(columns[problem.members].sum())]
    if found.path is not None:
        account["description_lengths"] = found.path.tolist()
    return account


def _why_nothing(pool: Pool, settings: Settings) -> str:
    """Reason for an empty answer, and what to set."""
    n_sources = np.unique(pool.source_of).size
    if n_sources < settings.min_candidates:
        return (
            f"no group: the pool has {n_sources} sources, fewer than min_candidates={settings.min_candidates}; "
            f"set min_candidates={n_sources} or add sources."
        )
    if pool.shape[0] < settings.min_elements:
        return (
            f"no group: the pool has {pool.shape[0]} elements, fewer than min_elements={settings.min_elements}; "
            "set a smaller min_elements."
        )
    if pool.rows.nnz == 0:
        return "no group: every candidate of the pool is empty."
    return (
        f"no group of at least min_elements={settings.min_elements} elements and "
        f"min_candidates={settings.min_candidates} sources at quorum {float(settings.quorum):g} among "
        f"{pool.shape[0]} elements and {n_sources} sources; lower the minimum sizes or the quorum."
    )
