"""Sets of vision: shapes and sizes that the description of the data states."""

from __future__ import annotations

import numpy as np

from biconsensus import datasets
from tests.helpers.data import needs_data, sizes


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
