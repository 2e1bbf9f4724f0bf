"""Estimates of memory before anything large is allocated."""

from __future__ import annotations

from biconsensus._checks import check_memory
from biconsensus._memory import available_memory
from biconsensus.matrix._matrix import PreferenceMatrix
from biconsensus.protocols import Solver

DENSE_COPIES = 8
"""Dense (r, q) arrays that the factorisation solvers hold at once, with room to spare."""


def solver_memory(problem: PreferenceMatrix, solver: Solver) -> int:
    """Bytes that a solver needs: proportional to the non-zeros for votes, dense for the reference solvers."""
    rows, columns = problem.shape
    if type(solver).__name__ in ("VoteSolver", "QuantileSolver"):
        from biconsensus.solvers.vote._ballot import BLOCK
        from biconsensus.solvers.vote._solver import BATCH

        return 40 * int(problem.entries.nnz) + BATCH * (24 * min(rows, BLOCK) + 48 * columns + rows // 8)
    return DENSE_COPIES * 8 * rows * columns


def check_solver_memory(problem: PreferenceMatrix, solver: Solver, limit: int | None) -> None:
    """Raise `TooLargeError` with the estimate where a solver would need more than the limit."""
    name = type(solver).__name__
    check_memory(
        f"{name} on {problem.shape[0]} rows x {problem.shape[1]} columns",
        solver_memory(problem, solver),
        available_memory() if limit is None else limit,
    )
