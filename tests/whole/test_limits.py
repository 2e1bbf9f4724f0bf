"""The limits of numbers and of memory: extreme weights, sizes and index types, and hard limits of the process."""

import resource
import subprocess
import sys
import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
from scipy.sparse import csr_array

import biconsensus as bc
from biconsensus import _checks as free
from biconsensus._checks import check_quorum
from biconsensus.matrix._matrix import PreferenceMatrix
from biconsensus.solvers import SOLVERS, get_solver, solver_memory
from biconsensus.solvers.vote._ballot import WHOLE, whole_unit
from tests.helpers.strategies import paper_consensus

TRUTH = np.repeat([0, 1, 2], [12, 10, 8])


TABLE = np.stack([TRUTH] * 5, axis=1)


# -- numbers --------------------------------------------------------------------------------------------------------
def test_weights_over_six_hundred_orders_of_magnitude():
    weights = np.array([1e-300, 1e-150, 1.0, 1e150, 1e300])
    table = TABLE.copy()
    table[:, :4] = (table[:, :4] + np.arange(30)[:, None]) % 3  # only the heaviest source knows the groups
    c = paper_consensus(bc.Pool.from_labels(table, weights=weights), min_candidates=1)
    assert np.isfinite(c.gains).all()
    assert np.isfinite(c.objective)
    assert np.isfinite(c.backing).all()
    assert sorted(np.bincount(c.labels)) == [8, 10, 12]
    assert len(set(zip(c.labels.tolist(), TRUTH.tolist()))) == 3


@pytest.mark.parametrize("power", [-1000, -500, 500, 900])
def test_weights_scaled_by_a_power_of_two_change_nothing_but_the_gains(power):
    rng = np.random.default_rng(0)
    table = np.where(rng.random((60, 6)) < 0.3, rng.integers(0, 3, (60, 6)), rng.integers(0, 3, (60, 1)))
    weights = rng.uniform(0.5, 2, 6)
    plain = paper_consensus(bc.Pool.from_labels(table, weights=weights), min_elements=2)
    scaled = paper_consensus(bc.Pool.from_labels(table, weights=np.ldexp(weights, power)), min_elements=2)
    assert len(plain) > 1
    assert np.array_equal(plain.labels, scaled.labels)
    assert np.array_equal(np.ldexp(plain.gains, power), scaled.gains)


def test_shares_of_whole_weights_never_overflow():
    """The largest sum of whole weights times the largest numerator of a quorum stays inside 64 bits."""
    finest = check_quorum(0.999999999)
    assert (WHOLE - 1) * finest.numerator < 2**63
    assert whole_unit(np.array([1.0, WHOLE - 2.0])) == 1.0
    assert whole_unit(np.array([1.0, WHOLE - 1.0])) is None


def test_a_fine_quorum_of_large_whole_weights_is_counted_right():
    heavy = float(2**39)
    B = np.array([[1, 0]] * 10 + [[1, 1]] * 10)
    c = bc.find_consensus(
        bc.Pool.from_matrix(B, weights=[heavy, 1.0]), min_elements=1, min_candidates=1, quorum=0.123456789
    )
    assert c.labels.tolist() == [0] * 20
    assert c.gains[0] == pytest.approx(20 * heavy * (1 - 0.123456789))


def test_a_million_identical_rows_are_one():
    pool = bc.Pool.from_labels(np.zeros((1_000_000, 4), np.int8))
    assert pool.rows.shape == (1, 4)
    assert pool.counts.tolist() == [1_000_000]
    c = paper_consensus(pool)
    assert c.gains.tolist() == [2_000_000.0]
    assert c.objective == 0
    assert (c.labels == 0).all()


def test_one_candidate():
    pool = bc.Pool.from_groups([range(5)], n_elements=8)
    c = paper_consensus(pool, min_elements=1, min_candidates=1)
    assert c.labels.tolist() == [0] * 5 + [-1] * 3
    assert c.backing.tolist() == [1.0] * 5 + [0.0] * 3
    joint = paper_consensus(pool, min_elements=1, min_candidates=1, method="joint")
    assert joint.labels.tolist() == c.labels.tolist()


def test_candidates_of_size_one():
    pool = bc.Pool.from_groups([[i] for i in range(6)] * 2, n_elements=7)
    c = paper_consensus(pool, min_elements=1, min_candidates=2)
    assert c.labels.tolist() == [0, 1, 2, 3, 4, 5, -1]
    assert c.gains.tolist() == [1.0] * 6
    with pytest.warns(bc.errors.NoConsensusWarning, match="min_elements=7"):
        assert len(paper_consensus(pool)) == 0


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_index_types_of_every_stage(index):
    """Matrices with more than 2^31 - 1 entries have 64-bit indices; every stage takes them."""
    A = csr_array(bc.Pool.from_labels(TABLE).to_matrix())
    A.indices, A.indptr = A.indices.astype(index), A.indptr.astype(index)
    pool = bc.Pool.from_matrix(A, sources=np.arange(15) % 5)
    wide = csr_array(pool.rows)
    wide.indices, wide.indptr = wide.indices.astype(index), wide.indptr.astype(index)
    object.__setattr__(pool, "rows", wide)
    assert wide.indices.dtype == index
    for method in ("greedy", "joint"):
        c = paper_consensus(pool, min_candidates=1, method=method)
        assert np.array_equal(c.labels, paper_consensus(TABLE, min_candidates=1, method=method).labels)


