"""Algorithm 1 of the paper, nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from biconsensus.matrix._matrix import PreferenceMatrix
from biconsensus.protocols import Block, FloatArray, Progress, Solver, silent


@dataclass(frozen=True)
class Extraction:
    """The bi-clusters of a preference matrix, and the block that ended the search."""

    blocks: Sequence[Block]
    discarded: Block | None = None
    """First block that was found too small (`stop="first_small"`)."""
    path: FloatArray | None = None
    """(T + 1,) description length of 0, 1, ..., T bi-clusters (`stop="description_length"`)."""


def bicluster(
    problem: PreferenceMatrix,
    solver: Solver,
    *,
    min_elements: int = 7,
    min_candidates: int = 4,
    overlap: bool = False,
    stop: str = "size",
    progress: Progress = silent,
) -> Extraction:
    """Extract the best block, remove it, and go on until none is left.

    Parameters
    ----------
    problem : PreferenceMatrix
        The matrix that `solver` has loaded.
    solver : Solver
        Finds the best block inside live rows and columns.
    min_elements, min_candidates : int
        Smallest block: elements with multiplicity, distinct sources; both inclusive.
    overlap : bool
        Whether blocks may share rows; they never share columns.
    stop : {"size", "first_small", "description_length"}
        End when no start gives a block of the minimum sizes; when the best of all blocks is smaller than that (the
        literal rule of the paper); or where rows, columns and errors together are described most briefly.
    progress : callable
        Told the number of blocks found so far.

    Notes
    -----
    Algorithm 1 stops at sizes ``<= tau``: its tau_R = 6, tau_C = 3 are the defaults 7 and 4 here.
    """
    sizes = (min_elements, min_candidates) if stop == "size" else (1, 1)
    blocks: list[Block] = []
    discarded = None
    rows, columns = np.ones(problem.shape[0], bool), np.ones(problem.shape[1], bool)
    while rows.any() and columns.any():
        block = solver.best_block(rows, columns, *sizes)
        if block is None:
            break
        if stop == "first_small" and not is_large(problem, block, min_elements, min_candidates):
            discarded = block
            break
        blocks.append(block)
        progress(len(blocks), 0, "groups")
        if not overlap:
            rows &= ~block.rows
        columns &= ~block.columns
    if stop == "description_length":
        path = description_lengths(problem, blocks)
        return Extraction(blocks[: int(np.argmin(path))], path=path)
    return Extraction(blocks, discarded)


def is_large(problem: PreferenceMatrix, block: Block, min_elements: int, min_candidates: int) -> bool:
    """Whether a block has the minimum sizes."""
    return problem.n_elements(block.rows) >= min_elements and problem.n_sources(block.columns) >= min_candidates


def description_lengths(problem: PreferenceMatrix, blocks: list[Block]) -> FloatArray:
    """(T + 1,) rows + columns + errors of the first 0, 1, ..., T blocks: the encoder view of the paper's section 2.

    An error is a unit of ||A - sum of blocks||_1; a block costs one unit for each of its elements and candidates.
    """
    costs = [problem.n_elements(block.rows) + int(block.columns[problem.members].sum()) for block in blocks]
    errors = problem.norm - np.concatenate([[0.0], np.cumsum([2 * block.gain for block in blocks])])
    return np.asarray(errors + np.concatenate([[0.0], np.cumsum(costs)]))
