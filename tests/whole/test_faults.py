"""Bad input and faults: one test for each row of the table of faults, numbered alike, through the public API.

Where a row has deeper tests in the folder of its part, docs/reliability.md names them.
"""

import errno
import os
import pickle
import re
import signal
import time
import warnings
import zipfile
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from scipy.sparse import csr_array, eye_array
from sklearn.cluster import KMeans

import biconsensus as bc
from biconsensus._checks import check_finite
from biconsensus.pool._diagnostics import diagnose
from biconsensus.pool.io import read_labels, read_points
from biconsensus.pool.io._writing import atomic_path
from biconsensus.report import render_report
from biconsensus.solvers import get_solver
from tests.helpers.ready_workers import ready_workers
from tests.helpers.strategies import paper_consensus

TRUTH = np.repeat([0, 1, 2], [12, 10, 8])
TABLE = np.stack([TRUTH] * 4 + [np.minimum(TRUTH, 1)], axis=1)
MATRIX = bc.Pool.from_labels(TABLE).to_matrix().toarray()


def labels_of(*args, **options):
    return paper_consensus(*args, **options).labels.tolist()


def no_group(match, *args, **options):
    """All -1 with a warning."""
    with pytest.warns(bc.errors.NoConsensusWarning, match=match):
        c = paper_consensus(*args, **options)
    assert len(c) == 0
    assert (c.labels == -1).all()
    assert c.membership.shape == (c.labels.size, 0)
    assert (c.backing == 0).all()
    return c


def test_01_nan_in_x():
    X = np.zeros((4, 3))
    X[2, 1], X[3, 0] = np.nan, np.inf
    with pytest.raises(ValueError, match=r"2 NaN or infinite values, the first at \(2, 1\)"):
        check_finite(X)
    for estimator in (bc.ConsensusClustering(), bc.MultiModelFitter("plane", 0.1)):
        with pytest.raises(ValueError, match=r"2 NaN or infinite values, the first at \(2, 1\)"):
            estimator.fit(X)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -1.0])
def test_02_bad_weight_or_entry(bad):
    with pytest.raises(ValueError, match="candidate 1 has"):
        bc.Pool.from_groups([[0], [1]], n_elements=2, weights=[1.0, bad])
    with pytest.raises(ValueError, match="candidate 1 has"):
        bc.Pool.from_matrix(np.array([[0.0, bad]]))
    with pytest.raises(ValueError, match="candidate 1 has"):
        paper_consensus(TABLE, weights=[1.0, bad, 1.0, 1.0, 1.0])
    if not bad < 0:  # scikit-learn words the refusal of negative values
        with pytest.raises(ValueError, match="candidate 1 has"):
            bc.BiclusterConsensus().fit(np.array([[1.0, bad]] * 3))


def test_03_empty_input():
    with pytest.raises(ValueError, match=r"0 elements \(axis 0\)"):
        paper_consensus(np.zeros((0, 3), int))
    with pytest.raises(ValueError, match=r"axis 1"):
        paper_consensus(np.zeros((3, 0), int))
    with pytest.raises(ValueError, match=r"0 candidates \(axis 1\)"):
        bc.Pool.from_groups([], n_elements=3)
    with pytest.raises(ValueError, match=r"0 elements \(axis 0\)"):
        bc.Pool.from_groups([[]], n_elements=0)


def test_04_one_element():
    no_group("there is only one element", [[0]] * 5)


def test_05_all_zero_matrix():
    no_group("every candidate of the pool is empty", bc.Pool.from_matrix(np.zeros((20, 6))))


def test_06_an_element_in_no_candidate():
    with_stray = np.vstack([TABLE, np.full(5, -1)])
    assert labels_of(with_stray) == [*labels_of(TABLE), -1]


def test_07_an_empty_candidate_never_joins():
    pool = bc.Pool.from_matrix(np.hstack([MATRIX, np.zeros((30, 3))]))
    c = paper_consensus(pool)
    assert max(b.candidates.max() for b in c.biclusters) < MATRIX.shape[1]
    assert diagnose(pool).empty.size == 3
    assert "3 candidates" in render_report(c)
    assert c.labels.tolist() == labels_of(bc.Pool.from_matrix(MATRIX))


def test_08_a_candidate_that_contains_everything_is_kept_until_cleaned():
    pool = bc.Pool.from_labels(np.hstack([TABLE, np.zeros((30, 1), int)]))
    assert pool.shape[1] == MATRIX.shape[1] + 1
    assert "source 5: 0" in pool.names
    assert "source 5: 0" not in pool.clean().names
    assert "1 candidate holds 90% or more" in render_report(paper_consensus(pool))
    assert "1 input group did not vote" in render_report(paper_consensus(pool.clean()))


