"""Classical NMF of rank one against its definition."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from biconsensus.solvers._frobenius import leading_pair
from tests.helpers.solver_problems import planted


def test_leading_pair_is_the_best_rank_one_factor() -> None:
    A = np.random.default_rng(0).random((8, 6))
    left, value, right = leading_pair(csr_array(A))
    energy = np.linalg.svd(A, compute_uv=False) ** 2
    assert ((A - value * np.outer(left, right)) ** 2).sum() == pytest.approx(energy[1:].sum())
    assert (left > 0).all()
    assert (right > 0).all()


def test_leading_pair_keeps_to_one_component_where_singular_values_tie() -> None:
    A = planted([(4, 4), (4, 4)]).astype(float)
    left, value, right = leading_pair(csr_array(A))
    assert value == pytest.approx(4.0)
    assert np.count_nonzero(left) == 4
    assert np.count_nonzero(right) == 4


def test_leading_pair_of_a_large_matrix_is_found_without_making_it_dense() -> None:
    A = planted([(150, 130), (140, 120)]).astype(float)
    left, value, right = leading_pair(csr_array(A))
    assert value == pytest.approx(np.sqrt(150 * 130))
    assert np.flatnonzero(left).tolist() == list(range(150))
    assert np.flatnonzero(right > 1e-9).tolist() == list(range(130))
