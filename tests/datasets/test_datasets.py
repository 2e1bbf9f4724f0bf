"""Shapes and sizes that the description of the data states, and errors that say what to do."""

from __future__ import annotations

import numpy as np
import pytest

from biconsensus import datasets
from biconsensus.errors import UnknownNameError


def _present() -> bool:
    try:
        return datasets.data_dir().is_dir()
    except FileNotFoundError:
        return False


needs_data = pytest.mark.skipif(not _present(), reason="BICONSENSUS_DATA names no folder")


def sizes(labels):
    return sorted(np.unique(labels, return_counts=True)[1].tolist())


def test_missing_folder_says_what_to_set(monkeypatch, tmp_path):
    monkeypatch.setenv("BICONSENSUS_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(FileNotFoundError, match="set the environment variable BICONSENSUS_DATA"):
        datasets.load_uci("iris")
    monkeypatch.setenv("BICONSENSUS_DATA", str(tmp_path))
    with pytest.raises(FileNotFoundError, match=r"JLinkageExamples\.mat is missing; set BICONSENSUS_DATA"):
        datasets.load_jlinkage("A")


@needs_data
@pytest.mark.parametrize(
    ("load", "name", "near"),
    [
        (datasets.load_uci, "irs", "iris"),
        (datasets.load_network, "footbal", "football"),
        (datasets.load_jlinkage, "PozzoVegiani", "PozzoVeggiani"),
        (datasets.load_benchmark, "fcps/atoms", "fcps/atom"),
        (datasets.names_of, "networks", "network"),
    ],
)
def test_unknown_names_list_the_valid_ones(load, name, near):
    with pytest.raises(UnknownNameError, match=f"Did you mean '{near}'"):
        load(name)


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
def test_hopkins155():
    names = datasets.names_of("hopkins155")
    assert len(names) == 155
    X, labels = datasets.load_hopkins155("1R2RC")
    assert X.shape == (459, 58)
    assert sizes(labels) == sizes(labels)[:3]
    # trajectories of one rigid motion span at most four dimensions
    motion = X[labels == 0]
    values = np.linalg.svd(motion, compute_uv=False)
    assert values[4] < 0.01 * values[0]


@needs_data
def test_networks():
    found = {name: datasets.load_network(name) for name in datasets.names_of("network")}
    shapes = {name: (net.adjacency.shape[0], net.adjacency.nnz // 2) for name, net in found.items()}
    assert shapes == {
        "football": (115, 613),
        "footballTSEinput": (115, 613),
        "polbooks": (105, 441),
        "lesmis": (77, 254),
        "karate_club": (34, 78),
        "dolphins": (62, 159),
    }
    assert sizes(found["polbooks"].labels) == [13, 43, 49]
    assert sizes(found["karate_club"].labels) == [17, 17]
    assert found["lesmis"].labels is None
    assert found["lesmis"].adjacency.max() == 31
    assert found["football"].names[0] == "BrighamYoung"
    assert np.sum(found["football"].labels != found["footballTSEinput"].labels) > 0


@needs_data
def test_facebook100():
    whole = datasets.load_facebook100("Caltech36")
    assert whole.adjacency.shape == (769, 769)
    assert whole.adjacency.nnz // 2 == 16656
    part = datasets.load_facebook100("Duke14", year=2006)
    assert part.adjacency.shape == (1424, 1424)
    assert set(part.info[:, 5]) == {2006}


@needs_data
def test_york_urban_segments_meet_their_vanishing_points():
    found = datasets.load_york_urban("P1080005")
    assert found.segments.shape == (408, 4)
    assert sizes(found.labels) == [89, 130, 189]
    ones = np.ones((408, 1))
    ends = np.hstack([found.segments[:, :2], ones]), np.hstack([found.segments[:, 2:], ones])
    lines = np.cross(*ends)
    lines /= np.linalg.norm(lines[:, :2], axis=1, keepdims=True)
    images = (found.camera @ found.vanishing_points.T).T
    middles = (ends[0] + ends[1]) / 2
    toward = np.cross(middles, images[found.labels])
    toward /= np.linalg.norm(toward[:, :2], axis=1, keepdims=True)
    angles = np.degrees(np.arccos(np.clip(np.abs((lines[:, :2] * toward[:, :2]).sum(1)), 0, 1)))
    assert np.median(angles) < 1.0
    detected = datasets.load_york_urban("P1080091", segments="detected", truth="plus")
    assert detected.labels is None
    assert detected.vanishing_points.shape[1] == 3
    assert len(datasets.names_of("york_urban")) == 102
    assert len(datasets.names_of("york_urban_detected")) == 29


@needs_data
def test_adelaidermf():
    X, labels = datasets.load_adelaidermf("barrsmith")
    assert X.shape == (241, 4)
    assert set(labels) == {-1, 0, 1}
    assert len(datasets.names_of("adelaidermf")) == 19


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
