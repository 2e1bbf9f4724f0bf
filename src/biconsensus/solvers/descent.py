"""Vote until nothing moves, for many starts at once; and a sample of rows on which most of the way is cheap."""

from __future__ import annotations

from collections.abc import Callable, Container
from dataclasses import replace

import numpy as np
from scipy.sparse import csr_array

from biconsensus.core.compress import mix
from biconsensus.core.preference import PreferenceMatrix
from biconsensus.protocols import BoolArray, IntArray
from biconsensus.solvers.ballot import Ballot, Tally

MAX_STEPS = 200
SAMPLE = 1 << 13

Keep = Callable[[BoolArray, Tally, int], None]


def settle(
    ballot: Ballot,
    columns: BoolArray,
    live_rows: BoolArray,
    live_columns: BoolArray,
    keep: Keep | None = None,
    known: Container[bytes] = (),
) -> BoolArray:
    """Column sets (q, S) where the votes from the given ones (q, S) come to rest; sets that meet go on as one.

    `keep` is called with every set that did not move, its tally and its place there; sets in `known` need no vote.
    """
    settled = np.zeros_like(columns)
    starts = np.arange(columns.shape[1])
    active, which = distinct(columns)
    for _ in range(MAX_STEPS):
        rest = np.array([active[:, k].tobytes() in known for k in range(active.shape[1])], dtype=bool)
        starts, active, which = _finish(settled, starts, active, which, rest)
        if starts.size == 0:
            break
        tally = ballot.vote(active, live_rows, live_columns)
        still = (active == tally.columns).all(axis=0)
        if keep is not None:
            for k in np.flatnonzero(still):
                keep(active[:, k].copy(), tally, int(k))
        moved = np.where(still[None, :], active, tally.columns)
        starts, active, which = _finish(settled, starts, moved, which, still)
        if starts.size == 0:
            break
        active, again = distinct(active)
        which = again[which]
    settled[:, starts] = active[:, which]
    return settled


def _finish(
    settled: BoolArray, starts: IntArray, active: BoolArray, which: IntArray, done: BoolArray
) -> tuple[IntArray, BoolArray, IntArray]:
    """Write the sets that are done; what is left goes on, renumbered."""
    over = done[which]
    settled[:, starts[over]] = active[:, which[over]]
    return starts[~over], active[:, ~done], (np.cumsum(~done) - 1)[which[~over]]


def distinct(columns: BoolArray) -> tuple[BoolArray, IntArray]:
    """Distinct column sets (q, S') and which of them each one is."""
    packed = np.ascontiguousarray(np.packbits(columns, axis=0).T)
    keys = packed.view(np.dtype((np.void, packed.shape[1]))).ravel()
    _, first, which = np.unique(keys, return_index=True, return_inverse=True)
    return columns[:, first], which.ravel()


def sample_rows(problem: PreferenceMatrix) -> tuple[IntArray, PreferenceMatrix] | None:
    """Some thousand rows that stand for all of them, or None where there are few anyway.

    Row i, shared by s_i elements, is taken with probability p_i = min(1, SAMPLE s_i / m) and then counts s_i / p_i, so
    that every vote is right on average. Chance comes from the content of the row: its place does not matter.
    """
    n_rows, total = problem.shape[0], int(problem.counts.sum())
    if n_rows <= 2 * SAMPLE:
        return None
    sums = np.add.reduceat(
        np.append(mix(np.arange(problem.shape[1]))[problem.entries.indices], np.uint64(0)), problem.entries.indptr[:-1]
    )
    chance = mix(sums).astype(np.float64) / 2.0**64
    rows = np.flatnonzero(chance * total < SAMPLE * problem.counts)
    unseen = None if problem.unseen is None else csr_array(problem.unseen[rows])
    counts = np.maximum(problem.counts[rows], round(total / SAMPLE))
    return rows, replace(problem, entries=csr_array(problem.entries[rows]), counts=counts, unseen=unseen)
