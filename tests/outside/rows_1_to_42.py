"""Rows 1 to 42: bad inputs and faults that every version must take."""

from __future__ import annotations

import os
import signal
import subprocess
import time
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

import biconsensus as bc
from biconsensus.solvers import get_solver
from biconsensus.sources import line_segments
from tests.outside.checks import PROGRAM, TABLE, TRUTH, answer, cli, names, refused, row, same, warned, written

A = bc.Pool.from_labels(TABLE).to_matrix().toarray()
PAPER: dict[str, Any] = {"quorum": 0.5, "method": "greedy", "unassigned": "leave"}


@row(1)
def _() -> bool:
    X = np.zeros((20, 2))
    X[3, 1], X[7, 0] = np.nan, np.inf
    return refused(lambda: bc.ConsensusClustering().fit(X), "2", "3")


@row(2)
def _() -> bool:
    bad = [np.nan, np.inf, -1.0]
    weights = [refused(lambda w=w: bc.find_consensus(TABLE, weights=[1.0] * 14 + [w]), "14") for w in bad]  # type: ignore[misc]
    broken = [A.astype(float) for _ in bad]
    for matrix, value in zip(broken, bad):
        matrix[2, 3] = value
    return all(weights) and all(refused(lambda m=m: bc.Pool.from_matrix(m), "3") for m in broken)  # type: ignore[misc]


@row(3)
def _() -> bool:
    return all(
        refused(lambda shape=shape: bc.find_consensus(np.zeros(shape, int)), word)  # type: ignore[misc]
        for shape, word in (((0, 4), "axis 0"), ((4, 0), "axis 1"))
    )


@row(4)
def _() -> bool:
    found = warned(lambda: bc.find_consensus([[0], [0], [0]], min_elements=2))
    return found is not None and found.labels.tolist() == [-1]


@row(5)
def _() -> bool:
    found = warned(lambda: bc.find_consensus(bc.Pool.from_matrix(np.zeros((6, 4)))))
    return found is not None and len(found) == 0 and set(found.labels.tolist()) == {-1}


@row(6)
def _() -> bool:
    more = bc.find_consensus(np.vstack([TABLE, np.full((1, 5), -1)]), **PAPER).labels
    return more[-1] == -1 and same(more[:-1], bc.find_consensus(TABLE, **PAPER).labels)


@row(7)
def _() -> bool:
    found = bc.find_consensus(bc.Pool.from_matrix(np.column_stack([A, np.zeros(60)])), **PAPER)
    return all(A.shape[1] not in group.candidates for group in found)


@row(8)
def _() -> bool:
    pool = bc.Pool.from_matrix(np.column_stack([A, np.ones(60)]))
    return pool.shape[1] == A.shape[1] + 1 and pool.clean().shape[1] == A.shape[1]


@row(9)
def _() -> bool:
    found = bc.find_consensus([TRUTH] * 4, **PAPER)
    return [len(group.candidates) for group in found] == [4, 4, 4] and same(found.labels, TRUTH)


@row(10)
def _() -> bool:
    labels = bc.find_consensus(np.vstack([TABLE, TABLE])).labels
    return bool((labels[:60] == labels[60:]).all())


@row(11)
def _() -> bool:
    answers = [bc.find_consensus(TABLE, weights=np.full(15, w), **PAPER) for w in (1e-300, 1e300)]
    return all(np.isfinite(found.objective) and same(found.labels, answers[0].labels) for found in answers)


@row(12)
def _() -> bool:
    kinds = (bool, int, np.float32, np.float64)
    return len({tuple(bc.find_consensus(bc.Pool.from_matrix(A.astype(kind))).labels.tolist()) for kind in kinds}) == 1


@row(13)
def _() -> bool:
    matrix = scipy.sparse.csr_array(A)
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64)
    return bc.Pool.from_matrix(matrix).shape == A.shape


@row(14)
def _() -> bool:
    given = scipy.sparse.csr_array((np.ones(3), np.array([2, 0, 0]), np.array([0, 3])), shape=(1, 3))
    pool = bc.Pool.from_matrix(given)
    return given.indices.tolist() == [2, 0, 0] and pool.shape == (1, 3)


@row(15)
def _() -> bool:
    stored = scipy.sparse.csr_array((np.array([1.0, 0.0]), np.array([0, 1]), np.array([0, 2])), shape=(1, 2))
    return bc.Pool.from_matrix(stored).to_matrix().nnz == 1


@row(16)
def _() -> bool:
    np.save("t.npy", TABLE)
    mapped = np.load("t.npy", mmap_mode="r")
    fixed = TABLE.copy()
    fixed.flags.writeable = False
    return same(bc.find_consensus(mapped).labels, bc.find_consensus(fixed).labels)


@row(17)
def _() -> bool:
    return refused(lambda: bc.find_consensus([[0, 0, 1], [0, 1]]), "3", "2")


