"""One search: from a preference matrix to a Consensus, at a quorum that was given or chosen on the path."""

from __future__ import annotations

import logging
import warnings
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array

from biconsensus.errors import InputError, NoConsensusWarning
from biconsensus.matrix._matrix import PreferenceMatrix
from biconsensus.methods._greedy import Extraction, bicluster, is_large
from biconsensus.pool._pool import Pool
from biconsensus.protocols import Block, FloatArray, Solver, comparable
from biconsensus.result._consensus import Consensus
from biconsensus.solvers import get_solver
from biconsensus.solvers._memory import check_solver_memory

if TYPE_CHECKING:
    from biconsensus.quorum._path import PathPoint, QuorumPath

logger = logging.getLogger("biconsensus")

UNSCALED_WEIGHTS = (2.0**-10, 2.0**30)
"""Largest weights that are calculated with as they are."""
MAJORITY_MARGIN = 0.005
"""Difference of scores up to which the automatic quorum stays with a majority (see the page on the quorum)."""


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

    def arguments(self) -> dict[str, Any]:
        """The same as arguments of `find_consensus`."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def for_pool(self, pool: Pool) -> Settings:
        """With "auto" replaced by what serves this pool where the quorum is a number."""
        solver = ("vote" if pool.binary else "quantile") if self.solver == "auto" else self.solver
        return replace(self, solver=solver)

    def record(self) -> dict[str, Any]:
        """What is kept with the result."""
        return {
            "min_elements": self.min_elements,
            "min_candidates": self.min_candidates,
            "overlap": self.overlap,
            "quorum": float(self.quorum),
            "method": "greedy" if self.method == "auto" else self.method,
            "unassigned": self.unassigned,
            "stop": self.stop,
            "solver": self.solver if isinstance(self.solver, str) else type(self.solver).__name__,
        }


def solve(given: Pool, joined: Pool, settings: Settings, weights: FloatArray | None = None) -> Consensus:
    """One search at one quorum."""
    used = joined.weights if weights is None else weights
    power = 0 if settings.stop == "description_length" else _power(used)  # that rule weighs errors against sizes
    problem = PreferenceMatrix.from_pool(joined, np.ldexp(used, -power))
    return _result(given, joined, used, problem, _search(problem, settings), settings, power)


def solve_on_path(
    given: Pool, joined: Pool, settings: Settings, weights: FloatArray | None = None, n_groups: int | None = None
) -> Consensus:
    """Let the quorum path choose: by its score, or so many groups."""
    from biconsensus.quorum._path import choose

    sizes = {"min_elements": settings.min_elements, "min_candidates": settings.min_candidates}
    used = joined.weights if weights is None else weights
    power = _power(used)
    path, point = choose(joined, np.ldexp(used, -power), n_groups=n_groups, **sizes)
    method = "greedy" if settings.overlap else settings.method
    if method == "greedy":
        point = _greedy_point(path, settings, n_groups)
    problem = replace(path.problem, weights=path.scorer.plain)
    found = _majority(problem, path, settings, path.score(point)) if n_groups is None else None
    if found is None:
        problem, found = path.problem, Extraction(list(point.blocks))
        settings = replace(settings, quorum=point.quorum, method="greedy" if method == "greedy" else "joint")
    result = _result(given, joined, used, problem, found, settings, power)
    result.extraction["path"] = [[float(c.quorum), len(c), path.score(c)] for c in path.points]
    return result


def _majority(problem: PreferenceMatrix, path: QuorumPath, settings: Settings, best: float) -> Extraction | None:
    """The paper's own answer, by a majority and without certainty, where it fits the pool as well as the best place."""
    from biconsensus.quorum._path import make_point

    found = _search(problem, settings)
    point = make_point(path.scorer, settings.quorum, found.blocks, path.points[0].columns)
    return found if len(point) and path.score(point) >= best - MAJORITY_MARGIN else None


def _greedy_point(path: QuorumPath, settings: Settings, n_groups: int | None) -> PathPoint:
    """Algorithm 1 at every quorum of the path: the best score, or the best of those nearest to so many groups."""
    from biconsensus.quorum._path import best_point, make_point

    tries = []
    for quorum in (point.quorum for point in path.points):
        blocks = _greedy(path.problem, replace(settings, quorum=quorum)).blocks
        tries.append(make_point(path.scorer, quorum, blocks, path.points[0].columns))
    wanted = [abs(len(point) - n_groups) for point in tries] if n_groups is not None else [0] * len(tries)
    return best_point([point for point, off in zip(tries, wanted) if off == min(wanted)], path.score)


def _result(
    given: Pool,
    joined: Pool,
    weights: FloatArray,
    problem: PreferenceMatrix,
    found: Extraction,
    settings: Settings,
    power: int,
) -> Consensus:
    """Consensus over the pool as it was given, in the scale of its weights; warned about where it is empty."""
    blocks = sorted(found.blocks, key=lambda block: -comparable(block.gain))
    gains = np.array([block.gain for block in blocks], dtype=np.float64)
    loss = 2 * (1 - float(settings.quorum)) * problem.norm - 2 * float(gains.sum())
    with np.errstate(over="ignore"):
        gains, loss = np.ldexp(gains, power), float(np.ldexp(loss, power))
    if not (np.isfinite(loss) and np.isfinite(gains).all()):
        raise InputError(f"weights up to {weights.max():.3g} make gains that overflow; divide them all by that.")
    result = Consensus(
        pool=given,
        row_of=joined.inverse,
        members=_members(blocks, problem.shape[0]),
        candidates=tuple(np.flatnonzero(block.columns[problem.members]) for block in blocks),
        gains=gains,
        objective=loss,
        settings=settings.record(),
        extraction=_account(problem, found),
        weights=np.ldexp(_used_weights(np.ldexp(weights, -power), problem), power),
    )
    logger.info("%r", result)
    if len(result) == 0:
        warnings.warn(_why_nothing(given, settings), NoConsensusWarning, stacklevel=4)
    return result


def _power(weights: FloatArray) -> int:
    """Power of two that brings extreme weights near 1, so that products stay finite; 0 for ordinary ones."""
    top = float(weights.max(initial=0.0))
    if top == 0 or UNSCALED_WEIGHTS[0] <= top <= UNSCALED_WEIGHTS[1]:
        return 0
    # the smallest weight must not vanish where weights differ by hundreds of orders of magnitude
    most = int(np.frexp(weights[weights > 0].min())[1]) - np.finfo(np.float64).minexp
    return min(int(np.frexp(top)[1]), most)


def _members(blocks: list[Block], n_rows: int) -> csr_array:
    """(r, T) bool: the groups of each row; never dense, because there may be very many of both."""
    rows = [np.flatnonzero(block.rows) for block in blocks]
    groups = np.repeat(np.arange(len(blocks)), [own.size for own in rows])
    inside = np.concatenate([np.zeros(0, np.int64), *rows])
    return csr_array((np.ones(inside.size, bool), (inside, groups)), shape=(n_rows, len(blocks)))


def _used_weights(weights: FloatArray, problem: PreferenceMatrix) -> FloatArray:
    """(n,) weight of each candidate in the search: its share of the weight of its column."""
    total = np.bincount(problem.members, weights, minlength=problem.shape[1])
    scale = np.divide(problem.weights, total, out=np.zeros_like(problem.weights), where=total > 0)
    return np.asarray(weights * scale[problem.members])


def _search(problem: PreferenceMatrix, settings: Settings) -> Extraction:
    """Run the method that the settings ask for."""
    if settings.method == "joint":
        from biconsensus.methods._joint import optimise

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
