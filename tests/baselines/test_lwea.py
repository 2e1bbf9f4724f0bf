"""LWEA against plain dense formulas."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform
from sklearn.metrics import adjusted_rand_score

import biconsensus as bc
from biconsensus.baselines import get_baseline
from biconsensus.baselines._lwea import certainty


def dense_certainty(table: NDArray[np.int_]) -> list[NDArray[np.float64]]:
    """Certainty of each cluster of each column, from the definition."""
    found = []
    for column in table.T:
        values = []
        for label in np.unique(column):
            bits = 0.0
            for other in table.T:
                share = np.unique(other[column == label], return_counts=True)[1] / (column == label).sum()
                bits -= (share * np.log2(share)).sum()
            values.append(np.exp(-bits / (0.4 * table.shape[1])))
        found.append(np.array(values))
    return found


def test_certainty_is_that_of_the_definition(table: NDArray[np.int_]) -> None:
    assert certainty(bc.Pool.from_labels(table)) == pytest.approx(np.concatenate(dense_certainty(table)))


@pytest.mark.parametrize("n_groups", [2, 3, 5])
def test_lwea_is_average_linkage_of_the_weighted_co_occurrences(table: NDArray[np.int_], n_groups: int) -> None:
    weights = dense_certainty(table)
    S = np.mean(
        [(c[:, None] == c) * weights[j][np.unique(c, return_inverse=True)[1]] for j, c in enumerate(table.T)], axis=0
    )
    tree = linkage(squareform(S.max() - S, checks=False), "average")
    expected = fcluster(tree, n_groups, "maxclust")
    assert adjusted_rand_score(expected, get_baseline("lwea")(bc.Pool.from_labels(table), n_groups)) > 0.99


def test_nwca_divides_the_entropy_by_that_of_as_many_groups_as_the_source_has(table: NDArray[np.int_]) -> None:
    S = np.zeros((len(table), len(table)))
    for column, weights in zip(table.T, dense_certainty(table), strict=True):
        # exp(-H / 0.4) to the power of 0.4 / (0.07 log2 k) is exp(-H / log2 k / 0.07)
        sharp = weights ** (0.4 / (0.07 * np.log2(weights.size)))
        S += (column[:, None] == column) * sharp[np.unique(column, return_inverse=True)[1]]
    expected = fcluster(linkage(squareform(S.max() - S, checks=False), "average"), 4, "maxclust")
    assert adjusted_rand_score(expected, get_baseline("nwca")(table, 4)) > 0.99
