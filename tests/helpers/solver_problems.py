"""Preference matrices for the tests of solvers, and brute force on tiny ones."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, eye_array

from biconsensus.matrix._matrix import PreferenceMatrix
from biconsensus.protocols import Block
from biconsensus.solvers import get_solver

HALF = Fraction(1, 2)


def problem_of(
    matrix: NDArray,
    counts: NDArray | None = None,
    weights: NDArray | None = None,
    unseen: NDArray | None = None,
    sources: NDArray | None = None,
) -> PreferenceMatrix:
    """Preference matrix of a dense one; `unseen` (m, n) is what each column did not see."""
    m, n = matrix.shape
    entries = matrix.astype(np.float64) if matrix.dtype.kind == "f" else matrix.astype(np.uint8)
    if unseen is not None:
        entries = np.where(unseen, 0, entries)
    backers = eye_array(n, dtype=bool, format="csr") if sources is None else sources[:, None] == np.unique(sources)
    return PreferenceMatrix(
        entries=csr_array(entries),
        counts=np.ones(m, np.int64) if counts is None else np.asarray(counts, np.int64),
        weights=np.ones(n) if weights is None else np.asarray(weights, np.float64),
        members=np.arange(n),
        backers=csr_array(backers),
        unseen=None if unseen is None else csr_array(unseen),
        mask=None if unseen is None else np.arange(n),
    )


def solve(
    name: str,
    problem: PreferenceMatrix,
    min_sizes: tuple[int, int] = (1, 1),
    quorum: Fraction = HALF,
    live: tuple[NDArray, NDArray] | None = None,
    **options: object,
) -> Block | None:
    """Block that a solver of the registry finds."""
    solver = get_solver(name, **options)
    solver.load(problem, quorum)
    rows, columns = live or (np.ones(problem.shape[0], bool), np.ones(problem.shape[1], bool))
    return solver.best_block(rows, columns, *min_sizes)


def pair_gains(problem: PreferenceMatrix, quorum: Fraction = HALF) -> NDArray:
    """(m, n) gain of each pair, from the definition."""
    every = np.ones(problem.shape[0], bool), np.ones(problem.shape[1], bool)
    held = problem.entries.toarray().astype(float)
    return problem.counts[:, None] * problem.seen(*every) * problem.weights * (held - float(quorum))


def best_gain(problem: PreferenceMatrix, min_sizes: tuple[int, int] = (1, 1)) -> float:
    """Largest gain over all blocks of the minimum sizes at quorum 1/2, by trying every set of rows and columns."""
    gains = pair_gains(problem)
    best = 0.0
    for columns in product([False, True], repeat=problem.shape[1]):
        if problem.n_sources(np.array(columns)) < min_sizes[1]:
            continue
        by_row = gains @ np.array(columns, float)
        for rows in product([False, True], repeat=problem.shape[0]) if min_sizes[0] > 1 else [by_row > 0]:
            if problem.counts @ np.array(rows) >= min_sizes[0]:
                best = max(best, float(by_row @ np.array(rows, float)))
    return best


def planted(sizes: list[tuple[int, int]], flips: float = 0.0, seed: int = 0) -> NDArray:
    """Disjoint blocks of ones of the given sizes along the diagonal, some entries flipped."""
    rows = np.repeat(np.arange(len(sizes)), [size[0] for size in sizes])
    columns = np.repeat(np.arange(len(sizes)), [size[1] for size in sizes])
    noise = np.random.default_rng(seed).random((rows.size, columns.size)) < flips
    return (rows[:, None] == columns) ^ noise