def test_09_identical_candidates_are_all_listed():
    c = paper_consensus(TABLE)
    listed = {bc.Pool.from_labels(TABLE).names[j] for j in c.biclusters[c.labels[0]].candidates}
    assert listed == {f"source {k}: 0" for k in range(5)}
    assert c.labels.tolist() == labels_of(TABLE[:, [0, 1, 2, 3, 4, 0]])


def test_10_duplicate_elements_share_a_label():
    twice = np.vstack([TABLE, TABLE])
    labels = np.array(labels_of(twice))
    assert np.array_equal(labels[:30], labels[30:])


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_11_extreme_weights(scale):
    c = paper_consensus(bc.Pool.from_labels(TABLE, weights=[scale] * 5))
    assert np.isfinite(c.gains).all()
    assert np.isfinite(c.objective)
    assert c.labels.tolist() == labels_of(TABLE)
    mixed = paper_consensus(bc.Pool.from_labels(TABLE, weights=[1e-300, 1e300, 1, 1, 1]), min_candidates=1)
    assert np.isfinite(mixed.gains).all()
    with pytest.raises(ValueError, match="overflow"):
        bc.Pool.from_groups([[0], [1]], n_elements=2, weights=[1.7e308, 1.7e308])


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int32, np.int64, np.float32])
def test_12_matrix_types(dtype):
    assert labels_of(bc.Pool.from_matrix(MATRIX.astype(dtype))) == labels_of(bc.Pool.from_matrix(MATRIX))


def test_13_csr_with_int64_indices():
    A = csr_array(MATRIX)
    wide = csr_array((A.data, A.indices.astype(np.int64), A.indptr.astype(np.int64)), shape=A.shape)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    assert labels_of(bc.Pool.from_matrix(wide)) == labels_of(bc.Pool.from_matrix(MATRIX))


def test_14_unsorted_and_duplicate_entries():
    A = csr_array((np.array([0.25, 1.0, 0.5]), np.array([2, 0, 2]), np.array([0, 3, 3])), shape=(2, 3))
    data, indices = A.data.copy(), A.indices.copy()
    assert bc.Pool.from_matrix(A).to_matrix().toarray().tolist() == [[1, 0, 0.75], [0, 0, 0]]
    assert np.array_equal(A.data, data)
    assert np.array_equal(A.indices, indices)


def test_15_stored_zeros_are_absent():
    A = csr_array((np.array([1.0, 0.0, 1.0]), np.array([0, 1, 2]), np.array([0, 2, 3])), shape=(2, 3))
    pool = bc.Pool.from_matrix(A)
    assert pool.rows.nnz == 2
    assert pool.sizes.tolist() == [1, 0, 1]
    assert A.nnz == 3


def test_16_read_only_and_memory_mapped_input(tmp_path):
    np.save(tmp_path / "table.npy", TABLE.astype(np.int16))
    mapped = np.load(tmp_path / "table.npy", mmap_mode="r")
    frozen = TABLE.copy()
    frozen.flags.writeable = False
    sparse = csr_array(MATRIX)
    for array in (sparse.data, sparse.indices, sparse.indptr):
        array.flags.writeable = False
    assert labels_of(mapped) == labels_of(frozen) == labels_of(TABLE)
    assert labels_of(bc.Pool.from_matrix(sparse)) == labels_of(bc.Pool.from_matrix(MATRIX))
    assert np.array_equal(np.load(tmp_path / "table.npy"), TABLE)


def test_17_lengths_differ():
    with pytest.raises(ValueError, match="has 3 labels, 'source 1' has 2"):
        paper_consensus([[0, 0, 1], [0, 1]])


def test_18_minus_one_votes_against():
    table = TABLE.copy()
    table[0, :3] = -1
    assert labels_of(table)[0] == -1


def test_19_missing_does_not_vote():
    table = TABLE.astype(float)
    table[0, :3] = np.nan
    c = paper_consensus(table)
    assert c.labels.tolist() == labels_of(TABLE)
    assert c.backing[0] == 1.0


def test_20_labels_of_any_type_keep_their_names():
    words = np.array(["left", "mid", "right"])[TABLE]
    gapped = np.array([7, 100, -5])[TABLE]
    halves = np.array([0.5, 1.25, 2.0])[TABLE]
    for table in (words, gapped, halves):
        assert sorted(map(str, labels_of(table))) == sorted(map(str, labels_of(TABLE)))
    assert "source 0: left" in bc.Pool.from_labels(words).names