def test_a_pool_of_more_than_two_billion_entries_is_weighed_not_built():
    """10^8 elements x 30 partitions: 3 * 10^9 entries of the expanded matrix, refused before it is made."""
    rows, columns, entries = 100_000_000, 300, 3_000_000_000

    class Stub:
        shape = (rows, columns)
        entries = type("Entries", (), {"nnz": 3_000_000_000})

    assert solver_memory(Stub(), get_solver("vote")) > 40 * entries
    assert solver_memory(Stub(), get_solver("admm")) == 8 * 8 * rows * columns


# -- memory ---------------------------------------------------------------------------------------------------------
def noisy_pool(m=30_000, c=10, k=6):
    rng = np.random.default_rng(0)
    truth = rng.integers(0, k, m)
    return bc.Pool.from_labels(np.where(rng.random((m, c)) < 0.3, rng.integers(0, k, (m, c)), truth[:, None]))


@pytest.mark.parametrize("method", ["greedy", "joint"])
def test_a_search_stays_within_its_estimate(method):
    pool = noisy_pool()
    solver = get_solver("vote", n_jobs=1)
    estimate = solver_memory(PreferenceMatrix.from_pool(pool), solver)
    with pytest.raises(MemoryError, match=r"VoteSolver on \d+ rows x 60 columns would need about"):
        paper_consensus(pool, method=method, n_jobs=1, memory_limit=estimate - 1)
    tracemalloc.start()
    try:
        paper_consensus(pool, method=method, n_jobs=1, memory_limit=estimate)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak <= estimate


