"""Average linkage of units with multiplicities against SciPy on the elements themselves."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import pdist, squareform

from biconsensus.quorum._linkage import average_tree, cut_tree


@pytest.mark.parametrize("seed", range(3))
def test_tree_of_units_is_that_of_their_elements(seed: int) -> None:
    rng = np.random.default_rng(seed)
    points, counts = rng.normal(size=(12, 3)), rng.integers(1, 5, 12)
    tree = average_tree(squareform(pdist(points)), counts)
    elements = linkage(pdist(np.repeat(points, counts, axis=0)), "average")
    assert tree[:, 2] == pytest.approx(elements[-11:, 2])
    for n_groups in (2, 4, 7):
        ours = np.repeat(fcluster(tree, n_groups, "maxclust"), counts)
        theirs = fcluster(elements, n_groups, "maxclust")
        assert np.unique(np.column_stack([ours, theirs]), axis=0).shape[0] == n_groups
        assert (
            np.unique(np.column_stack([np.repeat(cut_tree(tree, n_groups), counts), theirs]), axis=0).shape[0]
            == n_groups
        )


@pytest.mark.parametrize("n_groups", range(1, 8))
def test_equal_heights_are_cut_exactly(n_groups: int) -> None:
    tree = average_tree(np.ones((7, 7)), np.ones(7, int))
    assert np.unique(cut_tree(tree, n_groups)).tolist() == list(range(n_groups))
