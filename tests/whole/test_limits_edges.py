"""Extreme weights with every solver and method, and real values as degrees of membership."""

import numpy as np
import pytest

import biconsensus as bc
from biconsensus.solvers import SOLVERS

BINARY = np.kron(np.eye(2, dtype=int), np.ones((10, 6), int))
HALVES = [0] * 10 + [1] * 10


def consensus(matrix, weights, **options):
    return bc.find_consensus(bc.Pool.from_matrix(matrix, weights=weights), 2, 2, **options)


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
    c = consensus(BINARY, np.repeat([1e-300, 1e300], 6))
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
    c = bc.find_consensus(bc.Pool.from_matrix(BINARY * value + 0.0, weights=np.full(12, 2.0)), solver="quantile")
    assert c.backing == pytest.approx([backing] * 20)
    assert c.soft_membership()[0].tolist() == pytest.approx([backing, 0])


def test_backing_of_mixed_degrees_is_relative_to_the_largest():
    A = BINARY * np.array([2.0, 4.0, 4.0, 4.0, 2.0, 4.0] * 2)
    c = bc.find_consensus(bc.Pool.from_matrix(A))
    assert c.backing == pytest.approx([5 / 6] * 20)
