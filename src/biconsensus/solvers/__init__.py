"""Solvers of the rank-one problem, one a file, by name."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

from biconsensus.errors import UnknownNameError
from biconsensus.protocols import Solver

SOLVERS = {
    "vote": "biconsensus.solvers.vote._solver:VoteSolver",
    "quantile": "biconsensus.solvers._quantile:QuantileSolver",
    "admm": "biconsensus.solvers._admm:AdmmSolver",
    "frobenius": "biconsensus.solvers._frobenius:FrobeniusSolver",
    "pmd": "biconsensus.solvers._pmd:PmdSolver",
    "ssvd": "biconsensus.solvers._ssvd:SsvdSolver",
    "exact": "biconsensus.solvers.exact._solver:ExactSolver",
}


def solver_names() -> list[str]:
    """Names of all solvers, those of other packages (entry points ``biconsensus.solvers``) included."""
    return sorted({*SOLVERS, *(point.name for point in entry_points(group="biconsensus.solvers"))})


def get_solver(solver: str | Solver, **options: Any) -> Solver:
    """Solver of a name, or the solver itself.

    Examples
    --------
    >>> type(get_solver("vote")).__name__
    'VoteSolver'
    """
    if not isinstance(solver, str):
        return solver
    if solver in SOLVERS:
        module, _, name = SOLVERS[solver].partition(":")
        made: Solver = getattr(import_module(module), name)(**options)
        return made
    for point in entry_points(group="biconsensus.solvers", name=solver):
        found: Solver = point.load()(**options)
        return found
    raise UnknownNameError.of("solver", solver, ["auto", *solver_names()])