@row(18)
def _() -> bool:
    against, unseen = (np.column_stack([TRUTH, TRUTH, *[np.full(60, value)] * 3]) for value in (-1.0, np.nan))
    few = {**PAPER, "min_candidates": 2}
    return (
        bc.find_consensus(against, **few).pool.unseen is None
        and bc.find_consensus(unseen, **few).pool.unseen is not None
    )


@row(19)
def _() -> bool:
    table = TABLE.astype(float)
    table[:5, 0] = np.nan
    return same(bc.find_consensus(table).labels, bc.find_consensus(TABLE).labels)


@row(20)
def _() -> bool:
    import pandas as pd

    text = np.array(["oak", "elm"])[TRUTH % 2]
    frame = pd.DataFrame({"a": pd.Categorical(text), "b": text, "c": np.where(TRUTH % 2, 0.5, 70.0)})
    return names(frame)[:4] == ["elm", "oak", "elm", "oak"] and same(bc.find_consensus(frame).labels, TRUTH % 2)


@row(21)
def _() -> bool:
    found = warned(lambda: bc.find_consensus(TABLE, quorum=0.5, min_elements=100), "100")
    return found is not None and len(found) == 0


@row(22)
def _() -> bool:
    table = [[0] * 100 + [1] * 100] * 2
    return len({tuple(bc.find_consensus(table, quorum=q).labels.tolist()) for q in (0.29, 0.5, 0.71)}) == 1


@row(23)
def _() -> bool:
    order = np.random.default_rng(3).permutation(60)
    one, other = bc.find_consensus(TABLE, **PAPER), bc.find_consensus(TABLE[order][:, ::-1], **PAPER)
    return same(one.labels[order], other.labels) and np.isclose(one.objective, other.objective)


@row(24)
def _() -> bool:
    import dask.array

    X = np.random.default_rng(0).normal(size=(60, 2)) + 8 * (TRUTH[:, None] == [1, 2])
    runs = [bc.ConsensusClustering(random_state=0, n_jobs=jobs).fit(X).labels_ for jobs in (1, 2)]
    spread = np.asarray(bc.find_consensus(dask.array.from_array(TABLE, chunks=(20, 5))).labels)
    return bool((runs[0] == runs[1]).all() and (spread == bc.find_consensus(TABLE).labels).all())


@row(25)
def _() -> bool:
    solver = get_solver("admm", max_iter=1)
    return warned(lambda: bc.find_consensus(TABLE, quorum=0.5, solver=solver), "residual") is not None


def broken(X: Any, seed: int) -> Any:
    """A base clusterer that raises."""
    raise RuntimeError("no luck")


def hanging(X: Any, seed: int) -> Any:
    """A base clusterer that never ends."""
    time.sleep(600)


def dying(X: Any, seed: int) -> Any:
    """A base clusterer that takes its process with it."""
    os.kill(os.getpid(), signal.SIGKILL)


def halves(X: Any, seed: int) -> Any:
    """A base clusterer that works."""
    return (X[:, 0] > np.median(X[:, 0])).astype(int)


def with_one_bad(bad: Any, **how: Any) -> Any:
    """Fit with one base clusterer that fails among others that work."""
    X = np.random.default_rng(0).normal(size=(60, 2)) + 8 * (TRUTH[:, None] == [1, 2])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return bc.ConsensusClustering([bad, halves, halves, halves], runs=bc.Runs(**how), random_state=0).fit(X)


@row(26)
def _() -> bool:
    X = np.random.default_rng(0).normal(size=(60, 2))
    model = with_one_bad(broken)
    return "no luck" in str(model.results_[0].error) and refused(
        lambda: bc.ConsensusClustering([broken, broken], random_state=0).fit(X), "no luck"
    )


@row(27)
def _() -> bool:
    start = time.monotonic()
    model = with_one_bad(hanging, time_limit=2)
    return model.results_[0].labels is None and time.monotonic() - start < 60


@row(28)
def _() -> bool:
    model = with_one_bad(dying, time_limit=30)
    return model.results_[0].labels is None and model.results_[1].labels is not None


