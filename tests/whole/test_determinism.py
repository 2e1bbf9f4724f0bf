"""The same answer for any number of threads and processes, on one machine and on Dask, under any hash seed."""

import ast
import hashlib
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import biconsensus as bc
from biconsensus.solvers.vote import _ballot
from tests.helpers.strategies import paper_consensus
from tests.whole.test_golden import CASES, GOLDEN, answer, table

ROOT = Path(__file__).resolve().parents[2]
SOLVERS = ["vote", "quantile", "frobenius", "pmd", "ssvd", "admm"]


@pytest.mark.parametrize("solver", SOLVERS)
def test_threads_of_the_linear_algebra_change_no_label(solver):
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], 12)
    noisy = np.where(rng.random((36, 8)) < 0.1, rng.integers(0, 3, (36, 8)), truth[:, None])
    answers = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            # an old OpenCV brings a library that was built without threads
            able = [library for library in threadpool_info() if library.get("threading_layer") != "disabled"]
            assert {library["num_threads"] for library in able} == {threads}
            answers.append(paper_consensus(noisy, solver=solver))
    assert len(answers[0]) > 0
    assert np.array_equal(answers[0].labels, answers[1].labels)


@pytest.mark.parametrize("method", ["greedy", "joint"])
def test_threads_of_the_votes_change_nothing(method, monkeypatch):
    started = []

    class Threads(ThreadPoolExecutor):
        def __init__(self, n_threads):
            started.append(n_threads)
            super().__init__(n_threads)

    # blocks of few rows, so that a small table has several of them: one block needs no thread
    monkeypatch.setattr(_ballot, "BLOCK", 100)
    monkeypatch.setattr(_ballot, "ThreadPoolExecutor", Threads)
    pool = bc.Pool.from_labels(table(7), missing=-9)
    one, two = (paper_consensus(pool, method=method, n_jobs=n) for n in (1, 2))
    assert set(started) == {2}
    assert len(one) > 1
    assert one.labels.tobytes() == two.labels.tobytes()
    assert one.gains.tobytes() == two.gains.tobytes()
    assert one.backing.tobytes() == two.backing.tobytes()


@lru_cache
def cells_with_gaps():
    """(120, 12) labels, NaN where nothing was said."""
    cells = table(3, m=120).astype(float)
    cells[cells == -9] = np.nan
    return cells


@lru_cache
def on_one_machine(**options):
    """Answer for these cells."""
    return bc.find_consensus(cells_with_gaps(), **options)


@pytest.mark.parametrize(
    "options", [{}, {"quorum": 0.3, "unassigned": "nearest"}, {"method": "joint"}, {"overlap": True}]
)
@pytest.mark.parametrize("chunk", [47, 120])
def test_one_machine_and_dask_agree_bit_for_bit(options, chunk):
    da = pytest.importorskip("dask.array", reason="dask is an extra")
    cells, local = cells_with_gaps(), on_one_machine(**options)
    lazy = bc.find_consensus(da.from_array(cells, chunks=(chunk, 5)), **options)
    assert len(local) > 1
    assert np.array_equal(np.asarray(lazy.labels), local.labels)
    assert np.asarray(lazy.backing).tobytes() == local.backing.tobytes()
    assert lazy.gains.tobytes() == local.gains.tobytes()


def digest(labels):
    """Short name of a labeling."""
    return hashlib.sha256(np.ascontiguousarray(labels, dtype="<i8").tobytes()).hexdigest()[:16]


def estimators():
    """Digest of the labels of each estimator on small data."""
    from sklearn.cluster import KMeans

    from biconsensus.graphs._lfr import lfr_network

    rng = np.random.default_rng(0)
    X = np.repeat([[0.0, 0.0], [5.0, 0.0], [0.0, 5.0]], 20, axis=0) + rng.normal(size=(60, 2))
    base = [KMeans(k, n_init=1) for k in (2, 3, 3, 4, 5)]
    unclear = lfr_network(200, 0.5, 8, communities=(15, 60), random_state=3)[0]  # where every draw shows
    t = rng.random(40)
    crossing = np.column_stack([t, np.where(np.arange(40) % 2, t, 1 - t)]) + rng.normal(0, 0.003, (40, 2))
    return {
        "clustering": digest(bc.ConsensusClustering(base, random_state=1).fit(X).labels_),
        "communities": [
            digest(result.labels)
            for result in bc.ConsensusCommunities(n_runs=3, quorum=0.5, random_state=1).fit(unclear).results_
        ],
        "fitting": digest(bc.MultiModelFitter("line", 0.02, n_samples=200, random_state=1).fit(crossing).labels_),
    }


def test_everything_is_the_same_in_other_processes_threads_and_hash_seeds():
    expected = estimators()
    environment = {**os.environ, "PYTHONHASHSEED": "4242", "OMP_NUM_THREADS": "2"}
    command = [sys.executable, "-m", "tests.whole.test_determinism"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=250, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    golden, found = map(ast.literal_eval, done.stdout.splitlines())
    assert golden == GOLDEN
    assert found == expected


if __name__ == "__main__":
    print({name: answer(name) for name in CASES})
    print(estimators())
