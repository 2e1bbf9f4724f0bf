"""Input that cannot be used says which argument, what came and what is allowed."""

import sys
from fractions import Fraction

import numpy as np
import pytest

import biconsensus as bc
from biconsensus._checks import check_finite, check_indices, check_quorum, need
from biconsensus.errors import MissingDependencyError
from biconsensus.pool.weights._quality import by_quality
from biconsensus.solvers import get_solver
from tests.helpers.strategies import paper_consensus


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: bc.Pool.from_matrix([1, 0, 1]), ValueError, "2 dimensions"),
        (lambda: bc.Pool.from_matrix([["a", "b"]]), TypeError, "bool or real"),
        (lambda: bc.Pool.from_groups([[0], [1]], 2, sources=["a"]), ValueError, "1 value for 2 candidates"),
        (lambda: bc.Pool.from_groups([[0], [1]], 2, seen=np.ones((2, 3), bool)), ValueError, r"shape \(2, 3\)"),
        (lambda: bc.Pool.from_groups([[0], [1]], 2, names=["a"]), ValueError, "names has 1 value; the pool needs 2"),
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
        (lambda: by_quality([1.0, 2.0])(bc.Pool.from_labels([[0, 1]])), ValueError, "2 values for 1 source"),
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
    assert repr(bc.Pool.from_labels([[0, 0, 1]])) == "Pool(3 elements in 2 distinct rows, 2 candidates of 1 source)"


def test_good_values_pass_unchanged():
    X = np.ones((2, 2))
    assert check_finite(X) is X
    assert check_quorum(Fraction(1, 3)) == Fraction(1, 3)
    assert check_quorum(0.29) == Fraction(29, 100)


def test_a_solver_object_is_taken_as_it_is():
    solver = get_solver("vote")
    assert get_solver(solver) is solver


def test_a_frame_needs_pandas(monkeypatch):
    c = paper_consensus([[0] * 8] * 4)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"pip install 'biconsensus\[tables\]'"):
        c.to_frame()


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("cv2", "opencv-python-headless"),
        ("sknetwork.clustering.leiden", "scikit-network"),
        ("pyarrow.parquet", "pyarrow"),
        ("pandas", "pandas"),
    ],
)
def test_what_is_not_installed_is_named_as_it_is_installed(
    module: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(
        MissingDependencyError, match=rf"^{name} is not installed; get it with: pip install 'bicon.*\[x\]'"
    ):
        need(module, "x")