def hear_interrupts() -> None:
    """Take interrupts as at a terminal: what is started in the background inherits that they are ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@row(29)
def _() -> bool:
    rng = np.random.default_rng(0)
    np.savetxt("p.csv", rng.normal(size=(1500, 4)), delimiter=",", header="a,b,c,d", comments="")
    line = [*PROGRAM, "cluster", "p.csv", "--resume", "kept", "--json"]
    apart: dict[str, Any] = {"start_new_session": True, "preexec_fn": hear_interrupts}
    process = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **apart)
    deadline = time.monotonic() + 120
    while len(list(Path("kept").glob("*.json"))) < 3 and time.monotonic() < deadline:
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    process.communicate(timeout=60)
    kept = {path.name: path.stat().st_mtime_ns for path in Path("kept").glob("*.npy")}
    again = cli("cluster", "p.csv", "--resume", "kept", "--json").returncode
    still = {name: Path("kept", name).stat().st_mtime_ns for name in kept}
    return process.returncode == 130 and again == 0 and len(kept) > 0 and still == kept


@row(30)
def _() -> bool:
    np.savetxt("p.csv", np.random.default_rng(0).normal(size=(40, 2)), delimiter=",", header="a,b", comments="")
    first = cli("cluster", "p.csv", "--resume", "kept").returncode
    kept = sorted(Path("kept").glob("*.npy"))[0]
    kept.write_bytes(kept.read_bytes()[:-20])
    cut = cli("cluster", "p.csv", "--resume", "kept")
    return first == 0 and cut.returncode in (0, 2) and (cut.returncode == 0 or b"checkpoint" in cut.stderr)


@row(31)
def _() -> bool:
    try:
        bc.find_consensus(TABLE, quorum=0.5, memory_limit=10)
    except MemoryError as error:
        return "limit" in str(error)
    return False


@row(32)
def _() -> bool:
    t = np.random.default_rng(0).random((40, 1))
    X = np.vstack([np.hstack([t, t]), np.zeros((20, 2))])
    return bool(len(bc.MultiModelFitter("line", 0.01, random_state=0).fit(X).consensus_) >= 1)


@row(33)
def _() -> bool:
    return refused(lambda: bc.MultiModelFitter("circle", 0.01).fit(np.zeros((2, 2))), "2", "3")


@row(34)
def _() -> bool:
    edges = np.array([(a, b) for part in (range(7), range(7, 14)) for a in part for b in part if a < b] + [(0, 7)])
    matrix = np.zeros((15, 15))
    matrix[edges[:, 0], edges[:, 1]] = matrix[edges[:, 1], edges[:, 0]] = 1
    matrix[0, 0] = 1
    labels = bc.ConsensusCommunities(["louvain"], 5, random_state=0).fit(matrix).labels_
    matrix[0, 1] = matrix[1, 0] = -1
    negative = refused(lambda: bc.ConsensusCommunities(["louvain"]).fit(matrix), "negative")
    return labels[14] == -1 and len(set(labels[:14].tolist())) == 2 and negative


@row(35)
def _() -> bool:
    import networkx as nx

    graph = nx.DiGraph([(a, b) for part in (range(6), range(6, 12)) for a in part for b in part if a != b])
    return len(set(bc.ConsensusCommunities(["louvain"], 5, random_state=0).fit(graph).labels_.tolist())) == 2


@row(36)
def _() -> bool:
    return refused(lambda: line_segments(np.zeros((0, 0))), "image")


@row(37)
def _() -> bool:
    pool = bc.Pool.from_labels(TABLE, names=["<script>alert(1)</script>", "b", "c", "d", "e"])
    bc.find_consensus(pool).write_report("page.html")
    return "<script>alert(1)" not in Path("page.html").read_text(encoding="utf-8")


@row(38)
def _() -> bool:
    import pickle

    with zipfile.ZipFile("evil.bic", "w") as archive:
        archive.writestr("labels.npy", pickle.dumps(print))
        archive.writestr("../outside.npy", b"x")
    return refused(lambda: bc.Consensus.load("evil.bic")) and not Path("../outside.npy").exists()


@row(39)
def _() -> bool:
    written("a,b,c,d,e")
    done = cli("merge", "t.csv", "--out", "/proc/nowhere/out.csv")
    full = cli("merge", "t.csv", "--out", "/dev/full")
    return done.returncode == 2 and full.returncode == 2 and b"Traceback" not in done.stderr + full.stderr


@row(40)
def _() -> bool:
    Path("t.csv").write_bytes(b"\xef\xbb\xbfa,b,c\n" + b"0,0,x\n" * 8 + b"1,1,\n" * 8)
    good = answer("merge", "t.csv")
    Path("r.csv").write_text("a,b\n1,2\n1,2,3\n")
    Path("e.csv").write_text("")
    Path("x.csv").write_text("a,b\n" + "1,2\n" * 9 + "1,two\n")
    bad = [cli("merge", "r.csv"), cli("merge", "e.csv"), cli("cluster", "x.csv", "--columns", "a,b")]
    return good["elements"] == 16 and all(done.returncode == 2 for done in bad) and b"line 3" in bad[0].stderr


@row(41)
def _() -> bool:
    return (
        refused(lambda: bc.MultiModelFitter("cirle", 0.1).fit(np.zeros((9, 2))), "circle")
        and refused(lambda: bc.find_consensus(TABLE, quorum=0.5, solver="vot"), "vote")
        and refused(lambda: bc.ConsensusCommunities(["louvan"]).fit([(0, 1)]), "louvain")
    )


@row(42)
def _() -> bool:
    found = warned(lambda: bc.find_consensus(TABLE, quorum=0.5, min_candidates=9), "min_candidates")
    return found is not None and len(found) == 0
