"""What every rival must do, and what each is known for."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from biconsensus.baselines._preference_linkage import agglomerate
from biconsensus.baselines._preference_linkage import jaccard as jaccard_linkage
from biconsensus.baselines._preference_linkage import tanimoto as tanimoto_linkage
from biconsensus.baselines.fitting import FITTERS, j_linkage, multi_ransac, ransac, sequential_ransac, t_linkage
from biconsensus.baselines.fitting._hypotheses import keep_largest
from biconsensus.errors import InputError, UnknownNameError

every_fitter = pytest.mark.parametrize("name", sorted(FITTERS))


def three_lines(seed=0, n_outliers=40):
    """Three lines of 40 points that do not cross inside the data, and outliers; with the truth."""
    rng = np.random.default_rng(seed)
    t = rng.uniform(0, 10, (3, 40))
    x = np.concatenate([np.column_stack([t[i], 3.0 * i + 0.1 * t[i]]) for i in range(3)])
    x += rng.normal(scale=0.02, size=x.shape)
    truth = np.append(np.repeat([0, 1, 2], 40), np.full(n_outliers, -1))
    return np.vstack([x, rng.uniform(0, 10, (n_outliers, 2))]), truth


def errors(truth, labels):
    """Share of elements in the wrong place under the best matching of labels."""
    k, n = truth.max() + 1, max(labels.max() + 1, 1)
    table = np.array([[np.sum((truth == i) & (labels == j)) for j in range(n)] for i in range(k)])
    rows, columns = linear_sum_assignment(-table)
    return 1 - (table[rows, columns].sum() + np.sum((truth < 0) & (labels < 0))) / len(truth)


@every_fitter
def test_three_lines_are_found_when_their_number_is_given(name):
    x, truth = three_lines()
    if name == "ransac":
        labels = FITTERS[name](x, "line", 0.1, random_state=0)
        assert errors((truth == truth[labels == 0][0]) - 1, labels) < 0.05
        return
    labels = FITTERS[name](x, "line", 0.1, n_models=3, n_samples=400, random_state=0)
    assert labels.dtype == np.int64
    assert set(np.unique(labels)) == {-1, 0, 1, 2}
    assert errors(truth, labels) < 0.08


@every_fitter
def test_same_seed_same_labels(name):
    x, _ = three_lines(1)
    n_models = None if name == "ransac" else 3
    first, again = (FITTERS[name](x, "line", 0.1, n_models=n_models, n_samples=100, random_state=5) for _ in range(2))
    np.testing.assert_array_equal(first, again)


@every_fitter
def test_circles_with_local_samples(name):
    if name in ("ransac", "mean_shift", "randomised_hough", "residual_histograms"):
        pytest.skip("one model, or a parameter space that circles do not suit")
    rng = np.random.default_rng(2)
    angle = rng.uniform(0, 2 * np.pi, (2, 60))
    x = np.concatenate([np.column_stack([5 * i + 2 * np.cos(a), np.sin(a) * 2]) for i, a in enumerate(angle)])
    x = np.vstack([x, rng.uniform(-3, 8, (30, 2))])
    truth = np.append(np.repeat([0, 1], 60), np.full(30, -1))
    labels = FITTERS[name](x, "circle", 0.05, n_models=2, n_samples=300, sigma=2.0, random_state=0)
    assert errors(truth, labels) < 0.06


@every_fitter
def test_faulty_input_is_refused(name):
    x, _ = three_lines()
    n_models = {"ransac": 1}.get(name, 2)
    with pytest.raises(InputError, match="threshold"):
        FITTERS[name](x, "line", 0.0, n_models=n_models)
    with pytest.raises(InputError, match=r"1 element;.*needs 2"):
        FITTERS[name](x[:1], "line", 0.1, n_models=n_models)
    with pytest.raises(UnknownNameError):
        FITTERS[name](x, "lime", 0.1, n_models=n_models)
    with pytest.raises(InputError, match="finite"):
        FITTERS[name](x * np.nan, "line", 0.1, n_models=n_models)


@every_fitter
def test_coincident_points_end_without_a_model(name):
    labels = FITTERS[name](np.ones((9, 2)), "line", 0.1, n_models={"ransac": 1}.get(name, 2), n_samples=20)
    assert (labels == -1).all() or name in ("j_linkage", "t_linkage")


def test_what_needs_the_number_of_models_says_so():
    x, _ = three_lines()
    with pytest.raises(InputError, match="n_models"):
        multi_ransac(x, "line", 0.1)
    with pytest.raises(InputError, match="one model"):
        ransac(x, "line", 0.1, n_models=2)


def test_unknown_number_of_models():
    x, truth = three_lines(n_outliers=20)
    for fitter in (sequential_ransac, j_linkage, t_linkage):
        labels = fitter(x, "line", 0.1, n_samples=2000, min_elements=15, random_state=0)
        assert labels.max() == 2
        assert errors(truth, labels) < 0.1


def test_reassigned_clusters_gain_recall():
    x, truth = three_lines(3)
    plain, again = (j_linkage(x, "line", 0.05, n_models=3, reassign=r, random_state=0) for r in (False, True))
    assert np.sum(again[truth >= 0] >= 0) >= np.sum(plain[truth >= 0] >= 0)
    assert errors(truth, again) <= errors(truth, plain)


def slow_linkage(rows, combine, distance):
    """Agglomeration as the papers say it, on lists; the clusters as sets."""
    clusters = [({i}, row) for i, row in enumerate(rows)]
    while len(clusters) > 1:
        pairs = [(distance(a[1], b[1]), i, j) for i, a in enumerate(clusters) for j, b in enumerate(clusters) if i < j]
        gap, i, j = min(pairs)
        if gap >= 1:
            break
        clusters[i] = (clusters[i][0] | clusters[j][0], combine(clusters[i][1], clusters[j][1]))
        del clusters[j]
    return {frozenset(members) for members, _ in clusters}


def as_sets(clusters):
    return {frozenset(np.flatnonzero(clusters == c)) for c in np.unique(clusters)}


@pytest.mark.parametrize("seed", range(6))
def test_linkages_equal_the_plain_algorithms(seed):
    rng = np.random.default_rng(seed)
    # random values make ties unlikely, so the order of merging is determined
    grades = np.where(rng.random((14, 70)) < 0.5, rng.random((14, 70)), 0).astype(np.float32)

    def tanimoto(p, q):
        return 1 - p @ q / (p @ p + q @ q - p @ q)

    expected = slow_linkage(list(grades.astype(float)), np.minimum, tanimoto)
    assert as_sets(agglomerate(*tanimoto_linkage(grades.copy()))) == expected
    table = rng.random((10, 997)) < 0.4

    def jaccard(p, q):
        return 1 - (p & q).sum() / max((p | q).sum(), 1)

    assert as_sets(agglomerate(*jaccard_linkage(table))) == slow_linkage(list(table), np.logical_and, jaccard)


def test_largest_clusters_come_first():
    labels = keep_largest(np.array([4, 4, 7, 7, 7, 1, 9, 9]), 2, 0)
    assert labels.tolist() == [1, 1, 0, 0, 0, -1, -1, -1]
    labels = keep_largest(np.array([4, 4, 7, 7, 7, 1, 9, 9]), None, 2)
    assert labels.tolist() == [1, 1, 0, 0, 0, -1, 2, 2]
