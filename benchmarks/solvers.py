"""The vote against the optimum and against the paper's ADMM, and at size; writes docs/benchmarks/solvers.md.

BENCH=quick takes a tenth of the planted cases and leaves the largest sizes out.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import tracemalloc
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from fractions import Fraction

import numpy as np

import biconsensus as bc
from benchmarks.results import ROOT, Results, Values
from benchmarks.solver_pools import Case, paper_cases
from biconsensus.errors import ConvergenceWarning
from biconsensus.matrix._matrix import PreferenceMatrix
from biconsensus.methods._greedy import bicluster
from biconsensus.solvers import get_solver
from biconsensus.solvers._admm import l1_nmf
from biconsensus.solvers.exact._solver import ExactSolver

HALF = Fraction(1, 2)
HEAD = "# Solvers\n\nCompare times within one run only.\n"
QUICK = os.environ.get("BENCH") == "quick"


@dataclass
class Table:
    """A table of the page."""

    title: str
    text: str
    header: list[str]
    rows: list[list[object]] = field(default_factory=list)

    def markdown(self) -> str:
        lines = [
            "| " + " | ".join(map(str, row)) + " |" for row in [self.header, ["---"] * len(self.header), *self.rows]
        ]
        return "\n".join([f"## {self.title}", "", self.text, "", *lines, ""])


def first_block(name: str, problem: PreferenceMatrix, **options: object) -> float:
    """Gain of the first block of any size."""
    solver = get_solver(name, **options)
    solver.load(problem, HALF)
    block = solver.best_block(np.ones(problem.shape[0], bool), np.ones(problem.shape[1], bool), 1, 1)
    return 0.0 if block is None else block.gain


def problem_of(matrix: np.ndarray) -> PreferenceMatrix:
    """Preference matrix of a dense binary one."""
    return PreferenceMatrix.from_pool(bc.Pool.from_matrix(matrix))


def small_optimum(n_cases: int = 1000) -> Table:
    """Random matrices of up to 7 x 7 against all subsets of columns."""
    rng = np.random.default_rng(0)
    reached = dict.fromkeys(("vote", "quantile", "admm", "exact"), 0)
    for _ in range(n_cases):
        matrix = rng.random(rng.integers(2, 8, 2)) < rng.uniform(0.1, 0.9)
        if not matrix.any():
            matrix[0, 0] = True
        n = matrix.shape[1]
        subsets = (np.arange(2**n)[:, None] >> np.arange(n)) & 1
        best = np.maximum((matrix - 0.5) @ subsets.T, 0).sum(axis=0).max()
        for name in reached:
            reached[name] += first_block(name, problem_of(matrix)) >= best - 1e-9
    text = f"{n_cases} random matrices, 2 to 7 rows and columns, density 0.1 to 0.9; brute force. Wanted: 99%."
    rows: list[list[object]] = [[name, f"{100 * count / n_cases:.1f}%"] for name, count in reached.items()]
    return Table("Optimum of small random matrices, quorum 1/2", text, ["solver", "reach the optimum"], rows)


def planted(seed: int, groups: int) -> np.ndarray:
    """40 x 60 with one block of half the sides, or that many groups along the diagonal; 20% of the entries flipped."""
    rng = np.random.default_rng(seed)
    if groups == 1:
        matrix = (np.arange(40) < 20)[:, None] & (np.arange(60) < 30)
    else:
        matrix = rng.integers(0, groups, 40)[:, None] == rng.integers(0, groups, 60)
    return matrix ^ (rng.random((40, 60)) < 0.2)


def planted_optimum() -> Table:
    """Planted blocks against the proven optimum."""
    table = Table(
        "Optimum of planted 40 x 60 matrices, 20% of the entries flipped, quorum 1/2",
        "`exact` has 60 s for each matrix; where it does not finish, the best block known is the yardstick. "
        "Wanted: the vote reaches the optimum in 95 of 100, and is never more than 1% off where `exact` finishes.",
        [
            "planted",
            "cases",
            "proven",
            "vote reaches it",
            "vote, worst",
            "admm reaches it",
            "admm, worst",
            "exact, median s",
        ],
    )
    for groups, n_cases in ((1, 100), (2, 10)):
        table.rows.append(planted_row(groups, n_cases // 10 if QUICK else n_cases))
    return table


def planted_row(groups: int, n_cases: int) -> list[object]:
    """Shares and gaps over the cases with so many groups."""
    proven, times = 0, []
    gaps: dict[str, list[float]] = {"vote": [], "admm": []}
    for seed in range(n_cases):
        problem, solver = problem_of(planted(seed, groups)), ExactSolver(time_limit=60)
        solver.load(problem, HALF)
        started = time.perf_counter()
        block = solver.best_block(np.ones(problem.shape[0], bool), np.ones(problem.shape[1], bool), 1, 1)
        times.append(time.perf_counter() - started)
        proven += solver.optimal_
        gains = {name: first_block(name, problem) for name in gaps}
        best = max(block.gain if block else 0.0, *gains.values())
        for name, gain in gains.items():
            gaps[name].append(1 - gain / best)
    summary = [
        f(np.array(gaps[n])) for n in gaps for f in (lambda g: int((g < 1e-9).sum()), lambda g: f"{100 * g.max():.2f}%")
    ]
    return ["one block" if groups == 1 else f"{groups} groups", n_cases, proven, *summary, f"{np.median(times):.1f}"]


def paper_matrices() -> Table:
    """L1 error of the first block and of the whole extraction, vote against ADMM."""
    table = Table(
        "L1 error on preference matrices of the paper's experiments",
        "Error of the first block (for ADMM the better of its factors and the block read from them) and of the whole "
        "extraction by Algorithm 1, relative to ||A||; number of blocks and seconds of the extraction. "
        "Wanted: first block never above ADMM's, extraction lower on average.",
        [
            "pool",
            "elements x candidates",
            "first, vote",
            "first, admm",
            "whole, vote",
            "whole, admm",
            "blocks",
            "s, vote",
            "s, admm",
        ],
    )
    values = []
    for case in paper_cases():
        row = compared(case)
        values.append(row[2:6])
        table.rows.append([*row[:2], *(f"{100 * value:.2f}%" for value in row[2:6]), *row[6:]])
        print(table.rows[-1], flush=True)
    numbers = np.array(values, dtype=float)
    above = int((numbers[:, 0] > numbers[:, 1] + 1e-9).sum())
    table.rows.append(
        ["mean", "", *(f"{100 * value:.2f}%" for value in numbers.mean(axis=0)), f"first above: {above}", "", ""]
    )
    return table


def compared(case: Case) -> list[object]:
    """Both solvers on one pool."""
    problem = PreferenceMatrix.from_pool(case.pool)
    every = np.ones(problem.shape[0], bool), np.ones(problem.shape[1], bool)
    first, whole, blocks, seconds = {}, {}, {}, {}
    for name in ("vote", "admm"):
        solver = get_solver(name)
        solver.load(problem, HALF)
        block = solver.best_block(*every, 1, 1)
        first[name] = problem.norm - 2 * (block.gain if block else 0.0)
        started = time.perf_counter()
        solver.load(problem, HALF)
        sizes = {"min_elements": case.min_elements, "min_candidates": case.min_candidates}
        found = bicluster(problem, solver, overlap=case.overlap, **sizes).blocks
        seconds[name] = time.perf_counter() - started
        whole[name] = problem.norm - 2 * sum(block.gain for block in found)
        blocks[name] = len(found)
    first["admm"] = min(first["admm"], factor_error(problem))
    errors = [first["vote"], first["admm"], whole["vote"], whole["admm"]]
    return [
        case.name,
        "x".join(map(str, case.pool.shape)),
        *(error / problem.norm for error in errors),
        f"{blocks['vote']} / {blocks['admm']}",
        f"{seconds['vote']:.3f}",
        f"{seconds['admm']:.1f}",
    ]


def factor_error(problem: PreferenceMatrix) -> float:
    """L1 error of the factors of ADMM themselves."""
    A = problem.entries.toarray() * problem.weights
    found = l1_nmf(A, counts=problem.counts)
    return float(problem.counts @ np.abs(A - found.U @ found.V).sum(axis=1))


def measured(action: Callable[[], object], repeats: int) -> tuple[float, float]:
    """CPU seconds (the least of the repeats) and peak megabytes of a first run that is watched."""
    tracemalloc.start()
    times = [timed(action)]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # watching slows small allocations down, not those of large arrays: long runs need no second one
    times += [timed(action) for _ in range(repeats)]
    return min(times), peak / 2**20


def timed(action: Callable[[], object]) -> float:
    """CPU seconds of one run, which do not depend on what else the machine does."""
    started = time.process_time()
    action()
    return time.process_time() - started


def speed() -> Table:
    """Time and memory of the first block, vote against ADMM."""
    table = Table(
        "Speed and memory of the first block",
        "Pools of partitions into 8 groups, 20% of the labels drawn anew, so that nearly all rows are distinct; CPU s. "
        "Wanted: at least 50 times faster than ADMM from 2,000 x 400 on, memory proportional to the non-zeros.",
        [
            "elements x candidates",
            "distinct rows",
            "non-zeros",
            "s, vote",
            "s, admm",
            "ratio",
            "MB, vote",
            "MB, admm",
            "bytes per non-zero, vote",
        ],
    )
    for m, n_partitions in ((500, 20), (2000, 50)) if QUICK else ((500, 20), (2000, 50), (4000, 100)):
        problem = PreferenceMatrix.from_pool(bc.Pool.from_labels(noisy_partitions(m, n_partitions, 8, 0.2)))
        vote_s, vote_mb = measured(lambda problem=problem: first_block("vote", problem), repeats=3)
        admm_s, admm_mb = measured(lambda problem=problem: first_block("admm", problem), repeats=0)
        nnz = problem.entries.nnz
        size = f"{m} x {problem.members.size}"
        numbers = f"{vote_s:.3f}", f"{admm_s:.2f}", f"{admm_s / vote_s:.0f}", f"{vote_mb:.1f}", f"{admm_mb:.1f}"
        table.rows.append([size, problem.shape[0], nnz, *numbers, f"{vote_mb * 2**20 / nnz:.0f}"])
    return table


def noisy_partitions(m: int, n_partitions: int, n_groups: int, noise: float, dtype: type = np.int64) -> np.ndarray:
    """(m, c) labels: the same groups everywhere, some labels drawn anew."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, n_groups, m, dtype=dtype)
    table = np.empty((m, n_partitions), dtype)
    for k in range(n_partitions):
        drawn = rng.random(m) < noise
        table[:, k] = truth
        table[drawn, k] = rng.integers(0, n_groups, int(drawn.sum()), dtype=dtype)
    return table


