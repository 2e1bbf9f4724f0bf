"""The picture of the matrix as numbers."""

from __future__ import annotations

import numpy as np
import pytest

import biconsensus as bc
from biconsensus import plots
from biconsensus.plots._matrix import candidate_groups, element_order


@pytest.mark.parametrize("reorder", [False, True])
def test_matrix_image_is_the_matrix_where_it_fits(consensus: bc.Consensus, reorder: bool) -> None:
    image = plots.matrix_image(consensus, reorder, 1000, 1000)
    A = consensus.pool.to_matrix().toarray()
    if reorder:
        columns = np.argsort(
            np.where(candidate_groups(consensus) < 0, 99, candidate_groups(consensus)),
            kind="stable",
        )
        A = A[element_order(consensus)][:, columns]
        assert (np.diff(np.where(image.row_groups < 0, 99, image.row_groups)) >= 0).all()
    np.testing.assert_array_equal(image.shares, A)


def test_binned_matrix_image_keeps_the_mean(consensus: bc.Consensus) -> None:
    image = plots.matrix_image(consensus, True, 7, 5)
    assert image.shares.shape == (7, 5)
    sizes = np.outer(np.diff(image.row_edges), np.diff(image.column_edges))
    assert (image.shares * sizes).sum() == pytest.approx(consensus.pool.to_matrix().sum())
