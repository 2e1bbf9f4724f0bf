"""Solvers of the rank-one problem, one a file, by name."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

from biconsensus._checks import check_memory
from biconsensus.errors import InputTypeError, UnknownNameError
from biconsensus.matrix._matrix import PreferenceMatrix
from biconsensus.protocols import Solver

__all__ = ["SOLVERS", "get_solver", "solver_names"]
__dir__ = __all__.copy  # what dir() shows

DENSE_COPIES = 8
"""Dense (r, q) arrays that the factorisation solvers hold at once, with room to spare."""
SOLVERS = {
    "vote": "biconsensus.solvers.vote._solver:VoteSolver",
    "quantile": "biconsensus.solvers._quantile:QuantileSolver",
    "admm": "biconsensus.solvers._admm:AdmmSolver",
    "frobenius": "biconsensus.solvers._frobenius:FrobeniusSolver",
    "pmd": "biconsensus.solvers._pmd:PmdSolver",
    "ssvd": "biconsensus.solvers._ssvd:SsvdSolver",
    "exact": "biconsensus.solvers.exact._solver:ExactSolver",
}
"""Name of each solver and where it is; imported when asked for."""


def solver_names() -> list[str]:
    """Names of all solvers, including solvers of other packages (entry points ``biconsensus.solvers``).

    Examples
    --------
    >>> "vote" in solver_names()
    True
    """
    return sorted({*SOLVERS, *(point.name for point in entry_points(group="biconsensus.solvers"))})


def get_solver(solver: str | Solver, **options: Any) -> Solver:
    """Solver of a name, or the solver itself.

    Examples
    --------
    >>> type(get_solver("vote")).__name__
    'VoteSolver'
    """
    if not isinstance(solver, str):
        if not isinstance(solver, Solver):
            raise InputTypeError(f"solver must be a name or an object with load and best_block, got {solver!r}.")
        return solver
    if solver in SOLVERS:
        module, _, name = SOLVERS[solver].partition(":")
        made: Solver = getattr(import_module(module), name)(**options)
        return made
    for point in entry_points(group="biconsensus.solvers", name=solver):
        found: Solver = point.load()(**options)
        return found
    raise UnknownNameError.of("solver", solver, ["auto", *solver_names()])


def solver_memory(problem: PreferenceMatrix, solver: Solver) -> int:
    """Bytes that a solver needs: what its method ``memory(problem)`` says; for others dense arrays are assumed."""
    rows, columns = problem.shape
    tell = getattr(solver, "memory", None)
    return int(tell(problem)) if callable(tell) else DENSE_COPIES * 8 * rows * columns


def check_solver_memory(problem: PreferenceMatrix, solver: Solver, limit: int | None) -> None:
    """Raise `TooLargeError` with the estimate where a solver would need more than the limit."""
    what = f"{type(solver).__name__} on {problem.shape[0]} rows x {problem.shape[1]} columns"
    check_memory(what, solver_memory(problem, solver), limit)