def identical() -> Table:
    """Identical partitions at every quorum."""
    quorums = [k / 100 for k in range(5, 96, 5)]
    truth = np.random.default_rng(0).choice(5, 200, p=[0.4, 0.25, 0.2, 0.1, 0.05])
    found = [bc.find_consensus([truth] * 6, quorum=q, method=m).labels for q in quorums for m in ("greedy", "joint")]
    same = sum(bool((labels >= 0).all()) and bc.metrics.ari(truth, labels) == 1.0 for labels in found)
    text = "Six identical partitions of 200 elements into five groups; quorum 0.05, 0.10, ..., 0.95. Wanted: all."
    return Table("Identical partitions", text, ["quorums x methods", "unchanged"], [[len(found), same]])


MILLION = """
import json, sys, time
import numpy as np
import biconsensus as bc
from benchmarks.scale_contenders import memory
from benchmarks.solvers import noisy_partitions
table = noisy_partitions(1_000_000, 20, 12, 0.02, np.int16)
bc.find_consensus(table[:1000], quorum=0.5)
before = memory("VmRSS")
start = time.perf_counter()
found = bc.find_consensus(table, quorum=0.5)
seconds = time.perf_counter() - start
extra = memory("VmHWM") - before  # not ru_maxrss, which a process takes over from the one that starts it
score = bc.metrics.ari(table[:, 0], found.labels)
print(json.dumps([seconds, extra, table.nbytes / 2**20, len(found), score]))
"""


