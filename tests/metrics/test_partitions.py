"""Scores of partitions against scikit-learn, brute force and figures of the paper."""

from __future__ import annotations

from itertools import permutations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as sk
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris

from biconsensus import find_consensus, metrics
from biconsensus.errors import InputError, InputTypeError, UnknownNameError
from biconsensus.metrics._partitions import nmi_of_counts

label_pairs = st.integers(1, 40).flatmap(
    lambda m: st.tuples(*[st.lists(st.integers(-1, 4), min_size=m, max_size=m).map(np.array)] * 2)
)


@given(label_pairs)
def test_partition_scores_are_those_of_scikit_learn(pair):
    truth, labels = pair
    assert metrics.nmi(truth, labels) == pytest.approx(sk.normalized_mutual_info_score(truth, labels), abs=1e-9)
    assert metrics.ari(truth, labels) == pytest.approx(sk.adjusted_rand_score(truth, labels), abs=1e-9)
    # equal partitions agree fully; scikit-learn before 1.7 says 0 where all are singletons
    same = np.unique(np.column_stack(pair), axis=0).shape[0] == np.unique(truth).size == np.unique(labels).size
    expected = 1.0 if same else sk.adjusted_mutual_info_score(truth, labels)
    assert metrics.ami(truth, labels) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("convert", [lambda v: v.astype(str), lambda v: v * 10**12, lambda v: v / 7, list])
def test_any_labels_serve(convert):
    rng = np.random.default_rng(0)
    truth, labels = rng.integers(0, 5, 200), rng.integers(0, 4, 200)
    for score in (metrics.nmi, metrics.ari, metrics.ami):
        assert score(convert(truth), labels) == pytest.approx(score(truth, labels), abs=1e-12)


def test_many_groups_take_the_sparse_way():
    rng = np.random.default_rng(1)
    truth, labels = rng.integers(0, 900, 1000), rng.integers(0, 900, 1000)
    assert metrics.nmi(truth, labels) == pytest.approx(sk.normalized_mutual_info_score(truth, labels))


@given(label_pairs, st.sampled_from([0.5, 1.0, 2.0]))
def test_f_measure_is_the_best_f_of_each_class(pair, beta):
    truth, labels = pair
    total = score = 0.0
    for k in set(truth[truth != -1]):
        best = 0.0
        for g in set(labels[labels != -1]):
            both = np.sum((truth == k) & (labels == g))
            if both:
                p, r = both / np.sum(labels == g), both / np.sum(truth == k)
                best = max(best, (1 + beta**2) * p * r / (beta**2 * p + r))
        total += np.sum(truth == k)
        score += np.sum(truth == k) * best
    assert metrics.f_measure(truth, labels, beta) == pytest.approx(score / total if total else 0.0)


@settings(max_examples=15, deadline=None)
@given(label_pairs)
def test_misclassification_is_the_best_of_all_matchings(pair):
    truth, labels = pair
    names = [*range(5), *range(100, 105)]
    best = 0
    for choice in permutations(names, 3):
        # matching three of the groups at a time is enough for labels folded into 0, 1, 2
        mapped = np.where(labels % 3 == 0, choice[0], np.where(labels % 3 == 1, choice[1], choice[2]))
        mapped[labels == -1] = -1
        best = max(best, int(np.sum(mapped == truth)))
    folded = np.where(labels == -1, -1, labels % 3)
    assert metrics.misclassification_error(truth, folded) == pytest.approx(1 - best / truth.size)


def test_outliers_are_matched_with_outliers_only():
    assert metrics.misclassification_error([-1] * 8 + [0] * 2, [0] * 10) == pytest.approx(0.8)
    assert metrics.misclassification_error([-1] * 8 + [0] * 2, [-1] * 10) == pytest.approx(0.2)