def test_21_minimum_sizes_larger_than_the_data():
    no_group("30 elements, fewer than min_elements=100", TABLE, min_elements=100)


def test_22_ties_are_broken_by_the_documented_rule():
    halves = np.repeat([0, 1], 10)
    assert labels_of([halves] * 4) == halves.tolist()
    assert labels_of([1 - halves] * 4) == halves.tolist()
    table = np.full((100, 4), -1)
    table[:29, 0] = 0
    table[:, 1:] = 0
    exact = bc.find_consensus(table, quorum=0.29, min_candidates=3)
    assert [b.candidates.tolist() for b in exact.biclusters] == [[1, 2, 3]]


def test_23_permutations():
    rng = np.random.default_rng(0)
    rows, columns = rng.permutation(30), rng.permutation(5)
    plain, permuted = paper_consensus(TABLE), paper_consensus(TABLE[rows][:, columns])
    assert plain.objective == permuted.objective
    assert permuted.labels.tolist() == plain.labels[rows].tolist()


def test_24_jobs():
    assert labels_of(TABLE, n_jobs=1) == labels_of(TABLE, n_jobs=2)


def test_25_a_solver_that_does_not_converge():
    solver = get_solver("admm", max_iter=2)
    with pytest.warns(bc.errors.ConvergenceWarning, match="residual"):
        paper_consensus(TABLE, solver=solver, min_elements=1, min_candidates=1)
    assert solver.n_iter_ == 2


FAR = np.repeat([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]], 10, axis=0) + np.random.default_rng(0).random((30, 2))


def clustered(*estimators, **options):
    how = {name: options.pop(name) for name in ("time_limit", "checkpoint") if name in options}
    return bc.ConsensusClustering(list(estimators), random_state=0, runs=bc.Runs(progress=False, **how), **options)


def fails(X):
    raise RuntimeError("no luck")


def hangs(X):
    time.sleep(60)


def is_killed(X):
    os.kill(os.getpid(), signal.SIGKILL)


BASE = [KMeans(3, n_init=1)] * 4


def test_26_a_base_algorithm_raises():
    with pytest.warns(bc.errors.PoolWarning, match=r"1 of 5 base runs skipped: .*RuntimeError: no luck"):
        model = clustered(*BASE, fails).fit(FAR)
    assert model.results_[4].error == "RuntimeError: no luck"
    assert len(np.unique(model.labels_)) == 3
    with pytest.raises(bc.errors.SourceError, match=r"0 of 2 base runs gave a result.*no luck"):
        clustered(fails, fails).fit(FAR)


@pytest.fixture(scope="module")
def survived(tmp_path_factory):
    """A fit of four runs that end well, one that hangs and one that kills its process; and the folder of results."""
    folder = tmp_path_factory.mktemp("survived")
    with ready_workers(), pytest.warns(bc.errors.PoolWarning, match="2 of 6 base runs skipped"):
        return clustered(*BASE, hangs, is_killed, time_limit=4, n_jobs=2, checkpoint=folder).fit(FAR), folder


def test_27_a_base_algorithm_hangs(survived):
    model, _ = survived
    assert [result.ok for result in model.results_] == [True] * 4 + [False] * 2
    assert model.results_[4].error == "stopped after the time limit of 4 s"
    assert len(np.unique(model.labels_)) == 3


def test_28_a_worker_is_killed(survived):
    model, folder = survived
    assert model.results_[5].error == "its process died twice"
    assert model.labels_.tolist() == clustered(*BASE).fit(FAR).labels_.tolist()
    assert len(list(folder.glob("*.npy"))) == 4


def test_29_an_interrupt_keeps_what_was_finished(tmp_path):
    def interrupted(X):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        clustered(*BASE, interrupted, checkpoint=tmp_path).fit(FAR)
    kept = {path: path.stat().st_mtime_ns for path in tmp_path.glob("*.npy")}
    assert len(kept) == 4
    resumed = clustered(*BASE, checkpoint=tmp_path).fit(FAR)
    assert resumed.labels_.tolist() == clustered(*BASE).fit(FAR).labels_.tolist()
    assert {path: path.stat().st_mtime_ns for path in kept} == kept


