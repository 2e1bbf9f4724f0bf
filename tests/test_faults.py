"""Bad input, one test for each row of the table of faults that concerns the engine, numbered alike.

Rows of other parts stand with those parts: base algorithms (26 to 30) in tests/sources, models (32, 33, 36) in
tests/sources and tests/estimators, graphs (34, 35) in tests/test_graphs.py, files and reports (37 to 40) in
tests/core, tests/report, tests/cli and tests/test_io.py.
"""

import warnings

import numpy as np
import pytest
from scipy.sparse import csr_array

import biconsensus as bc
from biconsensus.core.diagnostics import diagnose
from biconsensus.solvers import get_solver
from biconsensus.validation import check_finite

TRUTH = np.repeat([0, 1, 2], [12, 10, 8])
TABLE = np.stack([TRUTH] * 4 + [np.minimum(TRUTH, 1)], axis=1)
MATRIX = bc.Pool.from_labels(TABLE).to_matrix().toarray()


def labels_of(*args, **options):
    return bc.find_consensus(*args, **options).labels.tolist()


def no_group(match, *args, **options):
    """All -1 with a warning."""
    with pytest.warns(bc.errors.NoConsensusWarning, match=match):
        c = bc.find_consensus(*args, **options)
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


@pytest.mark.parametrize("bad", [np.nan, np.inf, -1.0])
def test_02_bad_weight_or_entry(bad):
    with pytest.raises(ValueError, match="candidate 1 has"):
        bc.Pool.from_groups([[0], [1]], n_elements=2, weights=[1.0, bad])
    with pytest.raises(ValueError, match="candidate 1 has"):
        bc.Pool.from_matrix(np.array([[0.0, bad]]))
    with pytest.raises(ValueError, match="candidate 1 has"):
        bc.find_consensus(TABLE, weights=[1.0, bad, 1.0, 1.0, 1.0])


def test_03_empty_input():
    with pytest.raises(ValueError, match=r"0 elements \(axis 0\)"):
        bc.find_consensus(np.zeros((0, 3), int))
    with pytest.raises(ValueError, match=r"axis 1"):
        bc.find_consensus(np.zeros((3, 0), int))
    with pytest.raises(ValueError, match=r"0 candidates \(axis 1\)"):
        bc.find_consensus([[-1, -1, -1]])
    with pytest.raises(ValueError, match=r"0 candidates \(axis 1\)"):
        bc.Pool.from_groups([], n_elements=3)
    with pytest.raises(ValueError, match=r"0 elements \(axis 0\)"):
        bc.Pool.from_groups([[]], n_elements=0)


def test_04_one_element():
    no_group("1 elements, fewer than min_elements=7", [[0]] * 5)


def test_05_all_zero_matrix():
    no_group("every candidate of the pool is empty", bc.Pool.from_matrix(np.zeros((20, 6))))


def test_06_an_element_in_no_candidate():
    with_stray = np.vstack([TABLE, np.full(5, -1)])
    assert labels_of(with_stray) == [*labels_of(TABLE), -1]


def test_07_an_empty_candidate_never_joins():
    pool = bc.Pool.from_matrix(np.hstack([MATRIX, np.zeros((30, 3))]))
    c = bc.find_consensus(pool)
    assert max(b.candidates.max() for b in c.biclusters) < MATRIX.shape[1]
    assert diagnose(pool).empty.size == 3
    assert c.labels.tolist() == labels_of(bc.Pool.from_matrix(MATRIX))


def test_08_a_candidate_that_contains_everything_is_kept_until_cleaned():
    pool = bc.Pool.from_labels(np.hstack([TABLE, np.zeros((30, 1), int)]))
    assert pool.shape[1] == MATRIX.shape[1] + 1
    assert "source 5: 0" in pool.names
    assert "source 5: 0" not in pool.clean().names


def test_09_identical_candidates_are_all_listed():
    c = bc.find_consensus(TABLE)
    listed = {bc.Pool.from_labels(TABLE).names[j] for j in c.biclusters[c.labels[0]].candidates}
    assert listed == {f"source {k}: 0" for k in range(5)}
    assert c.labels.tolist() == labels_of(TABLE[:, [0, 1, 2, 3, 4, 0]])


