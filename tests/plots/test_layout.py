"""Positions of points, nodes and models."""

from __future__ import annotations

import numpy as np
import pytest

from biconsensus.models import get_model
from biconsensus.plots._layout import group_graph, in_plane, model_bands, node_positions
from tests.helpers.strategies import paper_consensus


def test_bands_of_a_line_are_at_the_threshold() -> None:
    line = get_model("line")
    X = np.array([[0.0, 0.0], [4.0, 3.0], [4.0, 0.0]])
    params = line.fit(X[None, :2])
    (band,) = model_bands(X, line, params, 0.2)
    ends = band.reshape(-1, 2)
    np.testing.assert_allclose(line.residuals(params, ends)[:, 0], 0.2, atol=1e-9)


def test_plane_of_points_on_a_line_keeps_distances() -> None:
    t = np.linspace(0, 1, 20)
    X = np.column_stack([3 * t, 4 * t, 0 * t])
    plane, names = in_plane(X)
    assert np.ptp(plane[:, 0]) == pytest.approx(5)
    assert np.ptp(plane[:, 1]) == pytest.approx(0, abs=1e-9)
    assert "100%" in names[0]


def test_network_layout_puts_groups_apart() -> None:
    block = np.kron(np.eye(2), np.ones((8, 8)))
    block[0, 15] = block[15, 0] = 1
    labels = np.repeat([0, 1], 8)
    drawing = node_positions(block, labels)
    middle = np.stack([drawing.positions[labels == k].mean(axis=0) for k in (0, 1)])
    spread = max(drawing.positions[labels == k].std(axis=0).max() for k in (0, 1))
    assert np.linalg.norm(middle[0] - middle[1]) > 2 * spread
    assert len(drawing.edges) == 2 * 28 + 1


def test_group_graph_counts_what_runs_between() -> None:
    consensus = paper_consensus([[0] * 8 + [1] * 8 + [2] * 8 + [-1]] * 4)
    graph = np.zeros((25, 25))
    graph[0, 8] = graph[8, 0] = graph[1, 9] = graph[9, 1] = 1
    graph[2, 24] = graph[24, 2] = 1
    drawing = group_graph(graph, consensus)
    assert drawing.labels.tolist() == [-1, 0, 1, 2]
    assert drawing.edges.tolist() == [[0, 1], [1, 2]]
    assert drawing.widths[1] == pytest.approx(2 * drawing.widths[0])
