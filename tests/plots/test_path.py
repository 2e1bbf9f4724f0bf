"""Drawings of the quorum path."""

from __future__ import annotations

import numpy as np

import biconsensus as bc
from biconsensus import plots


def test_path_ribbons_nest_and_count() -> None:
    from biconsensus.quorum._path import QuorumPath

    coarse, fine = np.repeat([0, 1], [12, 8]), np.repeat([0, 1, 2], [6, 6, 8])
    pool = bc.Pool.from_labels([coarse] * 4 + [fine] * 4)
    path = QuorumPath.of(pool, min_elements=2, min_candidates=2)
    ribbons = plots.path_ribbons(path, height=20)
    assert ribbons.groups.shape == (20, len(path.points))
    assert (np.diff(ribbons.quorums) > 0).all()
    for place, point in enumerate(path.points[::-1]):
        sizes = np.bincount(point.row_labels, path.problem.counts) * path.condensed.units[0]
        np.testing.assert_array_equal(np.bincount(ribbons.groups[:, place]), sizes)
        assert len(np.flatnonzero(np.diff(ribbons.groups[:, place]))) == len(point) - 1  # groups hang together
    np.testing.assert_array_equal(ribbons.origin[:, ribbons.chosen], ribbons.groups[:, ribbons.chosen])