def test_30_a_checkpoint_that_was_cut_or_belongs_to_other_data(tmp_path):
    clustered(*BASE, checkpoint=tmp_path).fit(FAR)
    with pytest.raises(bc.errors.FileFormatError, match="made from other data"):
        clustered(*BASE, checkpoint=tmp_path).fit(FAR + 1)
    path = min(tmp_path.glob("*.npy"))
    path.write_bytes(path.read_bytes()[:-4])
    with pytest.raises(bc.errors.FileFormatError, match="truncated or was changed"):
        clustered(*BASE, checkpoint=tmp_path).fit(FAR)


def test_31_memory_is_estimated_before_it_is_allocated():
    with pytest.raises(MemoryError, match=r"would need about .* MB, above the limit of 0 MB"):
        paper_consensus(TABLE, memory_limit=1000)
    wide = bc.Pool.from_matrix(eye_array(200_000, format="csr"))
    with pytest.raises(MemoryError, match="AdmmSolver on 200000 rows x 200000 columns would need"):
        paper_consensus(wide, solver="admm")


@pytest.mark.parametrize("points", [np.zeros((30, 2)), np.arange(60.0).reshape(30, 2)])
def test_32_coincident_and_collinear_minimal_samples(points):
    with pytest.warns(bc.errors.NoConsensusWarning):
        model = bc.MultiModelFitter("circle", 0.1, n_samples=200, random_state=0).fit(points)
    assert model.labels_.tolist() == [-1] * 30


def test_33_fewer_points_than_a_minimal_sample():
    with pytest.raises(ValueError, match=r"2 elements.*CircleModel needs 3"):
        bc.MultiModelFitter("circle", 0.1).fit(np.zeros((2, 2)))


def test_34_loops_parallel_edges_isolated_nodes_and_negative_weights():
    clean = nx.connected_caveman_graph(3, 8)
    odd = nx.MultiGraph(clean)
    odd.add_edges_from([(0, 0), (0, 1), (0, 1)])
    odd.add_node("alone")
    model = bc.ConsensusCommunities("louvain", random_state=0).fit(odd)
    assert model.labels_[-1] == -1
    assert np.array_equal(model.labels_[:-1], bc.ConsensusCommunities("louvain", random_state=0).fit(clean).labels_)
    clean.add_edge(0, 9, weight=-1.0)
    with pytest.raises(ValueError, match=r"negative or non-finite.*between 0 and 9"):
        bc.ConsensusCommunities("louvain").fit(clean)


def test_35_directed_and_disconnected_networks():
    cliques = nx.disjoint_union_all([nx.complete_graph(8)] * 3)
    for network in (cliques, nx.DiGraph(cliques)):
        labels = bc.ConsensusCommunities("louvain", random_state=0).fit(network).labels_
        assert labels.tolist() == np.repeat(labels[::8], 8).tolist()
        assert len(set(labels.tolist())) == 3


def test_36_images_of_every_kind():
    pytest.importorskip("cv2")
    from biconsensus.sources._images import line_segments

    grey = np.zeros((60, 60))
    grey[20:40, 10:50] = 1.0
    expected = line_segments(grey).endpoints
    assert len(expected) == 4
    assert np.array_equal(line_segments(np.stack([grey] * 3, axis=2)).endpoints, expected)
    assert np.array_equal(line_segments((255 * grey).astype(np.uint8)).endpoints, expected)
    with pytest.raises(ValueError, match="empty"):
        line_segments(np.zeros((0, 5)))
    with pytest.raises(MemoryError, match="max_pixels"):
        line_segments(np.broadcast_to(np.uint8(0), (30_000, 30_000)))


def test_37_hostile_names_are_escaped():
    evil = "</script><script>alert(1)</script>"
    pool = bc.Pool.from_labels({f"{evil}{k}": np.where(TRUTH == 0, evil, "b") for k in range(4)}, ids=[evil] * 30)
    page = render_report(paper_consensus(pool), title=evil)
    assert "<script>alert" not in page
    assert page.count("<script") == 2


def test_38_hostile_saved_files_are_refused(tmp_path):
    path = tmp_path / "saved.bic"
    for name, content in [("code.pkl", pickle.dumps(print)), ("../out.npy", b""), ("meta.json", b" " * 50_000_000)]:
        paper_consensus(TABLE).save(path)
        with zipfile.ZipFile(path) as old:
            parts = {part: old.read(part) for part in old.namelist()} | {name: content}
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
            for part, value in parts.items():
                new.writestr(part, value)
        with pytest.raises(bc.errors.FileFormatError, match=r"saved\.bic"):
            bc.Consensus.load(path)
    assert [p.name for p in tmp_path.iterdir()] == ["saved.bic"]


