"""Sets of points: shapes and sizes that the description of the data states."""

from __future__ import annotations

import numpy as np
import pytest

from biconsensus import datasets
from biconsensus.errors import UnknownNameError
from tests.helpers.data import needs_data, sizes


@needs_data
@pytest.mark.parametrize(
    ("name", "n", "models", "outliers"),
    [
        ("A", 500, 5, 250),
        ("B", 750, 5, 500),
        ("C", 1100, 11, 550),
        ("D", 500, 5, 250),
        ("Stairs4_S00075_O60", 500, 4, 300),
    ],
)
def test_jlinkage(name, n, models, outliers):
    X, labels = datasets.load_jlinkage(name)
    assert X.shape == (n, 2)
    assert np.bincount(labels[labels >= 0]).tolist() == [50] * models
    assert np.sum(labels == -1) == outliers


@needs_data
def test_jlinkage_labels_are_lines():
    X, labels = datasets.load_jlinkage("A")
    for k in range(5):
        inliers = X[labels == k] - X[labels == k].mean(0)
        normal = np.linalg.svd(inliers)[2][1]
        assert np.abs(inliers @ normal).max() < 0.027
    assert datasets.load_jlinkage("PozzoVeggiani").X.shape == (1000, 3)
    assert datasets.load_jlinkage("PozzoVeggiani").labels is None


@needs_data
@pytest.mark.parametrize(
    ("name", "shape", "classes"),
    [
        ("breast", (683, 9), [239, 444]),
        ("glass", (214, 9), [9, 13, 17, 29, 70, 76]),
        ("iris", (150, 4), [50] * 3),
        ("wine", (178, 13), [48, 59, 71]),
        ("ecoli", (336, 7), [2, 2, 5, 20, 35, 52, 77, 143]),
        ("segment", (2310, 19), [330] * 7),
        ("vehicle", (846, 18), [199, 212, 217, 218]),
    ],
)
def test_uci(name, shape, classes):
    X, labels = datasets.load_uci(name)
    assert X.shape == shape
    assert np.isfinite(X).all()
    assert sizes(labels) == classes


@needs_data
def test_self_tuning():
    assert sizes(datasets.load_self_tuning("smiley").labels) == [73, 75, 118]
    assert sizes(datasets.load_self_tuning(0).labels) == [61, 99, 139]
    assert sizes(datasets.load_self_tuning("4").labels) == [117, 122, 123, 150]
    assert datasets.load_self_tuning("3").labels is None
    assert [len(datasets.load_self_tuning(k).X) for k in range(6)] == [299, 303, 266, 622, 512, 238]


@needs_data
def test_benchmark():
    assert len(datasets.names_of("benchmark")) == 41
    X, labels = datasets.load_benchmark("other/hdbscan")
    assert X.shape == (2309, 2)
    assert np.sum(labels == -1) == 510
    assert labels.max() == 5
    with pytest.raises(UnknownNameError):
        datasets.load_benchmark("fcps/atom", labels=7)


@needs_data
@pytest.mark.parametrize(("name", "m", "classes"), [("IS", 2310, 7), ("VS", 846, 4), ("Caltech20", 2386, 20)])
def test_ensemble_pools(name, m, classes):
    members, labels = datasets.load_ensemble_pool(name)
    assert members.shape == (m, 100)
    assert len(set(labels)) == classes


@needs_data
def test_single_cell():
    pytest.importorskip("pyreadr")
    X, labels = datasets.load_single_cell()
    assert X.shape == (90, 20214)
    assert len(set(labels)) == 6
