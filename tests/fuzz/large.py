"""A pool with more than 2^31 memberships, as a stream: counts, sizes, gains and labels against the design.

``python -m tests.fuzz.large [--elements N]``. 20 groupings of 108 million elements are 2.16 * 10^9 memberships, more
than 32-bit indices can number. Every group of the truth is made of 40 kinds of elements, half of them with an error
of one source, so that the exact numbers are known beforehand. It needs 5 GB of memory and some minutes.
"""

from __future__ import annotations

import argparse
import sys
import time

import numpy as np

ELEMENTS = 108_000_000
CHUNK = 1_000_000
SOURCES, GROUPS, KINDS = 20, 5, 40


def kinds() -> np.ndarray:
    """(200, 20) labels of each kind of element: those of its group, but for one source that errs in every second."""
    rows = np.repeat(np.arange(GROUPS, dtype=np.int8), KINDS)[:, None].repeat(SOURCES, axis=1)
    for k in range(0, len(rows), 2):
        rows[k, k // 2 % SOURCES] = (rows[k, 0] + 1) % GROUPS
    return rows


def kind_of(first: int, size: int) -> np.ndarray:
    """Kind of the elements from `first` on: all kinds in turn, in an order that no chunk border repeats."""
    return (np.arange(first, first + size) * 77) % (GROUPS * KINDS)


def check(m: int) -> str:
    """Find the consensus of m elements and compare; says what was compared."""
    import biconsensus as bc

    rows, truth = kinds(), np.repeat(np.arange(GROUPS), KINDS)
    starts = range(0, m, CHUNK)
    result = bc.find_consensus(rows[kind_of(start, min(CHUNK, m - start))] for start in starts)
    pool = result.pool
    times = np.zeros(len(rows), np.int64)
    for start in starts:
        times += np.bincount(kind_of(start, min(CHUNK, m - start)), minlength=len(rows))
    assert pool.shape == (m, SOURCES * GROUPS)
    assert pool.counts.sum() == m
    assert pool.sizes.sum() == m * SOURCES
    held = (rows == truth[:, None]).sum(axis=1)
    gains = [int((times * (held - SOURCES / 2))[truth == g].sum()) for g in range(GROUPS)]
    assert sorted(result.gains.tolist(), reverse=True) == sorted(map(float, gains), reverse=True)
    assert result.objective == m * SOURCES - 2 * sum(gains)
    number = {g: result.labels[int(np.flatnonzero(truth[kind_of(0, 1000)] == g)[0])] for g in range(GROUPS)}
    expected = np.array([number[g] for g in truth])
    for start in starts:
        kind = kind_of(start, min(CHUNK, m - start))
        assert np.array_equal(result.labels[start : start + kind.size], expected[kind])
    return f"{m} elements, {m * SOURCES} memberships: sizes, gains, objective and labels as designed"


def main() -> int:
    """Run and report the time."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--elements", type=int, default=ELEMENTS)
    options = parser.parse_args()
    begin = time.perf_counter()
    print(check(options.elements), f"({time.perf_counter() - begin:.0f} s)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