def test_10_duplicate_elements_share_a_label():
    twice = np.vstack([TABLE, TABLE])
    labels = np.array(labels_of(twice))
    assert np.array_equal(labels[:30], labels[30:])


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_11_extreme_weights(scale):
    c = bc.find_consensus(bc.Pool.from_labels(TABLE, weights=[scale] * 5))
    assert np.isfinite(c.gains).all()
    assert np.isfinite(c.objective)
    assert c.labels.tolist() == labels_of(TABLE)
    mixed = bc.find_consensus(bc.Pool.from_labels(TABLE, weights=[1e-300, 1e300, 1, 1, 1]), min_candidates=1)
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


def test_14_15_unsorted_duplicate_and_stored_zero_entries():
    A = csr_array((np.array([1.0, 1.0, 0.0]), np.array([2, 0, 1]), np.array([0, 2, 3])), shape=(2, 3))
    data, indices = A.data.copy(), A.indices.copy()
    assert bc.Pool.from_matrix(A).to_matrix().toarray().tolist() == [[1, 0, 1], [0, 0, 0]]
    assert np.array_equal(A.data, data)
    assert np.array_equal(A.indices, indices)


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
        bc.find_consensus([[0, 0, 1], [0, 1]])


def test_18_minus_one_votes_against():
    table = TABLE.copy()
    table[0, :3] = -1
    assert labels_of(table)[0] == -1


def test_19_missing_does_not_vote():
    table = TABLE.astype(float)
    table[0, :3] = np.nan
    c = bc.find_consensus(table)
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
    plain, permuted = bc.find_consensus(TABLE), bc.find_consensus(TABLE[rows][:, columns])
    assert plain.objective == permuted.objective
    assert permuted.labels.tolist() == plain.labels[rows].tolist()


def test_24_jobs():
    assert labels_of(TABLE, n_jobs=1) == labels_of(TABLE, n_jobs=2)


def test_25_a_solver_that_does_not_converge():
    solver = get_solver("admm", max_iter=2)
    with pytest.warns(bc.errors.ConvergenceWarning, match="residual"):
        bc.find_consensus(TABLE, solver=solver, min_elements=1, min_candidates=1)
    assert solver.n_iter_ == 2


def test_31_memory_is_estimated_before_it_is_allocated():
    with pytest.raises(MemoryError, match=r"would need about .* MB, above the limit of 0 MB"):
        bc.find_consensus(TABLE, memory_limit=1000)
    wide = bc.Pool.from_groups([[j, j + 1] for j in range(200_000)], n_elements=200_001)
    with pytest.raises(MemoryError, match="AdmmSolver on 200001 rows x 200000 columns would need"):
        bc.find_consensus(wide, solver="admm")


def test_41_unknown_names_list_the_valid_ones():
    with pytest.raises(ValueError, match=r"unknown solver 'vot'. Did you mean 'vote'\? Valid names: .*exact"):
        bc.find_consensus(TABLE, solver="vot")
    with pytest.raises(ValueError, match=r"unknown method 'greed'. Did you mean 'greedy'"):
        bc.find_consensus(TABLE, method="greed")
    with pytest.raises(ValueError, match=r"unknown weight rule 'sizes'. Did you mean 'size'"):
        bc.find_consensus(TABLE, weights="sizes")


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
        ({"weights": [1, 2]}, ValueError, "2 values for 14 candidates"),
    ],
)
def test_other_arguments_are_checked(options, error, message):
    with pytest.raises(error, match=message):
        bc.find_consensus(TABLE, **options)


@pytest.mark.parametrize("labels", [3, csr_array(MATRIX), np.zeros((2, 2, 2))])
def test_what_is_no_label_table_is_refused(labels):
    with pytest.raises((TypeError, ValueError), match="labels"):
        bc.find_consensus(labels)


def test_no_fault_is_silent():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(bc.find_consensus(TABLE)) == 3
