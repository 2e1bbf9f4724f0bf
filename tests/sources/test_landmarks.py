"""Sources on landmarks: shapes, exact numbers of clusters, disconnected data, many rows, prediction."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score

from biconsensus.sources import _landmarks
from biconsensus.sources._default_pool import default_sources
from biconsensus.sources._landmarks import (
    DensityBasins,
    GuardedLinkage,
    LandmarkSource,
    NeighbourSpectral,
    WardCut,
    guarded_linkage,
    landmarks_of,
    one_label_a_place,
)
from biconsensus.sources._running import child_seeds, run_sources


def spirals(n: int = 150):
    rng = np.random.default_rng(0)
    t = np.sqrt(rng.uniform(0.1, 1, n)) * 3 * np.pi
    arm = np.c_[t * np.cos(t), t * np.sin(t)]
    return np.r_[arm, -arm] + rng.normal(0, 0.15, (2 * n, 2)), np.repeat([0, 1], n)


@pytest.mark.parametrize("method", [GuardedLinkage(2), NeighbourSpectral(2), DensityBasins(10, 8.0)])
def test_methods_of_the_neighbour_graph_follow_two_spirals(method):
    X, truth = spirals()
    found = LandmarkSource(method, 1000)(X, 0).labels
    assert adjusted_rand_score(truth, found) > (0.99 if not isinstance(method, DensityBasins) else 0.2)


@pytest.mark.parametrize("kind", [WardCut, GuardedLinkage])
@pytest.mark.parametrize("k", [1, 2, 7, 40])
def test_trees_are_cut_into_exactly_k_clusters(kind, k):
    X = np.random.default_rng(0).normal(size=(40, 3))
    assert np.unique(LandmarkSource(kind(k), 1000)(X, 0).labels).size == k


def test_the_guard_keeps_an_outlier_from_being_a_cluster_of_its_own():
    rng = np.random.default_rng(0)
    X = np.r_[rng.normal(0, 1, (60, 2)), rng.normal(9, 1, (60, 2)), [[60.0, 60.0]]]
    found = LandmarkSource(GuardedLinkage(2), 1000)(X, 0).labels
    assert sorted(np.bincount(found).tolist()) == [60, 61]


def test_the_guarded_linkage_is_single_linkage_while_sizes_are_equal():
    merges = guarded_linkage(np.array([0, 2, 4, 0, 2]), np.array([1, 3, 5, 2, 4]), 6)
    assert merges.tolist() == [[0, 1], [2, 3], [4, 5], [0, 2], [0, 4]]


def test_a_disconnected_neighbour_graph_still_has_one_tree():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(100 * c, 1, (40, 2)) for c in range(5)])
    sources, _ = landmarks_of(X, 1000).tree
    assert sources.size == len(X) - 1
    assert np.unique(LandmarkSource(GuardedLinkage(5), 1000)(X, 0).labels.reshape(5, 40), axis=1).shape == (5, 1)


@pytest.mark.parametrize("method", [WardCut(3), GuardedLinkage(3), NeighbourSpectral(3), DensityBasins(10, 2.5)])
def test_rows_beyond_the_landmarks_follow_the_nearest_one_and_so_do_new_rows(method):
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], 200)
    X = 20.0 * truth[:, None] + rng.normal(size=(600, 2))
    found = LandmarkSource(method, 150)(X, 0)
    assert adjusted_rand_score(truth, found.labels) == 1.0
    assert np.array_equal(found.predictor.predict(X), found.labels)


def test_few_landmarks_are_some_of_the_many_and_rows_go_by_way_of_these(monkeypatch):
    monkeypatch.setattr(_landmarks, "GRAPH_LANDMARKS", 200)
    rng = np.random.default_rng(1)
    X, new = rng.normal(size=(900, 3)) * [1.0, 50.0, 1.0], rng.normal(size=(40, 3))
    many, few = landmarks_of(X, 200), landmarks_of(X, 60)
    assert {tuple(point) for point in few.points} <= {tuple(point) for point in many.points}
    distances = ((many.points[:, None] - few.points) ** 2).sum(axis=2)
    assert np.array_equal(few.nearest, distances.argmin(axis=1)[many.nearest])
    assert np.array_equal(few.nearest_to(X), few.nearest)
    assert np.array_equal(few.nearest_to(new), distances.argmin(axis=1)[many.nearest_to(new)])


@pytest.mark.parametrize("columns", [3, 20])
def test_the_nearest_landmark_is_the_nearest(columns):
    X = np.random.default_rng(2).normal(size=(300, columns))
    marks = landmarks_of(X, 100)
    assert np.array_equal(marks.nearest, ((X[:, None] - marks.points) ** 2).sum(axis=2).argmin(axis=1))


def test_landmarks_are_kept_once_and_only_a_few_of_them():
    X = np.random.default_rng(0).normal(size=(50, 2))
    marks, before = landmarks_of(X, 1000), X.copy()
    assert marks is landmarks_of(X.copy(), 1000)
    X += 1.0
    assert np.array_equal(marks.points, before), "what the user does with the data later changes nothing"
    for seed in range(_landmarks.KEPT + 1):
        landmarks_of(np.random.default_rng(seed).normal(size=(20, 2)), 1000)
    assert len(_landmarks._KNOWN) == _landmarks.KEPT


@pytest.mark.parametrize("method", [WardCut(2), GuardedLinkage(2), NeighbourSpectral(2), DensityBasins(10, 1.5)])
def test_copies_and_few_rows_are_no_trouble(method):
    assert LandmarkSource(method, 1000)(np.zeros((12, 2)), 0).labels.shape == (12,)
    assert LandmarkSource(method, 1000)(np.array([[0.0], [1.0], [5.0]]), 0).labels.shape == (3,)


def test_equal_rows_have_one_label_in_every_source():
    rng = np.random.default_rng(0)
    points = rng.integers(0, 3, (120, 2)).astype(float)
    places = np.unique(points, axis=0, return_inverse=True)[1].ravel()
    sources = default_sources(points)
    assert any(source.params.get("n_clusters", 0) > places.max() + 1 for source in sources), (
        "more than there are places"
    )
    for result in run_sources(sources, points, child_seeds(0, len(sources)), n_elements=120):
        assert result.ok
        pairs = np.unique(np.stack([places, result.labels]), axis=1)
        assert pairs.shape[1] == places.max() + 1, result.name


@given(st.lists(st.tuples(st.integers(-1, 3), st.integers(0, 4)), min_size=1, max_size=30))
def test_the_label_of_a_place_is_its_most_common_one(pairs):
    labels, given_places = np.array(pairs).T
    places = np.unique(given_places, return_inverse=True)[1]
    found = one_label_a_place(labels, places)
    for place in np.unique(places):
        here = labels[places == place].tolist()
        most = max(here.count(label) for label in here)
        assert set(found[places == place].tolist()) == {min(label for label in here if here.count(label) == most)}


def _data_of(kind: str):
    rng = np.random.default_rng(0)
    if kind == "cloud":
        return rng.normal(size=(300, 8))
    if kind == "two clouds":
        return np.r_[rng.normal(0, 1, (150, 8)), rng.normal(40, 1, (150, 8))]
    return np.sort(rng.uniform(0, 100, 3000))[:, None] * [1.0, 0.0]


@pytest.mark.parametrize(("kind", "inverses"), [("cloud", [False]), ("two clouds", [True]), ("curve", [False, True])])
def test_the_embedding_has_the_largest_eigenvalues_and_inverts_only_where_it_must(kind, inverses, monkeypatch):
    marks = landmarks_of(_data_of(kind), 10_000)
    calls, solve = [], _landmarks.eigsh
    monkeypatch.setattr(_landmarks, "eigsh", lambda *args, **how: calls.append("sigma" in how) or solve(*args, **how))
    found = marks.embedding
    assert calls == inverses
    degrees = np.asarray(marks.graph.sum(axis=1)).ravel()
    vectors = found * np.sqrt(degrees)[:, None]
    walk = marks.graph.toarray() / np.sqrt(degrees[:, None] * degrees)
    values = np.linalg.eigvalsh(walk)[::-1][: found.shape[1]]
    np.testing.assert_allclose(vectors.T @ walk @ vectors, np.diag(values), atol=1e-7)


def test_where_arpack_gives_up_a_small_matrix_is_decomposed_as_a_whole(monkeypatch):
    """Two places with fifty points each: four different eigenvalues, which are too few for SciPy before 1.17."""

    def gives_up(*args, **how):
        raise _landmarks.ArpackError(3)

    marks = landmarks_of(np.repeat([[0.0, 0.0], [9.0, 0.0]], 50, axis=0), 10_000)
    monkeypatch.setattr(_landmarks, "eigsh", gives_up)
    found = marks.embedding[:, :2]
    places = np.repeat([0, 1], 50)
    assert all(np.ptp(found[places == place], axis=0).max() < 1e-9 for place in (0, 1))
    assert np.abs(found[0] - found[-1]).max() > 1e-3
    monkeypatch.setattr(_landmarks, "MOST_DENSE", 99)
    with pytest.raises(_landmarks.ArpackError):
        np.asarray(landmarks_of(np.repeat([[0.0, 0.0], [9.0, 1.0]], 50, axis=0), 10_000).embedding)
