"""Vote until nothing moves, for many starts at once; and a sample of rows on which most of the way is cheap."""

from __future__ import annotations

from collections.abc import Callable, Container
from dataclasses import replace

import numpy as np
from scipy.sparse import csr_array

from biconsensus.matrix._matrix import PreferenceMatrix
from biconsensus.pool._distinct import mix, row_hashes
from biconsensus.protocols import BoolArray, IntArray
from biconsensus.solvers.vote._ballot import Ballot, Tally
from biconsensus.solvers.vote._sets import Sets

MAX_STEPS = 200
SAMPLE = 1 << 13

Keep = Callable[[list[bytes], Tally, list[int]], None]


def vote_to_fixed_point(
    ballot: Ballot,
    sets: Sets,
    live_rows: BoolArray,
    live_columns: BoolArray,
    keep: Keep | None = None,
    known: Container[bytes] = (),
) -> Sets:
    """Where the votes from sets of columns come to rest; sets that meet go on as one.

    `keep` is called with the sets that did not move, their tally and their places there; sets in `known`, and
    the empty one, need no vote.
    """
    place = sets.keys()
    starts: dict[bytes, list[int]] = {}
    for k, key in enumerate(place):
        starts.setdefault(key, []).append(k)
    for _ in range(MAX_STEPS):
        moving = [key for key in starts if key and key not in known]
        if not moving:
            break
        tally = ballot.vote(Sets.from_keys(moving), live_rows, live_columns)
        after = tally.columns.keys()
        still = [k for k, key in enumerate(moving) if after[k] == key]
        if keep is not None and still:
            keep([moving[k] for k in still], tally, still)
        starts = _moved(starts, {old: new for old, new in zip(moving, after) if old != new})
        for key, own in starts.items():
            for k in own:
                place[k] = key
    return Sets.from_keys(place)


def _moved(starts: dict[bytes, list[int]], to: dict[bytes, bytes]) -> dict[bytes, list[int]]:
    """The starts of each set that moved, by where it went."""
    moved: dict[bytes, list[int]] = {}
    for old, new in to.items():
        moved.setdefault(new, []).extend(starts[old])
    return moved


def sample_rows(problem: PreferenceMatrix) -> tuple[IntArray, PreferenceMatrix] | None:
    """Some thousand rows that stand for all of them, or None where there are few anyway.

    Row i, shared by s_i elements, is taken with probability p_i = min(1, SAMPLE s_i / m) and then counts s_i / p_i, so
    that every vote is right on average. Chance comes from the content of the row: its place does not matter.
    """
    n_rows, total = problem.shape[0], int(problem.counts.sum())
    if n_rows <= 2 * SAMPLE:
        return None
    chance = mix(row_hashes(problem.entries, mix(np.arange(problem.shape[1])))).astype(np.float64) / 2.0**64
    rows = np.flatnonzero(chance * total < SAMPLE * problem.counts)
    unseen = None if problem.unseen is None else csr_array(problem.unseen[rows])
    counts = np.maximum(problem.counts[rows], round(total / SAMPLE))
    return rows, replace(problem, entries=csr_array(problem.entries[rows]), counts=counts, unseen=unseen)