LIMITED = """
import resource, sys
import numpy as np
import biconsensus as bc
from biconsensus.fitting._estimator import MultiModelFitter
from biconsensus.baselines import evidence_accumulation, hbgf
from biconsensus.baselines.fitting._linkage import j_linkage
from biconsensus.sources._spectral import GaussianSpectralClustering
from biconsensus.sources._subspace import SparseSubspaceClustering
import biconsensus.solvers._admm, biconsensus.solvers.vote._solver, sklearn.cluster

rng = np.random.default_rng(0)
wide = bc.Pool.from_groups([[j, j + 1] for j in range(20_000)], n_elements=20_001)
rows = bc.Pool.from_labels(rng.integers(0, 50, (12_000, 6)))
X = rng.random((20_000, 2))
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (400 << 20),) * 2)
tasks = {
    "dense solver": lambda: bc.find_consensus(wide, solver="admm"),
    "votes": lambda: bc.find_consensus(wide, memory_limit=1 << 20),
    "co-occurrence": lambda: evidence_accumulation(rows, 5),
    "candidates": lambda: hbgf(wide, 5),
    "linkage": lambda: j_linkage(X, "line", 0.01),
    "spectral": lambda: GaussianSpectralClustering(3).fit(X),
    "subspace": lambda: SparseSubspaceClustering(3).fit(X),
    "fitter": lambda: MultiModelFitter("circle", 0.01, n_samples=500_000_000, random_state=0).fit(X),
}
for name, task in tasks.items():
    try:
        task()
        print(name, "| no error")
    except MemoryError as error:
        print(name, "|", type(error).__name__, "|", error)
print("alive")
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the size of a process is read from /proc")
def test_a_hard_limit_ends_in_a_clear_error_and_no_crash():
    done = subprocess.run([sys.executable, "-c", LIMITED], capture_output=True, text=True, timeout=250, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    lines = done.stdout.splitlines()
    assert lines[-1] == "alive"
    assert len(lines) == 9
    for line in lines[:-1]:
        assert "TooLargeError" in line, line
        assert "would need about" in line


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the size of a process is read from /proc")
def test_the_limit_of_the_process_counts(monkeypatch):
    size = int(free._small_file("/proc/self/statm").split()[0]) * resource.getpagesize()
    monkeypatch.setattr(resource, "getrlimit", lambda which: (size + (64 << 20), resource.RLIM_INFINITY))
    assert free.available_memory() <= 64 << 20
    monkeypatch.setattr(resource, "getrlimit", lambda which: (1, resource.RLIM_INFINITY))
    assert free.available_memory() == 0
    with pytest.raises(MemoryError, match="above the limit of 0 MB"):
        paper_consensus(TABLE)


def test_the_limit_of_a_container_counts_with_its_cache(monkeypatch, tmp_path):
    for name, text in [("max", "1000000"), ("current", "900000"), ("stat", "anon 5\ninactive_file 300000\n")]:
        (tmp_path / name).write_text(text)
    version2 = tuple(str(tmp_path / name) for name in ("max", "current", "stat"))
    monkeypatch.setattr(free, "CONTAINER", (version2,))
    assert free.available_memory() == 400_000
    (tmp_path / "max").write_text("max\n")
    assert free._container() is None


def test_machines_that_tell_nothing_set_no_limit(monkeypatch):
    def unknown(name):
        raise ValueError("unrecognized configuration name")

    monkeypatch.setattr(free, "_small_file", lambda path: "")
    monkeypatch.setattr(free.os, "sysconf", unknown)
    monkeypatch.setitem(sys.modules, "resource", None)
    assert free.available_memory() is None
    assert len(paper_consensus(TABLE)) == 3


def test_quorums_are_exact_fractions():
    assert check_quorum(0.29) * 100 == 29
    assert check_quorum(1 / 3) == Fraction(1, 3)
    assert check_quorum(Fraction(2, 7)) == Fraction(2, 7)


BINARY = np.kron(np.eye(2, dtype=int), np.ones((10, 6), int))


HALVES = [0] * 10 + [1] * 10


def consensus(matrix, weights, **options):
    return bc.find_consensus(bc.Pool.from_matrix(matrix, weights=weights), min_elements=2, min_candidates=2, **options)


@pytest.mark.parametrize("weight", [1e-300, 2.0**-200, 1e12, 1e300])
@pytest.mark.parametrize("solver", sorted(SOLVERS))
def test_every_solver_takes_extreme_weights(solver, weight):
    c = consensus(BINARY, np.full(12, weight), solver=solver)
    assert c.labels.tolist() == HALVES
    assert c.gains == pytest.approx([30 * weight] * 2, rel=1e-12)
    assert c.objective == pytest.approx(0, abs=1e-9 * weight)
    assert (c.backing == 1).all()
    assert c.behind.max() == weight


@pytest.mark.parametrize("weight", [1e-300, 1e300])
@pytest.mark.parametrize("quorum", [0.123456789, 0.5, "auto"])
@pytest.mark.parametrize("method", ["greedy", "joint"])
def test_every_method_and_quorum_takes_extreme_weights(method, quorum, weight):
    for matrix in (BINARY, BINARY * 0.7):
        plain, extreme = (consensus(matrix, np.full(12, w), method=method, quorum=quorum) for w in (1.0, weight))
        assert plain.labels.tolist() == extreme.labels.tolist() == HALVES
        assert plain.settings == extreme.settings
        assert extreme.gains == pytest.approx(plain.gains * weight, rel=1e-12)
        assert extreme.backing == pytest.approx(plain.backing, rel=1e-12)


def test_tiny_weights_beside_huge_ones_do_not_vanish_from_the_result():
    c = consensus(BINARY, np.repeat([1e-300, 1e300], 6), quorum=0.5)
    assert c.labels.tolist() == [1] * 10 + [0] * 10
    assert c.gains.tolist() == pytest.approx([3e301, 3e-299])
    assert c.behind.toarray().max(axis=0).tolist() == pytest.approx([1e300, 1e-300], rel=1e-12)


@pytest.mark.parametrize("method", ["greedy", "joint"])
@pytest.mark.parametrize("quorum", [0.5, "auto"])
def test_gains_that_would_overflow_are_refused(method, quorum):
    with pytest.raises(ValueError, match=r"weights up to 1e\+307 make gains that overflow; divide them all by that"):
        consensus(BINARY, np.full(12, 1e307), method=method, quorum=quorum)


def test_ordinary_weights_are_used_as_they_are():
    c = consensus(BINARY, np.full(12, 2.0**30))
    assert c.gains.tolist() == [30 * 2.0**30] * 2
    lengths = consensus(BINARY, np.full(12, 2.0**40), stop="description_length").extraction["description_lengths"]
    assert lengths == [120 * 2.0**40, 60 * 2.0**40 + 16, 32.0]


@pytest.mark.parametrize(("value", "backing"), [(0.25, 0.25), (0.7, 0.7), (1.0, 1.0), (3.0, 1.0)])
def test_backing_of_real_values_is_the_mean_degree_of_membership(value, backing):
    c = paper_consensus(bc.Pool.from_matrix(BINARY * value + 0.0, weights=np.full(12, 2.0)), solver="quantile")
    assert c.backing == pytest.approx([backing] * 20)
    assert c.soft_membership()[0].tolist() == pytest.approx([backing, 0])


def test_backing_of_mixed_degrees_is_relative_to_the_largest():
    A = BINARY * np.array([2.0, 4.0, 4.0, 4.0, 2.0, 4.0] * 2)
    c = paper_consensus(bc.Pool.from_matrix(A))
    assert c.backing == pytest.approx([5 / 6] * 20)
