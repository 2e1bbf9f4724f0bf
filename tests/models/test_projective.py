"""Small linear algebra of projective models."""

from __future__ import annotations

import numpy as np

from biconsensus.models._projective import adjugate


def test_a_matrix_times_its_adjugate_is_its_determinant() -> None:
    matrices = np.random.default_rng(0).normal(size=(5, 3, 3))
    matrices[4, 2] = matrices[4, 0] + matrices[4, 1]  # singular
    expected = np.linalg.det(matrices)[:, None, None] * np.eye(3)
    np.testing.assert_allclose(adjugate(matrices) @ matrices, expected, atol=1e-12)