def test_bad_input_is_named():
    with pytest.raises(InputError, match=r"truth has 3 labels and labels has 2"):
        metrics.nmi([0, 1, 1], [0, 1])
    with pytest.raises(InputError, match=r"labels must have one dimension; received shape \(1, 2\)"):
        metrics.ari([0, 1], [[0, 1]])
    with pytest.raises(InputError, match=r"labels has 2 values for an adjacency of shape \(3, 3\)"):
        metrics.modularity(np.ones((3, 3)), [0, 1])
    with pytest.raises(UnknownNameError, match=r"unknown normalization 'maxx'. Did you mean 'max'"):
        metrics.overlapping_nmi([0, 1], [0, 1], normalization="maxx")
    with pytest.raises(InputError, match="truth has 2 elements and groups has 3"):
        metrics.recall_precision(np.array([0, 1]), np.array([0, 1, 1]))
    with pytest.raises(InputError, match="element index -2"):
        metrics.recall_precision([[0, 1]], [[-2, 1]])


@pytest.mark.parametrize(
    ("k", "nmi", "percent"), [(2, 0.657, 76.35), (3, 0.758, 89.18), (4, 0.722, 82.43), (5, 0.694, 76.29)]
)
def test_k_means_rows_of_iris_in_the_paper(k, nmi, percent):
    X, truth = load_iris(return_X_y=True)
    labels = KMeans(k, n_init=20, random_state=0).fit_predict(X)
    assert metrics.nmi(truth, labels) == pytest.approx(nmi, abs=6e-4)
    assert 100 * metrics.f_measure(truth, labels) == pytest.approx(percent, abs=6e-3)


def test_elements_of_no_group_stand_alone() -> None:
    labels = metrics.noise_as_singletons([2, -1, 0, -1])
    assert labels.tolist() == [2, 3, 0, 4]
    assert metrics.noise_as_singletons(np.array([-1, -1])).tolist() == [0, 1]
    assert metrics.noise_as_singletons(np.zeros(0, int)).size == 0


@given(label_pairs)
def test_nmi_of_counts_is_that_of_the_labels(pair):
    truth, labels = (np.unique(side, return_inverse=True)[1] for side in pair)
    table = np.zeros((truth.max() + 2, labels.max() + 1))
    np.add.at(table, (truth, labels), 1)
    assert nmi_of_counts(table) == pytest.approx(sk.normalized_mutual_info_score(truth, labels), abs=1e-9)


def test_nmi_of_no_counts_is_that_of_equal_partitions():
    assert nmi_of_counts(np.zeros((2, 2))) == 1.0


@pytest.mark.parametrize("resolution", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("directed", [False, True])
def test_modularity_is_that_of_networkx(resolution, directed):
    graph = nx.gnp_random_graph(30, 0.2, seed=3, directed=directed)
    rng = np.random.default_rng(5)
    for edge in graph.edges:
        graph.edges[edge]["weight"] = float(rng.integers(1, 5))
    labels = rng.integers(-1, 4, 30)
    groups = [set(np.flatnonzero(labels == k)) for k in range(4)] + [{i} for i in np.flatnonzero(labels == -1)]
    expected = nx.community.modularity(graph, groups, weight="weight", resolution=resolution)
    matrix = nx.to_scipy_sparse_array(graph, weight="weight")
    assert metrics.modularity(matrix, labels, resolution=resolution) == pytest.approx(expected)
    assert metrics.modularity(matrix.toarray(), labels, resolution=resolution) == pytest.approx(expected)


def test_modularity_leaves_its_input_alone():
    labels = np.array([0, -1, -1, 0])
    metrics.modularity(np.ones((4, 4)), labels)
    assert labels.tolist() == [0, -1, -1, 0]
    assert metrics.modularity(np.zeros((4, 4)), labels) == 0.0


def test_labels_without_an_order_are_refused_with_their_name() -> None:
    with pytest.raises(InputTypeError, match=r"truth holds labels that have no order .* leave out elements"):
        metrics.ari([None, 1], [1, 1])


def test_a_consensus_in_place_of_its_labels_is_named() -> None:
    found = find_consensus([[0] * 4 + [1] * 4] * 3)
    with pytest.raises(TypeError, match=r"labels is a Consensus; give its labels, as in consensus\.labels"):
        metrics.ari([0] * 8, found)