def test_39_a_full_disk_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "saved.bic"
    result = paper_consensus(TABLE)
    result.save(path)
    old = path.read_bytes()

    def full(*args):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        paper_consensus(TABLE[:, :4]).save(path)
    with pytest.raises(OSError, match="No space left"), atomic_path(tmp_path / "other.csv") as new:
        new.write_text("half")
    assert path.read_bytes() == old
    assert [p.name for p in tmp_path.iterdir()] == ["saved.bic"]


def test_40_tables_with_faults_name_line_and_column(tmp_path):
    def file(content):
        path = tmp_path / "table.csv"
        path.write_bytes(content)
        return path

    assert list(read_labels(file(b"\xef\xbb\xbfa,b\n0,1\n1,\n")).columns) == ["a", "b"]
    with pytest.raises(ValueError, match=r"line 3, column 2 .*'x' is no finite number"):
        read_points(file(b"a,b\n0,1\n1,x\n"))
    with pytest.raises(ValueError, match=r"line 2, column 2 .*the cell is empty"):
        read_points(file(b"a,b\n0,\n"))
    with pytest.raises(ValueError, match="line 3, column 3: the line has 3 cells, line 1 has 2"):
        read_labels(file(b"a,b\n0,1\n0,1,2\n"))
    with pytest.raises(ValueError, match="the file is empty"):
        read_labels(file(b""))
    with pytest.raises(ValueError, match=r"line 2, column 1.*semicolon"):
        read_labels(file(b"a;b\n0;1\n"), separator=",")


def test_41_unknown_names_list_the_valid_ones():
    with pytest.raises(ValueError, match=r"unknown solver 'vot'. Did you mean 'vote'\? Valid names: .*exact"):
        paper_consensus(TABLE, solver="vot")
    with pytest.raises(ValueError, match=r"unknown method 'greed'. Did you mean 'greedy'"):
        paper_consensus(TABLE, method="greed")
    with pytest.raises(ValueError, match=r"unknown weight rule 'sizes'. Did you mean 'size'"):
        paper_consensus(TABLE, weights="sizes")
    with pytest.raises(ValueError, match=r"unknown model 'lin'. Did you mean 'line'"):
        bc.MultiModelFitter("lin", 0.1).fit(FAR)
    with pytest.raises(ValueError, match=r"unknown algorithm 'louvan'. Did you mean 'louvain'"):
        bc.ConsensusCommunities("louvan").fit(nx.path_graph(3))


def test_42_fewer_sources_than_min_candidates():
    no_group("the pool has 3 sources, fewer than min_candidates=4; set min_candidates=3", TABLE[:, :3])


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"quorum": 0}, ValueError, "strictly between 0 and 1"),
        ({"quorum": 1.5}, ValueError, "strictly between 0 and 1"),
        ({"quorum": "half"}, TypeError, "quorum must be a number"),
        ({"min_elements": 0}, ValueError, "min_elements must be at least 1"),
        ({"min_candidates": 2.5}, TypeError, "min_candidates must be a whole number"),
        ({"together": [[0, 99]]}, ValueError, "contains 99; allowed are 0 to 29"),
        ({"unassigned": "drop"}, ValueError, "unknown unassigned"),
        ({"weights": [1, 2]}, ValueError, "2 values; give 5, one for each source, or 14"),
    ],
)
def test_other_arguments_are_checked(options, error, message):
    with pytest.raises(error, match=message):
        bc.find_consensus(TABLE, **options)


@pytest.mark.parametrize("labels", [3, csr_array(MATRIX), np.zeros((2, 2, 2))])
def test_what_is_no_label_table_is_refused(labels):
    with pytest.raises((TypeError, ValueError), match="labels"):
        paper_consensus(labels)


def test_no_fault_is_silent():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(paper_consensus(TABLE)) == 3


def test_the_page_on_reliability_names_a_test_that_exists_for_every_row():
    root = Path(__file__).parents[2]
    page = (root / "docs" / "reliability.md").read_text(encoding="utf-8")
    rows = {int(n): cells for n, cells in re.findall(r"^\| (\d+) \|(.*)$", page, re.MULTILINE)}
    assert sorted(rows) == list(range(1, 97))
    for number, cells in rows.items():
        assert number > 42 or f"tests/whole/test_faults.py::test_{number:02d}_" in cells
    for file, name in re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", page):
        assert f"def {name}(" in (root / file).read_text(encoding="utf-8"), f"{file}::{name}"
