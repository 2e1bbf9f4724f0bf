"""Subspaces against brute force: dense sampling, counting, independent formulas."""

from __future__ import annotations

import numpy as np

from biconsensus.models import (
    SubspaceModel,
)


def test_subspace_distance_is_the_projection_error():
    rng = np.random.default_rng(6)
    theta = SubspaceModel(2).fit(rng.normal(size=(4, 3, 6)))
    data = rng.normal(size=(20, 6))
    for k, row in enumerate(theta):
        basis = row[6:].reshape(6, 2)
        gap = (data - row[:6]) @ (np.eye(6) - basis @ basis.T)
        np.testing.assert_allclose(
            SubspaceModel(2).residuals(theta, data)[:, k], np.linalg.norm(gap, axis=1), atol=1e-7
        )