def million() -> Table:
    """A million elements, in a process of its own."""
    out = subprocess.run([sys.executable, "-c", MILLION], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    seconds, extra, table_mb, n_groups, score = json.loads(out)
    text = (
        "1,000,000 elements x 20 partitions into 12 groups, int16, 2% noise; process of its own, Linux. "
        "Wanted: 10 s, memory above the table at most twice its size."
    )
    header = [
        "s, find_consensus",
        "MB above the table",
        "MB of the table",
        "ratio",
        "groups",
        "ARI against one partition",
    ]
    row = [f"{seconds:.1f}", f"{extra:.0f}", f"{table_mb:.0f}", f"{extra / table_mb:.2f}", n_groups, f"{score:.3f}"]
    return Table("A million elements", text, header, [row])


PARTS = [small_optimum, planted_optimum, paper_matrices, speed, identical, million]


def main(names: list[str]) -> None:
    """Run all parts, or those named, and keep their tables."""
    warnings.simplefilter("ignore", ConvergenceWarning)
    kept = Results.open("solvers", page)
    for part in PARTS:
        if (names and part.__name__ not in names) or (not names and part.__name__ in kept.values):
            continue
        table = part()
        kept.values[part.__name__] = asdict(table)
        kept.save()
        print(table.markdown(), flush=True)
    if len(kept.values) == len(PARTS):
        kept.finish()


def page(values: Values) -> str:
    """All tables."""
    tables = [Table(**values[part.__name__]).markdown() for part in PARTS if part.__name__ in values]
    return "\n".join([HEAD, *tables])


if __name__ == "__main__":
    main(sys.argv[1:])
