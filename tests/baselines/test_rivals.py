"""Rivals of the accuracy benchmark against plain dense formulas."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, make_blobs
from sklearn.metrics import adjusted_rand_score

import biconsensus as bc
from biconsensus.baselines import get_baseline
from biconsensus.baselines._lwea import certainty
from biconsensus.errors import InputError
from biconsensus.quorum._walk import walk_coordinates


def runs(data: NDArray[np.float64], n_runs: int = 8) -> NDArray[np.int_]:
    rng = np.random.default_rng(0)
    ks = rng.integers(2, 9, n_runs)
    return np.column_stack([KMeans(int(k), n_init=1, random_state=j).fit_predict(data) for j, k in enumerate(ks)])


@pytest.fixture(scope="module")
def table() -> NDArray[np.int_]:
    return runs(load_iris().data)


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


def test_walk_coordinates_are_eigenvectors_of_the_bipartite_walk(table: NDArray[np.int_]) -> None:
    pool = bc.Pool.from_labels(table)
    A = pool.to_matrix().toarray()
    W = A / np.sqrt(A.sum(axis=1, keepdims=True) * A.sum(axis=0))
    left, values, _ = np.linalg.svd(W, full_matrices=False)
    expected = left[:, :3] * values[:3] / np.sqrt(A.sum(axis=1, keepdims=True))
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    found = walk_coordinates(pool.rows, pool.counts, pool.weights, 3)[pool.inverse]
    # eigenvectors have no sign and the axes no order, so compare angles between rows
    assert found @ found.T == pytest.approx(expected @ expected.T, abs=1e-8)


@pytest.mark.parametrize("name", ["lwea", "lwgp", "usenc", "hbgf", "kmeans_matrix", "evidence_accumulation"])
def test_clear_groups_are_found_by_all(name: str) -> None:
    data, truth = make_blobs(200, centers=5, cluster_std=0.4, random_state=2)
    pool = bc.Pool.from_labels(runs(data))
    assert adjusted_rand_score(truth, get_baseline(name)(pool, 5, random_state=0)) > 0.8


@pytest.mark.parametrize("name", ["lwgp", "usenc", "hbgf", "kmeans_matrix"])
def test_those_that_cannot_count_say_so(name: str, table: NDArray[np.int_]) -> None:
    with pytest.raises(InputError, match="n_groups"):
        get_baseline(name)(bc.Pool.from_labels(table))


def test_k_means_on_distinct_rows_is_k_means_on_all_rows(table: NDArray[np.int_]) -> None:
    pool = bc.Pool.from_labels(table)
    A = pool.to_matrix().toarray()

    def within(labels: NDArray[np.int_]) -> float:
        return sum(((A[labels == t] - A[labels == t].mean(axis=0)) ** 2).sum() for t in np.unique(labels))

    ours = within(get_baseline("kmeans_matrix")(pool, 4, random_state=0))
    assert ours <= 1.01 * KMeans(4, n_init=10, random_state=0).fit(A).inertia_


def test_louvain_finds_the_blobs_without_their_number() -> None:
    pytest.importorskip("sknetwork")
    data, truth = make_blobs(200, centers=4, cluster_std=0.4, random_state=2)
    labels = get_baseline("louvain_matrix")(bc.Pool.from_labels(runs(data)), random_state=0)
    assert adjusted_rand_score(truth, labels) > 0.8


def test_ecg_weights_edges_by_the_share_of_sources_that_keep_them() -> None:
    pytest.importorskip("sknetwork")
    cliques = [(i, j) for base in (0, 6) for i in range(base, base + 6) for j in range(i + 1, base + 6)]
    truth = np.repeat([0, 1], 6)
    edges = [*cliques, (0, 6), (1, 7), (2, 8)]
    pool = bc.Pool.from_labels([truth, truth, np.zeros(12, int)])
    assert adjusted_rand_score(truth, get_baseline("ecg")(pool, graph=edges, random_state=0)) == 1.0
    with pytest.raises(InputError, match="graph"):
        get_baseline("ecg")(pool)
