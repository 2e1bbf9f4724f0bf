"""Input that cannot be used says which argument, what came and what is allowed."""

import io
import sys
import zipfile
from fractions import Fraction

import numpy as np
import pytest

import biconsensus as bc
from biconsensus._checks import check_finite, check_indices, check_quorum
from biconsensus.pool.weights._quality import by_quality
from biconsensus.result import _storage as storage
from biconsensus.solvers import get_solver


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: bc.Pool.from_matrix([1, 0, 1]), ValueError, "2 dimensions"),
        (lambda: bc.Pool.from_matrix([["a", "b"]]), TypeError, "bool or real"),
        (lambda: bc.Pool.from_groups([[0], [1]], 2, sources=["a"]), ValueError, "1 values for 2 candidates"),
        (lambda: bc.Pool.from_groups([[0], [1]], 2, seen=np.ones((2, 3), bool)), ValueError, r"shape \(2, 3\)"),
        (lambda: bc.Pool.from_groups([[0], [1]], 2, names=["a"]), ValueError, "names has 1 values; 2 are needed"),
        (lambda: bc.Pool.from_groups([[0], [5]], 2), ValueError, "group 1 contains 5; allowed are 0 to 1"),
        (lambda: bc.Pool.from_groups([[0.5]], 2), TypeError, "whole numbers"),
        (lambda: bc.Pool.from_labels([[0, 1]], ids=[1, 2, 3]), ValueError, r"ids has shape \(3,\)"),
        (lambda: bc.Pool.from_labels([[0, np.inf]]), ValueError, "infinite label"),
        (lambda: bc.Pool.from_labels([np.zeros((2, 2))]), ValueError, "must have 1 dimension"),
        (lambda: bc.Pool.from_labels([]), ValueError, "0 groupings"),
        (lambda: bc.Pool.from_labels([[0, 1]]) + bc.Pool.from_labels([[0]]), ValueError, "they have 2 and 1"),
        (
            lambda: bc.Pool.from_labels([[0, 1]], ids=["a", "b"]) + bc.Pool.from_labels([[0, 1]], ids=["b", "a"]),
            ValueError,
            "their ids differ",
        ),
        (lambda: bc.Pool.from_labels([[0, 1]]) + 3, TypeError, "unsupported operand"),
        (lambda: check_indices("elements", [True, False], 3), ValueError, "mask of length 2"),
        (lambda: by_quality([np.nan]), ValueError, "finite"),
        (lambda: by_quality([1.0, 2.0])(bc.Pool.from_labels([[0, 1]])), ValueError, "2 values for 1 sources"),
    ],
)
def test_errors_name_the_argument(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_forms_of_input_that_are_easily_forgotten():
    assert bc.Pool.from_labels(np.array([0, 0, 1])).shape == (3, 2)
    assert bc.Pool.from_labels([0, 0, 1]).shape == (3, 2)
    everything = bc.Pool.from_groups([[0], [1]], 2, seen=np.ones((2, 2), bool))
    assert everything.unseen is None
    by_candidate = bc.Pool.from_groups([[0], [1]], 2, sources=["a", "a"], seen=np.eye(2, dtype=bool))
    assert by_candidate.seen_sizes.tolist() == [1, 1]
    mixed = bc.Pool.from_labels([["b", 1, "a"]])
    assert mixed.names == ("source 0: 1", "source 0: a", "source 0: b")
    with_code = bc.Pool.from_labels([[0.0, 9.0, 1.0]], missing=9)
    assert with_code.seen_sizes.tolist() == [2, 2]


def test_texts_of_pools():
    assert repr(bc.Pool.from_labels([[0, 0, 1]])) == "Pool(3 elements in 2 distinct rows, 2 candidates of 1 sources)"


def test_good_values_pass_unchanged():
    X = np.ones((2, 2))
    assert check_finite(X) is X
    assert check_quorum(Fraction(1, 3)) == Fraction(1, 3)
    assert check_quorum(0.29) == Fraction(29, 100)


def test_a_solver_object_is_taken_as_it_is():
    solver = get_solver("vote")
    assert get_solver(solver) is solver


def test_a_frame_needs_pandas(monkeypatch):
    c = bc.find_consensus([[0] * 8] * 4)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"pip install 'biconsensus\[tables\]'"):
        c.to_frame()


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "result.bic"
    bc.find_consensus([[0, 0, 1, 1, None]] * 3 + [[0, 0, 1, 1, -1]], min_elements=2).save(path)
    return path


def with_array(path, name, array):
    """The saved file with one array replaced."""
    with zipfile.ZipFile(path) as archive:
        parts = {entry: archive.read(entry) for entry in archive.namelist()}
    buffer = io.BytesIO()
    np.save(buffer, array)
    parts[f"{name}.npy"] = buffer.getvalue()
    with zipfile.ZipFile(path, "w") as archive:
        for entry, content in parts.items():
            archive.writestr(entry, content)
    return path


@pytest.mark.parametrize(
    ("name", "array", "message"),
    [
        ("rows.indptr", np.array([0, 4, 2, 12]), "row borders|points outside|expected"),
        ("rows.data", np.full(12, np.nan), "expected|finite"),
        ("weights", np.full(8, np.nan), "finite numbers"),
        ("gains", np.zeros(5), "finite numbers"),
        ("unseen.shape", np.array([3, 10**12]), "fits neither"),
        ("candidate_counts", np.array([1, 1]), "do not fit their counts"),
        ("inverse", np.zeros(5), "expected 5 indices"),
        ("source_of", np.full(8, 99), "points outside"),
    ],
)
def test_saved_arrays_are_checked(saved, name, array, message):
    with pytest.raises(bc.errors.FileFormatError, match=message):
        bc.Consensus.load(with_array(saved, name, array))


def test_entries_that_are_not_numbers_are_refused(saved):
    with zipfile.ZipFile(saved) as archive:
        data = np.load(io.BytesIO(archive.read("rows.data.npy")))
    with pytest.raises(bc.errors.FileFormatError, match="finite numbers"):
        bc.Consensus.load(with_array(saved, "rows.data", np.full(data.size, np.nan)))
    borders = np.array([0, data.size, 0, data.size])
    with zipfile.ZipFile(saved) as archive:
        size = np.load(io.BytesIO(archive.read("rows.indptr.npy"))).size
    with pytest.raises(bc.errors.FileFormatError, match=r"finite numbers|row borders"):
        bc.Consensus.load(with_array(saved, "rows.indptr", np.resize(borders, size)))


def test_a_file_that_would_not_fit_into_memory_is_refused(saved, monkeypatch):
    monkeypatch.setattr(storage, "available_memory", lambda: 100)
    with pytest.raises(bc.errors.FileFormatError, match="only 100 are free"):
        bc.Consensus.load(saved)


def test_a_forged_size_is_refused(saved):
    content = bytearray(saved.read_bytes())
    place = content.rfind(b"PK\x01\x02") + 24  # unpacked size in the last entry of the directory
    content[place : place + 4] = (10**9).to_bytes(4, "little")
    saved.write_bytes(bytes(content))
    with pytest.raises(bc.errors.FileFormatError, match="refused"):
        bc.Consensus.load(saved)
